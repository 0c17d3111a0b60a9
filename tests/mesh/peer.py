#!/usr/bin/python3
"""A party of a study, written from docs/ and from what parley prints; its code was not read for it. It has no rows: it releases whole numbers,
which every grid and bound allow. It may lie; peer_test.py shows what real parties then do. Needs grpcio and cryptography, and $PARLEY for the
hash of the study. "§ 3" is section 3 of docs/check/protocol.md and of the pages that it lists.

    peer.py STUDY --as NAME [--key FILE] [--certificate FILE] [--lie LIE]       # --help lists the lies"""
import argparse
import collections
import concurrent.futures
import functools
import hashlib
import json
import operator
import os
import struct
import subprocess
import sys
import threading
import time
import tomllib

import grpc
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

VERSION = 4
HELLO, VALUE, SILENT, FINAL, GOODBYE, LOSS, CONSENT, SEAL = range(1, 9)
FLOODED = (FINAL, SEAL)  # passed on for others; so are LOSS and CONSENT, which this party does not know
COMPLETED, OWN = 0, 0  # the end and the reason in a goodbye
VERDICTS = ["accepted", "duplicate", "oversize", "truncated", "unknown_version", "unknown_kind", "unknown_caller", "wrong_sender", "bad_signature",
            "wrong_run", "wrong_configuration", "past_round", "future_round", "wrong_turn", "wrong_dimension", "not_finite", "beyond_bound", "off_grid",
            "second_value", "other_history", "second_process", "ledger_behind", "unavailable", "stopped", "left_behind"]  # § 4; by number
NO_HEAD, NO_PROCESS = bytes(32), (0, bytes(16))
HELLO_FORM = "<i32sI16si"  # the receiver's last round stored here, its head, its process known here, whom the sender waits for

Message = collections.namedtuple("Message", "version kind run configuration sender node round incarnation nonce head payload signature")


# --- the bytes of a message, § 1

def signed_part(m):
    """Everything before the signature. Run and configuration are hexadecimal digits, as text."""
    text = b"".join(bytes([len(t)]) + t.encode() for t in (m.run, m.configuration, m.sender))
    numbers = struct.pack("<iiI", m.node, m.round, m.incarnation)
    return b"parley" + struct.pack("<HB", m.version, m.kind) + text + numbers + m.nonce + m.head + struct.pack("<I", len(m.payload)) + m.payload


def to_sign(m):
    """The prefix keeps a signature made for TLS from passing for one over a message (docs/operate/keys.md)."""
    return b"parley signature 1\n" + signed_part(m)


def encode(m):
    return signed_part(m) + struct.pack("<H", len(m.signature)) + m.signature


def decode(data):
    """ValueError where it ends inside a field, goes on after the signature, or is nothing of parley's."""
    at = 0

    def take(count):
        nonlocal at
        at += count
        if at > len(data):
            raise ValueError("ends inside a field")
        return data[at - count:at]

    def text():
        return take(take(1)[0]).decode()
    if take(6) != b"parley":
        raise ValueError("not a message of parley")
    version, kind = struct.unpack("<HB", take(3))
    run, configuration, sender = text(), text(), text()
    node, round, incarnation = struct.unpack("<iiI", take(12))
    nonce, head = take(16), take(32)
    payload = take(struct.unpack("<I", take(4))[0])
    signature = take(struct.unpack("<H", take(2))[0])
    if at != len(data):
        raise ValueError("goes on after the signature")
    return Message(version, kind, run, configuration, sender, node, round, incarnation, nonce, head, payload, signature)


def same(a, b):
    """§ 1: signatures may differ."""
    return (a.kind, a.round, a.head, a.payload) == (b.kind, b.round, b.head, b.payload)


def doubles(values):
    return struct.pack(f"<{len(values)}d", *values)


def numbers(payload):
    return struct.unpack(f"<{len(payload) // 8}d", payload)


def mean(payloads):
    """Added to 0 in order, divided once: the bits depend on it. Not by sum(), which is exacter from Python 3.12 on."""
    return doubles([functools.reduce(operator.add, column, 0.0) / len(payloads) for column in zip(*map(numbers, payloads))])


# --- what gRPC carries: the two messages of mesh.proto, by hand

