"""A party whose folder was copied (R14): both copies are started. No round has two values at the neighbours, or nobody claims an ε for it.
PARLEY_TEST_FULL: 200 pairs."""
import random

from mesh_case import *

PAIRS = 200 if FULL else 4
A, B, C = "hospital_a", "hospital_b", "hospital_c"


def heads(study, holder, out="out"):
    """{round: head} of C's values that this party stored, or signed itself."""
    return {m.round: m.head for m in wire.values(study.base / holder / out / "transcript") if m.sender == C}


class Clones(Case):
    def copied(self, name, rounds, begun):
        """C is killed after so many rounds, and its folder copied."""
        study = Study(self.dir / name, seed=None, rounds=rounds, deadline=2, wait=60, cap="unlimited", epsilon=30)
        self.start_all(study)
        study.until(lambda: study.rounds_of(C) > begun, "some rounds")
        self.processes[C].kill()
        self.processes[C].wait()
        shutil.copytree(study.base / C, study.base / "copy")
        return study

    def start_copy(self, study):
        with open(study.base / "copy/log", "a") as log:
            self.processes["copy"] = subprocess.Popen([PARLEY, *study.command(C), "--listen", f"127.0.0.1:{free_ports(1)[0]}"], cwd=study.base / "copy",
                                                      stdout=subprocess.DEVNULL, stderr=log, text=True)

    def ends_of_all(self, study):
        """{party: (exit code, outcome in its record)}"""
        for name in (A, B, C, "copy"):
            study.until(lambda: self.processes[name].poll() is not None, f"{name} ends")
        return {name: (self.processes[name].returncode, json.loads((study.base / name / "out/run.json").read_text())["outcome"])
                for name in (A, B, C, "copy")}

    def verified(self, study):
        """What is found of C by the others' records."""
        result = run("verify", *(study.base / n / "out" for n in (A, B)), "--study", study.base / A / "study.toml", "--json", cwd=self.dir, check=False)
        return next(p for p in json.loads(result.stdout)["parties"] if p["party"] == C)

    def assert_no_epsilon_anywhere(self, study):
        """By C's own record too, which holds the proof, and on every page (R14)."""
        for names in ((C,), ("copy",), (A, C), (A, B, C), (A, B, "copy")):
            with self.subTest(names):
                records = [study.base / n / "out" for n in names]
                result = run("verify", *records, "--study", study.base / A / "study.toml", "--json", cwd=self.dir, check=False)
                found = json.loads(result.stdout)
                of_c = next(p for p in found["parties"] if p["party"] == C)
                self.assertEqual((result.returncode, of_c["contradicted"], of_c["past_unknown"], of_c["epsilon"], found["epsilon"]), (1, True, True, None, None), found["wrong"])
                self.assertTrue(any(w.startswith(f"{C}: it keeps a signature of its own that its ledger does not know of") for w in found["wrong"]), found["wrong"])
                self.assertFalse(any("neighbour of" in w or "contradicts nothing" in w for w in found["wrong"]), found["wrong"])
        holders = [n for n in (A, B) if json.loads((study.base / n / "out/run.json").read_text()).get("contradicted_parties") == [C]]
        self.assertTrue(holders, study.logs())
        for name in (C, "copy", *holders):
            no_epsilon(self, study.base / name / "out", C)
        for names in ((C,), ("copy",), holders, (A, B, C)):
            with self.subTest(f"a page of {names}"):
                run("report", *(study.base / n / "out" for n in names), "--out", "page.html", cwd=self.dir)
                page = (self.dir / "page.html").read_text()
                self.assertIn(f"no ε holds for {C}", page)
                self.assertIn('class="light red"', page)
                for claim in ("learns at most", "best guesser", "ε spent", f"Privacy loss of {C}", 'class="light green"', 'class="light amber"'):
                    self.assertNotIn(claim, page)

    def test_two_copies_that_meet_one_neighbour_both_stop_and_claim_nothing(self):
        study = self.copied("study", 20000, 5)
        self.start(study, C)
        study.until(lambda: study.rounds_of(C) > 40, "it goes on")
        self.start_copy(study)
        ends = self.ends_of_all(study)
        self.assertEqual((ends[C], ends["copy"]), ((5, "past_unknown"), (5, "past_unknown")), f"{ends}\n" + study.logs())
        if (5, "equivocation") not in (ends[A], ends[B]):  # the copy's goodbye came first: who holds the proof knows it when it starts again
            self.assertEqual({ends[A], ends[B]}, {(4, "peer_lost")}, study.logs())
            self.start(study, A)
            self.start(study, B)
            ends = self.ends_of_all(study)
        self.assertIn((5, "equivocation"), (ends[A], ends[B]), study.logs())
        for name in (C, "copy"):
            for paper in ("statement.json", "model.json"):
                self.assertFalse((study.base / name / "out" / paper).exists(), name + " claims something\n" + study.logs())
        self.assertRegex(study.log(A) + study.log(B), "two processes have the number 2")
        found = self.verified(study)
        self.assertEqual((found["contradicted"], found["epsilon"]), (True, None))
        self.assert_no_epsilon_anywhere(study)

    def test_of_two_copies_neither_claims_anything_or_there_is_one_history(self):
        stopped = 0
        for seed in range(PAIRS):
            with self.subTest(seed):
                draw = random.Random(seed)
                study = self.copied(f"study{seed}", 400, draw.randrange(1, 20))
                for start in draw.sample((lambda: self.start(study, C), lambda: self.start_copy(study)), 2):
                    start()
                    time.sleep(draw.random() * draw.choice((0, 0.3)))
                ends = self.ends_of_all(study)
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
                self.assertLess([ends[C][1], ends["copy"][1]].count("completed"), 2, "both copies completed the run\n" + study.logs())
                if twice:
                    self.assertIsNone(self.verified(study)["epsilon"])
        print(f"{PAIRS} pairs, {stopped} stopped without a claim", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
