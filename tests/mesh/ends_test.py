"""How `parley join` ends when something other than a peer ends it: its folder is removed, its output is closed, its terminal hangs up, a
limit is reached; with which exit code, and what is left of its key."""
import resource
import shutil

from mesh_case import *

A, B, C = "hospital_a", "hospital_b", "hospital_c"


class Ends(Case):
    def test_a_record_that_is_removed_is_noticed_before_more_is_spent(self):
        study = Study(self.dir / "study", rounds=2000)
        study.keep()
        out, elsewhere = study.base / C / "out", study.base / C / "elsewhere"
        for go in (lambda: shutil.rmtree(out), lambda: out.rename(elsewhere)):
            self.end_all()
            study.fresh()
            self.start_all(study)
            self.await_rounds(study, C, 20)
            go()
            before = len(study.charges(C))
            self.assertEqual(self.exit_of(study, C), 1, study.logs())
            self.assertLessEqual(len(study.charges(C)), before + 1)
            for text in ("out: a file of this run was removed or replaced while it was under way", "nothing further was charged or released", "what was spent stays spent"):
                self.assertIn(text, study.log(C))
            self.assertFalse(out.exists(), "it wrote into a folder that is not its own")
        again = run(*study.command(C), cwd=study.base / C, check=False)
        self.assertIn("what it was computed from is not in this folder", again.stderr)
        out.mkdir()  # another one, empty, in its place
        self.assertIn("what it was computed from is not in this folder", run(*study.command(C), cwd=study.base / C, check=False).stderr)
        out.rmdir()
        elsewhere.rename(out)
        self.start(study, C)
        self.await_rounds(study, C, before + 20)  # with its folder back it goes on

    def test_a_ledger_that_is_replaced_is_noticed_before_more_is_spent(self):
        study = Study(self.dir / "study", rounds=2000)
        self.start_all(study)
        self.await_rounds(study, C, 20)
        ledger, copy = study.base / C / "my.ledger", study.base / C / "copy"
        shutil.copy(ledger, copy)
        os.replace(copy, ledger)
        self.assertEqual(self.exit_of(study, C), 1, study.logs())
        self.assertIn("a file of this run was removed or replaced while it was under way; got", study.log(C))
        self.assertIn("my.ledger", study.log(C).split("removed or replaced")[1])

    def test_a_completed_run_verifies_its_own_record_and_says_how_others_can(self):
        study = Study(self.dir / "study", rounds=3)
        for name in study.all:
            with open(study.base / name / "log", "a") as log, open(study.base / name / "said", "w") as said:
                command = [w for w in study.command(name) if w not in ("--json", "--quiet")]
                self.processes[name] = subprocess.Popen([PARLEY, *command], cwd=study.base / name, stdout=said, stderr=log)
        for name in study.all:
            self.assertEqual(self.exit_of(study, name), 0, study.logs())
            said = (study.base / name / "said").read_text()
            self.assertIn("Verified:  this record holds by itself", said)
            self.assertRegex(said, r"To verify: parley verify \S*out OTHER-FOLDERS --study \S*study.toml")

    def leaves_no_core_dump(self, command, folder, ready):
        """Killed by a signal that dumps, once its log says that it is at work."""
        file = folder / "log"
        unlimited = lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
        with open(file, "a") as log:
            process = subprocess.Popen([PARLEY, *map(str, command)], cwd=folder, stdout=log, stderr=log, preexec_fn=unlimited)
        try:
            end = time.monotonic() + PATIENCE
            while ready not in file.read_text():
                self.assertIsNone(process.poll(), file.read_text())
                self.assertLess(time.monotonic(), end)
                time.sleep(0.005)
            limits = pathlib.Path(f"/proc/{process.pid}/limits").read_text()
            self.assertRegex(limits, r"(?m)^Max core file size +0 +0 ")
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGQUIT)
                _, status = os.waitpid(process.pid, 0)
                process.returncode = status
        self.assertTrue(os.WIFSIGNALED(status))
        self.assertFalse(os.WCOREDUMP(status))

    def test_a_process_with_a_key_leaves_no_core_dump(self):
        if SHORT:
            self.skipTest("trees with a sanitizer leave it out")
        study = Study(self.dir / "study", rounds=4)
        self.leaves_no_core_dump(study.command(A), study.base / A, "0 of 2 peers answer")

    def test_a_process_with_secret_noise_or_a_ledger_s_key_leaves_no_core_dump(self):
        if SHORT:
            self.skipTest("trees with a sanitizer leave it out")
        rows, pp = ("--rows", 3000, "--rounds", 100000), ("--algorithm", "pp")
        ledger = ("--ledger", "my.ledger", "--dataset", "d")
        run("ledger", "cap", "my.ledger", "--dataset", "d", "--epsilon", "unlimited", cwd=self.dir)
        for what, ready, command in (("secret noise", "round ", ("train", *pp, *rows, "--epsilon", 1, "--out", "one")),
                                     ("a ledger's key", "round ", ("train", *pp, *rows, "--epsilon", 1, *ledger, "--out", "two")),
                                     ("compare", "run 2 of 5", ("compare", "--algorithms", "pp", "--rows", 1000, "--rounds", 2000, "--epsilon", 1, "--out", "three"))):
            with self.subTest(what):
                (self.dir / "log").write_text("")
                self.leaves_no_core_dump(command, self.dir, ready)

    # --- exit codes ---

    def test_the_codes_are_those_of_the_help_and_of_the_page(self):
        said = run("join", "--help", cwd=self.dir).stdout
        help_ = re.findall(r"(?m)^  (\d)  (\S.*?)  +(\S.*)$", said[said.index("Exit codes:"):])
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs/operate/exit-codes.md").read_text()
        self.assertEqual(help_, re.findall(r"(?m)^\| (\d) \| (.*?) \| (.*) \|$", page))
        self.assertEqual([int(row[0]) for row in help_], list(range(7)))

    def test_a_run_that_was_complete_before_says_so_by_its_code(self):
        study = Study(self.dir / "study", rounds=4, deadline=0.2)
        self.start_all(study)
        self.assert_completed(study)
        before = study.out(A, "model.json").read_bytes()
        self.start(study, A)
        (code, result), = self.results(study, [A]).values()
        self.assertEqual((code, result["outcome"]), (6, "completed"), study.logs())
        self.assertEqual(study.out(A, "model.json").read_bytes(), before)
        for line in study.log(A).splitlines():
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (info|warning|error)( hospital_[abc])?: \S")
        self.assertRegex(study.log(A), r"(?m)Z info: round +\d+/4  ")
        self.assertRegex(study.log(A), r"Z info: study ([0-9a-f]{4} ){15}[0-9a-f]{4}\n")

    # --- signals ---

    def test_a_terminal_that_hangs_up_is_an_interruption(self):
        study = Study(self.dir / "study", rounds=2000, deadline=5)  # who leaves says so for two deadlines
        self.start_all(study)
        self.await_rounds(study, C, 10)
        for _ in range(2):  # from the system and from the shell
            self.processes[C].send_signal(signal.SIGHUP)
        (code, result), = self.results(study, [C]).values()
        self.assertEqual((code, result["outcome"]), (4, "interrupted"), study.logs())
        for name in (A, B):
            study.await_log(name, f"Z warning {C}: {C} was interrupted by its owner")
        self.start(study, C, prefix=["nohup"])
        self.await_rounds(study, C, study.rounds_of(C) + 10)
        self.processes[C].send_signal(signal.SIGHUP)  # ignored
        self.await_rounds(study, C, study.rounds_of(C) + 10)
        self.processes[C].send_signal(signal.SIGTERM)
        (code, result), = self.results(study, [C]).values()
        self.assertEqual((code, result["outcome"]), (4, "interrupted"), study.logs())

    def test_nobody_has_to_listen_to_its_output(self):
        study = Study(self.dir / "study", rounds=40)
        pipe, other = os.pipe(), os.pipe()
        for end in (pipe[0], other[0]):
            os.close(end)  # whoever read it has left
        processes = [subprocess.Popen([PARLEY, *study.command(A)], cwd=study.base / A, stdout=pipe[1], stderr=other[1]),
                     subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", PARLEY, *study.command(B)], cwd=study.base / B),
                     study.start(C)]
        for end in (pipe[1], other[1]):
            os.close(end)
        self.processes = dict(zip(study.all, processes))
        self.assertEqual([self.exit_of(study, n) for n in study.all], [0, 0, 0], study.logs())
        self.assert_same_as_simulation(study)
        self.assert_spend(study)

    def test_a_limit_on_file_sizes_is_an_error_in_words(self):
        study = Study(self.dir / "study", rounds=100)
        self.start_all(study, [A, B])
        self.start(study, C, prefix=["bash", "-c", 'ulimit -f 200; exec "$@"', "bash"])
        self.assertEqual(self.exit_of(study, C), 1, study.logs())
        self.assertRegex(study.log(C), r"(?m)Z error: \S*(transcript: cannot write: File too large \(beyond the limit on file sizes|my\.ledger\S*: .*)")
        self.start(study, C)
        self.assert_completed(study)
        self.assert_same_as_simulation(study)
        self.assert_spend(study)

    def test_too_little_memory_is_an_error_in_words(self):
        if SHORT:
            self.skipTest("a sanitizer reserves more than there is")
        study = Study(self.dir / "study", rounds=4)
        rows = (study.base / A / "mine.csv").read_text().splitlines()
        (study.base / A / "many.csv").write_text("\n".join([rows[0]] + rows[1:] * 8000) + "\n")
        little = ["bash", "-c", 'ulimit -v 100000; exec "$@"', "bash"]
        result = subprocess.run([*little, PARLEY, *("many.csv" if w == "mine.csv" else w for w in study.command(A))], cwd=study.base / A, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("parley: there is not enough memory for this\n  what to do: ", result.stderr)

    # --- where it listens ---

    def test_it_listens_at_the_address_in_the_study_and_at_no_other(self):
        study = Study(self.dir / "study", rounds=4, hosts={A: "127.0.0.2"})
        port = int(study.addresses[A].split(":")[1])
        self.start(study, A)
        study.await_log(A, "0 of 2 peers answer")
        for host, there in (("127.0.0.2", True), ("127.0.0.1", False)):
            with socket.socket() as s:
                self.assertEqual(s.connect_ex((host, port)) == 0, there, host)
        self.start_all(study, [B, C])
        self.assert_completed(study)

    def test_an_address_of_another_machine_is_refused_with_what_to_do(self):
        study = Study(self.dir / "study", rounds=4)
        port = study.addresses[A].split(":")[1]
        file = study.base / A / "study.toml"
        file.write_text(file.read_text().replace(study.addresses[A], f"192.0.2.1:{port}"))
        result = run(*study.command(A), cwd=study.base / A, check=False)
        self.assertEqual(result.returncode, 1)
        for text in (f"192.0.2.1:{port}: cannot listen for peers: the study names this address for {A}, and it is not one of this machine's",
                     f"what to do: behind NAT, or where the name leads elsewhere, --listen 0.0.0.0:{port} listens at all addresses of this machine"):
            self.assertIn(text, result.stderr)
        self.start(study, A, "--listen", f"0.0.0.0:{port}")
        self.start_all(study, [B, C])
        self.assert_completed(study)


if __name__ == "__main__":
    unittest.main()
