"""`parley verify`: honest records hold, and each kind of tampering is found and named. Real parties; forge.cpp is the dishonest one."""
import struct

from mesh_case import *

FORGE = os.environ["MESH_FORGE"]


class Verify(Case):
    studies = {}  # one run per algorithm; every test works on a copy of its records

    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.TemporaryDirectory(dir=MEMORY, prefix="parley-verify-")

    @classmethod
    def tearDownClass(cls):
        cls.base.cleanup()

    def study(self, algorithm="mr-admm", **options):
        """A completed run; its records are copied to a fresh place, study.at(name)."""
        name = algorithm + "".join(f"-{k}-{v}" for k, v in options.items())
        if name not in Verify.studies:
            study = Study(pathlib.Path(Verify.base.name) / name, algorithm, **options)
            self.start_all(study)
            self.assert_completed(study)
            Verify.studies[name] = study
        study = Verify.studies[name]
        self.copies = self.dir / "records"
        for party in study.all:
            shutil.copytree(study.base / party / "out", self.copies / party)
        return study

    def verify(self, study, parties=None, *more, file="shared/study.toml"):
        records = [self.copies / n for n in parties or study.all]
        result = run("verify", *records, "--study", study.base / file, "--json", *more, cwd=self.dir, check=False)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        self.assertEqual(result.stderr, "")
        found = json.loads(result.stdout)
        self.assertEqual(found["holds"], result.returncode == 0)
        self.assertEqual(found["holds"], not found["wrong"])
        return found

    def forge(self, study, what, holder, sender, *more):
        key = study.base / sender / f"{sender}.key"
        run(what, self.copies / holder / "transcript", sender, key, *more, cwd=self.dir, program=FORGE)

    def assert_found(self, found, *sentences):
        for sentence in sentences:
            self.assertTrue(any(sentence in w for w in found["wrong"]), f"{sentence}\nnot in\n" + "\n".join(found["wrong"]))

    # --- honest ---------------------------------------------------------------------------------------------------------

    def test_honest_runs_hold_and_show_what_they_cost(self):
        for algorithm in ("mr-admm", "dp-admm", "newton") if SHORT else ("mr-admm", "pp", "dp-admm", "linear-admm", "r-admm", "star-pvp", "newton", "dp-gd"):
            with self.subTest(algorithm):
                shutil.rmtree(self.dir / "records", ignore_errors=True)
                study = self.study(algorithm)
                ledgers = ",".join(str(study.base / n / "my.ledger") for n in study.all)
                found = self.verify(study, None, "--ledger", ledgers)
                self.assertEqual((found["wrong"], found["unchecked"]), ([], []))
                self.assertEqual(len(found["parties"]), len(study.all))
                for p in found["parties"]:
                    self.assertEqual(p["rounds_released"], study.last_round + 1)
                    if p["trainer"]:
                        self.assertEqual((p["epsilon"], p["values_recomputed"]), (None, study.rounds + 1))
                        continue
                    self.assertAlmostEqual(p["epsilon"], 2, delta=1e-3)
                    self.assertEqual(p["epsilon"], p["epsilon_stated"])
                    self.assertEqual(p["epsilon"], p["epsilon_in_ledger"])
                    self.assertEqual(p["values_recomputed"], 1 + (study.rounds // 2 if algorithm in ("mr-admm", "r-admm") else 1 if study.sums else 0))
                self.assertEqual(found["epsilon"], max(p["epsilon"] or 0 for p in found["parties"]))
                self.assertTrue(any("noise" in s for s in found["beyond_verification"]))

    def test_a_seeded_study_says_so_beside_every_epsilon(self):
        study = self.study()
        records = [self.copies / n for n in study.all]
        text = run("verify", *records, "--study", study.base / "shared/study.toml", cwd=self.dir).stdout
        for column in ("found", "stated", "in its ledger"):
            self.assertIn(f"ε {column} (NOT PRIVATE)", text)
        run("report", *records, "--out", "page.html", cwd=self.dir)
        page = (self.dir / "page.html").read_text()
        self.assertNotIn("Privacy loss of", page)
        self.assertIn("NOT PRIVATE: there is no bound. With secret noise, hospital_a would have lost", page)

    def test_a_folder_above_a_record_is_told_where_the_record_is(self):
        study = self.study()
        result = run("verify", study.base / "hospital_a", "--study", study.base / "shared/study.toml", cwd=self.dir, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"give the folder that holds run.json, such as {study.base / 'hospital_a/out'}", result.stderr)

    def test_a_statement_names_what_no_program_can_check(self):
        study = self.study()
        run("report", *(self.copies / n for n in study.all), "--out", "page.html", cwd=self.dir)
        for text in ((self.copies / "hospital_a/statement.txt").read_text(), (self.copies / "hospital_a/statement.json").read_text(), (self.dir / "page.html").read_text()):
            self.assertIn("written down without looking at the private rows (no program can check this)", text)
            self.assertIn("no row of this party is held by another party too", text)

    def test_without_noise_there_is_no_epsilon(self):
        found = self.verify(self.study("admm", epsilon=None))
        self.assertEqual((found["holds"], found["epsilon"]), (True, None))

    def test_some_of_the_records_are_enough_for_what_they_hold(self):
        study = self.study(parties=4)
        found = self.verify(study, ["hospital_a"])
        self.assertEqual(found["wrong"], [])
        for name in ("hospital_b", "hospital_c", "hospital_d"):
            self.assertTrue(any(u.startswith(f"{name}: its own record was not given") for u in found["unchecked"]), found["unchecked"])
        rounds = {p["party"]: p["rounds_released"] for p in found["parties"]}
        self.assertEqual(rounds, {"hospital_a": 7, "hospital_b": 7, "hospital_c": 0, "hospital_d": 7})  # c is opposite in the ring
        self.assertGreater(next(p["epsilon"] for p in found["parties"] if p["party"] == "hospital_c"), 1.9)  # the planned one: nobody has seen less

    def test_a_run_that_was_interrupted_holds_as_far_as_it_came(self):
        for algorithm in ("mr-admm", "dp-admm", "newton"):
            with self.subTest(algorithm):
                study = Study(self.dir / algorithm, algorithm, rounds=3000, deadline=0.5)
                self.start_all(study)
                self.await_rounds(study, "hospital_a", 12)
                for process in self.processes.values():
                    process.send_signal(signal.SIGINT)
                ends = {r["outcome"] for _, r in self.results(study).values()}
                self.assertIn("interrupted", ends)
                result = run("verify", *(study.base / n / "out" for n in study.all), "--study", study.base / "shared/study.toml", "--json", cwd=self.dir, check=False)
                found = json.loads(result.stdout)
                self.assertEqual(found["wrong"], [])
                self.assertGreater(found["parties"][0]["rounds_released"], 1)
                for process in self.processes.values():
                    process.stdout.close()
                self.processes = {}

    def test_of_a_run_that_ended_early_the_planned_epsilon_counts_unless_all_who_received_of_it_tell(self):
        study = Study(self.dir / "early", "pp", seed=None, rounds=3000, epsilon=3000, delta=0, options={"noise": '"gamma"'}.items())
        self.start_all(study)
        self.await_rounds(study, "hospital_a", 12)
        for name in study.all:
            self.processes[name].send_signal(signal.SIGINT)
        self.assertIn("interrupted", {r["outcome"] for _, r in self.results(study).values()})
        self.copies = self.dir / "records"
        for party in study.all:
            shutil.copytree(study.base / party / "out", self.copies / party)

        def found_of_a(*given):
            found = self.verify(study, given)
            return next(p for p in found["parties"] if p["party"] == "hospital_a"), found

        party, found = found_of_a(*study.all)
        self.assertLess(party["epsilon"], 1000, found)
        self.assertEqual(party["epsilon"], party["epsilon_stated"])
        party, found = found_of_a("hospital_a", "hospital_b")
        self.assertGreater(party["epsilon"], 2900)
        self.assertIn("hospital_a: whether it has released more than its record holds; counted with what was planned", found["unchecked"])
        (self.copies / "hospital_a/statement.json").unlink()
        self.assertGreater(found_of_a(*study.all)[0]["epsilon"], 2900)

    def test_a_run_with_a_killed_and_restarted_party_holds(self):
        study = Study(self.dir / "killed", rounds=60)
        self.start_all(study)
        self.await_rounds(study, "hospital_b", 9)
        self.processes["hospital_b"].kill()
        self.processes["hospital_b"].wait()
        self.start(study, "hospital_b")
        self.assert_completed(study)
        run("verify", *(study.base / n / "out" for n in study.all), "--study", study.base / "shared/study.toml", "--ledger", study.base / "hospital_b/my.ledger", cwd=self.dir)

    def test_verifying_changes_nothing(self):
        study = self.study()
        before = {p: p.read_bytes() for p in self.copies.rglob("*") if p.is_file()}
        self.verify(study)
        self.assertEqual(before, {p: p.read_bytes() for p in self.copies.rglob("*") if p.is_file()})

    def test_people_read_what_holds_and_what_nobody_can_see(self):
        study = self.study()
        text = run("verify", *(self.copies / n for n in study.all), "--study", study.base / "shared/study.toml", cwd=self.dir).stdout
        for part in ("Everything that was checked holds", "Nobody can verify from outside", "hospital_b", "NOT PRIVATE", "2.0000"):
            self.assertIn(part, text)

    # --- tampered -------------------------------------------------------------------------------------------------------

    def test_a_changed_byte_in_a_transcript_is_found_wherever_it_is(self):
        study = self.study()
        file = self.copies / "hospital_b/transcript"
        intact = file.read_bytes()
        for at in range(60, len(intact), len(intact) // (7 if SHORT else 40)):
            file.write_bytes(intact[:at] + bytes([intact[at] ^ 1]) + intact[at + 1:])
            found = self.verify(study)
            self.assertTrue(found["wrong"], at)
            self.assertTrue(all(w.startswith("hospital_b: ") for w in found["wrong"]), (at, found["wrong"]))
        file.write_bytes(intact[:-10])
        self.assert_found(self.verify(study), "hospital_b: its transcript is broken at byte")

    def test_a_message_that_its_sender_did_not_sign_is_found(self):
        study = self.study()
        key = study.base / "hospital_c/hospital_c.key"  # not the sender's
        run("value", self.copies / "hospital_a/transcript", "hospital_b", key, 3, 0, 1, cwd=self.dir, program=FORGE)
        self.assert_found(self.verify(study), "hospital_a: in its transcript round 0 of hospital_b does not hold: signature: not that of hospital_b")

    def test_two_values_for_two_neighbours_are_found(self):
        study = self.study()
        self.forge(study, "value", "hospital_a", "hospital_b", 3, 0, 1)
        self.assert_found(self.verify(study, ["hospital_a", "hospital_c"]), "hospital_b, round 3: it sent one value to hospital_a and another to hospital_c, and signed both")
        self.assert_found(self.verify(study), "hospital_b, round 3: it sent one value to hospital_a and another to hospital_c")

    def test_an_own_record_that_differs_from_what_the_others_saw_is_found(self):
        study = self.study()
        self.forge(study, "value", "hospital_b", "hospital_b", 3, 0, 1)
        found = self.verify(study)
        self.assert_found(found, "hospital_b, round 3: its own record differs from the value that hospital_a received and hospital_b signed",
                          "hospital_b, round 3: released.f64 differs from what it signed and sent: coordinate 0 is")

    def test_a_changed_released_file_is_found(self):
        study = self.study()
        file = self.copies / "hospital_b/released.f64"
        data = bytearray(file.read_bytes())
        size = len(data) // 7
        data[4 * size:4 * size + 8] = struct.pack("<d", 0.5)
        file.write_bytes(data)
        wrong = self.verify(study)["wrong"]
        self.assertEqual(len(wrong), 1, wrong)
        self.assertTrue(wrong[0].startswith("hospital_b, round 4: released.f64 differs from what it signed and sent: coordinate 0 is"), wrong)

    def test_a_recycled_value_that_does_not_follow_is_found(self):
        study = self.study()
        for holder in study.all:  # everybody was sent the same false value
            self.forge(study, "value", holder, "hospital_b", 4, 2, 0.5)
        self.assert_found(self.verify(study), "hospital_b, round 4: the recycled value does not follow from the values released before it: coordinate 2 is")

    def test_a_trainer_s_value_that_does_not_follow_is_found(self):
        study = self.study("dp-admm")
        for holder in study.all:
            self.forge(study, "value", holder, "coordinator", 4, 2, 0.5)
        found = self.verify(study)
        self.assert_found(found, "coordinator, round 4: the trainer's value does not follow from the values released before it: coordinate 2 is")

    def test_a_model_that_does_not_follow_from_everybody_s_sums_is_found(self):
        study = self.study("newton")
        for holder in study.all:
            self.forge(study, "value", holder, "hospital_b", study.last_round, 2, 0.5)
        found = self.verify(study)
        self.assert_found(found, f"hospital_b, round {study.last_round}: the model does not follow from the values released before it: coordinate 2 is")

    def test_other_sums_lead_to_another_model(self):
        study = self.study("newton")
        for holder in study.all:  # of the curvature, with a grid of at most 1/8
            self.forge(study, "value", holder, "hospital_b", 1, 3, 0.125)
        self.assert_found(self.verify(study), *(f"{name}, round {study.last_round}: the model does not follow" for name in study.all))

    def test_a_start_that_is_not_the_public_one_is_found(self):
        study = self.study("pp")
        for holder in study.all:
            self.forge(study, "value", holder, "hospital_c", 0, 1, 0.5)
        self.assert_found(self.verify(study), "hospital_c, round 0: the start does not follow")

    def test_values_off_the_grid_or_beyond_the_bound_are_found(self):
        for added, said in ((2.0**-45, "no multiple of"), (2048.0, "the public bound is")):
            with self.subTest(said):
                shutil.rmtree(self.dir / "records", ignore_errors=True)
                study = self.study()
                self.forge(study, "value", "hospital_a", "hospital_b", 1, 0, added)
                self.assert_found(self.verify(study), "hospital_a: in its transcript round 1 of hospital_b does not hold: payload: coordinate 0 is")
                self.assert_found(self.verify(study), said)

    def test_a_head_that_hides_another_past_is_found(self):
        study = self.study()
        self.forge(study, "head", "hospital_a", "hospital_b", 2)
        self.assert_found(self.verify(study), "hospital_a: in its transcript round 2 of hospital_b does not hold: head")

    def test_a_final_iterate_that_does_not_follow_is_found(self):
        study = self.study()
        self.forge(study, "final", "hospital_a", "hospital_b", 0, 0, 1)
        found = self.verify(study)
        self.assert_found(found, "hospital_b: the final iterate that hospital_a has is not the one that hospital_b has, and it signed both",
                          "hospital_a: the final iterate of hospital_b in its transcript does not follow from what hospital_b released: coordinate 0 is",
                          "hospital_a: the weights in model.json do not follow")

    def test_evidence_is_what_contradicts_and_nothing_else(self):
        study = self.study()
        self.forge(study, "evidence", "hospital_a", "hospital_b", 3, 0, 1)
        self.assertEqual(self.verify(study)["wrong"], ["hospital_b contradicted itself: hospital_a was sent a second, different round 3 of hospital_b, signed"])
        self.forge(study, "evidence", "hospital_c", "hospital_b", 3, 0, 0)
        self.assert_found(self.verify(study), "hospital_c: what it keeps as evidence against hospital_b, round 3 of hospital_b, contradicts nothing in this record")

    def test_what_a_party_keeps_against_itself_takes_its_epsilon_away(self):
        """Its own signature, that its ledger does not know of: of a value, and of a process of a copy."""
        study = self.study()
        for forged, what in ((("evidence", "hospital_b", "hospital_b", 3, 0, 1), "round 3"), (("copy", "hospital_b", "hospital_b", 3), "the hello")):
            with self.subTest(what):
                shutil.rmtree(self.copies)
                self.study()
                self.forge(study, *forged)
                for given in (["hospital_b"], study.all):
                    found = self.verify(study, given)
                    self.assertEqual(found["wrong"], [f"hospital_b: it keeps a signature of its own that its ledger does not know of: {what} of hospital_b"])
                    of_b = found["parties"][1]
                    self.assertEqual((of_b["contradicted"], of_b["epsilon"], of_b["epsilon_stated"], found["epsilon"]), (True, None, None, None))

    def light_of(self, parties):
        run("report", *(self.copies / n for n in parties), "--out", "page.html", cwd=self.dir)
        return (self.dir / "page.html").read_text()

    def test_of_one_study_run_twice_neither_verify_nor_a_report_tells_an_epsilon(self):
        study = Study(self.dir / "twice", seed="", epsilon=1, cap=(2, "--delta", 1e-6))
        study.keep()
        self.copies = self.dir / "records"
        for run_ in ("one", "two"):
            self.start_all(study)
            self.assert_completed(study)
            for name in study.all:
                shutil.copytree(study.base / name / "out", self.copies / f"{run_}-{name}")
            self.end_all()
            study.fresh()
        whole = [f"one-{n}" for n in study.all]
        self.assertEqual(self.verify(study, whole)["wrong"], [])
        self.assertIn("learns at most <span", self.light_of(whole))
        mixed = ["two-hospital_a", "one-hospital_b", "one-hospital_c"]
        found = self.verify(study, mixed)
        without = [p["party"] for p in found["parties"] if p["contradicted"]]
        self.assertEqual((without, found["epsilon"]), (study.all, None), found["wrong"])  # each has two processes of one number
        page = self.light_of(mixed)
        self.assertIn("no ε holds for hospital_a, hospital_b, hospital_c, of which these records hold two histories", page)
        for claim in ("learns at most", 'class="light green"', 'class="light amber"', "Privacy loss of"):
            self.assertNotIn(claim, page)
        twice = ("one-hospital_a", "two-hospital_a")
        for command in (("verify", "--study", study.base / "shared/study.toml"), ("report", "--out", "page.html")):
            refused = run(command[0], *(self.copies / n for n in twice), *command[1:], cwd=self.dir, check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("two records of one party", refused.stderr)

    def test_where_somebody_has_told_two_things_and_nobody_knows_who_no_epsilon_is_told(self):
        """As a report does: of everybody, until the records show of whom it is so."""
        study = self.study()
        path = self.copies / "hospital_a/run.json"
        path.write_text(written({**read_json(path), "outcome": "contradicted"}))
        found = self.verify(study)
        self.assertEqual([(p["doubted"], p["epsilon"], p["epsilon_stated"]) for p in found["parties"]], [(True, None, None)] * 3)
        self.assertIsNone(found["epsilon"])
        text = run("verify", *(self.copies / n for n in study.all), "--study", study.base / "shared/study.toml", cwd=self.dir, check=False).stdout
        self.assertIn("No ε is told for hospital_a, hospital_b, hospital_c: a party told its peers things that exclude each other", text)
        self.assertNotIn("Any one record", text)
        self.assertNotIn("Privacy loss of", self.light_of(study.all))
        self.forge(study, "evidence", "hospital_a", "hospital_b", 3, 0, 1)
        of = {p["party"]: (p["contradicted"], p["doubted"], p["epsilon"] is None) for p in self.verify(study)["parties"]}
        self.assertEqual(of, {"hospital_a": (False, False, False), "hospital_b": (True, False, True), "hospital_c": (False, False, False)})

    def test_a_statement_beside_an_unfinished_record_may_not_claim_less(self):
        """Of a process before the one that was killed: whoever reads it alone takes its epsilon for all that was spent."""
        study = self.study()
        folder = self.copies / "hospital_b"
        path = folder / "run.json"
        for file in ("model.json", "own_model.json"):
            (folder / file).unlink()
        document = read_json(path)
        for key in ("outcome_in_words", "rounds_done"):
            document.pop(key)
        path.write_text(written({**document, "outcome": "running"}))
        self.assertFalse(any("claims too little" in w for w in self.verify(study)["wrong"]))  # of all its rounds
        statement = folder / "statement.json"
        intact = statement.read_bytes()
        for key, value in (("rounds_released", 3), ("epsilon", json.loads(intact)["statement"]["epsilon"] / 2)):
            statement.write_bytes(intact)
            run("statement", statement, study.base / "hospital_b/hospital_b.key", key, value, cwd=self.dir, program=FORGE)
            self.assert_found(self.verify(study), "hospital_b: a statement of an earlier process lies beside its unfinished record, with epsilon = ")

    def test_of_a_party_that_does_not_know_its_past_no_epsilon_is_told(self):
        study = self.study()
        path = self.copies / "hospital_b/run.json"
        for file in ("model.json", "own_model.json", "statement.json", "statement.txt"):
            (self.copies / "hospital_b" / file).unlink()
        path.write_text(written({**read_json(path), "outcome": "past_unknown"}))

        def none_is_told():
            found = self.verify(study)
            of_b = found["parties"][1]
            self.assertEqual((of_b["past_unknown"], of_b["epsilon"], found["epsilon"]), (True, None, None), found["wrong"])
            return found["wrong"]
        numbers = [f"hospital_b: run.json has another {key} than follows" for key in ("node_facts", "privacy")]
        self.assertEqual(none_is_told()[:2], numbers)  # the planned ones
        withdraw(path.parent, "hospital_b")
        self.assertNotIn("than follows", "".join(none_is_told()))
        text = run("verify", *(self.copies / n for n in study.all), "--study", study.base / "shared/study.toml", cwd=self.dir, check=False).stdout
        self.assertIn("No ε holds for hospital_b: by its own record more was released than the ledger knows of.", text)
        self.assertIn("Any one record of any other party: with secret noise ε = ", text)

    def test_whom_a_record_names_as_contradicted_follows_from_its_evidence(self):
        study = self.study()
        path = self.copies / "hospital_a/run.json"
        intact = path.read_text()
        says = "hospital_a: run.json has another contradicted_parties than follows from the evidence in its transcript"
        models = {file: file.read_text() for file in path.parent.glob("*model.json")}

        def name(*parties):
            for file, text in {path: intact, **models}.items():
                file.write_text(text)
            withdraw(path.parent, *parties, contradicted_parties=list(parties))
        name("hospital_c")
        self.assertEqual(self.verify(study)["wrong"], [says])
        for file, text in {path: intact, **models}.items():
            file.write_text(text)
        self.forge(study, "evidence", "hospital_a", "hospital_b", 3, 0, 1)
        known = "hospital_b contradicted itself: hospital_a was sent a second, different round 3 of hospital_b, signed"
        self.assertEqual(self.verify(study)["wrong"], [known])  # of a moment ago, say: it was complete before
        name("hospital_b")
        self.assertEqual(self.verify(study)["wrong"], [known])
        next(iter(models)).write_text(next(iter(models.values())))  # a model that still says ε
        self.assertEqual([w.split(" than ")[0] for w in self.verify(study)["wrong"] if w != known], [f"hospital_a: {next(iter(models)).name} has another not_private"])
        for named in (["hospital_c"], ["hospital_b", "hospital_c"], "hospital_b"):
            path.write_text(written({**read_json(path), "contradicted_parties": named}))
            self.assert_found(self.verify(study), says)
        path.write_text(written({**json.loads(intact, parse_float=lambda text: f"\0{text}\0"), "outcome": "equivocation"}))
        self.assert_found(self.verify(study), says)  # whoever ended for it names the liar

    def test_an_entry_that_stands_where_it_cannot_have_come_is_found(self):
        """Each order of study/party_record.cpp, out_of_order, but that of keys (shared_noise_test.py) and of hellos."""
        me, other = "hospital_b", "hospital_a"
        value, final, seal = wire.VALUE, wire.FINAL, wire.SEAL
        last = 6
        # What may come earlier or later than it did stands out of the way first.
        cases = (("stands before values that it was computed from", [("after", other, value, 3, me, value, 3), ("after", other, value, 2, me, value, 3)], "round 3 of hospital_b"),
                 ("stands before the value that it was computed from", [("before", other, value, 3, me, value, 3), ("before", other, value, 4, me, value, 3)], "round 4 of hospital_a"),
                 ("stands before the last round is complete", [("before", me, final, last, other, value, last)], "the final iterate of hospital_b"),
                 ("stands before a final iterate that it is of", [("before", me, seal, last, other, final, last)], "the seal of hospital_b"))
        study = self.study()
        for says, moves, what in cases:
            with self.subTest(says):
                shutil.rmtree(self.copies)
                self.study()
                for where, *move in moves:
                    run(where, self.copies / me / "transcript", *move, cwd=self.dir, program=FORGE)
                self.assertEqual(self.verify(study)["wrong"], [f"{me}: in its transcript {what} {says}"])

    def test_a_party_killed_between_its_record_and_its_transcript_is_counted_with_what_it_paid_for(self):
        """The line of a round is written before the value is sent, so a kill may leave one more line than values sent."""
        study, name = self.study(), "hospital_b"
        lines, values = self.copies / name / "rounds.jsonl", self.copies / name / "released.f64"
        told = [json.loads(line) for line in lines.read_text().splitlines()]
        last = max(t["round"] for t in told if t["kind"] == "data")
        self.assertGreater(told[last]["epsilon"], told[last - 1]["epsilon"])
        self.forge(study, "drop", name, name, last)
        for neighbour in set(study.all) - {name}:
            self.forge(study, "drop", name, neighbour, last + 1)
        lines.write_text("".join(line + "\n" for line in lines.read_text().splitlines()[:last + 1]))
        values.write_bytes(values.read_bytes()[:values.stat().st_size // len(told) * (last + 1)])
        for file in ("model.json", "own_model.json", "statement.json", "statement.txt", "coefficients.csv"):
            (self.copies / name / file).unlink(missing_ok=True)
        run_file = self.copies / name / "run.json"
        at_the_end = ("outcome_in_words", "rounds_done", "parts", "ledger_head", "coefficients")
        run_file.write_text(written({**{k: v for k, v in read_json(run_file).items() if k not in at_the_end}, "outcome": "running"}))
        found = self.verify(study, [name])
        self.assertEqual(found["wrong"], [])
        self.assertEqual(found["parties"][1]["epsilon"], told[last]["epsilon"])

    def test_missing_rounds_are_found(self):
        study = self.study()
        self.forge(study, "drop", "hospital_b", "hospital_b", 5)
        found = self.verify(study)
        self.assert_found(found, "hospital_b, round 5: missing in its own record, and hospital_a received it",
                          "hospital_b, round 5 of hospital_b: missing in its transcript, and its record says that the run was completed",
                          "hospital_b: released.f64 has 7 rounds, and its transcript 5")
        shutil.rmtree(self.copies)
        study = self.study()
        self.forge(study, "drop", "hospital_b", "hospital_a", 5)
        self.assert_found(self.verify(study), "hospital_b, round 5 of hospital_a: missing in its transcript",
                          "hospital_b, round 6: it was released, and the value of hospital_a that it was computed from is not in its transcript")

    def test_a_value_that_was_released_before_every_neighbour_had_said_hello_is_found(self):
        for algorithm in ("mr-admm", "newton") if SHORT else ("mr-admm", "newton", "dp-admm"):
            with self.subTest(algorithm):
                shutil.rmtree(self.dir / "records", ignore_errors=True)
                study = self.study(algorithm)
                self.forge(study, "early", "hospital_b", "hospital_b", 0)  # the start may leave before
                self.assertEqual(self.verify(study)["wrong"], [])
                self.forge(study, "early", "hospital_b", "hospital_b", 1)
                first = "coordinator" if study.star else "hospital_[ac]"
                wrong, = self.verify(study)["wrong"]
                self.assertRegex(wrong, f"^hospital_b: in its transcript round 1 of hospital_b stands before the hello of {first}$")
                shutil.rmtree(self.copies)
                study = self.study(algorithm)
                neighbour = "coordinator" if study.star else "hospital_c"
                self.forge(study, "ungreeted", "hospital_b", neighbour, 0)
                self.assertEqual(self.verify(study)["wrong"], [f"hospital_b: in its transcript round 1 of hospital_b stands before the hello of {neighbour}"])

    def test_a_key_for_shared_noise_that_is_kept_for_longer_than_the_others_is_found(self):
        study = self.study("newton", options={"colluders": 1})
        # As where another party forwards it first: the final iterate stands before the last value.
        run("before", self.copies / "hospital_b/transcript", "hospital_a", wire.FINAL, 7, "hospital_a", wire.VALUE, 7, cwd=self.dir, program=FORGE)
        self.assertEqual(self.verify(study)["wrong"], [])
        self.forge(study, "day", "hospital_b", "hospital_a", 0)
        self.assertEqual(self.verify(study, ["hospital_b"])["wrong"],
                         ["hospital_a: the day until which it says that it keeps its key for shared noise is not within those of the others, and hospital_b has it"])

    def test_rounds_beyond_the_study_are_found(self):
        study = self.study()
        for file in ("released.f64", "rounds.jsonl"):
            path = self.copies / "hospital_b" / file
            path.write_bytes(path.read_bytes() * 3)
        self.assertEqual(self.verify(study)["wrong"], ["hospital_b, round 7: in its record, and the study ends before it"])

    def test_a_changed_model_is_found(self):
        study = self.study()
        for file, key, sentence in (("model.json", "weights", "the weights in model.json do not follow from the released values"),
                                    ("own_model.json", "weights", "the weights in own_model.json do not follow"),
                                    ("model.json", "schema", "model.json has schema = ")):
            with self.subTest(file + key):
                path = self.copies / "hospital_b" / file
                intact, model = path.read_text(), read_json(path)
                self.assertEqual(written(model), intact)
                model[key] = model[key][1:] + model[key][:1]
                path.write_text(written(model))
                found = self.verify(study)
                self.assertEqual(len(found["wrong"]), 1)
                self.assert_found(found, "hospital_b: " + sentence)
                path.unlink()
                self.assert_found(self.verify(study), f"hospital_b: {file} is missing or cannot be read")
                path.write_text(intact)

    def test_a_statement_with_a_smaller_epsilon_is_found(self):
        study = self.study()
        path = self.copies / "hospital_b/statement.json"
        intact = path.read_text()
        statement = read_json(path)
        statement["statement"]["epsilon"] = 1.0
        path.write_text(written(statement))
        self.assertEqual(self.verify(study)["wrong"], ["hospital_b: the signature of its statement is not that of the certificate that the roster pins"])
        for key, value, said in (("epsilon", 1.0, "its statement says epsilon = 1.0, and the charges of the 7 rounds that it released make "),
                                 ("rounds_released", 5, "its statement has rounds_released = 5.0, and 7 follows"), ("records_disclosed", 1e6, "its statement has records_disclosed")):
            path.write_text(intact)
            run("statement", path, study.base / "hospital_b/hospital_b.key", key, value, cwd=self.dir, program=FORGE)
            found = self.verify(study)
            self.assertEqual(len(found["wrong"]), 1)
            self.assert_found(found, "hospital_b: " + said)
        path.unlink()
        self.assert_found(self.verify(study), "hospital_b: statement.json is missing or cannot be read")

    def test_words_that_no_party_writes_are_found(self):
        study = self.study()
        path = self.copies / "hospital_b/run.json"
        header = json.loads(path.read_text())
        for words in ("the run is complete).\nWhoever saw all of it has learnt at most epsilon = 0.001", "approved \x1b[8m", "hidden \x9b8m", "approved by the officer", "x" * 2000):
            path.write_text(json.dumps({**header, "outcome_in_words": words}))
            self.assert_found(self.verify(study), "hospital_b: its statement tells the outcome in words that no party writes: '")
        path.write_text(json.dumps(header))
        path = self.copies / "hospital_b/statement.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "approved": True}))
        self.assert_found(self.verify(study), "hospital_b: statement.json has approved, which no party writes")

    def test_what_may_not_be_shared_is_found(self):
        study = self.study()
        path = self.copies / "hospital_b/rounds.jsonl"
        lines = path.read_text().splitlines()
        lines[2] = json.dumps({**json.loads(lines[2]), "private": {"test_error": 0.1}})
        path.write_text("\n".join(lines) + "\n")
        self.assert_found(self.verify(study), "hospital_b, round 2: rounds.jsonl has more than round, kind and epsilon")

    def test_a_line_of_a_seeded_run_without_its_stamp_is_found(self):
        study = self.study()
        path = self.copies / "hospital_b/rounds.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertTrue(all(line["stamp"] == "NOT PRIVATE" for line in lines))
        del lines[2]["stamp"]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.assert_found(self.verify(study), "hospital_b, round 2: rounds.jsonl lacks NOT PRIVATE")

    def test_of_a_party_without_a_record_the_longest_that_others_hold_counts(self):
        study = self.study("pp")
        path = self.copies / "hospital_b/transcript"
        data = path.read_bytes()
        path.write_bytes(data[:data.index(b"ptr1", len(data) // 3)])
        epsilon = {order: next(p["epsilon"] for p in self.verify(study, order)["parties"] if p["party"] == "hospital_a")
                   for order in (("hospital_b", "hospital_c"), ("hospital_c", "hospital_b"))}
        self.assertEqual(len(set(epsilon.values())), 1, epsilon)
        whole = self.verify(study, ("hospital_c",))
        self.assertEqual(next(p["epsilon"] for p in whole["parties"] if p["party"] == "hospital_a"), epsilon["hospital_b", "hospital_c"])

    def test_a_header_that_understates_is_found(self):
        study = self.study()
        path = self.copies / "hospital_b/run.json"
        header = json.loads(path.read_text())
        header["privacy"]["epsilon"] = 0.5
        path.write_text(json.dumps(header))
        self.assert_found(self.verify(study), "hospital_b: run.json has another privacy than follows")

    def test_a_text_that_differs_from_the_signed_statement_is_found(self):
        study = self.study()
        path = self.copies / "hospital_b/statement.txt"
        path.write_text(path.read_text().replace("epsilon = 1.9", "epsilon = 0.9").replace("epsilon = 2", "epsilon = 1"))
        self.assertEqual(self.verify(study)["wrong"], ["hospital_b: statement.txt does not say what statement.json says"])

    def test_damage_anywhere_is_a_sentence_and_never_a_bug(self):
        study, random = self.study(), __import__("random").Random(4)
        for path in sorted(p for p in (self.copies / "hospital_b").iterdir() if p.is_file()):
            intact = path.read_bytes()
            for _ in range(5 if SHORT else 200 if FULL else 25):
                data = bytearray(intact)
                for _ in range(random.randrange(1, 4)):
                    at = random.randrange(len(data)) if data else 0
                    data[at:at + random.choice((0, 1, 1, 8))] = random.choice((b"", b"[", b"null", b"-1e999", b"9", b"\x00", b'"', bytes([random.randrange(256)])))
                path.write_bytes(bytes(data))
                result = run("verify", *(self.copies / n for n in study.all), "--study", study.base / "shared/study.toml", cwd=self.dir, check=False)
                self.assertIn(result.returncode, (0, 1), f"{path.name}\n{bytes(data)[:3000]}\n{result.stderr}")
            path.write_bytes(intact)
        for deep in (b"[" * 100000, b'{"a":' * 100000):
            for name in ("run.json", "model.json", "statement.json", "rounds.jsonl"):
                path = self.copies / "hospital_b" / name
                intact = path.read_bytes()
                path.write_bytes(deep)
                self.assertEqual(run("verify", path.parent, "--study", study.base / "shared/study.toml", cwd=self.dir, check=False).returncode, 1)
                whole = deep + b"1" + (b"]" if deep[:1] == b"[" else b"}") * 100000
                path.write_bytes(b'{"format":"parley-party-1","party":"hospital_b","outcome":"completed","study":' + whole + b',"statement":' + whole + b',"weights":' + whole + b"}\n")
                self.assertEqual(run("verify", path.parent, "--study", study.base / "shared/study.toml", cwd=self.dir, check=False).returncode, 1)
                path.write_bytes(intact)

    def test_round_lines_that_understate_are_found(self):
        study = self.study()
        path = self.copies / "hospital_b/rounds.jsonl"
        lines = path.read_text().splitlines()
        lines[3] = json.dumps({**json.loads(lines[3]), "epsilon": 0.1})
        path.write_text("\n".join(lines) + "\n")
        self.assert_found(self.verify(study), "hospital_b, round 3: rounds.jsonl has epsilon = 0.1, and")

    def test_a_ledger_that_is_another_s_or_paid_for_other_values_is_found(self):
        study = self.study()
        run("ledger", "cap", "new.ledger", "--dataset", "x", "--epsilon", "unlimited", cwd=self.dir)
        self.assert_found(self.verify(study, None, "--ledger", self.dir / "new.ledger"), "this ledger has no charge of run")
        for holder in study.all:
            self.forge(study, "value", holder, "hospital_b", 3, 0, 1)
        self.assert_found(self.verify(study, None, "--ledger", study.base / "hospital_b/my.ledger"),
                          "hospital_b, round 3: its ledger paid for another value than the one released")

    def test_a_ledger_whose_chain_was_written_anew_is_held_against_the_study(self):
        """Whoever may write the file can make a whole chain again (docs/approve/ledger.md); what must stand in it follows from the study."""
        study = self.study()
        party = "hospital_b"

        def rechained(change, accepted=True):
            folder = self.dir / "ledger"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for file in (study.base / party).glob("my.ledger*"):
                shutil.copy(file, folder)
            changed = rechain(folder / "my.ledger", lambda kind, _, body: change(kind, body))
            if accepted:
                (folder / "my.ledger.newest-head").unlink()
                records = [study.base / party / "out"] if changed else []  # their heads are of the chain as it was
                run("ledger", "accept", folder / "my.ledger", *records, "--reason", "a test", cwd=self.dir)
            return self.verify(study, None, "--ledger", folder / "my.ledger")

        def of_run(**values):
            def change(kind, body):
                if kind == "run":
                    body.update(values)
                return kind == "run"
            return change

        def account(**values):
            def change(kind, body):
                if kind == "run":
                    body["accounts"][0].update(values)
                return kind == "run"
            return change

        def dataset(**values):
            def change(kind, body):
                if kind == "run":
                    body["datasets"][0].update(values)
                return kind == "run"
            return change

        def cap(kind, body):
            if kind == "cap":
                body["epsilon"], body["delta"] = 0.01, 1e-6
            return kind == "cap"

        self.assertFalse(any("registered" in w or "cap" in w for w in rechained(lambda kind, body: False)["wrong"]))
        for change, sentence in ((of_run(configuration="0" * 64), "is registered with the configuration 0000"),
                                 (of_run(not_private=[]), "is registered with the stamp private, and NOT PRIVATE follows"),
                                 (dataset(records=99999), "is registered with records 99999, and"), (dataset(fingerprint=""), "without a fingerprint"),
                                 (account(planned_mu=0.001), "is registered with the planned mu 0.001, and"),
                                 (account(planned_mu_colluders=0.001), "is registered with the planned mu against colluders 0.001, and"),
                                 (cap, "more was spent than its cap of epsilon 0.01 allowed at that time")):
            self.assert_found(rechained(change), sentence)
        # What an entry names and no entry before it makes known is an error in words. Which rows a dataset is, and what their owner calls them, no
        # record says: with another fingerprint throughout, and a name changed throughout, nothing is left to compare.
        for change in (account(dataset="other"), dataset(name="other")):
            folder = self.dir / "renamed"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for file in (study.base / party).glob("my.ledger*"):
                shutil.copy(file, folder)
            self.assertTrue(rechain(folder / "my.ledger", lambda kind, _, body: change(kind, body)))
            for words in (("ledger", "show", folder / "my.ledger"), ("verify", self.copies / party, "--study", study.base / "shared/study.toml", "--ledger", folder / "my.ledger")):
                refused = run(*words, cwd=self.dir, check=False)
                self.assertEqual(refused.returncode, 1)
                self.assertIn("dataset 'other' is not known there", refused.stderr)
                self.assertNotIn("map::at", refused.stderr)
        # One whose folders are left out finds no record beside it; the records that are given name heads of the chain as it was.
        elsewhere = of_run(folder="", started="2026-01-01T00:00:00Z")
        self.assertEqual(rechained(lambda kind, body: False, accepted=False)["wrong"], [])
        wrong, = rechained(elsewhere, accepted=False)["wrong"]
        self.assertRegex(wrong, r"^hospital_b: its record names a head that the chain of .*my\.ledger never had: the chain was written anew")
        self.assertRegex("\n".join(rechained(of_run(started="2026-01-01T00:00:00Z"))["unchecked"]),
                         r"(?m)^hospital_b: the head that its record names: .* accepted a copy that may be old, so earlier heads are unchecked$")
        first = lambda kind, body: kind == "ledger" and body.update(more=1) is None
        found = rechained(lambda kind, body: any([first(kind, body), elsewhere(kind, body)]), accepted=False)
        self.assert_found(found, "hospital_b: its record was made with another ledger than ")

    def test_what_stands_beside_the_record_or_behind_its_end_is_found(self):
        study = self.study()
        folder = self.copies / "hospital_b"

        def found(file, change, *sentences):
            intact = (folder / file).read_bytes() if (folder / file).exists() else None
            (folder / file).write_bytes(change(intact))
            self.assert_found(self.verify(study), *sentences)
            (folder / file).write_bytes(intact) if intact is not None else (folder / file).unlink()

        found("notes.txt", lambda _: b"x", "hospital_b: its record holds notes.txt, which no party writes there")
        found("coefficients.csv", lambda _: b"x", "hospital_b: its record holds coefficients.csv, which no party writes there")
        for name in ("part-2", "part-02", "part-notes", "model"):
            (folder / name).mkdir()
            (folder / name / "notes.txt").write_text("x")
            self.assertEqual(self.verify(study)["wrong"], [f"hospital_b: its record holds {name}, which no party writes there"])
            shutil.rmtree(folder / name)
        found("released.f64", lambda b: b + b"123", "hospital_b: released.f64 has")
        found("rounds.jsonl", lambda b: b + b"more", "hospital_b: rounds.jsonl holds something else than a line for each round")
        found("transcript", lambda b: b + b"more", "hospital_b: its transcript is broken at byte")
        edited = lambda **values: lambda b: json.dumps({**json.loads(b), **values}).encode()
        found("run.json", edited(rounds_done=2), "run.json has rounds_done = 2, and")
        found("run.json", edited(more=2), "hospital_b: run.json has more, which no party writes")
        def another_certificate(_):
            document = read_json(folder / "statement.json")
            return written({**document, "certificate": read_json(self.copies / "hospital_a/statement.json")["certificate"]}).encode()
        found("statement.json", another_certificate, "hospital_b: statement.json holds another certificate than the one that the roster pins")
        lines = lambda b: b.replace(b'"epsilon":', b'"epsilon":1', 1)
        found("rounds.jsonl", lines, "rounds.jsonl has epsilon =")
        self.assertEqual(self.verify(study)["wrong"], [])

    def test_a_file_that_is_not_byte_for_byte_what_the_program_writes_is_found(self):
        """Other spacing, a key that stands twice and what stands behind the end are no other value, and could hold anything."""
        study = self.study()
        folder = self.copies / "hospital_b"

        def found(file, change, *sentences):
            intact = (folder / file).read_bytes()
            (folder / file).write_bytes(change(intact))
            self.assertNotEqual((folder / file).read_bytes(), intact)
            self.assertEqual(self.verify(study)["wrong"], list(sentences))
            (folder / file).write_bytes(intact)

        for file in ("run.json", "model.json", "own_model.json", "statement.json"):
            said = f"hospital_b: {file} is not byte for byte what the program writes: it differs from byte "
            size = (folder / file).stat().st_size
            with self.subTest(file):
                self.assertEqual(written(read_json(folder / file)).encode(), (folder / file).read_bytes())
                found(file, lambda b: b + b" \n", said + str(size))
                found(file, lambda b: b[:-1], said + str(size - 1))
                found(file, lambda b: json.dumps(json.loads(b)).encode() + b"\n", said + "1")
                found(file, lambda b: b.replace(b'": ', b'":  ', 1), said + str((folder / file).read_bytes().index(b'": ') + 3))
        for file in ("model.json", "own_model.json", "statement.json"):
            twice = lambda b: b.replace(b"{\n", b'{\n "%s": 1,\n' % next(iter(json.loads(b))).encode(), 1)
            intact = (folder / file).read_bytes()
            (folder / file).write_bytes(twice(intact))
            self.assert_found(self.verify(study), f"hospital_b: {file} cannot be read as the program writes it")
            (folder / file).write_bytes(intact)
        line = lambda a, b: lambda data: b"\n".join(x.replace(a, b, 1) if i == 3 else x for i, x in enumerate(data.split(b"\n")))
        said = "hospital_b, round 3: its line in rounds.jsonl is not byte for byte what the program writes"
        found("rounds.jsonl", line(b'":', b'": '), said)
        found("rounds.jsonl", line(b"{", b'  {'), said)
        found("rounds.jsonl", line(b"}", b"}\r"), said)
        (folder / "rounds.jsonl").write_bytes(line(b"{", b'{"round":9,')((folder / "rounds.jsonl").read_bytes()))
        self.assert_found(self.verify(study), "hospital_b: rounds.jsonl holds something else than a line for each round")

    def test_a_ledger_without_its_memory_is_found_and_one_that_its_owner_accepted_says_so(self):
        study = self.study()
        ledger = study.base / "hospital_b/my.ledger"
        (study.base / "hospital_b/my.ledger.newest-head").unlink()
        self.assert_found(self.verify(study, None, "--ledger", ledger), "the memory of this ledger is missing")
        run("ledger", "accept", ledger, "--reason", "it was lost", cwd=self.dir)
        found = self.verify(study, None, "--ledger", ledger)
        self.assertEqual(found["wrong"], [])
        self.assertRegex(found["accepted_by_ledger_owner"][0], "my.ledger: .* accepted this ledger without its memory.* it was lost")

    def test_a_record_of_another_study_names_the_field(self):
        study = self.study()
        other = self.dir / "other.toml"
        shutil.copy(study.base / "shared/schema.toml", self.dir)
        other.write_text((study.base / "shared/study.toml").read_text().replace("rounds = 6", "rounds = 8"))
        found = self.verify(study, file=other)
        self.assert_found(found, "hospital_a: its record is of another study: rounds: 8 here, 6 at hospital_a")

    def test_what_is_no_record_or_given_twice_is_a_mistake(self):
        study = self.study()
        for words, said in (([self.dir], "run.json"), ([self.copies / "hospital_a"] * 2, "two records of one party"), ([study.alone()], "not the record of a party")):
            result = run("verify", *words, "--study", study.base / "shared/study.toml", cwd=self.dir, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertIn(said, result.stderr)
        self.assertIn("--study", run("verify", self.copies / "hospital_a", cwd=self.dir, check=False).stderr)


if __name__ == "__main__":
    unittest.main()
