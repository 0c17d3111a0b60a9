"""All tests of the Python package that $PYTHONPATH, or the environment, has: tests, examples in the source and in
docs/use/python.md. With `types`: mypy --strict on the source, and stubtest on what is compiled. Needs $PARLEY, the program."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*words: str) -> None:
    print("+ python3", *words, flush=True)
    code = subprocess.run([sys.executable, *words], cwd=ROOT).returncode
    if code != 0:
        sys.exit(code)


def need(*modules: str) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            print(f"skipped: {module} not found (scripts/setup.sh pylibs)")
            sys.exit(0)


os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
if "types" in sys.argv[1:]:
    need("mypy", "numpy")
    with tempfile.TemporaryDirectory() as cache:
        run("-m", "mypy", "--cache-dir", cache)
        run("-m", "mypy.stubtest", "parley._parley", "--mypy-config-file", "pyproject.toml", "--allowlist", "python/tests/stubtest-allowed.txt")
else:
    need("pytest", "numpy", "scipy", "sklearn")
    run("-m", "pytest", "-p", "no:cacheprovider", "python/tests", *sys.argv[1:])
    run("-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "parley", "--doctest-modules")
    run("-m", "pytest", "-p", "no:cacheprovider", "--doctest-glob=*.md", "docs/use/python.md")
