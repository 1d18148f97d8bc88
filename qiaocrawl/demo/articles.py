"""Renders the articles of a site: their pages, their print versions, walls before them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from html import escape
from urllib.parse import quote

from qiaocrawl.demo.frame import SiteFrame
from qiaocrawl.demo.furniture import channel_path, load_theme
from qiaocrawl.demo.model import DemoPage, Kind
from qiaocrawl.demo.publishing import Posting

LOGIN_PATH = "/member/login.php"

# Paged articles turn the page after about so many.
_PART_CHARACTERS = 700

# Every fourth article has a print version, on sites that have them.
_PRINT_EVERY = 4

_WEEKDAYS = "一二三四五六日"
_LINKED_WORDS = (
    "侨胞",
    "侨商",
    "华文",
    "唐人街",
    "使馆",
    "侨乡",
    "学校",
    "电影",
    "球队",
    "公司",
    "地铁",
)
_MAX_LINKS = 2


def article_pages(frame: SiteFrame) -> Iterator[tuple[str, DemoPage]]:
    """Every page of every article by path."""
    for position in range(len(frame.postings)):
        yield from pages_of_article(frame, position)


def pages_of_article(frame: SiteFrame, position: int) -> Iterator[tuple[str, DemoPage]]:
    """The pages of the article at *position* by path, its print version among them."""
    posting = frame.postings[position]
    if posting.kind is Kind.LOGIN_WALL:
        yield posting.path, _wall(frame, posting)
        return
    parts = _parts(frame, posting)
    for number, lines in enumerate(parts, start=1):
        path = part_path(posting.path, number)
        pager = _pager(frame, posting.path, number, len(parts)) if len(parts) > 1 else ""
        slots = {**_slots(frame, path, position, lines), "pager": pager}
        yield path, _article(frame, path, posting, slots)
    print_path = _print_path(frame, position)
    if print_path:
        yield print_path, _print_version(frame, print_path, posting)


def part_path(path: str, number: int) -> str:
    """The path of page *number* (from 1) of the article at *path*."""
    if number == 1:
        return path
    stem, dot, suffix = path.rpartition(".")
    return f"{stem}_{number}{dot}{suffix}"


def _article(frame: SiteFrame, path: str, posting: Posting, slots: dict[str, str]) -> DemoPage:
    kind = posting.kind if path == posting.path else Kind.PART
    gold = frame.gold(path, kind, posting)
    site = frame.site
    if kind is Kind.SHELL:
        # An app shell says nothing of its article before its script has run.
        slots |= {"title": "", "description": "", "date_iso": "", "ld": "{}"}
        return frame.page(gold, slots, frame.theme.fill("app", slots), frame.text(site.name))
    names = {"channel": posting.channel.name, "site": site.name, "short": site.short}
    page_title = frame.text(site.title.format(title=posting.title, **names))
    return frame.page(gold, slots, frame.theme.fill("article", slots), page_title)


def _slots(frame: SiteFrame, path: str, position: int, lines: Sequence[str]) -> dict[str, str]:
    """Everything an article page shows except its pager."""
    posting, text, theme = frame.postings[position], frame.text, frame.theme
    channel = frame.site.channels.index(posting.channel)
    neighbours = frame.postings[position - 1], frame.postings[(position + 1) % len(frame.postings)]
    print_path = _print_path(frame, position)
    signs = {"author": text(posting.author), "source": text(posting.source)}
    rng = frame.rng(path)
    return {
        **frame.furniture.slots(rng, posting.channel.slug, posting.path, posting.published_at),
        **signs,
        **_head(frame, posting),
        "weekday": _WEEKDAYS[posting.published_at.weekday()],
        "byline": theme.fill("byline", signs),
        "srcline": theme.fill("srcline", signs) if posting.source else "",
        "channel": text(posting.channel.name),
        "channel_url": escape(channel_path(frame.site, channel)),
        "body": theme.join.join(_paragraph(frame, line, channel, posting) for line in lines),
        "print": f'<a href="{print_path}">打印</a>' if print_path else "",
        "prev": escape(neighbours[0].path),
        "next": escape(neighbours[1].path),
        "packed": _state(frame, posting),
    }


def _head(frame: SiteFrame, posting: Posting) -> dict[str, str]:
    """What the head of the page says about the article too."""
    text = frame.text
    return {
        "id": str(posting.number),
        "title": escape(text(posting.title)),
        "date": frame.theme.show_date(posting.published_at),
        "date_iso": posting.published_at.isoformat(),
        "keywords": f"{text(posting.channel.name)},{text(frame.site.name)}",
        "description": escape(text(posting.lines[0][:70])),
        "ld": _linked_data(frame, posting),
    }


def _paragraph(frame: SiteFrame, line: str, channel: int, posting: Posting) -> str:
    text = frame.text(line)
    if frame.theme.wrap:
        text = re.sub(f"(.{{{frame.theme.wrap}}})", r"\1\n", text)
    text = escape(text, quote=False)
    if frame.theme.links:
        href = escape(channel_path(frame.site, channel))
        words = [word for word in map(frame.text, _LINKED_WORDS) if word in text]
        for word in words[:_MAX_LINKS]:
            text = text.replace(word, f'<a href="{href}" class="kw">{word}</a>', 1)
    return frame.theme.fill("para", {"text": text, "id": str(posting.number)})


def _parts(frame: SiteFrame, posting: Posting) -> list[Sequence[str]]:
    """The article's lines page by page; one page unless the site pages long articles."""
    if "paged" not in frame.site.features or posting.kind is Kind.SHELL:
        return [posting.lines]
    parts: list[list[str]] = [[]]
    for line in posting.lines:
        if sum(map(len, parts[-1])) > _PART_CHARACTERS:
            parts.append([])
        parts[-1].append(line)
    return list(parts)


