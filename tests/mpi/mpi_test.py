"""The MPI engine as a user meets it (docs/cluster.md): same bits on any number of ranks, one file per node, mistakes told once, a rank
that dies, and going on after it. ctest gives $PARLEY and $SAME_BITS; without mpirun: "skipped: mpirun not found"."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PARLEY, SAME_BITS = os.environ["PARLEY"], os.environ["SAME_BITS"]
SHORT, FULL = "PARLEY_TEST_SHORT" in os.environ, "PARLEY_TEST_FULL" in os.environ
ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none",  # containers without ptrace
       "ASAN_OPTIONS": "detect_leaks=0"}
if not shutil.which("mpirun"):
    print("skipped: mpirun not found", file=sys.stderr)
    sys.exit(0)


def mpirun(ranks, *arguments, program=PARLEY, cwd=None):
    return ["mpirun", "--bind-to", "none", "-n", str(ranks), program, *map(str, arguments)]


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="parley-mpi-")
        self.dir = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def run_ranks(self, ranks, *arguments, program=PARLEY):
        return subprocess.run(mpirun(ranks, *arguments, program=program), cwd=self.dir, env=ENV, capture_output=True, text=True, timeout=900)

    def ok(self, ranks, *arguments, program=PARLEY):
        result = self.run_ranks(ranks, *arguments, program=program)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def fails(self, ranks, *arguments, says):
        result = self.run_ranks(ranks, *arguments)
        self.assertNotEqual(result.returncode, 0)
        for text in says:
            self.assertIn(text, result.stderr)
        self.assertEqual(result.stderr.count("parley: "), 1, "told once:\n" + result.stderr)
        return result.stderr

    def alone(self, *arguments):
        result = subprocess.run([PARLEY, *map(str, arguments)], cwd=self.dir, capture_output=True, text=True, timeout=600)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def text(self, name):
        return (self.dir / name).read_text()


TRAIN = ("train", "--rows", 600, "--nodes", 5, "--loss-weight", 50, "--rounds", 6, "--seed", 3, "--quiet", "--json")


class SameBits(Case):
    def test_every_algorithm_on_1_2_3_and_5_ranks(self):
        for ranks in (2, 5) if SHORT else (1, 2, 3, 5):
            out = self.ok(ranks, self.dir / f"bits-{ranks}", program=SAME_BITS)
            print(out.strip(), file=sys.stderr)
            self.assertIn(" 0 not the same", out)

    def test_json_and_model_are_those_of_one_process(self):
        mpi = json.loads(self.ok(2, *TRAIN, "--engine", "mpi", "--out", "mpi"))
        one = json.loads(self.alone(*TRAIN, "--out", "one"))
        for different in ("seconds", "record"):
            mpi.pop(different), one.pop(different)
        self.assertAlmostEqual(mpi.pop("distance_to_optimum"), one.pop("distance_to_optimum"), places=9)
        self.assertAlmostEqual(mpi.pop("train_loss_nonprivate"), one.pop("train_loss_nonprivate"), places=9)
        self.assertEqual(mpi, one)
        self.assertEqual(self.text("mpi/model.json"), self.text("one/model.json"))
        self.assertEqual(self.text("mpi/rank-1/model.json"), self.text("one/model.json"))


class Files(Case):
    SCHEMA = """
