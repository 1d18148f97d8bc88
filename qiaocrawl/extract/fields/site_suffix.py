"""The names of sites and channels in titles: where they stand, and a title without them."""

from __future__ import annotations

import re

from qiaocrawl.extract.block_texts import BlockTexts
from qiaocrawl.extract.fields.declared import Declared
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import collapse

_ARROWS = "〉》»›▸►▶>＞→❯⟩⟫"
SEPARATOR = re.compile(
    rf"\s*(?:[_＿|｜丨∣‖¦«‹{_ARROWS}]+|--+|——?|–|－)\s*|\s+[-·•:：/／~]\s+|-(?=[^\d\s][^-]*$)"
)
_MAY_SEPARATE = re.compile(f"[-_＿|｜丨∣‖¦«‹{_ARROWS}—–－·•:：/／~]")
_ARROW = re.compile(rf"\s*[{_ARROWS}]+\s*")
_QUOTES = re.compile("《[^》]*》")
_MAX_SECTION_CHARS = 8
_MAX_HEADINGS = 20
_SITE_WORDS = (
    "网", "網", "网站", "網站", "在线", "在線", "频道", "頻道", "门户", "博客", "论坛", "論壇",
    "资讯", "資訊", "新闻", "新聞", "日报", "日報", "晚报", "晚報", "时报", "時報", "晨报", "商报",
    "周刊", "通讯社", "通訊社", "电视台", "中心", "首页", "首頁", "主页", "部落格",
    "之家", "官网", "官網", "blog", "news",
)  # fmt: skip
_MAX_SUFFIX_CHARS = 24
_MAX_SUFFIX_WORDS = 4
_LEAST_WORD_CHARS = 4
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")
_DOMAIN = re.compile(r"(?:[A-Za-z0-9-]{2,40}\.){1,3}[A-Za-z]{2,8}")
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
    the site before the title is cut as well, with the channels behind it.
    """
    if not _MAY_SEPARATE.search(title):
        return title
    title = _end_of_trail(title, page, site)
    title = _without_leading_names(title, page, site)
    rest = _without_trailing_names(title, page, site)
    last = title[_cuts(title)[-1].end() :] if rest != title else ""
    if last and _is_called_site(rest, site) and not _is_called_site(last, site):
        return last  # the site stands first, and what follows is a line of the page
    return rest


def _without_trailing_names(title: str, page: Page, site: Declared) -> str:
    cuts = _cuts(title)
    lines = page.once(BlockTexts).lines
    for number in range(_MAX_NAMES):
        is_shown = number and title in lines
        if not cuts or not cuts[-1].start() or is_shown:
            return title
        cut = cuts[-1]
        suffix = title[cut.end() :].strip()
        rest = title[: cut.start()].rstrip()
        # In English nothing else stands behind an upright line.
        is_behind_line = "|" in cut[0] and _is_few_words(suffix) and len(suffix) < len(rest)
        if suffix and not is_behind_line and not _is_name(suffix, title, page, site):
            return title
        title = rest
        cuts = _cuts(title)
    return title


def _cuts(title: str) -> list[re.Match[str]]:
    """The separators of *title*; the marks of a book's name are none."""
    cuts = list(SEPARATOR.finditer(title))
    if "《" in title and cuts:
        names = [name.span() for name in _QUOTES.finditer(title)]
        cuts = [cut for cut in cuts if not any(a < cut.end() and cut.start() < b for a, b in names)]
    return cuts


def _end_of_trail(title: str, page: Page, site: Declared) -> str:
    """The last part of a *title* that is a trail from the site down: ``site 〉 section 〉 title``.

    A trail the other way round, with the site last, is left as it is.
    """
    if not _ARROW.search(title) or "《" in title:
        return title
    parts = [part for part in _ARROW.split(title.strip()) if part]
    if len(parts) < 2 or _is_called_site(parts[-1], site):
        return title
    leads_down = _is_called_site(parts[0], site) or (
        len(parts) > 2 and len(parts[-1]) > max(map(len, parts[:-1]))
    )
    if not leads_down:
        titles = {collapse(node.text()) for node in page.tree.css("h1,h2,h3")[:_MAX_HEADINGS]}
        titles |= {block.text for block in page.blocks.blocks if not block.linked}
        leads_down = parts[-1] in titles and parts[0] not in titles
    return parts[-1] if leads_down else title


def _is_called_site(text: str, site: Declared) -> bool:
    return site.is_site(text) or (len(text) <= _MAX_SUFFIX_CHARS and is_called_as_sites(text))


def _without_leading_names(title: str, page: Page, site: Declared) -> str:
    """*title* less a name of the site before it, and less the channels that follow that name."""
    cuts = _cuts(title)
    if not cuts or not cuts[0].start():
        return title
    first = title[: cuts[0].start()]
    lines = page.once(BlockTexts).lines
    if not site.is_site(first):
        last = title[cuts[-1].end() :]
        # Three parts and more are a trail; of two, the first may begin a sentence.
        is_name = _is_called_site(first, site) and (len(cuts) > 1 or first in lines)
        if not is_name or _is_called_site(last, site) or len(last) <= len(first):
            return title
    title = title[cuts[0].end() :].lstrip()
    for _ in range(_MAX_NAMES):
        cuts = _cuts(title)
        section = title[: cuts[0].start()] if cuts else ""
        if not section or len(section) > _MAX_SECTION_CHARS or section not in lines:
            break
        title = title[cuts[0].end() :].lstrip()
    return title


def _is_name(suffix: str, title: str, page: Page, site: Declared) -> bool:
    if site.is_site(suffix) or _is_domain_name(suffix) or _shares_word(suffix, site):
        return True
    if len(suffix) > _MAX_SUFFIX_CHARS:
        return False
    is_name = suffix in page.once(BlockTexts).lines or is_called_as_sites(suffix)
    return is_name and _stands_elsewhere(suffix, title, page.source)


def _is_domain_name(text: str) -> bool:
    return _DOMAIN.fullmatch(text) is not None


def _shares_word(suffix: str, site: Declared) -> bool:
    """Whether a word of *suffix*, in a few words of Latin letters, is part of the host's name:
    ``Mail Online`` on dailymail.co.uk, ``Los Angeles Times`` on latimes.com."""
    words = suffix.split()
    if not _is_few_words(suffix) or any(word[0].islower() for word in words):
        return False
    words = [word.lower() for word in words if len(word) >= _LEAST_WORD_CHARS]
    return any(word in label for word in words for label in site.labels)


def _is_few_words(text: str) -> bool:
    """Whether *text* is some words of a language that puts spaces between them."""
    return 0 < len(text.split()) <= _MAX_SUFFIX_WORDS and not _WIDE.search(text)


def _stands_elsewhere(suffix: str, title: str, source: str) -> bool:
    """Whether *suffix*, a part of *title*, is in *source* outside of *title* as well."""
    if title.count(suffix) > 1:
        return suffix in source
    offset = title.find(suffix)
    at = source.find(suffix)
    while at >= 0 and source.startswith(title, max(0, at - offset)):
        at = source.find(suffix, at + len(suffix))
    return at >= 0
