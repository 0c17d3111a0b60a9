"""Two builds of parley, the same seeded commands: are records, models, ledgers, statements and reports the same bytes?

    python3 tests/house/same_records.py OLD NEW [--only WORD] [--ignore FIELD]... [--accept PATTERN]... [--keep FOLDER]

Each command runs once with either program, in a folder of its own, with the same relative paths. What is compared: the record (run.json, rounds.jsonl,
released.f64, model.json), what was printed, `report` for both audiences with its figures and CSV files, `ledger show`. Studies between parties have the
same keys and ports for both programs; of the messages their values are compared. A study that goes on after a loss ends in another round each time: there
only the names of fields are compared; `verify` and `report` of both programs then read the old program's folder, and must say the same about it
(--own-folders: where the new one writes another record, each reads its own).

IGNORED below names the fields that differ between any two runs: times and what is drawn fresh. A change that adds or changes a field gives its name:
--ignore privacy.adjacency. --accept 'report*/page.html' lists a difference without failing.
Exit code: 0 all the same, 1 something differs, 2 a command failed with one program and not with the other.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mesh"))
IGNORED = {"private.seconds", "seconds", "run_id", "parts.run_id", "signature", "started", "runs.run", "runs.started", "runs.id", "head", "job_id", "ledger_head", "seconds_pay",
           "seconds_solve", "seconds_wait"}
TIME = re.compile(r"\d+(\.\d+)? ?(ms|s|min|h)\b|\bhead [0-9a-f]{16}\b")
BUDGET = ("--epsilon", 2, "--delta", 1e-5)
TRAIN = {  # every algorithm, every kind of noise and where it stands, losses, splits, graphs
    "admm": ("--algorithm", "admm", "--noise", "none"),
    "m-admm": ("--algorithm", "m-admm", "--noise", "none", "--penalty-growth", 1.05),
    "dvp": ("--algorithm", "dvp", "--noise-rate", 0.7),
    "dvp-budget": ("--algorithm", "dvp", *BUDGET),
    "pvp": ("--algorithm", "pvp", "--noise-rate", 0.7),
    "pvp-budget": ("--algorithm", "pvp", *BUDGET),
    "pp": ("--algorithm", "pp", "--noise-rate", 0.7, "--penalty-growth", 1.03),
    "r-admm": ("--algorithm", "r-admm", "--noise", "gamma", "--noise-rate", 0.7),
    "r-admm-pure": ("--algorithm", "r-admm", "--epsilon", 3, "--delta", 0),
    "mr-admm": ("--algorithm", "mr-admm", *BUDGET),
    "mr-admm-defaults": ("--algorithm", "mr-admm"),
    "mr-admm-uneven": ("--algorithm", "mr-admm", *BUDGET, "--split", "power", "--weighting", "rows", "--graph", "small-world", "--nodes", 7, "--average", "no"),
    "mr-admm-hinge": ("--algorithm", "mr-admm", "--loss", "huber-hinge", "--noise", "gamma", "--epsilon", 3, "--delta", 0),
    "linear-admm": ("--algorithm", "linear-admm", *BUDGET, "--rounds", 20),
    "linear-l1": ("--algorithm", "linear-admm", *BUDGET, "--rounds", 10, "--regularizer", "l1", "--step-size", "convex"),
    "star-admm": ("--algorithm", "star-admm", "--noise", "none"),
    "star-pvp": ("--algorithm", "star-pvp", *BUDGET),
    "star-pvp-paper": ("--algorithm", "star-pvp", "--iteration-epsilon", 0.1, "--sensitivity", "paper"),
    "dp-admm": ("--algorithm", "dp-admm", *BUDGET, "--rounds", 20),
    "dp-admm-hinge": ("--algorithm", "dp-admm", *BUDGET, "--rounds", 10, "--loss", "hinge", "--step-size", "convex"),
    "label-skewed": ("--algorithm", "mr-admm", *BUDGET, "--split", "label-skewed"),
    "repeated": ("--algorithm", "mr-admm", *BUDGET, "--repeat", 2, "--metrics", "last"),
    "ledger": ("--algorithm", "mr-admm", *BUDGET, "--ledger", "my.ledger", "--dataset", "census"),
}
LOST = "hospital_b"


class Failed(Exception):
    pass


class Programs:
    """Runs a command with both, each in its own folder."""

    own_folders = False

    def __init__(self, old, new, base):
        self.programs = {"old": str(pathlib.Path(old).resolve()), "new": str(pathlib.Path(new).resolve())}
        self.base = base
        for side in self.programs:
            (base / side).mkdir(parents=True)

    def run(self, *words, into=None, prefix=(), cwd="."):
        """Both must end alike; what they print is kept in `into` of either folder."""
        codes, said = {}, {}
        for side, program in self.programs.items():
            folder = self.base / side
            done = subprocess.run([*prefix, program, *map(str, words)], cwd=folder / cwd, capture_output=True, text=True, timeout=900)
            codes[side], said[side] = done.returncode, done.stderr
            if into:
                (folder / into).parent.mkdir(parents=True, exist_ok=True)
                (folder / into).write_text(masked(done.stdout.replace(str(folder), "HERE")))
        if codes["old"] != codes["new"]:
            raise Failed(f"{' '.join(map(str, words))}: exit code {codes['old']} and {codes['new']}\n{said['old']}{said['new']}")
        return codes["old"], said


def masked(text):
    return TIME.sub("TIME", text)


def without(value, ignored, path=""):
    """A JSON value without the ignored fields; items of a list have the path of the list."""
    if isinstance(value, dict):
        inner = {k: f"{path}.{k}" if path else k for k in value}
        return {k: without(v, ignored, inner[k]) for k, v in value.items() if inner[k] not in ignored}
    return [without(v, ignored, path) for v in value] if isinstance(value, list) else value


def content(file, ignored):
    """What is compared of a file: its bytes, and of JSON its text without the ignored fields."""
    data = file.read_bytes()
    if file.suffix not in (".json", ".jsonl"):
        return data
    try:
        lines = data.splitlines() if file.suffix == ".jsonl" else [data]
        return "\n".join(json.dumps(without(json.loads(line), ignored), indent=1) for line in lines).encode()
    except ValueError:
        return data


def names_of(value, path=""):
    """The fields of a JSON value, without their values."""
    if isinstance(value, dict):
        return set().union({path}, *(names_of(v, f"{path}.{k}") for k, v in value.items()))
    return set().union({path + "[]"}, *(names_of(v, path + "[]") for v in value)) if isinstance(value, list) else {path}


def first_difference(a, b):
    if b"\0" in a or b"\0" in b:
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        return f"   byte {at} of {len(a)} and {len(b)}"
    x, y = a.decode(errors="replace").splitlines(), b.decode(errors="replace").splitlines()
    found = [(i, l, r) for i, (l, r) in enumerate(zip(x + [""] * len(y), y + [""] * len(x))) if l != r][:3]
    return "\n".join(f"   line {i + 1}\n   old: {around(l, r)}\n   new: {around(r, l)}" for i, l, r in found) or "   another end of the file"


def around(line, other):
    at = next((i for i, (p, q) in enumerate(zip(line, other)) if p != q), min(len(line), len(other)))
    return line[max(0, at - 60):at + 140]


class Comparison:
    def __init__(self, base, ignored, accepted):
        self.base, self.ignored, self.accepted, self.files, self.differ = base, ignored, accepted, 0, []

    def folders(self, inside="."):
        """Every file under it, in both."""
        old, new = ({p.relative_to(self.base / s) for p in (self.base / s / inside).rglob("*") if p.is_file()} for s in ("old", "new"))
        for name in sorted(old | new):
            if name.name.startswith("my.ledger") or name.suffix in (".key", ".pem"):
                continue
            if name not in old or name not in new:
                self.say(name, f"   only in {'old' if name in old else 'new'}")
                continue
            self.files += 1
            a, b = (content(self.base / s / name, self.ignored) for s in ("old", "new"))
            if a != b:
                self.say(name, first_difference(a, b))

    def say(self, name, what):
        accepted = any(fnmatch.fnmatch(str(name), p) for p in self.accepted)
        print(f"{'accepted' if accepted else 'DIFFERS '} {name}\n{what}", flush=True)
        if not accepted:
            self.differ.append(str(name))


def reports(both, record, name, cwd="."):
    for kind, words in (("anyone", ()), ("owner", ("--private",))):
        both.run("report", *([record] if isinstance(record, str) else record), "--out", f"report-{name}-{kind}.html", "--figures", f"report-{name}-{kind}", *words,
                 into=f"report-{name}-{kind}.txt", cwd=cwd)


def train(both, name):
    common = ("--rows", 1200, "--rounds", 6, "--seed", 7, "--loss-weight", 200)
    if name == "ledger":
        both.run("ledger", "cap", "my.ledger", "--dataset", "census", "--epsilon", "unlimited")
    words = {**dict(zip(common[::2], common[1::2])), **dict(zip(TRAIN[name][::2], TRAIN[name][1::2]))}
    code, said = both.run("train", *(w for pair in words.items() for w in pair), "--out", name, into=f"{name}.txt")
    if code and not (both.base / "old" / name / "run.json").exists():  # one that diverged has a record
        raise Failed(f"train {name}: both programs fail\n{said['old']}")
    reports(both, name, name)
    model = pathlib.Path(name) / ("run-1/model.json" if name == "repeated" else "model.json")
    if (both.base / "old" / model).exists():
        both.run("data", "generate", "census", "--rows", 50, "--out", f"{name}.csv")
        both.run("predict", model, f"{name}.csv", into=f"{name}-predicted.csv")
    if name == "ledger":
        both.run("ledger", "show", "my.ledger", "--json", into="ledger-show.json")
        both.run("ledger", "verify", "my.ledger", name, into="ledger-verify.txt")


def resumed(both, name):
    """The old program's record, cut in the middle, is gone on with by both."""
    for side in both.programs:
        folder = both.base / side / f"resumed-{name}"
        shutil.copytree(both.base / "old" / name, folder)
        run = json.loads((folder / "run.json").read_text())
        run["outcome"], run["options"]["out"] = "interrupted", f"resumed-{name}"
        (folder / "run.json").write_text(json.dumps(run, indent=1))
        lines = (folder / "rounds.jsonl").read_text().splitlines(keepends=True)
        (folder / "rounds.jsonl").write_text("".join(lines[:3]))
        os.truncate(folder / "released.f64", 3 * 8 * run["released"]["nodes"] * run["released"]["size"])
        (folder / "model.json").unlink()
    words = ("--rows", 1200, "--rounds", 6, "--seed", 7, "--loss-weight", 200)
    words = {**dict(zip(words[::2], words[1::2])), **dict(zip(TRAIN[name][::2], TRAIN[name][1::2]))}
    code, said = both.run("train", *(w for pair in words.items() for w in pair), "--out", f"resumed-{name}", "--resume", "true", "--quiet")
    if code:
        raise Failed(f"resume {name}: both programs fail\n{said['old']}")


