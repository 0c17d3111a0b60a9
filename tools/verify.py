#!/usr/bin/env python3
"""A second verifier of studies: checks what parties hand over without parley and without rows (docs/check/second-verifier.md).

  tools/verify.py OUT... --study study.toml [--ledger FILE[,...]] [--json]

It was written from the pages under docs alone and shares no code with parley. It needs Python 3.11 and python3-cryptography.
The exit code is 0 only when all that was checked holds."""
import argparse
import json
import struct
import sys

from second_verifier.checks import Verification
from second_verifier.documents import Mistake

BEYOND = ["that a party added the noise that its charges are for: a value computed from rows looks like any other",
          "that a party computed it from the rows, and as many of them, as it says",
          "that a party kept no second copy of its rows, its noise or its ledger"]


def show(found):
    print(f"{found['study']}\nstudy {found['study_hash']}\n")
    for p in found["parties"]:
        said = "none" if p["epsilon"] is None else f"{p['epsilon']:.4f}"
        print(f"  {p['party']}: {p['rounds_released']} rounds, {p['rounds_from_rows']} from rows, {p['values_recomputed']} recomputed, ε found {said}, record {p['outcome']}")
    if found["not_private"]:
        print(f"\nNOT PRIVATE: {', '.join(found['not_private'])}")
    for title, lines in (("Not checked", found["unchecked"]), ("Taken as it stands", found["not_recomputed"]),
                         ("Nobody can verify from outside", found["beyond_verification"]), ("Wrong", found["wrong"])):
        if lines:
            print(f"\n{title}:\n" + "\n".join(f"  - {line}" for line in lines))
    if found["holds"]:
        print("\nEverything that was checked holds.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("records", nargs="+", metavar="OUT")
    parser.add_argument("--study", required=True)
    parser.add_argument("--ledger", default="")
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    try:
        found = Verification(words.study, words.records, [f for f in words.ledger.split(",") if f]).result()
    except (Mistake, OSError) as e:
        print(f"verify.py: {e}", file=sys.stderr)
        return 1
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, struct.error) as e:  # a record that no party writes
        print(f"verify.py: a record or the study cannot be read as parley writes it: {type(e).__name__}: {e}", file=sys.stderr)
        return 1
    found["beyond_verification"] = BEYOND
    if words.json:
        print(json.dumps(found, sort_keys=True, ensure_ascii=False))
    else:
        show(found)
    return 0 if found["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())
