"""Two search engines over the demo web, 搜搜看 and 找找网, that misbehave like real ones.

Each knows about 70 % of the pages, so that together they find more than either. By a fixed
draw per query some answers are check pages, redirects to one, empty bodies, hits that have
nothing to do with the query, or a layout on trial; a second run gets the same answers.
"""

from __future__ import annotations

import base64
import binascii
import re
from abc import ABC, abstractmethod
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Protocol
from urllib.parse import parse_qs, quote

from qiaocrawl.demo.engine_index import EngineIndex, IndexedPage, draw, indexed_pages, text_units
from qiaocrawl.demo.model import CHINA_TIME, DemoPage
from qiaocrawl.text.normalise import fold

# --- Result pages of the demo web's two engines: 搜搜看 (block layout) and 找找网 (list layout)

PER_PAGE = 10
LINK_PREFIX = "s1"
"""In front of the base64url code in the wrapped links of 搜搜看."""

_SNIPPET_CHARS = 90
_TRACKED_PERCENT = 30
_AD_PERCENT = 50
_ADS = ("名家书画在线拍卖", "厂家直供红木家具", "三天学会手机摄影", "老字号月饼礼盒团购")


@dataclass(frozen=True, slots=True)
class ResultList:
    """One page of results: ``total`` hits altogether, ``number`` counts pages from 1."""

    words: str
    site: str
    pages: list[IndexedPage]
    total: int
    number: int

    @property
    def query(self) -> str:
        """What stands in the search box."""
        return f"{self.words} site:{self.site}" if self.site else self.words

    @property
    def has_more(self) -> bool:
        """Whether a further page follows."""
        return self.number * PER_PAGE < self.total


def sou_results(results: ResultList) -> str:
    """搜搜看: blocks with headings, links wrapped in ``/link?url=``."""
    blocks = [_sou_ad(results)] if _shows_ad(results) else []
    blocks += [_sou_block(results, n, page) for n, page in enumerate(results.pages, start=1)]
    target = f"/s?wd={quote(results.query)}&amp;pn={results.number * PER_PAGE}"
    following = f'<a class="n" href="{target}">下一页&gt;</a>' if results.has_more else ""
    body = "\n".join(blocks) or _sou_nothing(results)
    return _SOU_FRAME.format(
        query=escape(results.query),
        total=results.total,
        body=body,
        pager=f'<div id="page"><strong>{results.number}</strong>{following}</div>',
    )


def zhao_results(results: ResultList) -> str:
    """找找网: a list with direct links, some with tracking marks."""
    items = [_zhao_item(results, page) for page in results.pages]
    if items and _shows_ad(results):
        items.insert(1, _zhao_ad(results))
    if items:
        items.append(_zhao_related(results))
    query = quote(results.query.encode("gbk", "replace"))
    target = f"/search.php?q={query}&amp;page={results.number + 1}"
    following = f'<a class="next" href="{target}">下一页</a>' if results.has_more else ""
    body = f'<ul class="list">{"".join(items)}</ul>' if items else _zhao_nothing(results)
    return _ZHAO_FRAME.format(
        query=escape(results.query), total=results.total, body=body, pager=following
    )


def zhao_new_layout(results: ResultList) -> str:
    """找找网 trying a new design on some visitors: nothing stands where it stood."""
    cards = "".join(
        f'<section class="card"><h4><a href="{escape(page.url)}">{escape(page.title)}</a></h4>'
        f'<div class="digest">{_snippet(page, results.words)}</div></section>'
        for page in results.pages
    )
    return _ZHAO_FRAME.format(
        query=escape(results.query), total=results.total, body=f"<main>{cards}</main>", pager=""
    )


def captcha_page(engine_title: str, charset: str) -> str:
    """A check page, as engines send it with status 200."""
    return _CAPTCHA.format(title=escape(engine_title), charset=charset)


def home_page(engine_title: str, action: str, field: str, charset: str) -> str:
    """The page with nothing but the search box."""
    return _HOME.format(title=escape(engine_title), action=action, field=field, charset=charset)


def _sou_block(results: ResultList, number: int, page: IndexedPage) -> str:
    code = base64.urlsafe_b64encode(page.url.encode()).decode().rstrip("=")
    date = ""
    if page.published_at:
        local = page.published_at.astimezone(CHINA_TIME)
        date = f'<span class="c-time">{local.year}年{local.month}月{local.day}日</span> '
    return (
        f'<div class="result c-container" id="{number}"><h3 class="t">'
        f'<a href="/link?url={LINK_PREFIX}{code}" target="_blank">'
        f"{_highlight(page.title, results.words)}</a></h3>"
        f'<div class="c-abstract">{date}{_snippet(page, results.words)}</div>'
        f'<span class="c-showurl">{escape(page.host)}</span></div>'
    )


def _zhao_item(results: ResultList, page: IndexedPage) -> str:
    url = page.url
    if draw("tracked", url) < _TRACKED_PERCENT:
        url += ("&" if "?" in url else "?") + "utm_source=zhaozhao&utm_medium=search"
    date = ""
    if page.published_at:
        date = f'<span class="date">{page.published_at.astimezone(CHINA_TIME):%Y-%m-%d}</span>'
    return (
        f'<li class="item"><a class="tit" href="{escape(url)}">'
        f"{_highlight(page.title, results.words)}</a>"
        f'<p class="desc">{_snippet(page, results.words)}</p>'
        f"<cite>{escape(page.host)}</cite>{date}</li>\n"
    )


