"""Floods (R13): a stranger's end in the handshake, an insider's at the gate. Memory stays bounded and the honest run completes meanwhile.
PARLEY_TEST_FULL: each for 60 s."""
import socket

from mesh_case import *

FLOODS = pathlib.Path(__file__).with_name("floods.py")
SECONDS = float(os.environ.get("PARLEY_FLOOD_SECONDS", 60 if FULL else 1))
A, B, C = "hospital_a", "hospital_b", "hospital_c"
MOST = 50  # MiB


def memory(process):
    """Resident, in MiB."""
    return int(re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024


class Floods(Case):
    def flood(self, study, kind, identity, seconds=SECONDS):
        process = subprocess.Popen([sys.executable, FLOODS, study.addresses[A], kind, str(seconds), *map(str, identity)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)  # before it
        return process

    def test_a_party_stays_small_under_floods_and_the_run_completes_meanwhile(self):
        study = Study(self.dir / "study", wait=900, deadline=5)
        self.start_all(study, [A, B])
        study.until(lambda: study.rounds_of(A) > 0, "A has begun")
        party, insider = self.processes[A], (study.base / C / f"{C}.key", study.base / C / f"{C}.pem")
        begun = memory(party)
        for who, identity in (("stranger", ()), ("insider", insider)):
            for kind in ("resets", "pings", "settings", "continuation", *(("idle", "connect") if who == "stranger" else ("deaf",))):
                with self.subTest(who + ": " + kind):
                    before, most = memory(party), 0
                    flood = self.flood(study, kind, identity)
                    while flood.poll() is None:
                        most = max(most, memory(party))
                        time.sleep(0.01)
                    sent = json.loads(flood.stdout.read())
                    if FULL:  # a second after the last connection has ended memory goes back
                        study.until(lambda: memory(party) < begun + MOST / 2, "memory is given back")
                    print(f"{who}, {kind}: {SECONDS} s, {sent}, {before:.0f} MiB before, at most {most:.0f}, {memory(party):.0f} after", file=sys.stderr)
                    if not SHORT:  # a sanitizer keeps what was freed
                        self.assertLess(most - before, MOST)
                    self.assertGreater(sent["connections"], 0)
        if not SHORT:
            study.until(lambda: memory(party) < begun + MOST / 2, "memory is given back")
        for kind in ("resets", "deaf", "idle"):  # until the test ends
            self.flood(study, kind, () if kind == "idle" else insider, seconds=600)
        self.start(study, C)
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


if __name__ == "__main__":
    unittest.main()
