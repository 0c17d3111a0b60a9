"""`train --resume` and the ledger beyond kills: rollback, a second process, full disks, mistakes, caps met exactly, silent nodes
(promises R4, R7, R9)."""
import os
import json
import fcntl
import resource
import signal
import subprocess
import time

from train_case import *


class Resume(Case):
    def train(self, paid=True, drop=(), **changed):
        """A small run; an option given twice is an error, so changes go into the same set."""
        options = dict(algorithm="pvp", rows=120, nodes=3, loss_weight=20, threads=1, epsilon=2, delta=1e-6, rounds=4, out="run",
                       **(dict(ledger="l.db", dataset="ward") if paid else {}))
        options.update(changed)
        given = [w for k, v in options.items() if k not in drop for w in ("--" + k.replace("_", "-"), v)]
        return ("train", "--quiet", *given)

    def resumed(self, **options):
        return (*self.train(**options), "--resume", "true")

    def kill(self, place, nth, **options):
        """Dies before the nth time it comes to that place."""
        self.make_ledger("counted.db")
        self.ok(*self.train(**{**options, "out": "counted", "ledger": "counted.db"}), program=FAILPOINTS, PARLEY_EVENTS=self.dir / "events")
        events = (self.dir / "events").read_text().replace("counted.db", "l.db").splitlines()
        n = [i for i, name in enumerate(events, start=1) if name == place][nth - 1]
        for name in ("counted", "counted.db", "counted.db.key", "counted.db.lock", "counted.db.newest-head", "events"):
            path = self.dir / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.assertEqual(self.run_program(*self.train(**options), program=FAILPOINTS, PARLEY_KILL=n).returncode, KILLED)

    def unfinished(self, place="before the commit", nth=5):
        """A run of which three rounds are charged and recorded (the first commit starts the run)."""
        self.make_ledger()
        self.kill(place, nth)