intercept = true
[label]
column = "ill"
positive = ["yes"]
negative = ["no"]
[[columns]]
name = "age"
kind = "numeric"
bounds = [0, 100]
"""

    def write_files(self, sizes):
        (self.dir / "schema.toml").write_text(self.SCHEMA)
        draw = random.Random(1)
        for i, size in enumerate(sizes):
            ages = [draw.randrange(20, 90) for _ in range(size)]
            lines = [f"{a},{'yes' if draw.random() < a / 100 else 'no'}" for a in ages]
            (self.dir / f"{i}.csv").write_text("age,ill\n" + "\n".join(lines) + "\n")
        return ("train", "--data", ",".join(f"{i}.csv" for i in range(len(sizes))), "--schema", "schema.toml", "--loss-weight", 20,
                "--rounds", 6, "--seed", 3, "--quiet", "--json")

    def test_a_file_is_read_by_its_rank_alone(self):
        command = self.write_files([200, 40, 60, 50])
        one = json.loads(self.alone(*command, "--out", "one"))
        mpi = json.loads(self.ok(2, *command, "--engine", "mpi", "--out", "mpi"))
        self.assertEqual((mpi["test_error"], mpi["train_loss"], mpi["node_results"]), (one["test_error"], one["train_loss"], one["node_results"]))
        self.assertEqual(self.text("mpi/model.json"), self.text("one/model.json"))
        shapes = [json.loads(self.text(f))["released"] for f in ("mpi/run.json", "mpi/rank-1/run.json")]
        self.assertEqual([(s["first"], s["nodes"]) for s in shapes], [(0, 1), (1, 3)])  # balanced by size
        opened = self.dir / "opened"
        if shutil.which("strace"):
            wrapper = self.dir / "traced.sh"
            wrapper.write_text(f'#!/bin/sh\nexec strace -f -e trace=openat -o {opened}.$OMPI_COMM_WORLD_RANK {PARLEY} "$@"\n')
            wrapper.chmod(0o755)
            self.ok(2, *command, "--engine", "mpi", "--out", "traced", program=str(wrapper))
            for rank, files in ((0, "0"), (1, "123")):
                seen = pathlib.Path(f"{opened}.{rank}").read_text()
                self.assertEqual("".join(i for i in "0123" if f'"{i}.csv"' in seen), files)

    def test_a_mistake_in_one_file_is_told_once_with_its_rank(self):
        command = self.write_files([30, 30, 30])
        (self.dir / "2.csv").write_text("age,ill\n30,perhaps\n")
        self.fails(3, *command, "--engine", "mpi", "--out", "mpi", says=["rank 2", "2.csv", "perhaps"])
        self.assertFalse((self.dir / "mpi").exists())
        (self.dir / "2.csv").unlink()
        self.fails(3, *command, "--engine", "mpi", "--out", "mpi", says=["rank 2", "2.csv", "does not exist"])


class Mistakes(Case):
    def test_they_are_told_once(self):
        self.fails(3, *TRAIN, "--engine", "mpi", "--penalty", -1, says=["penalty"])
        self.fails(3, *TRAIN, "--engine", "mpi", "--no-such-option", 1, says=["no-such-option"])
        self.fails(7, *TRAIN, "--engine", "mpi", says=["7 processes for 5 nodes", "fewer processes"])
        self.fails(2, *TRAIN, says=["started as 2 processes", "--engine mpi"])
        self.ok(2, *TRAIN, "--engine", "mpi", "--out", "mpi")
        self.fails(2, *TRAIN, "--engine", "mpi", "--out", "mpi", says=["not empty"])

    def test_ranks_need_ledgers_of_their_own(self):
        self.alone("ledger", "cap", "both.db", "--dataset", "d", "--epsilon", "unlimited")
        paid = ("--epsilon", 1, "--delta", 1e-5, "--dataset", "d", "--engine", "mpi")
        self.fails(2, *TRAIN, *paid, "--ledger", "both.db", "--out", "no", says=["both.db", "{rank}"])
        for rank in range(2):
            self.alone("ledger", "cap", f"{rank}.db", "--dataset", "d", "--epsilon", "unlimited")
        self.ok(2, *TRAIN, *paid, "--ledger", "{rank}.db", "--out", "mpi")
        shown = [json.loads(self.alone("ledger", "show", f"{rank}.db", "--json"))["runs"][0] for rank in range(2)]
        self.assertEqual(shown[0]["run"], shown[1]["run"])
        self.assertEqual([[a["node"] for a in run["accounts"]] for run in shown], [[0, 1, 2], [3, 4]])
        for rank, folder in ((0, "mpi"), (1, "mpi/rank-1")):
            self.assertIn("bit for bit", self.alone("ledger", "verify", f"{rank}.db", folder))


class Death(Case):
    """kill -9 of one rank, at times that are chosen by the record: after so many rounds."""
    ROUNDS = 30

    def command(self, algorithm, ledger):
        paid = ("--dataset", "d", "--ledger", "{rank}.db") if ledger else ()
        return ("train", "--rows", 600, "--nodes", 5, "--loss-weight", 50, "--rounds", self.ROUNDS, "--seed", 3, "--engine", "mpi", "--algorithm", algorithm,
                "--epsilon", 1, "--delta", 1e-5, "--out", "run", *paid)

    def rounds(self, folder):
        file = self.dir / folder / "rounds.jsonl"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def rank_process(self, rank, job):
        """The process id of a rank of this job."""
        for status in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"OMPI_COMM_WORLD_RANK={rank}".encode() in status.read_bytes().split(b"\0") and f"PARLEY_JOB={job}".encode() in status.read_bytes():
                    if os.readlink(status.parent / "exe") == os.path.realpath(PARLEY):
                        return int(status.parent.name)
            except OSError:
                pass
        return None

    def kill(self, ranks, rank, after, command):
        job = str(self.dir)
        process = subprocess.Popen(mpirun(ranks, *command), cwd=self.dir, env={**ENV, "PARLEY_JOB": job}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        victim = None
        while process.poll() is None:
            victim = victim or self.rank_process(rank, job)
            if victim and self.rounds("run") >= after:
                try:
                    os.kill(victim, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                break
            time.sleep(0.001)
        out, err = process.communicate(timeout=120)
        return process.returncode, out + err

    def check(self, algorithm, ledger, ranks, rank, after, hosted):
        for path in list(self.dir.glob("*")):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if ledger:
            for r in range(ranks):
                self.alone("ledger", "cap", f"{r}.db", "--dataset", "d", "--epsilon", "unlimited")
        command = self.command(algorithm, ledger)
        code, text = self.kill(ranks, rank, after, command)
        if code == 0:
            return False  # it was faster than the kill
        self.assertIn(f"rank {rank} died, which hosted {hosted}", text)
        self.assertIn("--resume true", text)
        self.ok(ranks, *command, "--resume", "true")
        self.alone(*[w for w in command if w not in ("--engine", "mpi", "--dataset", "d", "--ledger", "{rank}.db")][:-1], "whole")
        self.assertEqual(self.text("run/model.json"), self.text("whole/model.json"))
        bits = b"".join((self.dir / "whole/released.f64").read_bytes() for _ in (0,))
        self.assertEqual(self.joined("run", ranks), bits)
        if ledger:
            for r in range(ranks):
                accounts = json.loads(self.alone("ledger", "show", f"{r}.db", "--json"))["runs"][0]["accounts"]
                turns = 2 if algorithm == "dp-admm" else 1
                self.assertTrue(all(a["rounds_released"] == turns * self.ROUNDS + 1 for a in accounts), accounts)
        return True

    def joined(self, folder, ranks):
        """released.f64 as one process would have written it."""
        parts = []
        for r in range(ranks):
            base = self.dir / folder / (f"rank-{r}" if r else ".")
            shape = json.loads((base / "run.json").read_text())["released"]
            data, size = (base / "released.f64").read_bytes(), 8 * shape["size"] * shape["nodes"]
            parts.append([data[i:i + size] for i in range(0, len(data), size)])
        return b"".join(b"".join(rows) for rows in zip(*parts))

    def test_the_job_ends_naming_rank_and_nodes_and_resumes_to_the_same_model(self):
        cases = [("mr-admm", True, 2, 1, 5, "nodes 3 to 4"), ("mr-admm", False, 3, 0, 9, "nodes 0 to 1"), ("dp-admm", True, 2, 1, 11, "nodes 3 to 4 and the trainer"),
                 ("pp", False, 5, 3, 2, "node 3"), ("linear-admm", True, 3, 2, 20, "node 4")]
        if SHORT:
            cases = cases[:2]
        if FULL:
            cases = cases * 5
        died = sum(self.check(*case) for case in cases)
        print(f"{died} of {len(cases)} ranks died in time", file=sys.stderr)
        self.assertGreater(died, 0)


if __name__ == "__main__":
    unittest.main()
