#!/bin/sh
# make.sh FOLDER: a small sample of every format that parley keeps or gives away, as the program in the PATH writes it. Run once per
# version that changes a format; the samples of older versions stay, and formats_test.py reads all of them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
to=$(cd "$1" && pwd)
work=$(mktemp -d)
cd "$work"

python3 "$here/rows.py"
few="--nodes 2 --delta 1e-5 --epsilon 1 --loss-weight 20 --quiet"

# Models, the rows that they are applied to, and what they say of these.
mkdir -p "$to/models"
cp new.csv "$to/models/rows.csv"
for loss in logistic huber-hinge huber squared softmax; do
  python3 "$here/rows.py" "$loss" > s.toml
  case $loss in squared) more="" ;; *) more="--algorithm dp-gd --rounds 3" ;; esac
  parley train --data all.csv --schema s.toml --loss "$loss" $few $more --out "run-$loss" > /dev/null
  cp "run-$loss/model.json" "$to/models/$loss.json"
  parley predict --model "run-$loss/model.json" --data new.csv > "$to/models/$loss.csv"
done

# A schema, and the record of a run with a table of coefficients and a ledger.
(echo 'scale = "bound"'; python3 "$here/rows.py" squared) > bound.toml
cp bound.toml "$to/schema.toml"
parley ledger cap my.ledger --dataset people --epsilon 3 --delta 1e-5 > /dev/null
parley train --data all.csv --schema bound.toml --loss squared --intervals $few --ledger my.ledger --dataset people --out run > /dev/null
cp -r run "$to/run"
mkdir -p "$to/ledger"
cp my.ledger my.ledger.newest-head "$to/ledger/"
parley data export run --out "$to/rows" --format libsvm > /dev/null 2>&1
head -5 "$to/rows/train.libsvm" > five && mv five "$to/rows/train.libsvm"

# A plan, and a comparison.
parley plan --epsilon 1 --nodes 3 --records 4000,1500,500 --features 11 --json > "$to/plan.json"
parley compare --rows 300 --nodes 2 --loss-weight 50 --rounds 3 --algorithms dp-gd,newton --epsilon 1 --repeat 1 --quiet --out compared > /dev/null
cp compared/compare.csv compared/compare.json "$to/"

# A study between two parties: the shared file, certificates, approvals, and each party's folder.
mkdir -p "$to/study"
python3 "$here/rows.py" logistic > schema.toml
parley study new study.toml > /dev/null
sed -i 's/^title = .*/title = "A sample of the formats"/; s/^rounds = 0/rounds = 3/' study.toml
set -- $(python3 -c "
import socket
s = [socket.socket() for _ in range(2)]
[x.bind(('127.0.0.1', 0)) for x in s]
print(*(x.getsockname()[1] for x in s))")
for name in north south; do
  parley keys new "$name" --days 36500 > /dev/null
  parley study invite study.toml --name "$name" --address "127.0.0.1:$1" --certificate "$name.pem" --records 100 > /dev/null
  shift
done
for name in north south; do
  parley study sign study.toml --as "$name" --words "Approved for $name" > /dev/null
  parley ledger cap "$name.ledger" --dataset "$name" --epsilon 3 --delta 1e-5 > /dev/null
done
for name in north south; do
  parley join study.toml --as "$name" --data "$name.csv" --ledger "$name.ledger" --require-approvals true --out "out-$name" > "$name.log" 2>&1 &
  pids="${pids:-} $!"
done
for pid in $pids; do wait "$pid"; done
cp -r study.toml study.approvals schema.toml north.pem south.pem out-north out-south "$to/study/"
cp north.ledger "$to/study/"
du -sb "$to"
