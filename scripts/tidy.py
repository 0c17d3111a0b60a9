#!/usr/bin/env python3
"""clang-tidy-19 on what has changed since it was last found clean.

  scripts/tidy.py TREE [-j N] [--all] [FILE...]      TREE has compile_commands.json (`make tidy-tree`)

Two memories of what was clean, each the digest of a file with the rules of .clang-tidy: .ci/tidy-clean, committed, written by
--all when the whole tree is clean; and TREE/tidy.json, of this tree. A header is read through one file that includes it, its
own .cpp if there is one. --all forgets the first memory.

Most checks walk through every header that a file includes, again for each file: they read several files of one target as one.
Where these cannot be compiled together (two names alike), each is read alone. The static analyzer looks at the functions of
one file and does not care.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CLEAN = ROOT / ".ci/tidy-clean"
FOLDERS = ("src/", "cli/", "tests/", "bench/")
TOGETHER = 8  # files
# What a test or a benchmark may do: seeds that stand there, what costs a copy, what is thrown and expected. The analyzer does not read them.
LENIENT = (",-cert-msc51-cpp,-misc-const-correctness,-performance-unnecessary-value-param"
           ",-bugprone-unused-return-value,-bugprone-reserved-identifier,-performance-avoid-endl,-bugprone-inc-dec-in-conditions,-bugprone-implicit-widening-of-multiplication-result,-bugprone-suspicious-memory-comparison")
OURS = f"--header-filter={ROOT}/({'|'.join(f.rstrip('/') for f in FOLDERS)})/"


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def tracked():
    return [f for f in git("ls-files", "-co", "--exclude-standard", "*.h", "*.cpp") if f.startswith(FOLDERS) and (ROOT / f).exists()]


def digest(name, rules):
    return hashlib.sha256(rules + (ROOT / name).read_bytes()).hexdigest()


def reader(header, compiled):
    """A compiled file that includes this header."""
    own = header.removesuffix(".h") + ".cpp"
    if own in compiled:
        return own
    spelled = header.removeprefix("src/")
    names = {f'#include "{spelled}"', f'#include "{spelled.removeprefix("tests/")}"', f'#include "{pathlib.Path(header).name}"'}
    near = sorted(compiled, key=lambda f: (os.path.commonprefix([f, header]) == "", -len(os.path.commonprefix([f, header])), f))
    return next((f for f in near if names & set((ROOT / f).read_text().splitlines())), None)


def flags_of(command):
    """The compiler's flags, without what names the file."""
    words = shlex.split(command)[1:]
    out = words.index("-o")
    del words[out:out + 2]
    return tuple(w for w in words[:words.index("-c")] + words[words.index("-c") + 2:])


def checks(rules):
    """--checks of the analyzer by itself, and of all others; the include of a .cpp is what the batches are made of."""
    named = [c for c in re.split(r"[\s,]+", re.search(r"Checks: >\n((?:  .*\n)+)", rules)[1]) if c]
    analyzer = [c for c in named if c.lstrip("-").startswith("clang-analyzer")]
    return ",".join(["-*", *analyzer, "bugprone-suspicious-include"]), "-clang-analyzer-*,-bugprone-suspicious-include"


def tidy(file, flags, which):
    result = subprocess.run(["clang-tidy-19", "--quiet", f"--config-file={ROOT}/.clang-tidy", f"--checks={which}", OURS, str(file), "--", *flags],
                            cwd=ROOT, capture_output=True, text=True)
    return result.returncode == 0, result.stdout + (result.stderr if result.returncode else "")


def read_together(batch, flags, number, tree, which):
    """Of each file: clean?, what was said. A batch that does not compile is read file by file."""
    if len(batch) > 1:
        unit = tree / f"together/{number}.cpp"
        unit.parent.mkdir(exist_ok=True)
        unit.write_text("".join(f'#include "{ROOT / f}"\n' for f in batch))
        clean, text = tidy(unit, flags, which)
        if "clang-diagnostic" not in text:
            return {f: (clean, text if f == batch[0] else "") for f in batch}
    return {f: tidy(ROOT / f, flags, which) for f in batch}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("files", nargs="*", help="these only")
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_intermixed_args()
    commands = json.loads((options.tree / "compile_commands.json").read_text())
    compiled = {os.path.relpath(c["file"], ROOT): flags_of(c["command"]) for c in commands if "/CMakeFiles/" not in c["file"]}
    memory = options.tree / "tidy.json"
    known = json.loads(CLEAN.read_text()) if CLEAN.exists() and not options.all else {}
    known.update(json.loads(memory.read_text()) if memory.exists() else {})
    rules = (ROOT / ".clang-tidy").read_bytes()
    wanted = options.files or tracked()
    due = {}  # a file to compile: the files that it makes known
    for name in wanted:
        through = name if name in compiled else reader(name, compiled) if name.endswith(".h") else None
        if through and known.get(name) != digest(name, rules):
            due.setdefault(through, set()).update({name, through})
    print(f"tidy: {len(due)} files to read, of {len(compiled)}", flush=True)
    alike = {}  # files that may be read as one: of one folder, with the same flags
    for name in due:
        alike.setdefault((compiled[name], os.path.dirname(name), name.endswith("_test.cpp")), []).append(name)
    batches = [(key[0], names[i:i + TOGETHER]) for key, names in alike.items() for i in range(0, len(names), TOGETHER)]
    analyzer, others = checks(rules.decode())

    def work(number):
        flags, batch = batches[number]
        lenient = batch[0].endswith("_test.cpp") or batch[0].startswith(("tests/", "bench/"))
        found = read_together(batch, flags, number, options.tree, others + LENIENT * lenient)
        return [(f, found[f], (True, "") if lenient else tidy(ROOT / f, flags, analyzer)) for f in batch]

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for finished in pool.map(work, range(len(batches))):
            for name, (clean, text), (sound, said) in finished:
                if clean and sound:
                    known.update({f: digest(f, rules) for f in due[name]})
                    memory.write_text(json.dumps(known, indent=0))
                else:
                    failed += 1
                    print(text + said, flush=True)
    if failed:
        sys.exit(f"tidy: {failed} of {len(due)} files have findings, or were read with one that has (above)")
    if options.all:
        CLEAN.write_text(json.dumps({f: digest(f, rules) for f in tracked()}, indent=0) + "\n")
        print("tidy: the whole tree is clean: commit .ci/tidy-clean")


if __name__ == "__main__":
    main()
