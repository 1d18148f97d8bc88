"""Patterns that are compiled when they are first searched for.

Compiling a long one takes milliseconds, for all of them a quarter of a second: a process that
only names what uses them, and a page that has no such thing, should not wait for it.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "split", "pattern")


class _LatePattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self._written = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(f"a pattern that is compiled late has no {name!r}")
        compiled = re.compile(*self._written)
        # From now on its methods are found here at once, as those of any pattern.
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)
        return self.__dict__[name]


def late_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile``, at the first use; its methods only, it is no argument for ``re``'s."""
    return cast("re.Pattern[str]", _LatePattern(pattern, flags))
