"""on-loss = "continue" with real processes: one of four parties is killed for ever in the middle, and the others go on without it."""
from loss_case import *


class Continue(LossCase):
    def test_the_others_go_on_with_one_model_and_within_the_planned_epsilon(self):
        for algorithm in ("mr-admm", "dp-admm", "newton"):
            with self.subTest(algorithm):
                study, lost, left = self.begin_and_lose(algorithm)
                found = self.results(study, left)
                self.assert_completed(study, found)
                models = [study.out(n, "model.json").read_bytes() for n in left]
                self.assertTrue(all(m == models[0] for m in models), "survivors with different models")
                agreed = set()
                for name in left:
                    run_json = json.loads(study.out(name, "run.json").read_text())
                    self.assertEqual(run_json["outcome"], "completed")
                    first, second = run_json["parts"]
                    self.assertIn(lost, first["parties"])
                    self.assertEqual(second["parties"], left)
                    agreed.add((second["run_id"], first["went_on_after_round"]))
                    self.assertGreater(first["went_on_after_round"], 0)
                    self.assertEqual(first["went_on_after_round"] + second["rounds_released"] - 1, study.last_round)
                    statement = json.loads(study.out(name, "statement.json").read_text())["statement"]
                    self.assertEqual(len(statement["parts"]), 2)
                    if name != "coordinator":
                        self.assertLessEqual(statement["epsilon"], 2)
                        self.assertIn("proposition 9", statement["theorem"])
                        self.assertEqual(statement["rounds_from_rows"], first["rounds_from_rows"] + second["rounds_from_rows"])
                    self.assertIn(f"part 2: without {lost}, by {', '.join(left)}; ", study.out(name, "statement.txt").read_text())
                    self.assertIn(f"they worked with {lost} too", found[name][1]["parts"][-1])
                    self.assertIn("going on without " + lost, study.log(name))
                    shown = json.loads(run("ledger", "show", "my.ledger", "--json", cwd=study.base / name).stdout)
                    self.assertEqual([r["accounts"][0]["rounds_released"] for r in shown["runs"]], [first["rounds_released"], second["rounds_released"]])
                    run("ledger", "verify", "my.ledger", "out", "out/part-2", cwd=study.base / name)
                self.assertEqual(len(agreed), 1, "survivors of different parts")
                self.assert_reported(study, left, next(iter(agreed))[1])

    def assert_reported(self, study, left, after):
        """One run with both parts, to its last round; epsilon never falls, and is the statement's at the end."""
        run("report", *(study.base / n / "out" for n in left), "--private", "--out", "page.html", "--figures", "figures", cwd=study.base)
        page = (study.base / "page.html").read_text()
        for text in ('id="parts"', "in 2 parts", f"<td>0 to {after}</td>", f"<td>{after + 1} to {study.last_round}</td>"):
            self.assertIn(text, page)
        rows = [line.split(",") for line in (study.base / "figures/privacy-spent.csv").read_text().splitlines()[1:]]
        line = [(float(r[1]), float(r[2])) for r in rows if r[0] == "this run (NOT PRIVATE)"]  # its noise is seeded
        self.assertEqual([x for x, _ in line], list(range(study.last_round + 1)))
        self.assertEqual([e for _, e in line], sorted(e for _, e in line))
        self.assertEqual([float(r[1]) for r in rows if r[0] == "part 2"], [after])
        self.assertLessEqual(line[-1][1], json.loads(study.out(left[0], "statement.json").read_text())["statement"]["epsilon"])

    def test_who_comes_back_too_late_is_told_so_and_keeps_its_own_model(self):
        study, lost, left = self.begin_and_lose("mr-admm")
        study.until(lambda: all("going on without" in study.log(n) for n in left), "the others go on")
        self.start(study, lost)
        code, result = self.results(study, [lost])[lost]
        self.assertNotEqual(code, 0)
        self.assertEqual(result["outcome"], "peer_lost")
        # The second: it heard that all had lost somebody before every neighbour had confirmed what it had released.
        self.assertRegex(result["outcome_in_words"], "gone on without hospital_b after round|others have lost a party.* so it does not go on")
        self.assertTrue(study.out(lost, "model.json").exists())
        self.assert_completed(study, self.results(study, left))

    def test_where_nobody_can_go_on_starting_again_ends_in_words_and_not_in_start_again(self):
        """On a path of three its middle is lost: each of the others reaches nobody, has signed so, and stays there."""
        study = Study(self.dir / "path", "mr-admm", parties=3, graph="path", rounds=400, deadline=0.2, wait=2, options={"on_loss": '"continue"'})
        self.start_all(study)
        self.await_rounds(study, LOST, 21)
        self.lose(study, LOST)
        for again in (False, True):
            for name, (code, said) in self.results(study, ["hospital_a", "hospital_c"]).items():
                self.assertEqual((code, said["outcome"]), (5, "peer_lost"), f"{again} {name}\n" + study.logs())
                self.assertIn("agree on a new study", said["outcome_in_words"])
            if not again:
                self.start_all(study)
        # Of the two it may have heard one alone, before it stopped: the other might still go on with it.
        self.assertIn(self.exit_of(study, LOST), (4, 5), study.logs())

    def test_survivors_may_die_and_come_back_in_the_second_part(self):
        study, lost, left = self.begin_and_lose("mr-admm")
        study.until(lambda: (study.base / left[0] / "out" / "part-2" / "run.json").exists(), "part 2 begins")
        self.processes[left[0]].kill()
        self.processes[left[0]].wait()
        self.start(study, left[0])
        self.assert_completed(study, self.results(study, left))
        models = [study.out(n, "model.json").read_bytes() for n in left]
        self.assertTrue(all(m == models[0] for m in models), "survivors with different models")
        for name in left:
            run("ledger", "verify", "my.ledger", "out", "out/part-2", cwd=study.base / name)


if __name__ == "__main__":
    unittest.main()
