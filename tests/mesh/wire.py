"""Messages and transcripts as bytes (protocol/message.h, protocol/transcript.h), read and made without the program that is tested."""
import collections
import hashlib
import struct

HELLO, VALUE, SILENT, FINAL, GOODBYE, LOSS, CONSENT, SEAL, NOISE_KEY = range(1, 10)
OWNER, RECEIVED, SENT, EVIDENCE = 1, 2, 3, 4
Message = collections.namedtuple("Message", "kind run configuration sender node round head payload signature incarnation nonce", defaults=(1, bytes(16)))


def signed_part(m, version=4):
    def short(text):
        return bytes([len(text)]) + text.encode()
    return (b"parley" + struct.pack("<HB", version, m.kind) + short(m.run) + short(m.configuration) + short(m.sender) + struct.pack("<iii", m.node, m.round, m.incarnation) + m.nonce + m.head
            + struct.pack("<I", len(m.payload)) + m.payload)


def decode(data):
    assert data[:6] == b"parley", data[:6]
    at = 9
    texts = []
    for _ in range(3):
        size = data[at]
        texts.append(data[at + 1:at + 1 + size].decode())
        at += 1 + size
    node, round, incarnation = struct.unpack_from("<iii", data, at)
    nonce, head = data[at + 12:at + 28], data[at + 28:at + 60]
    size, = struct.unpack_from("<I", data, at + 60)
    at += 64
    payload = data[at:at + size]
    signature, = struct.unpack_from("<H", data, at + size)
    assert at + size + 2 + signature == len(data)
    return Message(data[8], *texts, node, round, head, payload, data[at + size + 2:], incarnation, nonce)


def next_head(before, run, node, round, payload):
    return hashlib.sha256(b"parley release 1" + before + bytes([len(run)]) + run.encode() + struct.pack("<ii", node, round) + payload).digest()


def seen(round, head, incarnation=0, nonce=bytes(16)):
    """The payload of a hello."""
    return struct.pack("<i", round) + head + struct.pack("<i", incarnation) + nonce


def entries(file):
    """(kind, message's bytes) of the whole entries of a transcript; a torn end is left out, anything else is an error."""
    data, at, before = file.read_bytes() if file.exists() else b"", 0, bytes(32)
    while at + 81 <= len(data) and data[at:at + 4] == b"ptr1":
        size, = struct.unpack_from("<I", data, at + 4)
        end = at + 49 + size
        if end + 32 > len(data):
            return
        assert data[at + 16:at + 48] == before, f"{file}: the chain is broken at {at}"
        before = data[end:end + 32]
        assert hashlib.sha256(b"parley transcript 1" + data[at:end]).digest() == before, f"{file}: damaged at {at}"
        if data[at + 48] != OWNER:
            yield data[at + 48], data[at + 49:end]
        at = end + 32


def values(file, kinds=(RECEIVED, SENT)):
    """Messages with values, or silence in their place."""
    for kind, data in entries(file):
        if kind in kinds and (m := decode(data)).kind in (VALUE, SILENT):
            yield m
