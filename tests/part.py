"""One part of a file of Python tests: part.py 2/3 FILE runs its 2nd, 5th, 8th ... test. So one file keeps two cores busy."""
import importlib
import pathlib
import sys
import unittest


def tests_in(suite):
    for item in suite:
        yield from tests_in(item) if isinstance(item, unittest.TestSuite) else (item,)


def main():
    part, parts = map(int, sys.argv[1].split("/"))
    file = pathlib.Path(sys.argv[2]).resolve()
    sys.path.insert(0, str(file.parent))
    sys.argv = [str(file)]
    whole = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(file.stem))
    mine = [t for i, t in enumerate(tests_in(whole)) if i % parts == part - 1]
    result = unittest.TextTestRunner().run(unittest.TestSuite(mine))
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
