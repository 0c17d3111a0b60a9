"""What a party signs and keeps is true whatever happened to its disks and whoever lies to it: no figure from a ledger that forgot, no agreed
model lost, no record of another run overwritten, and papers that are rebuilt from ledger and transcript."""
from mesh_case import *

A, B, C = "hospital_a", "hospital_b", "hospital_c"
PAPERS = ("statement.json", "statement.txt", "model.json", "own_model.json")


class Claims(Case):
    def pure(self, **options):
        """δ = 0, where ε is counted round by round."""
        study = Study(self.dir / "study", "pp", seed=None, epsilon=options["rounds"], **options)
        for folder in ("shared", *study.all):
            study.set(study.base / folder / "study.toml", delta="0.0")
        return study

    def kill(self, name):
        self.processes[name].kill()
        self.processes[name].wait()

    def end_of(self, study, name):
        return self.results(study, [name])[name]

    def statement(self, study, name):
        return json.loads(study.out(name, "statement.json").read_text())["statement"]

    def verify(self, study, names=None):
        result = run("verify", *(study.base / n / "out" for n in names or study.all), "--study", study.base / "shared/study.toml", "--json", cwd=self.dir, check=False)
        return json.loads(result.stdout)["wrong"]

    def insider(self, study, name, at):
        stranger = Stranger(study.addresses[at], study.base / name / f"{name}.key", study.base / name / f"{name}.pem")
        self.addCleanup(stranger.__exit__)
        return stranger

    @staticmethod
    def content(folder):
        return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    def test_a_party_with_a_ledger_that_forgot_signs_nothing(self):
        study = self.pure(rounds=600)
        self.start_all(study)
        self.await_rounds(study, A, 6)
        self.kill(A)
        folder = study.base / A
        for file in folder.glob("my.ledger*"):
            file.unlink()
        run("ledger", "cap", "my.ledger", "--dataset", A, "--epsilon", "unlimited", cwd=folder)
        shutil.move(folder / "out", folder / "lost")
        self.start(study, A)
        code, said = self.end_of(study, A)
        self.assertEqual((said["outcome"], said["epsilon"], said["model"], said["statement"]), ("refused", None, False, False), study.logs())
        self.assertEqual(code, 5)
        self.assertIn("ledger", said["outcome_in_words"])
        for paper in PAPERS:
            self.assertFalse(study.out(A, paper).exists(), paper)
        self.assertEqual(json.loads(study.out(A, "run.json").read_text())["outcome"], "past_unknown")
        no_epsilon(self, study.out(A, "."), A)
        for name in (B, C):
            self.processes[name].send_signal(signal.SIGSTOP)
        self.start(study, A)  # nobody answers it
        study.until(lambda: read_json(study.out(A, "run.json"))["outcome"] == "running", "the record is begun anew")
        self.kill(A)
        self.assertEqual(read_json(study.out(A, "run.json"))["void_before"], "past_unknown")
        no_epsilon(self, study.out(A, "."), A)

    def test_the_statement_of_an_earlier_end_goes_before_the_next_round_is_paid(self):
        study = self.pure(rounds=600)
        self.start_all(study)
        self.await_rounds(study, A, 6)
        self.processes[A].send_signal(signal.SIGINT)
        self.end_of(study, A)
        told = self.statement(study, A)["rounds_released"]
        self.assertTrue(study.out(A, "statement.txt").exists())
        self.start(study, A)
        self.await_rounds(study, A, told + 5)
        self.kill(A)
        self.assertGreater(len(study.charges(A)), told)
        for paper in ("statement.json", "statement.txt"):
            self.assertFalse(study.out(A, paper).exists(), "it tells of fewer rounds than were charged")
        self.assertEqual(self.verify(study, [A]), [])

    def test_a_party_that_nobody_has_confirmed_claims_no_epsilon_of_zero(self):
        study = self.pure(rounds=20)
        self.start(study, A)
        self.await_rounds(study, A, 1)
        self.processes[A].send_signal(signal.SIGINT)
        code, said = self.end_of(study, A)
        self.assertEqual((said["outcome"], said["rounds_from_rows"], said["epsilon"], said["model"], said["statement"]), ("interrupted", 0, None, False, False))
        for paper in PAPERS:
            self.assertFalse(study.out(A, paper).exists(), paper)
        self.assertEqual(self.verify(study, [A]), [])

    def test_nobody_goes_on_after_a_loss_that_nobody_has_confirmed(self):
        """on-loss = "continue": its own statement confirms nothing, for a lost ledger looks like an empty one."""
        study = self.pure(rounds=20, deadline=0.5, wait=1.0, options={"on_loss": '"continue"'}.items())
        self.start(study, A)
        code, said = self.end_of(study, A)
        self.assertEqual((said["outcome"], said["epsilon"], said["model"], said["statement"]), ("peer_lost", None, False, False), study.logs())
        self.assertIn("not every neighbour has confirmed", said["outcome_in_words"])
        for paper in PAPERS:
            self.assertFalse(study.out(A, paper).exists(), paper)

    def test_the_count_of_a_party_that_others_did_not_confirm_is_the_planned_one(self):
        study = self.pure(rounds=600, deadline=0.5)
        self.start_all(study)
        self.await_rounds(study, A, 6)
        for name in study.all:
            self.kill(name)
        self.start(study, A)
        study.until(lambda: study.log(A).count("takes part") > 1, f"the second process of {A} begins")
        self.processes[A].send_signal(signal.SIGINT)
        self.end_of(study, A)
        said = self.statement(study, A)
        self.assertEqual(said["epsilon"], said["epsilon_planned"])
        self.assertIn("not every neighbour has confirmed", said["unconfirmed"])
        self.assertIn("not every neighbour has confirmed", study.out(A, "statement.txt").read_text())
        self.assertEqual([w for w in self.verify(study, [A]) if w.startswith(A)], [])

    def test_a_completed_model_stands_whatever_is_said_afterwards(self):
        study = Study(self.dir / "study", deadline=1)
        self.start_all(study)
        self.assert_completed(study)
        def papers():  # without what is said of the ε of all
            documents = [json.loads(study.out(A, p).read_text()) for p in ("model.json", "own_model.json")]
            return [{k: v for k, v in d.items() if k not in ("privacy", "not_private")} for d in documents] + [study.out(A, "statement.txt").read_text()]
        before = papers()
        stated = self.statement(study, A)
        final = next(m for m in map(wire.decode, (d for _, d in wire.entries(study.out(A, "transcript")))) if m.kind == wire.FINAL and m.sender == C)
        second = wire.signed_part(final._replace(payload=bytes(len(final.payload))))

        def stands():
            code, said = self.end_of(study, A)
            self.assertEqual((code, said["outcome"], said["model"]), (6, "completed", True), study.logs())
            self.assertEqual(papers(), before)
            self.assertEqual(self.statement(study, A), stated)
            if wire.EVIDENCE in [kind for kind, _ in wire.entries(study.out(A, "transcript"))]:  # named by the process that heard it, after it had the model
                self.assertEqual(json.loads(study.out(A, "run.json").read_text())["contradicted_parties"], [C])
                no_epsilon(self, study.out(A, "."), C)
            self.start(study, A)
        self.start(study, A)
        verdicts = []
        while verdicts.count("second_value") < 2:  # with all that it needs, a process listens for two deadlines: perhaps the next one hears it
            with self.insider(study, C, A) as liar:  # a new caller each time: gRPC waits longer after each failure
                verdicts.append(liar.send(second, sign=True).get("verdict"))
            self.assertIn(verdicts[-1], (None, "second_value"), study.logs())
            if self.processes[A].poll() is not None:
                stands()
        stands()
        stands()  # once more: it is remembered
        self.end_of(study, A)
        kept = [d for kind, d in wire.entries(study.out(A, "transcript")) if kind == wire.EVIDENCE]
        self.assertEqual(len(kept), 1)
        self.assertIn("its model stands", study.log(A))
        self.assertEqual([w.split(":")[0] for w in self.verify(study)], [f"{C} contradicted itself"])

    def test_after_a_contradiction_the_next_process_states_the_same(self):
        study = self.pure(rounds=600)
        self.start_all(study)
        self.await_rounds(study, A, 8)
        self.kill(C)
        heard = [m for m in wire.values(study.out(A, "transcript"), [wire.RECEIVED]) if m.sender == C]
        other = heard[1]._replace(payload=bytes(len(heard[1].payload)))
        with self.insider(study, C, A) as liar:
            self.assertEqual(liar.send(wire.signed_part(other), sign=True)["verdict"], "second_value")
        self.assertEqual(self.end_of(study, A)[1]["outcome"], "equivocation")
        no_epsilon(self, study.out(A, "."), C)
        self.assertIn("this model is NOT PRIVATE: " + WHY_VOID,
                      run("predict", "--model", "out/model.json", "--data", "mine.csv", cwd=study.base / A).stderr)
        before, model = self.statement(study, A), json.loads(study.out(A, "model.json").read_text())
        done = json.loads(study.out(A, "run.json").read_text())["rounds_done"]
        self.assertGreater(before["rounds_from_rows"], 4)
        self.start(study, A)
        self.assertEqual(self.end_of(study, A)[1]["outcome"], "equivocation")
        after = self.statement(study, A)
        before.pop("outcome_in_words"), after.pop("outcome_in_words")
        self.assertEqual(after, before)
        self.assertEqual(json.loads(study.out(A, "model.json").read_text()), model)
        self.assertEqual(json.loads(study.out(A, "run.json").read_text())["rounds_done"], done)
        self.assertEqual([w for w in self.verify(study, [A]) if w.startswith(A)], [])

    def test_the_record_of_another_run_is_never_touched(self):
        study, other = Study(self.dir / "one"), Study(self.dir / "two")
        self.start_all(study)
        self.assert_completed(study)
        there = other.base / A
        train = there / "trained"
        run("train", "--algorithm", "mr-admm", "--data", "mine.csv", "--schema", "schema.toml", "--graph", "ring", "--nodes", 3, "--rounds", 4, "--seed", 1, "--epsilon", 1, "--delta", 1e-6, "--out", train, "--quiet",
            cwd=there)
        somebody = there / "somebody"
        somebody.mkdir()
        (somebody / "letter.txt").write_text("dear")
        shutil.copytree(study.base / A / "out", there / "damaged")
        (there / "damaged/run.json").write_text("")
        for folder, says in ((study.base / A / "out", "another run"), (train, "another run"), (there / "damaged", "another run"), (somebody, "other files")):
            with self.subTest(folder.name):
                before, ledger = self.content(folder), other.spend(A)
                result = run(*(folder if word == "out" else word for word in other.command(A)), cwd=there, check=False)
                self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
                self.assertIn(says, result.stderr)
                self.assertIn("choose another --out", result.stderr)
                self.assertNotIn("remove", result.stderr)
                self.assertEqual(self.content(folder), before)
                self.assertEqual(other.spend(A), ledger)

    def test_what_a_power_cut_leaves_of_the_record_is_rebuilt(self):
        def zero_end(file):
            data = file.read_bytes()
            file.write_bytes(data[:len(data) // 2] + bytes(len(data) - len(data) // 2))
        harm = {
            "run.json is missing": lambda out: (out / "run.json").unlink(),
            "run.json is empty": lambda out: (out / "run.json").write_text(""),
            "run.json is zeros": lambda out: (out / "run.json").write_bytes(bytes(100)),
            "released.f64 is short": lambda out: (out / "released.f64").write_bytes((out / "released.f64").read_bytes()[:1000]),
            "rounds.jsonl is missing": lambda out: (out / "rounds.jsonl").unlink(),
            "zeros at the end of both": lambda out: (zero_end(out / "released.f64"), zero_end(out / "rounds.jsonl")),
            "only the transcript is left": lambda out: [f.unlink() for f in out.iterdir() if f.name != "transcript"],
        }
        study = Study(self.dir / "study", rounds=150, deadline=0.5)
        self.start_all(study)
        self.await_rounds(study, A, 5)
        for what, do in harm.items():
            self.kill(A)
            do(study.base / A / "out")
            rounds = study.out(A, "transcript").stat().st_size
            self.start(study, A)
            study.until(lambda: study.out(A, "transcript").stat().st_size > rounds or self.processes[A].poll() is not None, what)
            self.assertIn(self.processes[A].poll(), (None, 0), what + "\n" + study.logs())
        self.assert_completed(study)
        self.assert_same_as_simulation(study)
        self.assertEqual(self.verify(study), [])

    def test_the_papers_of_a_completed_run_come_back_too(self):
        study = Study(self.dir / "study", deadline=0.5)
        self.start_all(study)
        self.assert_completed(study)
        kept = ("model.json", "own_model.json", "statement.txt", "run.json", "released.f64", "rounds.jsonl")
        # The ledger counts the processes, so its newest head is another one.
        now = lambda: [re.sub(rb'"ledger_head": *\{[^}]*\}', b"", study.out(A, f).read_bytes()) for f in kept]
        before = now()
        for file in kept:
            study.out(A, file).write_bytes(b"")
        self.start(study, A)
        study.until(lambda: now() == before or self.processes[A].poll() is not None, "the papers come back")
        self.processes[A].send_signal(signal.SIGINT)  # alone, it would wait for the others, who may need something
        self.assertEqual(self.end_of(study, A)[1]["outcome"], "completed", study.logs())
        self.assertEqual(now(), before)
        self.assertEqual(self.verify(study), [])

    def test_a_statement_claims_what_holds_for_its_study(self):
        cases = {"mr-admm": dict(epsilon=2), "linear-admm": dict(epsilon=2), "dp-admm": dict(epsilon=2), "admm": dict(epsilon=None)}
        for algorithm, options in cases.items():
            with self.subTest(algorithm):
                study = Study(self.dir / algorithm, algorithm, rounds=4, **options)
                self.start_all(study)
                self.assert_completed(study)
                text = study.out(A, "statement.txt").read_text()
                self.assertIn("There is no bound", text)  # a seed, or no noise
                self.assertNotIn("has learnt at most", text)
                self.assertNotIn("operating system's generator", text)
                self.assertEqual("public seed" in text, algorithm != "admm")
                self.assertEqual("local minimum was certified" in text, algorithm in ("mr-admm", "admm"))
                self.assertIn("Released: 5 values of", text)
        study = self.pure(rounds=4)
        self.start_all(study)
        self.assert_completed(study)
        text = study.out(A, "statement.txt").read_text()
        for part in ("has learnt at most epsilon = ", "operating system's generator", "(proved; planned"):
            self.assertIn(part, text)

    def test_what_is_measured_on_rows_lies_outside_the_record_and_is_nobody_elses(self):
        study = Study(self.dir / "study")
        for name in study.all:
            self.start(study, name, "--local-metrics", "true")
        self.assert_completed(study)
        file = study.base / A / "out.private_metrics.json"
        self.assertIn("never share", file.read_text())
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        self.assertFalse(study.out(A, "private_metrics.json").exists())
        said = run(*(w for w in study.command(A) if w != "--json"), cwd=study.base / A, check=False).stdout
        self.assertIn("out.private_metrics.json (measured on rows that it was trained on and not paid for: never share it)", said)

    def test_metrics_that_cannot_be_written_keep_nobody_waiting(self):
        study = Study(self.dir / "study", rounds=6)
        (study.base / A / "out.private_metrics.json/in the way").mkdir(parents=True)
        for name in study.all:
            self.start(study, name, "--local-metrics", "true")
        self.assert_completed(study)
        self.assertIn("the private metrics were not written", study.log(A))
        self.assertTrue((study.base / B / "out.private_metrics.json").is_file())

    def test_local_metrics_are_measured_on_rows_that_were_held_out(self):
        study = Study(self.dir / "study")  # 100 records each
        for i, name in enumerate(study.names):
            (study.base / name / "mine.csv").unlink()
            run("data", "generate", "census", "--rows", 125, "--split-seed", i + 1, "--out", "mine.csv", cwd=study.base / name)
        refused = run(*study.command(A), "--test-share", 0.1, cwd=study.base / A, check=False)
        self.assertIn("112 rows without the 13 that --test-share holds out", refused.stderr)
        for name in study.all:
            self.start(study, name, "--local-metrics", "true", "--test-share", "0.2")
        self.assert_completed(study)
        metrics = json.loads((study.base / A / "out.private_metrics.json").read_text())
        self.assertEqual((metrics["rows"], metrics["held_out"]), (25, True))
        self.assertIn("has not seen them", metrics["rows_were"])
        last = "\n".join((study.base / A / "mine.csv").read_text().splitlines()[:1] + (study.base / A / "mine.csv").read_text().splitlines()[-25:])
        (self.dir / "held.csv").write_text(last + "\n")
        found = json.loads(run("evaluate", "--model", study.out(A, "model.json"), "--data", self.dir / "held.csv", "--json", cwd=self.dir).stdout)
        for figure in ("error", "baseline_error", "auc", "verdict", "confusion"):
            self.assertEqual(metrics["model"][figure], found[figure], figure)
        run("report", "out", "--private", "--out", "private.html", cwd=study.base / A)
        page = (study.base / A / "private.html").read_text()
        for part in ("model against guessing", "The model is " + found["verdict"].split(" ")[0], f"AUC {found['auc']:.3f}", "rows that were held out", 'id="calibration"', 'id="roc"'):
            self.assertIn(part, page)
        run("report", "out", "--out", "shared.html", cwd=study.base / A)
        shared = [study.base / A / "shared.html", *(f for f in (study.base / A / "out").rglob("*") if f.suffix in (".json", ".jsonl", ".txt"))]
        self.assertGreater(len(shared), 3)
        for file in shared:  # the folder of a party may be given to others as a whole
            for word in ("against guessing", '"roc"', '"calibration"'):
                self.assertNotIn(word, file.read_text(), file)


if __name__ == "__main__":
    unittest.main()