def cluster(both):
    if not shutil.which("mpirun"):
        return print("left out: there is no mpirun")
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    code, said = both.run("train", "--rows", 1200, "--rounds", 6, "--seed", 7, *BUDGET, "--engine", "mpi", "--out", "mpi", "--quiet",
                          prefix=("mpirun", "--oversubscribe", "-n", "2"))
    if code:
        raise Failed(f"mpi: both programs fail\n{said['old']}")
    reports(both, "mpi", "mpi")


def small(both):
    """Commands without a record."""
    for name, words in {"account": ("mr-admm", *BUDGET, "--nodes", 5, "--records", 200), "plan": ("--rows", 1200, *BUDGET), "check": ("--rows", 1200, *BUDGET),
                        "options": ("--markdown",), "graph": ("ring", "--nodes", 6)}.items():
        both.run(name, *words, into=f"{name}.txt")
        both.run(name, *words, "--json", into=f"{name}.json")
    both.run("compare", "--rows", 1200, "--rounds", 4, "--seed", 3, "--epsilon", "1,2", "--algorithm", "mr-admm,dp-admm", "--out", "compared", into="compare.txt")


def made_study(both, name, **how):
    """One study, made by the old program and copied: both have the same keys and ports."""
    import mesh_case
    study = mesh_case.Study(both.base / "made" / name, **how)
    for side in both.programs:
        shutil.copytree(study.base, both.base / side / name)
    return study


