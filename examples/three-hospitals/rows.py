"""north.csv, middle.csv and south.csv: made patients, the same in every run. Stands for three files that never meet."""
import math
import random

draw = random.Random(15)
for name, count in (("north", 2000), ("middle", 800), ("south", 400)):
    with open(name + ".csv", "w") as file:
        file.write("age,pressure,ward,readmitted\n")
        for _ in range(count):
            age, pressure, ward = draw.uniform(18, 100), draw.gauss(140, 25), draw.choice(["surgery", "medicine", "heart"])
            score = 0.08 * (age - 60) + 0.04 * (pressure - 140) + (1.5 if ward == "heart" else -0.5)
            said = "yes" if draw.random() < 1 / (1 + math.exp(-score)) else "no"
            file.write(f"{age:.0f},{min(220, max(70, pressure)):.0f},{ward},{said}\n")
