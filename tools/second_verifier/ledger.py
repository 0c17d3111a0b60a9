"""The owner's ledger, from docs/check/ledger-file.md and docs/proofs/composition.md. It is read in a copy: nothing is repaired or locked."""
import hashlib
import json
import pathlib
import shutil
import sqlite3
import struct
import tempfile
from dataclasses import dataclass, field

from second_verifier.accounting import price, same_number

KNOWN = {"ledger", "cap", "run", "process", "charge", "failed", "accused", "accepted"}


@dataclass
class Ledger:
    name: str
    wrong: list = field(default_factory=list)
    heads: list = field(default_factory=list)
    runs: dict = field(default_factory=dict)     # id → body
    charges: dict = field(default_factory=dict)  # (run, node, round) → (body, released)
    accepted: list = field(default_factory=list)
    accused: bool = False


def number(n):
    return struct.pack("<q", n)


def text(t):
    return number(len(t.encode())) + t.encode()


def read_ledger(file):
    found = Ledger(str(file))
    with tempfile.TemporaryDirectory() as folder:
        for end in ("", "-wal"):
            if pathlib.Path(f"{file}{end}").exists():
                shutil.copy(f"{file}{end}", pathlib.Path(folder) / f"ledger{end}")
        db = sqlite3.connect(pathlib.Path(folder) / "ledger")
        try:
            rows = db.execute("SELECT sequence, kind, run, node, round, body, released_hash, hash, released FROM entry ORDER BY sequence").fetchall()
        except sqlite3.Error as e:
            found.wrong.append(f"{file}: this is no ledger: {e}")
            return found
        finally:
            db.close()
    before = bytes(32)
    for at, (sequence, kind, run, node, round_, body, released_hash, hash_, released) in enumerate(rows, 1):
        before = hashlib.sha256(b"parley ledger 1" + before + number(sequence) + text(kind) + text(run) + number(node) + number(round_) + text(body) + released_hash).digest()
        if sequence != at or before != hash_ or kind not in KNOWN:
            found.wrong.append(f"{file}: entry {at} does not follow from the one before")
            return found
        if hashlib.sha256(released or b"").digest() != released_hash:
            found.wrong.append(f"{file}: entry {at} holds another value than its checksum")
        found.heads.append(before.hex())
        document = json.loads(body)
        if kind == "run":
            found.runs[run] = document
        elif kind in ("charge", "failed"):
            if kind == "charge" and (run, node, round_) in found.charges:
                found.wrong.append(f"{file}: round {round_} was charged twice")
            found.charges[run, node, round_] = (document, bytes(released or b""))
            check_price(found, at, document)
        elif kind in ("accused", "accepted"):
            found.accused = kind == "accused"
            found.accepted += [document.get("reason", "")] if kind == "accepted" else []
    if found.accused:
        found.wrong.append(f"{file}: it was proved to be older than what was released, and its owner has not accepted it")
    return found


def check_price(found, at, charge):
    due = price(charge.get("kind"), charge.get("parameters", {}))
    if due is None:
        found.wrong.append(f"{found.name}: entry {at} has a charge that no theorem covers ({charge.get('kind')})")
        return
    for name, least in zip(("epsilon", "mu", "mu_colluders"), due):
        if name in charge and charge[name] < least * (1 - 1e-9):
            found.wrong.append(f"{found.name}: entry {at} charges {name} {charge[name]}, and its price is {least}")


def ledger_wrong(ledger, record, study, part, node, values, budget):
    """Of one part: its registration, a charge for each value, the value itself, the price of the whole."""
    me, wrong = record.party, []
    run = ledger.runs.get(part.run)
    if run is None:
        return [f"{me}: {ledger.name} does not know run {part.run}"]
    if run.get("configuration") != part.configuration:
        wrong.append(f"{me}: in {ledger.name} the run is registered with the configuration {run.get('configuration')}")
    if bool(run.get("not_private")) != bool(study.not_private):
        wrong.append(f"{me}: in {ledger.name} the run is registered with another stamp NOT PRIVATE than follows")
    mine = part.nodes.index(node)
    if study.records[node] and not any(d.get("records") == study.records[node] for d in run.get("datasets", [])):
        wrong.append(f"{me}: in {ledger.name} the run is registered with another number of records than the study's {study.records[node]}")
    for r, value in enumerate(values):
        charge = ledger.charges.get((part.run, mine, r))
        if charge is None:
            wrong.append(f"{me}, round {r}: {ledger.name} has no charge for it")
        elif charge[1] != value:
            wrong.append(f"{me}, round {r}: {ledger.name} holds another value than was released")
        elif budget and not same_number(charge[0].get("epsilon") if budget[2] else charge[0].get("mu_colluders", charge[0]["mu"]) ** 2, budget[0][r]):
            wrong.append(f"{me}, round {r}: {ledger.name} has another charge than was planned")
    head = record.run.get("ledger_head") or {}
    if part.number == 1 and ledger.heads and not ledger.accepted:
        if head.get("ledger") not in (None, ledger.heads[0]):
            wrong.append(f"{me}: its record was made with another ledger than {ledger.name}")
        elif head.get("head") not in (None, *ledger.heads):
            wrong.append(f"{me}: its record names a head that the chain of {ledger.name} never had: the chain was written anew")
    return wrong
