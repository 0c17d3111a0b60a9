"""`parley doctor`: one sentence for each thing that would stand in the way of `parley join`, and the rest is looked at all the same."""
import threading

from mesh_case import *

FORGE = os.environ["MESH_FORGE"]


class Doctor(Case):
    def setUp(self):
        super().setUp()
        self.study = Study(self.dir / "study", deadline=10)  # so long a neighbour may take to answer
        self.home = self.study.base / "hospital_a"
        self.file = self.home / "study.toml"

    def doctor(self, *more, without=(), code=None, cwd=None, prefix=(), name="hospital_a"):
        """{about: [(health, sentence), …]} of hospital_a, whose options are replaced by those in `more`."""
        options = {"--as": name, "--data": "mine.csv", "--ledger": "my.ledger", "--out": "out"}
        for key in without:
            del options[key]
        options.update(zip(more[::2], more[1::2]))
        command = [PARLEY, "doctor", "study.toml", "--json", *(str(w) for pair in options.items() for w in pair)]
        result = subprocess.run([*prefix, *command], cwd=cwd or self.home, capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        self.assertEqual(result.stderr, "")
        answer = json.loads(result.stdout)
        self.assertEqual(answer["healthy"], result.returncode == 0)
        self.assertEqual(answer["healthy"], all(c["health"] != "failed" for c in answer["checks"]))
        if code is not None:
            self.assertEqual(result.returncode, code, result.stdout)
        found = {}
        for c in answer["checks"]:
            self.assertNotIn("\n", c["sentence"])
            found.setdefault(c["about"], []).append((c["health"], c["sentence"]))
        return found

    def assert_failed(self, found, about, sentence, alone=True):
        self.assertTrue(any(h == "failed" and sentence in s for h, s in found.get(about, [])), f"{about}: {sentence}\nnot in {json.dumps(found, indent=1)}")
        if alone:
            failed = [(a, s) for a, all_ in found.items() for h, s in all_ if h == "failed" and a != about]
            self.assertEqual(failed, [])

    def pin(self, name, folder, file=None):
        """Another certificate for this party in (hospital_a's) study, without the checks of `study invite`."""
        file = file or self.file
        before, after = ((p / f"{name}.pem").read_text() for p in (self.study.base / name, folder))
        text = file.read_text()
        self.assertIn(before.strip(), text)
        text = text.replace(before.strip(), after.strip())
        prints = [re.search(r"\b[0-9a-f]{64}\b", run("keys", "show", p / f"{name}.pem", cwd=folder).stdout).group() for p in (self.study.base / name, folder)]
        self.assertIn(prints[0], text)
        file.write_text(text.replace(*prints))

    # --- in order -------------------------------------------------------------------------------------------------------

    def test_a_party_that_is_ready_is_told_so_while_the_others_sleep(self):
        found = self.doctor(code=0)
        self.assertEqual({a for a in found}, {"study", "forecast", "approvals", "clock", "key", "data", "port", "ledger", "disk", "hospital_b", "hospital_c", *(f"certificate of {n}" for n in self.study.all)})
        self.assertIn("does not answer yet", found["hospital_b"][0][1])
        self.assertEqual(found["hospital_b"][0][0], "warning")
        for about in ("key", "data", "port", "disk"):
            self.assertEqual(found[about][0][0], "ok", found)
        self.assertFalse((self.home / "out").exists())
        text = run("doctor", "study.toml", "--as", "hospital_a", "--data", "mine.csv", "--ledger", "my.ledger", cwd=self.home).stdout
        self.assertIn("Nothing stands in the way.", text)
        self.assertRegex(text, r"(?m)^ok       data: mine.csv: 100 rows, as the roster says$")

    def test_it_charges_nothing(self):
        before = run("ledger", "show", "my.ledger", "--json", cwd=self.home).stdout
        self.doctor(code=0)
        self.assertEqual(run("ledger", "show", "my.ledger", "--json", cwd=self.home).stdout, before)

    def test_without_a_name_only_what_all_share_is_looked_at(self):
        found = self.doctor(without=("--as", "--data", "--ledger", "--out"), code=0)
        self.assertIn("give --as NAME", found["party"][0][1])
        self.assertNotIn("ledger", found)

    def test_a_trainer_needs_no_rows(self):
        star = Study(self.dir / "star", "dp-admm", parties=2)
        result = run("doctor", "study.toml", "--as", "coordinator", "--ledger", "my.ledger", cwd=star.base / "coordinator")
        self.assertIn("a trainer holds no rows", result.stdout)

    def test_peers_that_run_answer_and_stay_as_they_are(self):
        self.start_all(self.study, ["hospital_b", "hospital_c"])
        for name in ("hospital_b", "hospital_c"):
            self.study.await_log(name, "of 2 peers answer")
        found = self.doctor(code=0)
        for name in ("hospital_b", "hospital_c"):
            self.assertIn("same study", found[name][0][1])
        self.start(self.study, "hospital_a")
        self.assert_completed(self.study)
        self.assert_same_as_simulation(self.study)
        self.assert_spend(self.study)
        path = self.study.out("hospital_a", "run.json")  # killed between the model and run.json: the model counts, as for join
        path.write_text(path.read_text().replace('"outcome": "completed"', '"outcome": "running"'))
        self.assertIn("which this party has completed", " ".join(s for _, s in self.doctor()["ledger"]))

    def test_beside_its_own_join_it_says_so(self):
        self.start(self.study, "hospital_a")
        self.study.await_log("hospital_a", "0 of 2 peers answer")  # it has its ledger: doctor opens it too
        found = self.doctor()
        self.assertIn("is held by this party's own join", found["port"][0][1])
        self.assertIn("in use by this party's own join", found["ledger"][0][1])
        self.assertEqual([a for a, all_ in found.items() if any(h == "failed" for h, _ in all_)], [])

    # --- study, keys, certificates, clock ---------------------------------------------------------------------------------

    def test_all_mistakes_of_the_study_are_told_and_the_key_is_looked_at_all_the_same(self):
        self.file.write_text(self.file.read_text().replace("rounds = 6", "roundz = 6\nepsilom = 3"))
        found = self.doctor()
        self.assert_failed(found, "study", "roundz")
        self.assert_failed(found, "study", "epsilom")
        self.assertEqual(len([h for h, _ in found["study"] if h == "failed"]), 2)
        for about in ("key", "data", "ledger", "certificates", "peers"):
            self.assertEqual(found[about], [("warning", "not looked at: what it depends on has failed above")])

    def test_a_study_that_cannot_be_planned_still_has_certificates(self):
        text = self.file.read_text()
        self.file.write_text(text[:text.index("[[party]]", text.index("[[party]]") + 1)])
        found = self.doctor()
        self.assert_failed(found, "study", "", alone=True)
        self.assertEqual(found["certificate of hospital_a"][0][0], "ok")
        self.assertEqual(found["key"][0][0], "ok")
        self.assertEqual(found["data"][0][0], "ok")

    def test_a_name_that_is_not_invited(self):
        found = self.doctor(name="hospital_x")
        self.assert_failed(found, "study", "'hospital_x' is not in the roster", alone=False)

    def test_a_key_that_others_may_read_is_missing_or_another_s(self):
        key = self.home / "hospital_a.key"
        key.chmod(0o644)
        self.assert_failed(self.doctor(code=1), "key", "hospital_a.key")
        key.chmod(0o600)
        self.assert_failed(self.doctor("--key", "none.key"), "key", "none.key")
        other = self.study.base / "hospital_b"
        self.assert_failed(self.doctor("--key", other / "hospital_b.key"), "key", "hospital_b.key")
        self.assert_failed(self.doctor("--key", other / "hospital_b.key", "--certificate", other / "hospital_b.pem"), "key", "the certificate is for 'hospital_b', and 'hospital_a' was expected")
        new = self.dir / "new"
        new.mkdir()
        run("keys", "new", "hospital_a", cwd=new)
        self.assert_failed(self.doctor("--key", new / "hospital_a.key", "--certificate", new / "hospital_a.pem"), "key", "and the roster pins")

    def test_certificates_out_of_date(self):
        for days, health, said in (((-30, 10), "failed", "expired on"), ((-30, 35), "warning", "days left"), ((3, 10), "failed", "valid from")):
            with self.subTest(said):
                folder = self.dir / said.replace(" ", "-")
                folder.mkdir()
                shutil.copy(self.study.base / "shared/study.toml", self.file)
                run("certificate", folder, "hospital_b", *days, cwd=folder, program=FORGE)
                self.pin("hospital_b", folder)
                found = self.doctor()
                self.assertEqual(found["certificate of hospital_b"][0][0], health)
                self.assertIn(said, found["certificate of hospital_b"][0][1])
                self.assertEqual(found["certificate of hospital_c"][0][0], "ok")
                if days[0] > 0:
                    self.assert_failed(found, "clock", "and the certificate of hospital_b was made at", alone=False)

    def test_a_certificate_that_the_study_lacks(self):
        self.file.write_text(re.sub(r"(?s)certificate = '''.*?'''", "", self.file.read_text(), count=1))
        self.assert_failed(self.doctor(), "certificate of hospital_a", "is not in the study")

    def test_a_clock_that_was_set_back(self):
        later = time.time() + 3600
        os.utime(self.file, (later, later))
        self.assert_failed(self.doctor(code=1), "clock", "study.toml was last changed in the future")

    # --- data, ledger, disk -----------------------------------------------------------------------------------------------

    def test_rows_that_are_missing_of_another_number_or_another_schema(self):
        self.assert_failed(self.doctor("--data", "none.csv"), "data", "none.csv")
        self.assert_failed(self.doctor(without=("--data",)), "data", "give --data FILE")
        rows = (self.home / "mine.csv").read_text().splitlines()
        (self.home / "few.csv").write_text("\n".join(rows[:-1]) + "\n")
        self.assert_failed(self.doctor("--data", "few.csv"), "data", "got 99 rows; allowed: 100 rows")
        (self.home / "odd.csv").write_text("\n".join(["a,b", "1,2"]) + "\n")
        self.assert_failed(self.doctor("--data", "odd.csv"), "data", "odd.csv")

    def test_a_ledger_that_is_missing_in_use_or_too_small(self):
        self.assert_failed(self.doctor(without=("--ledger",)), "ledger", "parley ledger cap FILE")
        self.assert_failed(self.doctor("--ledger", "none.ledger"), "ledger", "none.ledger")
        self.assert_failed(self.doctor("--dataset", "another"), "ledger", "the ledger knows no dataset 'another'")
        private = self.file.read_text().replace("seed = 3", "")
        self.file.write_text(private)
        run("ledger", "cap", "small.ledger", "--dataset", "hospital_a", "--epsilon", "1", "--delta", "1e-6", cwd=self.home)
        self.assert_failed(self.doctor("--ledger", "small.ledger"), "ledger", "small.ledger")
        holder = subprocess.Popen([sys.executable, "-c", "import sqlite3,sys\nc=sqlite3.connect('my.ledger',isolation_level=None)\nc.execute('PRAGMA locking_mode=EXCLUSIVE')\n"
                                   "c.execute('BEGIN EXCLUSIVE')\nprint('held',flush=True)\nsys.stdin.read()"], cwd=self.home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(holder.stdout.readline(), "held\n")
        try:
            self.assert_failed(self.doctor(), "ledger", "in use by")
        finally:
            holder.communicate("")

    def test_a_disk_that_is_too_small_or_a_folder_that_is_not_there(self):
        self.assert_failed(self.doctor("--out", "no/such/folder"), "disk", "nothing can be written here")
        (self.dir / "small").mkdir()
        prefix = ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs -o size=256k none {self.dir}/small && exec "$@"', "sh"]
        if subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
            self.skipTest("no file system of one's own here")
        found = self.doctor("--out", self.dir / "small/out", prefix=prefix)
        self.assert_failed(found, "disk", "MiB needed; make room")

    def test_a_folder_of_another_run(self):
        (self.home / "out").mkdir()
        (self.home / "out/run.json").write_text('{"study_hash": "0"}')
        self.assert_failed(self.doctor(), "disk", "the folder holds the record of another run")

    # --- the network ------------------------------------------------------------------------------------------------------

    def test_a_port_that_somebody_else_has_or_an_address_of_another_machine(self):
        host, port = self.study.addresses["hospital_a"].split(":")
        with socket.socket() as s:
            s.bind((host, int(port)))
            s.listen()
            self.assert_failed(self.doctor(), "port", "stop what uses it")
        self.assert_failed(self.doctor("--listen", "192.0.2.1:7400"), "port", "with an address of this machine")
        self.file.write_text(self.file.read_text().replace(f"{host}:{port}", f"192.0.2.1:{port}"))
        self.assert_failed(self.doctor(), "port", f"behind NAT, or where the name leads elsewhere, --listen 0.0.0.0:{port} listens at all addresses of this machine")
        self.assertEqual(self.doctor("--listen", f"0.0.0.0:{port}")["port"], [("ok", f"0.0.0.0:{port} is free")])

    def test_an_address_that_does_not_resolve(self):
        self.file.write_text(self.file.read_text().replace(self.study.addresses["hospital_b"], "nowhere.invalid:7400"))
        self.assert_failed(self.doctor(), "hospital_b", "nowhere.invalid:7400 cannot be resolved")

    def test_something_else_at_a_neighbour_s_address(self):
        host, port = self.study.addresses["hospital_b"].split(":")
        with socket.socket() as s:
            s.bind((host, int(port)))
            s.listen()  # accepts, and says nothing
            self.assert_failed(self.doctor(), "hospital_b", "answers, but not as hospital_b")

    def test_an_impostor_at_a_neighbour_s_address(self):
        folder = self.study.base / "hospital_b"
        fake = self.dir / "fake"
        fake.mkdir()
        run("keys", "new", "hospital_b", cwd=fake)
        self.pin("hospital_b", fake, folder / "study.toml")
        self.processes["fake"] = self.study.start("hospital_b", "--key", fake / "hospital_b.key", "--certificate", fake / "hospital_b.pem")
        self.study.await_log("hospital_b", "of 2 peers answer")
        self.assert_failed(self.doctor(), "hospital_b", "and the roster pins")

    def test_a_neighbour_that_refuses_this_party_s_certificate(self):
        """Who is refused learns no reason, so it hears what is known here, and whom to ask for what. The real join of the same party is told so too."""
        other = self.dir / "other"
        other.mkdir()
        run("keys", "new", "hospital_a", cwd=other)
        theirs = self.study.base / "hospital_b"
        self.pin("hospital_a", other, theirs / "study.toml")
        self.start(self.study, "hospital_b")
        self.study.await_log("hospital_b", "of 2 peers answer")
        fingerprint = json.loads(run("keys", "show", "hospital_a.pem", "--json", cwd=self.home).stdout)["fingerprint"]
        found = self.doctor()
        for text in ("shows the certificate that the roster pins, and refuses this party in the handshake",
                     f"this copy of the study pins its fingerprint {' '.join(fingerprint[i:i + 4] for i in range(0, 64, 4))}, it is valid from ",
                     "So the study there pins another one, the clock there is wrong, or this party has opened too many connections",
                     "'a caller was refused: …'"):
            self.assert_failed(found, "hospital_b", text)
        self.assertNotIn("parley doctor", found["hospital_b"][0][1])
        self.study.await_log("hospital_b", "a caller was refused: the self-issued certificate of 'hospital_a' has the fingerprint")
        self.assertIn("(a call from 127.0.0.1)", self.study.log("hospital_b"))
        self.start(self.study, "hospital_a")
        self.study.await_log("hospital_a", f"hospital_b at {self.study.addresses['hospital_b']}: refused in the handshake")

    def test_a_neighbour_that_closes_every_connection_is_not_said_to_refuse(self):
        host, port = self.study.addresses["hospital_b"].split(":")
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind((host, int(port)))
            s.listen()
            s.settimeout(0.1)
            ended = threading.Event()

            def close_all():
                while not ended.is_set():
                    try:
                        s.accept()[0].close()
                    except TimeoutError:
                        pass
            closing = threading.Thread(target=close_all)
            closing.start()
            try:
                self.assert_failed(self.doctor(), "hospital_b", "answers, but not as hospital_b")
            finally:
                ended.set()
                closing.join()

    def test_a_neighbour_with_another_study_names_the_field(self):
        file = self.study.base / "hospital_b/study.toml"
        file.write_text(file.read_text().replace("rounds = 6", "rounds = 8"))
        self.start(self.study, "hospital_b")
        self.study.await_log("hospital_b", "of 2 peers answer")
        self.assert_failed(self.doctor(), "hospital_b", "it has another study: rounds: 6 here, 8 at hospital_b")

    def test_everything_at_once(self):
        (self.home / "hospital_a.key").chmod(0o644)
        host, port = self.study.addresses["hospital_a"].split(":")
        self.file.write_text(self.file.read_text().replace(self.study.addresses["hospital_b"], "nowhere.invalid:7400"))
        with socket.socket() as s:
            s.bind((host, int(port)))
            s.listen()
            found = self.doctor("--data", "none.csv", "--ledger", "none.ledger", "--out", "no/such/folder", code=1)
        for about, sentence in (("key", "hospital_a.key"), ("data", "none.csv"), ("ledger", "none.ledger"), ("disk", "nothing can be written"), ("port", "stop what uses it")):
            self.assert_failed(found, about, sentence, alone=False)
        self.assertEqual(found["peers"][0][0], "warning")  # nobody can be called without a key


if __name__ == "__main__":
    unittest.main()
