#!/usr/bin/env python3
"""parley as a part of another project, and parley without its tests: both build without GTest. ctest gives $CXX."""
import os
import pathlib
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def run(*arguments):
    result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=600)
    if result.returncode != 0:
        raise AssertionError(f"{arguments}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def configure(source, build, *flags):
    """With GTest hidden, and in the cheapest form: one file per library, no optimisation."""
    return run("cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
               "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", "-DCMAKE_UNITY_BUILD=ON",
               f"-DCMAKE_CXX_COMPILER={os.environ['CXX']}", *flags)


class EmbedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name) / "build"

    def test_another_project_adds_parley_as_a_subdirectory(self):
        # BUILD_TESTING is the other project's wish for its own tests.
        configure(HERE / "embedded", self.build, f"-DPARLEY_SOURCE={ROOT}", "-DBUILD_TESTING=ON")
        run("cmake", "--build", self.build, "--target", "embedding")
        run(self.build / "embedding")  # its programs stand where it puts them
        self.assertIn("Total Tests: 0", run("ctest", "--test-dir", self.build, "-N"))

    def test_a_build_without_tests_needs_no_gtest_and_has_no_test(self):
        configure(ROOT, self.build, "-DBUILD_TESTING=OFF")
        names = [line.split(":")[0] for line in run("ninja", "-C", self.build, "-t", "targets", "all").splitlines()]
        self.assertIn("parley", names)
        self.assertEqual([n for n in names if "_test" in n], [])


if __name__ == "__main__":
    unittest.main()