def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def bytes_field(number, data):
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def fields(data):
    """{number: value} of a message that has numbers and bytes."""
    found, at = {}, 0

    def number():
        nonlocal at
        n = shift = 0
        while True:
            at, byte = at + 1, data[at]
            n, shift = n | (byte & 127) << shift, shift + 7
            if byte < 128:
                return n
    while at < len(data):
        tag, n = number(), number()
        found[tag >> 3] = n
        if tag & 7 == 2:
            found[tag >> 3], at = data[at:at + n], at + n
    return found


# --- what all parties share, docs/operate/study.md

class Study:
    """Hash and run id follow from the plan, so `parley study check` is asked for them. Certificates are in the file."""

    def __init__(self, file):
        checked = json.loads(subprocess.run([os.environ["PARLEY"], "study", "check", file, "--json"], capture_output=True, check=True).stdout)
        parties, self.canonical = checked["parties"], checked["study"]
        self.run, self.configuration = checked["run_id"], checked["hash"]
        self.names = [p["name"] for p in parties]
        self.address = {p["name"]: p["address"] for p in parties}
        self.neighbours = {p["name"]: p["neighbours"] for p in parties}
        self.trainer = next((p["node"] for p in parties if p["trainer"]), None)
        self.last = checked["rounds"] * (1 if self.trainer is None else 2)  # a round of a star is two rounds of messages
        self.origins = range(len(parties)) if self.trainer is None else [self.trainer]  # whose final iterates there are, § 6
        self.size, self.deadline = self.canonical["features"], self.canonical["deadline-seconds"]
        with open(file, "rb") as f:
            self.pem = {p["name"]: p["certificate"].strip().encode() for p in tomllib.load(f)["party"]}
        self.certificate = {name: x509.load_pem_x509_certificate(pem) for name, pem in self.pem.items()}
        for p in parties:  # what counts is the fingerprint
            assert self.certificate[p["name"]].fingerprint(hashes.SHA256()).hex() == p["fingerprint"], p["name"]

    def speaks(self, node, k):
        """In a star providers have a value in odd rounds and the trainer in even ones; whoever has none is silent."""
        return self.trainer is None or k == 0 or (k % 2 == 0) == (node == self.trainer)

    def final(self, node, payloads):
        """The mean of the rounds that count: those of the later half that touch data (docs/check/algorithms.md, "What comes out"), or the last one."""
        if self.canonical["planned"]["average"] != "yes":
            return payloads[-1]
        recycled = self.canonical["options"]["algorithm"] in ("r-admm", "mr-admm")
        return mean([p for k, p in enumerate(payloads) if k > self.last / 2 and self.speaks(node, k) and not (recycled and k % 2 == 0)])

    def head(self, node, payloads):
        """head_k = SHA-256("parley release 1" ‖ head_{k−1} ‖ |run| run ‖ node ‖ k ‖ payload_k), § 1"""
        head, run = NO_HEAD, self.run.encode()
        for k, payload in enumerate(payloads):
            head = hashlib.sha256(b"parley release 1" + head + bytes([len(run)]) + run + struct.pack("<ii", node, k) + payload).digest()
        return head

    def is_signed(self, m):
        try:
            self.certificate[m.sender].public_key().verify(m.signature, to_sign(m), ec.ECDSA(hashes.SHA256()))
            return True
        except InvalidSignature:
            return False


