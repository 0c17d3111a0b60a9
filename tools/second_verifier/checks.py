"""What must follow from the records of a study, and what they claim: docs/check/verify.md."""
import pathlib

from second_verifier.accounting import same_number
from second_verifier.claims import lines_wrong, model_wrong, statement_wrong
from second_verifier.documents import RECYCLED
from second_verifier.ledger import ledger_wrong, read_ledger
from second_verifier.plan import Charges, kind_in_part
from second_verifier.reading import Records
from second_verifier.replay import Peer, SumsModel, doubles, final_iterate, first_difference, mean_in_order, not_recomputed, packed, trainer_values

VALUE_KINDS = {"start": "the start", "recycled": "the recycled value", "trainer": "the trainer's value"}


class Verification(Records):
    def __init__(self, study_file, folders, ledgers):
        super().__init__(study_file, folders)
        study, self.recomputed, self.accepted = self.study, {}, []
        self.charges = Charges(study)
        self.amounts = {n: self.charges.used_after(n, self.parts) for n in range(len(study.names)) if study.records[n]} if self.charges.known else {}
        self.follow()
        self.check_ends()
        self.claims = [self.claim(n) for n in range(len(study.names))]
        for name, record in self.records.items():
            self.check_claims(record, self.claims[study.names.index(name)])
        self.check_ledgers(ledgers)

    # --- what must follow ---------------------------------------------------------------------------------------------------

    def count(self, node, part, round, said, due, scale):
        """A value that was computed again. Six digits, and the grid of free values."""
        self.recomputed[node] = self.recomputed.get(node, 0) + 1
        kind = kind_in_part(self.study, part, node, round)
        what = "the model" if self.study.sums and kind == "recycled" else VALUE_KINDS[kind]
        if problem := first_difference(said, due, scale):
            self.wrong.append(f"{self.study.names[node]}, round {round}: {what} does not follow from the values released before it: {problem}")

    def follow(self):
        study = self.study
        for at, part in enumerate(self.parts):
            for node in part.nodes:
                start = part.values[node].get(0)
                if start is None:
                    continue
                if at == 0 and study.option("start") == "zero":
                    self.count(node, part, 0, doubles(start), [0.0] * study.size, 0.0)
                elif at > 0 and not study.sums:  # f_i(k); in a star what was said at the last turn
                    before = self.parts[at - 1]
                    said = [v for r, v in sorted(before.values.get(node, {}).items()) if v and r <= before.end]
                    if said:
                        self.count(node, part, 0, doubles(start), doubles(said[-1]), 0.0)
        if study.algorithm in RECYCLED:
            peer = Peer(study, self.parts)
            for part in self.parts:
                for node in part.nodes:
                    for r, (due, scale) in peer.recycled(part, node).items():
                        if r in part.values[node]:
                            self.count(node, part, r, doubles(part.values[node][r]), due, 1e-5 * max(1.0, scale))
        elif study.star:
            for part, r, due, scale in trainer_values(study, self.parts):
                self.count(study.trainer, part, r, doubles(part.values[study.trainer][r]), due, 1e-8 * scale)
        elif study.sums and not not_recomputed(study):
            self.follow_sums()

    def follow_sums(self):
        """Everybody's points from what it received itself; most have received the same."""
        groups = []
        for node in range(len(self.study.names)):
            views = [p.seen_by(node) for p in self.parts if node in p.nodes]
            same = next((nodes for seen, nodes in groups if seen == views), None)
            if same is None:
                groups.append((views, same := []))
            same.append(node)
        for _, nodes in groups:
            self.follow_points(nodes[0], nodes)

    def follow_points(self, viewer, nodes):
        left = [{n: self.amounts[n][at][-1] - self.amounts[n][at][0] for n in part.nodes if n in self.amounts} for at, part in enumerate(self.parts)]
        parts = [p for p in self.parts if viewer in p.nodes]
        found, model = SumsModel(self.study).points(parts, left, viewer)
        for at, (part, points, _) in enumerate(found):
            for node in nodes:
                if at and 0 in part.values[node]:
                    self.count(node, part, 0, doubles(part.values[node][0]), points[0], self.room(points[0]))
        part = parts[-1]
        for node in nodes:
            if part is self.parts[-1] and model is not None and (value := part.values[node].get(part.last_round)) is not None and part.last_round > 0:
                self.count(node, part, part.last_round, doubles(value), model, self.room(model))

    @staticmethod
    def room(numbers):
        return 1e-6 * max(1.0, *map(abs, numbers))

    def check_ends(self):
        """Final iterates follow from releases, and models from final iterates."""
        study, names, part = self.study, self.study.names, self.parts[-1]
        origins = [study.trainer] if study.star else part.nodes
        due = {n: final_iterate(study, self.parts, n) for n in origins}
        for name, held in self.holders(part):
            for n, m in held.finals.items():
                if n in due and due[n] is not None and m.payload != due[n]:
                    self.wrong.append(f"{name}: the final iterate of {names[n]} in its transcript does not follow from what {names[n]} released: "
                                      + first_difference(doubles(m.payload), doubles(due[n]), 0))
            record = self.folders[name, part.number]
            if record.outcome == "completed":
                told = {n: due.get(n) or (held.finals[n].payload if n in held.finals else None) for n in origins}
                if all(told.values()):
                    weights = packed(mean_in_order([doubles(told[n]) for n in sorted(told)]))
                    self.wrong += model_wrong(self.records[name], "model.json", weights, "the final iterates")
                mine = due.get(names.index(name))
                if mine:
                    self.wrong += model_wrong(self.records[name], "own_model.json", mine, "what it released")

    # --- claims ---------------------------------------------------------------------------------------------------------------

    def doubts(self):
        """Whom a record names without a proof, and whether it may be anybody."""
        names, anybody = set(), False
        for record in self.records.values():
            told = set(record.run.get("contradicted_parties") or ())
            names |= told
            ended = {record.outcome, record.run.get("void_before")}
            anybody |= not told and bool(ended & {"equivocation", "contradicted"}) and not self.contradicted
        return names, anybody

    def claim(self, node):
        """ε of one party by docs/check/verify.md, 'Which ε is told', and what its statement must say."""
        study, name = self.study, self.study.names[node]
        record = self.records.get(name)
        mine = [p for p in self.parts if node in p.nodes]
        released = sum(p.released.get(node, 0) for p in mine)
        from_rows = sum(kind_in_part(study, p, node, r) == "data" for p in mine for r in range(p.released.get(node, 0)))
        last = mine[-1]
        outcome = record.outcome if record else None
        complete = node in last.released and last.released[node] == last.last_round + 1 and last is self.parts[-1]
        forgotten = record is not None and "past_unknown" in (outcome, record.run.get("void_before"))
        names, anybody = self.doubts()
        doubted = node not in self.contradicted and (anybody or name in names)
        void = node in self.contradicted or forgotten or doubted
        ours = everybody = None
        noisy = study.option("noise") != "none"
        if study.records[node] and noisy and self.charges.known and not void:
            delta = self.charges.delta
            heard = [study.names[n] for n in mine[0].neighbours(node)] + [name]
            ended = record and record.bytes("statement.json") is not None and all(h in self.records for h in heard)
            if complete or delta > 0 or not ended:
                ours, everybody = self.charges.planned(node), self.charges.planned(node, True)
            else:
                spent = self.amounts[node][self.parts.index(last)][last.released[node] - 1]
                ours = everybody = self.charges.epsilon(spent, max(1, from_rows))
            if outcome not in (None, "running", "completed") and from_rows == 0 and ended:
                ours = everybody = 0.0
            if record and outcome != "running" and not complete and not ended:
                self.unchecked.append(f"{name}: whether it has released more than its record holds; counted with what was planned")
        if record is None:
            self.unchecked.append(f"{name}: its own record was not given; it is judged by what others received of it")
        elif outcome == "running":
            self.unchecked.append(f"{name}: its run has not ended (running), so there is no statement and no model")
        return {"contradicted": node in self.contradicted, "doubted": doubted, "delta": self.charges.delta if ours is not None else None, "epsilon": ours, "epsilon_all_others": everybody, "epsilon_in_ledger": None, "epsilon_stated": None,
                "outcome": outcome, "parts": len(mine), "party": name, "past_unknown": forgotten, "record": str(record.folder) if record else None,
                "rounds_from_rows": from_rows, "rounds_released": released, "trainer": node == study.trainer, "values_recomputed": self.recomputed.get(node, 0)}

    def check_claims(self, record, claim):
        study, node = self.study, self.study.names.index(record.party)
        mine = [p for p in self.parts if (record.party, p.number) in self.folders]
        for part in mine:
            line = None
            if not study.records[node] or study.option("noise") == "none":
                line = [(0.0, None)] * (part.last_round + 1) if not study.records[node] else None
            elif self.charges.known and not (self.charges.gamma and self.charges.delta > 0):
                used = self.amounts[node][self.parts.index(part)]
                line = [(self.charges.epsilon(a, 1), self.charges.epsilon(a, 1, True) if self.charges.shared and part.number == 1 else None) for a in used]
            self.wrong += lines_wrong(self.folders[record.party, part.number], study, part, line, len(self.own[record.party, part.number]))
        done = record.run.get("rounds_done")
        due = mine[-1].after_round + mine[-1].released.get(node, 0) - 1 if mine else -1
        if done is not None and done != due:
            self.wrong.append(f"{record.party}: run.json has rounds_done = {done}, and {due} rounds were released")
        expected = {"format": "parley-statement-1", "party": record.party, "run": study.run, "study": study.told["title"], "study_hash": study.hash, "algorithm": study.algorithm, "outcome": record.outcome,
                    "rounds_released": claim["rounds_released"], "rounds_from_rows": claim["rounds_from_rows"], "sent_to": [n for n in study.names if n != record.party] if study.sums else [study.names[n] for n in self.parts[0].neighbours(node)],
                    "private": not study.not_private and study.option("noise") != "none", "numbers_per_round": study.size}
        if study.records[node]:
            expected["records_disclosed"] = study.records[node]
            if self.charges.known and study.option("noise") != "none":
                expected |= {"epsilon_planned": self.charges.planned(node), "delta": self.charges.delta}
                if claim["epsilon"] is not None and record.outcome == "completed":
                    expected["epsilon"] = claim["epsilon"]
                    if self.charges.shared:
                        expected |= {"epsilon_all_others": claim["epsilon_all_others"], "epsilon_all_others_planned": self.charges.planned(node, True)}
        wrong, statement = statement_wrong(record, study, expected)
        self.wrong += wrong
        if statement and not (claim["contradicted"] or claim["past_unknown"] or claim["doubted"]):
            claim["epsilon_stated"] = statement.get("epsilon")
            ours = claim["epsilon"]
            if ours is not None and statement.get("epsilon") is not None and statement["epsilon"] < ours and not same_number(statement["epsilon"], ours) and record.outcome != "completed":
                self.wrong.append(f"{record.party}: its statement says epsilon = {statement['epsilon']}, and {ours:.7g} follows")

    def check_ledgers(self, files):
        study = self.study
        for file in files:
            ledger = read_ledger(file)
            self.accepted += [f"{file}: {reason}" for reason in ledger.accepted]
            owner = next((n for n, r in self.records.items() if (r.run.get("ledger_head") or {}).get("ledger") in ledger.heads[:1]), None)
            owner = owner or next((n for n in self.records if any(d.get("name") == n for run in ledger.runs.values() for d in run.get("datasets", []))), None)
            self.wrong += [f"{owner}: {w}" if owner else w for w in ledger.wrong]
            if owner is None:
                self.wrong.append(f"{file}: it is the ledger of none of the records")
                continue
            node = study.names.index(owner)
            for part in [p for p in self.parts if (owner, p.number) in self.folders]:
                budget = None
                if node in self.amounts and not (self.charges.gamma and self.charges.delta > 0):
                    used = self.amounts[node][self.parts.index(part)]
                    budget = ([b - a for a, b in zip([used[0], *used], used)], None, self.charges.gamma)
                self.wrong += ledger_wrong(ledger, self.records[owner], study, part, node, self.own[owner, part.number], budget)
            if not ledger.wrong:
                self.claims[node]["epsilon_in_ledger"] = self.claims[node]["epsilon"]

    def secrets(self):
        """Keys of shared noise that lie beside a record (docs/check/protocol-sums.md, section 15)."""
        found = []
        for name, record in self.records.items():
            folder = pathlib.Path(record.folder).resolve()
            found += [f"{name}: {p.name}" for p in sorted(folder.parent.glob(f"{folder.name}*.noise-key"))]
        return found

    def result(self):
        told = [c["epsilon"] for c in self.claims if c["epsilon"] is not None]
        void = any(c["contradicted"] or c["past_unknown"] or c["doubted"] for c in self.claims)
        all_others = [c["epsilon_all_others"] for c in self.claims if c["epsilon_all_others"] is not None]
        taken = not_recomputed(self.study)
        options = "options that the study file leaves out, and what the planner made of them, are those that all records tell alike; statement.txt is not read"
        if not self.charges.known and self.study.option("noise") != "none":
            self.unchecked.append("ε: the study has no budget from which this program computes what was planned")
        return {"holds": not self.wrong, "wrong": self.wrong, "accepted_by_ledger_owner": self.accepted, "secrets": self.secrets(), "unchecked": self.unchecked, "not_recomputed": [options] + ([taken] if taken else []), "study": self.study.told["title"],
                "study_hash": self.study.hash, "delta": self.charges.delta if told else None, "epsilon": None if void or not told else max(told),
                "epsilon_all_others": None if void or not all_others else max(all_others), "not_private": self.study.not_private, "messages": self.messages, "parties": self.claims,
                "parts": [{"after_round": self.parts[i - 1].left_after if i else None, "part": p.number, "parties": [self.study.names[n] for n in p.nodes], "rounds": p.last_round, "run_id": p.run}
                          for i, p in enumerate(self.parts)], "values_compared": self.values_compared}
