#!/usr/bin/env python3
"""The rules of the house, read from the source itself: who may include whom, who names which library, how full a folder is.

  tests/house/include_test.py [ROOT]        prints what breaks a rule, as file:line, and ends with 1

Linking does not show a header that is used alone, so every #include of src/parley, cli and tests is read.
"""
import pathlib
import re
import sys
import tempfile

# folder: what it may include besides itself; "network/graph" is one header (graph.h) and no more of its folder.
TABLE = {
    "base": [],
    "data": ["base"],
    "problem": ["base", "data"],
    "privacy": ["base"],
    "ledger": ["base", "privacy"],
    "algorithm": ["base", "problem", "privacy"],
    "network": ["base", "privacy"],
    "protocol": ["base", "privacy", "network/graph"],
    "identity": ["base"],
    "mesh": ["base", "identity", "protocol"],
    "record": ["base"],
}
# The same, and whatever those may include.
WITH_ALL_BELOW = {
    "theory": ["algorithm", "network"],
    "run": ["data", "problem", "ledger", "algorithm", "network", "record"],
    "study": ["run", "protocol", "identity"],
    "party": ["study", "mesh"],
    "verify": ["study"],
    "report": ["record", "privacy", "protocol"],  # what a claim means for a guesser, and what transcripts tell of each other
    "experiment": ["run", "report"],
    "audit": ["run"],
    "library": ["party", "report"],  # include/parley/parley.h
    "cli": ["party", "verify", "report", "experiment", "audit", "theory"],
}
# A library: the folders that may name it, by its headers and by the words of its interface.
LIBRARIES = {
    "MPI": (r"mpi\.h$", r"\bMPI_[A-Z]\w+", ["network/mpi"]),
    "gRPC": (r"grpc|.*\.grpc\.pb\.h$|.*\.pb\.h$", r"\bgrpc::", ["mesh/grpc"]),
    "SQLite": (r"sqlite3\.h$", r"\bsqlite3_\w+", ["ledger"]),
    "libcurl": (r"curl/", r"\bcurl_\w+\(", ["data"]),
    "libpq": (r"libpq.*\.h$", r"\bPQ[a-z]\w+\(", ["data/read/postgres"]),
    "zlib": (r"zlib\.h$", r"\binflate\w*\(", ["data/read"]),
    "libcsv": (r"csv\.h$", None, ["data"]),
    "toml++": (r"toml\+\+/", None, ["base"]),
    "Boost": (r"boost/", r"\bboost::", ["audit"]),
}
TESTS_TOO = {"protocol": ["ledger"]}  # only a ledger makes a Paid, without which nothing is sent
MOST_FILES, README_LINES = 30, 120

INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')
SOURCES = (".h", ".cpp")


def allowed(folder):
    """Everything that `folder` may include, itself among it."""
    found = {folder}
    if folder in TABLE:
        return found.union(TABLE[folder])
    for below in WITH_ALL_BELOW[folder]:
        found |= allowed(below)
    return found


def is_test(file):
    return file.stem.endswith("_test")


def files(root, *folders):
    for folder in folders:
        yield from sorted(f for f in (root / folder).rglob("*") if f.suffix in SOURCES)


def folder_of(root, file):
    """("network", "network/mpi") of src/parley/network/mpi/mpi_ranks.cpp; ("cli", "cli") of cli/main.cpp."""
    parts = file.relative_to(root).parts[:-1]
    parts = parts[2:] if parts[0] == "src" else parts[:1]
    return (parts[0] if parts else ""), "/".join(parts)


def may(folder, header, test=False):
    """Does the table let `folder` include "parley/<header>"?"""
    names = allowed(folder).union(TESTS_TOO.get(folder, []) if test else [])
    if header == "parley.h":  # include/parley/parley.h is for others; only the library fulfils it
        return folder == "library"
    return header.split("/")[0] in names or header.removesuffix(".h") in names


def breaks_of_line(folder, path, file, text):
    header = INCLUDE.match(text)
    header = header[1] if header else None
    if header and header.startswith("parley/") and not may(folder, header[len("parley/"):], is_test(file)):
        return f'{folder} may not include "{header}" (allowed: {", ".join(sorted(allowed(folder)))})'
    if header and re.match(r"(cli|tests|bench|paper|protocol|statistical)/", header) and header.split("/")[0] != folder:
        return f'{folder} may not include "{header}": nothing in src includes cli, tests or bench'
    if header and re.match(r"(gtest|gmock)/", header) and not is_test(file):
        return f"<{header}> outside a test (allowed: *_test.cpp, *_test.h, tests/)"
    code = text.split("//")[0]
    for name, (headers, words, places) in LIBRARIES.items():
        named = re.match(headers, header) if header else words and re.search(words, re.sub(r'"(\\.|[^"\\])*"', '""', code))
        if named and not any(path == p or path.startswith(p + "/") for p in places):
            return f"{name} is named here (allowed: {', '.join(places)})"
    return None


