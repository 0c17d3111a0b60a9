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
        self.assert_completed(study, self.results(study, left))
        for name in left:
            statement = json.loads(study.out(name, "statement.json").read_text())["statement"]
            first, second = statement["parts"]
            self.assertEqual(second["parties"], left)
            self.assertGreater(second["epsilon_all_others"], second["epsilon"])
            self.assertLessEqual(statement["epsilon"], 2)
            self.assertRegex(study.log(name), r"\(epsilon [\d.]+ of [\d.]+ against any 1 of the 5 parties together, [\d.]+ of [\d.]+ against all other parties together was spent\)")
        self.assertEqual([f for f in self.keys(study) if LOST not in str(f)], [])


if __name__ == "__main__":
    unittest.main()
