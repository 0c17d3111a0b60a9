"""Five hospitals with a fifth of Adult each, as real processes: on loopback, and in five network namespaces with a partition that heals.
Both end with the simulation's bits. Skipped where the UCI files, or namespaces (root and iproute2), are absent."""
from mesh_case import *

COLUMNS = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race", "sex", "capital-gain", "capital-loss",
           "hours-per-week", "native-country", "income"]
PARTIES = 5


def adult():
    """The training file's rows, dealt to the parties, under the names that the public schema has."""
    root = pathlib.Path(__file__).resolve().parents[2]
    places = [pathlib.Path(p) for p in (os.environ.get("PARLEY_DATA"), pathlib.Path.home() / ".cache/parley", root / "../shared/data", root / "shared/data") if p]
    for place in places:
        for file in (place / "adult/adult.data", place / "adult.data"):
            if file.exists():
                rows = [",".join(field.strip() for field in line.split(",")) for line in file.read_text().splitlines() if line.count(",") == 14]
                return [[",".join(COLUMNS), *rows[i::PARTIES]] for i in range(PARTIES)]
    print("skipped: Adult not found", file=sys.stderr)
    raise unittest.SkipTest("skipped: Adult not found")


class Namespaces:
    """Five machines at two switches with one cable between them. Nothing outside of the new namespaces is touched."""

    def __init__(self):
        self.made = []
        try:
            self.switch = self.add("s")
            for bridge in ("left", "right"):
                self.ip("-n", self.switch, "link", "add", bridge, "type", "bridge")
                self.ip("-n", self.switch, "link", "set", bridge, "up")
            self.ip("-n", self.switch, "link", "add", "cable", "type", "veth", "peer", "name", "elbac")
            for end, bridge in (("cable", "left"), ("elbac", "right")):
                self.ip("-n", self.switch, "link", "set", end, "master", bridge, "up")
            self.machines = [self.machine(i, "left" if i < 2 else "right") for i in range(PARTIES)]
        except (OSError, subprocess.CalledProcessError) as error:
            self.remove()
            print(f"skipped: network namespaces not available ({error})", file=sys.stderr)
            raise unittest.SkipTest("skipped: network namespaces not available")

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def add(self, name):
        name = f"parley{os.getpid()}{name}"
        self.ip("netns", "add", name)
        self.made.append(name)
        self.ip("-n", name, "link", "set", "lo", "up")
        return name

    def machine(self, i, bridge):
        name = self.add(str(i))
        self.ip("-n", self.switch, "link", "add", f"port{i}", "type", "veth", "peer", "name", "eth0", "netns", name)
        self.ip("-n", self.switch, "link", "set", f"port{i}", "master", bridge, "up")
        self.ip("-n", name, "addr", "add", self.address(i) + "/24", "dev", "eth0")
        self.ip("-n", name, "link", "set", "eth0", "up")
        return name

    @staticmethod
    def address(i):
        return f"10.77.7.{i + 1}"

    def cable(self, state):
        self.ip("-n", self.switch, "link", "set", "cable", state)

    def remove(self):
        for name in self.made:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


class Adult(Case):
    def ends_well(self, study):
        self.assert_completed(study)
        self.assert_same_as_simulation(study)
        self.assert_spend(study)
        self.assertGreaterEqual(self.assert_paid(study), PARTIES * study.rounds)

    def test_five_processes_on_loopback_end_with_the_simulation_s_bits(self):
        study = Study(self.dir / "study", tables=adult(), schema="adult-public", parties=PARTIES, rounds=50 if FULL else 8, epsilon=1, deadline=5.0, wait=300.0)
        self.start_all(study)
        self.ends_well(study)

    def test_five_machines_with_a_partition_that_heals(self):
        tables, network = adult(), Namespaces()
        self.addCleanup(network.remove)
        names = ["hospital_" + "abcde"[i] for i in range(PARTIES)]
        if not FULL:
            tables = [t[:500] for t in tables]
        study = Study(self.dir / "study", tables=tables, schema="adult-public", parties=PARTIES, rounds=150, epsilon=1, deadline=1.0, wait=300.0,
                      hosts={n: network.address(i) for i, n in enumerate(names)})
        for i, name in enumerate(study.all):
            self.start(study, name, prefix=("ip", "netns", "exec", network.machines[i]))
        for times in range(3 if FULL else 1):
            self.await_rounds(study, names[0], 10 + 30 * times)
            network.cable("down")
            study.await_log(names[1], f"{names[2]} has not answered for")  # 1.5 deadlines
            study.await_log(names[4], f"{names[0]} has not answered for")
            network.cable("up")
            study.await_log(names[1], f"{names[2]} answers again")
            for name in (names[1], names[4]):
                (study.base / name / "log").write_text("")
        self.ends_well(study)


if __name__ == "__main__":
    unittest.main()
