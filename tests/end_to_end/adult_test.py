"""The papers' comparison on Adult (ZKL20 Fig. 5): at equal printed privacy loss the order of test error and of training loss is
mr-admm < r-admm < dvp, and the figures are near those that a prototype measured. Skipped where the UCI files are absent."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PARLEY = os.environ["PARLEY"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = 2 if os.environ.get("PARLEY_TEST_SHORT") else 10


def train(algorithm, rate, *more):
    """40,000 training and 5,222 test rows, 5 nodes on the papers' graph, C = 1750, ρ = 0.22, γ = 0.5; 50 rounds."""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [PARLEY, "train", "--data", "adult", "--preprocessing", "paper", "--nodes", "5", "--graph", "0-2,0-3,2-3,1-4,3-4", "--test-share", "0.115475",
             "--loss-weight", "1750", "--regularization", "0.22", "--damping", "0.5", "--rounds", "50", "--algorithm", algorithm, "--noise-rate", str(rate),
             "--repeat", str(RUNS), "--seed", "1", "--metrics", "last", "--json", "--quiet", "--out", folder + "/run", *more],
            cwd=ROOT, capture_output=True, text=True)
    if "parley data fetch adult" in result.stderr:
        raise unittest.SkipTest("skipped: Adult not found")
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return json.loads(result.stdout)


def dvp_rate(rate):
    """The rate at which 50 private rounds of dvp have the printed loss of 25 private rounds of r-admm, at the node of degree 1."""
    jacobian = 1.4 * 0.25 / (0.22 / 5 + 2)
    return (jacobian + rate) / 2 - jacobian


