"""Recognises an answer that is a block, not the page: captcha, ban page, check, empty body.

A sign in words counts only where the page shows little else, and speaks to its reader: an
article that writes about 验证码 is an article. All bounds are **(ours)**, set on pages written
for it and on hand-checked news pages.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from html import unescape
from http import HTTPStatus
from statistics import quantiles

from qiaocrawl.items import FetchedPage
from qiaocrawl.text.charset import decode_page
from qiaocrawl.urls.login import looks_like_login

# --- Remembers the usual page size of a host by URL form, to notice a sudden change ---------------
# A site that starts to answer every address with the same short notice often says nothing that
# words could find. Only pages much smaller than all usual ones count: a long page is no block.

_FEWEST_PAGES = 20
_MOST_PAGES = 60
_MOST_FORMS = 5_000
# Ninth to first decile of what counts as a steady size **(ours)**.
_STEADY = 4.0
# Share of the first decile below which a page is suddenly small **(ours)**.
_SHRUNK = 0.2
# So many small pages in a row and the small size may be the usual one now: they are learnt.
_TRUSTED_RUN = 5

_DIGITS = re.compile(r"\d+")


def url_form(url: str) -> str:
    """Host and path of *url* with every number as 0, the query by its names.

    >>> url_form("http://a.test/2026/03/t123_9.html?id=7&p=2")
    'http://a.test/0/0/t0_0.html?id&p'
    """
    path, _, query = url.partition("?")
    names = "&".join(sorted({pair.partition("=")[0] for pair in query.split("&") if pair}))
    # Sorted, so that the order of parameters makes no other form.
    return _DIGITS.sub("0", path) + (f"?{names}" if names else "")


class UsualSizes:
    """The last body sizes by form of URL, of pages that were no blocks."""

    def __init__(self) -> None:
        self._forms: dict[str, deque[int]] = {}
        self._small: dict[str, list[int]] = {}

    def is_small(self, url: str, size: int) -> bool:
        """Whether *size* bytes are suddenly little for *url*: false while few pages are known."""
        sizes = self._forms.get(url_form(url))
        if sizes is None or len(sizes) < _FEWEST_PAGES:
            return False
        deciles = quantiles(sizes, n=10)
        # Only where sizes are steady: if pages of a form have 5 to 500 KB, nothing is sudden.
        return deciles[8] <= _STEADY * deciles[0] and size < _SHRUNK * deciles[0]

    def add(self, url: str, size: int) -> None:
        """Learn the size of a page that came as it should, or was taken as it was."""
        form = url_form(url)
        if self.is_small(url, size):
            small = self._small.setdefault(form, [])
            small.append(size)
            if len(small) < _TRUSTED_RUN:
                return
            # The site was made anew, it seems.
            self._forms[form] = deque(self._small.pop(form), maxlen=_MOST_PAGES)
            return
        # A usual page in between: the small ones were exceptions.
        self._small.pop(form, None)
        # Re-inserted at the end: the form that was met longest ago goes first.
        sizes = self._forms.pop(form, None)
        if sizes is None:
            sizes = deque(maxlen=_MOST_PAGES)
        sizes.append(size)
        self._forms[form] = sizes
        while len(self._forms) > _MOST_FORMS:
            del self._forms[next(iter(self._forms))]


# --- Recognises an answer that is a block, not the page: captcha, ban page, check, empty body -----


class BlockKind(StrEnum):
    """The kinds of evidence for a block."""

    CAPTCHA = "captcha"
    BAN = "ban"
    CHECK = "check"
    """A redirect to a page that checks the visitor."""
    BUSY = "busy"
    """429 Too Many Requests."""
    FORBIDDEN = "forbidden"
    """403, and what else firewalls answer with."""
    CHALLENGE = "challenge"
    """An error whose page is a script in place of text: it checks the browser."""
    LOGIN = "login"
    """A redirect to a login page."""
    EMPTY = "empty"
    SIZE = "size"

    @property
    def is_sure(self) -> bool:
        """Whether one such answer is enough to leave the whole host alone."""
        return self in (BlockKind.CAPTCHA, BlockKind.BAN, BlockKind.CHECK)


@dataclass(frozen=True, slots=True)
class BlockSign:
    """A sign of a block, and what was seen, in words."""

    kind: BlockKind
    seen: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.seen}"


# A longer page is no notice.
_MOST_BYTES = 100_000
# Bytes beside markup that so many characters take at most, entities included.
_MOST_SHOWN_BYTES = 6_000
# Visible characters of a check or ban page; news pages show more around their text.
_MOST_TEXT = 500
# Visible characters beside a script that checks the browser: "请稍候…".
_MOST_CHALLENGE_TEXT = 60
# Such scripts have up to some 200 KB.
_MOST_SCRIPT_BYTES = 1_000_000
_TITLE_CHARS = 40
_SEEN_CHARS = 60

# Client errors that are no refusal: not logged in, not there, too slow; or what was asked for is
# faulty, as the address of a broken link is.
_NO_REFUSAL = frozenset({400, 401, 404, 408, 410, 411, 413, 414, 415, 416, 417, 422, 425, 431})
_NOT_THERE = frozenset({401, 404, 410})
# What a server says of its own trouble: the standard codes (RFC 9110, IANA), those of shared
# hosting (509), overload (529), proxies (598, 599). Any other one is a firewall's: 521, 567, 999.
_SERVER_TROUBLE = frozenset((*range(500, 512), 529, 598, 599))
# 520 to 530 are trouble of the site behind it where one of these networks stands before it.
_BETWEEN = range(520, 531)
_NETWORKS_BETWEEN = ("cloudflare", "yunjiasu")
_GOOD = range(200, 300)
_MOVED = range(300, 400)
# 204 and 205 have none by definition; 202 is what some firewalls send while they check.
_SHOULD_HAVE_BODY = frozenset({200, 202})

# "wappass.baidu.com", "/sorry/index", "/verify.html", "/punish?…"; not "/verification-story".
_CHECK_PLACE = re.compile(
    r"captcha|antispider|anti[-_]?(?:bot|crawl)|wappass|/sorry(?:/|\?|$)|/verify(?:[/.?]|$)|"
    r"/challenge|/seccode|/visitor/|/cgi-bin/.*verify|sec[-_.]?verif|/validate\b|human[-_]?check|"
    r"/(?:_?waf|punish|firewall|blocked?)(?:[/._?]|$)",
    re.IGNORECASE,
)


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# "百度安全验证", "Just a moment..."
_CAPTCHA_TITLE = _any(
    r"(?:安全|人机|滑动|访问|身份)验证|验证码|安全检测|安全驗證|人機驗證",
    r"just a moment|attention required|verify (?:you are|that you)|security check|captcha",
    r"are you (?:a )?(?:human|robot)|ddos protection|checking your browser",
)
# "访问被拒绝", "403 Forbidden", "网站防火墙"
_BAN_TITLE = _any(
    r"访问(?:被)?(?:拒绝|拦截|禁止|受限|异常)|(?:请求|网站)?(?:被)?拦截|防火墙|(?:禁止|拒绝)访问",
    r"(?:403 )?forbidden|\b403\b|access denied|request (?:blocked|rejected)|you have been blocked",
    r"\bWAF\b|too many requests|ip (?:address )?(?:has been )?(?:banned|blocked)",
)
# "请完成下方验证后继续", "verify that you're a human"
_CAPTCHA_WORDS = _any(
    r"请(?:您)?(?:先)?(?:输入|完成|进行|拖动|点击|按住|通过)[^。]{0,12}(?:验证|滑块|拼图)",
    r"(?:完成|通过)(?:安全|人机|滑动)?验证后(?:即可)?(?:继续)?(?:访问|浏览)",
    r"(?:证明|确认)(?:您|你)(?:不是|是)(?:机器|真?人)|確認(?:您|你)(?:不)?是(?:機器|真人)",
    r"(?:verify|confirm|prove) (?:that )?you(?:'|’| a)?re (?:a )?(?:human|not a (?:ro)?bot)",
    r"complete the (?:captcha|security check|challenge)",
    r"enable javascript and cookies to continue|checking (?:your browser|if the site connection)",
)
# "您的访问过于频繁", "您的IP已被封禁", "unusual traffic"
_BAN_WORDS = _any(
    r"(?:访问|操作|请求|刷新)(?:过于|太过|太)?(?:频繁|頻繁)",
    r"(?:您|你)的?(?:IP|访问|请求|网络)[^。]{0,16}(?:异常|被(?:封|禁|限制|拦截|拒绝)|受限)",
    r"(?:检测到|存在)[^。]{0,10}(?:异常(?:流量|访问|行为|请求)|爬虫|攻击)",
    r"(?:请求|访问)[^。，]{0,8}(?:已|可能)?被(?:拦截|阻断|拒绝|禁止)",
    r"unusual traffic|automated (?:requests|queries)|too many requests|rate limit exceeded",
    r"(?:your (?:ip|access|request)|you).{0,40}(?:has|have) been (?:blocked|banned|denied)",
)
# class="geetest_box", id="nc_wrapper"
_WIDGET = re.compile(
    r"(?:class|id|src|data-sitekey|action|name)\s{0,9}=\s{0,9}[\"'][^\"']{0,160}"
    r"(?:geetest|recaptcha|hcaptcha|cf-turnstile|cf-challenge|challenge-form|challenge-platform|"
    r"nc_wrapper|nocaptcha|yidun|tcaptcha|seccodeinput|slide-?verify|captcha)",
    re.IGNORECASE,
)
# To the end of the page if nothing closes it: what follows is not shown.
_SCRIPTS = re.compile(
    r"<(script|style|noscript|template)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)",
    re.DOTALL | re.IGNORECASE,
)
# All bounded: on a hostile page an open-ended pattern would take quadratic time.
_TAG = re.compile(r"<[^<>]*>")
# Unrolled, without backtracking: everything up to the closing tag of the same name.
_SCRIPT_BYTES = re.compile(rb"<(script|style)\b[^<]*(?:<(?!/\1)[^<]*)*", re.IGNORECASE)
_TAG_BYTES = re.compile(rb"<[^<>]*>")
_SCRIPT_TAG = re.compile(rb"<script\b", re.IGNORECASE)
_BLANKS = b" \t\r\n\0"
_SPACE = re.compile(r"\s+")
_TITLE = re.compile(r"<title[^<>]{0,200}>(.{0,500}?)</title", re.DOTALL | re.IGNORECASE)
_PASSWORD = re.compile(r"<input\b[^<>]{0,500}?type\s{0,9}=\s{0,9}[\"']?password", re.IGNORECASE)


def find_block(page: FetchedPage, usual: UsualSizes | None = None) -> BlockSign | None:
    """The sign that *page* is a block; None for what seems to be the page. Never raises.

    Args:
        page: status, headers and the decoded body (content encoding removed).
        usual: sizes of the host's pages; without it no size is sudden.

    Returns:
        The surest sign. A page with a password field is a login page, no captcha.
    """
    if page.status in _MOVED:
        # Only the target counts: the body of a redirect is not shown to anybody.
        return _by_target(page)
    if page.status == HTTPStatus.TOO_MANY_REQUESTS:
        return BlockSign(BlockKind.BUSY, "HTTP 429")
    if page.status not in _GOOD:
        return _of_error(page)
    if page.status in _SHOULD_HAVE_BODY and not page.body.strip():
        return BlockSign(BlockKind.EMPTY, f"HTTP {page.status} without a body")
    block = _by_words(page)
    if block is None and usual is not None and usual.is_small(page.url, len(page.body)):
        return BlockSign(BlockKind.SIZE, f"{len(page.body)} bytes, far less than usual here")
    return block


def is_refusing(page: FetchedPage) -> bool:
    """Whether the status of *page* alone says that a server, or a firewall, refuses us."""
    status = page.status
    if 400 <= status < 500:
        return status not in _NO_REFUSAL
    if status in _BETWEEN and any(n in page.header("server").lower() for n in _NETWORKS_BETWEEN):
        return False
    return status >= 500 and status not in _SERVER_TROUBLE


def _of_error(page: FetchedPage) -> BlockSign | None:
    status = page.status
    if status < 400 or status in _NOT_THERE:
        return None
    refuses = is_refusing(page)
    # Check pages usually come with 503 or as a refusal; other errors write about themselves in
    # the same words ("您的请求参数异常").
    if refuses or status == HTTPStatus.SERVICE_UNAVAILABLE:
        sign = _by_words(page)
        if sign is not None:
            return sign
    if _is_script_alone(page):
        return BlockSign(BlockKind.CHALLENGE, f"HTTP {status} with a script in place of a page")
    return BlockSign(BlockKind.FORBIDDEN, f"HTTP {status}") if refuses else None


def _is_script_alone(page: FetchedPage) -> bool:
    """Whether an error page shows nobody anything, and runs a script."""
    kind = page.header("content-type").lower()
    if len(page.body) > _MOST_SCRIPT_BYTES or (kind and "html" not in kind):
        return False
    if _SCRIPT_TAG.search(page.body) is None:
        return False
    source = decode_page(page.body, kind).text
    return len(_tidy(_TITLE.sub(" ", _SCRIPTS.sub(" ", source)))) <= _MOST_CHALLENGE_TEXT


def _by_target(page: FetchedPage) -> BlockSign | None:
    target = page.header("location")
    # Without the query, which may quote the page we came from.
    place = target.partition("?")[0]
    # A site whose own addresses look like that is not redirecting to a check.
    if _CHECK_PLACE.search(place) and not _CHECK_PLACE.search(page.url):
        return BlockSign(BlockKind.CHECK, f"redirect to {place[:_SEEN_CHARS]}")
    if looks_like_login(target) and not looks_like_login(page.url):
        return BlockSign(BlockKind.LOGIN, f"redirect to {place[:_SEEN_CHARS]}")
    return None


def _by_words(page: FetchedPage) -> BlockSign | None:
    kind = page.header("content-type").lower()
    if len(page.body) > _MOST_BYTES or (kind and "html" not in kind and "text/plain" not in kind):
        return None
    # Nearly every page ends here: its text is too long for a notice in any charset.
    # In bytes, before decoding: decoding every page would cost more than all of this.
    if len(_TAG_BYTES.sub(b"", _SCRIPT_BYTES.sub(b"", page.body)).translate(None, _BLANKS)) > (
        _MOST_SHOWN_BYTES
    ):
        return None
    source = decode_page(page.body, kind).text
    markup = _SCRIPTS.sub(" ", source)
    match = _TITLE.search(source)
    title = _tidy(match[1]) if match else ""
    text = _tidy(_TITLE.sub(" ", markup))
    if _PASSWORD.search(markup):
        return None
    # The surest first: a title says what a page is, a widget may stand on any form.
    return _by_title(title, text) or _by_text(text) or _by_widget(markup, text)


def _tidy(markup: str) -> str:
    return _SPACE.sub(" ", unescape(_TAG.sub(" ", markup))).strip()


def _by_title(title: str, text: str) -> BlockSign | None:
    if not title or len(title) > _TITLE_CHARS or len(text) > _MOST_TEXT:
        return None
    for kind, words in ((BlockKind.CAPTCHA, _CAPTCHA_TITLE), (BlockKind.BAN, _BAN_TITLE)):
        # The words fill most of a notice's title; a news headline has more to say.
        match = words.search(title)
        if match and 2 * len(match[0]) >= len(title):
            return BlockSign(kind, f"title {title!r}")
    return None


def _by_text(text: str) -> BlockSign | None:
    if len(text) > _MOST_TEXT:
        return None
    for kind, words in ((BlockKind.CAPTCHA, _CAPTCHA_WORDS), (BlockKind.BAN, _BAN_WORDS)):
        if match := words.search(text):
            return BlockSign(kind, f"{match[0][:_SEEN_CHARS]!r} and only {len(text)} characters")
    return None


def _by_widget(markup: str, text: str) -> BlockSign | None:
    # Half the text limit: comment forms of articles have captchas too.
    if len(text) > _MOST_TEXT // 2:
        return None
    if match := _WIDGET.search(markup):
        return BlockSign(BlockKind.CAPTCHA, f"{match[0][-_SEEN_CHARS:]!r} and little text")
    return None
