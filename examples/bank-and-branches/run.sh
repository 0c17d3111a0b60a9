#!/bin/sh
# One operator, many machines: each MPI process holds the rows of some branches. Processes of one job trust each other; banks
# that do not need a study (three-hospitals).
. "$(dirname "$0")/../begin.sh"

python3 "$here/rows.py"
cp "$here/schema.toml" .
mpirun --oversubscribe --bind-to none -n 2 parley train --engine mpi --schema schema.toml \
  --data branch-0.csv,branch-1.csv,branch-2.csv,branch-3.csv --epsilon 1 --delta 1e-6 --quiet --out run
parley report run --out bank.html