class Peer:
    """An honest party. One thread calls each neighbour, one message at a time (§ 2); the server answers in threads of its own. j is a neighbour."""

    def __init__(self, study, name, key_file, certificate_file):
        self.study, self.name, self.node, self.neighbours = study, name, study.names.index(name), study.neighbours[name]
        with open(key_file, "rb") as key, open(certificate_file, "rb") as certificate:
            self.key_pem, self.pem = key.read(), certificate.read()
        self.key = serialization.load_pem_private_key(self.key_pem, None)
        self.process = (1, os.urandom(16))  # incarnation and nonce, § 3. It has no ledger, so it can be started once
        self.released = []  # payloads, by round
        self.stored = {j: [] for j in self.neighbours}  # their values, by round
        self.known = {j: NO_PROCESS for j in self.neighbours}  # their newest process
        self.named = set()  # who has answered a hello, and named this process
        self.flooded = {}  # (kind, node): final iterates and seals of others
        self.has = {j: set() for j in self.neighbours}  # (kind, node, round) that j has acknowledged or sent
        self.gone = {}  # who has said goodbye, or acknowledged ours: the end
        self.refused = {}  # after whose last answer there is a pause
        self.signed = {}  # the bytes that were signed first are sent again
        self.changed = threading.Condition()

    # --- what it says

    def sign(self, m):
        return m._replace(signature=self.key.sign(to_sign(m), ec.ECDSA(hashes.SHA256())))

    def make(self, j, kind, round, head, payload):
        what = (kind, round, *self.process_for(j), head, payload)
        if what not in self.signed:
            self.signed[what] = self.sign(Message(VERSION, kind, self.study.run, self.study.configuration, self.name, self.node, *what[1:], b""))
        return self.signed[what]

    def process_for(self, j):
        return self.process

    def history(self, j):
        """What j is told that was released: an honest party tells all the same."""
        return self.released

    def value(self, k):
        """Round 0 is the start, which is zero. After it: whole numbers."""
        return doubles([float(k and (k * 5 + i * 3 + self.node) % 7 - 3) for i in range(self.study.size)]) if self.study.speaks(self.node, k) else b""

    def latest(self, j, kind, payload):
        """A message of the last round that j is told of."""
        return self.make(j, kind, len(self.history(j)) - 1, self.study.head(self.node, self.history(j)), payload)

    def hello(self, j):
        theirs = [m.payload for m in self.stored[j]]
        head = self.study.head(self.study.names.index(j), theirs)
        return self.latest(j, HELLO, struct.pack(HELLO_FORM, len(theirs) - 1, head, *self.known[j], self.waits_for()))

    def waits_for(self):
        """The neighbour that holds this party, by node; −1: none."""
        for j in self.neighbours:
            node = self.study.names.index(j)
            if len(self.stored[j]) < len(self.released) or len(self.released) > self.study.last and (SEAL, node) not in self.flooded:
                return node
        return -1

    def finals(self, j):
        """{node: final iterate}, this party's own as j is told."""
        found = {node: m for (kind, node), m in self.flooded.items() if kind == FINAL}
        if len(self.released) > self.study.last and self.node in self.study.origins:
            found[self.node] = self.latest(j, FINAL, self.study.final(self.node, self.history(j)))
        return found

    def seal(self, j):
        """SHA-256("parley seal 1" ‖ for each origin, in node order: node 4 ‖ head 32 ‖ payload), § 6"""
        return hashlib.sha256(b"parley seal 1" + b"".join(struct.pack("<i", node) + m.head + m.payload for node, m in sorted(self.finals(j).items()))).digest()

    def seals(self, j):
        found = {node: m for (kind, node), m in self.flooded.items() if kind == SEAL}
        if len(self.released) > self.study.last and len(self.finals(j)) == len(self.study.origins):
            found[self.node] = self.latest(j, SEAL, self.seal(j))
        return found

    def completed(self):
        """Every party's seal is here, and all are the same."""
        seals = self.seals(self.neighbours[0])
        return len(seals) == len(self.study.names) and len({m.payload for m in seals.values()}) == 1

    def queue(self, j):
        """All that j is to get, in order."""
        payloads = self.history(j)
        for k, payload in enumerate(payloads):
            yield self.make(j, VALUE if payload else SILENT, k, self.study.head(self.node, payloads[:k + 1]), payload)
        yield from self.finals(j).values()
        yield from self.seals(j).values()
        if self.completed():
            yield self.latest(j, GOODBYE, bytes([COMPLETED, OWN, 0]))

    def next_for(self, j):
        return next((m for m in self.queue(j) if (m.kind, m.node, m.round) not in self.has[j]), None)

    def release(self):
        """The next round, when every neighbour has answered a hello (§ 3) and sent the round before (§ 2). Round 0 waits for nobody."""
        k = len(self.released)
        if k <= self.study.last and (k == 0 or len(self.named) == len(self.neighbours) and all(len(s) >= k for s in self.stored.values())):
            self.released.append(self.value(k))
            self.changed.notify_all()

    # --- what it answers: (verdict, sentence, attachment)

    def answer(self, caller, data):
        """In the order of § 4, as far as an honest neighbour can ask for it."""
        try:
            m = decode(data)
        except ValueError as why:
            return "truncated", str(why)
        if m.version != VERSION:
            return "unknown_version", str(m.version)
        if m.sender not in self.study.names or m.node != self.study.names.index(m.sender) or m.sender != caller and m.kind not in FLOODED:
            return "wrong_sender", m.sender
        if not self.study.is_signed(m):
            return "bad_signature", m.sender
        if m.run != self.study.run:
            return "wrong_run", m.run
        if m.configuration != self.study.configuration:
            return "wrong_configuration", m.configuration, json.dumps(self.study.canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        if m.kind == HELLO:
            return self.greeted_by(caller, m)
        if m.kind in (VALUE, SILENT):
            return self.store(caller, m)
        if m.kind in FLOODED:
            return self.keep(caller, m)
        if m.kind == GOODBYE:
            end, reason, length = m.payload[:3]
            self.log(f"{caller} says goodbye: end {end}, reason {reason}, {m.payload[3:3 + length].decode()}")
            self.gone[caller] = end
            return ("accepted",)
        return "unknown_kind", str(m.kind)

    def greeted_by(self, j, m):
        if m.incarnation > self.known[j][0]:  # 0 only looks around
            self.known[j] = (m.incarnation, m.nonce)
        return "accepted", "", encode(self.hello(j))

    def store(self, j, m):
        theirs = self.stored[j]
        if 0 <= m.round < len(theirs):
            return ("duplicate",) if same(m, theirs[m.round]) else ("second_value", str(m.round))
        if m.round != len(theirs) or m.round > len(self.released):
            return "future_round", str(m.round)
        if (m.kind == VALUE) != self.study.speaks(m.node, m.round):
            return "wrong_turn", str(m.round)
        if m.head != self.study.head(m.node, [t.payload for t in theirs] + [m.payload]):
            return "other_history", str(m.round)
        theirs.append(m)
        return ("accepted",)

    def keep(self, j, m):
        """A final iterate or a seal, perhaps of somebody else. A neighbour's must follow from its values."""
        self.has[j].add((m.kind, m.node, m.round))
        values = [t.payload for t in self.stored.get(m.sender, [])]
        if len(values) > self.study.last and (m.head != self.study.head(m.node, values) or m.kind == FINAL and m.payload != self.study.final(m.node, values)):
            return "other_history", m.sender
        known = self.flooded.setdefault((m.kind, m.node), m) if m.node != self.node else m
        return ("accepted",) if known is m else ("duplicate",) if same(m, known) else ("second_value", m.sender)

    # --- the threads

    def deliver(self, request, context):
        """A call. The caller is who presents the pinned certificate (docs/operate/keys.md)."""
        presented = x509.load_pem_x509_certificate(context.auth_context()["x509_pem_cert"][0])
        caller = next((n for n in self.neighbours if self.study.certificate[n] == presented), None)
        with self.changed:
            verdict, reason, attachment = (*(self.answer(caller, fields(request).get(1, b"")) if caller else ("unknown_caller",)), "", b"")[:3]
            self.changed.notify_all()
        if verdict not in ("accepted", "duplicate"):
            self.log(f"answers {caller}: {verdict}: {reason}")
        number = VERDICTS.index(verdict) if verdict in VERDICTS else verdict
        return b"\x08" + varint(number) + bytes_field(2, reason.encode()) + bytes_field(3, attachment or b"")

    def talk_to(self, j):
        """Says hello first, and again after a call that failed, and after half a deadline with nothing to send (§ 3, § 5)."""
        credentials = grpc.ssl_channel_credentials(self.study.pem[j], self.key_pem, self.pem)
        channel = grpc.secure_channel(self.study.address[j], credentials, [("grpc.ssl_target_name_override", j)])  # addresses play no part
        call, greeted = channel.unary_unary("/parley.mesh.Mesh/Deliver"), False
        while j not in self.gone:
            if self.refused.pop(j, False):
                time.sleep(self.study.deadline / 16)
            with self.changed:
                self.release()
                m = self.next_for(j) if greeted else self.hello(j)
                if m is None and self.changed.wait(self.study.deadline / 2):
                    continue
                m = m or self.hello(j)
            try:
                said = fields(call(bytes_field(1, encode(m)), timeout=self.study.deadline, wait_for_ready=True))
            except grpc.RpcError as error:
                self.log(f"{j}: {error.details()}")
                self.refused[j], greeted = True, False
                with self.changed:
                    if self.completed() and self.next_for(j).kind == GOODBYE:  # j has everything, and may have ended while it answered (§ 6)
                        self.gone.setdefault(j, COMPLETED)
                        self.changed.notify_all()
                continue
            with self.changed:
                greeted = self.answered(j, m, VERDICTS[said.get(1, 0)], said.get(2, b"").decode(), said.get(3, b"")) or greeted
                self.changed.notify_all()

    def answered(self, j, m, verdict, reason, attachment):
        """Whether j has answered a hello."""
        if verdict in ("accepted", "duplicate"):
            if m.kind == HELLO:
                return self.greeting(j, decode(attachment))
            self.has[j].add((m.kind, m.node, m.round))
            if m.kind == GOODBYE:
                self.gone.setdefault(j, COMPLETED)
            return False
        self.log(f"{j} refuses kind {m.kind}, round {m.round}: {reason}")
        if verdict != "unavailable" and m.kind != HELLO:
            self.has[j].add((m.kind, m.node, m.round))  # the same bytes would be refused again
        self.refused[j] = True
        return False

    def greeting(self, j, m):
        """The hello with which j answers: what it has stored of this party, and which process of it it knows."""
        if m.kind != HELLO or m.sender != j or not self.study.is_signed(m):
            return False
        stored, _, incarnation, nonce, _ = struct.unpack(HELLO_FORM, m.payload)
        if m.incarnation > self.known[j][0]:
            self.known[j] = (m.incarnation, m.nonce)
        if (incarnation, nonce) == self.process_for(j):
            self.named.add(j)
        self.has[j] = {h for h in self.has[j] if h[0] not in (VALUE, SILENT) or h[2] <= stored}
        return True

    def log(self, text):
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)

    def run(self):
        """Until every neighbour has said goodbye, or acknowledged ours."""
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(16))
        handler = grpc.method_handlers_generic_handler("parley.mesh.Mesh", {"Deliver": grpc.unary_unary_rpc_method_handler(self.deliver)})
        server.add_generic_rpc_handlers((handler,))
        roots = b"\n".join(self.study.pem[n] for n in self.neighbours)  # self-issued: each is its own authority
        server.add_secure_port(self.study.address[self.name], grpc.ssl_server_credentials([(self.key_pem, self.pem)], roots, require_client_auth=True))
        server.start()
        self.log("listens")
        for j in self.neighbours:
            threading.Thread(target=self.talk_to, args=(j,), daemon=True).start()
        with self.changed:
            self.changed.wait_for(lambda: len(self.gone) == len(self.neighbours))
            done = self.completed() and set(self.gone.values()) == {COMPLETED}
            finals = [m.payload for _, m in sorted(self.finals(self.neighbours[0]).items())]
        server.stop(self.study.deadline / 4).wait()
        print(json.dumps({"outcome": "completed" if done else "stopped", "weights": numbers(mean(finals)) if done else None}))
        return 0 if done else 1