def parties(study, both, side, name, processes):
    """Starts everybody with one program, in its folder."""
    study.base = both.base / side / name
    for party in study.all:
        processes[party] = study.start(party, program=both.programs[side])


def ended(processes, study, names):
    for name in names:
        out, _ = processes[name].communicate(timeout=600)
        (study.base / name / "join.json").write_text(out)
        if processes[name].returncode:
            raise Failed(f"{name}: {processes[name].returncode}\n{study.logs()}")


def stop(processes):
    for process in processes.values():
        if process.poll() is None:
            process.kill()
        process.communicate()


def tidy(base, study):
    """Leaves what is compared: of a transcript its values, in order of sender and round."""
    import wire
    for transcript in [*base.rglob("transcript")]:
        said = sorted({(m.sender, m.round, m.kind, m.payload.hex()) for m in wire.values(transcript)})
        (transcript.parent / "values.txt").write_text("".join(f"{s} {r} {k} {p}\n" for s, r, k, p in said))
        transcript.unlink()
    for name in study.all:
        (base / name / "log").unlink(missing_ok=True)


def verified(both, name, names):
    """The same folder, the old program's, read by both; with --own-folders each reads its own."""
    for side in both.programs:
        shutil.copytree(both.base / (side if both.own_folders else "old") / name, both.base / side / f"{name}-read")
    outs = [f"{p}/out" for p in names]
    read = f"{name}-read"
    both.run("verify", "--study", f"{names[0]}/study.toml", *outs, cwd=read, into=f"{name}-verify.txt")
    both.run("verify", "--study", f"{names[0]}/study.toml", *outs, "--json", cwd=read, into=f"{name}-verify.json")
    both.run("verify", "--study", f"{names[0]}/study.toml", outs[0], cwd=read, into=f"{name}-verify-one.txt")
    reports(both, [f"{read}/{o}" for o in outs], name)
    reports(both, f"{read}/{outs[0]}", f"{name}-one")


