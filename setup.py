"""The compiled part of the package is made by CMake; the version is that of CMakeLists.txt."""
import os
import pathlib
import re
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r"project\(parley VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


class CMakeBuild(build_ext):
    def build_extension(self, extension: Extension) -> None:
        target = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve()
        tree = pathlib.Path(os.environ.get("PARLEY_BUILD", ROOT / "build-library"))
        python = f"-DPython_EXECUTABLE={os.sys.executable}"
        subprocess.run(["cmake", "-S", ROOT, "-B", tree, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DPARLEY_LIBRARY=ON", "-DBUILD_TESTING=OFF", python], check=True)
        subprocess.run(["cmake", "--build", tree, "--target", "parley_python", "-j", str(os.cpu_count())], check=True)
        built = next((tree / "python/parley").glob("_parley*.so"))
        target.parent.mkdir(parents=True, exist_ok=True)
        self.copy_file(str(built), str(target))


setup(version=VERSION, ext_modules=[Extension("parley._parley", [])], cmdclass={"build_ext": CMakeBuild})
