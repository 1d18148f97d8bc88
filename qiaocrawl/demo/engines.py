"""Two small search engines over the demo web that misbehave like real ones.

Each knows about 70 % of the pages, so that together they find more than either. By a fixed
draw per query some answers are check pages, redirects to one, empty bodies, hits that have
nothing to do with the query, or a layout on trial; a second run gets the same answers.
"""

from __future__ import annotations

import binascii
import re
from abc import ABC, abstractmethod
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qs

from qiaocrawl.demo.engine_index import EngineIndex, draw, indexed_pages
from qiaocrawl.demo.engine_pages import (
    LINK_PREFIX,
    PER_PAGE,
    ResultList,
    captcha_page,
    home_page,
    sou_results,
    zhao_new_layout,
    zhao_results,
)
from qiaocrawl.demo.model import DemoPage

SOU_HOST = "www.sousou.test"
ZHAO_HOST = "www.zhaozhao.test"

_KNOWN_PERCENT = 70
_DECOY_HITS = 6
_MAX_NUMBER = 50
_SITE_WORD = re.compile(r"(?:^|\s)site:(\S+)", re.IGNORECASE)
_ROBOTS = b"User-agent: *\nAllow: /\n"


class PagesOfWeb(Protocol):
    """What the engines need of the demo web."""

    @property
    def pages(self) -> Mapping[tuple[str, str], DemoPage]:
        """Pages by host and path (with the query string, if any)."""


@dataclass(frozen=True, slots=True)
class _Search:
    """One search: words, the host after ``site:`` or "", and the result page from 1."""

    words: str
    site: str
    number: int


def build_engines(web: PagesOfWeb) -> list[DemoEngine]:
    """The engines of the demo web; building reads all its pages once."""
    pages = indexed_pages(web.pages)
    indexes = {
        name: EngineIndex(p for p in pages if draw(name, p.url) < _KNOWN_PERCENT)
        for name in (SOU_HOST, ZHAO_HOST)
    }
    return [SouEngine(indexes[SOU_HOST]), ZhaoEngine(indexes[ZHAO_HOST])]


class DemoEngine(ABC):
    """What both engines share: robots.txt, the search box, parsing and paging."""

    host = ""
    title = ""
    charset = "utf-8"
    content_type = "text/html; charset=utf-8"
    search_path = ""
    query_field = ""

    def __init__(self, index: EngineIndex) -> None:
        self._index = index

    def respond(self, target: str, headers: Mapping[str, str]) -> DemoPage:
        """The answer to a GET of *target* (path and query as sent)."""
        path, _, query = target.partition("?")
        fields = parse_qs(query, encoding=self.charset, errors="replace")
        values = {name: entries[0] for name, entries in fields.items()}
        if path == "/robots.txt":
            return DemoPage(200, (("Content-Type", "text/plain"),), _ROBOTS)
        if path == self.search_path and values.get(self.query_field, "").strip():
            return self._answer(self._search(values))
        return self._other(path, values)

    def _other(self, path: str, values: Mapping[str, str]) -> DemoPage:
        if path in ("/", self.search_path):
            page = home_page(self.title, self.search_path, self.query_field, self.charset)
            return self._page(page)
        return self._page("<title>404</title><h1>404 Not Found</h1>", status=404)

    @abstractmethod
    def _answer(self, search: _Search) -> DemoPage:
        """The answer to a search, kind or not."""

    @abstractmethod
    def _page_number(self, values: Mapping[str, str]) -> int:
        """The result page asked for, from 1."""

    def _search(self, values: Mapping[str, str]) -> _Search:
        text = values[self.query_field]
        sites = _SITE_WORD.findall(text)
        words = " ".join(_SITE_WORD.sub(" ", text).split())
        number = min(max(self._page_number(values), 1), _MAX_NUMBER)
        return _Search(words, sites[0].lower() if sites else "", number)

    def _mood(self, search: _Search) -> int:
        """A number below 100, fixed for a query: chooses which bad answer it gets, if any."""
        return draw(self.host, search.words, search.site, search.number)

    def _results(self, search: _Search) -> ResultList:
        hits = self._index.search(search.words, search.site)
        start = (search.number - 1) * PER_PAGE
        shown = hits[start : start + PER_PAGE]
        return ResultList(search.words, search.site, shown, len(hits), search.number)

    def _decoys(self, search: _Search) -> ResultList:
        """Hits that do not answer: off the asked site or, without one, about something else."""
        pages = []
        if search.site:
            elsewhere = self._index.search(search.words)
            on_site = {page.url for page in self._index.search(search.words, search.site)}
            pages = [page for page in elsewhere if page.url not in on_site][:_DECOY_HITS]
        pages = pages or self._index.unrelated(search.words, _DECOY_HITS)
        return ResultList(search.words, search.site, pages, len(pages), search.number)

    def _page(self, html: str, status: int = 200) -> DemoPage:
        body = html.encode(self.charset, "xmlcharrefreplace")
        return DemoPage(status, (("Content-Type", self.content_type),), body)


class SouEngine(DemoEngine):
    """搜搜看: UTF-8, headings and wrapped links; asks for a captcha or redirects to it."""

    host = SOU_HOST
    title = "搜搜看"
    search_path = "/s"
    query_field = "wd"

    def _page_number(self, values: Mapping[str, str]) -> int:
        return _number(values.get("pn", "0")) // PER_PAGE + 1

    def _answer(self, search: _Search) -> DemoPage:
        mood = self._mood(search)
        if mood < 4:
            return self._page(captcha_page(self.title, self.charset))
        if mood < 8:
            location = f"http://{self.host}/antispider?from=s"
            return DemoPage(302, (("Location", location),), b"")
        if mood < 11:
            return self._page(sou_results(self._decoys(search)))
        return self._page(sou_results(self._results(search)))

    def _other(self, path: str, values: Mapping[str, str]) -> DemoPage:
        if path == "/antispider":
            return self._page(captcha_page(self.title, self.charset))
        if path == "/link" and (url := _unwrapped(values.get("url", ""))):
            return DemoPage(302, (("Location", url),), b"")
        return super()._other(path, values)


class ZhaoEngine(DemoEngine):
    """找找网: GBK, a list with direct links, advertisements and related searches."""

    host = ZHAO_HOST
    title = "找找网"
    charset = "gbk"
    # Only the page itself says, wrongly narrow, that it is gb2312.
    content_type = "text/html"
    search_path = "/search.php"
    query_field = "q"

    def _page_number(self, values: Mapping[str, str]) -> int:
        return _number(values.get("page", "1"))

    def _answer(self, search: _Search) -> DemoPage:
        mood = self._mood(search)
        unkind: list[tuple[int, Callable[[], DemoPage]]] = [
            (4, lambda: self._page(captcha_page(self.title, self.charset))),
            (6, lambda: DemoPage(200, (("Content-Type", self.content_type),), b"")),
            (8, lambda: self._page(zhao_results(self._decoys(search)))),
            (10, lambda: self._page(zhao_new_layout(self._results(search)))),
            (11, lambda: self._page("<title>400</title>查询语句有误", status=400)),
        ]
        for limit, answer in unkind:
            if mood < limit:
                return answer()
        return self._page(zhao_results(self._results(search)))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 1


def _unwrapped(code: str) -> str:
    """The address in a wrapped link; "" when it is none."""
    raw = code.removeprefix(LINK_PREFIX)
    try:
        url = urlsafe_b64decode(raw + "=" * (-len(raw) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""
    return url if url.isascii() and url.isprintable() and url.startswith("http") else ""
