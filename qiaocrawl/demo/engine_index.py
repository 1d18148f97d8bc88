"""What the demo web's search engines know: a bigram index over its pages, ranked by BM25."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from math import log

from qiaocrawl.demo.model import ARTICLE_KINDS, DemoPage, Kind
from qiaocrawl.text.normalise import fold

_RUNS = re.compile(r"[a-z0-9]+|[^\W_a-z0-9]+")
_INDEXED_KINDS = ARTICLE_KINDS | {Kind.PART, Kind.SHELL, Kind.LOGIN_WALL, Kind.LIST}
_TITLE_WEIGHT = 3
_STALE_PERCENT = 5
# The usual constants of BM25 (Robertson and Zaragoza 2009, section 3.2).
_K1, _B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """A page as an engine remembers it; ``url`` of a stale one answers 404 by now."""

    url: str
    host: str
    title: str
    text: str
    published_at: datetime | None
    folded: str


def draw(*parts: object, sides: int = 100) -> int:
    """A number below *sides* that depends on *parts* only: the same in every run."""
    text = "\n".join(map(str, parts))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") % sides


def text_units(folded: str) -> list[str]:
    """Latin words and, of everything else, bigrams (a lone character stays one)."""
    units: list[str] = []
    for run in _RUNS.findall(folded):
        if run.isascii() or len(run) == 1:
            units.append(run)
        else:
            units += [run[i : i + 2] for i in range(len(run) - 1)]
    return units


def indexed_pages(pages: Mapping[tuple[str, str], DemoPage]) -> list[IndexedPage]:
    """Pages with a title that robots may read, in the order of their addresses.

    Every twentieth is remembered under an address it no longer has.
    """
    indexed = []
    for (host, path), page in sorted(pages.items(), key=lambda item: item[0]):
        gold = page.gold
        if gold is None or gold.kind not in _INDEXED_KINDS or not gold.title:
            continue
        if not gold.robots_allowed:
            continue
        url = gold.url
        if draw("stale", url) < _STALE_PERCENT:
            url = _gone_url(url, host, path, pages)
        # Engines never see what stands behind a login or in a script.
        hidden = gold.kind in (Kind.LOGIN_WALL, Kind.SHELL)
        text = "" if hidden else " ".join(gold.body.split())
        folded = fold(f"{gold.title} {text}")
        indexed.append(IndexedPage(url, host, gold.title, text, gold.published_at, folded))
    return indexed


def _gone_url(url: str, host: str, path: str, pages: Mapping[tuple[str, str], DemoPage]) -> str:
    gone = "/old" + path.partition("?")[0]
    if (host, gone) in pages:
        return url
    return f"{url.partition('://')[0]}://{host}{gone}"


class EngineIndex:
    """An inverted index of bigrams; a page matches when it holds all units of a query."""

    def __init__(self, pages: Iterable[IndexedPage]) -> None:
        self.pages = list(pages)
        self._postings: dict[str, dict[int, int]] = defaultdict(dict)
        self._lengths: list[int] = []
        for number, page in enumerate(self.pages):
            counts = Counter(text_units(page.folded))
            for unit in text_units(fold(page.title)):
                counts[unit] += _TITLE_WEIGHT - 1
            for unit, count in counts.items():
                self._postings[unit][number] = count
            self._lengths.append(counts.total())
        self._mean_length = sum(self._lengths) / len(self._lengths) if self._lengths else 1.0

    def search(self, words: str, site: str = "") -> list[IndexedPage]:
        """Pages that hold all of *words*, on *site* when given, best first."""
        units = sorted(set(text_units(fold(words))))
        if not units:
            return []
        postings = [self._postings.get(unit, {}) for unit in units]
        numbers = set(postings[0]).intersection(*postings[1:])
        if site:
            numbers = {n for n in numbers if on_site(self.pages[n].host, site)}
        ranked = sorted(numbers, key=lambda n: (-self._score(n, postings), self.pages[n].url))
        return [self.pages[number] for number in ranked]

    def unrelated_pages(self, words: str, count: int) -> list[IndexedPage]:
        """*count* pages that hold no unit of *words*, always the same for the same words."""
        units = text_units(fold(words))
        related = {number for unit in units for number in self._postings.get(unit, {})}
        rest = [page for number, page in enumerate(self.pages) if number not in related]
        return sorted(rest, key=lambda page: draw(words, page.url, sides=1 << 60))[:count]

    def _score(self, number: int, postings: list[dict[int, int]]) -> float:
        norm = _K1 * (1 - _B + _B * self._lengths[number] / self._mean_length)
        score = 0.0
        for posting in postings:
            rarity = log(1 + (len(self.pages) - len(posting) + 0.5) / (len(posting) + 0.5))
            count = posting[number]
            score += rarity * count * (_K1 + 1) / (count + norm)
        return score


def on_site(host: str, site: str) -> bool:
    """Whether *host* is *site* or below it."""
    return host == site or host.endswith("." + site)
