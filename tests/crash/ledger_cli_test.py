"""parley ledger as its owner meets it. Run by ctest with $PARLEY = the program."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PARLEY = os.environ["PARLEY"]
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK) else None  # where a sync costs nothing


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(dir=MEMORY, prefix="parley-ledger-")
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


class Ledger(Case):
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


class Rollback(Case):
    """R17: what protects against rollback looks like what it is, and its absence is an error."""
    RUN = ("train", "--algorithm", "pvp", "--rows", 120, "--nodes", 3, "--loss-weight", 20, "--threads", 1, "--epsilon", 1, "--delta", 1e-6, "--rounds", 2,
           "--ledger", "l.db", "--dataset", "ward", "--metrics", "last")

    def train(self, out):
        return subprocess.run([PARLEY, *map(str, self.RUN), "--out", out], cwd=self.dir, capture_output=True, text=True, timeout=900)

    def trained(self, out):
        result = self.train(out)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr

    def refused(self, says):
        before = (self.dir / "l.db").read_bytes()
        result = self.train("refused")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for text in says:
            self.assertIn(text, result.stderr)
        self.assertFalse((self.dir / "refused").exists())
        self.fails("cap", "l.db", "--dataset", "ward", "--epsilon", 900, says=says)
        self.assertEqual((self.dir / "l.db").read_bytes(), before)
        return result.stderr

    def path(self, name):
        return self.dir / ("l.db" + name)

    def copy(self):
        return {name: self.path(name).read_bytes() for name in ("", ".newest-head", ".lock") if self.path(name).exists()}

    def put_back(self, copy, *names):
        for path in self.dir.glob("l.db*"):
            if path.name != "l.db.key":
                path.unlink()
        for name in {*names} & {*copy}:
            self.path(name).write_bytes(copy[name])

    def setUp(self):
        super().setUp()
        self.ok("cap", "l.db", "--dataset", "ward", "--epsilon", 2, "--delta", 1e-6)

    def spent(self):
        return json.loads(self.ok("show", "l.db", "--json"))["datasets"][0]["epsilon"]

    def test_an_old_copy_without_lock_and_memory_does_not_spend_the_cap_again(self):
        """Before, this went through without a word: the only trace of what was spent since was in FILE.lock, which looks disposable."""
        self.trained("runs/a")
        old = self.copy()
        self.trained("runs/b")
        self.assertGreater(self.spent(), 1.4)
        shutil.move(self.dir / "runs", self.dir / "elsewhere")  # no record of it either
        self.put_back(old, "")
        self.refused(["the memory of this ledger is missing", "l.db.newest-head", "parley ledger accept"])
        shown = self.parley("show", "l.db")
        self.assertEqual(shown.returncode, 0)
        self.assertIn("warning: ", shown.stderr)
        self.assertIn("the memory of this ledger is missing", shown.stderr)
        self.assertIn("missing", json.loads(self.ok("show", "l.db", "--json"))["in_doubt"])
        self.fails("verify", "l.db", says=["the memory of this ledger is missing"])
        self.assertFalse(self.path(".newest-head").exists())

    def test_a_removed_lock_is_nothing(self):
        self.trained("a")
        self.path(".lock").unlink()
        self.assertNotIn("warning: the memory", self.trained("b"))
        self.assertGreater(self.spent(), 1.4)

    def test_a_memory_that_is_damaged_or_of_another_ledger_is_refused(self):
        self.trained("a")
        whole = self.path(".newest-head").read_bytes()
        self.ok("cap", "other.db", "--dataset", "ward", "--epsilon", 2)
        flipped = [whole[:i] + bytes([whole[i] ^ 1 << i % 8]) + whole[i + 1:] for i in range(0, len(whole), 61)]
        for bytes_now in (*flipped, *(whole[:n] for n in range(0, len(whole), 61)), whole[:-1], whole + b"\n"):  # all of them: rollback_test.cpp
            self.path(".newest-head").write_bytes(bytes_now)
            self.fails("cap", "l.db", "--dataset", "ward", "--epsilon", 900, says=["damaged", "parley ledger accept"])
        self.refused(["damaged"])
        shutil.copy(self.dir / "other.db.newest-head", self.path(".newest-head"))
        self.refused(["that of another ledger"])
        self.path(".newest-head").write_bytes(whole)
        self.trained("b")

    def test_an_acceptance_is_recorded_and_shown_to_everybody_who_asks(self):
        self.trained("a")
        self.path(".newest-head").unlink()
        self.fails("accept", "l.db", says=["needs --reason"])
        self.fails("accept", "l.db", "--reason", "a\nb", says=["no reason that the ledger can keep"])
        self.fails("accept", "l.db", "a", "--reason", "lost", says=["holds no newer head"])
        self.fails("accept", "no.db", "--reason", "lost", says=["there is no ledger"])
        accepted = self.parley("accept", "l.db", "--reason", "the file was lost in a move")
        self.assertEqual(accepted.returncode, 0, accepted.stderr)
        self.assertIn("warning: if this ledger is an old copy", accepted.stderr)
        self.assertIn("not counted", accepted.stderr)
        for command in ("show", "verify"):
            self.assertRegex(self.ok(command, "l.db"), "accepted this ledger without its memory.*Reason: the file was lost in a move")
            told = json.loads(self.ok(command, "l.db", "--json"))["accepted"]
            self.assertEqual([(t["memory"], t["reason"]) for t in told], [("missing", "the file was lost in a move")])
        self.trained("b")
        self.assertGreater(self.spent(), 1.4)

    def test_the_records_of_runs_tell_an_old_copy_that_came_with_its_memory(self):
        self.trained("runs/a")
        old = self.copy()
        self.trained("runs/b")
        self.put_back(old, "", ".newest-head", ".lock")
        self.refused(["your ledger is older than what you have released", "runs/b"])
        self.fails("show", "l.db", says=["your ledger is older than what you have released", "runs/b"])
        self.put_back(old, "")
        self.fails("accept", "l.db", "--reason", "lost", says=["runs/b", "name every one of these folders"])
        self.ok("accept", "l.db", "runs/b", "--reason", "lost")
        self.assertRegex(self.ok("show", "l.db"), "these records show a newer copy: .*runs/b")
        self.trained("runs/c")
        run = json.loads((self.dir / "runs/c/run.json").read_text())
        shown = json.loads(self.ok("show", "l.db", "--json"))
        self.assertEqual(run["ledger_head"]["head"], shown["head"])
        self.assertEqual(shown["runs"][-1]["folder"], str(self.dir.resolve() / "runs/c"))

    def test_a_record_that_was_moved_away_is_fine(self):
        self.trained("runs/a")
        shutil.move(self.dir / "runs", self.dir / "archive")
        self.trained("runs/b")

    def test_the_memory_in_the_lock_of_an_earlier_version_moves_over_once(self):
        self.trained("a")
        shown = json.loads(self.ok("show", "l.db", "--json"))

        def earlier(entries, head):
            line = f"{7:10d} {entries:20d} {head}"
            return (line + " " + hashlib.sha256(line.encode()).hexdigest()[:16] + "\n").encode() * 2

        self.path(".newest-head").unlink()
        self.path(".lock").write_bytes(earlier(shown["entries"] + 1, shown["head"]))
        self.refused(["your ledger is older than what you have released"])
        self.path(".lock").write_bytes(earlier(shown["entries"], shown["head"]))
        self.assertIn("has moved from", self.trained("b"))
        self.assertNotIn("has moved from", self.parley("show", "l.db").stderr)
        self.path(".newest-head").unlink()
        self.refused(["the memory of this ledger is missing"])


if __name__ == "__main__":
    unittest.main()
