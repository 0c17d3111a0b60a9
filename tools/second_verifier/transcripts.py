"""What one transcript holds, and whether a receiver would have taken it: docs/check/protocol.md, protocol-refusals.md, protocol-transcript.md,
protocol-end.md, protocol-sums.md. Nodes are those of the study; messages carry those of the part."""
import hashlib
import json
import math
import struct
from dataclasses import dataclass, field

from second_verifier.messages import (CONSENT, EVIDENCE, FINAL, HELLO, KINDS, LOSS, NOISE_KEY, RECEIVED, SEAL, SENT, SILENT, VALUE, ZERO, Broken, next_head,
                                      seal_of, signed_by, transcript_of)
from second_verifier.plan import kind_in_part

FINEST = 2.0**-40


@dataclass
class Part:
    """Of the whole run, or of what the survivors of a loss agreed on."""
    number: int
    run: str
    configuration: str
    nodes: list
    edges: list
    after_round: int
    last_round: int
    left_after: int | None = None  # the round from which the survivors went on
    penalty: dict = field(default_factory=dict)
    values: dict = field(default_factory=dict)    # {node: {round: bytes}}: the first that was found
    released: dict = field(default_factory=dict)  # {node: rounds}, the most that anybody has signed
    views: dict = field(default_factory=dict)     # {node: the same of its own transcript}
    finals: dict = field(default_factory=dict)    # {node: (who has it, message)}
    seals: dict = field(default_factory=dict)
    statements: dict = field(default_factory=dict)
    consents: dict = field(default_factory=dict)
    keys: dict = field(default_factory=dict)

    def seen_by(self, node):
        return self.views.get(node, self.values)

    @property
    def end(self):
        """The last round that counts."""
        return self.last_round if self.left_after is None else self.left_after

    def neighbours(self, node):
        return sorted({b if a == node else a for a, b in self.edges if node in (a, b)})


@dataclass
class Held:
    """By (sender, round): what this transcript holds."""
    values: dict = field(default_factory=dict)
    finals: dict = field(default_factory=dict)
    seals: dict = field(default_factory=dict)
    statements: dict = field(default_factory=dict)
    consents: dict = field(default_factory=dict)
    keys: dict = field(default_factory=dict)
    contradicted: set = field(default_factory=set)
    messages: int = 0
    whole: bool = False


def name_of(m):
    return f"round {m.round} of {m.sender}" if m.kind in (VALUE, SILENT) else f"the {'final iterate' if m.kind == FINAL else KINDS[m.kind]} of {m.sender}"


