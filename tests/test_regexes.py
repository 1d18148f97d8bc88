"""No pattern that meets hostile text in the crawl's own process runs away on it (F-R12).

Pages are analysed in worker processes that are ended after QIAO_EXTRACT_SECONDS; what reads
URLs, headers, answers of engines, sitemaps and feeds has no such end.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

import pytest

import qiaocrawl
from qiaocrawl.storage.frontier import MAX_URL_CHARS

_CHARS = 64 * 1024
_SECONDS = 1.0
_BITS = (
    "a",
    " ",
    "\t",
    "\n",
    "0",
    "-",
    "/",
    "<",
    "<a ",
    "<!--",
    "&",
    "&#",
    '="',
    "2026-1-",
    "10:1",
    "a ",
    "的",
    "（",
    "http://",
    "a/a/",
    "?a=1&",
    "\\",
    "{",
    "%2",
    ",1",
    ".a",
    "@a.",
    "　",
)
HOSTILE = [bit * (_CHARS // len(bit)) for bit in _BITS] + [" " * _CHARS + "x", "a" * _CHARS + "!"]


IN_THE_CRAWL = {"urls", "search", "crawl", "storage", "frontier", "discovery", "fetch",
                "revisit", "runs", "runtime"}  # fmt: skip


# Asked about whole texts, or their beginning; searched for, they would take quadratic time.
WHOLE_ONLY = {
    "qiaocrawl.urls.versions._SUFFIX", "qiaocrawl.discovery.pagers._NUMBER",
    "qiaocrawl.discovery.static_traps._TOKEN",
    "qiaocrawl.discovery.url_sources._URL_LINE", "qiaocrawl.discovery.pagers._NEXT",
    "qiaocrawl.discovery.pagers._NO_STEP",
}  # fmt: skip


def modules() -> Iterator[ModuleType]:
    """All modules of the units above."""
    units = {name for _, name, _ in pkgutil.iter_modules(qiaocrawl.__path__)}
    assert IN_THE_CRAWL - units == set(), "moved or renamed"
    for _, name, _ in pkgutil.walk_packages(qiaocrawl.__path__, "qiaocrawl."):
        # Recorded webs are an operator's own files. Feeds come from anywhere.
        if (
            name == "qiaocrawl.text.well_formed"
            or name.split(".")[1] in IN_THE_CRAWL
            and not name.startswith("qiaocrawl.fetch.replay")
        ):
            yield importlib.import_module(name)


def patterns() -> Iterator[tuple[str, re.Pattern[str] | re.Pattern[bytes]]]:
    """Every pattern that is a name of a module, or stands in a tuple, list or dict of one."""
    for module in modules():
        for name, value in vars(module).items():
            many = value.values() if isinstance(value, dict) else value
            held = many if isinstance(value, tuple | list | dict | frozenset) else (value,)
            for one in held:
                if isinstance(one, re.Pattern):
                    yield f"{module.__name__}.{name}", one


class TooSlowError(Exception):
    """The alarm."""


def _ring(number: int, frame: FrameType | None) -> None:
    raise TooSlowError


def test_every_pattern_ends_soon_on_every_hostile_text() -> None:
    known = {pattern: name for name, pattern in patterns()}
    assert len(known) > 10
    slow: list[str] = []
    before = signal.signal(signal.SIGVTALRM, _ring)
    try:
        for pattern, name in known.items():
            for long in HOSTILE:
                text = long[:MAX_URL_CHARS] if ".urls." in name else long
                subject = text.encode() if isinstance(pattern.pattern, bytes) else text
                signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
                try:
                    find: Any = pattern.fullmatch if name in WHOLE_ONLY else pattern.search
                    find(subject)
                except TooSlowError:
                    slow.append(f"{name} on {text[:10]!r}")
                finally:
                    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.signal(signal.SIGVTALRM, before)
    assert not slow, slow


def test_the_alarm_rings() -> None:
    before = signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)
    try:
        with pytest.raises(TooSlowError):
            re.search(r"(a+)+b", "a" * 40)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
