"""The bad messages of promises.md, over the wire, from a hostile insider: somebody with hospital_c's real key, while its process is gone.
Each is refused with a text of its own that names peer and field; nothing that hospital_a has stored changes; with the honest hospital_c
back the run ends with the simulation's bits. A second iterate ends it, and is kept."""
import math
import struct

from mesh_case import *

A, B, C = "hospital_a", "hospital_b", "hospital_c"
ROUNDS = 120


def doubles(payload):
    return list(struct.unpack(f"<{len(payload) // 8}d", payload))


def packed(values):
    return struct.pack(f"<{len(values)}d", *values)


class Messages(Case):
    def setUp(self):
        super().setUp()
        self.study = Study(self.dir / "study", rounds=ROUNDS, deadline=3.0 if "second_iterate" in self._testMethodName else 1.0, wait=3000.0)
        self.start_all(self.study)
        self.study.until(lambda: len(self.heard()) >= 20, f"{A} has some rounds of {C}")
        self.processes[C].kill()
        self.processes[C].wait()
        self.study.await_log(A, f"{C} has not answered for")  # everything that was on its way is there
        self.last = self.heard()[-1]
        self.next = self.made(self.last.round + 1, bytes(len(self.last.payload)))  # 0 is on the grid of every round
        self.stranger = self.enter(self.insider(C))

    def enter(self, stranger):
        self.addCleanup(stranger.__exit__)
        return stranger

    def insider(self, name):
        return Stranger(self.study.addresses[A], self.study.base / name / f"{name}.key", self.study.base / name / f"{name}.pem")

    def heard(self):
        return [m for m in wire.values(self.study.out(A, "transcript"), [wire.RECEIVED]) if m.sender == C]

    def made(self, round, payload):
        """The next message that hospital_c could send."""
        return self.last._replace(round=round, payload=payload, head=wire.next_head(self.last.head, self.last.run, self.last.node, round, payload))

    def state(self):
        return self.study.out(A, "transcript").read_bytes(), self.study.charges(A), self.study.out(A, "rounds.jsonl").read_bytes()

    def is_refused(self, data, verdict, field, says, sign=True, by=None, caller=C):
        before = self.state()
        said = (by or self.stranger).send(data, sign=sign)
        self.assertEqual(said.get("verdict"), verdict, said)
        self.assertIn(f"message from {caller} refused ({verdict}): {field}: ", said["reason"])
        self.assertIn(says, said["reason"])
        self.assertEqual(self.state(), before)
        self.study.await_log(A, f"message from {caller} refused ({verdict})")

    def ends_well(self):
        self.stranger.__exit__()
        self.start(self.study, C)
        self.assert_completed(self.study)
        self.assert_same_as_simulation(self.study)
        self.assert_spend(self.study)
        self.assertGreaterEqual(self.assert_paid(self.study), 3 * ROUNDS)

    def bad(self):
        """What is sent, signed with the real key: verdict, field, a part of the sentence."""
        m, values = self.next, doubles(self.next.payload)
        size, round = len(m.payload), m.round

        def put(x):
            return self.made(round, packed([values[0], x, *values[2:]]))
        return {
            "NaN": (put(math.nan), "not_finite", "payload", "coordinate 1 is NaN"),
            "+Inf": (put(math.inf), "not_finite", "payload", "coordinate 1 is +Inf"),
            "-Inf": (put(-math.inf), "not_finite", "payload", "coordinate 1 is -Inf"),
            "beyond the bound": (put(1e6), "beyond_bound", "payload", "the public bound is"),
            "off the grid": (put(math.pi / 1e9), "off_grid", "payload", "no multiple of"),
            "too few coordinates": (self.made(round, m.payload[:-8]), "wrong_dimension", "payload", f"{size - 8} bytes, but {size} are expected"),
            "too many coordinates": (self.made(round, m.payload + bytes(8)), "wrong_dimension", "payload", f"{size + 8} bytes, but {size} are expected"),
            "a past round": (self.made(-1, m.payload), "past_round", "round", "-1, the first possible is 0"),
            "a future round": (self.made(round + 1, m.payload), "future_round", "round", f"{round + 1}, but {round} is awaited"),
            "after the last round": (self.made(ROUNDS + 1, m.payload), "future_round", "round", f"{ROUNDS + 1}, the last is {ROUNDS}"),
            "another run": (m._replace(run="f" * 32), "wrong_run", "run", f"'{'f' * 32}', but this is '{m.run}'"),
            "another configuration": (m._replace(configuration="0" * 64), "wrong_configuration", "configuration", "but here it is " + m.configuration),
            "another sender": (m._replace(sender=B), "wrong_sender", "sender", f"'{B}', but the certificate says {C}"),
            "another node": (m._replace(node=1), "wrong_sender", "sender", f"'{C}' is not node 1")}

    def test_every_bad_message_is_refused_with_its_own_text_and_changes_nothing(self):
        for what, (m, verdict, field, says) in self.bad().items():
            with self.subTest(what):
                self.is_refused(wire.signed_part(m), verdict, field, says)
        good = wire.signed_part(self.next)
        with self.subTest("unknown version"):
            self.is_refused(wire.signed_part(self.next, version=1), "unknown_version", "version", "1, but this program speaks 4")
            self.is_refused(b"GET / HTTP/1.1", "unknown_version", "version", "not a message of parley", sign=False)
        with self.subTest("oversize"):
            cap = 8192 + 17 * (len(self.next.payload) // 8)
            self.is_refused(good + bytes(cap + 1 - len(good)), "oversize", "length", f"{cap + 1} bytes, at most {cap} are read", sign=False)
            before = self.state()
            said = self.stranger.send(bytes(10 ** 6))
            self.assertFalse(said["carried"])
            self.assertRegex(said["error"], "larger than max|[Rr]eset by peer|[Ss]ocket closed|[Bb]roken pipe")  # by gRPC, or by the gate before it
            self.assertEqual(self.state(), before)
        with self.subTest("another's signature"):
            self.is_refused(good + struct.pack("<H", len(self.last.signature)) + self.last.signature, "bad_signature", "signature", f"not that of {C}", sign=False)
        replay = next(data for kind, data in wire.entries(self.study.out(A, "transcript")) if kind == wire.RECEIVED and wire.decode(data) == self.last)
        with self.subTest("replay"):
            before = self.state()
            self.assertEqual(self.stranger.send(replay)["verdict"], "duplicate")
            self.assertEqual(self.state(), before)
        with self.subTest("replay by another"):
            self.is_refused(replay, "wrong_sender", "sender", f"'{C}', but the certificate says {B}", sign=False, by=self.enter(self.insider(B)), caller=B)
        with self.subTest("truncated"):
            for size in range(0, len(replay), 1 if FULL else 37):
                self.is_refused(replay[:size], "truncated", "length", f"ends after {size} bytes, in ", sign=False)
        with self.subTest("a flipped bit"):
            before = self.state()
            for bit in range(0, 8 * len(replay), 1 if FULL else 41):
                said = self.stranger.send(replay[:bit // 8] + bytes([replay[bit // 8] ^ 1 << bit % 8]) + replay[bit // 8 + 1:])
                self.assertTrue(said["carried"] and said["verdict"] not in ("accepted", "duplicate"), (bit, said))
                self.assertIn(f"message from {C} refused", said["reason"])
            self.assertEqual(self.state(), before)
        self.ends_well()

    def memory(self):
        for line in pathlib.Path(f"/proc/{self.processes[A].pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1])

    def test_refused_messages_cost_no_memory(self):
        wanted = 100000 if FULL else 1000 if SHORT else 3000
        kinds = [(wire.signed_part(m), True) for m, *_ in self.bad().values()] + [(b"GET / HTTP/1.1", False), (wire.signed_part(self.next)[:50], False)]

        def flood(count):
            for data, sign in kinds:
                self.stranger.send(data, sign=sign, times=count // len(kinds) + 1)
        flood(max(1000, wanted // 10))
        before, lines = self.memory(), len(self.study.log(A).splitlines())
        flood(wanted)
        grown = self.memory() - before
        print(f"{wanted} refused messages: {grown} KiB", file=sys.stderr)
        if "PARLEY_TEST_SHORT" not in os.environ:  # a sanitizer keeps what was freed
            self.assertLess(grown, 1024)
        self.assertLess(len(self.study.log(A).splitlines()) - lines, 100)
        self.ends_well()

    def test_a_second_iterate_ends_the_run_and_is_kept(self):
        second = self.made(self.last.round, packed([2 * x for x in doubles(self.last.payload)]))
        said = self.stranger.send(wire.signed_part(second), sign=True)
        self.assertEqual(said["verdict"], "second_value")
        self.assertIn(f"message from {C} refused (second_value): payload: a value for round {self.last.round} that is not the one stored", said["reason"])
        found = self.results(self.study, [A, B])
        self.assertEqual({n: r["outcome"] for n, (_, r) in found.items()}, {A: "equivocation", B: "peer_lost"}, self.study.logs())
        self.assertIn(f"{C} contradicts itself", found[A][1]["outcome_in_words"])
        kept = [wire.decode(data) for kind, data in wire.entries(self.study.out(A, "transcript")) if kind == wire.EVIDENCE]
        self.assertEqual([(m.sender, m.round, m.payload) for m in kept], [(C, second.round, second.payload)])
        self.assertEqual(self.heard()[-1], self.last)  # the first one stands
        self.assert_paid(self.study, [A, B])
        self.start(self.study, A)  # and it stays so
        self.assertEqual(self.results(self.study, [A])[A][1]["outcome"], "equivocation")


if __name__ == "__main__":
    unittest.main()
