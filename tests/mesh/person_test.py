"""Persons as the unit between real processes (docs/proofs/person.md): the simulation's bits, the statement, verify with ledgers, and who
has a row too many before anything is sent."""
from mesh_case import *

A, B, C = ("hospital_" + letter for letter in "abc")
UNIT = 'person = "patient"\nrows_per_person = 3\nextra_rows = "drop"\n'


class Persons(Case):
    def study(self, unit=UNIT, **kw):
        """Rows of census with a column of persons: of 100 rows of 30 persons 90 are kept, as the roster says."""
        study = Study(self.dir / "study", "newton", rounds=3, rows=90, **kw)
        for i, name in enumerate(study.all):
            folder = study.base / name
            run("data", "generate", "census", "--rows", 100, "--split-seed", i + 1, "--out", "census.csv", cwd=folder)
            lines = (folder / "census.csv").read_text().splitlines()
            persons = [f"{name}-{k % 30 if k < 90 else 0}" for k in range(100)]
            rows = ["patient," + lines[0], *(f"{who},{line}" for who, line in zip(persons, lines[1:]))]
            (folder / "mine.csv").write_text("\n".join(rows) + "\n")
        for folder in [study.base / "shared", *(study.base / name for name in study.all)]:
            (folder / "schema.toml").write_text(unit + (folder / "schema.toml").read_text())
        return study

    def verify(self, study, check=True):
        ledgers = ",".join(str(study.base / n / "my.ledger") for n in study.all)
        return run("verify", *(study.base / n / "out" for n in study.all), "--study", study.base / A / "study.toml", "--ledger", ledgers, "--json", cwd=study.base, check=check)

    def test_a_study_for_persons_has_the_bits_of_the_simulation_and_is_verified_with_its_ledgers(self):
        study = self.study()
        self.start_all(study)
        self.assert_completed(study)
        self.assert_same_as_simulation(study)
        verified = json.loads(self.verify(study).stdout)
        self.assertEqual((verified["wrong"], verified["unchecked"]), ([], []))
        self.assertEqual((verified["unit"], verified["rows_per_person"]), ("person", 3))

        def for_rows(kind, run_id, body):  # the chain made anew, as if every price had been for a row
            if kind == "run":
                body["folder"] = ""
                body.pop("person"), body.pop("rows_per_person")
            if kind == "charge":
                body["parameters"].pop("rows_per_person", None)
            return kind in ("run", "charge")
        self.assertTrue(rechain(study.base / B / "my.ledger", for_rows))
        found = self.verify(study, check=False)
        self.assertTrue(found.stdout, found.stderr)
        wrong = json.loads(found.stdout)["wrong"]
        self.assertTrue(any("prices for one row, and one person by 'patient', with up to 3 rows follows" in w for w in wrong), wrong)

    def test_the_statement_is_for_the_person(self):
        study = self.study(seed="", epsilon=1, cap=(2, "--delta", 1e-6))
        self.start_all(study)
        self.assert_completed(study)
        for name in study.all:
            statement = json.loads(study.out(name, "statement.json").read_text())["statement"]
            self.assertEqual((statement["unit"], statement["rows_per_person"], statement["records_disclosed"]), ("person (up to 3 rows)", 3, 90))
            self.assertLessEqual(statement["epsilon"], 1)
            text = study.out(name, "statement.txt").read_text()
            self.assertIn("each figure is for rows at this party alone. A person with rows at 2 of the parties loses more: ε = 1.", text)
            for part in ("about any one person (up to 3 rows)", "no person has more than 3 rows among the rows of this party", "theorem P1"):
                self.assertIn(part, text)
            privacy = json.loads(study.out(name, "run.json").read_text())["privacy"]
            self.assertEqual((privacy["unit"], privacy["rows_per_person"]), ("person", 3))
            shown = json.loads(run("ledger", "show", "my.ledger", "--json", cwd=study.base / name).stdout)
            self.assertEqual(shown["runs"][0]["person"], "patient")
            run("ledger", "verify", "my.ledger", "out", cwd=study.base / name)
        said = run("verify", *(study.base / n / "out" for n in study.all), "--study", study.base / A / "study.toml", cwd=study.base).stdout
        self.assertRegex(said, r"Any one person \(up to 3 rows\) of any party: ε = 1.0000, δ = 1e-06 \(proved\), on the assumptions in the statements.\n"
                               r"A person with rows at 2 of the parties loses more: ε = 1\.4\d+\. At k parties: √k times μ\.")
        self.assertNotIn("in all", said)

    def test_a_row_too_many_ends_a_party_before_anything_is_sent(self):
        study = self.study(UNIT.replace("drop", "error"))
        calls = [socket.create_server((host, int(port))) for host, port in (study.addresses[n].split(":") for n in (A, C))]
        for server in calls:
            self.addCleanup(server.close)
            server.setblocking(False)
        result = run(*study.command(B), cwd=study.base / B, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("mine.csv:92: a person has more rows than the schema allows for", result.stderr)
        self.assertFalse(study.out(B, "run.json").exists())
        for server in calls:  # whoever connects stands in line, also when it has left again
            self.assertRaises(BlockingIOError, server.accept)
        self.assertEqual((study.charges(B), study.spend(B)[1]), ({}, []))
        schema = study.base / B / "schema.toml"
        schema.write_text(schema.read_text().replace('"error"', '"drop"'))
        self.start(study, B)  # without the row it calls both, and begins its run
        for server in calls:
            server.settimeout(PATIENCE)
            server.accept()[0].close()
        self.processes[B].kill()
        self.processes[B].wait()
        self.assertEqual(len(study.charges(B)), 1)


if __name__ == "__main__":
    unittest.main()
