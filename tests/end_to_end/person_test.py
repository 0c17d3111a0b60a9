"""A person with several rows as the unit, from a CSV file to what everybody is told. Run by ctest with $PARLEY = the program."""
import html
import json
import random
import re
import unittest

from cli_test import Case, parley

SCHEMA = """
person = "patient"
rows_per_person = 3
extra_rows = "{extra}"
[label]
column = "ill"
positive = ["yes"]
negative = ["no"]
[[columns]]
name = "age"
kind = "numeric"
bounds = [0, 100]
[[columns]]
name = "dose"
kind = "numeric"
bounds = [0, 10]
"""
RUN = ("--epsilon", 1, "--delta", "1e-5", "--nodes", 3, "--rounds", 4, "--loss-weight", 100, "--quiet")


def table(rows, persons, seed=1, prefix="p", most=3):
    """Rows of persons in a random order, at most `most` each."""
    draw, had, lines = random.Random(seed), {}, ["patient,age,dose,ill"]
    while len(lines) <= rows:
        who = prefix + str(draw.randrange(persons))
        had[who] = had.get(who, 0) + 1
        if had[who] > most:
            continue
        age, dose = draw.randrange(100), draw.randrange(10)
        lines.append(f"{who},{age},{dose},{'yes' if age + 5 * dose + draw.randrange(40) > 80 else 'no'}")
    return "\n".join(lines) + "\n"


