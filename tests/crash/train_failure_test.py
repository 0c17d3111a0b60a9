"""A round of `parley train` that cannot be certified: the ledger has it before anybody hears of it, it is charged as if it had been released, and
its run is closed wherever its record is (docs/operate/resume.md; promises R1, R9, R12)."""
from train_case import *
from train_resume_test import Resume

FAILED_ROUND = 2  # the third that is solved: round 0 is the start


class Failure(Resume):
    def failing(self, program=FAILPOINTS, **env):
        return dict(program=program, PARLEY_UNCERTIFIED=FAILED_ROUND + 1, **env)

    def fail(self, says=("cannot be certified",), **options):
        return self.fails(*self.train(**options), says=says, writes=True, **self.failing())

    def marks(self):
        return [(e[2], e[3], json.loads(e[4])) for e in self.entries(kind="failed")]

    def undisturbed(self):
        """A failed run, its spend and its events."""
        self.make_ledger()
        self.keep_ledger()
        self.fails(*self.train(), says=["cannot be certified"], writes=True, **self.failing(PARLEY_EVENTS=self.dir / "events"))
        events = (self.dir / "events").read_text().splitlines()
        return self.spend(), events

    def test_it_is_in_the_ledger_and_charged_as_if_it_had_been_released(self):
        self.make_ledger()
        self.ok(*self.train(out="whole", dataset="open", ledger="l.db"))
        planned = {(e[2], e[3]): json.loads(e[4]) for e in self.entries()}
        self.fail(dataset="open")
        marks = self.marks()
        self.assertEqual([(node, round) for node, round, _ in marks], [(node, FAILED_ROUND) for node in range(3)])
        for node, round, body in marks:
            self.assertEqual(body.pop("reason"), "uncertified")
            self.assertEqual(body, planned[node, round])
        self.assertEqual(self.outcome("run"), "uncertified")
        self.assertEqual(len(self.released("run")), FAILED_ROUND)
        self.assertIn(f"round {FAILED_ROUND} could not be certified. It is charged as if it had been released", self.ok("ledger", "show", "l.db"))
        shown = json.loads(self.ok("ledger", "show", "l.db", "--json"))["runs"]
        self.assertEqual([r["failed"] for r in shown], [None, {"round": FAILED_ROUND, "reason": "uncertified"}])
        for account in shown[1]["accounts"]:
            self.assertEqual((account["rounds_released"], account["charges"]), (FAILED_ROUND, FAILED_ROUND))  # round 0 costs nothing
        self.assertIn("1 run ended in a failed round, charged in full", self.ok("ledger", "verify", "l.db", "run"))

    def test_no_record_elsewhere_opens_it_again(self):
        self.make_ledger()
        self.kill("before the transaction", 4)  # a record that says "running"
        shutil.copytree(self.dir / "run", self.dir / "copy")
        self.fails(*self.resumed(), says=["cannot be certified"], writes=True, program=FAILPOINTS, PARLEY_UNCERTIFIED=1)
        self.fails(*self.resumed(), says=["be certified", "would choose the noise"], writes=True)
        self.assertEqual(self.outcome("copy"), "running")
        self.fails(*self.resumed(out="copy"), says=["l.db: run ", f"ended in round {FAILED_ROUND}", "would choose the noise", "whatever --out says"], writes=True)
        self.assertEqual(self.outcome("copy"), "running")
        self.assertEqual(len(self.marks()), 3)

    def test_another_out_is_another_run_that_pays_beside_it(self):
        self.make_ledger(ward=(2, "--delta", 1e-6), wide=(10, "--delta", 1e-6))
        self.fail()
        self.assertEqual([a[2] for a in self.spend()[1][0]], 3 * [FAILED_ROUND], "the failed round is charged")
        self.fails(*self.train(out="again"), says=["would exceed the cap of dataset 'ward'"], writes=True)
        self.fail(dataset="wide", out="first")
        before = {d: e for d, e, _ in self.spend()[0]}["wide"]
        self.ok(*self.train(dataset="wide", out="second"))
        after = {d: e for d, e, _ in self.spend()[0]}["wide"]
        self.assertGreater(before, 0)
        self.assertGreater(after, 2)  # a whole run costs 2 of itself

    def test_killed_at_any_point_it_is_either_unseen_or_closed(self):
        spend, events = self.undisturbed()
        first = [i for i, name in enumerate(events, start=1) if name == "solved"][FAILED_ROUND]
        places = range(first, len(events) + 1)
        self.assertGreater(len(places), 10)
        self.assertLess(events.index("after the mark of a failed round"), max(i for i, name in enumerate(events) if name.endswith(" run.json")))
        seen = {True: 0, False: 0}
        for n in places if FULL or len(places) < 40 else list(places)[:40]:
            with self.subTest(f"{n}: {events[n - 1]}"):
                self.fresh()
                killed = self.run_program(*self.train(), **self.failing(PARLEY_KILL=n))
                self.assertEqual(killed.returncode, KILLED)
                marked = len(self.marks()) > 0
                seen[marked] += 1
                if marked:
                    self.assertEqual(len(self.marks()), 3, "a mark by half")
                    self.assertEqual(self.spend(), spend)
                    self.fails(*self.resumed(), says=["be certified", "would choose the noise"], writes=True)
                    self.assertEqual(self.spend(), spend)
                else:  # nothing was stored, and nothing can be seen
                    self.assertNotIn("certified", killed.stdout + killed.stderr)
                    self.assertEqual(self.outcome("run"), "running")
                    self.ok(*self.resumed())
                    self.assertEqual([len(self.entries()), self.marks()], [15, []])
        self.assertTrue(seen[True] >= 3 and seen[False] >= 3, seen)

    def test_a_mark_that_cannot_be_written_is_a_full_disk_and_nothing_else(self):
        _, events = self.undisturbed()
        n = events.index("before the mark of a failed round") + 1
        self.fresh()
        said = self.fails(*self.train(), says=["cannot write the ledger", "nothing was released"], writes=True, **self.failing(PARLEY_FULL=n))
        self.assertNotIn("certified", said)
        self.assertNotEqual(self.outcome("run"), "uncertified")
        self.assertEqual(self.marks(), [])
        self.ok(*self.resumed())

    def test_without_a_ledger_the_record_alone_says_so(self):
        self.fail(paid=False)
        self.assertEqual(self.outcome("run"), "uncertified")
        self.fails(*self.resumed(paid=False), says=["be certified", "would choose the noise"], writes=True)


if __name__ == "__main__":
    unittest.main()
