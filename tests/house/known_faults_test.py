"""Every test that tests/known_faults.md names is there: the file, and in it the name or the beginning of it.

A cell names files (a path from the root, from tests/ or from src/parley/, or its last part where that is clear) and behind
them tests in `…`, `Suite.*`, or bare test_…; "the same" means the row above.
"""
import pathlib
import re
import sys
import tempfile

FILE = re.compile(r"[\w/]+\.(?:py|cpp|txt)")
NAME = re.compile(r"`([^`]+)`|\b(test_\w+)")


def rows(text):
    """(line, what, test) of each row of the table."""
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.startswith("|")]
    return [(i, *(cell.strip() for cell in (line.strip("|").split(" | ")[0], line.strip().strip("|").split(" | ")[-1]))) for i, line in lines[2:]]


def found(root, name):
    """The file of this name, or None."""
    places = [root / name, root / "tests" / name, root / "src/parley" / name]
    hits = [p for p in places if p.is_file()] or [p for top in ("tests", "src") for p in sorted((root / top).rglob(name)) if "/" not in name]
    return hits[0] if len(set(hits)) == 1 else None


def breaks(root):
    wrong, last = [], None
    for line, what, test in rows((root / "tests/known_faults.md").read_text()):
        place = f"tests/known_faults.md:{line}: "
        if test == "the same":
            wrong += [place + "the row above names no test"] if last is None else []
            continue
        files = []
        for name in FILE.findall(test):
            at = found(root, name)
            if at is None:
                wrong.append(f"{place}there is no one file {name}")
            else:
                files.append(at)
        if not files:
            wrong.append(place + "no file is named")
        text = "\n".join(f.read_text() for f in files)
        for name in (a or b for a, b in NAME.findall(test)):
            name = name.strip()
            if FILE.fullmatch(name) or name.isupper():
                continue
            bare = re.sub(r"(\.\*|…|\.\.\.)$", "", name)
            if not re.search(r"\b" + re.escape(bare), text):
                wrong.append(f"{place}no test '{name}' in {', '.join(f.name for f in files)}")
        last = test
    return wrong


def self_test():
    head = "| what | found how | test |\n|---|---|---|\n"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "tests/mesh").mkdir(parents=True)
        (root / "src/parley").mkdir(parents=True)
        (root / "tests/mesh/a_test.py").write_text("def test_it_holds(self):\n")
        for cell, good in (("mesh/a_test.py, `test_it_holds`", True), ("a_test.py, test_it_holds", True), ("a_test.py, `test_it…`", True), ("the same", False),
                           ("a_test.py, `test_it_held`", False), ("b_test.py", False), ("by hand", False)):
            (root / "tests/known_faults.md").write_text(f"{head}| a fault | reading | {cell} |\n")
            assert (not breaks(root)) == good, cell


if __name__ == "__main__":
    self_test()
    wrong = breaks(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]))
    print("\n".join(wrong) or "every known fault has its test")
    sys.exit(bool(wrong))
