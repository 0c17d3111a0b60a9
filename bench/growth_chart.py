"""growth_chart.py RESULTS/growth.json OUT.svg: one log-log panel per size that grows, with the slope of each series."""
import json
import math
import pathlib
import sys

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]  # Okabe and Ito: told apart by colour-blind readers too
PANELS = {
    "rows": "Local solve, by rows",
    "features": "Local solve, by features",
    "nodes": "mr-admm, 50 rounds, by nodes",
    "threads": "mr-admm, 50 rounds, by threads",
}
WIDTH, HEIGHT, LEFT, TOP, PLOT_W, PLOT_H = 470, 420, 70, 50, 370, 240
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def seconds_label(power):
    unit, by = ("s", 0) if power >= 0 else ("ms", 3) if power >= -3 else ("µs", 6)
    return f"{10 ** (power + by):g} {unit}"


def marker(kind, x, y, colour):
    shapes = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>',
        f'<rect x="{x - 3.7:.1f}" y="{y - 3.7:.1f}" width="7.4" height="7.4"/>',
        f'<path d="M{x:.1f} {y - 5:.1f}l4.8 8.5h-9.6z"/>',
        f'<path d="M{x:.1f} {y - 5.2:.1f}l5.2 5.2l-5.2 5.2l-5.2 -5.2z"/>',
    ]
    return f'<g fill="{colour}" stroke="#fff">{shapes[kind]}</g>'


def panel(name, lines):
    # (label, colour, points, slope); threads: both times, since only the wall's should fall
    drawn = []
    for i, s in enumerate(lines):
        points = [(p["size"], p["seconds"]) for p in s["points"]]
        if name == "threads":
            drawn.append(("processor time", 0, points, s["slope"]))
            drawn.append(("wall time", 1, [(p["size"], p["seconds_wall"]) for p in s["points"]], s["slope_wall"]))
        else:
            drawn.append((s["name"], i, points, s["slope"]))
    sizes = [x for d in drawn for x, _ in d[2]]
    times = [t for d in drawn for _, t in d[2]]
    low_x, high_x = math.log10(min(sizes)) - 0.08, math.log10(max(sizes)) + 0.08
    low_y, high_y = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    at_x = lambda x: LEFT + (math.log10(x) - low_x) / (high_x - low_x) * PLOT_W
    at_y = lambda t: TOP + (high_y - math.log10(t)) / (high_y - low_y) * PLOT_H
    out = [f'<text class="title" x="{LEFT}" y="28">{PANELS[name]}</text>']
    if name != "threads":
        out.append(f'<text class="tick" x="{LEFT + PLOT_W}" y="28" text-anchor="end">processor time</text>')
    for power in range(low_y, high_y + 1):
        y = at_y(10.0**power)
        out.append(f'<line class="grid" x1="{LEFT}" x2="{LEFT + PLOT_W}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{seconds_label(power)}</text>')
    powers = range(math.ceil(low_x), math.floor(high_x) + 1)
    ticks = sorted(set(sizes)) if name == "threads" else [10**p for p in powers]
    for size in ticks:
        x = at_x(size)
        text = f"{size:g}" if size < 1e4 else "10" + str(round(math.log10(size))).translate(SUPERSCRIPT)
        out.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP + PLOT_H}" y2="{TOP + PLOT_H + 5}"/>')
        out.append(f'<text class="tick" x="{x:.1f}" y="{TOP + PLOT_H + 19}" text-anchor="middle">{text}</text>')
    out.append(f'<path class="axis" d="M{LEFT} {TOP}V{TOP + PLOT_H}H{LEFT + PLOT_W}" fill="none"/>')
    out.append(f'<text class="tick" x="{LEFT + PLOT_W / 2}" y="{TOP + PLOT_H + 37}" text-anchor="middle">{name}</text>')
    for row, (label, i, points, slope) in enumerate(drawn):
        path = "L".join(f"{at_x(x):.1f} {at_y(t):.1f}" for x, t in points)
        out.append(f'<path d="M{path}" fill="none" stroke="{COLOURS[i]}" stroke-width="2"/>')
        out += [marker(i, at_x(x), at_y(t), COLOURS[i]) for x, t in points]
        y = TOP + PLOT_H + 58 + 17 * row
        out.append(marker(i, LEFT + 5, y - 4, COLOURS[i]))
        number = f"{slope:.2f}".replace("-", "−")
        out.append(f'<text class="label" x="{LEFT + 17}" y="{y}">{label}: slope {number}</text>')
    return out


def main():
    found = json.loads(pathlib.Path(sys.argv[1]).read_text())
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {2 * HEIGHT}" '
        f'width="{2 * WIDTH}" height="{2 * HEIGHT}" font-family="system-ui, sans-serif">',
        "<title>parley: processor time as problems grow, both axes logarithmic</title>",
        "<style>.title{font-size:15px;font-weight:600;fill:#222}.tick{font-size:12px;fill:#555}"
        ".label{font-size:12px;fill:#222}.grid{stroke:#e4e4e4}.axis{stroke:#888}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for n, name in enumerate(PANELS):
        out.append(f'<g transform="translate({n % 2 * WIDTH} {n // 2 * HEIGHT})">')
        out += panel(name, [s for s in found["series"] if s["panel"] == name])
        out.append("</g>")
    pathlib.Path(sys.argv[2]).write_text("\n".join(out + ["</svg>"]) + "\n")
    print(sys.argv[2])


main()
