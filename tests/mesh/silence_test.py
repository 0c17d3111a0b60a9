"""Parties that fall silent, come back, or come back with something else: who is named, who waits, who stops with what (promises R6, R7, R9).
How soon somebody is named is tested under a fake clock (protocol/loss_test.cpp)."""
from mesh_case import *

A, B, C = "hospital_a", "hospital_b", "hospital_c"
ROUNDS = 120 if SHORT else 240


class Silence(Case):
    def study(self, deadline=0.25):
        return Study(self.dir / "study", rounds=ROUNDS, deadline=deadline)

    def is_reported(self, study):
        for name in (A, B):
            study.await_log(name, f"{C} has not answered for")

    def ends_well(self, study):
        self.assert_completed(study)
        self.assert_same_as_simulation(study)
        self.assert_spend(study)
        self.assertGreaterEqual(self.assert_paid(study), 3 * study.rounds)  # what each has sent, and what it has heard

    def begun(self, dies_later=False, deadline=0.25):
        """hospital_c stops itself in the middle, at the same call however busy the machine is: it hears two answers in a round."""
        study = self.study(deadline)
        self.start_all(study, [A, B])
        at = {"PARLEY_AT": "sent to some", "PARLEY_STOP": "40", **({"PARLEY_KILL": "120"} if dies_later else {})}
        self.start(study, C, program=FAILPOINTS, env=at)
        study.until(lambda: self.is_stopped(C), f"{C} stops")
        self.assertLess(study.rounds_of(C), ROUNDS)
        return study

    def is_stopped(self, name):
        self.assertIsNone(self.processes[name].poll())
        return pathlib.Path(f"/proc/{self.processes[name].pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"

    def go_on(self):
        self.processes[C].send_signal(signal.SIGCONT)

    def test_a_stopped_peer_is_named_and_waited_for_and_the_run_goes_on_with_it(self):
        study = self.begun()
        self.is_reported(study)
        self.go_on()
        for name in (A, B):
            study.await_log(name, f"{C} answers again")
        self.ends_well(study)

    def test_a_killed_peer_is_named_and_waited_for_and_the_run_goes_on_with_its_next_process(self):
        study = self.begun()
        self.processes[C].kill()
        self.processes[C].wait()
        self.is_reported(study)
        self.start(study, C)
        for name in (A, B):
            study.await_log(name, f"{C} answers again")
        self.ends_well(study)

    def test_without_a_peer_that_is_lost_the_others_stop_with_a_model_and_know_what_was_spent(self):
        study = self.begun()
        self.lose(study, C)
        done = self.results(study, [A, B])
        for name, (code, result) in done.items():
            self.assertEqual(code, 4)
            self.assertEqual(result["outcome"], "peer_lost", study.logs())
            self.assertTrue(result["model"])
            self.assertRegex(result["outcome_in_words"], f"{C}.* older than what (you have|it has) released")
            released = len(study.charges(name))
            statement = json.loads(study.out(name, "statement.json").read_text())["statement"]
            text = study.out(name, "statement.txt").read_text()
            self.assertGreater(released, 1)
            self.assertEqual(statement["rounds_released"], released)
            self.assertIn(f"Released: {released} values of", text)
            self.assertGreater(result["epsilon"], 0)
            self.assertEqual(statement["epsilon"], result["epsilon"])
            checked = json.loads(run("verify", study.base / name / "out", "--study", study.base / "shared/study.toml", "--ledger", study.base / name / "my.ledger", "--json", cwd=self.dir).stdout)
            self.assertEqual([p["epsilon"] for p in checked["parties"] if p["party"] == name], [result["epsilon"]])  # by who did not write it
            predicted = run("predict", "--model", study.out(name, "model.json"), "--data", "mine.csv", cwd=study.base / name, check=False)
            self.assertEqual(predicted.returncode, 0, predicted.stderr)
        # all of them started again: the same run goes on
        self.start_all(study)
        self.ends_well(study)

    def test_a_party_that_its_owner_interrupts_is_waited_for(self):
        study = self.begun(deadline=5)  # who leaves says so for two deadlines
        self.processes[C].send_signal(signal.SIGINT)
        self.go_on()
        code, result = self.results(study, [C])[C]
        self.assertEqual((code, result["outcome"]), (4, "interrupted"), study.logs())
        for name in (A, B):
            study.await_log(name, f"{C} was interrupted by its owner; waiting for it")
            self.assertIsNone(self.processes[name].poll())
        self.start(study, C)
        self.ends_well(study)

    def test_another_study_file_stops_before_round_1_and_the_field_is_named(self):
        study = self.study()
        Study.set(study.base / C / "study.toml", rounds=ROUNDS + 2)
        self.start_all(study)
        for name, (code, result) in self.results(study).items():
            self.assertNotEqual(code, 0)
            self.assertIn(result["outcome"], ("refused", "peer_lost"), study.logs())
            self.assertLessEqual(set(study.charges(name)), {0})  # the start, which is free
        # Who leaves first is not asked any more: the others know that it differs, and not in what.
        for logs in (study.log(C), study.log(A) + study.log(B)):
            self.assertRegex(logs, r"has another configuration|refused \(wrong_configuration\)")
        self.assertRegex(study.logs(), r"hospital_[abc] has another configuration: .*rounds.*(12|24)[02]")

    def test_another_number_of_rows_is_refused_at_once(self):
        study = self.study()
        file = study.base / C / "mine.csv"
        file.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n")
        self.start(study, C)
        self.assertEqual(self.exit_of(study, C), 1)
        for text in ("mine.csv", "another number of records for hospital_c", "99 rows", "100 rows"):
            self.assertIn(text, study.log(C))
        self.assertFalse((study.base / C / "out").exists())

    def old_copy(self, study, what):
        """Of hospital_c's files, where it stopped; then it goes on, and dies later."""
        kept = study.base / C / "old"
        kept.mkdir()
        for file in what:
            path = study.base / C / file
            shutil.copytree(path, kept / file) if path.is_dir() else shutil.copy(path, kept)
        before = study.rounds_of(C)
        self.go_on()
        self.assertEqual(self.exit_of(study, C), KILLED, study.logs())
        self.assertGreater(study.rounds_of(C), before + 10)
        new = study.base / C / "new"
        new.mkdir()
        for file in what:
            (study.base / C / file).rename(new / file)
            shutil.move(kept / file, study.base / C)
        return new

    def put_back(self, study, new):
        for path in new.iterdir():
            now = study.base / C / path.name
            shutil.rmtree(now) if now.is_dir() else now.unlink(missing_ok=True)
            path.rename(now)

    LEDGER = ("my.ledger", "my.ledger-wal", "my.ledger-shm", "my.ledger.lock", "my.ledger.newest-head")

    def ledger_files(self, study):
        return [f for f in self.LEDGER if (study.base / C / f).exists()]

    def test_a_ledger_that_is_older_than_the_transcript_is_refused(self):
        study = self.begun(dies_later=True)
        new = self.old_copy(study, self.ledger_files(study))
        self.start(study, C)
        self.assertEqual(self.exit_of(study, C), 1)
        self.assertIn("your ledger is older than what you have released", study.log(C))
        self.put_back(study, new)
        self.start(study, C)
        self.ends_well(study)

    def test_a_whole_old_folder_is_noticed_by_the_peers(self):
        study = self.begun(dies_later=True)
        new = self.old_copy(study, [*self.ledger_files(study), "out"])
        before = len(study.charges(C))
        self.start(study, C)
        code, result = self.results(study, [C])[C]
        self.assertEqual((code, result["outcome"]), (5, "refused"), study.logs())
        self.assertRegex(study.log(C), "your ledger is older than what you have released|the ledger of hospital_c is older than what it has released")
        self.assertEqual(len(study.charges(C)), before, "a round was released twice")
        self.results(study, [A, B])
        for names in ((C,), (A, B, C)):
            found = json.loads(run("verify", *(study.base / n / "out" for n in names), "--study", study.base / "shared/study.toml", "--ledger", study.base / C / "my.ledger", "--json", cwd=self.dir, check=False).stdout)
            of_c = next(p for p in found["parties"] if p["party"] == C)
            self.assertEqual((of_c["contradicted"], of_c["epsilon"], of_c["epsilon_in_ledger"]), (True, None, None), found["wrong"])
            self.assertTrue(any(w.startswith(f"{C}: it keeps a signature of its own") for w in found["wrong"]), found["wrong"])
            self.assertTrue(any("my.ledger: this ledger is older than what was released" in w for w in found["wrong"]), found["wrong"])
            self.assertFalse(any("neighbour of" in w for w in found["wrong"]), found["wrong"])
        self.put_back(study, new)
        self.start_all(study)
        self.ends_well(study)

    def rolled_back(self):
        """hospital_c with an old copy of ledger, memory and record; its peers know of more."""
        study = self.begun(dies_later=True)
        self.old_copy(study, [*self.ledger_files(study), "out"])
        return study

    def ledger(self, study, *words, check=False):
        return run("ledger", *words, cwd=study.base / C, check=check)

    def assert_ledger_is_closed(self, study):
        """To every other run, and whoever looks is told; until its owner accepts it."""
        shown = json.loads(self.ledger(study, "show", "my.ledger", "--json", check=True).stdout)
        proof, = shown["proved_old"]
        self.assertFalse(proof["accepted"])
        self.assertRegex(proof["what"], r"has round \d+ of hospital_c, and the ledger ends with \d+|another round \d+|met another process")
        self.assertIn("This ledger is older than what was released: entry", self.ledger(study, "show", "my.ledger", check=True).stdout)
        verified = self.ledger(study, "verify", "my.ledger")
        self.assertEqual(verified.returncode, 1)
        self.assertIn("this ledger is older than what was released", verified.stderr)
        train = ("train", "--data", "mine.csv", "--schema", "schema.toml", "--nodes", 2, "--rounds", 2, "--algorithm", "pvp", "--epsilon", 1, "--delta", 1e-6,
                 "--ledger", "my.ledger", "--dataset", C, "--quiet", "--out")
        for words in ((*train, "runs/other"), ("ledger", "cap", "my.ledger", "--dataset", C, "--epsilon", 5)):
            refused = run(*words, cwd=study.base / C, check=False)
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertIn("your ledger is older than what you have released", refused.stderr)
            self.assertIn("parley ledger accept", refused.stderr)
        self.ledger(study, "accept", "my.ledger", "--reason", "a test", check=True)
        self.assertIn(f"although a peer had proved that it is older (entry {proof['entry']})", self.ledger(study, "show", "my.ledger", check=True).stdout)
        self.ledger(study, "verify", "my.ledger", check=True)
        run(*train, "runs/other", cwd=study.base / C)

    def test_a_proof_that_the_ledger_is_old_closes_it_until_its_owner_accepts_it(self):
        study = self.rolled_back()
        self.start(study, C)
        self.assertEqual(self.exit_of(study, C), 5, study.logs())
        self.start(study, C)  # once more: it says so again, and its ledger has one mark
        self.assertEqual(self.exit_of(study, C), 5, study.logs())
        self.assertEqual(json.loads(study.out(C, "run.json").read_text())["outcome"], "past_unknown")
        self.assert_ledger_is_closed(study)
        self.start(study, C)  # accepted for other runs; this one is over
        self.assertEqual(self.exit_of(study, C), 5, study.logs())
        self.assertEqual([p["accepted"] for p in json.loads(self.ledger(study, "show", "my.ledger", "--json").stdout)["proved_old"]], [True])

    def test_killed_right_after_the_mark_the_ledger_is_closed_and_nothing_is_claimed(self):
        study = self.rolled_back()
        self.start(study, C, program=FAILPOINTS, env={"PARLEY_AT": "after the mark of a proof", "PARLEY_KILL": "1"})
        self.assertEqual(self.exit_of(study, C), KILLED, study.logs())
        self.assertNotIn(wire.EVIDENCE, [kind for kind, _ in wire.entries(study.out(C, "transcript"))])
        self.start(study, C)  # the mark is enough
        self.assertEqual(self.exit_of(study, C), 5, study.logs())
        self.assertEqual(json.loads(study.out(C, "run.json").read_text())["outcome"], "past_unknown")
        self.assertFalse(study.out(C, "statement.json").exists())
        self.assert_ledger_is_closed(study)

    def test_killed_in_the_middle_of_the_mark_the_ledger_is_refused(self):
        study = self.rolled_back()
        self.start(study, C, program=FAILPOINTS, env={"PARLEY_AT": "after the memory leads", "PARLEY_KILL": "1"})
        self.assertEqual(self.exit_of(study, C), KILLED, study.logs())
        for words in (study.command(C), ("ledger", "show", "my.ledger"), ("ledger", "cap", "my.ledger", "--dataset", C, "--epsilon", 5)):
            refused = run(*words, cwd=study.base / C, check=False)
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertIn("your ledger is older than what you have released", refused.stderr)

    def test_a_full_disk_stops_before_anything_is_sent_and_names_the_file(self):
        for file, says in (("transcript", "transcript"), ("my.ledger-wal", "my.ledger"), ("released.f64", "out")):
            with self.subTest(file):
                study = Study(self.dir / file, rounds=20, deadline=0.5)
                self.start_all(study, [A, B])
                self.start(study, C, program=FAILPOINTS, env={"PARLEY_AT": "write " + file, "PARLEY_FULL": "12"})
                self.assertEqual(self.exit_of(study, C), 1, study.logs())
                why = study.log(C)[study.log(C).rindex(" error: "):]
                self.assertIn(says, why.splitlines()[0])
                self.assertIn("check free space", why)
                self.assert_paid(study)
                self.start(study, C)
                self.ends_well(study)

    def test_a_second_process_of_the_same_party_is_refused(self):
        study = self.study()
        self.start(study, C)
        study.await_log(C, "0 of 2 peers answer")
        second = run(*study.command(C), cwd=study.base / C, check=False)
        self.assertEqual(second.returncode, 1)
        self.assertIn(f"my.ledger: the ledger is in use by process {self.processes[C].pid}", second.stderr)
        self.start_all(study, [A, B])
        self.ends_well(study)

    def test_idle_connections_of_strangers_do_not_stop_a_run(self):
        study = Study(self.dir / "study", rounds=40, deadline=0.5)
        self.start(study, A, prefix=("prlimit", "--nofile=64:4096"))
        host, port = study.addresses[A].split(":")
        idle = []

        def connected():
            try:
                idle.append(socket.create_connection((host, int(port)), timeout=PATIENCE))
            except OSError:  # it does not listen yet
                return False
            return len(idle) == 100
        study.until(connected, f"100 connections to {A}")
        self.start_all(study, [B, C])
        self.assert_completed(study)
        for connection in idle:
            connection.close()


if __name__ == "__main__":
    unittest.main()
