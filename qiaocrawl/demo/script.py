"""Simplified text as sites of a script show it: traditional characters and their quotes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

_QUOTES = str.maketrans("“”‘’", "「」『』")


def script_converter(script: str) -> Callable[[str], str]:
    """What turns simplified text into *script*: ``"hans"`` (as it is) or ``"hant"``."""
    return _to_traditional if script == "hant" else _unchanged


def _unchanged(text: str) -> str:
    return text


@lru_cache(maxsize=20_000)
def _to_traditional(text: str) -> str:
    converted: str = _opencc().convert(text)
    return converted.translate(_QUOTES)


@lru_cache(maxsize=1)
def _opencc():  # type: ignore[no-untyped-def]
    # Imported when first needed: only the traditional sites of the demo web use it.
    from opencc import OpenCC

    return OpenCC("s2tw")
