#!/bin/sh
# A researcher's algorithm beside parley's: the rows of a run go out, and its results come back.
. "$(dirname "$0")/../begin.sh"

set -- --rows 1500 --nodes 3 --split-seed 1 --delta 1e-5 # the same rows and the same split in both commands
parley train "$@" --epsilon 1 --quiet --out run > /dev/null
parley data export run --out rows
python3 "$here/algorithm.py" > results.csv
parley compare "$@" --algorithms dp-gd,auto --epsilon 1 --repeat 2 --with results.csv --out comparison --quiet
