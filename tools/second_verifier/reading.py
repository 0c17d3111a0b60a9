"""The records of a study, their transcripts and parts, beside each other: docs/check/verify.md and docs/check/verify-parts.md."""
from second_verifier.claims import files_wrong, study_of
from second_verifier.documents import Mistake, Record, Study, canonical
from second_verifier.replay import doubles, first_difference
from second_verifier.transcripts import Part, Reading, consent_of, next_part, statements_id


class Records:
    """Read and compared. What is wrong is in `wrong`."""

    def __init__(self, study_file, folders):
        self.study, self.wrong, self.unchecked = Study(study_file), [], []
        self.records, self.values_compared, self.messages = {}, 0, 0
        self.contradicted, self.held, self.own = set(), {}, {}
        for folder in folders:
            record = Record(folder)
            if record.party in self.records:
                raise Mistake(f"{folder}: two records of one party, {record.party}")
            self.records[record.party] = record
        self.keep_records_of_this_study()
        study = self.study
        self.parts = [Part(1, study.run, study.hash, list(range(len(study.names))), study.edges, 0, study.last_round)]
        self.folders = {(name, 1): record for name, record in self.records.items()}
        for record in self.records.values():
            self.wrong += files_wrong(record, study)
        self.read_part(self.parts[0])
        while self.find_next_part():
            self.read_part(self.parts[-1])

    def keep_records_of_this_study(self):
        kept = {}
        for name, record in self.records.items():
            told, hash_ = study_of(record)
            fields = self.study.differs(told)
            if fields or name not in self.study.names:
                self.wrong.append(f"{name}: its record is of another study: {', '.join(fields) or 'its party is not invited'}")
            elif hash_ != record.run.get("study_hash") or record.run.get("run_id") != hash_[:32] or record.run.get("node") != self.study.names.index(name):
                self.wrong.append(f"{name}: run.json has another study_hash, run_id or node than follows from its study")
            elif kept and hash_ != self.study.hash:
                self.wrong.append(f"{name}: its record is of another study than that of {next(iter(kept))}")
            else:
                if not kept:
                    self.study.take(told, hash_)
                kept[name] = record
        self.records = kept
        if not kept:
            raise Mistake("no record of this study was given: " + "; ".join(self.wrong))

    def read_part(self, part):
        for (name, number), record in self.folders.items():
            if number == part.number:
                self.read_transcript(part, name, record)
        self.compare(part)
        for node in part.nodes:
            part.values[node] = self.told_of(part, node)
            part.released[node] = max(part.values[node], default=-1) + 1
        for name, held in self.holders(part):
            self.compare_words(part, name, held)
            if held.whole:
                part.views[self.study.names.index(name)] = self.view(held)

    def read_transcript(self, part, name, record):
        completed = record.outcome == "completed" and not self.has_folder(name, part.number + 1)
        reading = Reading(self.study, part, record, record.bytes("transcript") or b"", completed)
        self.wrong += reading.wrong
        self.held[name, part.number] = reading.held
        self.messages += reading.held.messages
        self.contradicted |= reading.held.contradicted
        self.own[name, part.number], behind = record.values()
        if behind:
            self.wrong.append(f"{name}: released.f64 has {behind} bytes behind its last whole round")

    def compare_words(self, part, name, held):
        """Of the last words of one sender, and of what it signs after a loss, there is one each."""
        for what, place, found in (("final iterate", part.finals, held.finals), ("seal", part.seals, held.seals), ("statement after the loss", part.statements, held.statements),
                                   ("consent", part.consents, held.consents), ("key for shared noise", part.keys, held.keys)):
            for n, m in found.items():
                holder, other = place.setdefault(n, (name, m))
                if not other.same(m):
                    self.contradicted.add(n)
                    self.wrong.append(f"{self.study.names[n]}: the {what} that {holder} has is not the one that {name} has, and it signed both")

    @staticmethod
    def view(held):
        found = {}
        for (n, r), m in held.values.items():
            found.setdefault(n, {})[r] = m.payload
        return found

    def has_folder(self, name, number):
        return number in self.records[name].parts

    def holders(self, part):
        return [(name, held) for (name, number), held in self.held.items() if number == part.number]

    def told_of(self, part, node):
        """{round: payload} of a party: what it says itself first."""
        name = self.study.names[node]
        order = sorted(self.holders(part), key=lambda h: h[0] != name)
        found = {}
        for _, held in order:
            for (n, r), m in held.values.items():
                if n == node:
                    found.setdefault(r, m.payload)
        return found

    def compare(self, part):
        """All were told the same: between receivers, with the own transcript, with released.f64."""
        names = self.study.names
        for node in part.nodes:
            me, first, twice = names[node], {}, set()
            for name, held in sorted(self.holders(part), key=lambda h: h[0] == me):
                for (n, r), m in held.values.items():
                    if n != node:
                        continue
                    before = first.setdefault(r, (name, m))
                    if before[0] != name:
                        twice.add(r)
                    if before[1].payload == m.payload:
                        continue
                    self.contradicted.add(node)
                    self.wrong.append(f"{me}, round {r}: its own record differs from the value that {before[0]} received and {me} signed" if name == me else
                                      f"{me}, round {r}: it sent one value to {before[0]} and another to {name}, and signed both")
            own = self.own.get((me, part.number))
            twice |= {r for r in range(len(own or ())) if r in first and first[r][0] != me}
            self.values_compared += len(twice)
            held = self.held.get((me, part.number))
            if own is None or not held.whole:
                continue
            mine = {r: m.payload for (n, r), m in held.values.items() if n == node}
            if (len(own) != len(mine) and self.folders[me, part.number].outcome != "running") or len(own) < len(mine):
                self.wrong.append(f"{me}: released.f64 has {len(own)} rounds, and its transcript {len(mine)}")
            for r in sorted(first):
                kept = r < len(own) and own[r] == first[r][1].payload and self.folders[me, part.number].outcome == "running"
                if r not in mine and not kept:  # a killed party may have lost what it had not synced
                    self.wrong.append(f"{me}, round {r}: missing in its own record, and {first[r][0]} received it")
            for r, value in enumerate(own):
                if r in mine and value != mine[r]:
                    self.wrong.append(f"{me}, round {r}: released.f64 differs from what it signed and sent: {first_difference(doubles(value), doubles(mine[r]), 0)}")

    def find_next_part(self):
        """The part that the records say follows the last one, if what was signed allows it."""
        last = self.parts[-1]
        number = last.number + 1
        told = {}
        for name, record in self.records.items():
            if (name, last.number) in self.folders and self.has_folder(name, number):
                told[name] = Record(record.folder / f"part-{number}")
        if not told:
            return False
        first = next(iter(told.values()))
        part, wrong = next_part(self.study, last, first.run["part"], canonical(first.run_text, "part"), {n: m for n, (_, m) in last.statements.items()})
        self.wrong += [f"{first.party}: part {number}: {w}" for w in wrong]
        if part is None or wrong:
            return False
        last.left_after = first.run["part"]["after_round"]
        for name, record in told.items():
            if canonical(record.run_text, "part") != canonical(first.run_text, "part") or record.run.get("run_id") != part.run:
                self.wrong.append(f"{name}: part {number} of its record is another than that of {first.party}")
            else:
                self.folders[name, number] = record
        self.check_consents(last, part)
        self.parts.append(part)
        return True

    def check_consents(self, last, part):
        names, members = self.study.names, [last.nodes.index(n) for n in part.nodes]
        id_ = statements_id(last, members, {last.nodes.index(n): m for n, (_, m) in last.statements.items()})
        for name, held in self.holders(last):
            if (name, part.number) not in self.folders:
                continue
            for n in part.nodes:
                m = held.consents.get(n)
                if m is None:
                    self.wrong.append(f"{name}: the consent of {names[n]} is missing in its transcript, and it went on")
                    continue
                agrees, who, configuration, _ = consent_of(m)
                if not agrees or who != members or configuration != part.configuration or m.head != id_ or m.round != last.left_after:
                    self.wrong.append(f"{names[n]}: its consent in the transcript of {name} is to something else than part {part.number}")
        for n, (_, m) in last.statements.items():
            for name, held in self.holders(last):
                stood = held.values.get((n, m.round))
                if (n, m.round + 1) in held.values or (stood and stood.head != m.head):
                    self.wrong.append(f"{names[n]}: its statement after the loss does not fit what {name} has of it")
