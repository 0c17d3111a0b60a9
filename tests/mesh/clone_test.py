"""A party whose folder was copied (R14): both copies are started. No round has two values at the neighbours, or nobody claims an ε for it.
PARLEY_TEST_FULL: 200 pairs."""
import random
import socket

from mesh_case import *

PAIRS = 200 if FULL else 4
A, B, C = "hospital_a", "hospital_b", "hospital_c"


def heads(study, holder, out="out"):
    """{round: head} of C's values that this party stored, or signed itself."""
    return {m.round: m.head for m in wire.values(study.base / holder / out / "transcript") if m.sender == C}


class Clones(Case):
    def pair(self, seed):
        draw = random.Random(seed)
        study = Study(self.dir / f"study{seed}", seed=None, rounds=400, deadline=0.5, wait=20, cap="unlimited", epsilon=30)
        self.start_all(study)
        study.until(lambda: study.rounds_of(C) > draw.randrange(1, 20), "some rounds")
        self.processes[C].kill()
        self.processes[C].wait()
        shutil.copytree(study.base / C, study.base / "copy")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        command = [PARLEY, *study.command(C), "--listen", f"127.0.0.1:{port}"]

        def start_copy():
            with open(study.base / "copy/log", "a") as log:
                self.processes["copy"] = subprocess.Popen(command, cwd=study.base / "copy", stdout=subprocess.DEVNULL, stderr=log, text=True)

        copies = [lambda: self.start(study, C), start_copy]
        draw.shuffle(copies)
        for start in copies:
            start()
            time.sleep(draw.random() * draw.choice((0, 0.3)))
        for name in (A, B, C, "copy"):
            study.until(lambda: self.processes[name].poll() is not None, f"{name} ends")
        return study

    def test_of_two_copies_neither_claims_anything_or_there_is_one_history(self):
        stopped = 0
        for seed in range(PAIRS):
            with self.subTest(seed):
                study = self.pair(seed)
                seen = {}
                for holder in (A, B):
                    for round, head in heads(study, holder).items():
                        seen.setdefault(round, set()).add(head)
                twice = [round for round, values in seen.items() if len(values) > 1]
                statements = [(study.base / name / "out/statement.json").exists() for name in (C, "copy")]
                stopped += not any(statements)
                if twice:
                    self.assertEqual(statements, [False, False], f"rounds {twice} have two values\n" + study.logs())
                # A copy that came too late and met nobody states what was planned, which holds: there is one history.
                outcomes = [json.loads((study.base / name / "out/run.json").read_text())["outcome"] for name in (C, "copy")]
                self.assertLess(outcomes.count("completed"), 2, "both copies completed the run\n" + study.logs())
                result = run("verify", *(study.base / n / "out" for n in (A, B)), "--study", study.base / A / "study.toml", "--json", cwd=self.dir, check=False)
                found = {p["party"]: p for p in json.loads(result.stdout)["parties"]}
                if twice:
                    self.assertIsNone(found[C]["epsilon"])
        print(f"{PAIRS} pairs, {stopped} stopped without a claim", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
