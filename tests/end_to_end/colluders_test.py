"""Noise that cancels between parties: both epsilons wherever one is printed, and both caps of a ledger. Run by ctest with $PARLEY = the program."""
import json
import math
import re
import unittest

from cli_test import Case, parley

RUN = ("--nodes", 5, "--rounds", 4, "--epsilon", 1, "--delta", "1e-5", "--colluders", 1, "--quiet")


class Colluders(Case):
    def test_both_epsilons_stand_wherever_one_does(self):
        run = json.loads(self.ok("train", "--algorithm", "newton", *RUN, "--json", "--out", "out"))
        larger = run["epsilon_all_others"]
        self.assertAlmostEqual(larger, 2.1457, 3)
        self.assertLess(run["epsilon"], 1 + 1e-9)
        self.assertIn("any 1 of the 5 parties", run["against"])
        privacy = json.loads((self.dir / "out/run.json").read_text())["privacy"]
        self.assertEqual(json.loads((self.dir / "out/model.json").read_text())["privacy"], privacy)
        self.assertEqual((privacy["epsilon_all_others"], privacy["epsilon_all_others_planned"]), (larger, larger))
        self.assertIn("sum of their mu", privacy["several_parties"])
        last = json.loads((self.dir / "out/rounds.jsonl").read_text().splitlines()[-1])
        self.assertAlmostEqual(last["epsilon_all_others"], larger, 9)
        self.ok("report", "out", "--out", "page.html")
        page = re.sub("<[^>]*>", "", (self.dir / "page.html").read_text())
        self.assertIn("learns at most ε = 2.1457", page)
        self.assertIn("Against any 1 of the 5 parties together, and whoever sees every message: ε = 1.0000", page)
        self.assertNotIn("learns at most ε = 1.0000", page)
        again = next(line for line in page.splitlines() if line.startswith("parley account"))  # how to check it
        self.assertIn("2.1457", self.ok(*again.split()[1:]))
        sizes = ("--nodes", 5, "--records", 9000, "--features", 62, *RUN[2:-1])
        for command in (("plan", "--algorithm", "newton"), ("account", "newton", "--degree", 4)):
            text = self.ok(*command, *sizes)
            self.assertIn("2.1457", text)
            self.assertIn("any 1 of the 5 parties", text)
            self.assertAlmostEqual(json.loads(self.ok(*command, *sizes, "--json"))["epsilon_all_others"], larger, 4)
        self.fails("compare", "--algorithms", "newton", "--colluders", 1, says=["unknown option 'colluders'"])

    def test_the_odds_that_are_printed_are_those_of_the_larger_epsilon(self):
        run = (*RUN[:4], "--epsilon", 6, *RUN[6:-1])
        printed = self.ok("train", "--algorithm", "newton", *run, "--out", "out")
        privacy = json.loads((self.dir / "out/run.json").read_text())["privacy"]
        self.assertLess(privacy["epsilon"], 10)
        self.assertGreater(privacy["epsilon_all_others"], 10)
        self.assertIn(f"For all other parties together, the odds of any statement about a record may change by a factor e^{math.ceil(privacy['epsilon_all_others'])}:", printed)

    def test_a_larger_epsilon_above_10_is_said_first(self):
        sizes = ("--nodes", 5, "--records", 9000, "--features", 62, *RUN[2:4], *RUN[6:-1])
        for epsilon in (6, 1):
            said = parley("plan", "--algorithm", "newton", *sizes, "--epsilon", epsilon, cwd=self.dir)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertEqual(epsilon == 6, said.stderr.startswith("NO MEANINGFUL PROTECTION: epsilon = 1"), said.stderr)
            self.assertEqual(epsilon == 6, "against all other parties together is above 10" in said.stderr, said.stderr)

    def test_what_a_paper_prints_is_absent(self):
        run = json.loads(self.ok("train", "--algorithm", "linear-admm", *RUN, "--json", "--out", "out"))
        self.assertIsNone(run["epsilon_paper"])
        self.assertIn("no noise that parties share", run["epsilon_paper_absent"])
        self.fails("train", "--algorithm", "linear-admm", *RUN[:4], "--epsilon", "1,1,1,1,2", *RUN[6:], "--out", "other", says=["would not cancel"])

    def test_each_account_has_its_cap_and_keeps_it(self):
        cap = ("ledger", "cap", "l", "--dataset", "d", "--delta", "1e-5", "--epsilon")
        paid = ("train", "--algorithm", "newton", *RUN, "--ledger", "l", "--dataset", "d", "--out")
        self.ok(*cap, 2)
        self.fails(*paid, "a", says=["against anybody"])
        self.ok(*cap, 9, "--colluders-epsilon", 1.2)
        self.ok(*paid, "b")
        self.ok(*cap, 9)  # the other one stays
        self.fails(*paid, "c", says=["against its colluders"])
        shown = json.loads(self.ok("ledger", "show", "l", "--json"))["datasets"][0]
        self.assertEqual((shown["cap"], shown["colluders_cap"]), (9, 1.2))
        self.assertAlmostEqual(shown["epsilon"], 2.1457, 3)
        self.assertAlmostEqual(shown["colluders_epsilon"], 1, 6)
        self.assertIn("chain intact", self.ok("ledger", "verify", "l", "b"))
        self.fails(*cap, 1, "--colluders-epsilon", 2, says=["no cap against colluders"])


if __name__ == "__main__":
    unittest.main()
