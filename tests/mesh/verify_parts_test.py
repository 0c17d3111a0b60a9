"""`parley verify` of a run that went on after a loss: honest records hold in every part and together, and each kind of tampering is found and named."""
from loss_case import *

FORGE = os.environ["MESH_FORGE"]


class VerifyParts(LossCase):
    studies = {}  # one run each; every test works on a copy of its records

    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.TemporaryDirectory(dir=MEMORY, prefix="parley-parts-")

    @classmethod
    def tearDownClass(cls):
        cls.base.cleanup()

    def study(self, algorithm="mr-admm", **more):
        """A run that went on; its records are copied to self.copies."""
        name = algorithm + "".join(f"-{k}-{v}" for k, v in more.items())
        if name not in VerifyParts.studies:
            study, self.lost, left = self.begin_and_lose(algorithm, base=pathlib.Path(self.base.name) / name, **more)
            self.assert_completed(study, self.results(study, left))
            VerifyParts.studies[name] = (study, left)
        study, self.left = VerifyParts.studies[name]
        self.copies = self.dir / "records"
        shutil.rmtree(self.copies, ignore_errors=True)
        for party in study.all:
            shutil.copytree(study.base / party / "out", self.copies / party)
        self.parts = json.loads((self.copies / self.left[0] / "run.json").read_text())["parts"]
        return study

    def verify(self, study, parties=None, *more):
        records = [self.copies / n for n in parties or study.all]
        result = run("verify", *records, "--study", study.base / "shared/study.toml", "--json", *more, cwd=self.dir, check=False)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        self.assertEqual(result.stderr, "")
        return json.loads(result.stdout)

    def forge(self, study, what, holder, sender, *more, part=""):
        key = study.base / sender / f"{sender}.key"
        run(what, self.copies / holder / part / "transcript", sender, key, *more, cwd=self.dir, program=FORGE)

    def assert_found(self, found, *sentences):
        for sentence in sentences:
            self.assertTrue(any(sentence in w for w in found["wrong"]), f"{sentence}\nnot in\n" + "\n".join(found["wrong"]))

    # --- honest ---------------------------------------------------------------------------------------------------------

    def test_honest_runs_hold_in_all_parts_and_cost_what_was_planned(self):
        cases = [("mr-admm", 1e-6), ("mr-admm", ""), ("dp-admm", 1e-6), ("newton", 1e-6)] + ([("pp", ""), ("linear-admm", 1e-6)] if FULL else [])
        for algorithm, delta in cases:
            with self.subTest(algorithm, delta=delta):
                study = self.study(algorithm, delta=delta)
                ledgers = ",".join(str(study.base / n / "my.ledger") for n in self.left)
                found = self.verify(study, None, "--ledger", ledgers)
                self.assertEqual(found["wrong"], [])
                self.assertEqual([u for u in found["unchecked"] if "hospital_b: its run has not ended" not in u], [])
                self.assertEqual([p["parties"] for p in found["parts"]], [study.all, self.left])
                self.assertEqual(found["parts"][1]["run_id"], self.parts[1]["run_id"])
                self.assertEqual(found["parts"][1]["after_round"], self.parts[0]["went_on_after_round"])
                for p in found["parties"]:
                    self.assertEqual(p["parts"], 1 if p["party"] == LOST else 2)
                    if p["party"] == LOST or p["trainer"]:
                        continue
                    told = json.loads((self.copies / p["party"] / "run.json").read_text())["parts"]
                    self.assertEqual(p["rounds_released"], sum(t["rounds_released"] for t in told))
                    self.assertEqual(p["epsilon"], p["epsilon_stated"])
                    self.assertLessEqual(p["epsilon_in_ledger"], p["epsilon"])  # the plan allows what both parts cost together
                    self.assertGreater(p["epsilon_in_ledger"], 0.5 * p["epsilon"])
                    self.assertLessEqual(p["epsilon"], 2 * (1 + 1e-9))
                    if study.sums:  # both starts, and the model
                        self.assertEqual(p["values_recomputed"], 3)
                    if algorithm == "mr-admm":  # every recycled value of both parts, and both starts
                        self.assertGreaterEqual(p["values_recomputed"], study.rounds // 2 + 2)
                text = run("verify", *(self.copies / n for n in study.all), "--study", study.base / "shared/study.toml", cwd=self.dir).stdout
                self.assertIn("part 2: " + ", ".join(self.left), text)

    def test_some_of_the_records_are_enough_for_what_they_hold(self):
        study = self.study()
        found = self.verify(study, ["hospital_c"])
        self.assertEqual(found["wrong"], [])
        self.assertIn("part 2: hospital_d: its own record was not given", found["unchecked"])
        found = self.verify(study, [LOST])
        self.assertEqual((found["wrong"], len(found["parts"])), ([], 1))

    def test_a_survivor_that_died_and_came_back_and_one_that_came_too_late_hold(self):
        study, lost, left = self.begin_and_lose("mr-admm", rounds=600)
        study.until(lambda: (study.base / left[0] / "out/part-2/rounds.jsonl").exists(), "part 2 begins")
        self.processes[left[0]].kill()
        self.processes[left[0]].wait()
        self.start(study, left[0])
        self.start(study, lost)
        self.assert_completed(study, self.results(study, left))
        self.results(study, [lost])
        ledgers = ",".join(str(study.base / n / "my.ledger") for n in study.all)
        run("verify", *(study.base / n / "out" for n in study.all), "--study", study.base / "shared/study.toml", "--ledger", ledgers, cwd=self.dir)

    # --- tampered -------------------------------------------------------------------------------------------------------

    def test_values_of_the_second_part_that_do_not_follow_are_found(self):
        for round, said in ((0, "the start"), (2, "the recycled value")):
            with self.subTest(said):
                study = self.study()
                for holder in self.left:  # everybody was sent the same false value
                    self.forge(study, "value", holder, "hospital_c", round, 0, 0.5, part="part-2")
                self.assert_found(self.verify(study), f"part 2: hospital_c, round {round}: {said} does not follow from the values released before it: coordinate 0 is")

    def test_a_start_that_is_kept_as_evidence_counts_where_the_part_before_holds_another_value(self):
        study = self.study()
        self.forge(study, "evidence", "hospital_c", "hospital_d", 0, 0, 0, part="part-2")
        self.assertEqual(self.verify(study)["wrong"], ["part 2: hospital_c: what it keeps as evidence against hospital_d, round 0 of hospital_d, contradicts nothing in this record"])
        study = self.study()
        for holder in self.left:
            self.forge(study, "value", holder, "hospital_d", 0, 0, 0.5, part="part-2")
        self.forge(study, "evidence", "hospital_c", "hospital_d", 0, 0, 0, part="part-2")
        found = self.verify(study)
        self.assert_found(found, "part 2: hospital_d contradicted itself: hospital_c was sent another value at the start of this part than in the part before, both signed")
        self.assertEqual([p["epsilon"] for p in found["parties"] if p["party"] == "hospital_d"], [None])

    def test_a_past_that_was_changed_afterwards_is_found(self):
        study = self.study()
        last = self.parts[0]["went_on_after_round"]
        for holder in study.all:
            self.forge(study, "value", holder, "hospital_c", last - 1, 0, 0.5)
        self.assert_found(self.verify(study), f"hospital_c, round {last}: the recycled value does not follow", "hospital_c: its statement after the loss says round")
        study = self.study()
        for holder in study.all:
            self.forge(study, "value", holder, "hospital_c", last, 0, 0.5)
        self.assert_found(self.verify(study), "part 2: hospital_c, round 0: the start does not follow from the values released before it: coordinate 0 is")

    def test_a_common_point_that_does_not_follow_from_the_sums_of_the_part_before_is_found(self):
        study = self.study("newton", delta=1e-6)
        for holder in study.all:  # the lost one's sums are in it too
            self.forge(study, "value", holder, LOST, 5, 0, 0.5)
        found = self.verify(study)
        self.assert_found(found, *(f"part 2: {name}, round 0: the start does not follow from the values released before it" for name in self.left))
        study = self.study("newton", delta=1e-6)
        model = self.parts[1]["rounds_released"] - 1
        for holder in self.left:
            self.forge(study, "value", holder, "hospital_c", model, 0, 0.5, part="part-2")
        self.assert_found(self.verify(study), f"part 2: hospital_c, round {model}: the model does not follow from the values released before it: coordinate 0 is")

    def test_a_statement_of_fewer_rounds_than_were_released_is_found(self):
        study = self.study()
        for holder in self.left:
            self.forge(study, "stated", holder, "hospital_c", 3)
        self.assert_found(self.verify(study), "hospital_c, round 4: released, and its statement after the loss says round 3 was its last in this part",
                          "hospital_a: it has a record of part 2, and its transcript does not hold the consent of all who went on to it")
        self.assert_no_epsilon_of("hospital_c", self.verify(study))  # it signed both

    def assert_no_epsilon_of(self, name, found):
        party = next(p for p in found["parties"] if p["party"] == name)
        self.assertEqual((party["contradicted"], party["epsilon"], party["epsilon_stated"], found["epsilon"]), (True, None, None, None), found["wrong"])

    def test_two_statements_or_consents_are_found(self):
        for forged, round, what in (("stated", 3, "statement after a loss"), ("consent", 0, "consent")):
            with self.subTest(what):
                study = self.study()
                self.forge(study, forged, "hospital_a", "hospital_c", round)
                found = self.verify(study)
                self.assert_found(found, f"hospital_c contradicted itself: hospital_c has another {what} of its, signed, than somebody else")
                self.assert_no_epsilon_of("hospital_c", found)
                self.assertFalse(any(p["contradicted"] for p in found["parties"] if p["party"] != "hospital_c"))
                # Its own record is not needed: two of those that were told.
                found = self.verify(study, ["hospital_a", "hospital_d"])
                self.assert_found(found, f"hospital_c contradicted itself: hospital_d has another {what} of its, signed, than somebody else")
                self.assert_no_epsilon_of("hospital_c", found)

    def test_going_on_without_everybody_s_consent_is_found(self):
        study = self.study()
        self.forge(study, "unsaid", "hospital_a", "hospital_c", 0)
        self.assertEqual(self.verify(study)["wrong"], ["hospital_a: it has a record of part 2, and its transcript does not hold the consent of all who went on to it"])
        for holder in self.left[1:]:
            self.forge(study, "unsaid", holder, "hospital_c", 0)
        found = self.verify(study)
        self.assertEqual([w.split(":")[0] for w in found["wrong"]], self.left)
        self.assertLessEqual(2 * (1 - 1e-3), found["epsilon"], "what was planned, not that of part 1 alone")
        self.assertIn("part 2: it does not follow from what was signed, so nothing in it was checked", found["unchecked"])

    def test_another_plan_than_follows_is_found(self):
        study = self.study()
        for holder in self.left:
            for sender in self.left:
                self.forge(study, "consent", holder, sender, 0)
        self.assert_found(self.verify(study), "it consented to another plan than the one that follows from the study and the survivors' statements")

    def test_a_missing_part_is_found(self):
        study = self.study()
        shutil.rmtree(self.copies / "hospital_c/part-2")
        self.assert_found(self.verify(study), "hospital_c: its record of part 2 is missing, and all had agreed on it")

    def test_a_value_of_the_second_part_before_the_hellos_in_it_is_found(self):
        study = self.study()
        self.forge(study, "ungreeted", "hospital_c", "hospital_d", 0, part="part-2")
        self.assertEqual(self.verify(study)["wrong"], ["part 2: hospital_c: in its transcript round 1 of hospital_c stands before the hello of hospital_d"])

    def test_what_lies_in_no_part_or_in_another_one_is_found(self):
        study = self.study()
        folder = self.copies / "hospital_c"
        for file, of in (("part-4/run.json", "part-4"), ("part-02/run.json", "part-02"), ("part-2/part-3/run.json", "part-3"), ("part-2/statement.txt", "statement.txt"),
                         ("part-2/coefficients.csv", "coefficients.csv"), ("part-2/notes.txt", "notes.txt")):
            with self.subTest(file):
                there = (folder / file).parent.exists()
                (folder / file).parent.mkdir(exist_ok=True)
                shutil.copy(folder / "run.json", folder / file)
                self.assert_found(self.verify(study), f"hospital_c: its record holds {of}, which no party writes there")
                (folder / file).unlink() if there else shutil.rmtree((folder / file).parent)
        (folder / "part-3").mkdir()  # what a kill leaves
        (folder / "part-3/run.json.part").write_text("{")
        self.assertEqual(self.verify(study)["wrong"], [])

    def test_a_void_claim_of_the_whole_run_is_one_of_each_part(self):
        study = self.study(delta="")
        folder = self.copies / "hospital_c"
        self.forge(study, "evidence", "hospital_c", "hospital_d", 3, 0, 1)
        known = "hospital_d contradicted itself: hospital_c was sent a second, different round 3 of hospital_d, signed"
        self.assertEqual(self.verify(study)["wrong"], [known])
        for part in ("", "part-2"):
            withdraw(folder / part, "hospital_d", contradicted_parties=["hospital_d"])
        self.assertEqual(self.verify(study)["wrong"], [known])
        header = read_json(folder / "run.json")
        path = folder / "part-2/run.json"
        withdrawn = path.read_text()
        path.write_text(written({**read_json(path), "privacy": json.loads((self.copies / "hospital_d/run.json").read_text())["privacy"]}))
        self.assert_found(self.verify(study), "part 2: hospital_c: run.json has another privacy than follows")
        unnamed = json.loads(withdrawn, parse_float=lambda text: f"\0{text}\0")
        del unnamed["contradicted_parties"]  # a part in the middle, say, that had ended before
        path.write_text(written(unnamed))
        self.assertEqual(self.verify(study)["wrong"], [known])
        path.write_text(withdrawn)
        (folder / "run.json").write_text(written({**header, "node_facts": read_json(self.copies / "hospital_d/run.json")["node_facts"]}))
        self.assert_found(self.verify(study), "hospital_c: run.json has another node_facts than follows")

    def test_papers_that_do_not_follow_are_found(self):
        study = self.study(delta="")
        path = self.copies / "hospital_c/statement.json"
        intact = path.read_bytes()
        run("statement", path, study.base / "hospital_c/hospital_c.key", "epsilon", self.parts[1]["epsilon"], cwd=self.dir, program=FORGE)  # that of part 2 alone
        self.assert_found(self.verify(study), "hospital_c: its statement says epsilon = ")
        path.write_bytes(intact)
        for file, key, value, said in (("run.json", "parts", self.parts[1:], "run.json has another parts than follows"), ("run.json", "outcome", "interrupted", "run.json has outcome"),
                                       ("part-2/run.json", "run_id", "0" * 32, "run.json has run_id"), ("part-2/model.json", "weights", [1.0], "the weights in part-2/model.json do not follow"),
                                       ("model.json", "weights", [1.0], "the weights in model.json do not follow")):
            with self.subTest(file=file, key=key):
                path = self.copies / "hospital_c" / file
                intact = path.read_text()
                path.write_text(json.dumps({**json.loads(intact), key: value}))
                self.assert_found(self.verify(study), said)
                path.write_text(intact)
        path = self.copies / "hospital_c/part-2/rounds.jsonl"
        lines = path.read_text().splitlines()
        lines[5] = json.dumps({**json.loads(lines[5]), "epsilon": 0.0})  # as if part 1 had been free
        path.write_text("\n".join(lines) + "\n")
        self.assert_found(self.verify(study), "part 2: hospital_c, round 5: rounds.jsonl has epsilon = 0, and")

    def test_a_ledger_that_paid_for_other_values_of_the_second_part_is_found(self):
        study = self.study()
        for holder in self.left:
            self.forge(study, "value", holder, "hospital_c", 3, 0, 0.5, part="part-2")
        self.assert_found(self.verify(study, None, "--ledger", study.base / "hospital_c/my.ledger"), "part 2: hospital_c, round 3: its ledger paid for another value than the one released")

    def test_a_ledger_whose_chain_was_written_anew_is_held_against_every_part(self):
        study = self.study()
        runs = [part["run_id"] for part in self.parts]
        folder = self.dir / "ledger"

        def rechained(of, **values):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for file in (study.base / "hospital_c").glob("my.ledger*"):
                shutil.copy(file, folder)

            def change(kind, run_id, body):
                if kind != "run":
                    return False
                body["folder"] = ""
                if run_id == of and "fingerprint" in values:
                    body["datasets"][0]["fingerprint"] = values["fingerprint"]
                if run_id == of:
                    body["accounts"][0].update({k: v for k, v in values.items() if k in body["accounts"][0]})
                    body.update({k: v for k, v in values.items() if k in body})
                return True

            rechain(folder / "my.ledger", change)
            return self.verify(study, None, "--ledger", folder / "my.ledger")

        for run_id in runs:
            for values, sentence in (({"configuration": "0" * 64}, "the configuration 0000"), ({"planned_mu": 50.0}, "the planned mu 50, and"),
                                     ({"not_private": []}, "the stamp private, and NOT PRIVATE follows")):
                with self.subTest(part=runs.index(run_id) + 1, of=sentence):
                    self.assert_found(rechained(run_id, **values), f"my.ledger: run {run_id} is registered with {sentence}")
        found = rechained(runs[1], fingerprint="0" * 64)
        self.assert_found(found, f"my.ledger: run {runs[1]} is registered with other rows, by dataset and fingerprint, than the first part")
        never = [w.split("its record names")[0] for w in rechained("")["wrong"]]
        self.assertEqual(never, ["hospital_c: ", "part 2: hospital_c: "])

    def test_damage_anywhere_is_a_sentence_and_never_a_bug(self):
        study, random = self.study(), __import__("random").Random(7)
        for path in sorted(p for p in (self.copies / "hospital_c").rglob("*") if p.is_file()):
            intact = path.read_bytes()
            for _ in range(60 if FULL else 2):
                data = bytearray(intact)
                at = random.randrange(len(data)) if data else 0
                data[at:at + random.choice((0, 1, 8))] = random.choice((b"", b"[", b"null", b"-1e999", b"9", b"\x00", b'"'))
                path.write_bytes(bytes(data))
                result = run("verify", *(self.copies / n for n in study.all), "--study", study.base / "shared/study.toml", cwd=self.dir, check=False)
                self.assertIn(result.returncode, (0, 1), f"{path}\n{result.stderr}")
            path.write_bytes(intact)


if __name__ == "__main__":
    unittest.main()
