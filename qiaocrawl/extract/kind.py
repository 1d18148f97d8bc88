"""What a page is, when it is no article, and why: in doubt it is left out (E7)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from qiaocrawl.extract.base import Body
from qiaocrawl.items import Link, Outcome
from qiaocrawl.page import Page

MIN_BODY_CHARS = 60
"""Shorter bodies are captions and messages; the shortest real news of the open data has 62."""
_LITTLE_TEXT = 400
_ALMOST_NO_TEXT = 150
_LIST_LINE_SHARE = 0.5
_LIST_LINKS = 12

_GONE = re.compile(
    r"不存在|已(?:被|经)?删除|已刪除|找不到|无法找到|未找到|没有找到|已下线|已失效|页面(?:丢失|错误)|"
    r"無法找到|並不存在|(?<!\d)404(?!\d)|page not found|not found|出错了",
    re.IGNORECASE,
)
# A message to the visitor, where no heading says it: the thing asked for, and that it is gone.
_GONE_MESSAGE = re.compile(
    r"(?:页面|网页|文章|内容|信息|帖子|主题|链接|頁面|網頁|內容|連結)[^。！!]{0,12}"
    r"(?:不存在|不見|已下线|已下線|删除|刪除|失效|过期|過期|找不到)"
)
_MESSAGE_CHARS = 80
_MOUNTS = "#app,#root,#__next,#__nuxt,#main-app"
_MOUNT_TEXT = 60
_NO_LETTER = re.compile(r"[\W\d_]+")
_PROSE_MARK = re.compile(r"[。！？；：”!?]|[.;](?:\s|$)")
# Lines every page of a site carries below or beside its text.
_BOILERPLATE = re.compile(
    r"版权所有|版權所有|copyright|备案|備案|ICP|许可证|許可證|举报|舉報|免责声明|免責聲明|"
    r"不代表本网|不代表本網|关于我们|關於我們|联系我们|技术支持|访问统计|all rights reserved",
    re.IGNORECASE,
)
# A longer line holds the story too: whole pages stand on one line.
_BOILERPLATE_LINE = 250
MIN_PROSE_CHARS = 40
"""Less text in sentences than this, boilerplate apart, is no story."""
_SHORT_TITLE = 6
_CHANNEL_LINKS = 6
_NEEDS_SCRIPT = re.compile(
    r"(?:enable|requires?|启用|开启|打开|支持|需要)\s*(?:您的浏览器的?)?\s*JavaScript|"
    r"JavaScript[^<]{0,40}(?:enable|启用|开启|禁用|disabled)",
    re.IGNORECASE,
)
# Only what is a listing on nearly every site: /archives/123/ and /a/index.html are articles
# on many.
_LISTING_PATH = re.compile(
    r"^/(?:(?:index|default)\.\w+)?$|/page/\d+/?$|/(?:tags?|categor(?:y|ies))/[^/]+/?$|"
    r"/(?:tags?|categories|archives?|search|list)/?$|/archives?/(?:19|20)\d\d(?:/\d\d?)?/?$|"
    r"/(?:list|index)[-_]\d+\.\w+$",
    re.IGNORECASE,
)
_LINE_DATE = re.compile(
    r"[\[(（【]?(?:\d{4}[-/.年])?\d{1,2}[-/.月]\d{1,2}日?[\])）】]?(?:\s+[\d:]+)?"
)
_TRIM = " \t·•-—|>»[]()（）【】\u3000"


def kind_of(page: Page, body: Body, links: tuple[Link, ...], title: str) -> tuple[Outcome, str]:
    """The outcome for *page*, and the reason in words ("" for an article).

    Args:
        body: what the extractor found.
        links: the page's links, for the share of link text.
        title: the article's title as found.
    """
    shown = sum(map(len, page.texts))
    for outcome, reason in (
        _gone(page, shown),
        _login(page, body, shown),
        _script_made(page, shown),
        _listing(page, body, links),
        _channel(page, links, title),
    ):
        if reason:
            return outcome, reason
    if len(body.text) < MIN_BODY_CHARS:
        found = body.reason if not body.text else f"body has {len(body.text)} characters"
        return Outcome.NOT_ARTICLE, f"no body: {found}"
    told = prose_chars(body.text.split("\n"))
    if told < MIN_PROSE_CHARS:
        return Outcome.NOT_ARTICLE, f"{told} characters in sentences, boilerplate apart"
    if not title:
        return Outcome.NOT_ARTICLE, "no title"
    return Outcome.ARTICLE, ""


def _gone(page: Page, shown: int) -> tuple[Outcome, str]:
    heads = [page.title, *(node.text()[:200] for node in page.nodes("h1")[:2])]
    message = next((m for head in heads if (m := _GONE.search(head))), None)
    if message is None and shown < _ALMOST_NO_TEXT:
        message = _GONE.search(" ".join(page.texts))
    if message is None:
        short = (text for text in page.texts if len(text) <= _MESSAGE_CHARS)
        message = next((m for text in short if (m := _GONE_MESSAGE.search(text))), None)
    if message is None or shown > 2 * _LITTLE_TEXT:
        return Outcome.SOFT_404, ""
    return Outcome.SOFT_404, f"says {message[0]!r} and shows only {shown} characters"


def _login(page: Page, body: Body, shown: int) -> tuple[Outcome, str]:
    asks = any((n.attributes.get("type") or "").lower() == "password" for n in page.nodes("input"))
    little = len(body.text) < MIN_BODY_CHARS or shown < _LITTLE_TEXT
    if asks and little:
        return Outcome.LOGIN, f"asks for a password and shows only {shown} characters"
    return Outcome.LOGIN, ""


def _script_made(page: Page, shown: int) -> tuple[Outcome, str]:
    scripts = page.nodes("script")
    if not scripts:
        return Outcome.NEEDS_RENDERING, ""
    if _has_empty_mount(page) and prose_chars(page.texts) < _LITTLE_TEXT:
        return Outcome.NEEDS_RENDERING, f"an empty mount point for scripts, {shown} characters"
    if shown >= _ALMOST_NO_TEXT:
        return Outcome.NEEDS_RENDERING, ""
    if _NEEDS_SCRIPT.search(page.source):
        return Outcome.NEEDS_RENDERING, f"asks for JavaScript, {shown} characters"
    script_chars = sum(len(script.text()) for script in scripts)
    if script_chars > 10 * shown and script_chars > len(page.source) // 3:
        return Outcome.NEEDS_RENDERING, f"{script_chars} characters of script, {shown} of text"
    return Outcome.NEEDS_RENDERING, ""


def _has_empty_mount(page: Page) -> bool:
    mount = page.tree.css_first(_MOUNTS)
    if mount is None:
        return False
    unseen = sum(len(node.text(strip=True)) for node in mount.css("script,style,noscript"))
    return len(mount.text(strip=True)) - unseen < _MOUNT_TEXT


def prose_chars(lines: Sequence[str]) -> int:
    """Letters in *lines* that hold sentences and are no boilerplate."""
    return sum(
        len(_NO_LETTER.sub("", line))
        for line in lines
        if _PROSE_MARK.search(line)
        and (len(line) > _BOILERPLATE_LINE or not _BOILERPLATE.search(line))
    )


def _channel(page: Page, links: tuple[Link, ...], title: str) -> tuple[Outcome, str]:
    """A channel's page has a channel's name for a title, and more titles than prose."""
    anchors = {link.anchor for link in links if len(link.anchor) > _SHORT_TITLE}
    if len(anchors) < _CHANNEL_LINKS or not 0 < len(title) <= _SHORT_TITLE:
        return Outcome.LIST, ""
    linked = sum(map(len, anchors))
    told = prose_chars([text for text in page.texts if text not in anchors])
    if told < linked:
        return Outcome.LIST, f"called {title!r}; {linked} characters of titles, {told} of prose"
    return Outcome.LIST, ""


def _listing(page: Page, body: Body, links: tuple[Link, ...]) -> tuple[Outcome, str]:
    if len(links) < _LIST_LINKS:
        return Outcome.LIST, ""
    if _LISTING_PATH.search(urlsplit(page.url).path or "/"):
        return Outcome.LIST, f"the URL is a listing's, {len(links)} links"
    anchors = {link.anchor for link in links if link.anchor}
    if not body.text:
        shown = sum(map(len, page.texts))
        linked = sum(map(len, anchors))
        if linked >= _LIST_LINE_SHARE * shown:
            return Outcome.LIST, f"{linked} of {shown} characters are link text"
        return Outcome.LIST, ""
    lines = body.text.split("\n")
    linked = sum(len(line) for line in lines if _is_linked(line, anchors))
    if linked >= _LIST_LINE_SHARE * len(body.text):
        return Outcome.LIST, f"{linked} of {len(body.text)} characters of the body are link text"
    return Outcome.LIST, ""


def _is_linked(line: str, anchors: set[str]) -> bool:
    return line in anchors or _LINE_DATE.sub("", line).strip(_TRIM) in anchors
