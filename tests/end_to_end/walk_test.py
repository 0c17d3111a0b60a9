"""docs/use/walk.md, from its first command to its last, each block as typed, on a terminal, in one folder; and what the page says that
each block prints. Changed before a command runs: the folder, the ports, the paths of program and repository. Compared word for word; in a line that says what was
measured, timed or drawn at random (MEASURED), figures may differ. `[…]` stands for what the page leaves out. Run by ctest with
$PARLEY = the program."""
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest

from local_study import free_ports

PARLEY = pathlib.Path(os.environ["PARLEY"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/use/walk.md"
MEASURED = re.compile(r"^round |^(test |balanced )?error |^AUC |^name |^valid |^fingerprint |^hash |approved on|^ok +(study|disk)")
# Blocks that a sentence of the page announces, and no command before them prints: how they begin, and what prints them.
ANNOUNCED = {"age,bmi,": "head -3 north.csv", "parley: draft.toml": "parley train --data sample/south.csv --schema draft.toml --epsilon 1"}
FIGURE = re.compile(r"\b[0-9a-f]{4}\b(?: [0-9a-f]{4}\b)*|\b[0-9a-f]{64}\b|[\d.,:TZ-]*\d[\d.,:TZ-]*")


def blocks():
    """(line number, language, text) of each fence."""
    lines, begun = PAGE.read_text().splitlines(), None
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            if begun is not None:
                yield begun[0], begun[1], "\n".join(lines[begun[0]:number - 1])
            begun = None if begun is not None else (number, line[3:])


def pattern(line):
    """What a line of the page stands for."""
    line = " ".join(line.split())
    measured = MEASURED.search(line)
    parts = [re.escape(p.strip()) for p in (FIGURE.sub("#", line) if measured else line).split("[…]")]
    return re.compile(" ?.*".join(parts)), measured


def alike(expected, seen):
    regex, measured = pattern(expected)
    seen = " ".join(seen.split())
    return regex.fullmatch(FIGURE.sub("#", seen) if measured else seen) is not None


def missing(expected, seen):
    """The first run of lines of the page, between two lines `[…]`, that `seen` does not have after the run before; or nothing."""
    seen = [line for line in seen if line.strip()]
    start, run = 0, []
    for line in [*expected, "[…]"]:
        if not line.strip():
            continue
        if line.strip() != "[…]":
            run.append(line)
            continue
        at = next((i for i in range(start, len(seen) - len(run) + 1) if all(map(alike, run, seen[i:]))), None)
        if at is None:
            return run
        start, run = at + len(run), []
    return None


class Terminal:
    """bash, in a folder, on a terminal of 160 columns; what it showed, line by line, as it stood at the end of each line."""

    def __init__(self, folder, script):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        environment = {**os.environ, "PATH": f"{PARLEY.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "tests/end_to_end"), "TERM": "dumb"}
        self.process = subprocess.Popen(["bash", "-e", "-c", script], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)
        self.ours = ours

    def finish(self):
        said = b""
        while True:
            try:
                piece = os.read(self.ours, 65536)
            except OSError:  # the last writer is gone
                piece = b""
            if not piece:
                break
            said += piece
        os.close(self.ours)
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode())
        return self.process.wait(), [line.rstrip("\r").split("\r")[-1] for line in text.split("\n")]


class Walk(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.dir = pathlib.Path(temporary.name)
        self.ports = dict(zip(("7401", "7402", "7403"), free_ports(3)))

    def ours(self, text):
        for page, port in self.ports.items():
            text = text.replace(f"127.0.0.1:{page}", f"127.0.0.1:{port}")
        return text.replace("/tmp/walk", str(self.dir))

    def run_block(self, text, where):
        if text.startswith("export PATH="):  # the environment: class Terminal
            text = "\n".join(text.splitlines()[2:])
        scripts = [self.ours(text)]
        others = []
        if "parley join" in text:  # "the others cap their ledgers too, then each starts join in a terminal of its own"
            for name in ("middle", "south"):
                code, said = Terminal(self.dir, f"parley ledger cap {name}.ledger --dataset {name} --epsilon 1 --delta 1e-5").finish()
                self.assertEqual(code, 0, said)
                others.append(Terminal(self.dir, scripts[0].replace("north", name)))
        code, said = Terminal(self.dir, scripts[0]).finish()
        for other in others:
            self.assertEqual(other.finish()[0], 0, where)
        self.assertEqual(code, 0, where + "\n" + "\n".join(said))
        return said

    def test_the_page_as_typed_prints_what_it_says(self):
        said, commands, compared = [], 0, 0
        for number, language, text in blocks():
            where = f"docs/use/walk.md:{number}"
            if language == "sh":
                said, commands = self.run_block(text, where), commands + 1
                continue
            script = next((script for begin, script in ANNOUNCED.items() if text.startswith(begin)), None)
            shown = said if script is None else Terminal(self.dir, script).finish()[1]
            gone = missing(self.ours(text).splitlines(), shown)
            with self.subTest(where):
                self.assertIsNone(gone, f"{where}: not printed:\n" + "\n".join(gone or []) + "\n--- printed:\n" + "\n".join(shown))
            compared += 1
        self.assertGreater(commands, 10)
        self.assertGreater(compared, 10)

    def test_another_word_or_figure_is_found(self):
        self.assertIsNone(missing(["a", "[…]", "c d"], ["a", "b", "c  d"]))
        self.assertEqual(missing(["a", "c"], ["a", "b", "c"]), ["a", "c"])
        self.assertEqual(missing(["guarantee ε = 1.0000"], ["guarantee ε = 1.0001"]), ["guarantee ε = 1.0000"])
        self.assertIsNone(missing(["test error 19.50 %"], ["test error 20.1 %"]))
        self.assertIsNotNone(missing(["test error 19.50 %"], ["training error 19.50 %"]))


if __name__ == "__main__":
    unittest.main()
