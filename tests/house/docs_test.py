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
MOST_WORDS, MOST_LETTERS, MOST_IN_A_SENTENCE = 1600, 120, 30  # "about 1,500"
EASY = ("README.md", "docs/use/", "docs/approve/", "docs/operate/")  # for readers who have ten minutes: short sentences, usual words
LINK = re.compile(r"(?<!!)!?\[[^\]]*\]\(([^)\s]+)\)")
UNUSUAL = re.compile(r"\b(seats?|testimon(y|ies)|mourn\w*|parts told|told alike|nor is told|nothing has to be done)\b", re.IGNORECASE)
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


def paragraphs(page):
    """(number, text) of each paragraph and item of a list; tables, headings and commands are none."""
    start, text = 0, []
    for number, line in [*text_lines(page), (0, "")]:
        item = re.match(r" *([-*]|\d+\.) ", line)
        ends = not line.strip() or line.startswith(("#", "|", "    ")) or item
        if ends and text:
            yield start, " ".join(text)
            text = []
        if item or not ends:
            start = start if text else number
            text.append(line[item.end():] if item else line.strip())


def long_sentences(page):
    for number, text in paragraphs(page):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
        for sentence in re.split(r"(?<=[.!?])[)\"*]*\s+(?=\W*(?:[A-Z0-9ε]|parley\b)|`)|:\s+(?=[A-Z])", text):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > MOST_IN_A_SENTENCE:
                yield number, f"a sentence of {len(words)} words, at most {MOST_IN_A_SENTENCE} (prose.md): {' '.join(words[:6])} …"


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
        if name.startswith(EASY) and name not in GENERATED:
            for number, why in long_sentences(page):
                yield f"{name}:{number}: {why}"
            for number, line in text_lines(page):
                if m := UNUSUAL.search(line):
                    yield f"{name}:{number}: '{m[0]}' is no usual word (prose.md)"
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
        (root / "docs/README.md").write_text("[o](operate/backup.md) [a](use/a.md#there) [b](use/b.md) [c](use/a.md#not) [d](use/b2.md)\n```\n[no](link.md)\n```\n")
        (root / "docs/use/a.md").write_text("# There\n" + "word " * 1700 + "\n")
        twenty = "Word " + "word " * 19
        (root / "docs/use/b2.md").write_text(f"{twenty.strip()}.\n{twenty.strip()}.\n\n- {twenty}\n  {twenty}\n- {twenty}\n- A seat.\n")
        (root / "docs/use/lost.md").write_text("x\n")
        (root / "bench").mkdir()
        (root / "bench/README.md").write_text("| " + "wide " * 40 + "|\n" + "long " * 40 + "\n")
        (root / "code.h").write_text("// docs/use/a.md#there and docs/gone.md\n")
        found = "\n".join(broken(root, [f for f in root.rglob("*") if f.is_file()]))
        for fault in ("no file docs/use/b.md", "no heading '#not'", "1702 words", "a.md:2: 8500 characters", "bench/README.md:2: 200 characters", "does not name docs/use/lost.md", "no file docs/gone.md", "does not name `OUT.noise-key`",
                      "a.md:2: a sentence of 1700 words", "b2.md:4: a sentence of 40 words", "b2.md:7: 'seat'"):
            assert fault in found, f"the checker misses: {fault}\n{found}"
        assert "link.md" not in found and found.count("\n") == 10, found


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