class Reading:
    """One transcript, entry by entry. What is wrong is named as this record's fault."""

    def __init__(self, study, part, record, data, completed):
        self.study, self.part, self.record, self.completed = study, part, record, completed
        self.me = study.names.index(record.party)
        self.near = part.neighbours(self.me)
        self.all = [n for n in part.nodes if n != self.me]
        self.heard = self.all if study.sums else self.near  # whose values this party needs
        self.held, self.wrong, self.heads, self.hellos, self.evidence = Held(), [], {}, set(), []
        try:
            owner, entries = transcript_of(data)
        except Broken as e:
            self.wrong.append(f"{record.party}: {e}")
            return
        if owner != f"run {part.run} configuration {part.configuration} party {record.party}":
            self.wrong.append(f"{record.party}: its transcript is of another run or party: {owner}")
            return
        for kind, m in entries:
            self.held.messages += 1
            if problem := self.inspected(kind, m):
                self.wrong.append(f"{record.party}: in its transcript {name_of(m)} does not hold: {problem}")
            elif kind == EVIDENCE:
                self.evidence.append(m)
            elif problem := self.kept(kind, m):
                self.wrong.append(f"{record.party}: in its transcript {name_of(m)} {problem}")
            if self.wrong:  # what stands behind a fault says nothing
                return
        self.held.whole = True
        for m in self.evidence:
            self.judge(m)
        self.check_days()
        self.check_complete()

    def inspected(self, kind, m):
        study, part = self.study, self.part
        if m.sender not in study.names or (node := study.names.index(m.sender)) not in part.nodes or part.nodes.index(node) != m.node:
            return "sender: no party of this part with this node"
        if (kind == SENT) != (node == self.me) and kind != EVIDENCE:
            return "sender: another than the kind of its entry says"
        if not signed_by(study.keys[m.sender], m):
            return f"signature: not that of {m.sender}"
        if m.run != part.run or m.configuration != part.configuration:
            return "run: another run or configuration"
        if m.kind in (VALUE, SILENT) and not 0 <= m.round <= part.last_round:
            return f"round: the last one is {part.last_round}"
        if m.kind in (VALUE, SILENT) and (m.kind == SILENT) != (kind_in_part(study, part, node, m.round) == "silent"):
            return "kind: it is the other side's turn"
        if m.kind in (VALUE, FINAL):
            return self.number_problem(m, node)
        if m.kind == SILENT and m.payload:
            return "payload: a silent round has none"
        if m.kind == SEAL and len(m.payload) != 32 or m.kind == NOISE_KEY and len(m.payload) != 40:
            return "payload: another size"
        return ""

    def number_problem(self, m, node):
        study, size = self.study, self.study.size
        if m.kind == VALUE and m.round == 1 and study.algorithm == "newton" and self.part.number == 1 and study.rounds > 0:
            size += study.size if study.option("curvature") == "diagonal" else study.size * (study.size + 1) // 2
        elif m.kind == VALUE and study.options.get("intervals") and m.round == self.part.last_round - 1:
            size = len(m.payload) // 8
        if len(m.payload) != 8 * size:
            return f"payload: {len(m.payload)} bytes, and {size} numbers are due"
        bound = float(study.option("release-bound"))
        # The mean of values on a grid is on none; a value computed from rows lies on a grid that is no finer than that of free ones.
        exact = m.kind == VALUE
        for i, x in enumerate(struct.unpack(f"<{size}d", m.payload)):
            if not math.isfinite(x):
                return f"payload: coordinate {i} is not finite"
            if abs(x) > bound:
                return f"payload: coordinate {i} is {x!r}, and the public bound is {bound!r}"
            if exact and (x / FINEST) % 1:
                return f"payload: coordinate {i} is {x!r}, no multiple of 2^-40"
        return ""

    def kept(self, kind, m):
        held, node = self.held, self.study.names.index(m.sender)
        if m.kind in (VALUE, SILENT):
            last, head = self.heads.get(node, (-1, ZERO))
            if (node, m.round) in held.values:
                return "" if held.values[node, m.round].same(m) else "is a second, different value"
            if m.round != last + 1:
                return f"does not hold: round: it follows round {last}"
            expected = next_head(head, m.run, m.node, m.round, m.payload)
            if m.head != expected:
                return "does not hold: head: it hides another past"
            if problem := self.order_problem(m, node):
                return problem
            self.heads[node] = (m.round, expected)
            held.values[node, m.round] = m
        elif m.kind == HELLO:
            self.hellos.add(node)
        elif m.kind in (FINAL, SEAL, LOSS, CONSENT, NOISE_KEY):
            place = {FINAL: held.finals, SEAL: held.seals, LOSS: held.statements, CONSENT: held.consents, NOISE_KEY: held.keys}[m.kind]
            if node in place and not place[node].same(m):
                return "is a second, different one"
            if node == self.me and (problem := self.own_word_problem(m)):
                return problem
            if node == self.me or node not in place:
                place[node] = m
        return ""

    def order_problem(self, m, node):
        """A round takes the round before of all that it needs, and every neighbour's hello stands before round 1."""
        if node == self.me:
            if m.round >= 1:
                for n in self.near:
                    if n not in self.hellos:
                        return f"stands before the hello of {self.study.names[n]}"
                if any(self.heads.get(n, (-1,))[0] < m.round - 1 for n in self.heard):
                    return "stands before values that it was computed from"
                if study_shares(self.study, self.part) and any(n not in self.held.keys for n in self.part.nodes):
                    return "stands before a key for shared noise"
                if self.me in self.held.statements:
                    return "stands behind the statement after which nothing is released"
        elif m.round >= 1 and self.heads.get(self.me, (-1,))[0] < m.round - 1:
            return "stands before the value that it was computed from"
        return ""

    def own_word_problem(self, m):
        if m.kind == FINAL and any(self.heads.get(n, (-1,))[0] < self.part.last_round for n in [self.me, *self.heard]):
            return "stands before the last round is complete"
        if m.kind == SEAL:
            origins = [self.study.trainer] if self.study.star else self.part.nodes
            if any(n not in self.held.finals for n in origins):
                return "stands before a final iterate that it is of"
        if m.kind == LOSS and (m.round, m.head) != self.heads.get(self.me, (-1, ZERO)):
            return "tells another last round or head than it has released"
        return ""

    def judge(self, m):
        """Evidence is a signature beside which something else of the same sender stands."""
        node, held, me = self.study.names.index(m.sender), self.held, self.record.party
        place = {FINAL: held.finals, SEAL: held.seals, LOSS: held.statements, CONSENT: held.consents, NOISE_KEY: held.keys}.get(m.kind)
        stored = held.values.get((node, m.round)) if m.kind in (VALUE, SILENT) else place.get(node) if place is not None else None
        if node == self.me:
            held.contradicted.add(node)
            self.wrong.append(f"{me}: it keeps a signature of its own that its ledger does not know of: {name_of(m)}")
        elif (stored and not stored.same(m)) or (m.kind in (HELLO, VALUE, SILENT) and self.other_process(m)):
            held.contradicted.add(node)
            self.wrong.append(f"{m.sender} contradicted itself: {me} was sent a second, different {name_of(m)}, signed")
        else:
            self.wrong.append(f"{me}: what it keeps as evidence against {m.sender}, {name_of(m)}, contradicts nothing in this record")

    def other_process(self, m):
        return any(o.sender == m.sender and o.incarnation == m.incarnation and o.nonce != m.nonce for o in self.held.values.values())

    def check_days(self):
        """Keys of one run are made within 30 days of each other (protocol-sums.md, section 15)."""
        days = {n: struct.unpack_from("<q", m.payload, 32)[0] for n, m in self.held.keys.items()}
        if len(days) == len(self.part.nodes):
            middle = sorted(days.values())[len(days) // 2]
            self.wrong += [f"{self.study.names[n]}: its key for shared noise is kept for longer, or less long, than the others are" for n, day in days.items()
                           if day < 0 or abs(day - middle) > 31 * 86400]

    def check_complete(self):
        """A completed run has all rounds, final iterates and equal seals of everybody."""
        held, names, me = self.held, self.study.names, self.record.party
        for n in self.heard:
            last, released = self.heads.get(n, (-1,))[0], self.heads.get(self.me, (-1,))[0]
            if last < released - 1:
                self.wrong.append(f"{me}, round {last + 2}: it was released, and the value of {names[n]} that it was computed from is not in its transcript")
        if not self.completed:
            return
        for n in [self.me, *self.heard]:
            if self.heads.get(n, (-1,))[0] < self.part.last_round:
                self.wrong.append(f"{me}, round {self.heads.get(n, (-1,))[0] + 1} of {names[n]}: missing in its transcript, and its record says that the run was completed")
        origins = [self.study.trainer] if self.study.star else self.part.nodes
        self.wrong += [f"{me}: the final iterate of {names[n]} is missing in its transcript" for n in origins if n not in held.finals]
        self.wrong += [f"{me}: the seal of {names[n]} is missing in its transcript" for n in self.part.nodes if n not in held.seals]
        if all(n in held.finals for n in origins):
            due = seal_of({self.part.nodes.index(n): (held.finals[n].head, held.finals[n].payload) for n in origins})
            for n, m in held.seals.items():
                if m.payload != due:
                    self.wrong.append(f"{me}: the seal of {names[n]} in its transcript is not that of the final iterates there")
        for n, m in [*held.finals.items(), *held.seals.items()]:
            if n in self.heads and self.heads[n] != (m.round, m.head):
                self.wrong.append(f"{me}: in its transcript {name_of(m)} has another head than the values of {names[n]}")


def study_shares(study, part):
    """Noise cancels: fewer colluders than others, and two holders of records beside them."""
    c = study.options.get("colluders")
    return c is not None and len([n for n in part.nodes if study.records[n]]) - int(c) >= 2


# --- after a loss -----------------------------------------------------------------------------------------------------------

def lost_of(m):
    count, = struct.unpack_from("<H", m.payload)
    return list(struct.unpack_from(f"<{count}i", m.payload, 2))


def consent_of(m):
    """(agrees, members by node of the part, configuration, digest of values)."""
    agrees, count = m.payload[0], struct.unpack_from("<H", m.payload, 1)[0]
    members = list(struct.unpack_from(f"<{count}i", m.payload, 3))
    at = 3 + 4 * count
    size = m.payload[at]
    return agrees == 1, members, m.payload[at + 1:at + 1 + size].decode("ascii", "replace"), m.payload[at + 1 + size:at + 33 + size]


def statements_id(part, members, statements):
    """protocol-parts.md: the head of each consent. members: nodes of the part; statements: {node of the part: message}."""
    data = b"parley survivors 1" + b"\x00" + bytes([len(part.run)]) + part.run.encode()
    for n in sorted(members):
        m, lost = statements[n], sorted(lost_of(statements[n]))
        data += b"\x01\x00" + struct.pack("<ii", n, m.round) + m.head + bytes(4) + bytes(16) + struct.pack("<i", -1) + struct.pack("<H", len(lost))
        data += b"".join(struct.pack("<i", x) for x in lost)
    return hashlib.sha256(data).digest()


def next_part(study, part, told, text, statements):
    """(Part, what is wrong with it) of what run.json of a later part says of it, from the statements: {node of the study: message}."""
    at = {n: part.nodes.index(n) for n in part.nodes}
    names = [p["name"] for p in told["parties"]]
    if any(n not in study.names for n in names):
        return None, ["it names a party that the study has not"]
    nodes, wrong = [study.names.index(n) for n in names], []
    by_place = {at[n]: m for n, m in statements.items()}
    lost = {frozenset((p, x)) for p, m in by_place.items() for x in lost_of(m)}
    edges = [e for e in part.edges if frozenset((at[e[0]], at[e[1]])) not in lost and e[0] in statements and e[1] in statements]
    reached, fresh = set(nodes[:1]), set(nodes[:1])
    while fresh:
        fresh = {b for a, b in edges + [(b, a) for a, b in edges] if a in fresh} - reached
        reached |= fresh
    if reached != set(nodes) or 2 * len(nodes) <= len(part.nodes) or any(n not in statements for n in nodes):
        return None, ["who goes on does not follow from the statements, or is not more than half"]
    k = min(statements[n].round for n in nodes)
    if (study.star or study.algorithm in ("r-admm", "mr-admm")) and k != part.last_round:
        k -= k % 2
    kept = [e for e in edges if e[0] in nodes and e[1] in nodes]
    if told["after_round"] != k:
        wrong.append(f"it goes on after round {told['after_round']}, and {k} follows from the statements")
    if {frozenset(e) for e in told["edges"]} != {frozenset(study.names[i] for i in e) for e in kept}:
        wrong.append("its edges do not follow from the statements")
    if told["after"] != {"run": part.run, "configuration": part.configuration} or told["part"] != part.number + 1 or told["rounds"] not in (part.last_round - k, 0):
        wrong.append("its part, rounds or the part before do not follow")
    if [p["released"] for p in told["parties"]] != [statements[n].round for n in nodes]:
        wrong.append("it tells other last rounds than were signed")
    if told["statements"] != statements_id(part, [at[n] for n in nodes], by_place).hex():
        wrong.append("its id does not follow from the statements")
    configuration = hashlib.sha256(text.encode()).hexdigest()
    penalty = {n: float(p["penalty"]) or None for n, p in zip([n for n in nodes if study.records[n]], told["planned"])}
    after = part.after_round + k - (study.sums and part.number > 1)  # sums: of a later part's rounds the first is the start
    return Part(told["part"], configuration[:32], configuration, nodes, kept, after, told["rounds"], penalty=penalty), wrong
