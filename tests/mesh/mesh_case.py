"""Real parties on this machine: keys, a study, rows, ledgers and processes of `parley join`. ctest gives $PARLEY."""
import fcntl
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import wire

PARLEY = os.environ["PARLEY"]
FAILPOINTS = os.environ.get("PARLEY_FAILPOINTS", "")  # tests/crash/failing_program.cpp
STRANGER = os.environ.get("MESH_STRANGER", "")  # stranger.cpp
KILLED = -9
FULL, SHORT = "PARLEY_TEST_FULL" in os.environ, "PARLEY_TEST_SHORT" in os.environ
# A sanitizer's report ends its process at once, and every wait for a process looks for one (sanitizer_report).
for name, options in (("ASAN", "abort_on_error=1:halt_on_error=1"), ("UBSAN", "halt_on_error=1:print_stacktrace=1"),
                      ("TSAN", f"halt_on_error=1:exitcode=66:ignore_noninstrumented_modules=1:print_suppressions=0:suppressions={pathlib.Path(__file__).resolve().parent}/tsan.supp"),
                      ("LSAN", f"print_suppressions=0:suppressions={pathlib.Path(__file__).resolve().parent}/lsan.supp")):
    os.environ.setdefault(name + "_OPTIONS", options)
PATIENCE = int(os.environ.get("PARLEY_PATIENCE", 900))  # seconds until a process counts as hanging: no test passes or fails by how fast this machine is
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK) else None  # where a sync costs nothing


PORTS = open(os.path.join(tempfile.gettempdir(), f"parley_test_ports_{os.getuid()}"), "w")  # byte p is locked by who uses port p


