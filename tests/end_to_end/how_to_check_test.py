"""The command under "How to check" of a report computes ε again from the noise that was used, for every algorithm and option that
bears on it. Run by ctest with $PARLEY = the program."""
import html
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

PARLEY = os.environ["PARLEY"]

BUDGET = ("--epsilon", 2, "--delta", 1e-5)
SHARED = ("--nodes", 5, "--graph", "complete", *BUDGET, "--colluders", 2)
BOUND = ("--nodes", 3, "--schema", "bound.toml", "--data", "rows.csv")

RUNS = {
    "mr-admm": ("mr-admm", *BUDGET),
    "m-admm, penalty growth": ("m-admm", *BUDGET, "--penalty-growth", 1.3),
    "pp, penalty growth": ("pp", *BUDGET, "--penalty-growth", 1.3),
    "mr-admm, penalty growth": ("mr-admm", *BUDGET, "--penalty-growth", 1.3, "--penalty-growth-rounds", 2),
    "mr-admm, growth of one node": ("mr-admm", *BUDGET, "--nodes", 3, "--penalty-growth", "1.3,1,1.1", "--noise", "gamma"),
    "m-admm, pure noise on the output": ("m-admm", "--epsilon", 3, "--delta", 0, "--noise-on", "output", "--penalty-growth", 1.2),
    "dvp, gamma that grows": ("dvp", "--noise-rate", 0.7, "--noise-rate-growth", 1.1),
    "pp, gamma": ("pp", "--noise-rate", "0.5,0.6,0.7,0.8,0.9"),
    "r-admm, gamma and delta": ("r-admm", "--epsilon", 3, "--delta", 1e-5, "--noise", "gamma"),
    "verified": ("m-admm", *BUDGET, "--bound", "verified"),
    "star-pvp": ("star-pvp", *BUDGET, "--regularizer", "l1"),
    "star-pvp, as printed": ("star-pvp", *BUDGET, "--sensitivity", "paper", "--release-bound", 1e6),
    "dp-admm, each round": ("dp-admm", "--iteration-epsilon", 0.1, "--iteration-delta", 1e-3),
    "linear-admm": ("linear-admm", *BUDGET, "--regularizer", "elastic-net"),
    "linear-admm, two colluders": ("linear-admm", *SHARED, "--weighting", "rows"),
    "dp-admm, two colluders": ("dp-admm", *BUDGET, "--nodes", 5, "--colluders", 2, "--weighting", "rows"),
    "class weights": ("linear-admm", *BUDGET, "--class-weight", "1,4"),
    "newton": ("newton", *BUDGET),
    "newton, a budget of each": ("newton", "--nodes", 3, "--epsilon", "1,2,1.5", "--delta", 1e-5),
    "newton, two colluders": ("newton", *SHARED),
    "newton, two colluders and unequal budgets": ("newton", *SHARED[:4], "--epsilon", "1,2,1,1,1", "--colluders", 2),
    "newton, everybody may pool": ("newton", "--nodes", 3, *BUDGET, "--colluders", 2),
    "newton, one exchange": ("newton", *BUDGET, "--rounds", 1),
    "newton, diagonal": ("newton", *BUDGET, "--curvature", "diagonal"),
    "newton, noise given": ("newton", "--noise-scale", 30, "--delta", 1e-5),
    "newton, huber hinge": ("newton", *BUDGET, "--loss", "huber-hinge"),
    "newton, intervals": ("newton", *BUDGET, *BOUND, "--intervals"),
    "newton, intervals and colluders": ("newton", *BUDGET, *BOUND, "--intervals", "--colluders", 1),
    "newton, persons": ("newton", *BUDGET, "--nodes", 3, "--schema", "person.toml", "--data", "rows.csv"),
    "newton, squared": ("newton", *BUDGET, "--nodes", 3, "--schema", "number.toml", "--data", "rows.csv", "--loss", "squared"),
    "newton, squared and intervals": ("newton", *BUDGET, "--nodes", 3, "--schema", "number.toml", "--data", "rows.csv", "--loss", "squared", "--intervals"),
    "newton, squared and colluders": ("newton", *BUDGET, "--nodes", 3, "--schema", "number.toml", "--data", "rows.csv", "--loss", "squared", "--colluders", 1),
    "several classes": ("linear-admm", *BUDGET, "--nodes", 3, "--schema", "classes.toml", "--data", "rows.csv", "--loss", "softmax"),
    "newton, several classes": ("newton", *BUDGET, "--nodes", 3, "--schema", "classes.toml", "--data", "rows.csv", "--loss", "softmax"),
    "dp-gd": ("dp-gd", *BUDGET),
    "dp-gd, two colluders": ("dp-gd", *SHARED),
}

