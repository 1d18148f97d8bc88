"""What a wheel holds and asks for; all else stands in pyproject.toml.

The three folders of Scrapy and the manual stand at the top of the tree, where people look for them.
Installed, they are inside our package: nobody else's `spiders` is to meet them. What is asked for
is the first part of requirements.txt.

Every module with a ``.pxd`` beside it is compiled, for one stable interface of all Pythons. Without
Cython or a C compiler it stays the Python it is, with the same results (``qiaocrawl/kernels``).

``scrapyd-deploy`` builds its egg with this file too.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent

IS_EGG = "bdist_egg" in sys.argv


class ModulesOfEgg(build_py):
    """The modules, and what the clone has compiled of them, as files beside them.

    Python loads no machine code out of an archive, and setuptools would put loaders of its own in
    the modules' place: ``qiaocrawl/kernels`` takes it out.
    """

    def run(self) -> None:
        """Copy them."""
        super().run()
        for made in ROOT.glob("qiaocrawl/**/*.abi3.so"):
            self.copy_file(str(made), str(Path(self.build_lib) / made.relative_to(ROOT)))


def loops() -> list[Extension]:
    """The modules with inner loops, as extensions that may be missing."""
    if IS_EGG:
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:
        print("Cython is not installed: inner loops are not compiled, and run as Python")
        return []
    modules = [
        Extension(
            ".".join(path.relative_to(ROOT).with_suffix("").parts),
            [str(path.relative_to(ROOT).with_suffix(".py"))],
            # A fused multiplication would give other last bits than the same loop in Python.
            extra_compile_args=["-O2", "-g0", "-ffp-contract=off"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
        )
        for path in sorted(ROOT.glob("qiaocrawl/**/*.pxd"))
    ]
    directives = {
        "language_level": "3",
        # Types are the .pxd's: an annotation says what a reader, and mypy, may pass.
        "annotation_typing": False,
        "boundscheck": False,
        "wraparound": False,
        "cdivision": True,
        "initializedcheck": False,
    }
    extensions: list[Extension] = cythonize(
        modules, build_dir="build/loops", compiler_directives=directives
    )
    for extension in extensions:
        extension.optional = True
    return extensions


core, _, _extras = (
    Path(__file__).with_name("requirements.txt").read_text("utf-8").partition("# --- extras")
)
lines = (line.strip() for line in core.splitlines())
folders = ("spiders", "pipelines", "middlewares", "docs", "docs/zh")
beside = {f"qiaocrawl.{folder.replace('/', '.')}": folder for folder in folders}
setup(
    packages=[*find_packages(include=["qiaocrawl", "qiaocrawl.*"]), *beside],
    package_dir=beside,
    ext_modules=loops(),
    cmdclass={"build_py": ModulesOfEgg} if IS_EGG else {},
    options={
        "bdist_wheel": {"py_limited_api": "cp311"},
        "build_ext": {"parallel": os.cpu_count()},
    },
    install_requires=[line for line in lines if line and not line.startswith("#")],
)
