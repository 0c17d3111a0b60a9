"""The compiled part of the package is made by CMake; the version is that of CMakeLists.txt."""
import os
import pathlib
import re
import subprocess
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r"project\(parley VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
TREE = pathlib.Path(os.environ.get("PARLEY_BUILD", ROOT / "build"))  # what was built there is not built again


class CMakeBuild(build_ext):
    def build_extension(self, extension: Extension) -> None:
        target = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve()
        built = TREE / "python/parley" / ("_parley" + sysconfig.get_config_var("EXT_SUFFIX"))
        if not built.exists():
            python = f"-DPython_EXECUTABLE={os.sys.executable}"
            subprocess.run(["cmake", "-S", ROOT, "-B", TREE, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", python], check=True)
        subprocess.run(["cmake", "--build", TREE, "--target", "parley_python", "-j", str(os.cpu_count())], check=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        self.copy_file(str(built), str(target))


# Not `build`, where CMake's tree is, and nothing beside the sources.
PLACES = {"build": {"build_base": str(TREE / "wheel")}, "egg_info": {"egg_base": str(TREE)}}
TREE.mkdir(parents=True, exist_ok=True)
setup(version=VERSION, ext_modules=[Extension("parley._parley", [])], cmdclass={"build_ext": CMakeBuild}, options=PLACES)
