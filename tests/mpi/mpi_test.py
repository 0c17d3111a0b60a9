"""The MPI engine as a user meets it (docs/operate/cluster.md): same bits on any number of ranks, one file per node, mistakes told once, a rank
that dies, and going on after it. ctest gives $PARLEY, $PARLEY_FAILPOINTS and $SAME_BITS; without mpirun: "skipped: mpirun not found"."""
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

PARLEY, FAILPOINTS, SAME_BITS = os.environ["PARLEY"], os.environ["PARLEY_FAILPOINTS"], os.environ["SAME_BITS"]
SHORT, FULL = "PARLEY_TEST_SHORT" in os.environ, "PARLEY_TEST_FULL" in os.environ
ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none",  # containers without ptrace
       "ASAN_OPTIONS": "detect_leaks=0"}
if not shutil.which("mpirun"):
    print("skipped: mpirun not found", file=sys.stderr)
    sys.exit(0)


def mpirun(ranks, *arguments, program=PARLEY):
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

    def fails(self, ranks, *arguments, says, program=PARLEY):
        result = self.run_ranks(ranks, *arguments, program=program)
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

    def with_more_on_rank_1(self, *more):
        """The program, but rank 1 is given more options."""
        wrapper = self.dir / "wrapper.sh"
        wrapper.write_text(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] && set -- "$@" {" ".join(map(str, more))}\nexec {PARLEY} "$@"\n')
        wrapper.chmod(0o755)
        return str(wrapper)


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


def write_files(folder, sizes):
    """One file per node, and the options that name them."""
    (folder / "schema.toml").write_text(SCHEMA)
    draw = random.Random(1)
    for i, size in enumerate(sizes):
        ages = [draw.randrange(20, 90) for _ in range(size)]
        lines = [f"{a},{'yes' if draw.random() < a / 100 else 'no'}" for a in ages]
        (folder / f"{i}.csv").write_text("age,ill\n" + "\n".join(lines) + "\n")
    return ("--data", ",".join(f"{i}.csv" for i in range(len(sizes))), "--schema", "schema.toml", "--loss-weight", 20)


TRAIN = ("train", "--rows", 600, "--nodes", 5, "--loss-weight", 50, "--rounds", 6, "--seed", 3, "--quiet", "--json")
NOISE = ("--noise-rate", 0.5)  # where there is no budget


class SameBits(Case):
    def test_every_algorithm_on_1_2_3_and_5_ranks(self):
        for ranks in (2, 5) if SHORT else (1, 2, 3, 5):
            out = self.ok(ranks, self.dir / f"bits-{ranks}", program=SAME_BITS)
            print(out.strip(), file=sys.stderr)
            self.assertIn(" 0 not the same", out)

    def test_json_and_model_are_those_of_one_process(self):
        mpi = json.loads(self.ok(2, *TRAIN, *NOISE, "--engine", "mpi", "--out", "mpi"))
        one = json.loads(self.alone(*TRAIN, *NOISE, "--out", "one"))
        for different in ("seconds", "record"):
            mpi.pop(different), one.pop(different)
        self.assertAlmostEqual(mpi.pop("distance_to_optimum"), one.pop("distance_to_optimum"), places=9)
        self.assertAlmostEqual(mpi.pop("train_loss_nonprivate"), one.pop("train_loss_nonprivate"), places=9)
        self.assertEqual(mpi, one)
        self.assertEqual(self.text("mpi/model.json"), self.text("one/model.json"))
        self.assertEqual(self.text("mpi/rank-1/model.json"), self.text("one/model.json"))


