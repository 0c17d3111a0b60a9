"""`parley join` between real processes on loopback (issue "Between organisations"): the whole way from keys to one model."""
from mesh_case import *


class Join(Case):
    def test_every_algorithm_ends_with_the_simulation_s_bits_and_one_model(self):
        algorithms = ("mr-admm", "dp-admm", "newton") if SHORT else ("admm", "dvp", "pvp", "m-admm", "pp", "r-admm", "mr-admm", "linear-admm", "star-admm", "star-pvp", "dp-admm", "newton", "dp-gd")
        for algorithm in algorithms:
            with self.subTest(algorithm):
                study = Study(self.dir / algorithm, algorithm, epsilon=None if algorithm in ("admm", "star-admm") else 2)
                self.start_all(study)
                self.assert_completed(study)
                self.assert_same_as_simulation(study)
                self.assert_spend(study)

    def test_a_party_can_insist_on_what_happens_after_a_loss(self):
        study = Study(self.dir / "s", "mr-admm")
        for wanted, code, says in (("continue", 1, "the study decides otherwise about a lost party"), ("Stop", 1, "the study decides otherwise")):
            result = run(*study.command("hospital_a", "--on-loss", wanted), cwd=study.base / "hospital_a", check=False)
            self.assertEqual(result.returncode, code)
            self.assertIn(says, result.stderr)
            self.assertFalse((study.base / "hospital_a/out").exists())


if __name__ == "__main__":
    unittest.main()
