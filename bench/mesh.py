"""mesh.py PARLEY OUTDIR: a study between real processes on this machine, as a table and OUTDIR/mesh.json.
Time of a round, split into solving, ledger and the rest (network, transcript, waiting for the slowest); and what network and ledger add to
the in-process engine (`parley train`) on the same rows: with the files on a disk, and in memory, where a sync costs nothing. Between two
lengths of the same study, so that starting and connecting do not count; the smallest of some, since whoever else is on the machine only adds."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ["PARLEY"] = str(pathlib.Path(sys.argv[1]).resolve())
OUT = pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "mesh"))
from mesh_case import MEMORY, Study  # noqa: E402

SHORT, LONG, REPEAT = 20, 220, 5
TARGETS = {"disk": 8, "memory": 2}  # milliseconds a round


def sync_cost(folder):
    """Milliseconds of one fdatasync after a small append, the median."""
    times = []
    with open(pathlib.Path(folder) / "probe", "wb", buffering=0) as f:
        for _ in range(200):
            f.write(bytes(600))
            begun = time.perf_counter()
            os.fdatasync(f.fileno())
            times.append(time.perf_counter() - begun)
    return 1e3 * sorted(times)[len(times) // 2]


def of_parties(study):
    """Seconds of one run by part, of its slowest party; from round 0 to the last, so after everybody is connected."""
    study.fresh()
    processes = [study.start(name) for name in study.all]
    found = []
    for process in processes:
        out, _ = process.communicate(timeout=600)
        if process.returncode != 0:
            sys.exit(study.logs())
        found.append(json.loads(out))
    return {part: max(f[part] for f in found) for part in ("seconds", "seconds_solve", "seconds_pay")}


def of_engine(study):
    """Seconds of the same study in one process, without a ledger file."""
    command = ["train", "--data", ",".join(str(study.base / n / "mine.csv") for n in study.names), "--schema", study.base / "shared/schema.toml", "--test-share", 0, "--seed", 3,
               "--graph", "ring", "--algorithm", study.algorithm, "--rounds", study.rounds, "--epsilon", 2, "--delta", 1e-6, "--loss-weight", 20, "--threads", 1,
               "--metrics", "last", "--json", "--quiet", "--out"]
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        begun = time.perf_counter()
        subprocess.run([os.environ["PARLEY"], *map(str, command), folder + "/run"], check=True, capture_output=True)
        return {"seconds": time.perf_counter() - begun}


def per_round(short, long, measure):
    """Milliseconds of a round, by part."""
    low, high = {}, {}
    for _ in range(REPEAT):
        for study, best in ((short, low), (long, high)):
            for part, seconds in measure(study).items():
                best[part] = min(best.get(part, seconds), seconds)
    return {part: 1e3 * (high[part] - low[part]) / (LONG - SHORT) for part in low}


def main():
    found = {"rounds": [SHORT, LONG], "parties": 3, "rows": 2000, "algorithm": "mr-admm"}
    for place, folder in (("disk", str(OUT)), ("memory", MEMORY)):
        if folder is None:
            print("skipped: no folder in memory")
            continue
        with tempfile.TemporaryDirectory(dir=folder, prefix="parley-mesh-") as base:
            studies = [Study(f"{base}/{rounds}", rounds=rounds, rows=found["rows"], deadline=10.0) for rounds in (SHORT, LONG)]
            for study in studies:
                study.keep()
            parties, engine = per_round(*studies, of_parties), per_round(*studies, of_engine)
            result = {"round": parties["seconds"], "solve": parties["seconds_solve"], "ledger": parties["seconds_pay"],
                      "network": parties["seconds"] - parties["seconds_solve"] - parties["seconds_pay"], "engine": engine["seconds"],
                      "overhead": parties["seconds"] - engine["seconds"] / found["parties"], "sync": sync_cost(base), "target": TARGETS[place]}
        found[place] = result
        print(f"  {place:>6}: round {result['round']:6.2f} ms = solve {result['solve']:.2f} + ledger {result['ledger']:.2f} + network {result['network']:.2f};"
              f" engine {result['engine']:.2f} for all nodes; overhead {result['overhead']:.2f} (target {result['target']}); one sync {result['sync']:.2f}", flush=True)
    (OUT / "mesh.json").write_text(json.dumps(found, indent=1) + "\n")
    print(OUT / "mesh.json")


OUT.mkdir(parents=True, exist_ok=True)
main()
