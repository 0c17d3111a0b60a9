"""parley ledger as its owner meets it. Run by ctest with $PARLEY = the program."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PARLEY = os.environ["PARLEY"]


class Ledger(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def parley(self, *arguments):
        return subprocess.run([PARLEY, "ledger", *map(str, arguments)], cwd=self.dir, capture_output=True, text=True, timeout=900)

    def ok(self, *arguments):
        result = self.parley(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def fails(self, *arguments, says):
        before = sorted(self.dir.rglob("*"))
        result = self.parley(*arguments)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for text in says:
            self.assertIn(text, result.stderr)
        self.assertEqual(sorted(self.dir.rglob("*")), before, "something was written")

    def test_a_cap_makes_the_ledger_and_show_tells_it(self):
        self.assertIn("ε = 2 in all, by sums", self.ok("cap", "l.db", "--dataset", "ward", "--epsilon", 2))
        self.assertIn("GDP filter", self.ok("cap", "l.db", "--dataset", "clinic", "--epsilon", 1, "--delta", 1e-6))
        self.assertIn("without limit", self.ok("cap", "l.db", "--dataset", "census", "--epsilon", "unlimited"))
        shown = json.loads(self.ok("show", "l.db", "--json"))
        self.assertEqual(shown["entries"], 4)
        self.assertEqual([(d["dataset"], d["cap"], d["epsilon"]) for d in shown["datasets"]],
                         [("census", None, 0), ("clinic", 1, 0), ("ward", 2, 0)])
        self.assertRegex(self.ok("show", "l.db"), r"ward +0\.0000 +0 +2 +2\.0000 +0")
        self.assertIn("chain intact", self.ok("verify", "l.db"))
        self.assertEqual(json.loads(self.ok("verify", "l.db", "--json"))["wrong"], [])

    def test_mistakes_are_told_and_nothing_is_written(self):
        self.fails(says=["show FILE, cap FILE"])
        self.fails("show", "no.db", says=["no.db: there is no ledger"])
        self.fails("verify", "no.db", says=["no.db: there is no ledger"])
        self.fails("cap", "l.db", "--dataset", "ward", says=["--dataset and --epsilon"])
        self.fails("cap", "l.db", "--dataset", "ward", "--epsilon", -1, says=["no cap", "epsilon -1"])
        self.fails("cap", "l.db", "--dataset", "ward", "--epsilon", "much", says=["epsilon is not a number"])
        self.fails("cap", "l.db", "--dataset", "ward", "--epsilon", 1, "--delta", 1, says=["delta"])
        self.fails("cap", "nowhere/l.db", "--dataset", "ward", "--epsilon", 1, says=["nowhere/l.db"])

    def test_a_record_that_is_not_of_a_ledger(self):
        self.ok("cap", "l.db", "--dataset", "ward", "--epsilon", 2)
        run = self.dir / "run"
        run.mkdir()
        (run / "run.json").write_text('{"released": {"nodes": 1, "size": 1}}')
        (run / "rounds.jsonl").write_text("")
        (run / "released.f64").write_bytes(b"")
        self.fails("verify", "l.db", "run", says=["names no run of a ledger"])
        (run / "run.json").write_text('{"released": {"nodes": 1, "size": 1}, "run_id": "abc"}')
        self.fails("verify", "l.db", "run", says=["does not know run abc", "your ledger is older than what you have released"])

    def test_an_older_copy_is_noticed(self):
        self.ok("cap", "l.db", "--dataset", "ward", "--epsilon", 2)
        old = (self.dir / "l.db").read_bytes()
        self.ok("cap", "l.db", "--dataset", "ward", "--epsilon", 1)
        (self.dir / "l.db").write_bytes(old)
        self.fails("show", "l.db", says=["your ledger is older than what you have released"])


if __name__ == "__main__":
    unittest.main()
