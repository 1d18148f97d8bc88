"""Publish date, author, source, channel, keywords and description of an article (E6, Q7)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from qiaocrawl.extract.title import json_ld_text, title_of
from qiaocrawl.page import Page
from qiaocrawl.text import collapse, find_date

_DATE_META = (
    "article:published_time", "og:published_time", "datepublished", "pubdate", "publishdate",
    "publish_date", "publication_date", "publishtime", "apub:time", "weibo:article:create_at",
    "og:release_date", "dc.date.issued", "dcterms.created", "dc.date", "sailthru.date", "date",
)  # fmt: skip
_DATE_LABEL = re.compile(
    r"(?:发布|發布|发表|發表|更新|创建|编辑|刊登|上传|成文)?(?:时间|時間|日期)\s*[：:]?|"
    r"(?:发布|發布|发表|發表|更新)于\s*[：:]?|Posted(?: on)?|Published"
)
_URL_DATE = re.compile(
    r"/((?:19|20)\d\d)[-/_]?(0[1-9]|1[0-2])[-/_]?(0[1-9]|[12]\d|3[01])(?!\d)|"
    r"[/_](?:[a-z]|content_|t)((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])_"
)
_NAME = r"[^\s|｜,，。；;:：()（）\[\]【】<>《》/]{2,24}"
# Each pattern begins with letters that are rare, so that a search leaps to them.
_SOURCE = re.compile(rf"(?:来源|來源|稿源|出处|來自)\s*[：:]\s*[《【]?({_NAME})")
_AUTHORS = (
    re.compile(rf"(?:作者|撰稿人?|撰文|供稿|By)\s*[：:]\s*({_NAME})"),
    re.compile(r"(?:记|記)者\s*[：:]?\s*([\u4e00-\u9fff·]{2,4})(?=[\s）)/、|]|$)", re.MULTILINE),
    re.compile(r"文\s*[：:/／|｜丨]\s*([\u4e00-\u9fff·]{2,6})(?![\u4e00-\u9fff])"),
)
_LABEL_WORD = re.compile(
    r"(?:作者|编辑|編輯|记者|責任|责任|发布|發布|时间|時間|点击|點擊|浏览|瀏覽|阅读|字号|字體|"
    r"打印|分享|来源|來源|日期|评论|我要).*"
)
_BREADCRUMB = re.compile(r"(?:位置(?:是)?|首[页頁])\s*[：:>＞»›]")
_CRUMB_END = re.compile(r"[>＞»›→]+|\s/\s|&gt;")
_NO_CHANNEL = frozenset(
    ("正文", "首页", "首頁", "主页", "详情", "详细", "详细内容", "文章详情", "内容", "查看内容",
     "新闻详情", "返回", "home")
)  # fmt: skip
_HEAD_LINES = 60
"""Lines after the title that may hold date, source and author."""
_MAX_LINE_CHARS = 120
"""Of longer lines, which are paragraphs, only the beginning is looked at."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page tells about its article; "" or None where it tells nothing."""

    title: str
    published_at: datetime | None
    author: str
    source: str
    channel: str
    keywords: str
    description: str


def metadata_of(page: Page, now: datetime | None = None) -> Metadata:
    """All fields of *page*; *now* bounds plausible dates."""
    title = title_of(page)
    before, after = _around_title(page.texts, title)
    head = "\n".join(after)
    meta = page.meta
    return Metadata(
        title=title,
        published_at=_published_at(page, after, now),
        author=_author(page, head),
        source=_trimmed(_SOURCE.search(head)) or collapse(meta.get("mediaid", "")),
        channel=_channel(page, before + after[:8], title),
        keywords=meta.get("keywords") or meta.get("news_keywords", ""),
        description=meta.get("description") or meta.get("og:description", ""),
    )


def _around_title(texts: list[str], title: str) -> tuple[list[str], list[str]]:
    """Lines before the title, and from it on; from the page's start if it is not shown.

    The last line that is all title counts: the first is ``<title>`` itself, others may stand
    in a breadcrumb.
    """
    shown = [i for i, text in enumerate(texts) if text == title or (title and title in text[:400])]
    at = next((i for i in shown[1:] or shown if len(texts[i]) < 2 * len(title) + 20), 0)
    window = texts[at : at + _HEAD_LINES]
    return (
        [text[:_MAX_LINE_CHARS] for text in texts[max(0, at - _HEAD_LINES) : at]],
        [text[:_MAX_LINE_CHARS] for text in window],
    )


def _published_at(page: Page, head: list[str], now: datetime | None) -> datetime | None:
    meta = page.meta
    declared = [meta[name] for name in _DATE_META if name in meta]
    declared.append(json_ld_text(page, "datePublished"))
    declared += [n.attributes.get("datetime") or n.text() for n in page.nodes("time")[:3]]
    for written in declared:
        date = find_date(written, now) if written else None
        if date is not None:
            return date
    return _date_in(head, now) or _date_in_url(page.url, now)


def _date_in(head: list[str], now: datetime | None) -> datetime | None:
    """A labelled date near the title, else the first date in a short line there."""
    dated = [line for line in head if "20" in line or "19" in line or "年" in line]
    for line in dated:
        label = _DATE_LABEL.search(line)
        date = find_date(line[label.end() :], now) if label else None
        if date is not None:
            return date
    # A date in running text is what the text tells about.
    short = [line for line in dated if len(line) <= 80 and "。" not in line]
    return next((date for line in short if (date := find_date(line, now)) is not None), None)


def _date_in_url(url: str, now: datetime | None) -> datetime | None:
    match = _URL_DATE.search(url)
    if match is None:
        return None
    return find_date("-".join(part for part in match.groups() if part), now)


def _author(page: Page, head: str) -> str:
    for pattern in _AUTHORS:
        shown = _trimmed(pattern.search(head))
        if shown:
            return shown
    declared = page.meta.get("author") or page.meta.get("article:author", "")
    declared = declared or json_ld_text(page, "author")
    return "" if declared.startswith("http") else collapse(declared)[:60]


def _trimmed(match: re.Match[str] | None) -> str:
    if match is None:
        return ""
    value = next((group for group in match.groups() if group), "")
    return collapse(_LABEL_WORD.sub("", value)).strip("-—_·.、\"'“”")


def _channel(page: Page, lines: list[str], title: str) -> str:
    section = page.meta.get("article:section") or json_ld_text(page, "articleSection")
    if section:
        return collapse(section)[:60]
    text = "\n".join(lines)
    start = _BREADCRUMB.search(text)
    if start is None:
        return ""
    tail = text[start.end() - 1 : start.end() + 200].replace("\n", " ")
    if title:
        tail = tail.partition(title)[0]
    parts = [collapse(part).strip("：: ") for part in _CRUMB_END.split(tail)]
    last = ""
    for part in parts:
        if len(part) > 20:
            break  # the breadcrumb is over
        if part and part.lower() not in _NO_CHANNEL:
            last = part
    return last
