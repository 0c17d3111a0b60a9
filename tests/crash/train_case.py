"""What the tests of a killed and resumed `parley train` share. ctest gives $PARLEY and $PARLEY_FAILPOINTS (failing_program.cpp)."""
import json
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import unittest

PARLEY = os.environ["PARLEY"]
FAILPOINTS = os.environ["PARLEY_FAILPOINTS"]
FULL = "PARLEY_TEST_FULL" in os.environ
SHORT = "PARLEY_TEST_SHORT" in os.environ
KILLED = -9
# Where a sync costs nothing, if there is such a place.
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK) else None
ALGORITHMS = {  # name: what makes it small
    "mr-admm": ("--epsilon", 2, "--delta", 1e-6),
    "pvp": ("--epsilon", 2, "--delta", 1e-6),
    "dp-admm": ("--epsilon", 2, "--delta", 1e-6),
    "newton": ("--epsilon", 2, "--delta", 1e-6)}
SMALL = ("--rows", 120, "--nodes", 3, "--loss-weight", 20, "--threads", 1)


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(dir=MEMORY, prefix="parley-train-")
        self.dir = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def run_program(self, *arguments, program=PARLEY, **env):
        return subprocess.run([program, *map(str, arguments)], cwd=self.dir, capture_output=True, text=True, timeout=900,
                              env={**os.environ, **{k: str(v) for k, v in env.items()}})

    def ok(self, *arguments, **kw):
        result = self.run_program(*arguments, **kw)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def fails(self, *arguments, says, code=1, writes=False, **kw):
        before = {p: p.stat().st_size for p in self.dir.rglob("*") if p.is_file()}
        result = self.run_program(*arguments, **kw)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for text in says:
            self.assertIn(text, result.stderr)
        if not writes:
            self.assertEqual({p: p.stat().st_size for p in self.dir.rglob("*") if p.is_file()}, before, "something was written")
        return result.stderr

    def make_ledger(self, file="l.db", **caps):
        for dataset, cap in {"open": ("unlimited",), "ward": (2, "--delta", 1e-6), **caps}.items():
            self.ok("ledger", "cap", file, "--dataset", dataset, "--epsilon", *cap)

    def fresh(self, *keep):
        """Back to the ledger as it was kept, with no record."""
        for path in self.dir.iterdir():
            if path.name not in keep and path.name != "kept":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path in (self.dir / "kept").iterdir():
            shutil.copy(path, self.dir)

    def keep_ledger(self):
        (self.dir / "kept").mkdir()
        for name in ("l.db", "l.db.key", "l.db.lock", "l.db.newest-head"):
            shutil.copy(self.dir / name, self.dir / "kept")

    def entries(self, file="l.db", kind="charge"):
        """The entries of a ledger that may have been killed: from a copy, so that nothing is repaired."""
        copy = self.dir / "looked-at"
        copy.mkdir()
        for name in (file, file + "-wal"):
            if (self.dir / name).exists():
                shutil.copy(self.dir / name, copy)
        with sqlite3.connect(copy / file) as db:
            rows = db.execute("SELECT sequence, run, node, round, body, hex(released), hex(hash) FROM entry WHERE kind = ?"
                              " ORDER BY sequence", (kind,)).fetchall()
        db.close()
        shutil.rmtree(copy)
        return rows

    def spend(self, file="l.db"):
        """What the ledger says was spent: per dataset, and per node of each run that was charged."""
        shown = json.loads(self.ok("ledger", "show", file, "--json"))
        return ([(d["dataset"], d["epsilon"], d["infinite"]) for d in shown["datasets"]],
                [[(a["node"], a["rounds_released"], a["charges"], a["epsilon"]) for a in r["accounts"]]
                 for r in shown["runs"] if r["accounts"][0]["rounds_released"] > 0])

    def released(self, out):
        """[round][node] → bytes, of the whole rounds in released.f64; nothing where a node was silent."""
        shape = json.loads((self.dir / out / "run.json").read_text())["released"]
        file = self.dir / out / "released.f64"
        data, nodes, rounds = file.read_bytes() if file.exists() else b"", shape["nodes"], []
        while True:
            numbers = shape.get("size_of_round_1", shape["size"]) if len(rounds) == 1 else shape["size"]
            if rounds and len(rounds) == shape.get("final_round"):
                numbers = shape["size_of_final_round"]
            if len(data) < 8 * numbers * nodes:
                return rounds
            values = [data[8 * numbers * i:8 * numbers * (i + 1)] for i in range(nodes)]
            rounds.append([b"" if all(x != x for x in struct.unpack(f"{numbers}d", v)) else v for v in values])
            data = data[8 * numbers * nodes:]

    def outcome(self, out):
        file = self.dir / out / "run.json"
        return json.loads(file.read_text())["outcome"] if file.exists() else None

    def assert_released_was_paid(self, out, file="l.db"):
        """Every value of the record is in the ledger, bit for bit."""
        if not (self.dir / out / "run.json").exists():
            return
        stored = {(e[2], e[3]): bytes.fromhex(e[5]) for e in self.entries(file)}
        for t, values in enumerate(self.released(out)):
            for node, value in enumerate(values):
                self.assertEqual(stored.get((node, t)), value, (node, t))