def _shows_ad(results: ResultList) -> bool:
    return bool(results.pages) and draw("ad", results.query, results.number) < _AD_PERCENT


def _ad_title(results: ResultList) -> str:
    return _ADS[draw("ad title", results.query, sides=len(_ADS))]


def _sou_ad(results: ResultList) -> str:
    return (
        '<div class="result c-container" data-tuiguang="1"><h3 class="t">'
        f'<a href="/tg?id={draw(results.query)}">{_ad_title(results)} {escape(results.words)}</a>'
        '</h3><div class="c-abstract">推广</div></div>'
    )


def _zhao_ad(results: ResultList) -> str:
    return (
        f'<li class="item ad"><a class="tit" href="http://ad.zhaozhao.test/c?'
        f'{draw(results.query)}">{_ad_title(results)}</a><p class="desc">广告</p></li>\n'
    )


def _zhao_related(results: ResultList) -> str:
    words = escape(results.words)
    links = "".join(
        f'<a class="tit" href="/search.php?q={quote(word.encode("gbk", "replace"))}">{word}</a>'
        for word in (f"{words}最新消息", f"{words}网站")
    )
    return f'<li class="item related">相关搜索：{links}</li>\n'


def _sou_nothing(results: ResultList) -> str:
    return (
        f'<div class="nors"><p>很抱歉，没有找到与“{escape(results.query)}”相关的网页。</p>'
        "<p>建议：检查输入是否有误，或换一个说法。</p></div>"
    )


def _zhao_nothing(results: ResultList) -> str:
    return f'<p class="none">找不到和您查询的 {escape(results.query)} 相符的内容</p>'


def _snippet(page: IndexedPage, words: str) -> str:
    """The piece of the text around the first match, matches marked."""
    folded, folded_words = fold(page.text), fold(words)
    place = folded.find(folded_words) if len(folded) == len(page.text) else -1
    start = max(0, place - _SNIPPET_CHARS // 3)
    piece = page.text[start : start + _SNIPPET_CHARS]
    return ("…" if start else "") + _highlight(piece, words) + "…"


def _highlight(text: str, words: str) -> str:
    """*text* as HTML, every whole match or, without one, every unit of *words* marked."""
    folded, folded_words = fold(text), fold(words)
    if len(folded) != len(text):
        return escape(text)
    marks = [folded_words] if folded_words in folded else text_units(folded_words)
    pattern = "|".join(re.escape(mark) for mark in marks if mark)
    if not pattern:
        return escape(text)
    pieces, end = [], 0
    for match in re.finditer(pattern, folded):
        pieces += [escape(text[end : match.start()]), "<em>", escape(text[slice(*match.span())])]
        pieces.append("</em>")
        end = match.end()
    return "".join(pieces) + escape(text[end:])


_SOU_FRAME = """<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>{query}_搜搜看</title></head>
<body><div id="head"><form action="/s"><input name="wd" value="{query}"></form>
<a href="/">首页</a> <a href="/help.html">帮助</a></div>
<div class="nums">搜搜看为您找到相关结果约{total}个</div>
<div id="content_left">
{body}
</div>
{pager}
<div id="foot">搜搜看 · 演示用搜索引擎</div></body></html>
"""

_ZHAO_FRAME = """<html><head>
<meta http-equiv="Content-Type" content="text/html; charset=gb2312">
<title>找找网 - {query}</title></head><body>
<table width="100%"><tr><td><form action="search.php"><input name="q" value="{query}">
<input type="submit" value="找一下"></form></td></tr>
<tr><td>共 {total} 条</td></tr>
<tr><td>{body}</td></tr><tr><td align="center">{pager}</td></tr></table>
</body></html>
"""

_CAPTCHA = """<!DOCTYPE html>
<html><head><meta charset="{charset}"><title>{title} - 安全验证</title></head>
<body><div class="verify"><h2>请完成安全验证</h2>
<p>检测到来自您网络的访问过于频繁。为了确认不是自动程序发出的请求，请输入验证码。</p>
<form action="/antispider" method="post"><img src="/code.png" alt="验证码">
<input name="code"><button>提交</button></form></div></body></html>
"""

_HOME = """<!DOCTYPE html>
<html><head><meta charset="{charset}"><title>{title}</title></head>
<body><h1>{title}</h1><form action="{action}"><input name="{field}"><button>搜索</button></form>
</body></html>
"""


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
        pages = pages or self._index.unrelated_pages(search.words, _DECOY_HITS)
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
        if path == "/link" and (url := _unwrap(values.get("url", ""))):
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


def _unwrap(code: str) -> str:
    """The address in a wrapped link; "" when it is none."""
    raw = code.removeprefix(LINK_PREFIX)
    try:
        url = urlsafe_b64decode(raw + "=" * (-len(raw) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""
    return url if url.isascii() and url.isprintable() and url.startswith("http") else ""
