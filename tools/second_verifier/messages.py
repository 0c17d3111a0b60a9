"""Signed messages and the transcript that holds them, from docs/check/protocol.md (sections 1 and 7) and docs/check/wire.md."""
import hashlib
import struct
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

VERSION = 4
HELLO, VALUE, SILENT, FINAL, GOODBYE, LOSS, CONSENT, SEAL, NOISE_KEY = range(1, 10)
KINDS = ("", "hello", "value", "silent", "final", "goodbye", "loss", "consent", "seal", "noise key")
OWNER, RECEIVED, SENT, EVIDENCE = range(1, 5)
ZERO = bytes(32)


class Broken(Exception):
    """Bytes that are no transcript or no message."""


@dataclass
class Message:
    kind: int
    run: str
    configuration: str
    sender: str
    node: int
    round: int
    incarnation: int
    nonce: bytes
    head: bytes
    payload: bytes
    signed: bytes
    signature: bytes

    def same(self, other):
        return (self.kind, self.round, self.head, self.payload) == (other.kind, other.round, other.head, other.payload)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if count < 0 or self.at + count > len(self.data):
            raise Broken(f"it ends inside a field at byte {self.at}")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def text(self):
        return self.take(self.number("B")).decode("ascii", "replace")


def message_of(data):
    r = Reader(data)
    if r.take(6) != b"parley" or r.number("H") != VERSION:
        raise Broken("it is no message of version 4")
    kind = r.number("B")
    if not 1 <= kind <= NOISE_KEY:
        raise Broken(f"it is of an unknown kind, {kind}")
    run, configuration, sender = r.text(), r.text(), r.text()
    node, round, incarnation = r.number("i"), r.number("i"), r.number("i")
    nonce, head = r.take(16), r.take(32)
    payload = r.take(r.number("I"))
    signed = data[:r.at]
    signature = r.take(r.number("H"))
    if r.at != len(data):
        raise Broken("it goes on after the signature")
    return Message(kind, run, configuration, sender, node, round, incarnation, nonce, head, payload, signed, signature)


def signed_by(key, message):
    return signature_holds(key, message.signature, b"parley signature 1\n" + message.signed)


def signature_holds(key, signature, data):
    try:
        key.verify(signature, data, ec.ECDSA(hashes.SHA256()))
        return True
    except InvalidSignature:
        return False


def next_head(head, run, node, round, payload):
    return hashlib.sha256(b"parley release 1" + head + bytes([len(run)]) + run.encode() + struct.pack("<ii", node, round) + payload).digest()


def seal_of(finals):
    """finals: {node: (head, payload)}."""
    return hashlib.sha256(b"parley seal 1" + b"".join(struct.pack("<i", n) + finals[n][0] + finals[n][1] for n in sorted(finals))).digest()


def transcript_of(data):
    """(text of the owner, [(kind, message)]). A break names its byte."""
    entries, previous, owner, start = [], ZERO, None, 0
    while start < len(data):
        r = Reader(data)
        r.at = start
        try:
            if r.take(4) != b"ptr1":
                raise Broken("no entry begins there")
            size = r.number("I")
            synced, before, kind = r.number("Q"), r.take(32), r.number("B")
            content = r.take(size)
            covered = data[start:r.at]
            if hashlib.sha256(b"parley transcript 1" + covered).digest() != r.take(32):
                raise Broken("the hash is another")
            if before != previous or synced > start or (kind == OWNER) != (start == 0) or kind not in range(1, 5):
                raise Broken("the entry does not follow the one before")
            if kind == OWNER:
                owner = content.decode("ascii", "replace")
            else:
                entries.append((kind, message_of(content)))
            previous = data[r.at - 32:r.at]
        except Broken as e:
            raise Broken(f"its transcript is broken at byte {start}: {e}") from None
        start = r.at
    return owner, entries
