#!/usr/bin/env python3
"""Adult, the papers' comparison at equal proved privacy loss: test error of dvp, r-admm and mr-admm (and the optimum) against ε.
Writes docs/images/adult_algorithms.{csv,svg}. Usage: experiments/adult_algorithms.py [--redraw]"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PARLEY = str(ROOT / "build/parley")
COMMON = ["--data", "adult", "--preprocessing", "paper", "--nodes", "5", "--graph", "0-2,0-3,2-3,1-4,3-4", "--test-share", "0.115475", "--rounds", "50",
          "--repeat", "10", "--seed", "1", "--metrics", "last", "--json", "--quiet"]
ALGORITHMS = {  # name: (options, private rounds); at these rates the Jacobian is free or nearly so
    "dvp": (["--algorithm", "dvp"], 50),
    "r-admm": (["--algorithm", "r-admm"], 25),
    "mr-admm": (["--algorithm", "mr-admm", "--penalty", "1.04", "--penalty-growth", "1.04"], 25),
}
EPSILONS = [2, 4, 6, 8, 11, 16]
COLOURS = {"dvp": "#0072B2", "r-admm": "#E69F00", "mr-admm": "#009E73"}  # Okabe and Ito: safe for colour-blind readers


def measure():
    rows = []
    for name, (options, rounds) in ALGORITHMS.items():
        for epsilon in EPSILONS:
            rate = rate_for(options, epsilon)
            with tempfile.TemporaryDirectory() as folder:
                out = subprocess.run([PARLEY, "train", *COMMON, *options, "--noise-rate", repr(rate), "--out", folder + "/r"], cwd=ROOT, capture_output=True, text=True, check=True)
            j = json.loads(out.stdout)
            rows.append((name, j["epsilon"], rate, j["test_error"]["mean"], j["test_error"]["min"], j["test_error"]["max"], j["train_loss"]["mean"], j["test_error_nonprivate"]))
            print(*rows[-1], sep=",", flush=True)
    return rows


def rate_for(options, target):
    """The noise rate whose whole-run proved loss at the worst node (degree 1) is the target, by bisection on `parley account`."""
    low, high = 1e-4, 10.0
    for _ in range(50):
        rate = math.sqrt(low * high)
        out = subprocess.run([PARLEY, "account", options[1], *options[2:], "--degree", "2,1,2,3,2", "--rounds", "50", "--tolerance", "1e-6", "--noise-rate", repr(rate), "--json"],
                             capture_output=True, text=True, check=True)
        low, high = (rate, high) if json.loads(out.stdout)["epsilon"] <= target else (low, rate)
    return low


def svg(rows):
    width, height, left, bottom, top, right = 640, 360, 62, 48, 28, 96
    xs = lambda e: left + (math.log(e) - math.log(1.8)) / (math.log(18) - math.log(1.8)) * (width - left - right)
    low, high = 0.15, 0.28
    ys = lambda v: height - bottom - (min(v, high) - low) / (high - low) * (height - bottom - top)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="16" font-size="13">Test error on Adult, 5 nodes, 10 runs each: mean and range</text>']
    for v in (0.16, 0.18, 0.20, 0.22, 0.24, 0.26, 0.28):
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{ys(v):.1f}" y2="{ys(v):.1f}" stroke="#ddd"/><text x="{left - 8}" y="{ys(v) + 4:.1f}" text-anchor="end">{100 * v:.0f} %</text>')
    for e in EPSILONS:
        out.append(f'<text x="{xs(e):.1f}" y="{height - bottom + 18}" text-anchor="middle">{e}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle">ε proved, whole run, δ = 0</text>')
    best = rows[0][7]
    out.append(f'<line x1="{left}" x2="{width - right}" y1="{ys(best):.1f}" y2="{ys(best):.1f}" stroke="#555" stroke-dasharray="5 4"/>'
               f'<text x="{width - right + 6}" y="{ys(best) + 4:.1f}" fill="#555">not private</text>')
    labels = []
    for k, name in enumerate(ALGORITHMS):
        points = [r for r in rows if r[0] == name]
        c, shift = COLOURS[name], (k - 1) * 5
        out.append(f'<polyline fill="none" stroke="{c}" stroke-width="2" points="' + " ".join(f"{xs(r[1]) + shift:.1f},{ys(r[3]):.1f}" for r in points) + '"/>')
        for r in points:
            x = xs(r[1]) + shift
            out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{ys(r[4]):.1f}" y2="{ys(r[5]):.1f}" stroke="{c}" stroke-opacity="0.6"/><circle cx="{x:.1f}" cy="{ys(r[3]):.1f}" r="3.2" fill="{c}"/>')
        labels.append([ys(points[-1][3]), name, c])
    floor = ys(best) - 15
    for y, name, c in sorted(labels, reverse=True):
        floor = min(floor, y)
        out.append(f'<text x="{width - right + 6}" y="{floor + 4:.1f}" fill="{c}" font-weight="bold">{name}</text>')
        floor -= 15
    out.append("</svg>")
    return "\n".join(out) + "\n"


def stored(path):
    lines = [line.split(",") for line in path.read_text().splitlines()[1:]]
    return [(line[0], *map(float, line[1:])) for line in lines]


if __name__ == "__main__":
    target = ROOT / "docs/images"
    table = stored(target / "adult_algorithms.csv") if "--redraw" in sys.argv else measure()
    target.mkdir(parents=True, exist_ok=True)
    (target / "adult_algorithms.csv").write_text("algorithm,epsilon,noise_rate,test_error_mean,test_error_min,test_error_max,train_loss_mean,test_error_nonprivate\n" +
                                                 "".join(",".join(map(str, r)) + "\n" for r in table))
    (target / "adult_algorithms.svg").write_text(svg(table))
