"""Whether the signs of a definition hold in a document, and whether hits answer the query."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from qiaocrawl.items import Hit
from qiaocrawl.search.documents import HtmlDocument, JsonDocument
from qiaocrawl.search.records import Signal
from qiaocrawl.text import fold
from qiaocrawl.urls import host_of

COMMON_BLOCK_WORDS = (
    "请输入验证码",
    "安全验证",
    "人机验证",
    "访问过于频繁",
    "操作过于频繁",
    "访问异常",
    "异常流量",
    "captcha",
    "unusual traffic",
    "are you a robot",
    "verify you are human",
)
"""Said by check pages of many engines; asked of every answer that has no hits."""

COMMON_CHECK_PATHS = ("captcha", "antispider", "/verify", "/challenge", "/sorry", "wappass")
"""Parts of addresses that engines redirect to when they want a human."""

# ASCII words count whole, everything else by bigrams: Latin bigrams are in every text.
_RUNS = re.compile(r"[a-z0-9]+|[^\W_a-z0-9]+")
_MAX_SHOWN_CHARS = 120


def found_sign(
    signals: Iterable[Signal], document: HtmlDocument | JsonDocument, term: str
) -> str:
    """The first of *signals* that holds, in words for the ledger; "" when none does.

    The engine's page repeats *term*, so it is taken out of the texts first: a search for
    "验证码" is not blocked.
    """
    for signal in signals:
        if signal.place == "location":
            continue
        for text in _texts(signal, document):
            if not signal.words:
                return _shown(signal.place, signal.path, text)
            if word := found_word(signal.words, text, term):
                return _shown(signal.place, signal.path, word)
    return ""


def found_word(words: Iterable[str], text: str, term: str = "") -> str:
    """The first of *words* in *text* less *term*, letter case aside; "" when none is."""
    lowered = text.casefold()
    if term:
        lowered = lowered.replace(term.casefold(), " ")
    return next((word for word in words if word.casefold() in lowered), "")


def shares_words(term: str, hits: Sequence[Hit]) -> bool:
    """Whether any hit shows a character bigram (or a Latin word) of *term*.

    Traditional and simplified characters are the same here. A term of marks only says
    nothing: True.
    """
    units = _units(term)
    if not units:
        return True
    texts = (fold(f"{hit.title} {hit.snippet}") for hit in hits)
    return any(unit in text for text in texts for unit in units)


def is_on_site(url: str, site: str) -> bool:
    """Whether *url* is on the host *site* or below it; a leading ``www.`` makes no difference."""
    host, wanted = host_of(url).partition(":")[0], site.lower().rstrip(".")
    if host == wanted or host.endswith("." + wanted):
        return True
    return host.removeprefix("www.") == wanted.removeprefix("www.")


def _texts(signal: Signal, document: HtmlDocument | JsonDocument) -> list[str]:
    if signal.place in ("select", "json"):
        return document.texts(signal.path)
    texts = {"title": document.title, "text": document.visible_text, "raw": document.source}
    return [texts[signal.place]]


def _shown(place: str, path: str, text: str) -> str:
    where = f"{place} {path}" if path else place
    return f"{where}: {text}"[:_MAX_SHOWN_CHARS].rstrip(": ")


def _units(term: str) -> set[str]:
    units: set[str] = set()
    for run in _RUNS.findall(fold(term)):
        whole = run.isascii() or len(run) == 1
        units |= {run} if whole else {run[i : i + 2] for i in range(len(run) - 1)}
    return units
