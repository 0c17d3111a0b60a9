"""An algorithm that parley does not have: pooled rows, logistic regression, noise on the output (Chaudhuri, Monteleoni, Sarwate,
JMLR 2011, Algorithm 1). It needs one place that all parties trust, which parley's algorithms do not.

Minimises mean loss + λ/2 |f|², then adds a vector whose norm is Γ(d, 2/(nλε)) in a random direction; no δ."""
import csv
import math
import random
import sys

EPSILON, LAMBDA, RUNS = 1.0, 0.01, 3


def read(name):
    with open(f"rows/{name}.csv") as file:
        next(file)
        return [([float(v) for v in row[2:]], float(row[1])) for row in csv.reader(file)]


def minimise(rows):
    f = [0.0] * len(rows[0][0])
    for _ in range(60):  # gradient steps of 1/L with L = 1/4 + λ
        gradient = [LAMBDA * w for w in f]
        for x, y in rows:
            slope = -y / (1 + math.exp(y * sum(w * v for w, v in zip(f, x)))) / len(rows)
            for i, v in enumerate(x):
                if v:
                    gradient[i] += slope * v
        f = [w - g / (0.25 + LAMBDA) for w, g in zip(f, gradient)]
    return f


def released(f, count, draw):
    norm = sum(draw.expovariate(count * LAMBDA * EPSILON / 2) for _ in f)
    direction = [draw.gauss(0, 1) for _ in f]
    length = math.sqrt(sum(v * v for v in direction))
    return [w + norm * v / length for w, v in zip(f, direction)]


train, test = read("train"), read("test")
f, draw = minimise(train), random.SystemRandom()
writer = csv.writer(sys.stdout, lineterminator="\n")
writer.writerow(["algorithm", "epsilon", "delta", "split", "run", "test_error"])
for run in range(1, RUNS + 1):
    g = released(f, len(train), draw)
    wrong = sum((sum(w * v for w, v in zip(g, x)) > 0) != (y > 0) for x, y in test)
    writer.writerow(["output-perturbation", EPSILON, 0, 1, run, wrong / len(test)])
