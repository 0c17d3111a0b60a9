"""Noise that cancels between real processes (docs/proofs/shared-noise.md, section 3): keys, their file, what cancels after kills, both epsilons."""
import struct

from loss_case import *

FORGE = os.environ["MESH_FORGE"]
A, B, C, D, E = ("hospital_" + letter for letter in "abcde")


def rms(values):
    return (sum(v * v for v in values) / len(values)) ** 0.5


class SharedNoise(LossCase):
    def shared(self, algorithm="newton", parties=4, colluders=1, **kw):
        options = {"colluders": colluders, **kw.pop("options", {})}
        return Study(self.dir / f"{algorithm}-{parties}", algorithm, parties=parties, deadline=kw.pop("deadline", 0.5), options=options, **kw)

    def keys(self, study):
        return [file for name in study.all for file in (study.base / name).glob("*.noise-key")]

    def assert_cancels(self, study, names=None, parts="", least=1):
        """In every round the noise of one party is ten times that of the sum of all: with one pair left over it would not be."""
        rounds = 0
        for round, values in enumerate(self.released(study)):
            numbers = [struct.unpack(f"<{len(v) // 8}d", v) for v in values]
            if round == 0 or round == study.last_round:
                continue  # the common start and the model
            total = [sum(column) for column in zip(*numbers)]
            self.assertLess(rms(total), 0.3 * rms(numbers[0]), f"round {round}")
            rounds += 1
        self.assertGreaterEqual(rounds, least)

    def test_five_parties_end_with_the_bits_of_the_simulation(self):
        for algorithm, graph in (("newton", "ring"), ("dp-admm", "auto")):
            with self.subTest(algorithm):
                study = self.shared(algorithm, parties=5, graph=graph)
                self.start_all(study)
                self.assert_completed(study)
                self.assert_same_as_simulation(study)
                self.assert_spend(study)
                self.assertEqual(self.keys(study), [])

    def test_three_parties_with_one_exchange_end_with_the_bits_of_the_simulation(self):
        study = Study(self.dir / "one", "newton", rounds=1, deadline=0.5)
        self.start_all(study)
        self.assert_completed(study)
        self.assert_same_as_simulation(study)

    def test_both_epsilons_are_stated_and_verified_and_no_secret_is_left(self):
        study = self.shared(seed="", epsilon=1)
        self.start_all(study)
        found = self.results(study)
        self.assert_completed(study, found)
        for name in study.all:
            statement = json.loads(study.out(name, "statement.json").read_text())["statement"]
            run_json = json.loads(study.out(name, "run.json").read_text())["privacy"]
            self.assertLessEqual(statement["epsilon"], 1)
            self.assertGreater(statement["epsilon_all_others"], 1.5)
            self.assertIn("any 1 of the 4 parties", statement["against"])
            self.assertEqual(run_json["epsilon_all_others_planned"], statement["epsilon_all_others_planned"])
            self.assertEqual(found[name][1]["epsilon_all_others"], statement["epsilon_all_others"])
            text = study.out(name, "statement.txt").read_text()
            for part in ("against any 1 of the 4 parties", "All other parties together", "counts among them"):
                self.assertIn(part, text)
            self.assertRegex(study.log(name), r"ε [\d.]+ of 1.0000 against any 1 of the 4 parties together, [\d.]+ of [\d.]+ against all other parties together")
        self.assertEqual(self.keys(study), [])
        outs = [study.base / n / "out" for n in study.all]
        ledgers = ",".join(str(study.base / n / "my.ledger") for n in study.all)
        verified = json.loads(run("verify", *outs, "--study", study.base / A / "study.toml", "--ledger", ledgers, "--json", cwd=study.base).stdout)
        self.assertEqual((verified["wrong"], verified["unchecked"]), ([], []))
        self.assertGreater(verified["epsilon_all_others"], 1.5)
        shutil.copytree(study.base / A / "out", self.dir / "record")
        run("after", self.dir / "record/transcript", B, wire.NOISE_KEY, -1, A, wire.VALUE, 1, cwd=self.dir, program=FORGE)
        verified = json.loads(run("verify", self.dir / "record", "--study", study.base / A / "study.toml", "--json", cwd=self.dir, check=False).stdout)
        self.assertEqual(verified["wrong"], [f"{A}: in its transcript round 1 of {A} stands before a key that its noise needs"])
        run("report", *outs, "--private", "--out", "page.html", cwd=study.base)
        self.assertIn("any 1 of the 4 parties", (study.base / "page.html").read_text())

    def test_noise_cancels_after_kills_with_secret_keys(self):
        wanted, deaths, runs = 200 if FULL else 6, 0, 0
        draw = random.Random(os.environ.get("PARLEY_TEST_SEED", "1"))
        study = self.shared(seed="", epsilon=0.02, rounds=12)
        study.keep()
        while deaths < wanted:
            study.fresh()
            self.start_all(study)
            for _ in range(draw.randint(1, 6)):
                time.sleep(draw.uniform(0, 0.3))
                victims = draw.sample(study.all, draw.choice((1, 1, 2, 4)))
                for name in victims:
                    self.processes[name].kill()
                for name in victims:
                    deaths += self.exit_of(study, name) == KILLED
                for file in self.keys(study):
                    self.assertEqual(file.stat().st_mode & 0o777, 0o600)
                    self.assertNotIn("out/", str(file))
                for name in victims:
                    if self.processes[name].returncode == KILLED:
                        self.start(study, name)
            self.assert_completed(study)
            self.assert_paid(study)
            self.assert_cancels(study, least=10)
            self.assertEqual(self.keys(study), [])
            runs += 1
        print(f"shared noise: {deaths} random kills in {runs} runs", file=sys.stderr)

    def test_without_its_secret_a_party_releases_nothing_more(self):
        study = self.shared(seed="", rounds=200, wait=4)
        self.start_all(study)
        self.await_rounds(study, A, 5)
        self.processes[A].kill()
        self.exit_of(study, A)
        before = study.charges(A)
        secret = study.base / A / "out.noise-key"
        kept = secret.read_bytes()
        secret.chmod(0o644)
        self.start(study, A)
        self.assertNotIn(self.exit_of(study, A), (0, 6))
        self.assertIn("others may read this party's secret", study.log(A))
        secret.unlink()
        self.start(study, A)
        self.assertNotIn(self.exit_of(study, A), (0, 6))
        self.assertIn("secret for shared noise is gone", study.log(A))
        self.assertEqual(study.charges(A), before)
        self.assertFalse(secret.exists(), "another one was made")
        secret.touch(mode=0o600)
        secret.write_bytes(kept[:32] + struct.pack("<q", 1))  # its day is past
        self.start(study, A)
        self.assertNotIn(self.exit_of(study, A), (0, 6))
        self.assertFalse(secret.exists(), "it was kept past its day")
        self.assertEqual(study.charges(A), before)

    def test_a_secret_that_an_earlier_start_left_behind_serves_no_second_time(self):
        """The same study once more, with empty folders and new ledgers, has the same run: with the same secret its streams would hide other rows too."""
        study = self.shared(seed="", rounds=400)
        study.keep()
        left = {}
        for _ in range(2):
            study.fresh()
            for file, secret in left.items():
                file.touch(mode=0o600)
                file.write_bytes(secret)
            self.start_all(study)
            self.await_rounds(study, A, 3)
            self.end_all()
            self.processes.clear()
            now = {file: file.read_bytes() for file in self.keys(study)}
            self.assertEqual(len(now), len(study.all))
            for file, secret in now.items():
                self.assertNotEqual(left.get(file), secret)
            left = now

    def test_a_cap_without_a_word_on_colluders_counts_against_anybody(self):
        study = self.shared(seed="", epsilon=1, cap=("1", "--delta", "1e-6"))
        refused = run(*study.command(A), cwd=study.base / A, check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("against anybody", refused.stderr)
        self.assertIn("--colluders-epsilon", refused.stderr)
        self.assertEqual(self.keys(study), [])

    def test_survivors_go_on_with_new_keys(self):
        study = self.shared(parties=5, seed="", rounds=300, deadline=0.2, options={"on_loss": '"continue"'})
        self.start_all(study)
        self.await_rounds(study, LOST, 21)
        self.lose(study, LOST)
        left = [n for n in study.all if n != LOST]
        secret = study.base / LOST / "out.noise-key"
        self.assertTrue(secret.exists(), "of the disk that was found again")
        for name in left:
            study.await_log(name, "part 2: ")
        self.processes[left[-1]].send_signal(signal.SIGSTOP)  # the others wait for it while the lost one comes back
        self.start(study, LOST)
        self.assertIn(self.exit_of(study, LOST), (4, 5), "left behind; or it heard first that others have lost somebody")
        self.assertFalse(secret.exists(), "of a party that can release nothing more")
        self.start(study, LOST)
        self.assertEqual(self.exit_of(study, LOST), 5, study.logs())
        self.assertIn("secret for shared noise is gone", study.log(LOST))
        self.processes[left[-1]].send_signal(signal.SIGCONT)
        self.assert_completed(study, self.results(study, left))
        for name in left:
            statement = json.loads(study.out(name, "statement.json").read_text())["statement"]
            first, second = statement["parts"]
            self.assertEqual(second["parties"], left)
            self.assertGreater(second["epsilon_all_others"], second["epsilon"])
            self.assertLessEqual(statement["epsilon"], 2)
            self.assertRegex(study.log(name), r"\(epsilon [\d.]+ of [\d.]+ against any 1 of the 5 parties together, [\d.]+ of [\d.]+ against all other parties together was spent\)")
        self.assertEqual(self.keys(study), [])

    def test_a_round_that_failed_leaves_no_secret_and_neither_does_a_kill_at_its_mark(self):
        study = self.shared(seed="", rounds=200, wait=2)
        study.keep()
        secret = study.base / A / "out.noise-key"
        for kill in ({}, {"PARLEY_AT": "after the mark of a failed round", "PARLEY_KILL": "1"}):
            study.fresh()
            self.start_all(study, [B, C, D])
            self.start(study, A, program=FAILPOINTS, env={"PARLEY_UNCERTIFIED": "4", **kill})
            self.assertEqual(self.exit_of(study, A), KILLED if kill else 5, study.logs())
            self.assertEqual(secret.exists(), bool(kill))
            again = run(*study.command(A), cwd=study.base / A, check=False)
            self.assertEqual(again.returncode, 5, again.stderr)
            self.assertIn("ended in round", again.stderr)
            self.assertFalse(secret.exists(), "the start after it was refused and left it there")
            self.end_all()
            self.processes.clear()

    def test_whatever_refuses_a_start_a_secret_past_its_day_is_deleted(self):
        study = self.shared(seed="", rounds=200)
        self.start_all(study)
        self.await_rounds(study, A, 3)
        self.end_all()
        self.processes.clear()
        home, secret = study.base / A, study.base / A / "out.noise-key"
        whole = secret.read_bytes()
        elsewhere = home / "of-another-study.part-2.noise-key"
        no_study = run("join", "no-study.toml", "--as", A, "--data", "mine.csv", "--ledger", "my.ledger", "--out", "out", cwd=home, check=False)
        self.assertEqual((no_study.returncode, secret.read_bytes()), (1, whole), "its day has not come")
        command = study.command(A)
        replaced = lambda option, value: [value if command[i - 1] == option else word for i, word in enumerate(command)]
        shutil.copy(study.base / B / f"{B}.pem", home / "other.pem")
        for refused in (["join", "no-study.toml", *command[2:]], [*command, "--certificate", "other.pem"], replaced("--data", "no.csv"), replaced("--ledger", "no.ledger"),
                        replaced("--as", "nobody"), replaced("--threads", "-1"), ["doctor", *command[1:]]):
            with self.subTest(refused):
                for file in (secret, elsewhere):
                    file.touch(mode=0o600)
                    file.write_bytes(whole[:32] + struct.pack("<q", 1))
                answer = run(*refused, cwd=home, check=False)
                self.assertEqual(answer.returncode == 0, refused[0] == "doctor")
                self.assertIn("a secret for shared noise was deleted: its day is past", answer.stdout + answer.stderr)
                self.assertFalse(secret.exists() or elsewhere.exists())

    def test_a_run_that_outlives_its_secrets_day_deletes_it_and_ends_well(self):
        study = self.shared(seed="", rounds=60, epsilon=0.02)
        self.start_all(study, [B, C, D])
        self.start(study, A, program=FAILPOINTS, env={"PARLEY_LATER": "5", "PARLEY_AT": "solved", "PARLEY_STOP": "20"})
        self.await_rounds(study, A, 19)
        secret = study.base / A / "out.noise-key"
        study.until(lambda: not secret.exists(), "the secret goes while the run goes on")
        self.assertTrue((study.base / B / "out.noise-key").exists())
        self.assertIsNone(self.processes[A].poll())
        status = pathlib.Path(f"/proc/{self.processes[A].pid}/stat")
        study.until(lambda: status.read_text().rsplit(")", 1)[1].split()[0] == "T", "it stops before round 20")
        self.processes[A].send_signal(signal.SIGCONT)  # once: at its end LeakSanitizer would wait for a stop that this undoes
        self.assert_completed(study)
        self.assert_cancels(study, least=50)

    def test_a_party_that_only_waits_deletes_its_secret_on_its_day(self):
        study = self.shared(seed="", rounds=60, epsilon=0.02)
        self.start_all(study, [C, D])
        self.start(study, B, program=FAILPOINTS, env={"PARLEY_AT": "solved", "PARLEY_STOP": "5"})
        self.start(study, A, program=FAILPOINTS, env={"PARLEY_LATER": "signal"})
        self.await_rounds(study, A, 5)  # it waits for the next of B
        secret, lines = study.base / A / "out.noise-key", study.rounds_of(A)
        self.assertTrue(secret.exists())
        self.processes[A].send_signal(signal.SIGUSR1)
        study.until(lambda: not secret.exists(), "the secret goes while no round comes")
        self.assertEqual(study.rounds_of(A), lines)
        self.processes[B].send_signal(signal.SIGCONT)
        self.assert_completed(study)
        self.assert_cancels(study, least=50)

    def test_survivors_too_few_to_share_noise_keep_no_secret(self):
        study = self.shared(parties=3, seed="", rounds=2000, deadline=0.2, options={"on_loss": '"continue"'})
        self.start_all(study)
        self.await_rounds(study, B, 21)
        self.lose(study, C)
        for name in (A, B):
            study.await_log(name, "part 2: ")
            study.until(lambda: not (study.base / name / "out.noise-key").exists(), f"{name}: a part without shared noise needs no secret")
            self.assertNotEqual(read_json(study.out(name, "run.json")).get("outcome"), "completed", "only then")

    def test_a_secret_that_a_complete_run_has_left_is_said_and_deleted(self):
        study = self.shared(seed="")
        self.start_all(study)
        self.assert_completed(study)
        home, secret = study.base / A, study.base / A / "out.noise-key"
        def leave():  # as a kill between the model and the deletion would
            secret.touch(mode=0o600)
            secret.write_bytes(bytes(32) + struct.pack("<q", int(time.time()) + 86400))
        leave()
        verified = json.loads(run("verify", study.base / A / "out", "--study", home / "study.toml", "--json", cwd=home).stdout)
        self.assertEqual((verified["wrong"], len(verified["secrets"])), ([], 1))
        self.assertIn(f"out.noise-key: the secret of {A} for shared noise lies here", verified["secrets"][0])
        self.assertIn("counts among the colluders", run("verify", "out", "--study", "study.toml", cwd=home).stdout)
        run(*study.command(A)[:4], "--ledger", "no.ledger", "--out", "out", cwd=home, check=False)
        self.assertFalse(secret.exists())
        leave()
        self.assertIn("secret: ", run("doctor", "study.toml", "--as", A, "--out", "out", cwd=home, check=False).stdout)
        self.assertFalse(secret.exists())
        self.assertEqual(json.loads(run("verify", "out", "--study", "study.toml", "--json", cwd=home).stdout)["secrets"], [])

    def assert_nothing_of_others_is_abandoned(self, study):
        """Neither another party's folder, nor that of another study, nor a secret of which nothing says whose it is."""
        home, places = study.base / A, [study.base / n for n in (A, B)]
        look = lambda: {p: p.read_bytes() for place in places for p in place.iterdir() if p.suffix in (".noise-key", ".abandoned")}
        shutil.copy(home / "out.noise-key", home / "lost.noise-key")
        (home / "other.toml").write_text((home / "study.toml").read_text().replace('"a test"', '"another"'))
        (study.base / B / "out.noise-key").touch()  # B may have ended by now: a secret of its would lie there
        before = look()
        for file, out, says in (("study.toml", study.base / B / "out", "the folder holds the record of another run"), ("other.toml", "out", "the folder holds the record of another run"),
                                ("study.toml", "lost", "nothing says whose secret it is")):
            refused = run("study", "abandon", file, "--as", A, "--out", out, cwd=home, check=False)
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertIn(says, refused.stderr)
            self.assertEqual(look(), before)
        (home / "lost.noise-key").unlink()

    def test_a_secret_whose_folder_is_gone_is_deleted_where_its_name_says_whose_it_is(self):
        study = self.shared()
        home, run_id = study.base / A, json.loads(run("study", "check", "study.toml", "--json", cwd=study.base / A).stdout)["run_id"]
        secret = home / f"{run_id[:16]}-{A}.noise-key"
        secret.touch(mode=0o600)
        self.assertIn("was deleted", run("study", "abandon", "study.toml", "--as", A, cwd=home).stdout)
        self.assertFalse(secret.exists())

    def test_a_folder_that_is_named_like_a_part_is_refused(self):
        study = self.shared()
        command = study.command(A)
        command[command.index("--out") + 1] = "out.part-2"
        refused = run(*command, cwd=study.base / A, check=False)
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("a name that does not end in .part- and a number", refused.stderr)
        self.assertFalse((study.base / A / "out.part-2").exists())

    def test_who_abandons_a_run_keeps_no_secret_and_cannot_go_on(self):
        study = self.shared(seed="", rounds=400, wait=3)
        home, secret = study.base / A, study.base / A / "out.noise-key"
        abandon = lambda *more: run("study", "abandon", "study.toml", "--as", A, "--out", "out", *more, cwd=home, check=False)
        self.assertIn("there is no run of hospital_a to abandon", abandon().stderr)
        self.start_all(study)
        self.await_rounds(study, A, 3)
        self.assertIn("another process is working on this run", abandon().stderr)
        self.assertTrue(secret.exists())
        self.processes[A].kill()
        self.exit_of(study, A)
        before, kept = study.charges(A), secret.read_bytes()
        doctor = run("doctor", "study.toml", "--as", A, "--data", "mine.csv", "--ledger", "my.ledger", "--out", "out", cwd=home, check=False).stdout
        self.assertRegex(doctor, r"(?m)^ok       secret: out.noise-key lies here until this run has ended, or until \d{4}-.*parley study abandon study.toml --as hospital_a' --out out")
        self.assert_nothing_of_others_is_abandoned(study)
        self.assertIn("was deleted", abandon().stdout)
        self.assertFalse(secret.exists())
        ended = json.loads(study.out(A, "run.json").read_text())
        self.assertEqual(ended["outcome"], "abandoned")
        self.assertIn("parley ledger show", ended["outcome_in_words"])
        found = json.loads(run("verify", "out", "--study", "study.toml", "--ledger", "my.ledger", "--json", cwd=home, check=False).stdout)
        self.assertEqual(found["wrong"], [])
        self.assertTrue(any("its owner has abandoned the run" in u and "ledger show" in u for u in found["unchecked"]), found["unchecked"])
        run("report", "out", "--out", "page.html", cwd=home)
        self.assertIn("abandoned", (home / "page.html").read_text())
        for out in ("out", "elsewhere"):
            secret.touch(mode=0o600)
            secret.write_bytes(kept)  # from a backup
            command = study.command(A)
            command[command.index("--out") + 1] = out
            again = run(*command, cwd=home, check=False)
            self.assertEqual(again.returncode, 5, again.stderr)
            self.assertIn("has abandoned this run", again.stderr)
            self.assertFalse((home / "elsewhere").exists())
        self.assertIn("as was decided before", abandon().stdout)
        self.assertFalse(secret.exists())
        mark = next(home.glob("out.*.abandoned"))
        mark.unlink()  # the record says it too
        self.assertIn("has abandoned this run", run(*study.command(A), cwd=home, check=False).stderr)
        self.assertIn("as was decided before", abandon().stdout)
        self.assertTrue(mark.exists())
        self.assertEqual(study.charges(A), before)
        self.assertIn("has abandoned this run", run("doctor", "study.toml", "--as", A, "--out", "out", cwd=home, check=False).stdout)


if __name__ == "__main__":
    unittest.main()
