"""Checks which signals of a definition hold in a document, and whether hits answer the query."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from qiaocrawl.search.documents import Document
from qiaocrawl.search.query import Hit
from qiaocrawl.search.records import Signal
from qiaocrawl.text.normalise import fold
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
# "gpt" as a word, "华人" by its bigrams.
_RUNS = re.compile(r"[a-z0-9]+|[^\W_a-z0-9]+")
_MAX_SHOWN_CHARS = 120


def matching_signal(signals: Iterable[Signal], document: Document, terms: Sequence[str]) -> str:
    """The first of *signals* that holds, in words for the ledger; "" when none does.

    The engine's page repeats the *terms*, which are no signs: a search for "验证码" is not
    blocked. A sign in an interface's data is shown with all that stands
    there, such as the names of engines that failed.
    """
    for signal in signals:
        if signal.place == "location":
            continue
        for text in _texts(signal, document):
            # The whole text, where words inside a sentence would prove nothing.
            if signal.equals and text not in signal.equals:
                continue
            word = matching_word(signal.words, text, terms)
            if word or not signal.words:
                shown = text if signal.place == "json" or not word else word
                return _shown(signal.place, signal.path, shown)
    return ""


def matching_word(words: Iterable[str], text: str, terms: Sequence[str] = ()) -> str:
    """The first of *words* in *text*, letter case aside; "" when none is.

    A word that is part of one of *terms* must stand elsewhere than in them.
    """
    lowered, folded_terms = text.casefold(), [term.casefold() for term in terms]
    for word in words:
        folded = word.casefold()
        rest = lowered
        for term in folded_terms:
            if folded in term:
                # Without the terms themselves: the page repeats what was asked.
                rest = rest.replace(term, " ")
        if folded in rest:
            return word
    return ""


def shares_words(terms: Sequence[str], hits: Sequence[Hit]) -> bool:
    """Whether any hit shows a character bigram (or a Latin word) of one of *terms*.

    Traditional and simplified characters are the same here. Terms of marks only say
    nothing: True.
    """
    units = {unit for term in terms for unit in _units(term)}
    if not units:
        return True
    texts = (fold(f"{hit.title} {hit.snippet}") for hit in hits)
    return any(unit in text for text in texts for unit in units)


def is_on_site(url: str, site: str) -> bool:
    """Whether *url* is on the host *site* or below it; a leading ``www.`` makes no difference."""
    host, site_host = host_of(url).partition(":")[0], site.lower().rstrip(".")
    if host == site_host or host.endswith("." + site_host):
        return True
    # www.a.cn and a.cn are one site, whichever was asked for.
    return host.removeprefix("www.") == site_host.removeprefix("www.")


def _texts(signal: Signal, document: Document) -> list[str]:
    if signal.place == "select":
        return document.texts(signal.path)
    if signal.place == "json":
        return document.data_texts(signal.path)
    if signal.place == "empty_list":
        # [""]: present, with nothing to show.
        return [""] if document.has_empty_list(signal.path) else []
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
