"""Every command that README.md, CONTRIBUTING.md, bench/README.md and docs/ print. The program parses each one (--parse-only: names,
tasks, kinds and ranges of values), and runs each one, in a folder with small inputs and with what it needs made before it. What is
not run stands in NOT_RUN, with the reason. Other programs, and what commands print: docs_results_test.py,
walk_test.py. Run by ctest with $PARLEY = the program."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from local_study import LocalStudy, PARTIES

PARLEY = os.environ["PARLEY"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "bench/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = {"options.md", "results.md"}  # from the program, and from runs: results.md is a record of what was typed then

# What is printed is parsed and not run, because:
NOT_RUN = [
    (r"^study abandon\b", "needs a run that a party has begun: tests/mesh/shared_noise_test.py"),
    (r"^data fetch\b", "network: src/parley/data/fetch_test.cpp has a server of its own"),
    (r"^reproduce (?!list)", "minutes: tests/end_to_end/reproduce_test.py"),
    (r"\$", "the variables of a job script: tests/mpi/mpi_test.py resumes a job"),
    (r"(^| )…", "the dots stand for the options of a run that was interrupted: tests/crash/train_resume_test.py"),
]
# Printed together with the mistake that they show: exit code 1 is what the page promises.
MEANT_TO_FAIL = r"^account mr-admm --epsilon 1 --delta 1e-5 --penalty 1$"
# The same command on few rows and rounds: (command, option, value). An option that stands there keeps its place.
FAST = [("train", "rows", "1500"), ("train", "loss-weight", "200"), ("compare", "rows", "1500"), ("compare", "repeat", "1"),
        ("compare", "loss-weight", "200"), ("train", "rounds", "4"), ("train", "repeat", "1"), ("compare", "rounds", "4")]
OWN_ROWS = {"rows", "loss-weight"}  # not where --data is given
# What stands for a value in a form.
PLACEHOLDERS = {"E": "1", "N": "5", "B": "100", "A": "mr-admm", "P": "public", "D": "1e-5", "$OUT": "out", "RECORD": "runs/ward", "TEXT": "moved to another disk"}


def lines_of(page):
    """(line number, text) of what stands in ```sh fences and in indented blocks; inline `parley …` apart."""
    lines, fence, before = page.read_text().splitlines(), None, ""
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            fence = None if fence is not None else line[3:].strip()
        elif fence in ("sh", "console") or fence is None and line.startswith("    ") and (before == "" or before.startswith("    ")):
            yield number, line.strip()
        if fence is None:
            before = line


def commands_in(text):
    """The words of each `parley …` in a line of shell."""
    text = re.sub(r"^\$ ", "", text)
    for part in re.split(r"&&|;|\|(?!\|)", text):
        found = re.search(r"(?:^|\s)(?:build/|\./)?parley (?=[a-z])", part)
        if not found or re.match(r"\s*(?!mpirun\b|(?:build/|\./)?parley\b)\S", part):
            continue
        part = re.sub(r"\s>\s*\S+", "", part)
        try:
            yield shlex.split(part[found.end():], comments=True)
        except ValueError:
            yield part[found.end():].split("#")[0].split()


def documented():
    for page in PAGES:
        if page.name in GENERATED:
            continue
        for number, text in lines_of(page):
            for words in commands_in(text):
                yield page, number, words


def inline():
    for page in PAGES:
        if page.name in GENERATED:
            continue
        for number, line in enumerate(page.read_text().splitlines(), 1):
            for span in re.findall(r"`(?:build/)?parley ([a-z][^`]*)`", line):
                yield page, number, span.split("#")[0].split()


def as_typed(words):
    """A form made into a command: what is in brackets stays, … goes, a placeholder has its value."""
    made = []
    for word in words:
        word = re.sub(r"\[,…\]|[\[\]]|…|\.\.\.", "", word)
        if word:
            made.append(PLACEHOLDERS.get(word, word))
    if made and made[-1] in ("--resume", "$RESUME"):
        made = [w for w in made if w != "$RESUME"]
    return [w for w in made if w != "$RESUME"]


def parley(*words, cwd=None):
    return subprocess.run([PARLEY, *words], cwd=cwd, capture_output=True, text=True, timeout=300)


def place(page, number, words):
    return f"{page.relative_to(ROOT)}:{number}: parley {' '.join(words)}"


class Parsed(unittest.TestCase):
    def test_every_command_in_a_block_is_parsed_by_the_program(self):
        count = 0
        for page, number, words in documented():
            count += 1
            result = parley(*as_typed(words), "--parse-only")
            self.assertEqual(result.returncode, 0, place(page, number, words) + "\n" + result.stderr)
        self.assertGreater(count, 30, "the blocks were not found")

    def test_every_command_in_a_sentence_exists_with_its_task_and_its_options(self):
        commands = {c["command"]: c for c in json.loads(parley("options", "--json").stdout)["commands"]}
        for page, number, words in inline():
            where = place(page, number, words)
            if words[0] == "help":
                continue
            self.assertIn(words[0], commands, where)
            command = commands[words[0]]
            names = {o["name"] for o in command["options"] + command["flags"]} | {"help", "help-all"}
            for option in re.findall(r"--([a-z][a-z0-9-]*)", " ".join(words)):
                self.assertIn(option, names, where)
            tasks = {t["name"] for t in command["tasks"]}
            if tasks and len(words) > 1 and not words[1].startswith("-"):
                self.assertIn(words[1], tasks, where)

    def test_every_example_of_help_is_parsed(self):
        for name in [c["command"] for c in json.loads(parley("options", "--json").stdout)["commands"]]:
            for line in parley("help", name).stdout.split("Examples:")[-1].splitlines():
                for words in commands_in(line.strip()):
                    result = parley(*words, "--parse-only")
                    self.assertEqual(result.returncode, 0, f"parley help {name}: {line}\n{result.stderr}")

    def test_what_is_stale_is_found(self):
        for stale in ("train --no-such-option 1", "data no-such-task x", "train --rounds ten", "plan --epsilon -1", "ledger cap", "graph --json=perhaps"):
            self.assertEqual(parley(*stale.split(), "--parse-only").returncode, 1, stale)


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
[[columns]]
name = "ward"
kind = "categorical"
categories = ["north", "south"]
other = "error"
"""


def rows(count, shift):
    return "age,ward,ill\n" + "".join(
        f"{(i * 37 + shift) % 100},{'north' if i % 3 else 'south'},{'yes' if (i * 37 + shift) % 100 > 50 else 'no'}\n" for i in range(count))


class Run(unittest.TestCase):
    def setUp(self):
        self.ran = getattr(self, "ran", 0)
        self.temporary = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.temporary.name)
        (self.dir / "schema.toml").write_text(SCHEMA)
        (self.dir / "data").mkdir()
        for shift, name in enumerate(("mine", "a", "b", "c", "new", "sample", "public-sample", "data", "test", "data/a", "data/b", "data/c")):
            (self.dir / f"{name}.csv").write_text(rows(400, shift))
        (self.dir / "run.toml").write_text("epsilon = 1\n")
        self.ok("train", "--rows", "1500", "--loss-weight", "200", "--rounds", "4", "--epsilon", "1", "--out", "runs/demo", "--quiet")

    def tearDown(self):
        self.temporary.cleanup()

    def ok(self, *words, where="", cwd=None):
        result = parley(*words, cwd=cwd or self.dir)
        self.assertEqual(result.returncode, 0, f"{where}\nrun as: parley {' '.join(words)}\n{result.stderr}")
        return result.stdout

    def complete_study(self):
        """What a page leaves to the reader before 'study roster', 'check' or 'sign': a study of three parties."""
        if not (self.dir / "study.toml").exists():
            self.ok("study", "new", "study.toml")
        for name in PARTIES:
            if not (self.dir / f"{name}.pem").exists():
                self.ok("keys", "new", name)
            if name not in (self.dir / "study.toml").read_text():
                self.ok("study", "invite", "study.toml", "--name", name, "--address", f"{name[-1]}.example.org:7400", "--certificate", f"{name}.pem", "--records", "400")

    def faster(self, words):
        words = list(words)
        for command, option, value in FAST:
            if words[0] != command or option in OWN_ROWS and "--data" in words:
                continue
            if f"--{option}" in words:
                words[words.index(f"--{option}") + 1] = value
            elif option != "rounds" or "--epsilon" in words:
                words += [f"--{option}", value]
        if "--data" in words and command_reads_rows(words) and "--loss-weight" not in words:
            words += ["--loss-weight", "30"]
        return words

    # What a command needs that the page leaves to the reader, by how the command begins.

    def between_parties(self, words, where):
        study = LocalStudy(PARLEY, self.dir / f"study-{self.ran}", SCHEMA, rows, words[words.index("--as") + 1] if "--as" in words else "hospital_b")
        if "--require-approvals" in words:
            study.approve()
        if words[0] == "join":
            return study.join(*words)
        if words[0] != "doctor":
            outs = [w for w in words if re.fullmatch(r"[abc](/out)?/?", w)] or ["a", "b", "c"]
            study.run({name: study.usual(name, out) for name, out in zip(PARTIES, outs)})
        self.ok(*words, where=where, cwd=study.folder)

    def on_a_cluster(self, words, where):
        if not shutil.which("mpirun"):
            return
        words = [re.sub("(^|,)/", r"\1", w) for w in self.faster(words)]  # the paths of the page lie in the folder
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "ASAN_OPTIONS": "detect_leaks=0"}  # Open MPI keeps some memory to the end
        result = subprocess.run(["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2", PARLEY, *words], cwd=self.dir, env={**os.environ, **root}, capture_output=True, text=True, timeout=300)
        if "built without MPI" not in result.stderr:
            self.assertEqual(result.returncode, 0, f"{where}\n{result.stderr}")

    def with_a_ledger(self, words, where):
        if not (self.dir / "runs/ward").exists():
            self.ok("ledger", "cap", "ward.ledger", "--dataset", "ward-2", "--epsilon", "2", "--delta", "1e-6")
            for name in ("earlier", "ward"):
                if (self.dir / "runs/earlier").exists():
                    shutil.copy(self.dir / "ward.ledger", self.dir / "old copy")
                self.ok("train", "--rows", "1500", "--loss-weight", "200", "--rounds", "4", "--epsilon", "0.5", "--delta", "1e-6", "--ledger", "ward.ledger", "--dataset", "ward-2", "--out", f"runs/{name}", "--quiet")
        if words[1] == "accept" and "runs/ward" in words:  # which is newer than
            shutil.copy(self.dir / "old copy", self.dir / "ward.ledger")
        elif words[1] == "accept":
            (self.dir / "ward.ledger.newest-head").unlink()
        self.ok(*words, where=where)

    def with_a_model(self, words, where):
        if not (self.dir / "runs/ours").exists():
            self.ok(*self.faster(["train", "--data", "a.csv,b.csv,c.csv", "--schema", "schema.toml", "--epsilon", "1", "--out", "runs/ours"]))
        self.ok(*words, where=where)

    def with_a_comparison(self, words, where):
        self.ok(*self.faster(["compare", "--algorithms", "mr-admm,auto", "--epsilon", "1", "--out", "runs/comparison"]))
        self.ok(*words, where=where)

    def with_intervals(self, words, where):
        (self.dir / "schema.toml").write_text('scale = "bound"\n' + SCHEMA)
        self.ok(*self.faster(words), where=where)

    def with_a_study(self, words, where):
        self.complete_study()
        self.ok(*words, where=where)

    def with_a_plan(self, words, where):  # what the line before it keeps with '>'
        (self.dir / "plan.json").write_text(self.ok("plan", "--epsilon", "1", "--nodes", "3", "--records", "4000", "--features", "11", "--json"))
        self.ok(*words, where=where)

    def with_a_key(self, words, where):
        name = words[words.index("--certificate") + 1].removesuffix(".pem")
        if not (self.dir / f"{name}.pem").exists():
            self.ok("keys", "new", name)
        self.ok(*words, where=where)

    def refused(self, words, where):
        self.assertEqual(parley(*words, cwd=self.dir).returncode, 1, where)

    NEEDS = [(r"^(join|doctor|verify)\b|^predict --model a/|^report a/", between_parties), (r"--engine mpi\b", on_a_cluster), (r"^ledger (verify|accept)\b", with_a_ledger),
             (r"^export\b", with_a_model), (r"^report runs/comparison\b", with_a_comparison), (r"--intervals\b", with_intervals), (r"^study invite\b", with_a_key),
             (r"^report plan.json", with_a_plan), (r"^study (roster|check|sign)\b|^report study.toml", with_a_study), (MEANT_TO_FAIL, refused)]

    def run_pages(self, part):
        pages = {}
        for page, number, words in documented():
            pages.setdefault(page, []).append((number, words))
        for page in sorted(pages)[part::2]:
            if page.name == "walk.md":  # as typed, with what it prints: walk_test.py
                continue
            for number, words in pages[page]:
                if any(re.search(pattern, " ".join(words)) for pattern, _ in NOT_RUN):
                    continue
                typed, where = as_typed(words), place(page, number, words)
                needs = next((needs for pattern, needs in self.NEEDS if re.search(pattern, " ".join(typed))), None)
                if needs is not None:
                    needs(self, typed, where)
                else:
                    self.ok(*self.faster(typed), where=where)
                self.ran += 1
            self.tearDown()  # each page begins anew
            self.setUp()
        self.assertGreater(self.ran, 5, "the blocks were not found")

    def test_the_commands_of_every_second_page_run(self):
        self.run_pages(0)

    def test_the_commands_of_the_other_pages_run(self):
        self.run_pages(1)

    def test_every_exception_is_needed(self):
        printed = [" ".join(words) for _, _, words in documented()]
        for pattern in [pattern for pattern, _ in NOT_RUN] + [pattern for pattern, _ in self.NEEDS]:
            self.assertTrue(any(re.search(pattern, line) for line in printed), f"no page prints {pattern} any more")


def command_reads_rows(words):
    return words[0] in ("train", "compare")


if __name__ == "__main__":
    unittest.main()