def free_ports(count):
    """Ports that nobody has, and that no other test takes while this program runs: a party that is down keeps its own.
    They are below all that systems give to callers."""
    ports = []
    for port in random.sample(range(10000, 16000), 6000):
        if len(ports) == count:
            break
        try:
            if port not in free_ports.taken:
                fcntl.lockf(PORTS, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
                free_ports.taken.add(port)
                with socket.socket() as s:
                    s.bind(("127.0.0.1", port))
                ports.append(port)
        except OSError:
            pass  # another program's
    assert len(ports) == count, "no free ports"
    return ports


free_ports.taken = set()  # by this program


def size_of(shape, round):
    """Numbers of a node's value in this round (record/files.h)."""
    if round and round == shape.get("final_round"):
        return shape["size_of_final_round"]
    return shape.get("size_of_round_1", shape["size"]) if round == 1 else shape["size"]


def by_round(data, shape):
    """The bytes of released.f64, by round: those of each node."""
    at = round = 0
    while at < len(data):
        size = 8 * size_of(shape, round)
        yield [data[at + n * size:at + (n + 1) * size] for n in range(shape["nodes"])]
        at, round = at + shape["nodes"] * size, round + 1


def sanitizer_report(text):
    """What a sanitizer, or the C library's own check of its heap, said in this text; "" if nothing."""
    found = re.search(r"(ERROR|WARNING): \w+Sanitizer|: runtime error: |malloc\w*\(\): |free\(\): |double free or corruption|corrupted (size|double)", text)
    return text[found.start():][:20000] if found else ""


def run(*arguments, cwd, check=True, env=None, program=PARLEY):
    result = subprocess.run([program, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, **(env or {})})
    if report := sanitizer_report(result.stderr):
        raise AssertionError(f"{arguments}: {result.returncode}\n{report}")
    if check and result.returncode != 0:
        raise AssertionError(f"{arguments}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result


def certificate(folder, name, file=None, valid=(0, 365 * 86400), ca=None):
    """KEY and PEM of a certificate with any dates (seconds from now, length) and issuer, which no honest program would make."""
    file = pathlib.Path(folder) / (file or name)
    key, pem = f"{file}.key", f"{file}.pem"
    run("certificate", name, key, pem, *valid, *(ca or ()), cwd=folder, program=STRANGER)
    return key, pem


def read_json(file):
    """For written(): numbers with a point keep their text."""
    return json.loads(file.read_text(), parse_float=lambda text: f"\0{text}\0")


WHY_VOID = "a party of this run may have released more than is known"


def no_epsilon(case, folder, party):
    """run.json and the models of this folder say no number for ε of a run in which a claim of this party is void (R14)."""
    head = json.loads((folder / "run.json").read_text())
    models = [json.loads(file.read_text()) for name in ("model.json", "own_model.json") if (file := folder / name).exists()]
    for document in (head, *models):
        said = document["privacy"]
        case.assertEqual([key for key, value in said.items() if key.startswith("epsilon") and isinstance(value, (int, float))], [], said)
        case.assertEqual((said["private"], said["stamp"][:11], said["stamp"].split("; ")[-1].removeprefix("NOT PRIVATE: ")), (False, "NOT PRIVATE", WHY_VOID))
    for model in models:
        case.assertEqual(model["not_private"][-1:], [WHY_VOID])
    names = [p["name"] for p in head["study"]["parties"]]
    for fact in head["node_facts"]:
        case.assertEqual(fact["epsilon_planned"] is None, names[fact["node"]] == party, fact)


def withdraw(folder, *parties, **says):
    """A record as the program writes it where the claims of these parties are void, with what else run.json says."""
    for file in [folder / name for name in ("run.json", "model.json", "own_model.json") if (folder / name).exists()]:
        document = read_json(file)
        said = document["privacy"]
        said.update({key: None for key in said if key.startswith("epsilon") and key != "epsilon_paper_absent"})
        if WHY_VOID not in said["stamp"]:
            said.update(private=False, stamp=said["stamp"] + "; " + WHY_VOID if said["stamp"] else "NOT PRIVATE: " + WHY_VOID)
        if "not_private" in document:
            document["not_private"] = [why for why in document["not_private"] if why != WHY_VOID] + [WHY_VOID]
        else:
            document.update(says)
            for fact, party in zip(document["node_facts"], document["study"]["parties"]):
                if party["name"] in parties:
                    fact.update(epsilon_planned=None, epsilon_all_others_planned=None)
        file.write_text(written(document))


def written(document, indent=1):
    """As the program writes a document, byte for byte."""
    text = json.dumps(document, indent=indent, sort_keys=True, ensure_ascii=False, separators=(",", ":" if indent is None else ": "))
    return re.sub(r'"\\u0000(.*?)\\u0000"', r"\1", text) + "\n"


def rechain(ledger, change):
    """Makes a whole chain again, as whoever may write the file can (docs/approve/ledger.md), and with it the memory beside it. change(kind, run,
    body) changes the body of an entry and says whether it did. Whether any was changed."""
    number = lambda n: struct.pack("<q", n)
    text = lambda t: number(len(t.encode())) + t.encode()
    db = sqlite3.connect(ledger)
    db.executescript("DROP TRIGGER no_update; DROP TRIGGER no_delete;")
    before, first, changed = bytes(32), None, False
    entries = db.execute("SELECT sequence, kind, run, node, round, body, released_hash FROM entry ORDER BY sequence").fetchall()
    for sequence, kind, run_id, node, round, body, released_hash in entries:
        document = json.loads(body)
        if change(kind, run_id, document):
            body, changed = json.dumps(document), True
        before = hashlib.sha256(b"parley ledger 1" + before + number(sequence) + text(kind) + text(run_id) + number(node) + number(round) + text(body) + released_hash).digest()
        first = first or before
        db.execute("UPDATE entry SET body = ?, hash = ? WHERE sequence = ?", (body, before, sequence))
    db.executescript("CREATE TRIGGER no_update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
                     "CREATE TRIGGER no_delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;")
    db.commit()
    db.close()
    memory = pathlib.Path(f"{ledger}.newest-head")
    words = memory.read_text()
    kept = words[:words.index("\nledger ") + 1] + f"ledger {first.hex()}\nentries {len(entries):020}\nhead {before.hex()}\n"
    memory.write_text(kept + f"checksum {hashlib.sha256(kept.encode()).hexdigest()}\n")
    return changed


class Stranger:
    """Calls a party with whatever identity: (key, pem), ("none",) or ("plain",)."""

    def __init__(self, address, *identity):
        self.process = subprocess.Popen([STRANGER, "call", address, *identity], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()

    def send(self, data, sign=False, times=1):
        self.process.stdin.write(f"{times} {'sign' if sign else 'raw'} {data.hex()}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class Study:
    """One folder per party under `base`, each with its own key, rows, ledger and copy of the study."""

    def __init__(self, base, algorithm="mr-admm", parties=3, rows=100, rounds=6, seed=3, graph="ring", deadline=1.0, wait=60.0, epsilon=2, delta=1e-6, options=(), names=None,
                 hosts=None, cap="unlimited", schema="census", tables=None):
        self.base, self.algorithm, self.rounds = pathlib.Path(base), algorithm, rounds
        self.star = algorithm in ("star-admm", "star-pvp", "dp-admm")
        self.sums = algorithm in ("newton", "dp-gd")
        self.graph = "auto" if self.star else graph
        self.last_round = 2 * rounds if self.star else rounds + 1 if self.sums else rounds  # of messages
        self.names = names or ["hospital_" + "abcdefghij"[i] for i in range(parties)]
        self.all = self.names + (["coordinator"] if self.star else [])
        ports = free_ports(len(self.all))
        self.addresses = {n: f"{(hosts or {}).get(n, '127.0.0.1')}:{p}" for n, p in zip(self.all, ports)}
        shared = self.base / "shared"
        shared.mkdir(parents=True)
        run("data", "schema", schema, "--out", shared / "schema.toml", cwd=shared)
        run("study", "new", "study.toml", cwd=shared)
        self.set(shared / "study.toml", title='"a test"', graph=f'"{self.graph}"', algorithm=f'"{algorithm}"', rounds=rounds,
                 epsilon=float(epsilon) if epsilon else '', delta=delta if epsilon else '', deadline_seconds=deadline, wait_seconds=wait, seed=seed, loss_weight=20.0,
                 **{"noise": None if epsilon else '"none"', **dict(options)})
        for i, name in enumerate(self.all):
            folder = self.base / name
            folder.mkdir()
            run("keys", "new", name, cwd=folder)
            if tables:
                (folder / "mine.csv").write_text("\n".join(tables[i]) + "\n")
            invited = ("--trainer",) if name == "coordinator" else ("--records", len(tables[i]) - 1 if tables else rows)
            if name != "coordinator" and not tables:
                run("data", "generate", "census", "--rows", rows, "--split-seed", i + 1, "--out", "mine.csv", cwd=folder)
            run("study", "invite", shared / "study.toml", "--name", name, "--address", self.addresses[name], "--certificate", folder / f"{name}.pem", *invited, cwd=folder)
            run("ledger", "cap", "my.ledger", "--dataset", name, "--epsilon", *(("unlimited",) if cap == "unlimited" else cap), cwd=folder)
        for name in self.all:
            for file in ("study.toml", "schema.toml"):
                shutil.copy(shared / file, self.base / name)

    @staticmethod
    def set(file, **values):
        text = file.read_text()
        for key, value in values.items():
            if value is None:
                continue
            name = key.replace("_", "-")
            line = f"{name} = {value}" if value != "" else ""
            if re.search(rf"(?m)^#? ?{name} = .*$", text):
                text = re.sub(rf"(?m)^#? ?{name} = .*$", line, text)
            else:
                text = text.replace("# --- deadlines", line + "\n\n# --- deadlines", 1)
        file.write_text(text)

    def command(self, name, *more):
        data = () if name == "coordinator" else ("--data", "mine.csv")
        return ["join", "study.toml", "--as", name, *data, "--ledger", "my.ledger", "--out", "out", "--threads", "1", "--json", *more]

    def start(self, name, *more, program=PARLEY, env=None, prefix=()):
        with open(self.base / name / "log", "a") as log:
            return subprocess.Popen([*prefix, program, *map(str, self.command(name, *more))], cwd=self.base / name, stdout=subprocess.PIPE, stderr=log, text=True,
                                    env={**os.environ, **(env or {})})

    def log(self, name):
        return (self.base / name / "log").read_text()

    def await_log(self, name, text):
        """Until this party has said so."""
        self.until(lambda: (self.base / name / "log").exists() and text in self.log(name), f"{name} says '{text}'")

    def until(self, condition, what):
        """Looks again and again; fails when it takes too long, or at once when a sanitizer reports."""
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assert_no_report()
            if time.monotonic() > end:
                raise AssertionError(f"not in {PATIENCE} s: {what}\n" + self.logs())
            time.sleep(0.005)

    def rounds_of(self, name):
        """Lines in its record so far: the start's, and one for each round."""
        file = self.out(name, "rounds.jsonl")
        return file.read_bytes().count(b"\n") if file.exists() else 0

    def assert_no_report(self):
        for name in self.all:
            if (self.base / name / "log").exists() and sanitizer_report(self.log(name)):
                before = ""
                for _ in range(20):  # until all of it is written; who hangs then fails all the same
                    if before == self.log(name):
                        break
                    before = self.log(name)
                    time.sleep(1)
                raise AssertionError(f"{name}: {sanitizer_report(self.log(name))}")

    def logs(self):
        return "\n".join(f"== {n}\n{self.log(n)}" for n in self.all if (self.base / n / "log").exists())

    def out(self, name, file):
        return self.base / name / "out" / file

    def keep(self):
        """Remembers the ledgers as they are, for fresh()."""
        for name in self.all:
            (self.base / name / "kept").mkdir()
            for file in (self.base / name).glob("my.ledger*"):
                shutil.copy(file, self.base / name / "kept")

    def fresh(self):
        """Back to before anybody joined."""
        for name in self.all:
            shutil.rmtree(self.base / name / "out", ignore_errors=True)
            for file in [*(self.base / name).glob("my.ledger*"), *(self.base / name).glob("out*.noise-key"), *(self.base / name).glob("*.abandoned"), self.base / name / "log"]:
                file.unlink(missing_ok=True)
            for file in (self.base / name / "kept").iterdir():
                shutil.copy(file, self.base / name)

    def charges(self, name):
        """{round: (charge, released bytes)} of a party that may have been killed: from a copy, so that nothing is repaired."""
        with tempfile.TemporaryDirectory(dir=MEMORY) as copy:
            for file in ("my.ledger", "my.ledger-wal"):
                if (self.base / name / file).exists():
                    shutil.copy(self.base / name / file, copy)
            db = sqlite3.connect(pathlib.Path(copy) / "my.ledger")
            rows = db.execute("SELECT round, body, released FROM entry WHERE kind = 'charge' ORDER BY sequence").fetchall()
            db.close()
        found = {r: (body, bytes(released or b"")) for r, body, released in rows}
        assert len(found) == len(rows), f"{name} was charged twice for a round: {[r[0] for r in rows]}"
        return found

    def spend(self, name):
        """What its ledger says: per dataset, and of the run."""
        shown = json.loads(run("ledger", "show", "my.ledger", "--json", cwd=self.base / name).stdout)
        return ([(d["dataset"], d["epsilon"], d["infinite"]) for d in shown["datasets"]],
                [[(a["node"], a["rounds_released"], a["charges"], a["epsilon"]) for a in r["accounts"]] for r in shown["runs"]])

    def alone(self):
        """The same study in simulation: the folder of its record."""
        out = self.base / "simulated"
        if out.exists():
            return out
        options = json.loads(run("study", "check", "study.toml", "--json", cwd=self.base / self.names[0]).stdout)
        given = options["study"]["options"]
        command = ["train", "--data", ",".join(str(self.base / n / "mine.csv") for n in self.names), "--schema", self.base / "shared/schema.toml", "--test-share", 0, "--seed",
                   options["study"]["seed"], "--out", out, "--quiet", "--graph", self.graph]
        for key in ("algorithm", "rounds", "epsilon", "delta", "loss-weight", "class-weight", "colluders"):
            value = given[key][0] if isinstance(given[key], list) and given[key] else given[key]
            if value not in (None, []):
                command += ["--" + key, value]
        if not given["epsilon"]:
            command += ["--noise", "none"]
        run(*command, cwd=self.base)
        return out


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(dir=MEMORY, prefix="parley-mesh-")
        self.dir = pathlib.Path(self.temporary.name)
        self.processes = {}

    def end_all(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
            process.communicate()

    def tearDown(self):
        self.end_all()
        reports = [report for log in self.dir.rglob("log") if (report := sanitizer_report(log.read_text()))]
        self.temporary.cleanup()
        self.assertEqual(reports, [])

    def start(self, study, name, *more, **kw):
        if name in self.processes:
            self.processes[name].stdout.close()
        self.processes[name] = study.start(name, *more, **kw)

    def lose(self, study, name):
        """This party dies and comes back with an empty disk, so it is refused and says goodbye: the others lose it without a timer. Its
        disk is then found again. (Lost by silence alone, under a fake clock: protocol/loss_test.cpp.)"""
        self.processes[name].kill()
        self.processes[name].wait()
        folder, disk = study.base / name, study.base / (name + ".disk")
        files = lambda: [*folder.glob("my.ledger*"), *folder.glob("out*.noise-key"), folder / "out"]
        disk.mkdir()
        for file in files():
            file.rename(disk / file.name)
        run("ledger", "cap", "my.ledger", "--dataset", name, "--epsilon", "unlimited", cwd=folder)
        self.start(study, name)
        (code, result), = self.results(study, [name]).values()
        self.assertEqual((code, result["outcome"]), (5, "refused"), study.logs())
        for file in files():
            shutil.rmtree(file) if file.is_dir() else file.unlink()
        for file in disk.iterdir():
            file.rename(folder / file.name)
        disk.rmdir()

    def start_all(self, study, names=None):
        for name in names or study.all:
            self.start(study, name)

    def exit_of(self, study, name):
        """The exit code of this party's process, once it has ended."""
        study.until(lambda: self.processes[name].poll() is not None, f"{name} ends")
        study.assert_no_report()
        return self.processes[name].returncode

    def await_rounds(self, study, name, lines):
        """Until its record has so many lines, while it runs."""
        def there():
            self.assertIsNone(self.processes[name].poll(), study.logs())
            return study.rounds_of(name) >= lines
        study.until(there, f"{name} has {lines} lines of rounds")

    def results(self, study, names=None):
        """Each party's exit code and JSON, once it has ended."""
        found = {}
        for name in names or study.all:
            code = self.exit_of(study, name)
            out, _ = self.processes[name].communicate(timeout=PATIENCE)  # a few lines, which a pipe holds
            found[name] = (code, json.loads(out) if out.strip() else None)
        return found

    def assert_completed(self, study, found=None):
        for name, (code, result) in (found or self.results(study)).items():
            self.assertIn(code, (0, 6), f"{name}: {code}\n" + study.logs())  # 6: a process before it had the model
            self.assertEqual(result["outcome"], "completed")

    def released(self, study):
        """[round][node] → bytes."""
        columns = []
        for name in study.all:
            shape = json.loads(study.out(name, "run.json").read_text())["released"]
            columns.append([values for values, in by_round(study.out(name, "released.f64").read_bytes(), shape)])
        return [list(values) for values in zip(*columns, strict=True)]

    def assert_same_as_simulation(self, study):
        alone = study.alone()
        shape = json.loads((alone / "run.json").read_text())["released"]
        expected = list(by_round((alone / "released.f64").read_bytes(), shape))
        self.assertEqual(self.released(study) == expected, True, "other released values than in simulation")
        weights = json.loads((alone / "model.json").read_text())["weights"]
        models = [study.out(n, "model.json").read_bytes() for n in study.all]
        self.assertTrue(all(m == models[0] for m in models), "parties with different models")
        self.assertEqual(json.loads(models[0])["weights"], weights)

    def assert_paid(self, study, senders=None):
        """What anybody has stored of a party was paid for by that party, bit for bit, and is one value per round. How many messages were compared."""
        said = {name: list(wire.values(study.out(name, "transcript"))) for name in study.all}  # before the ledgers: they may go on
        paid = {name: study.charges(name) for name in senders or study.all}
        compared = 0
        for name, messages in said.items():
            for m in messages:
                if m.sender in paid:
                    compared += 1
                    self.assertIn(m.round, paid[m.sender], f"{name} has round {m.round} of {m.sender}, which was not paid")
                    self.assertEqual(m.payload, paid[m.sender][m.round][1], f"{name} has another round {m.round} of {m.sender} than was paid")
        return compared

    def assert_spend(self, study):
        """Every ledger has each round once, as an uninterrupted run would."""
        for name in study.all:
            shown = json.loads(run("ledger", "show", "my.ledger", "--json", cwd=study.base / name).stdout)
            self.assertEqual(len(shown["runs"]), 1, name)
            account = shown["runs"][0]["accounts"][0]
            self.assertEqual(account["rounds_released"], study.last_round + 1, name)
            run("ledger", "verify", "my.ledger", "out", cwd=study.base / name)
