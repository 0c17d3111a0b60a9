"""parley keys and parley study as parties meet them. Run by ctest with $PARLEY = the program."""
import hashlib
import json
import os
import pathlib
import re
import socket
import ssl
import stat
import subprocess
import tempfile
import threading
import unittest

PARLEY = os.environ["PARLEY"]

SCHEMA = """
[label]
column = "ill"
positive = ["yes"]
negative = ["no"]
[[columns]]
name = "age"
kind = "numeric"
bounds = [0, 100]
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def parley(self, *arguments):
        return subprocess.run([PARLEY, *map(str, arguments)], cwd=self.dir, capture_output=True, text=True, timeout=900,
                              stdin=subprocess.DEVNULL)

    def ok(self, *arguments):
        result = self.parley(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def snapshot(self):
        return {p: p.read_bytes() for p in sorted(self.dir.rglob("*")) if p.is_file()}

    def fails(self, *arguments, says):
        """Exit code 1, every text in `says` on stderr, not a byte changed."""
        before = self.snapshot()
        result = self.parley(*arguments)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for text in says:
            self.assertIn(text, result.stderr)
        self.assertEqual(self.snapshot(), before, "something was written")
        return result.stderr

    def key(self, name, *arguments):
        return json.loads(self.ok("keys", "new", name, "--json", *arguments))


class Keys(Case):
    def test_a_key_is_secret_and_a_certificate_says_whose_it_is(self):
        text = self.ok("keys", "new", "hospital_a", "--days", 30)
        self.assertIn("it never leaves this machine", text)
        self.assertEqual(stat.S_IMODE((self.dir / "hospital_a.key").stat().st_mode), 0o600)
        shown = json.loads(self.ok("keys", "show", "hospital_a.pem", "--json"))
        self.assertEqual((shown["name"], shown["self_issued"], shown["authority"], shown["valid"]),
                         ("hospital_a", True, False, True))
        self.assertIn(shown["fingerprint"], text)
        der = ssl.PEM_cert_to_DER_cert((self.dir / "hospital_a.pem").read_text())
        self.assertEqual(shown["fingerprint"], hashlib.sha256(der).hexdigest())
        self.assertIn(shown["fingerprint"], self.ok("keys", "show", "hospital_a.pem"))

    def test_an_authority_issues(self):
        self.ok("keys", "ca", "region", "--out", "authority")
        self.assertEqual(self.key("hospital_a", "--ca", "authority")["issuer"], "region")
        self.assertEqual(self.key("hospital_b", "--ca", "authority/region.pem")["issuer"], "region")
        self.assertIn("an authority", self.ok("keys", "show", "authority/region.pem"))

    def test_nothing_is_overwritten_and_mistakes_are_told(self):
        self.key("hospital_a")
        self.fails("keys", "new", "hospital_a", says=["hospital_a.pem", "never overwritten"])
        (self.dir / "hospital_a.pem").rename(self.dir / "moved.pem")
        self.fails("keys", "new", "hospital_a", says=["hospital_a.key", "never overwritten"])
        self.fails("keys", "new", "Hospital A", says=["1 to 64 of a-z"])
        self.fails("keys", "new", "x", "--days", 0.5, says=["days is not a whole number"])
        self.fails("keys", "new", "x", "--ca", ".", says=["no authority in this folder"])
        self.fails("keys", "new", "x", "--ca", "moved.pem", says=["moved.key", "cannot be read"])
        self.fails("keys", "ca", "x", "--ca", "moved.pem", says=["its own issuer"])
        self.fails("keys", "show", "nothing.pem", says=["nothing.pem", "No such file"])
        self.fails("keys", "show", "hospital_a.key", says=["no certificate in PEM form"])
        self.fails("keys", says=["new NAME"])
        self.key("hospital_c")
        self.fails("keys", "new", "x", "--ca", "hospital_c.pem", says=["may not issue others"])
        os.chmod(self.dir / "hospital_c.key", 0o644)
        self.fails("keys", "new", "x", "--ca", "hospital_c.pem", says=["others on this machine", "chmod 600"])

    def handshake(self, client, server, trust, name):
        """Mutual TLS over a socket pair, as the library that carries messages will do it; returns who the client is."""
        contexts = []
        for side, who in ((ssl.PROTOCOL_TLS_SERVER, server), (ssl.PROTOCOL_TLS_CLIENT, client)):
            context = ssl.SSLContext(side)
            context.load_cert_chain(self.dir / f"{who}.pem", self.dir / f"{who}.key")
            context.load_verify_locations(cadata=trust)
            context.verify_mode = ssl.CERT_REQUIRED
            contexts.append(context)
        near, far = socket.socketpair()
        seen = {}

        def serve():
            try:
                with contexts[0].wrap_socket(far, server_side=True) as connection:
                    seen["client"] = connection.getpeercert()["subjectAltName"]
                    connection.recv(1)
            except OSError as error:
                seen["error"] = error
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            with contexts[1].wrap_socket(near, server_hostname=name) as connection:
                connection.send(b"x")
        finally:
            near.close()
            thread.join()
        return seen.get("client")

    def test_tls_accepts_the_certificates_under_their_names_in_both_directions(self):
        self.ok("keys", "ca", "region", "--out", "authority")
        self.key("hospital_a")
        self.key("hospital_b")
        self.key("st-mary_2", "--ca", "authority")
        trust = "".join((self.dir / f).read_text() for f in ("hospital_a.pem", "hospital_b.pem", "authority/region.pem"))
        for client, server in (("hospital_a", "hospital_b"), ("hospital_a", "st-mary_2"), ("st-mary_2", "hospital_b")):
            self.assertEqual(self.handshake(client, server, trust, server), (("DNS", client),))
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.handshake("hospital_a", "hospital_b", trust, "hospital_a")


class Study(Case):
    def setUp(self):
        super().setUp()
        (self.dir / "schema.toml").write_text(SCHEMA)
        self.ok("study", "new", "study.toml")
        self.study = self.dir / "study.toml"

    def invite(self, name, *arguments):
        self.key(name, "--out", "keys")
        return self.ok("study", "invite", "study.toml", "--name", name, "--address", f"{name}.example:7400",
                       "--certificate", f"keys/{name}.pem", *arguments)

    def three(self):
        for name, records in (("hospital_a", 8000), ("hospital_b", 4000), ("hospital_c", 5000)):
            self.invite(name, "--records", records)

    def change(self, old, new):
        text = self.study.read_text()
        self.assertIn(old, text)
        self.study.write_text(text.replace(old, new, 1))

    def check(self):
        return json.loads(self.ok("study", "check", "study.toml", "--json"))

    def test_from_a_template_to_a_plan(self):
        for word in ("algorithm", "schema", "graph", "rounds", "epsilon", "deadline-seconds", "wait-seconds", "on-loss"):
            self.assertIn(f"\n{word} = ", self.study.read_text())
        self.assertIn("\n# delta = 1e-6\n", self.study.read_text())  # what is left out follows from the roster
        self.fails("study", "new", "study.toml", says=["never overwritten"])
        self.assertIn("cannot start yet", self.ok("study", "roster", "study.toml"))
        self.fails("study", "check", "study.toml", says=["needs two parties with records; got 0"])
        self.three()
        plan = self.check()
        self.assertLessEqual(plan["epsilon"], 1)
        self.assertEqual((plan["selection"]["algorithm"], plan["selection"]["by"], plan["study"]["planned"]["algorithm"]), ("newton", "planner", "newton"))
        self.assertEqual((plan["rounds"], plan["private_rounds"], plan["delta"], plan["not_private"]), (32, 32, 1e-5, []))
        self.assertIn("theorem", plan["theorem"])
        self.assertTrue(plan["hash"].startswith(plan["run_id"]))
        shown = self.ok("study", "check", "study.toml")
        for text in (" ".join(re.findall("....", plan["hash"])), "ε = 1.0000, δ = 1e-05 per record, whole run (proved)", "noise to signal", "32 of them touch data", "theorem N1", "newton, chosen by the planner"):
            self.assertIn(text, shown)

    def test_a_party_that_connects_the_others_is_warned_of_where_a_loss_is_survived(self):
        for name in "abcde":
            self.invite("hospital_" + name, "--records", 4000)
        self.change('graph = "complete"', 'graph = "path"')
        self.assertEqual(self.check()["warnings"], [])
        self.change('on-loss = "stop"', 'on-loss = "continue"')
        split, end = self.check()["warnings"]
        self.assertIn("only through hospital_b, or only through hospital_d. Such a party can let one side complete the run", split)
        self.assertIn('or set on-loss = "stop"', split)
        self.assertIn("only through hospital_c. If such a party is lost, no more than half are left together", end)
        self.assertIn("warning: " + split, self.parley("study", "check", "study.toml").stderr)
        self.change('graph = "path"', 'graph = "ring"')
        self.assertEqual(self.check()["warnings"], [])

    def test_a_study_without_a_budget_asks_for_a_decision(self):
        self.three()
        self.change("epsilon = 1.0\n", "")
        asked = "how much privacy? The study has no budget"
        for words in (["study", "check", "study.toml"], ["study", "sign", "study.toml", "--as", "hospital_a", "--words", "I agree"],
                      ["report", "study.toml", "--out", "plan.html"],
                      ["join", "study.toml", "--as", "hospital_a", "--key", "keys/hospital_a.key", "--certificate", "keys/hospital_a.pem", "--data", "sample.csv", "--ledger", "l", "--out", "out"]):
            said = self.fails(*words, says=[asked, "epsilon = 1", 'noise = "none"', "study.toml"])
            self.assertNotIn("--epsilon", said)
        doctor = self.parley("doctor", "study.toml", "--as", "hospital_a")
        self.assertEqual(doctor.returncode, 1)
        self.assertIn(asked, doctor.stdout)
        self.assertIn(asked, self.ok("study", "roster", "study.toml"))
        (self.dir / "no-record").mkdir()  # one that ran before this was asked is checked as it was, and may be abandoned
        for words in (["verify", "no-record", "--study", "study.toml"], ["study", "abandon", "study.toml", "--as", "hospital_a"]):
            said = self.parley(*words)
            self.assertNotEqual(said.returncode, 0)
            self.assertNotIn(asked, said.stdout + said.stderr)
        self.assertIn("no-record", self.parley("verify", "no-record", "--study", "study.toml").stderr)
        for decision in ('noise = "none"', "noise-rate = 0.5", "epsilon = 2"):
            text = self.study.read_text()
            self.study.write_text(decision + "\n" + text)
            self.check()
            self.study.write_text(text)

    def test_doctor_and_the_page_say_the_forecast_and_the_noise_beside_the_signal(self):
        self.three()
        expect = self.check()["forecast"]
        self.assertIn("in_words", expect)
        doctor = self.parley("doctor", "study.toml").stdout
        self.assertRegex(doctor, r"(?m)^ok +forecast: noise: " + re.escape(expect["noise_in_words"]))
        self.assertRegex(doctor, r"(?m)^ok +forecast: expect: " + re.escape(expect["in_words"]))
        self.change('algorithm = "auto"', 'algorithm = "mr-admm"')
        noise = self.check()["forecast"]["noise_in_words"]
        self.assertIn("forecast: noise: " + noise, self.parley("doctor", "study.toml").stdout)
        self.ok("report", "study.toml", "--out", "plan.html")
        self.assertIn(noise, (self.dir / "plan.html").read_text())

    def test_a_draft_schema_is_refused_by_every_command_of_a_study(self):
        self.three()
        schema = self.dir / "schema.toml"
        text = schema.read_text()
        sample = self.dir / "sample.csv"
        sample.write_text("age,ill\n" + "".join(f"{20 + i % 60},{'yes' if i % 3 else 'no'}\n" for i in range(60)))
        self.ok("data", "describe", "sample.csv", "--label", "ill", "--out", "draft.toml")
        mark = (self.dir / "draft.toml").read_text().split("intercept")[0]
        self.assertIn("DRAFT", mark)
        schema.write_text(mark + text)
        for words in (["study", "check", "study.toml"], ["study", "sign", "study.toml", "--as", "hospital_a", "--words", "I agree"],
                      ["report", "study.toml", "--out", "plan.html"],
                      ["join", "study.toml", "--as", "hospital_a", "--key", "keys/hospital_a.key", "--data", "sample.csv", "--out", "out"]):
            self.fails(*words, says=["this schema is a draft"])
        doctor = self.parley("doctor", "study.toml", "--as", "hospital_a")
        self.assertEqual(doctor.returncode, 1)
        self.assertIn("this schema is a draft", doctor.stdout)
        schema.write_text(text)
        self.ok("study", "check", "study.toml")

    def test_an_invitation_keeps_the_file_byte_for_byte(self):
        before = "# une étude\r\n" + self.study.read_text().rstrip("\n")
        self.study.write_bytes(before.encode())
        self.invite("hospital_a", "--records", 8000)
        after = self.study.read_bytes()
        self.assertTrue(after.startswith(before.encode() + b"\n"))
        certificate = (self.dir / "keys/hospital_a.pem").read_bytes()
        self.assertIn(certificate, after)  # the file is whole: whoever gets it can check the peers

    def test_the_roster_shows_who_takes_part(self):
        self.three()
        self.change('graph = "complete"', 'graph = "path"')
        self.change("epsilon = 1.0", "epsilon = [0.5, 1, 2]")
        parties = json.loads(self.ok("study", "roster", "study.toml", "--json"))["parties"]
        self.assertEqual([(p["node"], p["name"], p["records"], p["neighbours"]) for p in parties],
                         [(0, "hospital_a", 8000, ["hospital_b"]), (1, "hospital_b", 4000, ["hospital_a", "hospital_c"]),
                          (2, "hospital_c", 5000, ["hospital_b"])])
        self.assertEqual([round(p["epsilon"], 6) for p in parties], [0.5, 1, 2])
        table = self.ok("study", "roster", "study.toml")
        self.assertRegex(table, r"1  hospital_b +hospital_b\.example:7400 +4,000 +1\.0000 +hospital_a, hospital_c +[0-9a-f]{16}")

    def test_copies_that_mean_the_same_have_the_same_hash(self):
        self.three()
        first = self.check()["hash"]
        self.change("hospital_b.example:7400", "10.0.0.7:7401")
        self.change("rounds = 0", "rounds   =   0   # agreed on the phone")
        (self.dir / "schema.toml").rename(self.dir / "other.toml")
        self.change('"schema.toml"', '"other.toml"')
        self.assertEqual(self.check()["hash"], first)
        self.change("rounds   =   0", "rounds = 49")
        self.assertNotEqual(self.check()["hash"], first)

    def test_a_star_has_a_trainer(self):
        self.three()
        self.change('algorithm = "auto"', 'algorithm = "dp-admm"')
        self.fails("study", "check", "study.toml", says=["one trainer", "study.toml:", "runs around"])
        self.assertIn("coordinator is node 3", self.invite("coordinator", "--trainer"))
        self.fails("study", "check", "study.toml", says=["runs around a trainer, not on a graph of peers"])
        self.change('graph = "complete"', 'graph = "auto"')
        self.assertEqual(self.check()["selection"]["by"], "given")
        self.change('algorithm = "dp-admm"', 'algorithm = "auto"')
        self.assertEqual(self.check()["selection"]["algorithm"], "star-pvp")
        parties = self.check()["parties"]
        self.assertEqual((parties[3]["trainer"], parties[3]["epsilon"], parties[3]["neighbours"]),
                         (True, None, ["hospital_a", "hospital_b", "hospital_c"]))
        self.assertRegex(self.ok("study", "roster", "study.toml"), r"3  coordinator +\S+ +trainer +-")

    def test_seeded_and_noiseless_studies_are_stamped(self):
        self.three()
        self.change("# seed = 1", "seed = 1")
        self.assertEqual(self.check()["not_private"], ["noise from seed 1"])
        self.assertIn("guarantee    none, NOT PRIVATE: noise from seed 1", self.ok("study", "check", "study.toml"))
        self.assertIn("NOT PRIVATE", self.ok("study", "roster", "study.toml"))
        self.change("epsilon = 1.0\n", "noise = \"none\"\n")
        self.assertEqual((self.check()["epsilon"], self.check()["not_private"]), (None, ["no noise"]))
        self.assertIn("none, NOT PRIVATE: no noise", self.ok("study", "check", "study.toml"))

    def test_mistakes_of_an_invitation_change_nothing(self):
        self.invite("hospital_a", "--records", 8000)
        self.key("hospital_b")
        invite = ("study", "invite", "study.toml", "--certificate", "hospital_b.pem")
        self.fails(*invite, "--records", 5, says=["option --address", "missing"])
        self.fails(*invite, "--address", "b:1", says=["option --records", "missing"])
        self.fails("study", "invite", "study.toml", "--address", "b:1", "--records", 5, says=["option --certificate"])
        self.fails(*invite, "--address", "b", "--records", 5, says=["parley study invite: the address of hospital_b is not host:port"])
        self.fails(*invite, "--address", "b:1", "--records", -5, says=["records"])
        self.fails(*invite, "--address", "b:1", "--records", 5, "--trainer", says=["the trainer hospital_b holds no records"])
        self.fails(*invite, "--address", "hospital_a.example:7400", "--records", 5, says=["the same address: hospital_a and hospital_b"])
        self.fails(*invite, "--name", "hospital_x", "--address", "b:1", "--records", 5, says=["is for another party"])
        self.fails("study", "invite", "study.toml", "--address", "b:1", "--records", 5, "--certificate", "keys/hospital_a.pem",
                   says=["two parties have the same name", "two parties have the same fingerprint"])
        self.ok("keys", "ca", "region")
        self.fails("study", "invite", "study.toml", "--address", "b:1", "--records", 5, "--certificate", "region.pem",
                   says=["an authority's, not a party's"])
        self.fails(*invite[:2], "nothing.toml", *invite[3:], "--address", "b:1", "--records", 5, says=["nothing.toml", "No such file"])
        self.study.write_text("rounds = = 3\n")
        self.fails(*invite, "--address", "b:1", "--records", 5, says=["study.toml:1: not valid TOML"])

    def test_mistakes_in_the_file_are_told_at_once_with_their_lines(self):
        self.three()
        self.change("rounds = 0", "rouns = 50")
        self.change('"stop"', '"halt"')
        line = 1 + self.study.read_text().split("\n").index("rouns = 50")
        text = self.fails("study", "check", "study.toml", says=[f"study.toml:{line}: unknown option 'rouns'", "did you mean 'rounds'?",
                                                                "on-loss = halt but must be stop, continue"])
        self.assertEqual(text.count("what to do"), 2)
        self.fails("study", "roster", "study.toml", says=["rouns"])
        self.fails("study", "frobnicate", "study.toml", says=["new FILE, invite FILE"])

    def test_officers_approve_a_plan_before_the_run(self):
        self.three()
        before = self.check()
        self.assertEqual((before["approvals"]["valid"], before["approvals"]["missing"]), ([], ["hospital_a", "hospital_b", "hospital_c"]))
        sign = ("study", "sign", "study.toml", "--words", "Approved. A. Officer")
        self.fails(*sign, says=["who approves is missing"])
        self.fails(*sign, "--as", "hospital_z", says=["'hospital_z' is not in the roster"])
        self.fails(*sign, "--as", "hospital_a", "--key", "keys/hospital_b.key", "--certificate", "keys/hospital_b.pem",
                   says=["the others would refuse this signature"])
        me = ("--as", "hospital_a", "--key", "keys/hospital_a.key", "--certificate", "keys/hospital_a.pem")
        self.fails(*sign, *me, "--hash", before["hash"][:-1], says=["not the hash of a study", "64 hexadecimal digits"])
        fours = re.sub("(....)", r"\1 ", before["hash"]).strip()
        self.change("epsilon = ", "epsilon = 2 # ")  # after it was read
        self.fails(*sign, *me, "--hash", before["hash"], says=["the study is not the one that is to be approved", f"allowed: {fours}", "study.toml"])
        self.assertEqual(list(self.dir.glob("*.approvals")), [])
        self.change("epsilon = 2 # ", "epsilon = ")
        self.ok(*sign, *me, "--hash", fours.upper())
        (self.dir / "study.approvals").unlink()
        for name in ("hospital_a", "hospital_b", "hospital_c"):
            self.ok("report", "study.toml", "--out", "plan.html")
            page = (self.dir / "plan.html").read_text()
            self.assertIn("not yet", page)
            self.assertIn(re.sub("(....)", r"\1 ", before["hash"]).strip(), page)
            self.assertIn("--hash " + before["hash"], page)  # the command signs what was read
            self.ok(*sign, "--as", name, "--key", f"keys/{name}.key", "--certificate", f"keys/{name}.pem")
        after = self.check()
        self.assertEqual(after["hash"], before["hash"])
        self.assertTrue(after["approvals"]["complete"])
        self.assertEqual(after["approvals"]["valid"][1]["words"], "Approved. A. Officer")
        self.assertIn('hospital_c approved on', self.ok("study", "check", "study.toml"))
        self.ok("report", "study.toml", "--out", "plan.html")
        self.assertNotIn("not yet", (self.dir / "plan.html").read_text())
        # Another budget is another study: nobody has approved it.
        self.change("epsilon = ", "epsilon = 0.5 # ")
        changed = self.check()
        self.assertEqual((changed["approvals"]["valid"], len(changed["approvals"]["refused"])), ([], 3))
        join = ("join", "study.toml", "--as", "hospital_a", "--key", "keys/hospital_a.key", "--certificate", "keys/hospital_a.pem",
                "--data", "mine.csv", "--ledger", "my.ledger", "--require-approvals", "true")
        self.fails(*join, says=["not approved by all parties", "no valid approval of hospital_a, hospital_b, hospital_c",
                                "approved another study"])

    def test_a_disconnected_graph_names_its_parts(self):
        self.three()
        self.change('graph = "complete"', 'graph = "0-1"')
        self.fails("study", "check", "study.toml", says=["not connected", "{0, 1}, {2}"])
        self.assertIn("cannot start yet", self.ok("study", "roster", "study.toml"))

    def test_help_has_examples(self):
        for command in ("keys", "study"):
            self.assertIn("Examples:", self.ok(command, "--help"))


if __name__ == "__main__":
    unittest.main()
