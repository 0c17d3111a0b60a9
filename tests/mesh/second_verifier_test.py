"""tools/verify.py, written from the pages alone, beside `parley verify`: on whole records both say that they hold, and on tampered ones both name
the same parties. forge.cpp is the dishonest party."""
from loss_case import *

try:
    import cryptography  # noqa: F401
except ImportError:
    print("skipped: python3-cryptography not found")
    sys.exit(0)

FORGE = os.environ["MESH_FORGE"]
TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/verify.py"
sys.path.insert(0, str(TOOL.parent))
from second_verifier.checks import Verification  # noqa: E402


def named(wrong):
    """The parties that these sentences accuse."""
    return {re.match(r"(?:part \d+: )?([\w.-]+)", w)[1] for w in wrong}


class SecondVerifier(LossCase):
    studies = {}  # all run at once; every test works on a copy of their records

    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.TemporaryDirectory(dir=MEMORY, prefix="parley-second-")
        base, running = pathlib.Path(cls.base.name), []
        for name, algorithm, options in (("newton", "newton", {}), ("shared", "newton", {"seed": None, "options": {"colluders": 1}.items()}), ("mr-admm", "mr-admm", {}), ("dp-admm", "dp-admm", {})):
            case = cls()
            case.processes = {}
            running.append((case, name, Study(base / name, algorithm, deadline=0.5, **options)))
            case.start_all(running[-1][2])
        case = cls()
        case.processes = {}
        study, _, left = case.begin_and_lose("mr-admm", base=base / "lossy", rounds=60)
        case.assert_completed(study, case.results(study, left))
        cls.studies["lossy"] = study
        for case, name, study in running:
            case.assert_completed(study)
            cls.studies[name] = study

    @classmethod
    def tearDownClass(cls):
        cls.base.cleanup()

    def runTest(self):  # of the cases that only hold processes
        pass

    def study(self, name):
        """A run that ended; its records are copied to self.copies."""
        study = self.studies[name]
        self.copies = self.dir / "records"
        shutil.rmtree(self.copies, ignore_errors=True)
        for party in study.all:
            shutil.copytree(study.base / party / "out", self.copies / party)
        return study

    def both(self, study, parties=None, ledgers=()):
        """What the two say of the same records."""
        records, file = [self.copies / n for n in parties or study.all], study.base / "shared/study.toml"
        more = ("--ledger", ",".join(map(str, ledgers))) if ledgers else ()
        first = json.loads(run("verify", *records, "--study", file, "--json", *more, cwd=self.dir, check=False).stdout)
        return first, Verification(file, records, ledgers).result()

    def assert_whole(self, study, parties=None, ledgers=()):
        first, second = self.both(study, parties, ledgers)
        self.assertEqual((first["wrong"], second["wrong"]), ([], []))
        for key in ("holds", "study", "study_hash", "delta", "not_private", "messages", "parts", "secrets"):
            self.assertEqual(first[key], second[key], key)
        for mine, other in zip(first["parties"], second["parties"], strict=True):
            for key in mine:
                if isinstance(mine[key], float):
                    self.assertAlmostEqual(mine[key], other[key], delta=1e-6 * abs(mine[key]), msg=key)
                else:
                    self.assertEqual(mine[key], other[key], (mine["party"], key))
        self.assertAlmostEqual(first["epsilon"], second["epsilon"], delta=1e-6 * first["epsilon"])
        return second

    def assert_agreed(self, study, *parties):
        """Both find exactly these parties wrong."""
        first, second = self.both(study)
        self.assertEqual((named(first["wrong"]), named(second["wrong"])), (set(parties), set(parties)), "\n".join(["parley:", *first["wrong"], "second:", *second["wrong"]]))

    def forge(self, study, what, holder, sender, *more, part=""):
        run(what, self.copies / holder / part / "transcript", sender, study.base / sender / f"{sender}.key", *more, cwd=self.dir, program=FORGE)

    # --- whole records ----------------------------------------------------------------------------------------------------

    def test_both_hold_whole_records_with_the_same_numbers(self):
        for name in self.studies:
            with self.subTest(name):
                study = self.study(name)
                self.assert_whole(study, ledgers=[study.base / n / "my.ledger" for n in study.all if (name, n) != ("lossy", LOST)])

    def test_the_program_prints_what_it_found_and_ends_with_0_or_1(self):
        study = self.study("mr-admm")
        command = [TOOL, *(self.copies / n for n in study.all), "--study", study.base / "shared/study.toml"]
        self.assertIn("Everything that was checked holds.", run(*command, cwd=self.dir, program=sys.executable).stdout)
        (self.copies / "hospital_b/notes.txt").write_text("x")
        result = run(*command, "--json", cwd=self.dir, program=sys.executable, check=False)
        self.assertEqual((result.returncode, json.loads(result.stdout)["wrong"]), (1, ["hospital_b: its record holds notes.txt, which no party writes there"]))
        self.assertIn("run.json", run(TOOL, self.dir, *command[-2:], cwd=self.dir, program=sys.executable, check=False).stderr)

    def test_some_of_the_records_are_enough_for_what_they_hold(self):
        study = self.study("dp-admm")
        for given in (["hospital_a"], ["coordinator", "hospital_b"]):
            first, second = self.both(study, given)
            self.assertEqual((first["wrong"], second["wrong"]), ([], []))
            self.assertEqual([p["rounds_released"] for p in first["parties"]], [p["rounds_released"] for p in second["parties"]])

    # --- tampered ---------------------------------------------------------------------------------------------------------

    def test_both_find_values_heads_and_rounds_that_were_changed(self):
        study = self.study("mr-admm")
        everywhere = lambda *words: [(words[0], holder, *words[1:]) for holder in study.all]
        for forged in ([("value", "hospital_b", "hospital_b", 3, 0, 1)],
                       [("value", "hospital_a", "hospital_b", 3, 0, 1)],
                       everywhere("value", "hospital_b", 4, 2, 0.5),
                       everywhere("value", "hospital_c", 0, 1, 0.5),
                       [("value", "hospital_a", "hospital_b", 1, 0, 2.0**-45)],
                       [("value", "hospital_a", "hospital_b", 1, 0, 2048.0)],
                       [("head", "hospital_a", "hospital_b", 2)],
                       [("final", "hospital_a", "hospital_b", 0, 0, 1)],
                       [("drop", "hospital_b", "hospital_b", 5)],
                       [("drop", "hospital_b", "hospital_a", 5)],
                       [("early", "hospital_b", "hospital_b", 1)],
                       [("ungreeted", "hospital_b", "hospital_c", 0)],
                       [("copy", "hospital_b", "hospital_b", 3)],
                       [("evidence", "hospital_c", "hospital_b", 3, 0, 0)],
                       [("evidence", "hospital_a", "hospital_b", 3, 0, 1)],
                       [("evidence", "hospital_b", "hospital_b", 3, 0, 1)]):
            with self.subTest(forged):
                self.study("mr-admm")
                for words in forged:
                    self.forge(study, *words)
                self.assert_same_found(study, forged)

    def assert_same_found(self, study, what):
        first, second = self.both(study)
        self.assertTrue(first["wrong"] and second["wrong"], what)
        self.assertEqual(named(first["wrong"]), named(second["wrong"]), "\n".join([str(what), "parley:", *first["wrong"], "second:", *second["wrong"]]))
        self.assertEqual([p["contradicted"] for p in first["parties"]], [p["contradicted"] for p in second["parties"]])

    def test_both_find_a_foreign_signature_and_entries_in_an_impossible_order(self):
        study, me, other = self.study("mr-admm"), "hospital_b", "hospital_a"
        value, final, seal, last = wire.VALUE, wire.FINAL, wire.SEAL, 6
        run("value", self.copies / other / "transcript", me, study.base / "hospital_c/hospital_c.key", 3, 0, 1, cwd=self.dir, program=FORGE)
        self.assert_agreed(study, other)
        for moves in ([("after", other, value, 3, me, value, 3), ("after", other, value, 2, me, value, 3)], [("before", other, value, 3, me, value, 3), ("before", other, value, 4, me, value, 3)],
                      [("before", me, final, last, other, value, last)], [("before", me, seal, last, other, final, last)]):
            self.study("mr-admm")
            for where, *move in moves:
                run(where, self.copies / me / "transcript", *move, cwd=self.dir, program=FORGE)
            self.assert_agreed(study, me)

    def test_both_find_a_key_that_is_kept_for_longer_than_the_others(self):
        study = self.study("shared")
        for holder in study.all:
            self.forge(study, "day", holder, "hospital_b", 0)
        self.assert_agreed(study, "hospital_b")

    def test_both_find_changed_files(self):
        study = self.study("mr-admm")
        folder = self.copies / "hospital_b"
        document = lambda file, change: lambda: (folder / file).write_text(written(change(read_json(folder / file))))

        def changed(file, at):
            data = bytearray((folder / file).read_bytes())
            data[at] ^= 1
            (folder / file).write_bytes(data)

        def another_certificate(d):
            return {**d, "certificate": read_json(self.copies / "hospital_a/statement.json")["certificate"]}

        def smaller(d):
            d["statement"]["epsilon"] = 1.0
            return d

        def other_weights(d):
            d["weights"][0] = 0.5
            return d

        for change in (lambda: changed("released.f64", 2000), lambda: changed("transcript", 3000), document("statement.json", another_certificate), document("statement.json", smaller),
                       document("model.json", other_weights), document("own_model.json", other_weights), document("run.json", lambda d: {**d, "rounds_done": 2}),
                       lambda: (folder / "model.json").write_bytes((folder / "model.json").read_bytes() + b" "),
                       lambda: (folder / "rounds.jsonl").write_bytes((folder / "rounds.jsonl").read_bytes().replace(b'"epsilon":', b'"epsilon":1', 1)),
                       lambda: (folder / "statement.json").unlink(), lambda: shutil.copytree(self.copies / "hospital_a", folder / "part-3")):
            self.study("mr-admm")
            change()
            self.assert_agreed(study, "hospital_b")
        self.study("mr-admm")  # signed afresh by its party
        run("statement", folder / "statement.json", study.base / "hospital_b/hospital_b.key", "epsilon", 1.0, cwd=self.dir, program=FORGE)
        self.assert_agreed(study, "hospital_b")

    def test_both_find_other_sums_another_model_and_another_trainer(self):
        study = self.study("newton")
        for words in (("hospital_b", 1, 3, 0.125), ("hospital_b", study.last_round, 2, 0.5)):
            self.study("newton")
            for holder in study.all:
                self.forge(study, "value", holder, *words)
            self.assert_same_found(study, words)
        study = self.study("dp-admm")
        for holder in study.all:
            self.forge(study, "value", holder, "coordinator", 4, 2, 0.5)
        self.assert_same_found(study, "trainer")

    def test_both_find_what_does_not_follow_after_a_loss(self):
        study = self.study("lossy")
        left = [n for n in study.all if n != LOST]
        for round, coordinate in ((0, 0), (2, 3)):
            self.study("lossy")
            for holder in left:
                self.forge(study, "value", holder, "hospital_a", round, coordinate, 0.5, part="part-2")
            self.assert_same_found(study, round)
        self.study("lossy")
        for holder in left:
            self.forge(study, "stated", holder, "hospital_c", 3)
        first, second = self.both(study)
        self.assertTrue(first["wrong"] and second["wrong"])
        self.assertTrue(named(first["wrong"]) & named(second["wrong"]))

    def test_both_find_a_ledger_that_holds_something_else(self):
        study = self.study("mr-admm")
        for file in (study.base / "hospital_b").glob("my.ledger*"):
            shutil.copy(file, self.dir)

        def cheaper(kind, _, body):
            if kind == "charge" and body["mu"] > 0:
                body["mu"] /= 2
            return kind == "charge" and body["mu"] > 0

        self.assertTrue(rechain(self.dir / "my.ledger", cheaper))
        records, file = [self.copies / n for n in study.all], study.base / "shared/study.toml"
        self.assertEqual(run("verify", *records, "--study", file, "--ledger", self.dir / "my.ledger", cwd=self.dir, check=False).returncode, 1)
        self.assertEqual(named(Verification(file, records, [self.dir / "my.ledger"]).result()["wrong"]), {"hospital_b"})


if __name__ == "__main__":
    unittest.main()
