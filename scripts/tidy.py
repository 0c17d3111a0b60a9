#!/usr/bin/env python3
"""clang-tidy-19 on what has changed since it was last found clean.

  scripts/tidy.py TREE [-j N] [--all] [FILE...]      TREE has compile_commands.json (`make tidy-tree`)

Two memories. .ci/tidy-clean names the commit at which the whole tree was clean: what has not changed since is not read.
TREE/tidy.json has the digest of each file that was clean here, with the rules of .clang-tidy: CI may keep it from run to run.
A header is read through one file that includes it, its own .cpp if there is one. --all forgets the first memory, and when
the whole tree is clean and committed, writes it anew.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CLEAN_AT = ROOT / ".ci/tidy-clean"
FOLDERS = ("src/", "cli/", "tests/", "bench/")


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def tracked():
    return [f for f in git("ls-files", "-co", "--exclude-standard", "*.h", "*.cpp") if f.startswith(FOLDERS) and (ROOT / f).exists()]


def changed():
    """Files that differ from the commit at which all were clean; all of them where git does not know it (a shallow clone)."""
    try:
        commit = CLEAN_AT.read_text().split()[0]
        return set(git("diff", "--name-only", commit)) | set(git("ls-files", "-o", "--exclude-standard"))
    except (OSError, IndexError, subprocess.CalledProcessError):
        print("tidy: .ci/tidy-clean names no commit that is here: reading the whole tree")
        return None


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


def tidy(tree, name):
    result = subprocess.run(["clang-tidy-19", "-p", tree, "--quiet", str(ROOT / name)], capture_output=True, text=True)
    return result.returncode == 0, result.stdout + (result.stderr if result.returncode else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("files", nargs="*", help="these only")
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    compiled = {os.path.relpath(c["file"], ROOT) for c in json.loads((options.tree / "compile_commands.json").read_text())}
    memory = options.tree / "tidy.json"
    known = json.loads(memory.read_text()) if memory.exists() else {}
    rules = (ROOT / ".clang-tidy").read_bytes()
    touched = None if options.all or options.files else changed()
    wanted = options.files or [f for f in tracked() if touched is None or f in touched or ".clang-tidy" in touched]
    due = {}  # a file to compile: the files that it makes known
    for name in wanted:
        through = name if name in compiled else reader(name, compiled) if name.endswith(".h") else None
        if through and known.get(name) != digest(name, rules):
            due.setdefault(through, set()).update({name, through})
    print(f"tidy: {len(due)} files to read, of {len(compiled)}")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for name, (clean, text) in zip(due, pool.map(lambda f: tidy(options.tree, f), due)):
            if clean:
                known.update({f: digest(f, rules) for f in due[name]})
                memory.write_text(json.dumps(known, indent=0))
            else:
                failed += 1
                print(text)
    if failed:
        sys.exit(f"tidy: {failed} of {len(due)} files have findings (above)")
    if options.all and not git("status", "--porcelain"):
        CLEAN_AT.write_text(git("rev-parse", "HEAD")[0] + "\n")
        print("tidy: the whole tree is clean: commit .ci/tidy-clean")


if __name__ == "__main__":
    main()