BINARY = '[label]\ncolumn = "y"\npositive = ["yes"]\nnegative = ["no"]\n'


def schema(head, label):
    columns = [f'name = "{name}"\nkind = "numeric"\nbounds = {bounds}\n' for name, bounds in (("a", [0, 11]), ("b", [-6, 6]))]
    columns += [f'name = "{name}"\nkind = "drop"\n' for name in ("who", "y", "z", "c") if f'"{name}"' not in head + label]
    return head + label + "".join("[[columns]]\n" + column for column in columns)


SCHEMAS = {
    "bound.toml": schema('scale = "bound"\n', BINARY),
    "person.toml": schema('person = "who"\nrows_per_person = 3\n', BINARY),
    "number.toml": schema('scale = "bound"\n', '[label]\ncolumn = "z"\nbounds = [0, 22]\n'),
    "classes.toml": schema("", '[label]\ncolumn = "c"\nclasses = ["red", "green", "blue"]\n'),
}


class HowToCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.temporary.name)
        rows = ["a,b,who,y,z,c"]
        for i in range(900):
            a, b = i * 37 % 101 / 10.1, i * 53 % 97 / 9.7 - 5
            rows.append(f"{a:.2f},{b:.2f},p{i // 2},{'yes' if a + b > 4 else 'no'},{a + b + 5:.2f},{('red', 'green', 'blue')[int(a + b + 5) % 3]}")
        (cls.dir / "rows.csv").write_text("\n".join(rows) + "\n")
        for name, text in SCHEMAS.items():
            (cls.dir / name).write_text(text)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def parley(self, *words):
        return subprocess.run([PARLEY, *map(str, words)], cwd=self.dir, capture_output=True, text=True, timeout=600)

    def run_of(self, algorithm, *words):
        """The record of a run, and the lines of its page."""
        rows = () if "--data" in words else ("--rows", 800)
        rounds = () if "--rounds" in words or "squared" in words else ("--rounds", 5)
        out = self.dir / f"run-{len(list(self.dir.iterdir()))}"
        result = self.parley("train", "--algorithm", algorithm, *rows, *rounds, *words, "--quiet", "--out", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads((out / "run.json").read_text()), self.page(out)

    def page(self, *words):
        result = self.parley("report", *words, "--out", "page.html")
        self.assertEqual(result.returncode, 0, result.stderr)
        return html.unescape((self.dir / "page.html").read_text())

    def command(self, page):
        return shlex.split(next(line.removeprefix("<pre>") for line in page.splitlines() if "parley account" in line))

    def account(self, command):
        result = self.parley(*command[1:], "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_the_command_gives_both_losses_of_the_record_from_its_noise(self):
        for name, words in RUNS.items():
            with self.subTest(name):
                run, page = self.run_of(*words)
                command = self.command(page)
                for target in ("--epsilon", "--iteration-epsilon", "--curvature-share"):
                    self.assertNotIn(target, command)
                again = self.account(command)
                for key in ("epsilon", "epsilon_all_others"):
                    self.assertAlmostEqual(again[key], run["privacy"][key], places=8)
                for node, fact in zip(again["node_results"], run["node_facts"]):
                    self.assertAlmostEqual(node["epsilon"], fact["epsilon_planned"], places=8)
                self.assertEqual(again["theorem"], run["privacy"]["theorem"])
                self.assertEqual(again["against"], run["privacy"]["against"])
                self.assertRegex(page, "Noise that was used: (Gaussian, standard deviation|gamma, rate) [0-9.]+")
                self.assertIn("computes ε again from the noise that was used, with no target", page)

    def test_less_noise_costs_more_whatever_noise_it_is(self):
        """Every number of the noise in the command bears on the loss: none of it follows from a target."""
        for words in (RUNS["newton, intervals and colluders"], RUNS["newton, squared and intervals"], RUNS["newton, two colluders"], RUNS["pp, penalty growth"]):
            _, page = self.run_of(*words)
            command = self.command(page)
            before = self.account(command)
            for at, word in enumerate(command):
                if not word.startswith("--noise-") or word in ("--noise-on", "--noise-pair"):
                    continue
                halved = re.sub(r"(?<![0-9.])[0-9.]+(?=/|$)", lambda m: repr(float(m.group()) / 2), command[at + 1])
                self.assertNotEqual(halved, command[at + 1])
                less = self.account([*command[:at + 1], halved, *command[at + 2:]])
                for key in ("epsilon", "epsilon_all_others"):
                    self.assertGreater(less[key], before[key] * 1.0001, f"{word} {command[at + 1]}")
            if "--noise-pair" in command:  # it protects against the colluders, and against all others nothing does
                at = command.index("--noise-pair") + 1
                less = self.account([*command[:at], str(float(command[at]) / 2), *command[at + 1:]])
                self.assertGreater(less["epsilon"], before["epsilon"] * 1.0001)
                self.assertAlmostEqual(less["epsilon_all_others"], before["epsilon_all_others"], places=8)

    def test_the_page_shows_what_pairs_share_apart_from_a_party_s_own(self):
        run, page = self.run_of(*RUNS["newton, two colluders"])
        used = run["noise_used"]
        self.assertIn(f"times that, which cancels in the sum", page)
        self.assertIn(f"{used['nodes'][0]['moments']:.4g} on second moments. That is each party's own.", page)

    def test_a_plan_has_the_command_too(self):
        for words in (("--colluders", 2), ()):
            result = self.parley("plan", "--algorithm", "newton", "--nodes", 4, "--records", "500,400,300,300", "--features", 8, *BUDGET, *words, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            (self.dir / "plan.json").write_text(result.stdout)
            page = self.page("plan.json")
            self.assertIn("Planned noise: Gaussian", page)
            self.assertAlmostEqual(self.account(self.command(page))["epsilon"], 2, places=8)

    def test_a_study_has_the_command_too(self):
        (self.dir / "schema.toml").write_text(SCHEMAS["bound.toml"])
        for name in "abcd":
            self.assertEqual(self.parley("keys", "new", name).returncode, 0)
        for number, lines in enumerate(("colluders = 2", "intervals = true", 'algorithm = "mr-admm"\npenalty-growth = 1.1')):
            study = self.dir / f"study-{number}.toml"
            self.assertEqual(self.parley("study", "new", study).returncode, 0)
            text = study.read_text().replace('algorithm = "auto"\n', "" if "algorithm" in lines else 'algorithm = "auto"\n')
            study.write_text(lines + "\n" + text)
            for i, name in enumerate("abcd"):
                result = self.parley("study", "invite", study, "--name", name, "--address", f"127.0.0.1:{7000 + i}", "--certificate", f"{name}.pem", "--records", 400 + i)
                self.assertEqual(result.returncode, 0, result.stderr)
            self.assertAlmostEqual(self.account(self.command(self.page(study)))["epsilon"], 1, places=4)

    def test_a_record_without_its_noise_shows_a_plan_s_command_and_says_so(self):
        _, _ = self.run_of(*RUNS["newton"])
        out = max(self.dir.glob("run-*"), key=lambda p: p.stat().st_mtime)
        run = json.loads((out / "run.json").read_text())
        del run["noise_used"]
        (out / "run.json").write_text(json.dumps(run))
        page = self.page(out)
        self.assertIn("The record does not say how much noise was used.", page)
        self.assertIn("It checks the plan; it does not look at this run", page)
        run["noise_used"] = {"nodes": [{"rounds": [[2, 9.5], [3, "much"]]}]}  # half of it is none
        (out / "run.json").write_text(json.dumps(run))
        self.assertIn("The record does not say how much noise was used.", self.page(out))

    def test_noise_that_does_not_fit_the_plan_is_refused(self):
        def refused(*words):
            result = self.parley("account", *words, "--delta", 1e-5, "--records", 500, "--features", 8)
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertIn("what to do:", result.stderr)
            return result.stderr
        rounds = ("newton", "--rounds", 5, "--noise-rounds")
        self.assertIn("one number for each private round", refused(*rounds, "4x9.5", "--noise-moments", 3))
        self.assertIn("this plan releases them, and their noise is missing", refused(*rounds, "5x9.5"))
        self.assertIn("this plan does not release them", refused(*rounds, "5x9.5", "--noise-moments", 3, "--noise-square", 3))
        self.assertIn("the noise of every round and --epsilon are both given", refused(*rounds, "5x9.5", "--epsilon", 1))
        self.assertIn("goes with that of the rounds", refused("newton", "--rounds", 5, "--noise-moments", 3))
        self.assertIn("so many rounds are in no plan", refused(*rounds, "1e9x9.5"))
        self.assertIn("so many rounds are in no plan", refused(*rounds, "2.5x9.5"))
        self.assertIn("noise is above 0", refused(*rounds, "5x0"))
        self.assertIn("is not a number", refused(*rounds, "5xfew"))
        self.assertIn("give --colluders too", refused(*rounds, "5x9.5", "--noise-moments", 3, "--noise-pair", 4))
        self.assertIn("1 to 3", refused(*rounds, "5x9.5", "--noise-moments", 3, "--noise-pair", 4, "--colluders", 4))
        self.assertIn("is Gaussian, on sums or on gradients", refused("mr-admm", "--rounds", 5, "--noise", "gaussian", "--noise-rounds", "3x9.5", "--noise-pair", 4, "--colluders", 2))


if __name__ == "__main__":
    unittest.main()
