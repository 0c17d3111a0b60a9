"""What follows from released values, without a row: docs/check/algorithms-equations.md, docs/check/newton.md, docs/check/newton-settings.md (section 6),
docs/check/wire.md (final iterate, model). A study states penalties to six digits, so values are held to six digits too; means are exact."""
import math
import struct

from second_verifier.accounting import mu_of, own_share, pair_share
from second_verifier.algebra import dot, eigen
from second_verifier.plan import kind_in_part

CURVATURE = {"logistic": lambda h: 0.25, "huber-hinge": lambda h: 1 / (2 * h), "huber": lambda h: 1.0}


def doubles(value):
    return struct.unpack(f"<{len(value) // 8}d", value)


def packed(numbers):
    return struct.pack(f"<{len(numbers)}d", *numbers)


def mean_in_order(values):
    total = [0.0] * len(values[0])
    for value in values:
        total = [a + b for a, b in zip(total, value)]
    return [a / len(values) for a in total]


def first_difference(is_, expected, scale):
    """The first coordinate that is not the expected one to six digits, in words; empty: none."""
    for i, (a, b) in enumerate(zip(is_, expected)):
        if not abs(a - b) <= scale:
            return f"coordinate {i} is {a!r}, and {b!r} follows"
    return "" if len(is_) == len(expected) else f"it has {len(is_)} numbers, and {len(expected)} follow"


def final_iterate(study, parts, node):
    """The bytes of this node's final iterate, from its values of all these parts; None: not all are here."""
    counted = []
    for at, part in enumerate(parts):
        last = part.end if at + 1 < len(parts) else part.last_round
        values = part.values.get(node, {})
        for r in range(1, last + 1):
            kind, t = kind_in_part(study, part, node, r), part.after_round + r
            half = t > study.rounds if study.star else 2 * t > study.rounds
            if kind in ("data", "trainer") and half:
                if r not in values:
                    return None
                counted.append(doubles(values[r]))
    if study.option("average") == "yes" and not study.sums and counted:
        return packed(mean_in_order(counted))
    own = parts[-1].values.get(node, {})
    return own.get(parts[-1].last_round)


def not_recomputed(study):
    """What this program takes as it stands, in a sentence; empty: nothing but values computed from rows."""
    o = study.option
    if study.option("start") != "zero":
        return "the start, which is random"
    if study.sums:
        if study.options.get("intervals") or o("loss") not in CURVATURE or o("curvature") == "diagonal" or o("regularizer") != "l2" or o("class-weight") not in (None, "none"):
            return f"the model of {study.algorithm} with intervals, l1, class weights, a diagonal, or the loss {o('loss')}"
        if o("epsilon") in (None, []) and o("noise") != "none":
            return f"the model of {study.algorithm} with noise that is given by its size"
    return ""


# --- recycled rounds ------------------------------------------------------------------------------------------------------

