#!/usr/bin/env python3
"""Does ThreadSanitizer find a race in the courier, with a gRPC that is not instrumented? planted_race.patch takes a lock away; the program is
linked again with that one file ('make tsan' has built the rest), and exits_test.py must fail with a report that names the courier.
    planted_race.py PARLEY BUILD-TSAN"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
COURIER = "src/parley/mesh/grpc/courier.cpp"


def run(command, cwd, **kw):
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True, **kw)
    return result.returncode, result.stdout + result.stderr


def must(command, cwd, **kw):
    code, said = run(command, cwd, **kw)
    if code != 0:
        sys.exit(f"{command}: {code}\n{said}")
    return said


def build(tree, scratch):
    """What a party runs, with the race."""
    copy = scratch / COURIER
    copy.parent.mkdir(parents=True)
    copy.write_bytes((SOURCE / COURIER).read_bytes())
    must(["patch", "-p1", "-i", str(HERE / "planted_race.patch")], scratch)
    units = json.loads((tree / "compile_commands.json").read_text())
    words = shlex.split(next(u["command"] for u in units if u["file"] == str(SOURCE / COURIER)))
    words[words.index("-o") + 1] = str(scratch / "courier.o")
    words[words.index(str(SOURCE / COURIER))] = str(copy)
    must(words, tree)
    link = must(["ninja", "-t", "commands", "mesh_join"], tree).splitlines()[-1]
    # Its object comes before the library's, as in parley_failpoints.
    before, _, after = link.partition(" -o mesh_join ")
    assert after, link
    must(f"{before} {scratch}/courier.o -o {scratch}/mesh_join {after}", tree, shell=True)
    return scratch / "mesh_join"


def main():
    parley, tree = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="parley-race-") as folder:
        program = build(tree, pathlib.Path(folder))
        env = {**os.environ, "PARLEY": str(parley), "PARLEY_JOIN": str(program), "PARLEY_EXITS": "20"}
        code, said = run([sys.executable, str(HERE / "exits_test.py")], folder, env=env)
    found = "WARNING: ThreadSanitizer: data race" in said and "courier.cpp" in said
    if code == 0 or not found:
        sys.exit(f"the planted race was not found (exit code {code})\n{said[-5000:]}")
    print("the planted race was found:", next(line.strip() for line in said.splitlines() if "courier.cpp" in line))


if __name__ == "__main__":
    main()
