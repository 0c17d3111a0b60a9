"""Three ports that nobody uses, for three parties on one machine. Between organisations each has its own address."""
import socket

sockets = [socket.socket() for _ in range(3)]
for s in sockets:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))
