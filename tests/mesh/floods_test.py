"""Floods (R13): a stranger's end in the handshake, an insider's at the gate. Memory stays bounded and the honest run completes meanwhile.
PARLEY_TEST_FULL: each for 60 s."""
import resource
import socket

from mesh_case import *

FLOODS = pathlib.Path(__file__).with_name("floods.py")
SECONDS = float(os.environ.get("PARLEY_FLOOD_SECONDS", 60 if FULL else 1))
A, B, C, D = "hospital_a", "hospital_b", "hospital_c", "hospital_d"
POURED = ("resets", "pings", "settings", "continuation")
MOST = 50  # MiB


def memory(process):
    """Resident, in MiB."""
    return int(re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024


class Floods(Case):
    def flood(self, study, kind, identity, connections=1, seconds=SECONDS):
        process = subprocess.Popen([sys.executable, FLOODS, study.addresses[A], kind, str(seconds), str(connections), *map(str, identity)],
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)  # before it
        return process

    def stays_small(self, study, who, kind, identity, connections):
        """During one flood, and after it."""
        party = self.processes[A]
        before, most = memory(party), 0
        flood = self.flood(study, kind, identity, connections)
        while flood.poll() is None:
            most = max(most, memory(party))
            time.sleep(0.01)
        sent = json.loads(flood.stdout.read())
        if FULL:  # a second after the last connection has ended memory goes back
            study.until(lambda: memory(party) < self.begun + MOST / 2, "memory is given back")
        print(f"{who}, {kind}, {connections}: {SECONDS} s, {sent}, {before:.0f} MiB before, at most {most:.0f}, {memory(party):.0f} after", file=sys.stderr)
        if not SHORT:  # a sanitizer keeps what was freed
            self.assertLess(most - self.begun, MOST)
        self.assertGreater(sent["connections"], 0)

    def test_a_party_stays_small_under_floods_and_the_run_completes_meanwhile(self):
        """The insider is nobody's neighbour but C's: what it floods is not a line that its own part of the run needs."""
        study = Study(self.dir / "study", parties=4, graph="path", wait=9000, deadline=5)
        self.start_all(study, [A, B])
        study.until(lambda: study.rounds_of(A) > 0, "A has begun")
        party, insider = self.processes[A], (study.base / D / f"{D}.key", study.base / D / f"{D}.pem")
        self.begun = memory(party)
        for kind in (*POURED, "idle", "connect"):
            with self.subTest("stranger: " + kind):
                self.stays_small(study, "stranger", kind, (), 1)
        for kind in (*POURED, "deaf"):
            for connections in (1, 8, 16):
                with self.subTest(f"insider: {kind}, {connections}"):
                    self.stays_small(study, "insider", kind, insider, connections)
        self.assertIn(f"a caller was refused: {D} opens too many connections", study.log(A))
        self.assertIn(f"{D} has more than 4 connections", study.log(A))
        self.assertRegex(study.log(A), f"{D} has sent \\d+ bytes to which there is no answer")
        if not SHORT:
            study.until(lambda: memory(party) < self.begun + MOST / 2, "memory is given back")
        for kind in (*POURED, "deaf"):  # until the test ends
            self.flood(study, kind, insider, 4, seconds=600)
        for kind in ("idle", "connect"):
            self.flood(study, kind, (), seconds=600)
        self.start_all(study, [C, D])
        self.assert_completed(study)
        self.assert_same_as_simulation(study)
        self.assert_spend(study)

    def test_a_party_whose_descriptors_were_all_taken_hears_its_peers_again(self):
        study = Study(self.dir / "study", wait=900, deadline=5)
        self.start(study, A, prefix=("prlimit", "--nofile=256:256"))
        study.until(lambda: study.rounds_of(A) > 0, "A has begun")
        host, port = study.addresses[A].split(":")
        held = [socket.create_connection((host, int(port)), timeout=10) for _ in range(400)]
        study.await_log(A, "too many connections")
        for connection in held:
            connection.close()
        self.start_all(study, [B, C])
        self.assert_completed(study)

    def test_a_party_that_may_open_no_descriptor_says_so_and_hears_its_peers_again(self):
        """Its limit is lowered below what it has open, so that accept itself fails (EMFILE)."""
        study = Study(self.dir / "study", wait=900, deadline=5)
        self.start(study, A)
        study.until(lambda: study.rounds_of(A) > 0, "A has begun")
        party = self.processes[A].pid
        before = resource.prlimit(party, resource.RLIMIT_NOFILE)
        resource.prlimit(party, resource.RLIMIT_NOFILE, (8, before[1]))
        host, port = study.addresses[A].split(":")
        with socket.create_connection((host, int(port)), timeout=10):
            study.await_log(A, "a connection could not be taken: Too many open files; trying again")
        resource.prlimit(party, resource.RLIMIT_NOFILE, before)
        self.start_all(study, [B, C])
        self.assert_completed(study)
        self.assert_spend(study)


if __name__ == "__main__":
    unittest.main()
