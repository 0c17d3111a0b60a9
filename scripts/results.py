#!/usr/bin/env python3
"""Puts what `parley reproduce all` found into docs/results/results.md, between its two marks, and the charts beside it.

  scripts/results.py [FOLDER]        default: runs/reproduce
"""
import json
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- made by scripts/results.py: begin -->", "<!-- made by scripts/results.py: end -->"


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "runs/reproduce")
    index = (folder / "index.md").read_text().split("\n", 2)[2]  # without its heading
    results = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    if any(r["quick"] for r in results):
        sys.exit("these are --quick results: too short to be shown")
    images = ROOT / "docs/images/reproduce"
    shutil.rmtree(images, ignore_errors=True)
    images.mkdir(parents=True)
    for r in results:
        for chart in r["charts"]:
            shutil.copy(folder / chart, images)
    index = re.sub(r"\]\(([\w.-]+\.svg)\)", r"](../images/reproduce/\1)", index)
    made_of = "\n".join(f"<!-- {r['name']} {r['fingerprint']} -->" for r in results)
    page = ROOT / "docs/results/results.md"
    before, rest = page.read_text().split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n{made_of}\n\n{index.strip()}\n\n{END}{after}")


main()
