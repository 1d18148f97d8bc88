"""The project's own pages with what is right for them: hand-written hard cases, the demo web.

A file of ``hard_cases/`` is a page with a head of its own, which the page is served without::

    <!--
    title = "…"            # what is right; a field that is not named is not asked for
    date = "2019-03-05"    # the day the page states
    authors = ["…"]
    source = "…"
    kind = "article"       # a PageKind
    url = "http://…"
    encoding = "gb18030"   # the bytes; utf-8 when not named
    content_type = "…"     # the header; text/html when not named
    one_line = true        # without line ends, as minifiers write
    text = "…"             # only where it stands in a script
    -->

What stands between ⟦ and ⟧ is the body (the marks are taken away), pieces in the order of the
page; ``<!--#nav 40-->`` and the like become page furniture.
"""

from __future__ import annotations

import html
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from furniture import furnished

from qiaocrawl.demo.model import CHINA_TIME, DemoPage, Kind
from qiaocrawl.demo.web import build_web

FOLDER = Path(__file__).parent / "hard_cases"
_HEAD = re.compile(r"\A<!--\n(.*?)\n-->\n", re.DOTALL)
_BODY = re.compile("⟦(.*?)⟧", re.DOTALL)
_BORDER = re.compile(r"<(?:br|/?(?:p|div|h\d|li|tr|blockquote|section|dt|dd))\b[^>]*>|\n", re.I)
_LEFT_OUT = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->", re.DOTALL | re.I)
_TAG = re.compile("<[^>]*>")
_PAGES_A_KIND = 3
"""Pages of each kind a site of the demo web gives to the sample."""
_DEMO_KINDS = {
    Kind.ARTICLE: "article", Kind.BRIEF: "article", Kind.PHOTO: "article", Kind.BLOG: "article",
    Kind.PRINT: "article", Kind.FORUM: "forum", Kind.LIST: "list", Kind.CALENDAR: "list",
    Kind.HOME: "home", Kind.LOGIN: "login", Kind.SOFT_404: "error",
}  # fmt: skip
_STORY_KINDS = {Kind.ARTICLE, Kind.BRIEF, Kind.PHOTO, Kind.BLOG, Kind.PRINT, Kind.FORUM}


@dataclass(frozen=True, slots=True)
class GatePage:
    """A page and what is right for it; "" and () for what is not asked.

    ``text`` is None where no body is asked for, ``date`` is ``YYYY-MM-DD`` in China.
    """

    name: str
    body: bytes
    url: str
    content_type: str
    kind: str
    text: str | None = None
    title: str = ""
    date: str = ""
    authors: Sequence[str] = ()
    source: str = ""


def hard_pages() -> Iterator[GatePage]:
    """The hand-written pages, by name."""
    for path in sorted(FOLDER.glob("*.html")):
        yield hard_page(path)


def hard_page(path: Path) -> GatePage:
    """The page of one file; see the module for its form."""
    written = path.read_text("utf-8")
    head = _HEAD.match(written)
    assert head, f"{path.name} does not begin with a head"
    gold = tomllib.loads(head[1])
    one_line, encoding = gold.pop("one_line", False), gold.pop("encoding", "utf-8")
    markup = furnished(written[head.end() :], path.stem)
    pieces = [_text(piece) for piece in _BODY.findall(markup)]
    if pieces:
        gold["text"] = "\n".join(pieces)
    markup = markup.replace("⟦", "").replace("⟧", "")
    if one_line:
        markup = "".join(line.strip() for line in markup.splitlines())
    # What an encoding lacks is written as a reference, as editors of the time did.
    body = markup.encode(encoding, "xmlcharrefreplace")
    defaults = {"url": f"http://www.example.test/{path.stem}.html", "content_type": "text/html"}
    return GatePage(name=path.stem, body=body, **{**defaults, **gold})


def _text(markup: str) -> str:
    lines = _BORDER.sub("\n", _LEFT_OUT.sub("", markup)).split("\n")
    texts = (" ".join(html.unescape(_TAG.sub("", line)).split()) for line in lines)
    return "\n".join(text for text in texts if text)


def demo_pages() -> Iterator[GatePage]:
    """A sample of the demo web: a few pages of every kind from every site, spread over it."""
    found: dict[tuple[str, Kind], list[DemoPage]] = defaultdict(list)
    for (host, _), page in build_web(happenings=False).pages.items():
        if page.gold is not None and page.gold.kind in _DEMO_KINDS:
            found[host, page.gold.kind].append(page)
    for pages in found.values():
        step = max(1, len(pages) // _PAGES_A_KIND)
        yield from map(_demo_page, pages[::step][:_PAGES_A_KIND])


def _demo_page(page: DemoPage) -> GatePage:
    gold = page.gold
    assert gold is not None
    asked = GatePage(
        name=gold.url.partition("://")[2],
        body=page.body,
        url=gold.url,
        content_type=dict(page.headers)["Content-Type"],
        kind=_DEMO_KINDS[gold.kind],
    )
    if gold.kind not in _STORY_KINDS:
        return asked
    date = gold.published_at
    return replace(
        asked,
        text=gold.body,
        title=gold.title,
        date=date.astimezone(CHINA_TIME).strftime("%Y-%m-%d") if date else "",
        authors=(gold.author,) if gold.author else (),
        source=gold.source,
    )
