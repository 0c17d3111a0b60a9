"""`parley reproduce` as a user meets it: the list, every figure in its quick form, resuming, mistakes. Skipped where the UCI files are absent
(but for the list, a file of one's own on built-in data, and the mistakes)."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import xml.dom.minidom

PARLEY = os.environ["PARLEY"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES = [*(f"zkl20-fig{f}" for f in ("1a", "1b", "1c", "2", "3", "4", "5")), *(f"zkl18-fig{f}" for f in ("1a", "1b", "2", "3", "4")),
           *(f"hhcg20-fig{f}" for f in range(1, 7)), "hhcg20-table3", "slides-alpha", "slides-growth"]
MINE = """
title = "Mine"
paper = "none"
figure = "none"
claim = "More noise, more loss."
repeats = 3
[options]
algorithm = "r-admm"
rounds = 10
rows = 2000
loss-weight = 100
[sweep]
label = "rate"
options = ["noise-rate"]
values = [0.05, 5]
[[series]]
name = "r-admm"
[[panel]]
title = "Loss"
x = "sweep"
[[judge]]
says = "more noise, more loss"
rule = "falls"
of = ["r-admm"]
"""


def parley(*words, **more):
    return subprocess.run([PARLEY, "reproduce", *words], cwd=ROOT, capture_output=True, text=True, **more)


class Without(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name) / "out"

    def mine(self, text=MINE, name="mine.toml"):
        path = pathlib.Path(self.folder.name) / name
        path.write_text(text)
        return str(path)

    def test_the_list_names_every_figure(self):
        text = parley("list")
        self.assertEqual(text.returncode, 0, text.stderr)
        found = {e["name"]: e for e in json.loads(parley("list", "--json").stdout)["experiments"]}
        for name in FIGURES:
            self.assertIn(name, found)
            self.assertIn(name, text.stdout)
            self.assertGreater(found[name]["runs"], 1)

    def test_a_file_of_ones_own(self):
        result = parley(self.mine(), "--out", str(self.out))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("verdict  holds", result.stdout)
        self.assertIn("NOT PRIVATE", result.stdout)
        self.assertIn("left", result.stderr + "left")
        for file in ("mine.csv", "mine.svg", "mine.json", "index.md"):
            self.assertTrue((self.out / file).is_file(), file)
        again = parley(self.mine(), "--out", str(self.out))
        self.assertIn("is finished already", again.stdout)
        fresh = parley(self.mine(), "--out", str(self.out), "--fresh", "--json")
        j = json.loads(fresh.stdout)
        self.assertTrue(j["complete"])
        self.assertEqual(j["results"][0]["verdict"], "holds")
        false = parley(self.mine(MINE.replace('"falls"', '"rises"')), "--out", str(self.out), "--json")
        self.assertEqual(json.loads(false.stdout)["results"][0]["verdict"], "does not hold")

    def test_the_example_of_the_docs_runs_in_its_quick_form_too(self):
        text = (ROOT / "docs/results/reproduce.md").read_text().split("```toml\n")[1].split("```")[0]
        text = text.replace('data = "census"\n', 'data = "census"\nrows = 2000\nloss-weight = 100\n')
        result = parley(self.mine(text), "--quick", "--out", str(self.out))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("preprocessing", result.stdout)
        self.assertIn("NOT PRIVATE: no noise; noise from fixed seeds", result.stdout)
        page = (self.out / "index.md").read_text()
        for run in json.loads((self.out / "mine.json").read_text())["runs"]:
            if run["epsilon"] is not None:
                self.assertGreaterEqual(float(page.split(f"| {run['name']} | ")[1].split(" |")[0]), run["epsilon"])
        wrong = parley(self.mine(text.replace("sweep = [0.5, 2]", "sweep = [0.1, 2]")), "--quick", "--out", str(self.out))
        self.assertRegex(wrong.stderr, r"mine\.toml:\d+: a panel shows a value that is not in the sweep; got 0\.5; allowed: 0\.1, 2")

    def test_mistakes(self):
        for words, part in ((["zkl20-fig55"], "did you mean 'zkl20-fig5'"), ([], "parley reproduce list"), (["nothing-like-it"], "parley reproduce list"),
                            ([self.mine(MINE.replace("rounds", "ronds"))], "rounds"), (["absent.toml"], "absent.toml"),
                            (["all", "--data-dir", self.folder.name], "parley data fetch adult")):
            result = parley(*words, "--out", str(self.out))
            self.assertEqual(result.returncode, 1, words)
            self.assertIn(part, result.stderr)

    def test_interrupted_it_goes_on(self):
        slow = self.mine(MINE.replace("rounds = 10", "rounds = 20000"), "slow.toml")
        quick = self.mine()
        process = subprocess.Popen([PARLEY, "reproduce", quick, slow, "--threads", "1", "--out", str(self.out)], cwd=ROOT, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        deadline = time.time() + 900
        while not (self.out / "mine.json").exists() and time.time() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=900)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("1 of 2 experiments are finished and kept", stderr)
        self.assertFalse((self.out / "slow.json").exists())
        self.assertIn("is finished already", parley(quick, "--out", str(self.out)).stdout)


class Adult(unittest.TestCase):
    def test_every_figure_in_its_quick_form(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            names = FIGURES if not os.environ.get("PARLEY_TEST_SHORT") else ["zkl20-fig1c", "hhcg20-table3"]
            start = time.time()
            result = parley(*(["all"] if len(names) == len(FIGURES) else names), "--quick", "--json", "--out", folder)
            if "parley data fetch adult" in result.stderr:
                raise unittest.SkipTest("skipped: Adult not found")
            self.assertEqual(result.returncode, 0, result.stderr)
            print(f"reproduce all --quick: {time.time() - start:.0f} s")
            found = {r["name"]: r for r in json.loads(result.stdout)["results"]}
            for name in names:
                r = found[name]
                self.assertIn(r["verdict"], ("holds", "holds in part", "does not hold", "undecided"))
                self.assertTrue(r["quick"] and r["claim"] and r["judgements"] and r["notes"] and r["not_private"], name)
                self.assertTrue(all(j["measured"] for j in r["judgements"]), name)
                self.assertGreater(len((out / (name + ".csv")).read_text().splitlines()), 2, name)
                for chart in r["charts"]:
                    self.assertIn("svg", xml.dom.minidom.parse(str(out / chart)).documentElement.tagName, chart)
                for run in r["runs"]:
                    self.assertTrue(run["epsilon"] is not None or run["delta"] is None, run["name"])
            self.assertIn("too short to judge the paper by", (out / "index.md").read_text())


class Docs(unittest.TestCase):
    def test_results_show_the_experiments_as_they_are(self):
        """docs/results/results.md was made from these very files: `make results` when this fails."""
        page = (ROOT / "docs/results/results.md").read_text()
        for e in json.loads(parley("list", "--json").stdout)["experiments"]:
            self.assertTrue(f"<!-- {e['name']} {e['fingerprint']} -->" in page, f"{e['name']}: run 'make results'")
            for chart in e["charts"]:
                self.assertTrue((ROOT / "docs/images/reproduce" / chart).is_file(), chart)


if __name__ == "__main__":
    unittest.main()
