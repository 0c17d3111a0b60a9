"""Made loans of four branches of one bank."""
import math
import random

draw = random.Random(8)
for branch in range(4):
    with open(f"branch-{branch}.csv", "w") as file:
        file.write("income,debt,late\n")
        for _ in range(1500):
            income, debt = draw.uniform(0, 100), draw.uniform(0, 100)
            late = draw.random() < 1 / (1 + math.exp(0.08 * (income - debt)))
            file.write(f"{income:.1f},{debt:.1f},{'yes' if late else 'no'}\n")