class Rollback(Resume):
    def test_an_older_copy_is_noticed_by_resume_and_by_verify(self):
        self.unfinished(nth=4)
        self.ok("ledger", "show", "l.db")  # folds l.db-wal into it
        older = (self.dir / "l.db").read_bytes()
        shutil.copy(self.dir / "l.db.newest-head", self.dir / "old.newest-head")
        self.assertEqual(self.run_program(*self.resumed(), program=FAILPOINTS, PARLEY_KILL=60).returncode, KILLED)
        self.ok("ledger", "show", "l.db")
        rounds = len(self.released("run"))
        self.assertGreater(rounds, 2)
        newest = (self.dir / "l.db").read_bytes()

        (self.dir / "l.db").write_bytes(older)  # by its memory
        for command in (("ledger", "verify", "l.db", "run"), self.resumed(), self.train(out="other")):
            self.fails(*command, says=["your ledger is older than what you have released"])
        newest_memory = (self.dir / "l.db.newest-head").read_bytes()
        (self.dir / "old.newest-head").replace(self.dir / "l.db.newest-head")  # put back together with it: by the record
        says = ["run, node 0", f"{rounds} rounds were released, 2 are in the ledger", "your ledger is older than what you have released"]
        self.fails("ledger", "verify", "l.db", "run", says=says, writes=True)
        self.fails(*self.resumed(), says=says, writes=True)
        self.assertEqual(len(self.entries()), 6)  # nothing was charged

        (self.dir / "l.db-wal").unlink(missing_ok=True)
        (self.dir / "l.db").write_bytes(newest)
        (self.dir / "l.db.newest-head").write_bytes(newest_memory)
        self.ok(*self.resumed())
        self.assertIn("1 record (5 rounds) in the ledger, bit for bit", self.ok("ledger", "verify", "l.db", "run"))

    def test_a_ledger_that_does_not_know_the_run(self):
        self.unfinished()
        for path in self.dir.glob("l.db*"):
            path.unlink()
        self.make_ledger()
        before = self.entries(kind="run")
        self.fails(*self.resumed(), writes=True,
                   says=["the ledger does not know run", "your ledger is older than what you have released"])
        self.assertEqual(self.entries(kind="run"), before)

    def test_a_record_with_another_value_than_the_ledger_paid_for(self):
        self.unfinished()
        file = self.dir / "run" / "released.f64"
        data = bytearray(file.read_bytes())
        data[-3] ^= 1
        file.write_bytes(data)
        self.fails(*self.resumed(), says=["the record holds another value than the ledger paid for"], writes=True)

    def test_a_ledger_ahead_of_the_record_is_gone_on_with(self):
        self.unfinished("write released.f64", 3)
        stored = self.entries()
        self.assertEqual((len(self.released("run")), len(stored)), (2, 9))  # a round more, of three nodes
        self.ok(*self.resumed())
        self.assertEqual(self.entries()[:9], stored)
        self.assert_released_was_paid("run")
        self.assertEqual([v.hex().upper() for v in self.released("run")[2]], [e[5] for e in stored[6:]])
        self.assertAlmostEqual(self.spend()[0][1][1], 2, 4)

    def test_a_record_that_lost_rounds_is_filled_from_the_ledger(self):
        """As after a power cut: the record is not synced, the ledger is."""
        self.unfinished()
        lines = (self.dir / "run" / "rounds.jsonl").read_bytes().splitlines(keepends=True)
        values = (self.dir / "run" / "released.f64").read_bytes()
        for kept, torn in ((1, 0), (0, 0), (2, 7), (0, -1)):
            with self.subTest((kept, torn)):
                again = self.dir / "again"
                shutil.copytree(self.dir, again, dirs_exist_ok=False, ignore=shutil.ignore_patterns("again"))
                # the last line is whole but for its end: not a round
                (again / "run" / "rounds.jsonl").write_bytes(b"".join(lines[:kept]) + lines[kept][:torn])
                self.dir, home = again, self.dir
                try:
                    self.ok(*self.resumed())
                    self.assert_released_was_paid("run")
                    record = (again / "run" / "rounds.jsonl").read_bytes().splitlines(keepends=True)
                    self.assertEqual([json.loads(line)["round"] for line in record], list(range(5)))
                    self.assertEqual(record[:3], lines)
                    self.assertEqual((again / "run" / "released.f64").read_bytes()[:len(values)], values)
                finally:
                    self.dir = home
                    shutil.rmtree(again)


class Doors(Resume):
    def test_a_second_process_is_refused_and_told_who_holds_the_ledger(self):
        self.make_ledger()
        first = subprocess.Popen([PARLEY, *map(str, self.train(rounds=100000))], cwd=self.dir, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 900
            while not (self.dir / "run" / "rounds.jsonl").exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            for command in (self.train(out="second"), self.resumed(rounds=100000), ("ledger", "show", "l.db")):
                self.fails(*command, says=[f"in use by process {first.pid}", "l.db"], writes=True)
            self.assertFalse((self.dir / "second").exists())
            first.send_signal(signal.SIGINT)
            self.assertEqual(first.wait(900), 130)
        finally:
            first.kill()
            first.wait()
        self.assertEqual(self.outcome("run"), "interrupted")
        self.assertIn("ε is that of the rounds so far", self.ok("ledger", "show", "l.db"))

    def test_a_full_disk_stops_before_anything_leaves(self):
        self.make_ledger()
        self.keep_ledger()
        self.ok(*self.train(), program=FAILPOINTS, PARLEY_EVENTS=self.dir / "events")
        reference, events = self.spend(), (self.dir / "events").read_text().splitlines()
        writes = [n for n, name in enumerate(events, start=1) if name.startswith("write")]
        ends = set()
        for n in writes[::1 if FULL else 9]:
            name = events[n - 1]
            with self.subTest(f"{n}: {name}"):
                self.fresh()
                result = self.run_program(*self.train(), program=FAILPOINTS, PARLEY_FULL=n)
                if result.returncode == 0:  # met by the closing alone: folding l.db-wal into l.db can wait
                    ends.add("done")
                    self.assertGreater(n, max(i for i, e in enumerate(events) if e == "rename model.json"))
                else:
                    self.assertEqual(result.returncode, 1, result.stderr)
                    self.assertRegex(result.stderr, "l.db|run|model")
                    ends.add("stopped")
                    self.assert_released_was_paid("run")
                    before = self.entries()
                    if self.outcome("run") is None:
                        self.assertEqual(before, [])
                        continue
                    if self.outcome("run") != "completed":
                        self.ok(*self.resumed())
                    self.assertEqual(self.entries()[:len(before)], before)
                self.assertEqual(self.spend(), reference)
                self.assert_released_was_paid("run")
        self.assertIn("stopped", ends)

    def test_a_file_size_limit_of_the_system(self):
        self.make_ledger()
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (48 * 1024, 48 * 1024))
        result = subprocess.run([PARLEY, *map(str, self.train(rounds=200))], cwd=self.dir, capture_output=True, text=True,
                                preexec_fn=limit)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write the ledger", result.stderr)
        self.assertIn("nothing was released", result.stderr)
        self.assert_released_was_paid("run")
        self.ok(*self.resumed(rounds=200))
        self.assertIn("bit for bit", self.ok("ledger", "verify", "l.db", "run"))


