#!/bin/sh
# An office publishes a table of coefficients. Its intervals include the privacy noise, so they may be quoted as they are.
. "$(dirname "$0")/../begin.sh"

python3 "$here/rows.py"
cp "$here/schema.toml" .
parley ledger cap office.ledger --dataset wages --epsilon 2 --delta 1e-5
parley train --data east.csv,west.csv --schema schema.toml --loss squared --intervals --epsilon 1 --delta 1e-6 \
  --ledger office.ledger --dataset wages --quiet --out run
cat run/coefficients.csv
parley report run --out table.html --card card.md
