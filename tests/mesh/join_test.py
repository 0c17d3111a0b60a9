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

    def test_class_weights_are_the_same_for_all_and_verified(self):
        for algorithm in ("newton", "star-pvp"):
            with self.subTest(algorithm):
                study = Study(self.dir / algorithm, algorithm, options=(("class_weight", '"1,4"'),))
                self.start_all(study)
                self.assert_completed(study)
                self.assert_same_as_simulation(study)
                self.assert_spend(study)
                self.assertEqual(json.loads(study.out("hospital_a", "model.json").read_text())["class_weights"], [1, 4])
                found = json.loads(run("verify", *(study.base / n / "out" for n in study.all), "--study", study.base / "shared/study.toml", "--json", cwd=self.dir).stdout)
                self.assertEqual(found["wrong"], [])

    def test_on_any_connected_graph_sums_are_passed_on_and_the_bits_are_the_same(self):
        for graph, parties in (("path", 4),) if SHORT else (("path", 4), ("star", 4), ("ring", 5), ("0-1,1-2,2-0,2-3,3-4", 5)):
            with self.subTest(graph):
                study = Study(self.dir / graph.replace(",", "_"), "newton", parties=parties, graph=graph)
                self.start_all(study)
                self.assert_completed(study)
                self.assert_same_as_simulation(study)
                self.assert_spend(study)
                self.assertEqual(self.assert_paid(study), parties * parties * (study.last_round + 1))  # everybody has everybody's, once
                found = json.loads(run("verify", *(study.base / n / "out" for n in study.all), "--study", study.base / "shared/study.toml", "--json", cwd=self.dir).stdout)
                self.assertEqual((found["wrong"], found["unchecked"]), ([], []))

    def test_what_the_planner_chose_stands_in_record_and_model_and_is_verified(self):
        study = Study(self.dir / "s", "auto")
        self.start_all(study)
        self.assert_completed(study)
        chosen = json.loads(run("study", "check", "study.toml", "--json", cwd=study.base / "hospital_a").stdout)["selection"]
        self.assertEqual(chosen["by"], "planner")
        for name in study.names:
            for file in ("run.json", "model.json"):
                self.assertEqual(json.loads((study.base / name / "out" / file).read_text())["selection"], chosen)
        outs = [study.base / name / "out" for name in study.names]
        verify = ("verify", "--study", study.base / "hospital_a/study.toml", *outs)
        run(*verify, cwd=study.base)
        run("report", *outs, "--out", "page.html", cwd=study.base)
        self.assertIn(chosen["algorithm"] + " was chosen by the planner", (study.base / "page.html").read_text())
        file = outs[1] / "run.json"
        record = json.loads(file.read_text())
        record["selection"]["by"] = "given"
        file.write_text(json.dumps(record))
        self.assertNotEqual(run(*verify, cwd=study.base, check=False).returncode, 0)

    def test_a_party_can_insist_on_what_happens_after_a_loss(self):
        study = Study(self.dir / "s", "mr-admm")
        for wanted, code, says in (("continue", 1, "the study decides otherwise about a lost party"), ("Stop", 1, "the study decides otherwise")):
            result = run(*study.command("hospital_a", "--on-loss", wanted), cwd=study.base / "hospital_a", check=False)
            self.assertEqual(result.returncode, code)
            self.assertIn(says, result.stderr)
            self.assertFalse((study.base / "hospital_a/out").exists())


if __name__ == "__main__":
    unittest.main()
