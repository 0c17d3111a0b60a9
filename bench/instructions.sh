#!/usr/bin/env bash
# Instructions per row and per entry of one evaluation (value and gradient; with the Hessian), by callgrind:
#   instructions.sh BENCH_EVALUATE OUTDIR      writes OUTDIR/instructions.json and prints a table
# Counts do not depend on what else the machine does. Valgrind runs the AVX2 kernels, whatever the processor has.
set -euo pipefail
program=$1 out=$2
mkdir -p "$out"
echo "== instructions"
if ! command -v valgrind > /dev/null; then
  echo "skipped: valgrind not installed"
  echo '{"skipped": "valgrind not installed"}' > "$out/instructions.json"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for data in adult census dense; do
  for what in gradient hessian; do
    valgrind --tool=callgrind --callgrind-out-file="$work/out" --toggle-collect='parley::problem::evaluate*' \
      "$program" "$what" "$data" > "$work/sizes" 2> /dev/null || { echo "skipped: $data"; continue; }
    callgrind_annotate --inclusive=yes --threshold=100 --auto=no "$work/out" > "$work/$data.$what.functions"
    tail -1 "$work/sizes" > "$work/$data.$what.sizes"
  done
done
python3 - "$work" "$out/instructions.json" << 'PYTHON'
import json, pathlib, re, sys
work, file = pathlib.Path(sys.argv[1]), sys.argv[2]
parts = {"scores": "kernel::scores(", "logistic": "kernel::logistic(", "gradient": "kernel::add_gradient(",
         "outer products": "kernel::add_outer_products(", "all": "problem::evaluate("}
print(f"{'':10} {'evaluation':12} {'rows':>6} {'entries/row':>11}   instructions per row (per entry)")
results = []
for functions in sorted(work.glob("*.functions")):
    data, what, _ = functions.name.split(".")
    rows, features, entries = map(int, (work / f"{data}.{what}.sizes").read_text().split())
    count = {}
    for line in functions.read_text().splitlines():
        found = re.match(r"\s*([\d,]+) \(", line)
        for part, name in parts.items():
            if found and ":parley::problem::" + name.removeprefix("problem::") in line:
                count.setdefault(part, int(found[1].replace(",", "")))
    print(f"{data:10} {what:12} {rows:6} {entries / rows:11.1f}   " +
          ", ".join(f"{part} {count[part] / rows:.1f} ({count[part] / entries:.2f})" for part in parts if part in count))
    results.append({"data": data, "evaluation": what, "rows": rows, "features": features, "entries": entries,
                    "instructions": count, "per_row": {p: c / rows for p, c in count.items()},
                    "per_entry": {p: c / entries for p, c in count.items()}})
pathlib.Path(file).write_text(json.dumps({"kernels": "AVX2", "evaluations": results}, indent=2) + "\n")
print(f"\n{file}\n")
PYTHON
