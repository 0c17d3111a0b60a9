"""What a record says of itself: run.json, rounds.jsonl, statement.json, the models. docs/check/record.md, docs/check/verify.md."""
import hashlib
import json
import re
import struct

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from second_verifier.accounting import same_number
from second_verifier.documents import canonical, read_json, written
from second_verifier.messages import signature_holds
from second_verifier.plan import kind_in_part

STATES_NOTHING = {"running", "past_unknown", "equivocation", "contradicted"}


def files_wrong(record, study):
    """Files that no party writes, and JSON that is not byte for byte what the program writes."""
    wrong = [f"{record.party}: its record holds {name}, which no party writes there" for name in record.strange]
    if not study.options.get("intervals") and record.bytes("coefficients.csv") is not None:
        wrong.append(f"{record.party}: its record holds coefficients.csv, which no party writes there")
    for name in ("run.json", "model.json", "own_model.json", "statement.json"):
        data = record.bytes(name)
        if data is None:
            continue
        try:
            due = (written(data.decode(), 1) + "\n").encode()
        except ValueError as e:
            wrong.append(f"{record.party}: {name} cannot be read as the program writes it: {e}")
            continue
        if data != due:
            at = next((i for i, (a, b) in enumerate(zip(data, due)) if a != b), min(len(data), len(due)))
            wrong.append(f"{record.party}: {name} is not byte for byte what the program writes: it differs from byte {at}")
    return wrong


def lines_wrong(record, study, part, line_epsilon, values):
    """rounds.jsonl: a line for each round, its kind, and ε as follows. line_epsilon: of each round (ours, everybody's), None: not computed."""
    data = record.bytes("rounds.jsonl") or b""
    node, me, wrong = study.names.index(record.party), record.party, []
    lines = data.decode("utf-8", "replace").split("\n")
    try:
        told = [read_json(line) for line in lines[:-1]]
    except ValueError:
        told = None
    if told is None or lines[-1] or [t.get("round") for t in told] != list(range(len(told))):
        return [f"{me}: rounds.jsonl holds something else than a line for each round"]
    if len(told) != values:
        wrong.append(f"{me}: rounds.jsonl has {len(told)} rounds, and released.f64 {values}")
    for r, (line, t) in enumerate(zip(lines, told)):
        if r > part.last_round:
            break
        if written(line, None) != line:
            wrong.append(f"{me}, round {r}: its line in rounds.jsonl is not byte for byte what the program writes")
        if t.get("kind") != kind_in_part(study, part, node, r):
            wrong.append(f"{me}, round {r}: rounds.jsonl says {t.get('kind')}, and {kind_in_part(study, part, node, r)} follows")
        if line_epsilon:
            ours, everybody = line_epsilon[r]
            if not same_number(t.get("epsilon"), ours):
                wrong.append(f"{me}, round {r}: rounds.jsonl says epsilon {t.get('epsilon')}, and {ours:.7g} follows")
            if everybody is not None and not same_number(t.get("epsilon_all_others"), everybody):
                wrong.append(f"{me}, round {r}: rounds.jsonl says epsilon_all_others {t.get('epsilon_all_others')}, and {everybody:.7g} follows")
    return wrong


def statement_wrong(record, study, expected):
    """(wrong, the statement). expected: {key: what follows}; numbers with a fraction are compared to six digits."""
    me, data = record.party, record.bytes("statement.json")
    if data is None:
        missing = record.outcome == "completed"
        return ([f"{me}: statement.json is missing, and its record says that the run was completed"] if missing else []), None
    try:
        text = data.decode()
        document = read_json(text)
        statement = document["statement"]
        certificate = x509.load_pem_x509_certificate(document["certificate"].encode())
        signature = bytes.fromhex(document["signature"])
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        return [f"{me}: statement.json cannot be read as the program writes it: {e}"], None
    wrong = []
    if certificate != study.certificates[me] or document["certificate"].count("BEGIN CERTIFICATE") != 1:
        pinned = hashlib.sha256(study.certificates[me].public_bytes(Encoding.DER)).hexdigest()
        wrong.append(f"{me}: statement.json holds another certificate than the one that the roster pins ({pinned[:16]}…)")
    signed = written(json_part(text, "statement"), None).encode()
    if not signature_holds(study.keys[me], signature, b"parley signature 1\n" + signed):
        wrong.append(f"{me}: the signature of statement.json does not hold")
    for key, due in expected.items():
        said = statement.get(key)
        if said != due and not (isinstance(due, float) and not isinstance(said, bool) and same_number(said, due)):
            wrong.append(f"{me}: its statement says {key} = {said}, and {due} follows")
    return wrong, statement


def json_part(text, name):
    """The text of one member, with its numbers as they stand."""
    marked = read_json(text, parse_float=lambda t: f"\0{t}\0")[name]
    return re.sub(r'"\\u0000(.*?)\\u0000"', r"\1", json.dumps(marked))


def model_wrong(record, name, due, follows_from):
    """Weights, number for number."""
    data = record.bytes(name)
    if data is None:
        return [f"{record.party}: {name} is missing, and its record says that the run was completed"]
    try:
        weights = read_json(data.decode())["weights"]
        flat = [x for row in weights for x in row] if weights and isinstance(weights[0], list) else weights
        said = struct.pack(f"<{len(flat)}d", *flat)
    except (ValueError, KeyError, TypeError, struct.error) as e:
        return [f"{record.party}: {name} cannot be read as the program writes it: {e}"]
    return [] if said == due else [f"{record.party}: the weights in {name} do not follow from {follows_from}"]


def study_of(record):
    """(what run.json repeats of the study, its hash computed anew)."""
    return record.run["study"], hashlib.sha256(canonical(record.run_text, "study").encode()).hexdigest()