# --- the lies

class TwoHistories(Peer):
    """Each neighbour is shown other values from round 1 on, and the final iterate and the seal that follow from them."""

    def history(self, j):
        return [doubles([x + self.neighbours.index(j) for x in numbers(p)]) if k else p for k, p in enumerate(self.released)]


class TwoSeals(Peer):
    """The first neighbour gets the true seal, the others get another one."""

    def seal(self, j):
        return super().seal(j) if j == self.neighbours[0] else hashlib.sha256(super().seal(j)).digest()


class NoSeal(Peer):
    """Does everything but give its seal."""

    def seals(self, j):
        return {node: m for node, m in super().seals(j).items() if node != self.node}


class NoValues(Peer):
    """Says hello, answers, and releases nothing."""

    def release(self):
        pass


class FalseFinal(Peer):
    """A final iterate that does not follow from what it released; the same one to all."""

    def finals(self, j):
        return {node: m if node != self.node else self.latest(j, FINAL, doubles([42.0] * self.study.size)) for node, m in super().finals(j).items()}


class EarlyFalseFinal(Peer):
    """The same, with the head of what it will have released, before its first value: nobody can compute it again yet."""

    def queue(self, j):
        head = self.study.head(self.node, [self.value(k) for k in range(self.study.last + 1)])
        yield self.make(j, FINAL, self.study.last, head, doubles([42.0] * self.study.size))
        yield from super().queue(j)


