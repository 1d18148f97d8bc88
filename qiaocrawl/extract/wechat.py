"""What the page of a WeChat post says in its scripts: when it was sent, by whom, and short texts.

The page shows the day only after a script has run (a saved one says "yesterday"), and posts of text
or pictures alone have nothing but strings in a script. Names and forms were read off pages of 2015
to 2026 **(ours)**.
"""

from __future__ import annotations

import html
import re

from qiaocrawl.extract.methods.script_strings import unescape
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import collapse

_HOST = "weixin.qq.com"
# var ct = "1740789000"; d.ct = xml ? value('…') : '1740789000'; ori_create_time: '1740789000' * 1
_SENT = re.compile(
    r"\b(?:ct|ori_?[cC]reate_?[tT]ime|create_?[tT]ime(?:stamp)?|publish_?[tT]ime(?:stamp)?)"
    r"""["']?\s{0,4}[:=][^;,\n]{0,90}?(?<!\d)(1[2-9]\d{8})(?!\d)"""
)
# The arguments of the script that writes the day: n="1740789000",s="2025-03-01"
_SENT_AND_DAY = re.compile(r"""=["'](1[2-9]\d{8})["'],\w=["']\d{4}-\d\d-\d\d["']""")
_SENT_WRITTEN = re.compile(
    r"""\bcreate_?[tT]ime["']?\s{0,4}[:=]\s{0,4}(?:\w{1,20}\()?["']"""
    r"(\d{4}-\d\d?-\d\d?(?: [\d:]{4,8})?)"
)
_ACCOUNT = re.compile(r"""\bnick_?[nN]ame["']?\s{0,4}[:=]""")
_STRING = re.compile(r"""(["'])((?:(?!\1)[^\\\n]|\\.){0,120})\1""")
_LINE_END = re.compile(r"(?:\\n|\\r|\\x0[aAdD]|\n)+")
_TITLE = re.compile(
    r"""\b(?:msg_)?title["']?\s{0,4}[:=]\s{0,4}(?:\w{1,20}\()?(["'])((?:(?!\1)[^\\\n]|\\.){2,900})\1"""
)
_NEXT_VALUE = re.compile(r"[;,}\n]")
_MAX_ACCOUNT_CHARS, _MAX_VALUE_CHARS = 60, 200


def is_post(page: Page) -> bool:
    """Whether *page* is a post of WeChat, fetched there or saved."""
    return _HOST in page.url or _HOST in page.meta.get("og:url", "")


def sent_at(page: Page) -> str:
    """When a post was sent, as written (seconds since 1970, or a day); "" if it does not say."""
    found = (pattern.search(page.source) for pattern in (_SENT, _SENT_AND_DAY, _SENT_WRITTEN))
    return next((match[1] for match in found if match), "")


def account_of(page: Page) -> str:
    """The name of the account a post was sent by, "" where it does not say."""
    for match in _ACCOUNT.finditer(page.source):
        name, at, end = "", match.end(), match.end() + _MAX_VALUE_CHARS
        while (string := _STRING.search(page.source, at, end)) is not None:
            if _NEXT_VALUE.search(page.source, at, string.start()):
                break
            # The last one: what comes before it is what to ask for it.
            name, at = string[2], string.end()
        if name:
            return collapse(html.unescape(unescape(name)))[:_MAX_ACCOUNT_CHARS]
    return ""


def title_of_post(page: Page) -> str:
    """The title in the scripts of a post, "" where there is none."""
    match = _TITLE.search(page.source) if is_post(page) else None
    return html.unescape(unescape(match[2])) if match else ""


def first_line(written: str) -> str:
    """The first line of a title that is the whole of a post, without its full stop."""
    head, *rest = _LINE_END.split(written.strip(), maxsplit=1)
    return head.rstrip("。") if rest else written


def summary_of(page: Page) -> str:
    """What the page declares as its summary, which is all there is of some posts of pictures."""
    return unescape(page.meta.get("description", ""))
