"""`make deb`: three packages that dpkg installs into an empty system and removes again, whose programs work from there, and whose needs
are Debian's packages that this machine was built with. Run by ctest with $BUILD = the build tree."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["BUILD"])
NAMES = ("parley", "libparley-dev", "python3-parley")


def output(*words, **kw):
    result = subprocess.run([str(w) for w in words], capture_output=True, text=True, **kw)
    assert result.returncode == 0, f"{words}\n{result.stdout}{result.stderr}"
    return result.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="parley-deb-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        output("cmake", "--build", BUILD, "--target", "parley", "parley_shared", "parley_python")
        cls.packages = dict(zip(NAMES, map(pathlib.Path, output(ROOT / "scripts/deb.sh", BUILD, cls.folder / "out").split()), strict=True))

    def test_they_need_what_debian_has(self):
        for name, file in self.packages.items():
            needs = re.findall(r"(?:^|, )([a-z0-9.+-]+)", output("dpkg-deb", "--field", file, "Depends"))
            self.assertIn("libc6", needs, name)
            for need in needs:
                self.assertIn("ok installed", output("dpkg-query", "--show", "--showformat=${Status}", need), f"{name} needs {need}")

    def test_they_are_installed_work_and_leave_nothing_behind(self):
        root = self.folder / "root"
        for folder in ("info", "updates", "triggers"):
            (root / "var/lib/dpkg" / folder).mkdir(parents=True)
        (root / "var/log").mkdir()
        for file in ("status", "available"):
            (root / "var/lib/dpkg" / file).touch()
        dpkg = ("dpkg", f"--root={root}", "--force-depends", "--force-script-chrootless")
        output(*dpkg, "--install", *self.packages.values())
        version = re.search(r"project\(parley VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertEqual(output(root / "usr/bin/parley", "--version").split(), ["parley", version])
        python = {**os.environ, "PYTHONPATH": str(root / "usr/lib/python3/dist-packages")}
        said = output("/usr/bin/python3", "-c", "import parley; print(parley.__version__, parley.__file__, parley.PrivateLogisticRegression(epsilon=1).epsilon)", env=python, cwd="/")
        self.assertEqual(said.split(), [version, str(root / "usr/lib/python3/dist-packages/parley/__init__.py"), "1"])
        flags = output("pkg-config", "--define-prefix", "--cflags", "--libs", "parley", env={**os.environ, "PKG_CONFIG_PATH": str(root / "usr/lib/pkgconfig")}).split()
        example = self.folder / "three_banks"
        output(os.environ["CXX"], "-std=c++20", ROOT / "examples/cpp/three_banks.cpp", "-o", example, *flags)
        self.assertIn("epsilon", output(example, env={**os.environ, "LD_LIBRARY_PATH": str(root / "usr/lib")}, cwd=self.folder))
        for page in ("share/man/man1/parley.1", "share/bash-completion/completions/parley", "share/doc/python3-parley/copyright"):
            self.assertTrue((root / "usr" / page).exists(), page)
        output(*dpkg, "--purge", *reversed(NAMES))
        self.assertEqual([p for p in root.rglob("*") if p.is_file() and "var" not in p.relative_to(root).parts[:1]], [])


if __name__ == "__main__":
    unittest.main()