class Fig5(unittest.TestCase):
    def compare(self, rate, expected):
        growing = ["--penalty", "1.04", "--penalty-growth", "1.04"]
        found = {"mr-admm": train("mr-admm", rate, *growing), "r-admm": train("r-admm", rate), "dvp": train("dvp", dvp_rate(rate))}
        for name, j in found.items():
            print(f"noise rate {rate}: {name:8} epsilon_paper {j['epsilon_paper']:.3f} epsilon {j['epsilon']:.3f} test error {j['test_error']} "
                  f"train loss {j['train_loss']['mean']:.4f} optimum {j['test_error_nonprivate']:.4f} ({RUNS} runs)", file=sys.stderr)
        self.assertAlmostEqual(found["r-admm"]["epsilon_paper"], found["dvp"]["epsilon_paper"], places=9)
        self.assertLess(found["mr-admm"]["epsilon_paper"], found["r-admm"]["epsilon_paper"])
        for metric in ("test_error", "train_loss"):
            order = [found[name][metric]["mean"] for name in ("mr-admm", "r-admm", "dvp")]
            self.assertEqual(order, sorted(order), metric)
        if RUNS == 10:
            for name, error in expected.items():
                self.assertAlmostEqual(found[name]["test_error"]["mean"], error, delta=0.015, msg=name)

    def test_noise_rate_half(self):
        self.compare(0.5, {"mr-admm": 0.197, "r-admm": 0.201, "dvp": 0.227})

    def test_noise_rate_one(self):
        self.compare(1, {"r-admm": 0.180, "dvp": 0.198})

    @unittest.skipIf(RUNS < 10, "too few runs for a mean")
    def test_a_budget_costs_few_points(self):
        for epsilon, points in ((0.25, 2.6), (0.5, 1.8), (1, 1.3)):
            with tempfile.TemporaryDirectory() as folder:
                result = subprocess.run(
                    [PARLEY, "train", "--data", "adult", "--preprocessing", "paper", "--nodes", "5", "--algorithm", "mr-admm", "--noise", "gaussian", "--noise-on",
                     "objective", "--epsilon", str(epsilon), "--delta", "1e-5", "--repeat", "10", "--seed", "1", "--metrics", "last", "--json", "--quiet", "--out",
                     folder + "/run"], cwd=ROOT, capture_output=True, text=True)
            if "parley data fetch adult" in result.stderr:
                raise unittest.SkipTest("skipped: Adult not found")
            j = json.loads(result.stdout)
            above = 100 * (j["test_error"]["mean"] - j["test_error_nonprivate"])
            print(f"epsilon {epsilon}, delta 1e-5: {above:.2f} points above the optimum without privacy", file=sys.stderr)
            self.assertLessEqual(j["epsilon"], epsilon)
            self.assertEqual(j["bound"], "proved")
            self.assertLess(above, points)

    @unittest.skipIf(RUNS < 10, "too few runs for a mean")
    def test_hhcg20_section_6(self):
        """dp-admm is within a point of star-admm where the paper's own total exceeds 0.5; star-pvp with the paper's sensitivity is useless."""
        splits, runs = 3, 3

        def error(algorithm, *more):
            total = 0
            for split in range(1, splits + 1):
                with tempfile.TemporaryDirectory() as folder:
                    result = subprocess.run(
                        [PARLEY, "train", "--data", "adult", "--preprocessing", "integer", "--test-share", "0.3", "--public-rows", "162", "--nodes", "100", "--loss-weight",
                         "1", "--regularization", "0.17", "--penalty", "1", "--rounds", "100", "--algorithm", algorithm, "--split-seed", str(split), "--repeat", str(runs),
                         "--seed", "1", "--metrics", "last", "--json", "--quiet", "--out", folder + "/run", *more], cwd=ROOT, capture_output=True, text=True)
                if "parley data fetch adult" in result.stderr:
                    raise unittest.SkipTest("skipped: Adult not found")
                self.assertEqual(result.returncode, 0, result.stderr)
                j = json.loads(result.stdout)
                total += 100 * j["test_error"]["mean"] / splits
            print(f"HHCG20 VI: {algorithm} {' '.join(more)}: {total:.2f} % (epsilon {j['epsilon']}, as printed {j['epsilon_paper']})", file=sys.stderr)
            return total

        noise = ["--iteration-delta", "1e-3", "--iteration-epsilon"]
        for regularizer in ("l2", "l1") if "PARLEY_TEST_FULL" in os.environ else ("l2",):
            plain = error("star-admm", "--noise", "none", "--regularizer", regularizer)
            for epsilon in ("0.07", "0.2"):
                self.assertLess(error("dp-admm", "--regularizer", regularizer, *noise, epsilon), plain + 1)
            if regularizer == "l2":
                self.assertGreater(error("star-pvp", "--sensitivity", "paper", "--release-bound", "1e6", *noise, "0.2"), plain + 20)
                self.assertLess(error("star-pvp", "--sensitivity", "proved", *noise, "0.2"), plain + 1)

    def test_what_the_planner_chooses_loses_little(self):
        """docs/check/frontier-tables.md has 0.13 and 0.02 points over ten splits; the splits and the noise here are fixed."""
        for points, *more in ((0.3, "--nodes", "5"), (0.2, "--nodes", "100", "--colluders", "25")):
            above = 0
            for split in range(1, 5):
                with tempfile.TemporaryDirectory() as folder:
                    result = subprocess.run([PARLEY, "train", "--data", "adult", "--preprocessing", "compact", *more, "--epsilon", "1", "--delta", "1e-5", "--split-seed", str(split),
                                             "--repeat", "3", "--seed", "1", "--metrics", "last", "--json", "--quiet", "--out", folder + "/run"], cwd=ROOT, capture_output=True, text=True)
                if "parley data fetch adult" in result.stderr:
                    raise unittest.SkipTest("skipped: Adult not found")
                self.assertEqual(result.returncode, 0, result.stderr)
                j = json.loads(result.stdout)
                self.assertEqual(j["algorithm"], "newton")
                self.assertLessEqual(j["epsilon"], 1)
                above += 100 * (j["test_error"]["mean"] - j["test_error_nonprivate"]) / 4
            print(f"newton, {' '.join(more)}, epsilon 1: {above:.2f} points above the optimum without privacy", file=sys.stderr)
            self.assertLessEqual(above, points)

    def test_it_is_marked_not_private(self):
        self.assertIn("NOT PRIVATE", train("r-admm", 1)["stamp"])


if __name__ == "__main__":
    unittest.main()
