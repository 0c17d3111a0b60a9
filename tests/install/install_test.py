"""`make install`: what is installed where, a program built against it by find_package and by pkg-config, completions and manual pages.
Run by ctest with $BUILD = the tree that was built, and $CXX."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD, CXX = os.environ["BUILD"], os.environ["CXX"]


def run(*words, **how):
    result = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=600, **how)
    if result.returncode != 0:
        raise AssertionError(f"{words}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        run("cmake", "--install", BUILD, "--prefix", "/opt/parley", env={**os.environ, "DESTDIR": cls.folder / "package"})
        cls.tree = cls.folder / "package/opt/parley"
        cls.program = cls.tree / "bin/parley"
        cls.library = next(cls.tree.glob("lib*/**/libparley.so")).parent

    def test_nothing_lies_outside_the_prefix_and_one_header_is_the_door(self):
        self.assertEqual([p.name for p in (self.folder / "package").iterdir()], ["opt"])
        headers = sorted(str(p.relative_to(self.tree / "include")) for p in self.tree.glob("include/**/*.h"))
        self.assertEqual(headers, ["parley/base/error.h", "parley/parley.h"])
        for name in ("libparley_base.a", "gtest.h"):
            self.assertEqual(list(self.tree.rglob(name)), [])

    def test_a_program_is_built_by_find_package_and_tells_what_its_run_cost(self):
        build = self.folder / "example"
        run("cmake", "-S", ROOT / "examples/cpp", "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={CXX}", f"-DCMAKE_PREFIX_PATH={self.tree}")
        run("cmake", "--build", build)
        said = run(build / "three_banks").splitlines()
        self.assertRegex(said[0], r"^completed: epsilon = (1\.0000|0\.99\d\d), delta = 1e-06, against all other parties together$")
        found = json.loads(said[1].removeprefix("on rows of another bank: "))
        self.assertLess(found["error"], 0.4)

    def test_a_component_that_was_not_built_is_not_found(self):
        project = self.folder / "component"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.20)\nproject(x NONE)\nfind_package(parley REQUIRED COMPONENTS telepathy HINTS {self.tree})\n")
        with self.assertRaisesRegex(AssertionError, "parley_FOUND to FALSE"):
            run("cmake", "-S", project, "-B", project / "build")

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config not found")
    def test_pkg_config_names_header_and_library(self):
        at = {**os.environ, "PKG_CONFIG_PATH": str(self.library / "pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", "parley", env=at).split()
        self.assertIn("-lparley", flags)
        self.assertEqual((pathlib.Path(next(f for f in flags if f.startswith("-I"))[2:]) / "parley/parley.h").resolve(), (self.tree / "include/parley/parley.h").resolve())
        self.assertEqual(pathlib.Path(next(f for f in flags if f.startswith("-L"))[2:]).resolve(), self.library.resolve())

    def test_every_command_has_its_manual_page_with_every_option(self):
        commands = json.loads(run(self.program, "options", "--json"))["commands"]
        overview = (self.tree / "share/man/man1/parley.1").read_text()
        for c in commands:
            page = (self.tree / f"share/man/man1/parley-{c['command']}.1").read_text()
            self.assertTrue(page.startswith(".TH parley\\-"), page[:40])
            self.assertIn(f"parley\\-{c['command']} (1)", overview)
            for option in c["options"] + c["flags"]:
                self.assertIn(".B \\-\\-" + option["name"].replace("-", "\\-") + "\n", page)

    @unittest.skipUnless(shutil.which("groff"), "groff not found")
    def test_a_manual_page_is_set_without_a_complaint(self):
        for page in (self.tree / "share/man/man1").iterdir():
            result = subprocess.run(["groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-z", page], capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""), page)

    def completed(self, *words):
        """What bash offers after these words, the last of them under way."""
        script = self.tree / "share/bash-completion/completions/parley"
        said = run("bash", "-c", f'source "{script}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _parley; printf "%s\\n" "${{COMPREPLY[@]}}"', "bash", *words)
        return said.split()

    def test_bash_completes_commands_tasks_options_and_words(self):
        run("bash", "-n", self.tree / "share/bash-completion/completions/parley")
        self.assertEqual(self.completed("parley", "pred"), ["predict"])
        self.assertEqual(self.completed("parley", "ledger", "ca"), ["cap"])
        self.assertIn("--epsilon", self.completed("parley", "train", "--eps"))
        self.assertIn("newton", self.completed("parley", "train", "--algorithm", "n"))
        self.assertEqual(self.completed("parley", "train", "--data", "no-such"), [])  # then bash offers files

    @unittest.skipUnless(shutil.which("zsh"), "zsh not found")
    def test_zsh_reads_its_completions(self):
        run("zsh", "-n", self.tree / "share/zsh/vendor-completions/_parley")

    @unittest.skipUnless(shutil.which("fish"), "fish not found")
    def test_fish_reads_its_completions(self):
        run("fish", "--no-execute", self.tree / "share/fish/vendor_completions.d/parley.fish")

    def test_what_is_completed_is_what_the_program_has(self):
        commands = {c["command"] for c in json.loads(run(self.program, "options", "--json"))["commands"]}
        self.assertEqual(set(self.completed("parley", "")), commands | {"help"})
        fish = (self.tree / "share/fish/vendor_completions.d/parley.fish").read_text()
        self.assertEqual(set(re.findall(r"__fish_use_subcommand -f -a (\S+)", fish)), commands)


if __name__ == "__main__":
    unittest.main()
