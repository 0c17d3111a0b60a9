"""kill -9 of parties at everything they do to a file or a peer, and at random times (promises R1, R2, R3, R7). A killed party is started again
with the same command. Then every ledger has the spend of an undisturbed run, every (node, round) one value, nothing was heard that was not
paid, and the model is the simulation's, bit for bit."""
import collections

from mesh_case import *

PLACES = [  # of every round
    "solved, not paid", "before the transaction", "before an insert", "before the commit", "after the commit", "before the return",
    "write my.ledger-wal", "sync my.ledger-wal", "write my.ledger.newest-head", "write released.f64", "write rounds.jsonl",
    "before an append to the transcript", "write transcript", "after an append to the transcript", "sync transcript", "after a sync of the transcript",
    "synced, not sent", "sent to some", "stored, not acknowledged"]
ONCE = ["write run.json.part", "rename run.json", "sync out", "write model.json.part", "rename model.json", "rename statement.json", "unlink my.ledger-wal"]
PARTIES = {"mr-admm": 3, "pp": 3, "newton": 4, "dp-admm": 2}  # dp-admm: and the trainer; newton: on a ring of four values are passed on


class Kill(Case):
    def make(self, algorithm, **kw):
        study = Study(self.dir / algorithm, algorithm, parties=PARTIES[algorithm], deadline=0.5, **kw)
        study.keep()
        return study

    def undisturbed(self, study):
        """Its events, by party."""
        for name in study.all:
            self.start(study, name, program=FAILPOINTS, env={"PARLEY_EVENTS": str(study.base / name / "events")})
        self.assert_completed(study)
        self.assert_same_as_simulation(study)
        self.reference = {name: (study.spend(name), {r: c for r, (c, _) in study.charges(name).items()}) for name in study.all}
        return {name: collections.Counter((study.base / name / "events").read_text().splitlines()) for name in study.all}

    def check(self, study, before=None):
        self.assert_completed(study)
        self.assertGreaterEqual(self.assert_paid(study), len(study.all) * study.rounds)
        self.assert_same_as_simulation(study)
        self.assert_spend(study)
        for name in study.all:
            after = study.charges(name)
            self.assertEqual((study.spend(name), {r: c for r, (c, _) in after.items()}), self.reference[name], name)
            for round, charge in (before or {}).get(name, {}).items():
                self.assertEqual(after[round], charge, f"{name}: what was stored of round {round} changed")

    def kill_at(self, study, victim, place, n, how):
        """False: this run did not come to the n-th time."""
        study.fresh()
        for name in study.all:
            env = {"PARLEY_AT": place, how: str(n)} if name == victim else None
            self.start(study, name, program=FAILPOINTS if name == victim else PARLEY, env=env)
        end = self.exit_of(study, victim)
        self.assertIn(end, (0, KILLED), study.logs())
        before = {victim: study.charges(victim)}
        if end == KILLED:
            self.assert_paid(study, [victim])
            self.start(study, victim)
        self.check(study, before)
        return end == KILLED

    def cases(self, algorithm, events):
        """(victim, place, n, how): in the first rounds, in the middle and in the last ones. The short forms: some, each at another place."""
        chosen = []
        for victim in events:
            for place in PLACES + ONCE:
                count = events[victim][place]
                self.assertGreaterEqual(count, 1, (victim, place))
                for n in sorted({1, 2, 3 + (count - 3) // 3, count - (count - 3) // 3, count - 2, count} if count > 6 else range(1, count + 1)):
                    chosen.append((victim, place, n, "PARLEY_KILL"))
                    if place.startswith("write"):
                        chosen.append((victim, place, n, "PARLEY_TORN"))
        if FULL:
            return chosen
        random.Random(algorithm).shuffle(chosen)
        first = next(case for case in chosen if case[1] == "write run.json.part")  # before anything of the record is whole
        return [first, *list({place: (victim, place, n, how) for victim, place, n, how in chosen}.values())[:3 if SHORT else 13]]

    def kill_everywhere(self, algorithm):
        study = self.make(algorithm)
        kills, met, cases = 0, set(), self.cases(algorithm, self.undisturbed(study))
        for victim, place, n, how in cases:
            with self.subTest(f"{algorithm}: {victim} at {place!r}, time {n}, {how}"):
                if self.kill_at(study, victim, place, n, how):
                    kills += 1
                    met.add(place)
        print(f"{algorithm}: {kills} kills at {len(met)} places of {len(PLACES) + len(ONCE)}", file=sys.stderr)
        self.assertGreaterEqual(kills, 0.6 * len(cases))  # not every run comes to the same place as often

    def test_mr_admm_survives_a_kill_at_every_place(self):
        self.kill_everywhere("mr-admm")

    def test_pp_survives_a_kill_at_every_place(self):
        self.kill_everywhere("pp")

    def test_newton_survives_a_kill_at_every_place(self):
        self.kill_everywhere("newton")

    def test_dp_admm_survives_a_kill_at_every_place_of_trainer_and_parties(self):
        self.kill_everywhere("dp-admm")

    def test_random_kills_of_one_two_and_all_parties(self):
        """Each time a party dies it is started again, after a pause or at once, until the run is through."""
        wanted, deaths, runs = 200 if FULL else 10, 0, 0
        seed = os.environ.get("PARLEY_TEST_SEED", "1")
        draw, studies = random.Random(seed), {}
        while deaths < wanted:
            algorithm = draw.choice(list(PARTIES))
            if algorithm not in studies:
                study = self.make(algorithm, rounds=20)
                self.undisturbed(study)
                studies[algorithm] = study, self.reference
            study, self.reference = studies[algorithm]
            study.fresh()
            self.start_all(study)
            for _ in range(draw.randint(1, 6)):
                time.sleep(draw.uniform(0, 0.3))
                victims = draw.sample(study.all, draw.choice((1, 1, 2, len(study.all))))
                for name in victims:
                    self.processes[name].kill()
                for name in victims:
                    end = self.exit_of(study, name)
                    self.assertIn(end, (0, 6, KILLED), study.logs())
                    deaths += end == KILLED
                self.assert_paid(study, victims)
                time.sleep(draw.choice((0, draw.uniform(0, 0.8))))
                for name in victims:
                    if self.processes[name].returncode == KILLED:
                        self.start(study, name)
            with self.subTest(f"seed {seed}, run {runs}, {algorithm}"):
                self.check(study)
            runs += 1
        print(f"{deaths} random kills in {runs} runs", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
