"""Made wages of two registers: pay = 14 + 0.3 years + 6 for a degree, and what else makes people different."""
import random

draw = random.Random(4)
for name, count in (("east", 6000), ("west", 9000)):
    with open(name + ".csv", "w") as file:
        file.write("years,degree,pay\n")
        for _ in range(count):
            years, degree = draw.uniform(0, 40), draw.choice(["no", "yes"])
            pay = 14 + 0.3 * years + (6 if degree == "yes" else 0) + draw.gauss(0, 4)
            file.write(f"{years:.1f},{degree},{min(60, max(0, pay)):.2f}\n")
