"""Rows of a table with every kind of column; with a loss as argument: schema.toml with the [label] that fits it."""
import pathlib
import random
import sys

LABELS = {"logistic": 'column = "said"\npositive = ["yes"]\nnegative = ["no"]', "softmax": 'column = "class"\nclasses = ["a", "b", "c"]', "squared": 'column = "pay"\nbounds = [0, 60]'}
LABELS["huber-hinge"], LABELS["huber"] = LABELS["logistic"], LABELS["squared"]


def write(name, count, draw):
    with open(name, "w") as file:
        file.write("id,age,bill,stays,ward,since,code,said,class,pay\n")
        for n in range(count):
            age, bill = draw.randint(18, 99), draw.choice(["", "12.50", "900"])
            said = "yes" if draw.random() < (age - 18) / 80 else "no"
            file.write(f"{n},{age},{bill},{draw.randint(0, 12)},{draw.choice(['Surgery', 'heart', 'elsewhere'])},20{draw.randint(10, 24)}-02-{draw.randint(10, 28)},"
                       f"{draw.choice(['1', '02', '9'])},{said},{draw.choice('abc')},{age / 2 + draw.uniform(0, 10):.1f}\n")


if len(sys.argv) > 1:
    label, text = LABELS[sys.argv[1]], (pathlib.Path(__file__).parent / "schema.toml").read_text()
    head, *columns = text.split("[[columns]]")
    named = label.split('"')[1]
    print("[[columns]]".join([head.replace("[label]", "[label]\n" + label), *(c for c in columns if f'name = "{named}"' not in c)]), end="")
else:
    source = random.Random(2)
    for name, count in (("all.csv", 200), ("north.csv", 100), ("south.csv", 100), ("new.csv", 12)):
        write(name, count, source)