class Interrupted(Resume):
    def test_ctrl_c_and_resume_end_as_one_run(self):
        self.make_ledger()
        options = dict(rounds=600, seed=5, dataset="open", metrics="last")
        self.ok(*self.train(**options, out="whole"))
        for _ in range(2):  # the second one interrupts a resumed run
            command = self.resumed(**options) if self.outcome("run") else self.train(**options)
            process = subprocess.Popen([PARLEY, *map(str, command)], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            lines, deadline = self.dir / "run" / "rounds.jsonl", time.monotonic() + 900
            least = (lines.stat().st_size if lines.exists() else 0) + 500
            while (not lines.exists() or lines.stat().st_size < least) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            self.assertIn(process.wait(900), (0, 130))
        if self.outcome("run") != "completed":
            self.assertEqual(self.outcome("run"), "interrupted")
            self.ok(*self.resumed(**options))
        for name in ("model.json", "released.f64"):
            self.assertEqual((self.dir / "run" / name).read_bytes(), (self.dir / "whole" / name).read_bytes(), name)
        self.assertIn("2 records (1202 rounds) in the ledger, bit for bit", self.ok("ledger", "verify", "l.db", "run", "whole"))


class Mistakes(Resume):
    def test_a_folder_with_an_unfinished_run_says_so_and_offers_resume(self):
        self.unfinished()
        self.fails(*self.train(), says=["run: the output folder holds an unfinished run", "with --resume"], writes=True)
        self.assertEqual(len(self.entries()), 9)
        self.ok(*self.resumed())
        self.assertNotIn("--resume", self.fails(*self.train(paid=False), says=["not empty"]))

    def test_what_cannot_be_resumed(self):
        self.unfinished()
        self.fails(*self.resumed(paid=False, drop=("out",)), says=["--resume continues one run"])
        self.fails(*self.resumed(paid=False, out="none"), says=["none: there is no run to resume", "released nothing"])
        (self.dir / "none").mkdir()
        self.fails(*self.resumed(paid=False, out="none"), says=["none: there is no run to resume"])
        self.fails(*self.resumed(paid=False), says=["charged to a ledger, and none was given"])
        for name, value in (("rounds", 5), ("epsilon", 1), ("seed", 3), ("split-seed", 9), ("dataset", "open"), ("algorithm", "mr-admm")):
            with self.subTest(name):
                self.fails(*self.resumed(**{name.replace("-", "_"): value}), says=[f"another --{name}", "repeat the options"], writes=True)
        self.assertEqual(len(self.entries()), 9)
        record = self.dir / "run" / "run.json"
        whole = record.read_text()
        record.write_text(json.dumps(json.loads(whole) | {"outcome": "uncertified"}))
        self.fails(*self.resumed(), says=["be certified", "would choose the noise"], writes=True)
        record.write_text(whole)
        folder = os.open(self.dir / "run", os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)  # as the process that works on it does
        self.fails(*self.resumed(), says=["another process is working on this run"], writes=True)
        os.close(folder)
        self.ok(*self.resumed())
        self.fails(*self.resumed(), says=["this run is complete", "run/model.json"], writes=True)

    def test_a_run_that_began_before_an_option_was_known_goes_on_with_its_default(self):
        """Class weights are younger than some records: there each record counts once, which is their default."""
        self.ok(*self.train(paid=False, seed=5, out="whole"))
        self.assertEqual(self.run_program(*self.train(paid=False, seed=5), program=FAILPOINTS, PARLEY_KILL=6).returncode, KILLED)
        path = self.dir / "run" / "run.json"
        record = json.loads(path.read_text())
        for younger in ("class-weight", "class-share"):
            del record["options"][younger]
        path.write_text(json.dumps(record))
        self.fails(*self.resumed(paid=False, seed=5, class_weight="1,2"), says=["another --class-weight", "none", "repeat the options"], writes=True)
        self.ok(*self.resumed(paid=False, seed=5))
        for name in ("model.json", "released.f64"):
            self.assertEqual((self.dir / "run" / name).read_bytes(), (self.dir / "whole" / name).read_bytes(), name)
        del record["options"]["rounds"]  # an option that always was: nothing is guessed
        path.write_text(json.dumps(record))
        self.fails(*self.resumed(paid=False, seed=5), says=["another --rounds"], writes=True)

    def test_a_run_without_a_ledger(self):
        self.ok(*self.train(paid=False, seed=5, out="whole"))
        events = self.dir / "events"
        self.ok(*self.train(paid=False, seed=5, out="counted"), program=FAILPOINTS, PARLEY_EVENTS=events)
        for n in range(1, 1 + len(events.read_text().splitlines())):
            for how in ("PARLEY_KILL", "PARLEY_TORN"):
                with self.subTest(f"{how}={n}"):
                    shutil.rmtree(self.dir / "run", ignore_errors=True)
                    self.assertEqual(self.run_program(*self.train(paid=False, seed=5), program=FAILPOINTS, **{how: n}).returncode, KILLED)
                    if self.outcome("run") in (None, "completed"):
                        continue
                    self.ok(*self.resumed(paid=False, seed=5))
                    for name in ("model.json", "released.f64", "rounds.jsonl"):
                        self.assertEqual((self.dir / "run" / name).read_bytes(), (self.dir / "whole" / name).read_bytes(), name)
        self.make_ledger()
        shutil.rmtree(self.dir / "run")
        self.run_program(*self.train(paid=False, seed=5), program=FAILPOINTS, PARLEY_KILL=6)
        self.fails(*self.resumed(seed=5, dataset="open"), says=["started without a ledger"])
        self.assertEqual(self.entries(kind="run"), [])

    def test_another_schema(self):
        """What a cell means is part of the run, with a ledger and without one."""
        (self.dir / "a.csv").write_text("age,ill\n" + "".join(f"{n * 37 % 90},{'yes' if n * 37 % 90 > 40 else 'no'}\n" for n in range(120)))
        first = '[label]\ncolumn = "ill"\npositive = ["yes"]\nnegative = ["no"]\n[[columns]]\nname = "age"\nkind = "numeric"\nbounds = [0, 100]\n'
        swapped = first.replace("yes", "?").replace("no", "yes").replace("?", "no")
        schema, file = self.dir / "schema.toml", self.dir / "run/run.json"
        self.make_ledger()
        for paid, kill in ((True, 50), (False, 6)):
            with self.subTest(paid):
                shutil.rmtree(self.dir / "run", ignore_errors=True)
                schema.write_text(first)
                given = dict(paid=paid, drop=("rows",), data="a.csv", schema="schema.toml", epsilon=1)
                self.assertEqual(self.run_program(*self.train(**given), program=FAILPOINTS, PARLEY_KILL=kill).returncode, KILLED)
                self.assertEqual(self.outcome("run"), "running")
                for other in (swapped, first.replace("100", "200")):
                    schema.write_text(other)
                    self.fails(*self.resumed(**given), says=["the run that is resumed had another schema", "run/run.json", "put the schema back"], writes=True)
                schema.write_text("# the same, with a comment\n" + first)
                run = json.loads(file.read_text())
                self.assertEqual(len(run["schema_digest"]), 64)
                run.pop("schema_digest")
                file.write_text(json.dumps(run))  # as an earlier version left it
                old = self.run_program(*[w for w in self.resumed(**given) if w != "--quiet"])
                self.assertEqual(old.returncode, 0, old.stderr)
                self.assertIn("that it is the same one was not checked", old.stderr)

    def test_other_data(self):
        def rows(file, count, shift=0):
            (self.dir / file).write_text("x,y,ill\n" + "".join(f"{(i * 37 + shift) % 100},{i % 7},{'yes' if i % 3 else 'no'}\n" for i in range(count)))
        (self.dir / "schema.toml").write_text('[label]\ncolumn = "ill"\npositive = ["yes"]\nnegative = ["no"]\n'
                                              '[[columns]]\nname = "x"\nkind = "numeric"\nbounds = [0, 100]\n'
                                              '[[columns]]\nname = "y"\nkind = "numeric"\nbounds = [0, 7]\n')
        rows("a.csv", 80), rows("b.csv", 80, 5)
        given = dict(drop=("rows", "nodes"), data="a.csv,b.csv", schema="schema.toml")
        self.make_ledger()
        self.ok("ledger", "cap", "l.db", "--dataset", "ward", "--epsilon", 10, "--delta", 1e-6)
        self.assertEqual(self.run_program(*self.train(**given), program=FAILPOINTS, PARLEY_KILL=50).returncode, KILLED)
        charged = len(self.entries())
        rows("b.csv", 90, 5)
        self.fails(*self.resumed(**given), says=["had other data", "node 1 has another number of records"], writes=True)
        self.assertEqual(len(self.entries()), charged)
        rows("b.csv", 80, 6)
        loud = [w for w in self.resumed(**given) if w != "--quiet"]
        result = self.run_program(*loud)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("other rows than this run was started with: the spend is kept", result.stderr)
        result = self.run_program(*[w for w in self.train(**given, out="other") if w != "--quiet"])
        self.assertIn("same name, other rows: the spend is kept", result.stderr)


class SharedNoise(Resume):
    """Noise that cancels, of a simulation that was killed: its keys were in memory alone, so what follows has new ones."""
    RUN = dict(algorithm="newton", nodes=4, colluders=1, dataset="open", epsilon=0.05, rounds=5)

    def assert_cancels(self, values):
        """The noise of one node is about ten times that of the sum of all."""
        rms = lambda numbers: (sum(x * x for x in numbers) / len(numbers)) ** 0.5
        for t, nodes in enumerate(values[1:-1], start=1):  # the start and the model have none
            numbers = [struct.unpack(f"{len(v) // 8}d", v) for v in nodes]
            self.assertLess(rms([sum(column) for column in zip(*numbers)]), 0.3 * rms(numbers[0]), f"round {t}")

    def test_a_killed_run_goes_on_and_its_noise_cancels_in_every_round(self):
        for place, nth in (("before the commit", 4), ("after the commit", 4), ("write released.f64", 5), ("before the commit", 7)):
            with self.subTest((place, nth)):
                for path in self.dir.iterdir():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                self.make_ledger()
                self.kill(place, nth, **self.RUN)
                before, paid = self.released("run"), {(e[2], e[3]): e[5] for e in self.entries()}
                self.assertIn(len(before), range(1, 6))
                self.ok(*self.resumed(**self.RUN))
                values = self.released("run")
                self.assertEqual((len(values), values[:len(before)]), (7, before))
                self.assertEqual({k: v for k, v in ((((e[2], e[3]), e[5])) for e in self.entries()) if k in paid}, paid)
                self.assert_cancels(values)
                self.assert_released_was_paid("run")

    def test_with_a_seed_it_ends_with_the_bits_of_a_run_that_nobody_killed(self):
        seeded = dict(self.RUN, seed=4)
        self.make_ledger()
        self.kill("before the commit", 4, **seeded)
        self.ok(*self.resumed(**seeded))
        self.ok(*self.train(paid=False, **{k: v for k, v in seeded.items() if k != "dataset"}, out="whole"))
        self.assertEqual(self.released("run"), self.released("whole"))
        self.assertEqual((self.dir / "run/model.json").read_bytes(), (self.dir / "whole/model.json").read_bytes())


class Caps(Resume):
    def test_a_run_planned_for_exactly_the_cap_is_accepted(self):
        for algorithm in ("mr-admm", "pvp", "dp-admm", "newton"):
            for rounds in (4, 50) + ((1000, 20000) if FULL else ()):
                for delta in (1e-6,) if algorithm == "newton" else (1e-6, 0):  # it has Gaussian noise only
                    with self.subTest((algorithm, rounds, delta)):
                        self.ok("ledger", "cap", "c.db", "--dataset", "w", "--epsilon", 1.7, "--delta", delta)
                        self.ok("train", "--algorithm", algorithm, *SMALL, "--rounds", rounds, "--epsilon", 1.7, "--delta", delta,
                                "--metrics", "last", "--ledger", "c.db", "--dataset", "w", "--out", "run", "--quiet")
                        spent = json.loads(self.ok("ledger", "show", "c.db", "--json"))["datasets"][0]["epsilon"]
                        self.assertLessEqual(spent, 1.7 * (1 + 1e-12))
                        self.assertGreater(spent, 1.69)
                        self.fails("train", "--algorithm", algorithm, *SMALL, "--rounds", 4, "--epsilon", 0.01, "--delta", delta,
                                   "--ledger", "c.db", "--dataset", "w", "--out", "more", says=["would exceed the cap"], writes=True)
                        shutil.rmtree(self.dir / "run")
                        for path in self.dir.glob("c.db*"):
                            path.unlink()


class Star(Resume):
    def test_the_value_of_a_silent_node_is_empty_in_the_ledger_and_comes_back_as_that(self):
        self.make_ledger()
        self.ok(*self.train(algorithm="dp-admm", rounds=3), program=FAILPOINTS, PARLEY_EVENTS=self.dir / "events")
        entries = self.entries()
        self.assertEqual({e[2] for e in entries}, {0, 1, 2, 3})
        silent = {(e[2], e[3]) for e in entries if e[5] == ""}
        self.assertTrue(silent)
        record = self.released("run")
        self.assertEqual(silent, {(node, t) for t, values in enumerate(record) for node, v in enumerate(values) if v == b""})
        for e in entries:  # the trainer holds no rows and a silent node says nothing: neither costs
            if e[2] == 3 or e[5] == "":
                self.assertEqual(json.loads(e[4])["kind"], "none")
        verified = self.ok("ledger", "verify", "l.db", "run")
        self.assertIn("chain intact", verified)
        self.assertIn(f"{len(entries)} released values intact", verified)
        shown = self.ok("ledger", "show", "l.db")
        self.assertRegex(shown, r"ward +3 \+ trainer +7 ")
        accounts = json.loads(self.ok("ledger", "show", "l.db", "--json"))["runs"][0]["accounts"]
        self.assertEqual([a["charges"] for a in accounts], [3, 3, 3, 0])
        # A forged value in the place of an empty one is noticed.
        with sqlite3.connect(self.dir / "l.db") as db:
            db.execute("DROP TRIGGER no_update")
            db.execute("UPDATE entry SET released = zeroblob(8) WHERE sequence = (SELECT min(sequence) FROM entry WHERE kind = 'charge' AND length(released) = 0)")
        db.close()
        self.fails("ledger", "verify", "l.db", says=["the stored value is damaged"], writes=True)


if __name__ == "__main__":
    unittest.main()