class Peer:
    """(D) and (R) at one node, from released values; f: {node: value} of the round before."""

    def __init__(self, study, parts):
        self.study, self.parts = study, parts

    def penalty(self, part, node, k):
        told = part.penalty.get(node)
        p = told if told is not None else self.study.of_node("penalty", node)
        last = int(self.study.option("penalty-growth-rounds") or 0)
        return (1.0 if p is None else p) * (self.study.of_node("penalty-growth", node) or 1.0) ** ((min(k, last) if last else k) - 1)

    def dual_step(self, part, node, k):
        given = self.study.option("dual-step")
        if given == "penalty":
            return self.penalty(part, node, k)
        if given not in ("common", None):
            return float(given[node] if isinstance(given, list) and len(given) > 1 else given[0] if isinstance(given, list) else given)
        return min(self.penalty(part, n, k) for n in part.nodes)

    def recycled(self, part, node):
        """{even round: (value, scale)} of this part as far as everything that it follows from is here."""
        near = part.neighbours(node)
        values = lambda p, n, r: doubles(p.seen_by(node)[n][r])
        have = lambda p, n, r: r in p.seen_by(node).get(n, {})
        dual, found = [0.0] * self.study.size, {}
        for earlier in self.parts[:self.parts.index(part)]:
            for r in range(1, earlier.end + 1, 2):
                if not all(have(earlier, n, r) for n in [node, *near]):
                    return {}
                dual = self.dual(dual, earlier, node, near, r, values)
        gamma = self.study.of_node("damping", node)
        if gamma is None:
            return {}
        for r in range(2, part.last_round + 1, 2):
            if not all(have(part, n, r - 1) and have(part, n, r - 2) for n in [node, *near]):
                break
            k = (part.after_round + r) // 2
            eta, before = self.penalty(part, node, k), dual
            f1, f0 = values(part, node, r - 1), values(part, node, r - 2)
            dual = self.dual(dual, part, node, near, r - 1, values)
            damped = 2 * eta * len(near) + gamma * (self.study.of_node("damping-growth", node) or 1.0) ** (k - 1)
            value, scale = [], 0.0
            for i in range(self.study.size):
                others0, others1 = [values(part, n, r - 2)[i] for n in near], [values(part, n, r - 1)[i] for n in near]
                g = -2 * before[i] - eta * math.fsum(2 * f1[i] - f0[i] - o for o in others0)
                step = (g + 2 * dual[i] + eta * math.fsum(f1[i] - o for o in others1)) / damped
                value.append(f1[i] - step)
                scale = max(scale, abs(f1[i]), abs(f0[i]), (4 * abs(dual[i]) + abs(g)) / damped, *map(abs, others0 + others1))
            found[r] = (value, scale)
        return found

    def dual(self, dual, part, node, near, r, values):
        theta = self.dual_step(part, node, (part.after_round + r + 1) // 2) / 2
        own, others = values(part, node, r), [values(part, n, r) for n in near]
        return [l + theta * math.fsum(own[i] - o[i] for o in others) for i, l in enumerate(dual)]


def trainer_values(study, parts):
    """[(part, round, value, scale)]: (3b) and (3c) with the duals over ρ, so that ρ drops out."""
    duals, found = {n: [0.0] * study.size for n in range(len(study.names)) if n != study.trainer}, []
    for part in parts:
        end = part.end
        providers = [n for n in part.nodes if n != study.trainer]
        for r in range(2, part.last_round + 1, 2):
            seen = part.seen_by(study.trainer)
            if not all(r - 1 in seen.get(n, {}) for n in providers) or r not in part.values.get(study.trainer, {}):
                break
            heard = {n: doubles(seen[n][r - 1]) for n in providers}
            value = [(math.fsum(heard[n][i] for n in providers) - math.fsum(duals[n][i] for n in providers)) / len(providers) for i in range(study.size)]
            found.append((part, r, value, max(1.0, *(abs(x) for v in heard.values() for x in v))))
            if r <= end:
                said = doubles(part.values[study.trainer][r])
                for n in providers:
                    duals[n] = [u - (w - z) for u, w, z in zip(duals[n], heard[n], said)]
    return found


# --- sums -----------------------------------------------------------------------------------------------------------------

class SumsModel:
    """The common points of newton and dp-gd (newton.md; newton-settings.md, section 6)."""

    def __init__(self, study):
        self.study, o = study, study.option
        self.d, self.full = study.size, study.algorithm == "newton"
        self.n = float(sum(study.records))
        self.c1 = CURVATURE[o("loss")](float(o("loss-width") or 1))
        self.ridge = 0.0  # of the part: ρ/(C N)
        self.bound = float(o("release-bound"))

    def share(self, count):
        """Of the noise of a part with so many holders of records (shared-noise.md)."""
        c = self.study.options.get("colluders")
        c = count - 1 if c is None else int(c)
        self.own, self.pair = own_share(count, c, True), pair_share(count, c, True)
        self.whole = math.sqrt(self.own**2 + (count - 1) * self.pair**2)

    def scales(self, node, data_rounds, left=None, moments=True):
        """(σ of a gradient, s of second moments) of a party from its budget (theorem N1)."""
        if self.study.option("noise") == "none":
            return 0.0, 0.0
        total = left if left is not None else mu_of(self.study.of_node("epsilon", node), float(self.study.option("delta"))) ** 2
        h = float(self.study.option("curvature-share")) if self.full and moments else 0.0
        diameter = 2 * self.clip()
        return diameter / math.sqrt((1 - h) * total / data_rounds), math.sqrt(2 / (h * total)) if h else 0.0

    def clip(self):
        clip = self.study.option("clip")
        return 1.0 if clip is None else min(1.0, float(clip))

    def unit(self, nodes, scales, moments):
        largest = 0.0
        for n in nodes:
            sigma, s = scales[n]
            largest = max(largest, 2 * self.clip() * self.study.records[n] + 10 * self.whole * sigma)
            if moments:
                largest = max(largest, 2 * self.study.records[n] + 10 * self.whole * s)
        return 2.0 ** math.ceil(math.log2(largest / (self.bound / 2)))

    def points(self, parts, spent, viewer):
        """[(part, {round: point after it})] and the mean of the later half, as far as everybody's sums are here. The first part without all of
        them ends it."""
        f, velocity, averaged, moments, noise_s = [0.0] * self.d, [0.0] * self.d, [], None, 0.0
        found = []
        for at, part in enumerate(parts):
            holders = [n for n in part.nodes if self.study.records[n]]
            n = float(sum(self.study.records[i] for i in holders))
            rounds = part.last_round - 1
            self.share(len(holders))
            self.ridge = float(self.study.option("regularization")) / (float(self.study.option("loss-weight")) * len(part.nodes))
            scales = {i: self.scales(i, rounds, None if at == 0 else spent[at][i], at == 0) for i in holders} if rounds > 0 else {}
            first = at == 0
            unit = self.unit(holders, scales, self.full and first) if rounds > 0 else 1.0
            end = part.end - 1
            points, inverse = {0: f}, None
            for r in range(1, end + 1):
                if not all(r in part.seen_by(viewer).get(i, {}) for i in holders):
                    break
                total = [math.fsum(column) for column in zip(*(doubles(part.seen_by(viewer)[i][r]) for i in holders))]
                if r == 1:
                    if first and self.full:
                        moments, noise_s = (total[:-self.d], unit), math.sqrt(math.fsum((scales[i][1] * self.own) ** 2 for i in holders))
                    g = math.sqrt(math.fsum((scales[i][0] * self.own) ** 2 for i in holders)) / n
                    inverse = self.inverse(moments, noise_s, g, min(self.n, 2 * n))
                mean = [x * unit / n + self.ridge * y for x, y in zip(total[-self.d:], f)]
                moved = [a - b for a, b in zip(f, inverse(mean))]
                if self.full:
                    f = moved
                else:
                    velocity = [0.9 * v + (a - b) for v, a, b in zip(velocity, moved, f)]
                    f = [a + v for a, v in zip(f, velocity)]
                points[r] = f
                before = 0 if first else part.after_round - 1  # rounds of sums that were used before this part
                if 2 * (before + r) > before + rounds or self.study.option("average") != "yes":
                    averaged.append(f)
            else:
                found.append((part, points, end))
                continue
            found.append((part, points, max(points)))
            return found, None
        if self.study.option("average") != "yes":
            averaged = averaged[-1:]
        return found, [math.fsum(c) / len(averaged) for c in zip(*averaged)] if averaged else f

    def inverse(self, moments, s, g, n):
        if not self.full:
            return lambda v: [x / (self.c1 + self.ridge) for x in v]
        total, unit = moments
        matrix, at = [[0.0] * self.d for _ in range(self.d)], 0
        for j in range(self.d):
            for i in range(j, self.d):
                matrix[i][j] = matrix[j][i] = total[at] * unit / n / (1.0 if i == j else math.sqrt(2))
                at += 1
        floor = max(s / n * math.sqrt(self.d), 2 * g / (3 * self.c1))
        values, vectors = eigen(matrix)
        raised = [self.c1 * max(x, floor) + self.ridge for x in values]

        def apply(v):
            parts = [dot(row, v) / m for row, m in zip(vectors, raised)]
            return [math.fsum(p * row[i] for p, row in zip(parts, vectors)) for i in range(self.d)]
        return apply
