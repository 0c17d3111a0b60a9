"""A party whose round cannot be certified: its ledger alone keeps it from trying again, whatever --out says (docs/operate/resume.md)."""
from mesh_case import *

A, B, C = "hospital_a", "hospital_b", "hospital_c"
MARK = "before the mark of a failed round", "after the mark of a failed round"


class Failure(Case):
    def study(self, **kw):
        return Study(self.dir / "study", rounds=6, deadline=0.5, **kw)

    def fail(self, study, code, **env):
        self.start_all(study, [A, B])
        self.start(study, C, program=FAILPOINTS, env={"PARLEY_UNCERTIFIED": "4", **env})  # round 3
        self.assertEqual(self.exit_of(study, C), code, study.logs())

    def shown(self, study):
        return json.loads(run("ledger", "show", "my.ledger", "--json", cwd=study.base / C).stdout)

    def refused(self, study, *more):
        """Whatever it is started with, it ends before it says a word to anybody."""
        before = self.shown(study)
        again = run(*study.command(C), *more, cwd=study.base / C, check=False)
        self.assertEqual(again.returncode, 5, again.stdout)
        for text in ("my.ledger: run ", "ended in round 3", "would choose the noise", "whatever --out says"):
            self.assertIn(text, again.stderr)
        self.assertEqual(self.shown(study), before)

    def check_closed(self, study):
        (r,) = self.shown(study)["runs"]
        self.assertEqual(r["failed"], {"round": 3, "reason": "uncertified"})
        self.assertEqual(r["accounts"][0]["rounds_released"], 3)
        self.assertEqual(r["accounts"][0]["charges"], 2)  # rounds 1 and 3 of mr-admm touch rows
        self.refused(study)
        shutil.rmtree(study.base / C / "out")
        self.refused(study)
        self.assertFalse((study.base / C / "out").exists(), "something was written")
        out = study.command(C).index("--out")
        again = run(*study.command(C)[:out + 1], "elsewhere", *study.command(C)[out + 2:], cwd=study.base / C, check=False)
        self.assertEqual(again.returncode, 5)
        self.assertIn("whatever --out says", again.stderr)
        self.assertFalse((study.base / C / "elsewhere").exists())
        self.assert_paid_by_others(study)

    def assert_paid_by_others(self, study):
        heard = [m.round for n in (A, B) for m in wire.values(study.out(n, "transcript")) if m.sender == C]
        self.assertLessEqual(max(heard), 2, "heard of a round that failed")

    def test_it_is_marked_and_no_out_opens_it_again(self):
        study = self.study()
        self.fail(study, 5)
        self.assertIn("cannot be certified", study.log(C))
        self.assertEqual(json.loads(study.out(C, "run.json").read_text())["outcome"], "uncertified")
        self.check_closed(study)

    def test_killed_after_the_mark_it_stays_closed(self):
        study = self.study()
        self.fail(study, KILLED, PARLEY_AT=MARK[1], PARLEY_KILL="1")
        self.assertNotIn("certified", study.log(C))
        self.check_closed(study)

    def test_killed_before_the_mark_nothing_has_happened(self):
        study = self.study()
        self.fail(study, KILLED, PARLEY_AT=MARK[0], PARLEY_KILL="1")
        self.assertNotIn("certified", study.log(C))
        self.start(study, C)
        self.assert_completed(study)
        self.assert_same_as_simulation(study)
        self.assert_spend(study)


if __name__ == "__main__":
    unittest.main()
