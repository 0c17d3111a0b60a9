"""kill -9 of the whole program while it trains on a ledger, at everything it does to a file, and `--resume` (promises R1, R2, R4).
After every kill: what the record says was released is in the ledger; the resumed run ends with the spend of an undisturbed run, one value
per (node, round), what was stored is what stands at the end, and in seeded mode the same model, bit for bit."""
import collections
import random
import subprocess
import time

from train_case import *

PLACES = ["before the transaction", "before an insert", "before the commit", "after the commit", "before the return",
          "write l.db-wal", "sync l.db-wal", "write l.db.newest-head", "write released.f64", "write rounds.jsonl"]
FILES = ["model.json", "released.f64", "rounds.jsonl"]


class Kill(Case):
    def options(self, algorithm, private):
        return ("train", "--algorithm", algorithm, *SMALL, *ALGORITHMS[algorithm], "--rounds", 4, "--ledger", "l.db", "--out", "run", "--quiet",
                *(("--dataset", "ward") if private else ("--dataset", "open", "--seed", 5)))

    def undisturbed(self, options):
        self.make_ledger()
        self.keep_ledger()
        self.ok(*options, program=FAILPOINTS, PARLEY_EVENTS=self.dir / "events")
        events = (self.dir / "events").read_text().splitlines()
        self.reference = {"spend": self.spend(), "files": [(self.dir / "run" / f).read_bytes() for f in FILES],
                          "charges": [e[2:5] for e in self.entries()], "values": [e[5] for e in self.entries()]}
        self.assertEqual(len(set(c[:2] for c in self.reference["charges"])), len(self.reference["charges"]))
        for place in PLACES:  # in every round
            self.assertGreaterEqual(events.count(place), 5, place)
        return events

    def finish(self, options):
        """Goes on after a kill, as its owner would."""
        if self.outcome("run") is None:  # it died before it had a record
            self.assertEqual(self.entries(), [])
            self.fails(*options, "--resume", says=["there is no run to resume"], writes=True)
            shutil.rmtree(self.dir / "run", ignore_errors=True)
            self.ok(*options)
        elif self.outcome("run") != "completed":
            self.ok(*options, "--resume")

    def check(self, before, private, where):
        after = self.entries()
        self.assertEqual(after[:len(before)], before, where)  # nothing that was stored changed
        self.assertEqual([e[2:5] for e in after], self.reference["charges"], where)  # every (node, round) once, at its price
        self.assertEqual(self.spend(), self.reference["spend"], where)
        self.assertEqual(self.outcome("run"), "completed", where)
        self.assert_released_was_paid("run")
        self.assertEqual(len(self.released("run")), 1 + max(e[3] for e in after), where)
        if not private:
            self.assertEqual([e[5] for e in after], self.reference["values"], where)
            for name, bytes_then in zip(FILES, self.reference["files"]):
                self.assertEqual((self.dir / "run" / name).read_bytes(), bytes_then, (where, name))

    def chosen(self, events, private):
        """All of them. In the short form: every named place and every file of the record in some rounds, and a part of the rest."""
        every = 1 if FULL else (24 if SHORT else 12) * (3 if private else 1)
        count, chosen = collections.Counter(), []
        for n, name in enumerate(events, start=1):
            count[name] += 1
            named = not private and not SHORT and (
                name.startswith("rename") or (name.startswith("write r") and count[name] in (1, 3)) or (name in PLACES[:5] and count[name] in (2, 5)))
            for how in ("PARLEY_KILL", "PARLEY_TORN") if name.startswith("write") else ("PARLEY_KILL",):
                if named or (n + (how == "PARLEY_TORN")) % every == 0:
                    chosen.append((how, n, name))
        return chosen

    def kill_everywhere(self, algorithm, private):
        options = self.options(algorithm, private)
        events = self.undisturbed(options)
        chosen = self.chosen(events, private)
        for how, n, name in chosen:
            where = f"{algorithm}, {'private' if private else 'seeded'}, {how}={n}: {name}"
            self.fresh()
            self.assertEqual(self.run_program(*options, program=FAILPOINTS, **{how: n}).returncode, KILLED, where)
            self.assert_released_was_paid("run")
            before = self.entries()
            with self.subTest(where):
                self.finish(options)
                self.check(before, private, where)
        verified = self.ok("ledger", "verify", "l.db", "run")
        self.assertIn("bit for bit", verified)
        print(f"{algorithm}, {'private' if private else 'seeded'}: killed at {len(chosen)} places of {len(events)}")

    def test_mr_admm_seeded(self):
        self.kill_everywhere("mr-admm", private=False)

    def test_pvp_seeded(self):
        self.kill_everywhere("pvp", private=False)

    def test_dp_admm_seeded(self):
        self.kill_everywhere("dp-admm", private=False)

    def test_newton_seeded(self):
        self.kill_everywhere("newton", private=False)

    def test_newton_private(self):
        self.kill_everywhere("newton", private=True)

    def test_mr_admm_private(self):
        self.kill_everywhere("mr-admm", private=True)

    def test_pvp_private(self):
        self.kill_everywhere("pvp", private=True)

    def test_dp_admm_private(self):
        self.kill_everywhere("dp-admm", private=True)

    def test_the_resumed_run_may_be_killed_as_well(self):
        """Again and again in one run, each time a little further."""
        options = self.options("mr-admm", private=False)
        self.undisturbed(options)
        self.fresh()
        deaths = 0
        while self.outcome("run") != "completed":
            resume = () if self.outcome("run") is None else ("--resume",)
            if not resume:
                shutil.rmtree(self.dir / "run", ignore_errors=True)
            end = self.run_program(*options, *resume, program=FAILPOINTS, PARLEY_TORN=29 + deaths % 7).returncode
            self.assertIn(end, (0, KILLED))
            deaths += end == KILLED
            self.assertLess(deaths, 200)
        self.assertGreater(deaths, 3)
        self.check([], False, f"{deaths} deaths")

    def test_random_kills(self):
        wanted, deaths, runs = 200 if FULL else 10, 0, 0
        draw = random.Random(os.environ.get("PARLEY_TEST_SEED", "1"))
        while deaths < wanted:
            algorithm, private = draw.choice(list(ALGORITHMS)), draw.random() < 0.3
            options = self.options(algorithm, private)
            if runs > 0:
                shutil.rmtree(self.dir / "kept")
                for path in self.dir.iterdir():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            self.undisturbed(options)
            self.fresh()
            begin = time.monotonic()
            self.ok(*options)
            whole = time.monotonic() - begin
            self.fresh()
            before = []
            while self.outcome("run") != "completed":
                resume = () if self.outcome("run") is None else ("--resume",)
                if not resume:
                    shutil.rmtree(self.dir / "run", ignore_errors=True)
                process = subprocess.Popen([PARLEY, *map(str, options), *resume], cwd=self.dir, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.PIPE, text=True)
                time.sleep(draw.uniform(0.2, 1.1) * whole)
                process.kill()
                _, said = process.communicate()
                self.assertIn(process.returncode, (0, KILLED), said)
                deaths += process.returncode == KILLED
                self.assert_released_was_paid("run")
                now = self.entries()
                self.assertEqual(now[:len(before)], before)
                before = now
            self.check(before, private, f"{algorithm}, run {runs}")
            runs += 1
        print(f"{deaths} random kills in {runs} runs")


if __name__ == "__main__":
    unittest.main()
