"""A study between three parties on this machine, in one folder in which the commands of docs/operate can be typed."""
import pathlib
import socket
import subprocess

PARTIES = ("hospital_a", "hospital_b", "hospital_c")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class LocalStudy:
    """mine.csv and my.ledger are those of the party whose command is typed; the others have NAME.csv and NAME.ledger."""

    def __init__(self, program, folder, schema, rows, mine="hospital_b"):
        self.program, self.folder, self.mine = program, pathlib.Path(folder), mine
        self.folder.mkdir()
        (self.folder / "schema.toml").write_text(schema)
        self.ok("study", "new", "study.toml")
        for shift, (name, port) in enumerate(zip(PARTIES, free_ports(3))):
            file, ledger = self.belongings(name)
            (self.folder / file).write_text(rows(400, shift))
            self.ok("keys", "new", name)
            self.ok("study", "invite", "study.toml", "--name", name, "--address", f"127.0.0.1:{port}", "--certificate", f"{name}.pem", "--records", "400")
            for dataset in (name, "patients"):
                self.ok("ledger", "cap", ledger, "--dataset", dataset, "--epsilon", "3", "--delta", "1e-5")
        (self.folder / "new.csv").write_text(rows(20, 9))

    def belongings(self, name):
        own = name == self.mine
        return ("mine.csv" if own else f"{name}.csv"), ("my.ledger" if own else f"{name}.ledger")

    def start(self, *words):
        return subprocess.Popen([self.program, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def ok(self, *words):
        ended = self.start(*words)
        said = ended.communicate(timeout=300)[0]
        assert ended.returncode == 0, f"parley {' '.join(words)}\n{said}"
        return said

    def approve(self):
        for name in PARTIES:
            self.ok("study", "sign", "study.toml", "--as", name, "--words", f"Approved for {name}. A. Officer")

    def join(self, *words):
        """The typed command, with the others beside it; every party ends well."""
        typed = words[words.index("--as") + 1]
        self.run({name: self.usual(name) for name in PARTIES if name != typed} | {typed: words})

    def usual(self, name, out=None):
        file, ledger = self.belongings(name)
        return ("join", "study.toml", "--as", name, "--data", file, "--ledger", ledger, "--out", out or f"out-{name}")

    def run(self, commands):
        processes = {name: self.start(*words) for name, words in commands.items()}
        for name, process in processes.items():
            said = process.communicate(timeout=300)[0]
            assert process.returncode == 0, f"{name}: parley {' '.join(commands[name])}\n{said}"
