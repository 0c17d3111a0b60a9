"""Parties that end: nothing of theirs runs on after what it uses is gone. A study of five, again and again; most of these faults show in
one exit of hundreds, under a sanitizer (make sanitize, make tsan). $PARLEY_EXITS says how many exits; $PARLEY_JOIN which program joins, so
that only that one need be built with a sanitizer. Half of the runs end in a way that keeps the couriers busy to the last moment."""
from mesh_case import *

PARTIES = 5
EXITS = int(os.environ.get("PARLEY_EXITS", 2000 if FULL else 20))
JOIN = os.environ.get("PARLEY_JOIN", PARLEY)


class Exits(Case):
    def setUp(self):
        super().setUp()
        self.study = Study(self.dir / "study", parties=PARTIES, rounds=4, deadline=1.0, wait=600.0, graph="complete")
        self.study.keep()
        self.exits = 0

    def begin(self):
        self.study.fresh()
        for name in self.study.all:
            self.start(self.study, name, program=JOIN)

    def end(self, codes):
        """Everybody ends by itself, with one of these codes."""
        for name, (code, _) in self.results(self.study).items():
            self.assertIn(code, codes, f"after {self.exits} exits, {name}: {code}\n" + self.study.logs())
            self.exits += 1

    def completed(self, draw):
        self.begin()
        self.end((0,))

    def called_while_it_ends(self, draw):
        """Others go on calling: a party that is stopped for a while asks again for what everybody else has finished with."""
        self.begin()
        victim, lines = draw.choice(self.study.all), draw.randint(2, 5)
        self.study.until(lambda: self.study.rounds_of(victim) >= lines, f"{victim} is at work")
        self.processes[victim].send_signal(signal.SIGSTOP)
        time.sleep(draw.uniform(0, 0.3))
        self.processes[victim].send_signal(signal.SIGCONT)
        self.end((0,))

    def interrupted(self, draw):
        """Ctrl-C for all at once, at any time: calls are under way in both directions."""
        self.begin()
        first, lines = draw.choice(self.study.all), draw.randint(2, 5)  # with round 1 it has heard from everybody
        self.study.until(lambda: self.study.rounds_of(first) >= lines, f"{first} is at work")
        for process in self.processes.values():
            process.send_signal(signal.SIGINT)
        self.end((0, 4))

    def never_begun(self, draw):
        """A port that is taken: the courier is made and cannot open."""
        self.study.fresh()
        name = draw.choice(self.study.all)
        host, port = self.study.addresses[name].split(":")
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # closed connections of the run before
            s.bind((host, int(port)))
            s.listen()
            self.start(self.study, name, program=JOIN)
            self.assertEqual(self.exit_of(self.study, name), 1, self.study.logs())
        self.assertIn("cannot listen for peers", self.study.log(name))
        self.exits += 1

    def test_no_exit_touches_what_is_gone(self):
        draw, runs = random.Random(os.environ.get("PARLEY_TEST_SEED", "1")), 0
        while self.exits < EXITS:
            kind = (self.completed, self.called_while_it_ends, self.completed, self.interrupted)[runs % 4]
            if runs % 20 == 0:
                self.never_begun(draw)
            kind(draw)
            runs += 1
            if runs % 20 == 0:
                print(f"{self.exits} exits so far", file=sys.stderr, flush=True)
        print(f"{self.exits} exits of parties in {runs} runs", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
