"""`parley report` on records of real runs: what it shows, to whom, what it refuses. Run by ctest with $PARLEY = the program."""
import html
import json
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess
import tempfile
import unittest

PARLEY = os.environ["PARLEY"]


def parley(*arguments, cwd):
    return subprocess.run([PARLEY, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=600)


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.temporary.name)
        budget = ("--epsilon", 2, "--delta", 1e-5)
        cls.train("runs", "--algorithm", "mr-admm", *budget, "--repeat", 2)
        cls.train("seeded", "--algorithm", "mr-admm", *budget, "--seed", 7)
        cls.train("star", "--algorithm", "dp-admm", *budget)
        cls.train("gamma", "--algorithm", "r-admm", "--noise", "gamma", "--noise-rate", 0.7)
        cls.train("each", "--algorithm", "dp-admm", "--iteration-epsilon", 0.1, "--iteration-delta", 1e-3)
        cls.train("l1", "--algorithm", "star-pvp", "--regularizer", "l1", *budget)
        cls.train("newton", "--algorithm", "newton", "--nodes", 3, *budget)
        cls.train("pp", "--algorithm", "pp", *budget)
        cls.train("plain", "--algorithm", "admm", "--noise", "none")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def train(cls, out, *more):
        rows = () if "--data" in more else ("--rows", 1500)
        result = parley("train", *rows, "--rounds", 6, "--quiet", "--out", out, *more, cwd=cls.dir)
        assert result.returncode == 0, result.stderr

    def page(self, *words):
        out = self.dir / "page.html"
        result = parley("report", *words, "--out", out, cwd=self.dir)
        self.assertEqual(result.returncode, 0, result.stderr)
        return out.read_text()

    def refused(self, *words):
        result = parley("report", *words, cwd=self.dir)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("what to do:", result.stderr)
        return result.stderr

    def record(self, name):
        folder = self.dir / name
        folder = folder if (folder / "run.json").exists() else folder / "run-1"
        return json.loads((folder / "run.json").read_text()), [json.loads(l) for l in (folder / "rounds.jsonl").read_text().splitlines()]

    def measured(self, value, key=""):
        """All numbers in it that were measured on rows."""
        if isinstance(value, dict):
            return [n for k, v in value.items() for n in self.measured(v, k)]
        if isinstance(value, list):
            return [n for v in value for n in self.measured(v, key)]
        return [value] if isinstance(value, float) and key not in ("low", "high", "level") else []

    def private_texts(self, name):
        run, rounds = self.record(name)
        values = self.measured(run["private"]) + [n for r in rounds for n in self.measured(r.get("private", {}))]
        shown = {repr(v) for v in values} | {f"{100 * v:.2f} %" for v in values}
        return {t for t in shown if len(t) >= 7} | {str(self.dir), run["options"]["out"] + "/", "run-1"}, {f"{v:.5g}" for v in values} - shown

    def test_a_shareable_page_has_no_text_of_a_private_value(self):
        for name in ("runs", "star", "gamma", "seeded", "plain"):
            page = self.page(name)
            texts, rounded = self.private_texts(name)
            for text in texts:
                self.assertNotIn(text, page, name)
            # Five digits may be those of another number: the noise of these runs is fresh. A leak shows a value of each round.
            self.assertLessEqual(len([t for t in rounded if len(t) >= 6 and t in page]), 2, name)
            self.assertNotIn("test-error", page)
            self.assertNotIn("always guessing the larger class (", page)
            self.assertNotIn(self.record(name)[0]["private"]["verdict"], page)
            if name != "runs":  # a page of one run
                self.assertIn(self.record(name)[0]["private"]["verdict"], self.page(name, "--private"))

    def test_an_option_s_row_decides_what_anyone_sees_of_it(self):
        (self.dir / "secret-edges.txt").write_text("0 1\n1 2\n2 0\n")
        self.train("words", "--algorithm", "linear-admm", "--epsilon", 2, "--delta", 1e-5, "--nodes", 3, "--step-size", "convex", "--split", "power", "--graph", "secret-edges.txt")
        page = self.page("words")
        for name, value in (("step-size", "convex"), ("split", "power"), ("algorithm", "linear-admm"), ("data", "census"), ("nodes", "3")):
            self.assertIn(f'<th scope="row">{name}</th><td>{value}</td>', page)
        self.assertNotIn("secret-edges", page)
        for name in ("out", "graph", "threads", "ledger", "split-column", "schema", "test-data"):
            self.assertNotIn(f'<th scope="row">{name}</th>', page)
        self.assertIn("secret-edges", self.page("words", "--private"))

    def test_a_private_page_has_them_and_is_its_owner_s_alone(self):
        page = self.page("star", "--private")
        run, _ = self.record("star")
        self.assertIn(f"{100 * run['private']['test_error']:.2f} %", page)
        self.assertIn('id="test-error"', page)
        self.assertEqual(stat.S_IMODE((self.dir / "page.html").stat().st_mode), 0o600)

    def test_distances_are_those_of_the_record(self):
        """The report computes them from released.f64 by itself."""
        for name in ("star", "gamma"):
            _, rounds = self.record(name)
            parley("report", name, "--out", "d.html", "--figures", f"figures-{name}", cwd=self.dir)
            rows = [l.split(",") for l in (self.dir / f"figures-{name}/nodes.csv").read_text().splitlines()[1:]]
            self.assertAlmostEqual(max(float(r[5]) for r in rows if r[5]), rounds[-1]["disagreement"], places=9)

    def test_the_line_under_how_to_check_gives_the_loss_of_the_record(self):
        for name in ("runs", "star", "gamma", "each", "l1", "newton", "pp"):
            line = html.unescape(re.search(r"<pre>(.*)\n", self.page(name)).group(1))
            words = shlex.split(line)
            self.assertNotIn("--epsilon", words)  # from the noise, not from the target
            self.assertIn("--noise-rounds", words)
            self.assertRegex(self.page(name), "Noise that was used: (Gaussian|gamma)")
            result = parley(*words[1:], "--json", cwd=self.dir)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertAlmostEqual(self.find(json.loads(result.stdout), "epsilon"), self.record(name)[0]["privacy"]["epsilon"], places=6)

    def test_the_first_screen_has_the_sentence_the_light_and_the_odds(self):
        page = self.page("newton")
        first = page[:page.index('id="charts"')]
        self.assertIn("Anyone who sees every message of this run learns at most", first)
        self.assertIn('class="light amber"', first)
        self.assertIn("<strong>AMBER</strong>", first)
        self.assertIn("≤ 60.0 %", first)  # Φ(μ/2) at ε = 2, δ = 1e-5, rounded up
        self.assertIn('class="light red"', self.page("gamma"))
        self.assertIn("this is no meaningful protection", self.page("gamma"))
        self.assertIn("<strong>NOT PRIVATE</strong>", self.page("seeded"))

    def test_a_ledger_s_budget_is_on_its_owner_s_page_alone(self):
        ledger = ("--dataset", "ward-2")
        self.assertEqual(parley("ledger", "cap", "w.ledger", *ledger, "--epsilon", 3, "--delta", 1e-5, cwd=self.dir).returncode, 0)
        self.train("ledgered", "--epsilon", 1, "--delta", 1e-5, "--ledger", "w.ledger", *ledger)
        dataset = json.loads(parley("ledger", "show", "w.ledger", "--json", cwd=self.dir).stdout)["datasets"][0]
        self.assertGreater(dataset["left"], dataset["left_after_one_more"])
        self.assertGreater(dataset["left_after_one_more"], 2)  # the filter: more than 3 − 1 − 1
        page = self.page("ledgered", "--private", "--ledger", "w.ledger")
        self.assertIn("Budget: spent and left", page)
        self.assertIn("ward-2", page)
        self.assertIn("is its owner's", self.refused("ledgered", "--ledger", "w.ledger"))

    def find(self, value, key):
        if isinstance(value, dict):
            return value[key] if key in value else next((f for f in (self.find(v, key) for v in value.values()) if f is not None), None)
        return None

    def test_not_private_runs_say_so_first(self):
        for name, reason in (("seeded", "noise from seed 7"), ("plain", "no noise")):
            for words in ((), ("--private",)):
                page = self.page(name, *words)
                self.assertRegex(page, f'class="banner"[^<]*<strong>NOT PRIVATE</strong> {reason}')
                self.assertLess(page.index('class="banner"'), page.index("<h1>"))
                self.assertNotIn("learns at most", page)

    def test_a_seeded_run_claims_nothing_about_its_noise(self):
        page = self.page("seeded")
        self.assertNotIn("ChaCha20", page)
        self.assertNotIn("what one record of the node can lose", page)
        self.assertIn("None: there is no guarantee that could rest on them. NOT PRIVATE: noise from seed 7.", page)
        self.assertIn("ChaCha20", self.page("star"))

    def test_the_figures_of_a_seeded_run_say_so_without_their_page(self):
        self.page("seeded", "--figures", "marked")
        for name in ("nodes.csv", "privacy-spent.csv", "privacy-spent.svg", "graph.svg"):
            self.assertIn("NOT PRIVATE", (self.dir / "marked" / name).read_text(), name)

    def test_rows_that_were_declared_public_are_named_wherever_the_guarantee_is(self):
        said = parley("train", "--algorithm", "mr-admm", "--rows", 1500, "--rounds", 2, "--epsilon", 1, "--public-rows", 500, "--out", "declared", cwd=self.dir)
        words = "500 rows that were declared public"
        self.assertIn(f"Not covered: {words}.", said.stdout)
        self.assertIn(f"Not covered: {words}.", self.page("declared"))
        self.assertEqual(json.loads((self.dir / "declared/model.json").read_text())["privacy"]["not_covered"], words)
        self.assertNotIn("not_covered", self.record("star")[0]["privacy"])

    def test_privacy_warnings_are_no_progress(self):
        said = parley("train", "--rows", 1500, "--rounds", 2, "--epsilon", 1, "--delta", 0.01, "--out", "large-delta", "--quiet", cwd=self.dir)
        self.assertRegex(said.stderr, r"^warning: delta = 0.01 is not below 1/records of node 0")
        self.assertIn("Warning: δ = 0.01 is not below 1/records of node 0", self.page("large-delta"))
        self.assertNotIn("Warning: δ", self.page("star"))
        said = parley("compare", "--algorithms", "mr-admm", "--epsilon", 1, "--delta", 0.01, "--rows", 1500, "--rounds", 2, "--repeat", 1, "--out", "compared", "--quiet",
                      cwd=self.dir)
        self.assertEqual(said.stderr.count("warning: delta = 0.01"), 1)

    def test_the_page_shows_the_noise_of_the_plan_and_the_options_as_they_were(self):
        run, _ = self.record("star")
        page = self.page("star")
        self.assertIn("noise scale in round 1", page)
        self.assertIn(f"<td>{run['noise_levels'][0]:.4g}</td>", page)
        self.assertIn("noise rate in round 1", self.page("gamma"))
        self.assertIn(f'<th scope="row">features</th><td>{run["features"]}</td>', page)
        self.assertIn('<th scope="row">nodes</th><td>5</td>', page)
        self.assertIn('<th scope="row">rows</th><td>1500</td>', page)
        parley("data", "generate", "census", "--rows", 300, "--out", "own.csv", cwd=self.dir)
        parley("data", "schema", "census", "--out", "own.toml", cwd=self.dir)
        self.train("own", "--algorithm", "mr-admm", "--data", "own.csv", "--schema", "own.toml", "--epsilon", 2)
        for private in ((), ("--private",)):
            self.assertNotIn('<th scope="row">rows</th>', self.page("own", *private))

    def test_an_unfinished_run_is_shown_as_such(self):
        shutil.copytree(self.dir / "star", self.dir / "killed")
        run = json.loads((self.dir / "killed/run.json").read_text())
        run["outcome"] = "running"
        (self.dir / "killed/run.json").write_text(json.dumps(run))
        lines = (self.dir / "killed/rounds.jsonl").read_text()
        (self.dir / "killed/rounds.jsonl").write_text(lines[: len(lines) // 2])
        self.assertIn("the run goes on, or was killed", self.page("killed"))

    def test_it_overwrites_reports_only(self):
        (self.dir / "thesis.html").write_text("my thesis")
        self.assertIn("not part of a report", self.refused("runs", "--out", "thesis.html"))
        self.assertEqual((self.dir / "thesis.html").read_text(), "my thesis")
        self.assertIn("this is a folder", self.refused("runs", "--out", "runs"))
        self.page("runs")
        self.page("star")
        (self.dir / "figures").mkdir()
        (self.dir / "figures/movement.svg").write_text("mine")
        self.assertIn("movement.svg", self.refused("runs", "--out", "new.html", "--figures", "figures"))
        self.assertFalse((self.dir / "new.html").exists())

    def test_mistakes_are_named(self):
        (self.dir / "empty").mkdir(exist_ok=True)
        self.assertIn("the folder of a run is missing", self.refused())
        self.assertIn("no such folder", self.refused("nowhere"))
        self.assertIn("no record of a run here", self.refused("empty"))
        self.assertIn("not a folder, and not a plan", self.refused("runs/run-1/run.json"))
        self.assertIn("not a folder", self.refused("runs/run-1/rounds.jsonl"))
        self.assertIn("writable", self.refused("runs", "--out", "x.html", "--figures", "runs/run-1/run.json/figures"))


if __name__ == "__main__":
    unittest.main()
