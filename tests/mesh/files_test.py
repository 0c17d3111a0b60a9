"""Files that others may have made: pipes, devices, folders and absurd sizes, given to verify, report, predict and the rest, or placed in
a record. Each ends at once and in words; nothing waits, nothing fills the memory."""
import resource
import shutil

from mesh_case import *

A = "hospital_a"
HUGE = 10 << 30  # a hole in a file: nothing is on the disk


def hole(path, text=b""):
    with open(path, "wb") as file:
        file.write(text)
        file.truncate(HUGE)


KINDS = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a directory": lambda path: path.mkdir(),
    "10 GB of nothing": hole,
    "10 GB in one line": lambda path: hole(path, b'{"format": "parley-party-1", "round": 0'),
    "JSON 100,000 deep": lambda path: path.write_text('{"format":"parley-party-1","study":' + "[" * 100000 + "]" * 100000 + "}\n"),
    "JSON of too many values": lambda path: path.write_bytes(b'{"format":"parley-model-1","x":[' + b"[]," * 10_000_000 + b"[]]}\n"),
}
RECORD = ("run.json", "transcript", "rounds.jsonl", "released.f64", "statement.json", "statement.txt", "model.json", "own_model.json")


class Files(Case):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory(dir=MEMORY, prefix="parley-mesh-")
        cls.addClassCleanup(cls.shared.cleanup)
        base = pathlib.Path(cls.shared.name)
        study = Study(base / "study", rounds=4)
        for process in [study.start(name) for name in study.all]:
            process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, study.logs()
        cls.home, cls.odd = study.base / A, {kind: base / kind.replace(" ", "-").replace(",", "") for kind in KINDS}
        for kind, make in KINDS.items():
            make(cls.odd[kind])

    def tried(self, *command):
        """What it says; it ends by itself, with less memory than the files would fill."""
        def limited():
            if not SHORT:  # a sanitizer reserves more than there is
                resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        result = subprocess.run([PARLEY, *map(str, command)], cwd=self.home, capture_output=True, text=True, errors="replace", timeout=PATIENCE, preexec_fn=limited)
        self.assertIn(result.returncode, (0, 1), f"{command}\n{result.stderr[-2000:]}")
        self.assertNotIn("Please report", result.stderr)
        return result.returncode, result.stdout + result.stderr

    def refused(self, says, *command):
        code, said = self.tried(*command)
        self.assertEqual(code, 1, f"{command}\n{said[-2000:]}")
        for text in says:
            self.assertIn(text, said, command)

    def test_in_the_place_of_a_file_each_is_refused_in_words(self):
        for kind, odd in self.odd.items():
            with self.subTest(kind):
                says = [str(odd)] + ([f"is {kind}; allowed: a regular file", "what to do: "] if kind.startswith("a ") else [])
                self.refused(says, "verify", "out", "--study", odd)
                self.refused(says, "predict", "--model", odd, "--data", "mine.csv")
                self.refused(says, "predict", "--model", "out/model.json", "--data", odd)
                self.refused(says, "keys", "show", odd)
                self.refused([str(odd)], "verify", odd, "--study", "study.toml")
                self.refused([str(odd)], "report", "out", "--out", odd)
                self.refused([str(odd)], "verify", "out", "--study", "study.toml", "--ledger", odd)
                if kind.startswith("a "):
                    self.refused([str(odd)], "doctor", "study.toml", "--as", A, "--data", odd, "--ledger", "my.ledger")
                    self.refused(says, "join", "study.toml", "--as", A, "--data", "mine.csv", "--ledger", "my.ledger", "--key", odd)

    def test_in_a_record_each_is_a_finding_and_a_report_says_what_it_could_not_read(self):
        for kind, odd in self.odd.items():
            for file in RECORD:
                if "JSON" in kind and "json" not in file:
                    continue
                with self.subTest(kind + " as " + file):
                    copy = self.dir / "copy"
                    shutil.copytree(self.home / "out", copy)
                    (copy / file).unlink()
                    (copy / file).symlink_to(odd)
                    self.refused([file.split(".")[0] if file != "run.json" else "copy"], "verify", copy, "--study", "study.toml")
                    code, said = self.tried("report", copy, "--out", self.dir / "report.html")
                    self.assertEqual(code, 0, said)
                    if file == "run.json":
                        self.assertIn("run.json cannot be read", (self.dir / "report.html").read_text())
                    shutil.rmtree(copy)

    def test_predictions_of_a_long_file_are_those_of_its_parts(self):
        """Rows are read and predicted 50,000 at a time."""
        lines = (self.home / "mine.csv").read_text().splitlines()
        one = run("predict", "--model", "out/model.json", "--data", "mine.csv", cwd=self.home).stdout.splitlines()
        (self.home / "long.csv").write_text("\n".join([lines[0]] + lines[1:] * 501) + "\n")
        run("predict", "--model", "out/model.json", "--data", "long.csv", "--out", "long.out", cwd=self.home)
        found = (self.home / "long.out").read_text().splitlines()
        said = [line.split(",", 1)[1] for line in one[1:]]
        self.assertEqual(found, [one[0]] + [f"{i + 1},{said[i % 100]}" for i in range(50100)])
        (self.home / "long.csv").write_text("\n".join([lines[0]] + lines[1:] * 501 + ["not,a,row"]) + "\n")
        self.refused(["long.csv:50102"], "predict", "--model", "out/model.json", "--data", "long.csv", "--out", "broken.out")
        self.assertEqual([f.name for f in self.home.glob("broken.out*")], [])


if __name__ == "__main__":
    unittest.main()