class Files(Case):
    def test_a_file_is_read_by_its_rank_alone(self):
        command = ("train", *write_files(self.dir, [200, 40, 60, 50]), "--rounds", 6, *NOISE, "--seed", 3, "--quiet", "--json")
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
        command = ("train", *write_files(self.dir, [30, 30, 30]), "--rounds", 6, *NOISE, "--seed", 3, "--quiet", "--json")
        (self.dir / "2.csv").write_text("age,ill\n30,perhaps\n")
        self.fails(3, *command, "--engine", "mpi", "--out", "mpi", says=["rank 2", "2.csv", "perhaps"])
        self.assertFalse((self.dir / "mpi").exists())
        (self.dir / "2.csv").unlink()
        self.fails(3, *command, "--engine", "mpi", "--out", "mpi", says=["rank 2", "2.csv", "does not exist"])


    def test_one_file_at_two_nodes_is_refused(self):
        options = write_files(self.dir, [30, 30, 30])
        (self.dir / "link.csv").symlink_to("0.csv")
        for files, nodes in (("0.csv,1.csv,./1.csv", "nodes 1 and 2"), ("0.csv,1.csv,link.csv", "nodes 0 and 2"), ("0.csv,no.csv,no.csv", "nodes 1 and 2")):
            self.fails(3, "train", "--data", files, *options[2:], *NOISE, "--rounds", 6, "--seed", 3, "--engine", "mpi", "--out", "mpi", says=[nodes + " have the same file"])
        self.fails(2, *TRAIN, *NOISE, "--engine", "mpi", "--split", "label-skewed", "--ledger", "l.db", "--dataset", "d", says=["this split reads rows"])
        self.assertFalse((self.dir / "mpi").exists())


class Mistakes(Case):
    def test_they_are_told_once(self):
        self.fails(3, *TRAIN, "--engine", "mpi", "--penalty", -1, says=["penalty"])
        self.fails(3, *TRAIN, "--engine", "mpi", "--no-such-option", 1, says=["no-such-option"])
        self.fails(7, *TRAIN, *NOISE, "--engine", "mpi", says=["7 processes for 5 nodes", "fewer processes"])
        self.fails(2, *TRAIN, *NOISE, says=["started as 2 processes", "--engine mpi"])
        self.ok(2, *TRAIN, *NOISE, "--engine", "mpi", "--out", "mpi")
        self.fails(2, *TRAIN, *NOISE, "--engine", "mpi", "--out", "mpi", says=["not empty"])

    def test_ranks_that_were_asked_for_different_things_do_not_begin(self):
        command = (*[w for w in TRAIN if w not in ("--seed", 3)], "--engine", "mpi", "--epsilon", 1, "--delta", 1e-5, "--out", "no")
        for more, says in ((("--seed", 7), "seed"), (("--split-seed", 2), "split-seed"), (("--noise-on", "output"), "noise-on"), (("--test-share", 0.2), "test-share")):
            self.fails(2, *command, says=["rank 1 was not asked for the same as rank 0", says], program=self.with_more_on_rank_1(*more))
        self.fails(2, *command, says=["rank 1: ", "no-such"], program=self.with_more_on_rank_1("--no-such", 1))
        self.assertFalse((self.dir / "no").exists())


class Ledgers(Case):
    def setUp(self):
        super().setUp()
        files = write_files(self.dir, [40, 50, 60])
        self.command = ("train", *files, "--rounds", 6, "--quiet", "--json", "--epsilon", 1, "--delta", 1e-5, "--dataset", "d", "--engine", "mpi")
        for name in ("0", "1", "2", "both"):
            self.alone("ledger", "cap", f"{name}.db", "--dataset", "d", "--epsilon", 3, "--delta", 1e-5)

    def test_every_rank_has_its_own_and_all_know_the_run(self):
        self.fails(3, *self.command, "--ledger", "both.db", "--out", "no", says=["both.db", "{rank}"])
        self.ok(3, *self.command, "--ledger", "{rank}.db", "--out", "mpi")
        shown = [json.loads(self.alone("ledger", "show", f"{rank}.db", "--json"))["runs"][0] for rank in range(3)]
        self.assertEqual(len({run["run"] for run in shown}), 1)
        self.assertEqual([[a["node"] for a in run["accounts"]] for run in shown], [[0], [1], [2]])
        for rank, folder in ((0, "mpi"), (1, "mpi/rank-1"), (2, "mpi/rank-2")):
            self.assertIn("bit for bit", self.alone("ledger", "verify", f"{rank}.db", folder))

    def test_a_ledger_follows_the_rows(self):
        self.fails(2, *self.command, "--ledger", "{rank}.db", "--out", "no", says=["one rank per file", "3 files, 2 ranks"])
        self.fails(2, *TRAIN, "--engine", "mpi", "--epsilon", 1, "--dataset", "d", "--ledger", "{rank}.db", "--out", "no", says=["one rank per file"])

    def test_warnings_of_every_rank_are_shown(self):
        self.ok(3, *self.command, "--ledger", "{rank}.db", "--out", "first")
        (self.dir / "1.csv").write_text(self.text("1.csv").replace(",yes", ",no", 1))
        found = json.loads(self.ok(3, *self.command, "--ledger", "{rank}.db", "--out", "second"))
        self.assertTrue(any(w.startswith("rank 1: ") and "other rows" in w for w in found["warnings"]), found["warnings"])