class Person(Case):
    def setUp(self):
        super().setUp()
        self.write("schema.toml", SCHEMA.format(extra="error"))
        self.write("drop.toml", SCHEMA.format(extra="drop"))
        self.write("rows.toml", SCHEMA.format(extra="error").replace('person = "patient"\nrows_per_person = 3\nextra_rows = "error"\n', "")
                   + '[[columns]]\nname = "patient"\nkind = "drop"\n')
        self.write("visits.csv", table(900, 500))

    def test_rows_that_the_schema_did_not_read_have_no_part_in_the_claim(self):
        self.write("c.libsvm", "".join(f"{1 if n % 3 else -1} 1:0.{n % 10} 2:0.5 3:0.25\n" for n in range(300)))
        for files in ("visits.csv,c.libsvm", "c.libsvm,visits.csv"):
            self.fails("train", "--data", files, "--schema", "schema.toml", "--features", 3, "--epsilon", 1, "--out", "out",
                       says=["were not read by the same schema"])

    def test_the_claim_is_for_the_person_wherever_it_stands(self):
        data = ("--data", "visits.csv", "--schema", "schema.toml", *RUN)
        text = self.ok("train", *data, "--out", "out")
        self.assertIn("learns at most ε = 1.0000, δ = 1e-05 about any one person (up to 3 rows) (replace-one)", text)
        self.assertIn("theorem P1", text)
        self.assertRegex(text, r"A person with rows at 2 of the parties loses more: ε = \d\.\d+\. At k parties: √k times μ")
        for file in ("run.json", "model.json"):
            privacy = json.loads((self.dir / "out" / file).read_text())["privacy"]
            self.assertEqual((privacy["unit"], privacy["rows_per_person"], privacy["adjacency"]), ("person", 3, "replace-one"))
            self.assertIn("what the rows of one person (up to 3 rows) at one node hold is replaced", privacy["adjacency_means"])
            self.assertLessEqual(privacy["epsilon"], 1)
        self.assertNotIn("patient", json.dumps(privacy))
        self.ok("report", "out", "--out", "page.html")
        page = html.unescape(re.sub("<[^>]*>", "", (self.dir / "page.html").read_text()))
        self.assertIn("learns at most ε = 1.0000, δ = 1e-05 about any one person (up to 3 rows).", page)
        self.assertIn("which of two people's rows were used", page)
        self.assertNotIn("patient", page)
        again = next(line for line in page.splitlines() if line.startswith("parley account"))  # how to check it
        self.assertIn("--rows-per-person 3", again)
        found = json.loads(self.ok(*again.split()[1:], "--json"))
        self.assertAlmostEqual(found["epsilon"], privacy["epsilon"], 4)
        self.assertEqual((found["unit"], found["rows_per_person"]), ("person", 3))

    def test_persons_who_are_trained_on_and_tested_on_are_counted_on_the_terminal_alone(self):
        head, *lines = (self.dir / "visits.csv").read_text().splitlines()
        persons = sorted({line.split(",")[0] for line in lines})
        again = [next(line for line in lines if line.startswith(who + ",")) for who in persons[:2]]
        new = ["new-1,40,3,no", "new-1,41,3,no", "new-2,80,9,yes"]
        (self.dir / "held.csv").write_text("\n".join([head, *again, *new]) + "\n")
        run = ("train", "--data", "visits.csv", "--test-data", "held.csv", "--schema", "schema.toml", *RUN)
        said = parley(*run, "--out", "both", cwd=self.dir)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("warning: 2 of 4 persons in --test-data also have rows to train on", said.stderr)
        self.assertIn("this terminal alone shows it", said.stderr)
        self.assertNotIn("rows to train on", said.stdout)
        self.ok("report", "both", "--out", "both.html")
        for file in [self.dir / "both.html", *(self.dir / "both").glob("*.json*")]:
            self.assertNotIn("rows to train on", file.read_text(), file)
        (self.dir / "held.csv").write_text("\n".join([head, *new]) + "\n")
        self.assertNotIn("rows to train on", parley(*run, "--out", "apart", cwd=self.dir).stderr)
        rows = [*run[:6], "rows.toml", *RUN]  # without persons in the schema nobody can say whose a row is
        (self.dir / "held.csv").write_text("\n".join([head, *again]) + "\n")
        self.assertNotIn("rows to train on", parley(*rows, "--out", "rows", cwd=self.dir).stderr)

    def test_the_noise_is_that_of_three_rows(self):
        noise = {}
        for schema in ("schema.toml", "rows.toml"):
            self.ok("train", "--data", "visits.csv", "--schema", schema, *RUN, "--clip", 0.35, "--out", schema + ".out")
            run = json.loads((self.dir / (schema + ".out") / "run.json").read_text())
            noise[schema] = run["noise_levels"][0]
            self.assertEqual(run["privacy"]["unit"], "person" if schema == "schema.toml" else "row")
        self.assertAlmostEqual(noise["schema.toml"] / noise["rows.toml"], 3, 6)
        text = self.ok("train", "--data", "visits.csv", "--schema", "rows.toml", *RUN, "--out", "rows.again")
        self.assertIn("about any one record (replace-one)", text)
        self.assertRegex(text, r"A record that stands at 2 of the parties loses more: ε = 1\.4\d+\.")

    def test_extra_rows_are_refused_or_left_out(self):
        crowd = table(900, 500) + "p1,20,1,no\n" * 4
        self.write("crowd.csv", crowd)
        line = self.fails("train", "--data", "crowd.csv", "--schema", "schema.toml", *RUN, "--out", "no",
                          says=["a person has more rows than the schema allows for", "rows_per_person = 3"])
        self.assertRegex(line, r"crowd\.csv:90\d")
        result = self.ok("train", "--data", "crowd.csv", "--schema", "drop.toml", *RUN, "--out", "out", "--test-share", 0)
        nodes = json.loads((self.dir / "out/run.json").read_text())["node_facts"]
        kept = sum(node["records"] for node in nodes)
        had = {}
        for row in crowd.splitlines()[1:]:
            who = row.split(",")[0]
            had[who] = min(3, had.get(who, 0) + 1)
        self.assertEqual(kept, sum(had.values()))
        self.assertLess(kept, 904)
        self.assertIn("person (up to 3 rows)", result)
        self.write("gap.csv", "patient,age,dose,ill\np1,1,1,yes\n,2,2,no\n")
        self.fails("train", "--data", "gap.csv", "--schema", "schema.toml", *RUN, "--out", "no",
                   says=["gap.csv:3", "person column 'patient' is missing"])

    def test_check_says_how_many_persons_have_too_many_rows_and_where(self):
        self.write("crowd.csv", "patient,age,dose,ill\n" + "p1,20,1,no\n" * 5 + "p2,1,1,yes\n" + "p3,1,1,yes\n" * 4)
        result = parley("data", "check", "crowd.csv", "--schema", "schema.toml", cwd=self.dir)
        self.assertEqual(result.returncode, 1)
        self.assertIn("3 persons by 'patient'", result.stdout)
        self.assertIn("2 persons have more: 3 rows too many, refused at lines 5, 6, 11", result.stdout)
        self.assertNotIn("p1", result.stdout)
        text = self.ok("data", "check", "crowd.csv", "--schema", "drop.toml")
        self.assertIn("3 rows too many, left out at lines 5, 6, 11", text)
        self.assertIn("nobody has more", self.ok("data", "check", "visits.csv", "--schema", "schema.toml"))

    def test_files_of_several_nodes_must_not_share_a_person(self):
        for seed, name in enumerate("abc"):
            self.write(f"{name}.csv", table(200, 120, seed, prefix=name))
        run = ("--epsilon", 1, "--delta", "1e-5", "--rounds", 4, "--loss-weight", 100, "--quiet")
        self.ok("train", "--data", "a.csv,b.csv,c.csv", "--schema", "schema.toml", *run, "--out", "out")
        self.write("c.csv", table(200, 120, 7, prefix="a"))
        self.fails("train", "--data", "a.csv,b.csv,c.csv", "--schema", "schema.toml", *run, "--out", "no",
                   says=["also have rows at another node", "'a.csv' and 'c.csv'"])

    def test_check_compares_the_files_as_train_does(self):
        for seed, name in enumerate("ab"):
            self.write(f"{name}.csv", table(200, 120, seed, prefix=name))
        first, *lines = table(200, 120, 0, prefix="a").splitlines()
        random.Random(1).shuffle(lines)
        self.write("same.csv", "\n".join([first, *lines]) + "\n")
        run = ("--epsilon", 1, "--delta", "1e-5", "--rounds", 4, "--loss-weight", 100, "--quiet", "--out", "no")
        self.assertNotIn("As files of one run", self.ok("data", "check", "a.csv", "b.csv", "--schema", "schema.toml"))
        self.fails("train", "--data", "a.csv,b.csv,same.csv", "--schema", "rows.toml", *run, says=["nodes 0 and 2 hold the same rows"])
        for schema, says in (("rows.toml", ["nodes 0 and 2 hold the same rows"]),
                             ("schema.toml", ["nodes 0 and 2 hold the same rows", "persons of node 2 also have rows at another node"])):
            result = parley("data", "check", "a.csv", "b.csv", "same.csv", "--schema", schema, cwd=self.dir)
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertNotIn("differ from another one", result.stdout, "the same text twice is no other spelling")
            for part in ("As files of one run, a node each", "'a.csv' and 'same.csv'", *says):
                self.assertIn(part, result.stdout)

    def test_ids_in_several_spellings_are_told_and_words_for_missing_refused(self):
        self.write("visits.csv", table(900, 500).replace("p17,", "P17,", 1) + "\"p18 \",20,1,no\n")
        said = "texts of persons in 'patient' differ from another one only in capital letters or blanks"
        self.assertIn(said, self.ok("data", "check", "visits.csv", "--schema", "schema.toml"))
        result = parley("train", "--data", "visits.csv", "--schema", "schema.toml", *RUN, "--out", "out", cwd=self.dir)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(said, result.stderr)
        self.assertNotIn(said, result.stdout + (self.dir / "out/run.json").read_text())
        for word in ("null", "n/a", "-", '" "'):
            self.write("gap.csv", f"patient,age,dose,ill\np1,1,1,yes\n{word},2,2,no\n")
            self.fails("train", "--data", "gap.csv", "--schema", "schema.toml", *RUN, "--out", "no",
                       says=["gap.csv:3", "person column 'patient' is missing"])

    def test_a_ledger_counts_persons_or_rows_and_never_both(self):
        self.ok("ledger", "cap", "my.ledger", "--dataset", "ward", "--epsilon", 3, "--delta", "1e-5")
        charged = ("--ledger", "my.ledger", "--dataset", "ward")
        self.ok("train", "--data", "visits.csv", "--schema", "schema.toml", *RUN, *charged, "--out", "one")
        self.ok("ledger", "verify", "my.ledger", "one")
        result = self.fails("train", "--data", "visits.csv", "--schema", "rows.toml", *RUN, *charged, "--out", "two",
                            says=["earlier runs on dataset 'ward' were for another unit",
                                  "one person by 'patient', with up to 3 rows"])
        self.assertIn("one row", result)
        self.write("two.toml", SCHEMA.format(extra="drop").replace("= 3", "= 2"))
        self.ok("train", "--data", "visits.csv", "--schema", "two.toml", *RUN, *charged, "--out", "two")
        self.ok("ledger", "verify", "my.ledger", "one", "two")
        shown = json.loads(self.ok("ledger", "show", "my.ledger", "--json"))
        self.assertIn("person", json.dumps(shown))
        self.assertIn("person by 'patient'", self.ok("ledger", "show", "my.ledger"))

    def test_plan_and_account_take_the_number_of_rows(self):
        sizes = ("--nodes", 3, "--records", 4000, "--features", 12, "--epsilon", 1, "--delta", "1e-6")
        text = self.ok("plan", *sizes, "--rows-per-person", 4)
        self.assertIn("ε = 1.0000, δ = 1e-06 per person (up to 4 rows), whole run (proved)", text)
        self.assertIn("per record, whole run", self.ok("plan", *sizes))
        self.assertIn("per person (1 row)", self.ok("plan", *sizes, "--rows-per-person", 1))
        one = json.loads(self.ok("account", "dp-gd", "--noise-scale", 400, "--nodes", 3, "--delta", "1e-6", "--json"))
        four = json.loads(self.ok("account", "dp-gd", "--noise-scale", 400, "--nodes", 3, "--delta", "1e-6", "--json",
                                  "--rows-per-person", 4))
        self.assertAlmostEqual(four["mu"], 4 * one["mu"], 9)
        self.assertIn("per person (up to 4 rows)", self.ok("account", "dp-gd", "--noise-scale", 400, "--nodes", 3,
                                                           "--delta", "1e-6", "--rows-per-person", 4))
        self.fails("account", "dvp", "--noise", "gaussian", "--noise-scale", 0.5, "--penalty", 0.001, "--nodes", 3,
                   "--bound", "verified", "--rows-per-person", 2, says=["only verified numerically", "option --bound"])

    def test_a_model_is_used_and_evaluated_without_the_column(self):
        self.ok("train", "--data", "visits.csv", "--schema", "schema.toml", *RUN, "--out", "out")
        rows = [line.split(",", 1)[1] for line in table(100, 60, seed=5).splitlines()]
        self.write("new.csv", "\n".join(rows) + "\n")
        self.ok("evaluate", "--model", "out/model.json", "--data", "new.csv")
        self.ok("predict", "--model", "out/model.json", "--data", "new.csv", "--out", "said.csv")
        self.ok("predict", "--model", "out/model.json", "--data", "visits.csv", "--out", "said2.csv")
        with_column = json.loads(self.ok("evaluate", "--model", "out/model.json", "--data", "visits.csv", "--json"))
        self.assertEqual(with_column["test_rows"], 900)
        self.write("crowd.csv", "patient,age,dose,ill\n" + "p1,20,1,no\n" * 9 + ",90,9,yes\n")  # nothing is trained on them
        self.ok("evaluate", "--model", "out/model.json", "--data", "crowd.csv")


if __name__ == "__main__":
    unittest.main()
