#!/usr/bin/env python3
"""The rules of the pages: every link leads somewhere, every page is in the index and short, and what the source says of a page is there.

  tests/house/docs_test.py [ROOT]        prints what breaks a rule, as file:line, and ends with 1
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

GENERATED = {"docs/use/options.md", "docs/results/results.md"}  # by the program, and by scripts/results.py
SECRET_FILES = {"docs/operate/study.md": ("`.key`", "`OUT.noise-key`"), "docs/operate/backup.md": ("`OUT.noise-key`",), "docs/check/verify.md": ("`OUT.noise-key`",)}
MOST_WORDS, MOST_LETTERS = 1600, 120
LINK = re.compile(r"(?<!!)!?\[[^\]]*\]\(([^)\s]+)\)")
PAGE = re.compile(r"(?<![\w./-])docs/[\w/-]+\.md(#[\w-]+)?")


def slug(title):
    """GitHub's anchor of a heading."""
    title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).strip().lower()
    return re.sub(r"[^\w\- ]", "", title).replace(" ", "-")


def text_lines(page):
    """(number, line) outside fences."""
    fence = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            fence = not fence
        elif not fence:
            yield number, line


def anchors(page):
    found, seen = set(), {}
    for _, line in text_lines(page):
        if m := re.match(r"#{1,6}\s+(.*)", line):
            name = slug(m[1])
            found.add(f"{name}-{seen[name]}" if name in seen else name)
            seen[name] = seen.get(name, 0) + 1
    return found


def missing(root, page, target):
    """What a link of this page names that is not there; empty: it is."""
    file, _, anchor = target.partition("#")
    to = (page.parent / file).resolve() if file else page
    if not to.exists():
        return f"no file {os.path.relpath(to, root)}"
    if anchor and to.suffix == ".md" and anchor not in anchors(to):
        return f"no heading '#{anchor}' in {os.path.relpath(to, root)}"
    return ""


def broken(root, files):
    pages = [f for f in files if f.suffix == ".md" and (f.is_relative_to(root / "docs") or f.parent in (root, root / "bench"))]
    for page in pages:
        name = str(page.relative_to(root))
        for number, line in text_lines(page):
            for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                if not re.match(r"[a-z]+:", target) and (why := missing(root, page, target)):
                    yield f"{name}:{number}: {why}"
            if len(line) > MOST_LETTERS and name not in GENERATED and not line.lstrip().startswith(("|", "[", "![")):
                yield f"{name}:{number}: {len(line)} characters, at most {MOST_LETTERS} (prose.md)"
        words = len(page.read_text().split())
        if words > MOST_WORDS and name not in GENERATED and page.parent != root / "bench":  # a log of measurements
            yield f"{name}:1: {words} words, at most about 1,500: make two pages of it"
    for name, secrets in SECRET_FILES.items():  # pages that say what is secret, what is backed up and what is given away
        for secret in secrets:
            if (root / name).exists() and secret not in (root / name).read_text():
                yield f"{name}:1: does not name {secret}"
    index = root / "docs/README.md"
    listed = {(index.parent / t.partition("#")[0]).resolve() for t in LINK.findall(index.read_text())} if index.exists() else set()
    for page in pages:
        if page.is_relative_to(root / "docs") and page != index and page.resolve() not in listed:
            yield f"docs/README.md:1: does not name {page.relative_to(root)}"
    for file in files:  # what code, tests and scripts say of a page
        if file.suffix == ".md" and file in pages or file.suffix in (".png", ".svg"):
            continue
        try:
            lines = file.read_text().splitlines()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(lines, 1):
            for m in PAGE.finditer(line):
                if why := missing(root, root / "x", m[0]):
                    yield f"{file.relative_to(root)}:{number}: {why}"


def check_the_checker():
    """A tree with one fault of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        (root / "docs/use").mkdir(parents=True)
        (root / "docs/operate").mkdir()
        (root / "docs/operate/backup.md").write_text("x\n")
        (root / "docs/README.md").write_text("[o](operate/backup.md) [a](use/a.md#there) [b](use/b.md) [c](use/a.md#not)\n```\n[no](link.md)\n```\n")
        (root / "docs/use/a.md").write_text("# There\n" + "word " * 1700 + "\n")
        (root / "docs/use/lost.md").write_text("x\n")
        (root / "bench").mkdir()
        (root / "bench/README.md").write_text("| " + "wide " * 40 + "|\n" + "long " * 40 + "\n")
        (root / "code.h").write_text("// docs/use/a.md#there and docs/gone.md\n")
        found = "\n".join(broken(root, [f for f in root.rglob("*") if f.is_file()]))
        for fault in ("no file docs/use/b.md", "no heading '#not'", "1702 words", "a.md:2: 8500 characters", "bench/README.md:2: 200 characters", "does not name docs/use/lost.md", "no file docs/gone.md", "does not name `OUT.noise-key`"):
            assert fault in found, f"the checker misses: {fault}\n{found}"
        assert "link.md" not in found and found.count("\n") == 7, found


def main():
    check_the_checker()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    skip = ("tests/house/docs_test.py",)  # its own examples
    found = list(broken(root, [root / n for n in names if (root / n).is_file() and n not in skip]))
    for fault in found:
        print(fault)
    print(f"docs: {len(found)} faults" if found else "docs: clean")
    sys.exit(1 if found else 0)


main()
