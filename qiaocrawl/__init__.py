"""qiaocrawl: a focused crawler for Chinese-language topic news."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__version__ = "0.1.0"


def lazy_exports(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of *package*: imports the home of a name when it is first asked for.

    A command that needs one small module of a package then pays for no other: NumPy, lxml and
    the compiler take longer to import than most commands to answer.

    Args:
        homes: module of the package -> the names it gives. None may be called like a module.
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
