"""Coefficients with intervals between real processes: the simulation's bits, also after a kill; verify computes the table again."""
import csv

from mesh_case import *

A, B, C = ("hospital_" + letter for letter in "abc")


class Intervals(Case):
    def study(self, **options):
        study = Study(self.dir / "study", "newton", rounds=3, options={"intervals": "true", **options})
        study.last_round += 1  # the final round
        for folder in [study.base / "shared", *(study.base / name for name in study.all)]:
            file = folder / "schema.toml"
            file.write_text('scale = "bound"\n' + file.read_text())
        return study

    def alone(self, study):
        out = study.base / "simulated"
        run("train", "--data", ",".join(str(study.base / n / "mine.csv") for n in study.names), "--schema", study.base / "shared/schema.toml", "--test-share", 0, "--seed", 3,
            "--out", out, "--quiet", "--graph", "ring", "--algorithm", "newton", "--rounds", 3, "--epsilon", 2, "--delta", 1e-6, "--loss-weight", 20, "--intervals", cwd=study.base)
        return out

    def assert_same_as_simulation(self, study):
        alone = self.alone(study)
        expected = json.loads((alone / "model.json").read_text())
        shape = json.loads((alone / "run.json").read_text())["released"]
        together = list(by_round((alone / "released.f64").read_bytes(), shape))
        self.assertEqual(len(together), 6)
        for node, name in enumerate(study.names):
            model = json.loads(study.out(name, "model.json").read_text())
            self.assertEqual((model["weights"], model["coefficients"]), (expected["weights"], expected["coefficients"]))
            self.assertEqual(study.out(name, "coefficients.csv").read_bytes(), (alone / "coefficients.csv").read_bytes())
            own = json.loads(study.out(name, "run.json").read_text())["released"]
            mine = list(by_round(study.out(name, "released.f64").read_bytes(), own))
            self.assertEqual([v[0] for v in mine], [v[node] for v in together])

    def verify(self, study, check=True):
        ledgers = ",".join(str(study.base / n / "my.ledger") for n in study.all)
        return run("verify", *(study.base / n / "out" for n in study.all), "--study", study.base / A / "study.toml", "--ledger", ledgers, "--json", cwd=study.base, check=check)

    def test_a_study_gives_the_table_of_the_simulation_and_verify_computes_it_again(self):
        study = self.study()
        self.start_all(study)
        self.assert_completed(study)
        self.assert_same_as_simulation(study)
        verified = json.loads(self.verify(study).stdout)
        self.assertEqual((verified["wrong"], verified["unchecked"]), ([], []))
        rows = list(csv.DictReader(study.out(B, "coefficients.csv").read_text().splitlines()))
        self.assertEqual(rows[-1]["name"], "(intercept)")
        said = study.out(B, "statement.txt").read_text()
        shape = json.loads(study.out(B, "run.json").read_text())["released"]
        self.assertIn(f"({shape['size_of_round_1']} in round 1, {shape['size_of_final_round']} in the last)", said)
        file = study.out(B, "model.json")
        model = json.loads(file.read_text())
        model["coefficients"][0]["identified"] = not model["coefficients"][0]["identified"]
        file.write_text(json.dumps(model))
        self.assertIn("coefficients", self.verify(study, check=False).stdout)
        file = study.out(C, "run.json")
        file.write_text(file.read_text().replace('"outcome": "completed"', '"outcome": "interrupted"'))
        self.assertIn("hospital_c: its record holds coefficients.csv, which no party writes there", self.verify(study, check=False).stdout)

    def test_a_party_that_is_killed_in_the_middle_changes_no_bit(self):
        study = self.study()
        self.start_all(study)
        self.await_rounds(study, B, 2)
        self.processes[B].kill()
        self.processes[B].wait()
        self.start(study, B)
        self.assert_completed(study)
        self.assert_same_as_simulation(study)

    def test_what_has_no_intervals_is_refused_in_words(self):
        study = self.study()
        (study.base / "shared/schema.toml").write_text((study.base / "shared/schema.toml").read_text().replace('scale = "bound"\n', ""))
        self.assertIn('scale = "bound"', run("study", "check", "study.toml", cwd=study.base / "shared", check=False).stderr)
        Study.set(study.base / A / "study.toml", on_loss='"continue"')
        self.assertIn("need every party to the end", run("study", "check", "study.toml", cwd=study.base / A, check=False).stderr)


if __name__ == "__main__":
    unittest.main()
