"""What the pages say of other programs than parley is there, and the result on the first page is what `make demo` prints. Run by ctest
with $PARLEY = the program."""
import re
import shlex
import tempfile
import unittest

from docs_commands_test import GENERATED, PAGES, ROOT, parley


class OtherPrograms(unittest.TestCase):
    """What a block or a sentence names beside parley: targets of make, scripts, programs and variables that its tests read."""

    def spans(self):
        for page in PAGES:
            if page.name in GENERATED:
                continue
            fence = False
            for number, line in enumerate(page.read_text().splitlines(), 1):
                if line.startswith("```"):
                    fence = not fence
                for text in ([line] if fence or line.startswith("    ") else re.findall(r"`([^`]+)`", line)):
                    yield f"{page.relative_to(ROOT)}:{number}: {text}", text

    def test_what_they_name_is_there(self):
        targets = set(re.findall(r"(?m)^([a-z][\w-]*(?: [a-z][\w-]*)*):", (ROOT / "Makefile").read_text()))
        targets = {word for names in targets for word in names.split()}
        cmake = "\n".join(f.read_text() for f in [ROOT / "CMakeLists.txt", *ROOT.glob("*/**/CMakeLists.txt")] if "build" not in f.relative_to(ROOT).parts[0])
        tests = "\n".join(f.read_text() for f in (ROOT / "tests").rglob("*") if f.suffix in (".py", ".h", ".cpp"))
        made = scripts = 0
        for where, text in self.spans():
            for target in re.findall(r"(?:^|[\s;&])make ([a-z][\w-]*)", text):
                self.assertIn(target, targets, where)
                made += 1
            for script in re.findall(r"(?<![\w./-])((?:tests|scripts|bench)/[\w/.-]+\.(?:py|sh|cpp))\b", text):
                self.assertTrue((ROOT / script).exists(), where)
                scripts += 1
            for program in re.findall(r"(?<![\w./-])build/(?!(?:venv|deb|image)\b)([a-z]\w*)", text):
                self.assertRegex(cmake + " add_executable(parley ", rf"\b{program}\b|\b{re.sub('^(mesh|bench)_', '', program)}\b", where)
            for variable in re.findall(r"\b(PARLEY_TEST_[A-Z]+|PARLEY_FAILPOINTS|MESH_STRANGER)=", text):
                self.assertIn(variable, tests, where)
        self.assertGreater(made, 10)
        self.assertGreater(scripts, 10)


class Demo(unittest.TestCase):
    """The result on the first page is what `make demo` prints: the same rows and columns, and the same figures where no noise is in them."""

    NUMBER = re.compile(r"\*?\b\d+\.\d+")

    def table(self, text):
        lines = text[text.index("Test error in %"):].splitlines()
        return lines[:lines.index("") if "" in lines else None]

    def test_the_table_of_readme(self):
        recipe = re.search(r"(?m)^demo:.*\n(?:\t.*\n)*?\t@\$\(BUILD\)/parley ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text())[1]
        words = shlex.split(recipe.replace("\\\n", " ").split("--out")[0])
        page = re.search(r"(?s)```\n(Test error in %.*?)```", (ROOT / "README.md").read_text())[1]
        with tempfile.TemporaryDirectory() as folder:
            result = parley(*words, "--out", folder + "/demo", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        shown, said = self.table(page), self.table(result.stdout)
        self.assertEqual(shown[:2], said[:2])
        for expected, line in zip(shown[2:4], said[2:4], strict=True):  # with noise
            name = re.match(r" +[a-z, -]+?(?=  )", expected)[0]
            self.assertEqual(re.match(r" +[a-z, -]+?(?=  )", line)[0], name)
            figures = [[float(n.strip("*")) for n in self.NUMBER.findall(x)] for x in (expected, line)]
            self.assertEqual(len(figures[0]), len(figures[1]))
            for then, now in zip(*figures):
                self.assertLess(abs(then - now), 3, "points: far beyond the scatter of runs")
        self.assertEqual(shown[4:6], said[4:6], "without noise, hence the same in every run")
        for expected, line in zip(shown[6:], said[6:], strict=True):  # figures of runs with noise: their words
            words = [re.sub(r"\d+\.\d\d %", "… %", text) for text in (expected.removesuffix(" …"), line)]
            close = line.startswith(expected.split(":")[0]) and "no choice is clearly best" in line  # five runs may overlap
            self.assertTrue(words[1].startswith(words[0]) or close, line)


if __name__ == "__main__":
    unittest.main()
