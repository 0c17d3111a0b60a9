#!/bin/sh
# From three CSV files to signed statements. One folder plays all three hospitals; between organisations each line that
# names a hospital is typed at that hospital.
. "$(dirname "$0")/../begin.sh"

python3 "$here/rows.py"
cp "$here/schema.toml" .
parley data check north.csv middle.csv south.csv --schema schema.toml

parley study new study.toml > /dev/null
sed -i 's/^title = .*/title = "Who comes back within 30 days"/' study.toml
set -- $(python3 "$here/ports.py")
for hospital in north:2000 middle:800 south:400; do
  name=${hospital%:*}
  parley keys new "$name" > /dev/null
  parley study invite study.toml --name "$name" --address "127.0.0.1:$1" --certificate "$name.pem" --records "${hospital#*:}" > /dev/null
  shift
done
for name in north middle south; do
  parley study sign study.toml --as "$name" --words "Approved for $name. A. Officer" > /dev/null
  parley ledger cap "$name.ledger" --dataset "$name" --epsilon 1 --delta 1e-5
done
parley study check study.toml

for name in north middle south; do
  parley join study.toml --as "$name" --data "$name.csv" --ledger "$name.ledger" --require-approvals true --out "out-$name" > "$name.log" 2>&1 &
  pids="${pids:-} $!"
done
for pid in $pids; do wait "$pid"; done

cat out-north/statement.txt
parley verify --study study.toml out-north out-middle out-south