def breaks(root):
    """All that breaks a rule, one line each."""
    found = []
    for file in files(root, "src/parley", "cli"):
        folder, path = folder_of(root, file)
        if folder not in TABLE and folder not in WITH_ALL_BELOW:
            found.append(f"{file.relative_to(root)}:1: folder '{folder}' is not in the table of tests/house/include_test.py")
            continue
        for number, text in enumerate(file.read_text().splitlines(), 1):
            why = breaks_of_line(folder, path, file, text)
            if why:
                found.append(f"{file.relative_to(root)}:{number}: {why}")
    for file in files(root, "tests"):
        for number, text in enumerate(file.read_text().splitlines(), 1):
            header = INCLUDE.match(text)
            if header and header[1].startswith("bench/"):
                found.append(f'{file.relative_to(root)}:{number}: a test may not include "{header[1]}" (allowed: src, cli, tests)')
    return found + crowded(root) + long_readme(root)


def crowded(root):
    found = []
    for folder in sorted(d for d in (root / "src/parley").rglob("*") if d.is_dir()):
        count = sum(f.suffix in SOURCES and not is_test(f) for f in folder.iterdir())
        if count > MOST_FILES:
            found.append(f"{folder.relative_to(root)}:1: {count} files besides tests (allowed: {MOST_FILES}): two rooms share a wall that nobody has drawn")
    return found


def long_readme(root):
    count = len((root / "README.md").read_text().splitlines())
    return [f"README.md:{count}: {count} lines (allowed: {README_LINES}): move what a first reader does not need to docs/"] if count > README_LINES else []


def self_test():
    """Each rule finds a planted break, and nothing in a tree that keeps them."""
    plants = {
        "src/parley/base/text.h": '#include "parley/data/dataset.h"',
        "src/parley/problem/loss.cpp": '  #  include "parley/privacy/random.h"',
        "src/parley/protocol/exchange.h": '#include "parley/network/transport.h"',
        "src/parley/verify/replay.cpp": '#include "parley/party/join.h"',
        "src/parley/party/join.cpp": '#include "parley/verify/verify.h"',
        "src/parley/report/page.cpp": '#include "parley/data/dataset.h"',
        "src/parley/theory/rates.cpp": '#include "parley/run/driver.h"',
        "src/parley/run/driver.cpp": "int rank = MPI_Comm_rank();",
        "src/parley/mesh/courier.h": "#include <grpcpp/grpcpp.h>",
        "src/parley/algorithm/planner.cpp": '#include "cli/terminal.h"',
        "src/parley/data/csv.cpp": "#include <gtest/gtest.h>",
        "src/parley/run/model.cpp": '#include "parley/parley.h"',
        "src/parley/utils/text.h": "",
        "tests/paper/a_test.cpp": '#include "bench/rows.h"',
    }
    keeps = {
        "src/parley/theory/plan.cpp": '#include "parley/base/error.h"',
        "src/parley/protocol/message.h": '#include "parley/network/graph.h"',
        "src/parley/party/process.cpp": '#include "parley/mesh/courier.h"',
        "src/parley/mesh/grpc/courier.cpp": "#include <grpcpp/grpcpp.h>\ngrpc::Status s;",
        "src/parley/data/csv_test.cpp": "#include <gtest/gtest.h>",
        "src/parley/audit/scene.cpp": '#include "parley/problem/loss.h"',
        "src/parley/library/rows.cpp": '#include "parley/parley.h"',
        "src/parley/record/words.cpp": 'error("MPI_Init is not there");  // MPI_Init',
    }
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**plants, **keeps, "README.md": "line\n" * (README_LINES + 1)}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        for i in range(MOST_FILES + 1):
            (root / f"src/parley/audit/{i}.h").write_text("")
        found = breaks(root)
        expected = [f"{p}:1: " for p in plants] + ["src/parley/audit:1: ", f"README.md:{README_LINES + 1}: "]
        missed = [e for e in expected if not any(f.startswith(e) for f in found)]
        false = [f for f in found if not any(f.startswith(e) for e in expected)]
        assert not missed and not false, f"the rules themselves are broken: missed {missed}, found {false}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    self_test()
    found = breaks(root)
    print("\n".join(found) or "the rules of the house hold")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