class KeepsFinal(Peer):
    """Passes on everything but the final iterate of its first neighbour."""

    def queue(self, j):
        return (m for m in super().queue(j) if m.kind != FINAL or m.sender != self.neighbours[0])


class TwoProcesses(Peer):
    """The last neighbour is shown another process of the same number. Last words go to the first neighbour, which passes them on."""
    other = (1, os.urandom(16))

    def process_for(self, j):
        return self.other if j == self.neighbours[-1] else self.process

    def queue(self, j):
        return (m for m in super().queue(j) if m.kind not in FLOODED or m.node != self.node or j == self.neighbours[0])


class Accuses(Peer):
    """Tells the first hello of each neighbour that its ledger is older, and two more after round 2. Then it goes on honestly."""
    proof = staticmethod(lambda self, j, m: [])

    def __init__(self, *given):
        super().__init__(*given)
        self.told = collections.Counter()

    def greeted_by(self, j, m):
        honest = super().greeted_by(j, m)
        if self.told[j] >= (1 if len(self.released) < 3 else 3):
            return honest
        self.told[j] += 1
        proof = [encode(p) if isinstance(p, Message) else p for p in self.proof(self, j, m)]
        return "ledger_behind", "your ledger is older than what you have released", b"".join(struct.pack("<I", len(p)) + p for p in proof)

    def release(self):
        if len(self.released) < 3 or all(self.told[j] == 3 for j in self.neighbours):
            super().release()


