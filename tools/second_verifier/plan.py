"""What each round of a study with a budget is planned to cost: docs/use/planner-noise.md (section 2), docs/check/newton-settings.md, and after a loss
docs/check/protocol-parts.md."""
import math

from second_verifier.accounting import epsilon_of, mu_of, own_share, root
from second_verifier.documents import RECYCLED


def kind_of(study, node, round):
    """docs/check/record.md: start, data, recycled, trainer or silent."""
    if round == 0:
        return "start"
    if study.star:
        trainers_turn = round % 2 == 0
        return ("trainer" if trainers_turn else "silent") if node == study.trainer else ("silent" if trainers_turn else "data")
    if study.sums:
        return "data" if round < study.last_round else "recycled"
    return "recycled" if study.algorithm in RECYCLED and round % 2 == 0 else "data"


def kind_in_part(study, part, node, round):
    """Rounds of a later part count on from k; its last one is the model where sums are released."""
    if round == 0:
        return "start"
    if study.sums and part.number > 1:
        return "data" if round < part.last_round else "recycled"
    return kind_of(study, node, part.after_round + round)


class Charges:
    """Per node the square of μ, or ε where noise is gamma, of each data round of a part, in units that add up."""

    def __init__(self, study):
        self.study = study
        self.gamma = study.option("noise") == "gamma"
        self.delta = 0.0 if study.option("delta") is None else float(study.option("delta"))
        self.known = study.option("epsilon") not in (None, []) and not study.options.get("intervals") and study.option("loss") != "squared"
        c = study.options.get("colluders")
        parties = len([r for r in study.records if r])
        self.own = 1.0 if c is None or c >= parties - 1 else own_share(parties, int(c), study.sums)
        self.shared = self.own < 1

    def rounds(self, node):
        return [r for r in range(self.study.last_round + 1) if kind_of(self.study, node, r) == "data"]

    def first_part(self, node):
        """Of each data round of the study's plan."""
        rounds = self.rounds(node)
        if not rounds:
            return []
        count, budget = len(rounds), self.study.of_node("epsilon", node)
        if self.gamma:
            one = budget / count if self.delta == 0 else root(lambda e: epsilon_of([e] * count, 0.0, self.delta) > budget, budget / count, budget)
            return [one] * count
        total = mu_of(budget, self.delta) ** 2
        if self.study.algorithm == "newton":
            share = float(self.study.option("curvature-share"))
            each = (1 - share) * total / count
            return [share * total + each] + [each] * (count - 1)
        return [total / count] * count

    def used_after(self, node, parts):
        """[per part: list over its rounds of what was spent through that round], each part's rest split evenly over its data rounds."""
        found, spent = [], 0.0
        for part in parts:
            data = [r for r in range(1, part.last_round + 1) if kind_in_part(self.study, part, node, r) == "data"]
            if part.number == 1:
                each = self.first_part(node)
            else:
                left = math.fsum(self.first_part(node)) - spent
                each = [left / len(data)] * len(data) if data else []
            line, at = [spent], 0
            for r in range(1, part.last_round + 1):
                if r in data:
                    at += 1
                line.append(spent + math.fsum(each[:at]))
            found.append(line)
            released = min(part.released.get(node, 0), part.last_round + 1)
            spent = line[released - 1] if released else spent
        return found

    def epsilon(self, amount, count, everybody=False):
        """ε at δ of this amount. Gamma noise at δ > 0: of `count` equal rounds."""
        if amount == 0:
            return 0.0
        if self.gamma:
            return amount if self.delta == 0 else epsilon_of([amount / count] * count, 0.0, self.delta)
        mu = math.sqrt(amount)
        return epsilon_of([], mu / self.own if everybody else mu, self.delta)

    def planned(self, node, everybody=False):
        each = self.first_part(node)
        return self.epsilon(math.fsum(each), len(each), everybody)
