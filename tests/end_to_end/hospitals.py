"""Three hospitals with 4,000, 1,500 and 500 rows of synthetic patients, from a seed."""
import math
import random

SIZES = {"north": 4000, "middle": 1500, "south": 500}
NUMBERS = {"age": (18, 100), "bmi": (12, 60), "pressure": (70, 220), "glucose": (40, 400), "visits": (0, 30)}
WARDS = ["surgery", "medicine", "heart", "children", "other"]


def schema():
    text = '[label]\ncolumn = "readmitted"\npositive = ["yes"]\nnegative = ["no"]\n'
    for name, (low, high) in NUMBERS.items():
        text += f'[[columns]]\nname = "{name}"\nkind = "numeric"\nbounds = [{low}, {high}]\n'
    return text + '[[columns]]\nname = "ward"\nkind = "categorical"\ncategories = [' + ", ".join(f'"{w}"' for w in WARDS) + "]\n"


def row(draw, strength, offset):
    """One patient. strength: how much age, pressure and glucose say; offset: how rare the label is."""
    share = {name: min(1, max(0, draw.gauss(0.45, 0.18))) for name in NUMBERS}
    score = strength * (share["age"] + share["glucose"] + share["pressure"] - 1.35) + offset
    label = "yes" if draw.random() < 1 / (1 + math.exp(-score)) else "no"
    numbers = [f"{low + share[name] * (high - low):.1f}" for name, (low, high) in NUMBERS.items()]
    return ",".join([*numbers, draw.choice(WARDS), label])


def write(folder, strength=3, offset=-2.4, seed=15):
    """NAME.csv of each hospital and schema.toml; returns the words of --data and the share of positive rows."""
    draw, positive = random.Random(seed), 0
    for name, size in SIZES.items():
        rows = [row(draw, strength, offset) for _ in range(size)]
        positive += sum(r.endswith("yes") for r in rows)
        (folder / f"{name}.csv").write_text(",".join([*NUMBERS, "ward", "readmitted"]) + "\n" + "\n".join(rows) + "\n")
    (folder / "schema.toml").write_text(schema())
    return ",".join(f"{name}.csv" for name in SIZES), positive / sum(SIZES.values())