def accuses(proof):
    return type("Accuses", (Accuses,), {"proof": staticmethod(proof)})


def forged(self, j, m):
    """What the accused never signed: a later process of it, under the signature of another message and under this party's; and this party's own."""
    other = m._replace(round=self.study.last, incarnation=m.incarnation + 1)
    return [other, self.sign(other), self.hello(j)]


def greets_with(hello):
    """Answers a hello with what hello(self, j, m) makes."""
    return type("Greets", (Peer,), {"greeted_by": lambda self, j, m: (*Peer.greeted_by(self, j, m)[:2], encode(hello(self, j, m)))})


def answers(verdict, rounds):
    """Is honest for so many rounds, and until the caller has stored one of its values; then it answers everything so, and releases nothing more."""
    def lies(self, j):
        return len(self.released) >= rounds and (rounds == 0 or len(self.stored[j]) >= 2)
    return type("Answers", (Peer,), {"answer": lambda self, j, data: (verdict, "so it is") if lies(self, j) else Peer.answer(self, j, data),
                                     "release": lambda self: Peer.release(self) if len(self.released) < max(1, rounds) else None})


LIES = {"nothing": Peer, "two-histories": TwoHistories, "two-seals": TwoSeals, "no-seal": NoSeal, "no-values": NoValues, "false-final": FalseFinal,
        "early-false-final": EarlyFalseFinal, "keeps-final": KeepsFinal, "two-processes": TwoProcesses, "accuses": Accuses,
        "accuses-with-true-messages": accuses(lambda self, j, m: [m, *self.stored[j]]), "accuses-with-forged-messages": accuses(forged),
        "accuses-with-garbage": accuses(lambda self, j, m: [b"", b"parley", bytes(300)]), "echoes-hello": greets_with(lambda self, j, m: m),
        "hello-of-another-node": greets_with(lambda self, j, m: self.sign(self.hello(j)._replace(node=99))),
        **{f"{name}-{v}": answers(v, rounds) for v in [*VERDICTS, 99] for name, rounds in (("answers", 0), ("later-answers", 2))}}


def main():
    parser = argparse.ArgumentParser(description="a party that may lie")
    parser.add_argument("study")
    parser.add_argument("--as", dest="name", required=True)
    parser.add_argument("--key")
    parser.add_argument("--certificate")
    parser.add_argument("--lie", choices=LIES, default="nothing")
    given = parser.parse_args()
    sys.exit(LIES[given.lie](Study(given.study), given.name, given.key or given.name + ".key", given.certificate or given.name + ".pem").run())


if __name__ == "__main__":
    main()
