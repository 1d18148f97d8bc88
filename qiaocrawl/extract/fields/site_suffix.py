"""The names of sites and channels in titles: where they stand, and a title without them."""

from __future__ import annotations

import re

from qiaocrawl.extract.block_texts import BlockTexts
from qiaocrawl.extract.fields.declared import Declared
from qiaocrawl.page import Page

SEPARATOR = re.compile(r"\s*(?:[_|｜»>]+|--+|——?|–)\s*|\s+[-·•:：]\s+|-(?=[^\d\s][^-]*$)")
_MAY_SEPARATE = re.compile("[-_|｜»>—–·•:：]")
_SITE_WORDS = (
    "网", "網", "网站", "網站", "在线", "在線", "频道", "頻道", "门户", "博客", "论坛", "論壇",
    "资讯", "資訊", "新闻", "新聞", "日报", "日報", "晚报", "晚報", "时报", "時報", "晨报", "商报",
    "周刊", "通讯社", "通訊社", "电视台", "中心", "首页", "blog", "news",
)  # fmt: skip
_MAX_SUFFIX_CHARS = 24
_MAX_NAMES = 6
"""Names cut off one title: site, channel, region and the like."""


def is_called_as_sites(text: str) -> bool:
    """Whether *text* ends as the names of sites and channels do."""
    return text.lower().endswith(_SITE_WORDS)


def title_pieces(title: str) -> list[str]:
    """*title* cut at everything that may stand before a name of the site or of a channel."""
    return SEPARATOR.split(title)


def without_site_name(title: str, page: Page, site: Declared) -> str:
    """*title* less trailing parts that are a site's or a channel's name.

    A part counts as such when it is a name of the *site*, or is short and stands elsewhere
    in the page by itself; a dash inside a title (``4-0``, ``GPT-2``) never cuts. A name of
    the site before the title is cut as well.
    """
    if not _MAY_SEPARATE.search(title):
        return title
    cuts = list(SEPARATOR.finditer(title))
    if cuts and cuts[0].start() and site.is_site(title[: cuts[0].start()]):
        title = title[cuts[0].end() :].lstrip()
        cuts = list(SEPARATOR.finditer(title))
    for _ in range(_MAX_NAMES):
        if not cuts or not cuts[-1].start():
            return title
        cut = cuts[-1]
        suffix = title[cut.end() :].strip()
        rest = title[: cut.start()].rstrip()
        if suffix and not _is_name(suffix, title, page, site):
            return title
        title = rest
        cuts = list(SEPARATOR.finditer(title))
    return title


def _is_name(suffix: str, title: str, page: Page, site: Declared) -> bool:
    if site.is_site(suffix):
        return True
    if len(suffix) > _MAX_SUFFIX_CHARS:
        return False
    is_name = suffix in page.once(BlockTexts).lines or is_called_as_sites(suffix)
    return is_name and _stands_elsewhere(suffix, title, page.source)


def _stands_elsewhere(suffix: str, title: str, source: str) -> bool:
    """Whether *suffix*, a part of *title*, is in *source* outside of *title* as well."""
    if title.count(suffix) > 1:
        return suffix in source
    offset = title.find(suffix)
    at = source.find(suffix)
    while at >= 0 and source.startswith(title, max(0, at - offset)):
        at = source.find(suffix, at + len(suffix))
    return at >= 0
