"""The certificates of promises.md, in both directions: as somebody who calls a party, and as somebody who answers at the address of one.
Each is refused in the handshake, before a frame is read; the refusing side says which it is; the honest run ends as if nobody had come."""
from mesh_case import *

A, B, C = "hospital_a", "hospital_b", "hospital_c"


class Certificates(Case):
    def study(self):
        study = Study(self.dir / "study", deadline=0.5)
        self.start_all(study, [A, B])
        return study

    def repinned(self, valid):
        """A study whose roster pins a certificate of hospital_c's that is not valid now; 'study invite' would not take it."""
        study = Study(self.dir / "study", deadline=0.5)
        file = study.base / C / f"{C}.pem"
        before = file.read_text(), self.fingerprint(file)
        file.unlink()
        certificate(study.base / C, C, valid=valid)
        for name in study.all:
            text = (study.base / name / "study.toml").read_text()
            for old, new in zip(before, (file.read_text(), self.fingerprint(file))):
                self.assertIn(old.strip(), text)
                text = text.replace(old.strip(), new.strip())
            (study.base / name / "study.toml").write_text(text)
        self.start_all(study, [A, B])
        return study

    def fingerprint(self, file):
        return json.loads(run("keys", "show", file, "--json", cwd=self.dir).stdout)["fingerprint"]

    def bad(self):
        """Identities that nobody should trust, and what is said of them: as a caller, as the one at hospital_c's address."""
        ca = self.dir / "ca"
        run("keys", "ca", "elsewhere", "--out", ca, cwd=self.dir)
        made = self.dir / "made"
        made.mkdir()
        pinned = "the self-issued certificate of 'hospital_c' has the fingerprint"
        issued = "the certificate of 'hospital_c' was issued by 'elsewhere' and is not the one that the roster pins"
        return {
            "self-signed and not pinned": (certificate(made, C, "self"), pinned, pinned),
            "of another authority": (certificate(made, C, "other", ca=(ca / "elsewhere.key", ca / "elsewhere.pem")), issued, issued),
            "not in the roster": (certificate(made, "hospital_x"), "'hospital_x' is not in the roster", "the certificate is for 'hospital_x', and 'hospital_c' was expected")}

    def is_refused_as_caller(self, study, identity, says):
        with Stranger(study.addresses[A], *identity) as stranger:
            said = stranger.send(b"parley")
        self.assertFalse(said["carried"])
        self.assertIn("failed to connect", said["error"])  # no frame was answered: it ended with the handshake
        study.await_log(A, says)
        self.assertIn("a caller was refused: ", study.log(A))

    def serve(self, study, identity):
        """Somebody else at hospital_c's address."""
        server = subprocess.Popen([STRANGER, "serve", study.addresses[C], *identity], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.assertEqual(server.stdout.readline(), "serving\n")
        return server

    def is_refused_when_called(self, study, identity, says):
        for name in (A, B):
            (study.base / name / "log").write_text("")
        server = self.serve(study, identity)
        try:
            for name in (A, B):
                study.await_log(name, says)
                self.assertIn(f"{C} at {study.addresses[C]}: ", study.log(name))
        finally:
            server.kill()
        self.assertEqual(server.communicate()[0], "", "a message was sent to it")

    def ends_well(self, study):
        self.start(study, C)
        self.assert_completed(study)
        self.assert_same_as_simulation(study)
        self.assert_spend(study)

    def test_callers_with_a_bad_certificate_are_refused_and_told_which(self):
        study = self.study()
        study.await_log(A, "0 of 2 peers answer")
        for what, (identity, says, _) in self.bad().items():
            with self.subTest(what):
                self.is_refused_as_caller(study, identity, says)
        with self.subTest("none"):
            self.is_refused_as_caller(study, ("none",), "it presented no certificate")
        with self.subTest("without TLS"), Stranger(study.addresses[A], "plain") as stranger:
            self.assertFalse(stranger.send(b"parley")["carried"])
            study.await_log(A, "somebody called without TLS and was refused")
        self.ends_well(study)

    def test_a_caller_that_speaks_in_another_s_name_is_refused(self):
        """Wrong name, of a caller: its certificate is good, and the message is somebody else's."""
        study = self.study()
        study.await_log(A, "0 of 2 peers answer")
        m = wire.Message(wire.HELLO, "", "", C, 2, -1, bytes(32), wire.seen(-1, bytes(32)), b"")
        with Stranger(study.addresses[A], study.base / B / f"{B}.key", study.base / B / f"{B}.pem") as stranger:
            said = stranger.send(wire.signed_part(m), sign=True)
        self.assertEqual(said["verdict"], "wrong_sender")
        self.assertIn("'hospital_c', but the certificate says hospital_b", said["reason"])
        self.ends_well(study)

    def test_an_answer_under_a_bad_certificate_is_refused_before_anything_is_sent(self):
        study = self.study()
        cases = {what: (identity, says) for what, (identity, _, says) in self.bad().items()}
        cases["of another party"] = ((study.base / B / f"{B}.key", study.base / B / f"{B}.pem"), "the certificate is for 'hospital_b', and 'hospital_c' was expected")
        cases["none: no TLS"] = (("plain",), "does not speak TLS")
        for what, (identity, says) in cases.items():
            with self.subTest(what):
                self.is_refused_when_called(study, identity, says)
        self.ends_well(study)

    def test_a_pinned_certificate_that_has_expired_is_refused_everywhere(self):
        self.is_refused_everywhere((-20 * 86400, 10 * 86400), "the certificate of 'hospital_c' expired on")

    def test_a_pinned_certificate_that_is_not_yet_valid_is_refused_everywhere(self):
        """(Taken from the second on that it names: identity_test.cpp, at any time one likes.)"""
        self.is_refused_everywhere((10 * 86400, 10 * 86400), "the certificate of 'hospital_c' is valid from")

    def is_refused_everywhere(self, valid, says):
        study = self.repinned(valid)
        identity = study.base / C / f"{C}.key", study.base / C / f"{C}.pem"
        study.await_log(A, "0 of 2 peers answer")
        self.is_refused_as_caller(study, identity, says)
        self.is_refused_when_called(study, identity, says)
        own = run(*study.command(C), cwd=study.base / C, check=False)
        self.assertEqual(own.returncode, 1)
        self.assertIn("the others would refuse this party: " + says, own.stderr)
        self.assertEqual([self.processes[n].poll() for n in (A, B)], [None, None])
        self.assertEqual([sorted(study.charges(n)) for n in (A, B)], [[0], [0]])  # the start, which is free


if __name__ == "__main__":
    unittest.main()
