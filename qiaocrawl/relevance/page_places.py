"""Word counts of the places of a page (title, text, headings …), each made at most once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from urllib.parse import unquote

from qiaocrawl.items import PageText
from qiaocrawl.topic.profile import MAX_TEXT_CHARS, MAX_TITLE_CHARS, PageWords

TITLE_TIMES = 3
"""An occurrence in the title counts as this many in the body (ours)."""


class PagePlaces:
    """How often each word stands in the places of *page*, as *words* cuts them."""

    def __init__(self, page: PageText, words: PageWords) -> None:
        self._page = page
        self._count = words.count

    @cached_property
    def title(self) -> Counter[str]:
        """Words of the title."""
        return self._count(self._page.title[:MAX_TITLE_CHARS])

    @cached_property
    def text(self) -> Counter[str]:
        """Words of the text."""
        return self._count(self._page.text[:MAX_TEXT_CHARS])

    @cached_property
    def both(self) -> Counter[str]:
        """Words of title and text, those of the title three times."""
        counts = Counter(self.text)
        for word, times in self.title.items():
            counts[word] += TITLE_TIMES * times
        return counts

    @cached_property
    def headings(self) -> Counter[str]:
        """Words of the headings."""
        return self._count(self._page.headings)

    @cached_property
    def meta(self) -> Counter[str]:
        """Words of the keywords and the description."""
        return self._count(self._page.meta)

    @cached_property
    def url(self) -> Counter[str]:
        """Words of the URL behind the host."""
        return self._count(unquote(self._page.url.partition("://")[2].partition("/")[2]))

    def where(self, words: Iterable[str]) -> tuple[str, ...]:
        """For each of *words* the names of its places, such as ``"title text"``; "" for none."""
        return tuple(" ".join(self._names(word)) for word in words)

    def _names(self, word: str) -> Iterator[str]:
        for name in ("title", "headings", "meta", "url", "text"):
            if word in getattr(self, name):
                yield name