def _pager(frame: SiteFrame, path: str, number: int, count: int) -> str:
    links = []
    for page in range(1, count + 1):
        href = escape(part_path(path, page))
        links.append(f"<b>{page}</b>" if page == number else f'<a href="{href}">{page}</a>')
    if number < count:
        href = escape(part_path(path, number + 1))
        links.append(f'<a href="{href}">{frame.text("下一页")}</a>')
    label = frame.text(f"第{number}页 共{count}页")
    return f'<div class="pages">{label} {" ".join(links)}</div>'


def _state(frame: SiteFrame, posting: Posting) -> str:
    """The article as the script of an app shell reads it."""
    content = [frame.text(line) for line in posting.lines]
    state = {"title": frame.text(posting.title), "content": content}
    return base64.b64encode(json.dumps(state, ensure_ascii=False).encode()).decode()


def _linked_data(frame: SiteFrame, posting: Posting) -> str:
    """JSON-LD as sites give it: on every second page only, and then without a body."""
    if posting.number % 2:
        return "{}"
    data = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": frame.text(posting.title),
        "datePublished": posting.published_at.isoformat(),
        "author": {"@type": "Person", "name": frame.text(posting.author)},
    }
    return json.dumps(data, ensure_ascii=False)


def _print_path(frame: SiteFrame, position: int) -> str:
    """Where the print version is; "" if there is none."""
    posting = frame.postings[position]
    if position % _PRINT_EVERY or not posting.robots_allowed:
        return ""
    if "print" in frame.site.features:
        return f"/print/{posting.number}.shtml"
    if "print_asp" in frame.site.features:
        return f"/news/print.asp?id={posting.number}"
    return ""


def _print_version(frame: SiteFrame, path: str, posting: Posting) -> DemoPage:
    theme = load_theme("print")
    lines = [theme.fill("para", {"text": escape(line, quote=False)}) for line in posting.lines]
    slots = {
        "site": frame.site.name,
        "title": escape(posting.title),
        "page_title": escape(posting.title),
        "date": theme.show_date(posting.published_at),
        "srcline": theme.fill("srcline", {"source": posting.source}),
        "body": "\n".join(lines),
        "original": frame.site.url(posting.path),
        "charset_meta": frame.furniture.charset_meta,
    }
    slots["main"] = theme.fill("article", slots)
    return frame.answer(theme.fill("shell", slots), frame.gold(path, Kind.PRINT, posting))


def _wall(frame: SiteFrame, posting: Posting) -> DemoPage:
    location = f"{LOGIN_PATH}?next={quote(posting.path, safe='')}"
    gold = frame.gold(posting.path, Kind.LOGIN_WALL, posting)
    return DemoPage(302, (("Location", location),), b"", gold)