def study(both, name, **how):
    s = made_study(both, name, **how)
    for side in both.programs:
        processes = {}
        try:
            parties(s, both, side, name, processes)
            ended(processes, s, s.all)
        finally:
            stop(processes)
    verified(both, name, s.all)
    for side in both.programs:
        shutil.rmtree(both.base / side / f"{name}-read")
        tidy(both.base / side / name, s)


def continued(both, name, compared, algorithm):
    s = made_study(both, name, algorithm=algorithm, parties=4, rounds=400, wait=8.0, deadline=1.0, options={"on_loss": '"continue"'})
    left = [n for n in s.all if n != LOST]
    fields = {}
    for side in both.programs:
        processes = {}
        try:
            parties(s, both, side, name, processes)
            lines, end = s.out(LOST, "rounds.jsonl"), time.monotonic() + 120
            while not lines.exists() or lines.read_bytes().count(b"\n") < 20:
                if time.monotonic() > end:
                    raise Failed(f"{name} does not begin\n{s.logs()}")
                time.sleep(0.01)
            processes[LOST].send_signal(signal.SIGKILL)
            ended(processes, s, left)
        finally:
            stop(processes)
        fields[side] = {str(f.relative_to(s.base)): sorted(names_of(json.loads(f.read_text()))) for n in left for f in sorted((s.base / n / "out").rglob("*.json"))}
        kinds = {n: sorted({json.loads(l)["kind"] for l in s.out(n, "rounds.jsonl").read_text().splitlines()}) for n in left}
        fields[side]["kinds"] = kinds
    verified(both, name, left)
    for side in both.programs:
        shutil.rmtree(both.base / side / name)
        shutil.rmtree(both.base / side / f"{name}-read")
        (both.base / side / f"{name}-fields.json").write_text(json.dumps(fields[side], indent=1))
        if both.own_folders:  # they lost a party in different rounds
            for left_over in [*(both.base / side).glob(f"{name}-verify*"), *(both.base / side).glob(f"report-{name}*")]:
                shutil.rmtree(left_over) if left_over.is_dir() else left_over.unlink()


def cases(both, compared):
    for name in TRAIN:
        yield f"train {name}", lambda name=name: train(both, name)
    for name in ("mr-admm", "dp-admm"):
        yield f"train {name}, resumed", lambda name=name: resumed(both, name)
    yield "train, two ranks", lambda: cluster(both)
    yield "small commands", lambda: small(both)
    yield "study mr-admm", lambda: study(both, "study", algorithm="mr-admm")
    yield "study dp-admm", lambda: study(both, "study-star", algorithm="dp-admm")
    for algorithm in ("mr-admm", "dp-admm"):
        yield f"study {algorithm}, continued", lambda a=algorithm: continued(both, f"continued-{a}", compared, a)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--only", default="", help="only the cases whose name has this word")
    parser.add_argument("--ignore", action="append", default=[], metavar="FIELD")
    parser.add_argument("--accept", action="append", default=[], metavar="PATTERN")
    parser.add_argument("--own-folders", action="store_true", help="the records themselves have changed: verify and report of each program read what it wrote itself")
    parser.add_argument("--keep", help="an empty folder that keeps what was compared")
    given = parser.parse_args()
    os.environ["PARLEY"] = str(pathlib.Path(given.old).resolve())  # for mesh_case
    with tempfile.TemporaryDirectory(prefix="parley-same-") as temporary:
        base = pathlib.Path(given.keep or temporary).resolve()
        both = Programs(given.old, given.new, base)
        both.own_folders = given.own_folders
        compared = Comparison(base, IGNORED | set(given.ignore), given.accept)
        failed = False
        for name, case in cases(both, compared):
            if given.only not in name:
                continue
            print(f"-- {name}", flush=True)
            try:
                case()
            except Failed as e:
                failed = True
                print(f"FAILED  {name}: {e}", flush=True)
        compared.folders()
    print(f"{compared.files} files compared, {len(compared.differ)} differ")
    return 2 if failed else 1 if compared.differ else 0


if __name__ == "__main__":
    sys.exit(main())