class Ending(Case):
    """A job that ends early, at a time that is chosen by the record: after so many rounds."""
    ROUNDS = 30

    def command(self, algorithm, ledger, ranks, rounds=ROUNDS):
        """With ledgers: one file per node and one rank per file."""
        rows = (*write_files(self.dir, [40 + 5 * i for i in range(ranks)]), "--dataset", "d", "--ledger", "{rank}.db") if ledger else ("--rows", 600, "--nodes", 5, "--loss-weight", 50)
        return ("train", *rows, "--rounds", rounds, "--seed", 3, "--engine", "mpi", "--algorithm", algorithm, "--epsilon", 1, "--delta", 1e-5, "--out", "run")

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
        """kill -9 of this rank, or Ctrl-C where it is None, once rank 0 has so many rounds. mpirun's exit code and all that was said."""
        job = str(self.dir)
        process = subprocess.Popen(mpirun(ranks, *command), cwd=self.dir, env={**ENV, "PARLEY_JOB": job}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        victim = process.pid if rank is None else None
        while process.poll() is None:
            victim = victim or self.rank_process(rank, job)
            if victim and self.rounds("run") >= after:
                try:
                    os.kill(victim, signal.SIGINT if rank is None else signal.SIGKILL)
                except ProcessLookupError:
                    pass
                break
            time.sleep(0.001)
        out, err = process.communicate(timeout=900)
        for _ in range(3000):  # what was killed may take a moment to be gone
            if not any(self.rank_process(r, job) for r in range(ranks)):
                break
            time.sleep(0.01)
        self.assertEqual([r for r in range(ranks) if self.rank_process(r, job)], [], "a rank that goes on without mpirun")
        return process.returncode, out + err

    def resumes(self, ranks, command):
        """The same command goes on, to what a run that nobody interrupted would have released."""
        self.ok(ranks, *command, "--resume", "true")
        pairs = list(zip(command[1::2], command[2::2]))
        self.alone("train", *[w for pair in pairs if pair[0] not in ("--engine", "--dataset", "--ledger", "--out") for w in pair], "--out", "whole")
        self.assertEqual(self.text("run/model.json"), self.text("whole/model.json"))
        self.assertEqual(self.joined("run", ranks), (self.dir / "whole/released.f64").read_bytes())

    def joined(self, folder, ranks):
        """released.f64 as one process would have written it."""
        parts = []
        for r in range(ranks):
            base = self.dir / folder / (f"rank-{r}" if r else ".")
            shape = json.loads((base / "run.json").read_text())["released"]
            data, size = (base / "released.f64").read_bytes(), 8 * shape["size"] * shape["nodes"]
            parts.append([data[i:i + size] for i in range(0, len(data), size)])
        return b"".join(b"".join(rows) for rows in zip(*parts))


class Death(Ending):
    def check(self, algorithm, ledger, ranks, rank, after):
        for path in list(self.dir.glob("*")):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if ledger:
            for r in range(ranks):
                self.alone("ledger", "cap", f"{r}.db", "--dataset", "d", "--epsilon", "unlimited")
        command = self.command(algorithm, ledger, ranks)
        code, text = self.kill(ranks, rank, after, command)
        if code == 0:
            return False  # it was faster than the kill
        self.assertEqual(code, 128 + signal.SIGKILL, text)
        self.assertIn(f"process rank {rank} ", text)
        self.assertIn("exited on signal 9 (Killed)", text)
        self.assertNotIn("parley: ", text)  # mpirun speaks
        self.resumes(ranks, command)
        if ledger:
            for r in range(ranks):
                accounts = json.loads(self.alone("ledger", "show", f"{r}.db", "--json"))["runs"][0]["accounts"]
                turns = 2 if algorithm == "dp-admm" else 1
                self.assertTrue(all(a["rounds_released"] == turns * self.ROUNDS + 1 for a in accounts), accounts)
        return True

    def test_mpirun_ends_the_job_and_names_the_rank_and_it_resumes_to_the_same_model(self):
        cases = [("mr-admm", True, 2, 1, 5), ("mr-admm", False, 3, 0, 9), ("dp-admm", True, 3, 2, 11), ("dp-admm", False, 2, 1, 11), ("pp", False, 5, 3, 2),
                 ("linear-admm", True, 3, 2, 20)]
        if SHORT:
            cases = cases[:2]
        if FULL:
            cases = cases * 5
        died = sum(self.check(*case) for case in cases)
        print(f"{died} of {len(cases)} ranks died in time", file=sys.stderr)
        self.assertGreater(died, 0)

    def test_an_error_on_one_rank_ends_all_and_is_told_with_its_rank(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                shutil.rmtree(self.dir / "run", ignore_errors=True)
                shutil.rmtree(self.dir / "whole", ignore_errors=True)
                wrapper = self.dir / "full.sh"
                wrapper.write_text(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = {rank} ] || exec {PARLEY} "$@"\nPARLEY_AT="write released.f64" PARLEY_FULL=12 exec {FAILPOINTS} "$@"\n')
                wrapper.chmod(0o755)
                command = self.command("mr-admm", False, 2)
                self.fails(2, *command, says=[f"parley: rank {rank}: ", "cannot write the record", "check free space"], program=str(wrapper))
                self.assertGreater(self.rounds("run"), 5)
                self.assertLess(self.rounds("run"), self.ROUNDS)
                self.resumes(2, command)


class LostPast(Ending):
    """A rank that has lost what it released must not release it again (R7): unseeded, so a second value would be another one."""

    def unfinished(self, ledger):
        for path in list(self.dir.glob("*")):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if ledger:
            for r in range(2):
                self.alone("ledger", "cap", f"{r}.db", "--dataset", "d", "--epsilon", "unlimited")
        command = [w for w in self.command("mr-admm", ledger, 2)]
        at = command.index("--seed")
        command = command[:at] + command[at + 2:]
        before = {f.name: f.read_bytes() for f in self.dir.glob("1.db*")}
        while True:
            code, _ = self.kill(2, 1, 6, command)
            if code != 0:
                return (*command, "--resume", "true"), before
            shutil.rmtree(self.dir / "run")

    def test_the_job_does_not_go_on(self):
        command, _ = self.unfinished(False)
        copy = self.dir / "copy"
        shutil.copytree(self.dir / "run", copy)

        def again():
            shutil.rmtree(self.dir / "run")
            shutil.copytree(copy, self.dir / "run")

        shutil.rmtree(self.dir / "run/rank-1")
        self.fails(2, *command, says=["rank 1", "its record is missing"])
        again()
        for name, size in (("rounds.jsonl", None), ("released.f64", 62 * 8 * 2 * 2)):
            file = self.dir / "run/rank-1" / name
            lines = file.read_bytes().splitlines(keepends=True)
            file.write_bytes(b"".join(lines[:2]) if size is None else file.read_bytes()[:size])
        self.fails(2, *command, says=["rank 1", "older than what you have released"])
        again()
        run_json = self.dir / "run/rank-1/run.json"
        run_json.write_text(run_json.read_text().replace(json.loads(run_json.read_text())["job_id"], "0" * 32))
        self.fails(2, *command, says=["rank 1", "another run's"])
        again()
        self.fails(3, *command, says=["another number of ranks"])
        self.ok(2, *command)

    def test_nor_with_an_older_ledger(self):
        command, before = self.unfinished(True)
        for name, content in before.items():
            (self.dir / name).write_bytes(content)
        for left in self.dir.glob("1.db-*"):
            left.unlink()
        text = self.fails(2, *command, says=["rank 1"])
        self.assertIn("older than what you have released", text)


class SharedNoise(Ending):
    """The keys of the noise that nodes share are in memory alone (docs/proofs/shared-noise.md): a resumed job makes new ones."""

    def shape(self, rank):
        folder = self.dir / "run" / (f"rank-{rank}" if rank else ".")
        shape = json.loads((folder / "run.json").read_text())["released"]
        return folder, 8 * shape["size"] * shape["nodes"]

    def cut(self, rank, rounds):
        """Its record as a kill after so many rounds leaves it."""
        folder, size = self.shape(rank)
        values = (folder / "released.f64").read_bytes()[:rounds * size]
        self.assertEqual(len(values), rounds * size)
        (folder / "released.f64").write_bytes(values)
        lines = (folder / "rounds.jsonl").read_bytes().splitlines(keepends=True)
        (folder / "rounds.jsonl").write_bytes(b"".join(lines[:rounds]))

    def test_ranks_that_stopped_in_different_rounds_do_not_go_on_and_others_do(self):
        command = [w for w in (*self.command("linear-admm", False, 2), "--colluders", 1)]
        at = command.index("--seed")
        del command[at:at + 2]
        while self.kill(2, 1, 6, command)[0] == 0:
            shutil.rmtree(self.dir / "run")
        again = (*command, "--resume", "true")
        for rank, rounds in ((0, 6), (1, 5)):
            self.cut(rank, rounds)
        self.fails(2, *again, says=["one rank is a round ahead, and the keys of the noise that parties share are gone", "start a new run"])
        self.cut(0, 5)
        before = self.joined("run", 2)
        self.ok(2, *again)
        after = self.joined("run", 2)
        self.assertEqual(after[:len(before)], before)
        size = json.loads(self.text("run/run.json"))["released"]["size"]
        self.assertEqual(len(after), 8 * size * 5 * (self.ROUNDS + 1))


class Stop(Ending):
    def test_a_signal_that_mpirun_passes_on_ends_the_run_with_a_model(self):
        process = subprocess.Popen(mpirun(2, "train", "--algorithm", "mr-admm", "--rows", 2000, "--rounds", 100000, "--epsilon", 1, "--engine", "mpi", "--out", "run", "--metrics", "last", "--quiet"),
                                   cwd=self.dir, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not (self.dir / "run/rank-1/rounds.jsonl").exists() or len((self.dir / "run/rounds.jsonl").read_bytes()) < 1000:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGUSR1)
        process.communicate(timeout=900)
        self.assertEqual([json.loads(self.text(f"run/{f}run.json"))["outcome"] for f in ("", "rank-1/")], ["interrupted"] * 2)
        self.assertTrue((self.dir / "run/model.json").exists())

    def test_ctrl_c_ends_all_ranks_and_the_run_resumes_to_the_same_model(self):
        for rounds in (600, 9600, 38400):  # more, where it was faster than mpirun
            shutil.rmtree(self.dir / "run", ignore_errors=True)
            command = self.command("mr-admm", False, 3, rounds=rounds)
            code, text = self.kill(3, None, 20, command)
            if self.rounds("run") <= rounds:
                break
        self.assertNotEqual(code, 0, text)
        self.assertLessEqual(self.rounds("run"), rounds)
        self.resumes(3, command)


if __name__ == "__main__":
    unittest.main()
