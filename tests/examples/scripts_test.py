"""Each example that is a shell script: it ends well, and prints what expected.txt beside it says. Figures may differ, because noise is
fresh: a number, a date or a hash stands for any other. A line `[…]` stands for what expected.txt leaves out. Run by ctest with
$PARLEY = the program."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

PARLEY = pathlib.Path(os.environ["PARLEY"])
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
FIGURE = re.compile(r"\b(?:[0-9a-f]{4} ?){16}|\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b|[+−-]?\d[\d.,:TZ-]*(?:e[+-]?\d+)?")


def plain(line):
    return " ".join(FIGURE.sub("#", line.replace("*", "")).split())  # *: the lowest of a line


def first_missing(expected, seen):
    """The first line of expected.txt that does not follow; None where all do."""
    at, anything = 0, False
    for line in expected:
        if line.strip() == "[…]":
            anything = True
            continue
        places = range(at, len(seen)) if anything else range(at, at + 1)
        found = next((i for i in places if i < len(seen) and plain(seen[i]) == plain(line)), None)
        if found is None:
            return line
        at, anything = found + 1, False
    return None if anything or at == len(seen) else "(nothing more)"


class Scripts(unittest.TestCase):
    def run_example(self, name):
        folder = tempfile.mkdtemp(prefix="parley-example-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        environment = {**os.environ, "PATH": f"{PARLEY.parent}:{os.environ['PATH']}", "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "120",
                       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "ASAN_OPTIONS": "detect_leaks=0"}
        result = subprocess.run(["sh", EXAMPLES / name / "run.sh", folder], capture_output=True, text=True, timeout=300, env=environment, cwd="/")
        logs = "".join(f.read_text() for f in pathlib.Path(folder).glob("*.log"))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr + logs)
        said = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)  # mpirun gives its processes a terminal
        seen = [line for line in said.splitlines() if line.strip()]
        if os.environ.get("PRINT"):  # to write expected.txt anew
            print(result.stdout)
        expected = [line for line in (EXAMPLES / name / "expected.txt").read_text().splitlines() if line.strip()]
        self.assertIsNone(first_missing(expected, seen), result.stdout)
        return folder

    def test_three_hospitals(self):
        self.run_example("three-hospitals")

    def test_own_algorithm(self):
        self.run_example("own-algorithm")

    def test_coefficient_table(self):
        folder = self.run_example("coefficient-table")
        self.assertIn("learns at most", pathlib.Path(folder, "card.md").read_text())

    def test_bank_and_branches(self):
        if not shutil.which("mpirun"):
            self.skipTest("mpirun is not installed")
        if "built without MPI" in subprocess.run([PARLEY, "train", "--engine", "mpi", "--epsilon", "1"], capture_output=True, text=True, env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1"}, cwd="/tmp").stderr:
            self.skipTest("parley was built without MPI")
        self.run_example("bank-and-branches")

    def test_every_example_is_in_the_list_and_here(self):
        scripts = {f.parent.name for f in EXAMPLES.glob("*/run.sh")}
        self.assertEqual(scripts, {n.removeprefix("test_").replace("_", "-") for n in dir(self) if n.startswith("test_")} - {"every-example-is-in-the-list-and-here"})
        for name in scripts:
            self.assertIn(f"[{name}]({name}/run.sh)", (EXAMPLES / "README.md").read_text())


if __name__ == "__main__":
    unittest.main()
