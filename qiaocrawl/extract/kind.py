"""Judges what a page is, and why; kind and outcome both follow from it (E7).

First come pages that show something else than was asked for (gone, login, made by scripts),
then listings, then forum threads. The rest is an article when a body, sentences and a title
are there. Whether a page lists or tells is decided by points for either side: no single sign
can be trusted, since articles stand amid long lists and some lists carry whole texts. All
points and thresholds are **(ours)**, set on hand-checked pages.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from qiaocrawl.extract.attachments import names_file
from qiaocrawl.extract.base import Body
from qiaocrawl.extract.block_marks import block_marks
from qiaocrawl.extract.block_texts import BlockTexts
from qiaocrawl.extract.entries import (
    Entry,
    Excerpt,
    excerpts_of,
    is_link_to_site,
    is_linked_again,
)
from qiaocrawl.extract.extraction import PageKind
from qiaocrawl.extract.fields.declared import declared_by
from qiaocrawl.extract.kind_features import (
    HOME_PATH,
    SEARCH_QUERY,
    SENTENCE_END,
    PageKindFeatures,
    count_prose_bytes,
    heads_text,
    index_declared,
    index_kind,
    is_dated,
    page_kind_features,
    story_kind,
)
from qiaocrawl.extract.notices import is_table_body, is_verse_body
from qiaocrawl.extract.thread import opening_lines, thread_of
from qiaocrawl.items import Outcome
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import letters_of
from qiaocrawl.urls import canonical_url
from qiaocrawl.urls.login import sends_to_login

_LITTLE_TEXT = 400
_ALMOST_NO_TEXT = 150
MIN_PROSE_TOTAL_BYTES = 120
"""Forty Han letters in sentences: less is a story only with headline and date."""
_SHORTEST_BYTES = 36
_SHORT_STORY_CHARS = 100
_MUCH_BYTES = 1200
_HEADLINE_BYTES = 24
_AT_ONCE = 12
"""Blocks between a headline and its first sentence: date, source, tools, a photo."""
_LIST_ITEMS = 8
_FEW_ITEMS = 4
_MANY_ITEMS = 25
_BELOW_ENTRIES = 0.5
_BELOW_ONLY_ENTRY = 0.9

# Who takes a page away: 已被发布者删除, 此帐号已自主注销.
_BY = (
    r"(?:[该其]|原)?(?:发[布帖]者|发[布帖]人|發[布佈]者|原?作者|管理[员員]|用[户戶]|[博楼樓版题題答]主|"
    r"平台|平臺|系统|系統|本人|编辑|編輯)?(?:自行|主动|自主)?"
)
_GONE_WORDS = (
    rf"不存在|已(?:被|经)?{_BY}(?:删除|屏蔽|关闭|下架|撤回)|已被?{_BY}刪除|"
    r"找不到|无法找到|未找到|没有找到|已下线|已失效|"
    r"页面(?:丢失|错误)|無法找到|(?<!\d)404(?!\d)|not found|出错了|no longer (?:available|exists)|"
    r"(?<!\d)50[0234] (?:bad gateway|service|gateway|internal)|service (?:temporarily )?unavailable"
)
# What a page that only leads to a login is taken for.
_HIDE_A_LOGIN = frozenset({Outcome.NOT_ARTICLE, Outcome.NEEDS_RENDERING, Outcome.LIST})
# location.href = "/login.asp", top.location.replace('login.php')
_SCRIPTED = re.compile(
    r"""\blocation(?:\.href)?\s{0,9}(?:=|\.(?:replace|assign)\()\s{0,9}["']([^"'<>]{1,300})["']"""
)
_SCRIPT_LOOKED_AT = 20_000
# "对不起，请先登录后查看"
_ASKS_TO_LOG_IN = re.compile(
    r"请(?:您|你)?(?:先|重新)?登[录陆錄]|(?:还未|还没有|尚未|没有)登[录陆錄]|"
    r"(?:please|must) (?:log|sign) ?in",
    re.IGNORECASE,
)
_GONE = re.compile(_GONE_WORDS, re.IGNORECASE)
# A message to the visitor, where no heading says it: the thing asked for, and that it is gone.
_GONE_MESSAGE = re.compile(
    r"(?:页面|网页|文章|内容|信息|帖子|主题|链接|頁面|網頁|內容|連結|新闻)[^。！!，,]{0,12}"
    rf"(?:不存在|不見|已下线|已下線|已?(?:经|被){_BY}(?:删除|刪除|屏蔽)|已刪除|已删除|失效|"
    r"过期|過期|找不到)|(?:page|article|story)[^.!,]{0,30}(?:not found|no longer|been removed|"
    r"does(?: not|n['’]t) exist|can(?:not|['’]t) be found)",
    re.IGNORECASE,
)
# The same where next to nothing else is shown: posts of networks and accounts.
_GONE_POST = re.compile(
    r"(?:内容|內容|[账帳][号號户戶]|公众号|公眾號|微博|博文|[帖贴]子?|[视視][频頻]|作品|图文|"
    r"回答|[问問][题題]|[话話][题題]|日志|[动動][态態]|笔记|稿件|[链鏈]接|文章|消息|"
    r"用[户戶])[^。！!]{0,24}?"
    rf"(?:已?被?{_BY}(?:删除|刪除|屏蔽|封禁|[下撤](?:架|回|稿)|[隐隱]藏|移除|"
    r"[注註][销銷]|停用|[冻凍][结結]|停止(?:访问|使用))|"
    r"(?:[无無]法|不能|不可|[无無]权)(?:[查观觀]看|[访訪][问問]|[显顯]示|[浏瀏][览覽]|"
    r"[阅閱][读讀]|见|見)|已?[过過]期|[发發]送失[败敗])|"
    r"[参參][数數][错錯][误誤]|"
    r"\b(?:content|post|page|article|story|thread|topic|question|answer|tweet|video|link|account|"
    r"message)\b[^.!]{0,40}\b(?:deleted|removed|suspended|taken down|withdrawn|unavailable|"
    r"expired|deactivated|blocked|not available|no longer|"
    r"(?:can(?:not|['’]t)|could not) be (?:found|viewed|displayed|accessed))\b|"
    r"\b(?:unable to|can(?:not|['’]t)) (?:view|display|access|find) (?:this|the|that) \w+",
    re.IGNORECASE,
)
# What every message has; one set of first letters, so that the search is fast.
_GONE_HINT = re.compile(
    "不存|删除|刪除|屏蔽|关闭|找不|找到|下线|下線|失效|错误|出错|不見|过期|過期|404|"
    "[无無]法|不[能可]|下架|撤|封禁|[注註][销銷]|[隐隱]藏|移除|停[用止]|[冻凍]|失[败敗]|"
    "ound|longer|removed|exist|deleted|availab|expired|viewed|suspended|nable|withdrawn|"
    "taken down|deactivated|blocked|annot|an't"
)
# What a message says to the one who asked for the page.
_ADDRESSED = re.compile(
    r"抱歉|[对對]不起|您|返回(?:首[页頁]|上一?[页頁])|[点點][击擊]|秒[后後]|\b(?:sorry|oops|you|your)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^。！？!?\n]*[。！？!?]|[^.\n]*[.](?=\s|$)")
_ONLY_MESSAGE_CHARS = 40
_MESSAGE_CHARS = 80
_HEAD_CHARS = 24
_MOUNTS = "#app,#root,#__next,#__nuxt,#main-app"
_MOUNT_TEXT = 60
_NEEDS_SCRIPT = re.compile(
    r"(?:enable|requires?|启用|开启|打开|支持|需要)\s*(?:您的浏览器的?)?\s*JavaScript|"
    r"JavaScript[^<]{0,40}(?:enable|启用|开启|禁用|disabled)",
    re.IGNORECASE,
)

# Only what is a listing on nearly every site: /archives/123/ and /a/index.html are articles
# on many.
_LISTING_PATH = re.compile(
    r"/page/\d+/?(?:index\.html)?$|/(?:tags?|categor(?:y|ies)|topics?)/[^/]+/?$|"
    r"/(?:tags?|categories|archives?|search|list)/?$|/archives?/(?:19|20)\d\d(?:/\d\d?)?/?$|"
    r"/(?:list|index)[-_]\d+\.\w+$|/(?:list|search|tag)\.(?:php|aspx?|jsp|html?)$|"
    r"/(?:authors?|writers?|columnists?|contributors?|reporters?|journalists?|bloggers?)/[^/]+/?$",
    re.IGNORECASE,
)
_LIST_TITLE = re.compile(
    r"第\s*\d+\s*页|归档|歸檔|^(?:标签|標籤|分类|分類|专题|栏目)\s*[:：]?|文章列表|频道$|頻道$|首页|首頁|"
    r"^archives?\b|\barchives?$|^categor(?:y|ies)\b|^tags?\b|page \d+ of \d+|"
    r"^作者\s*[:：]|的?(?:全部|所有)(?:文章|帖子|作品)$|的(?:文章|[专專][栏欄]|主[页頁])$|"
    r"^(?:(?:all )?(?:posts|articles|stories) (?:by|from|in|tagged)|author)\b",
    re.IGNORECASE,
)
# What a page is called that a site begins at, whatever stands on it.
_ENTRANCE = re.compile(r"(?:网站|網站)?[首主][页頁]|home ?page|home", re.IGNORECASE)
_BOARD = re.compile(
    r"\s?(?:[论論][坛壇]|版[块塊]?|板[块塊]|[专專][区區]|[讨討][论論][区區]|社[区區]|[贴貼]?吧|"
    r"\b(?:sub)?forums?|\bboards?)",
    re.IGNORECASE,
)
_BOARD_MARKS = (
    "最后发表",
    "最後發表",
    "最后回复",
    "最後回覆",
    "最新回复",
    "回复/查看",
    "查看/回复",
    "回覆/查看",
    "收藏本版",
    "今日:",
    "今日：",
    "主题:",
    "主题：",
    "主題:",
    "主題：",
    "版主",
    "发新帖",
    "發新帖",
    "全部主题",
    "热门主题",
    "Last post",
    "Last Post",
    "Last reply",
    "Replies / Views",
    "New topic",
    "New Topic",
    "Start a new",
    "Topics",
    "Moderators:",
)
"""What a board says of itself; threads tell of their own posts."""
_LEAST_MARKS = 2
_MORE_LINK = re.compile(
    r"(?:(?:查看|[阅閱][读讀]|[浏瀏][览覽])原文|[继繼][续續][阅閱][读讀]|全文|[详詳][情细細]|更多|"
    r"read (?:more|on|full|the (?:rest|full))|continue reading|(?:(?:see|view|learn) )?more)"
    r"\W{0,6}$",
    re.IGNORECASE,
)
_BOX_LINKS = frozenset(("更多", "more"))
"""These lead to all of a column, beside the name of a box, unless they end the line of a text."""
_MORE_CHARS = 20
_EXCERPTS = 3
_NEARLY_ALL = 0.85
_ROWS = 8
_ROW_BLOCKS = 3
_ROW_CHARS = 120
_ARTICLE_URL = re.compile(
    r"/\d{4,}[^/]*\.\w{3,5}$|[-_/]\d{5,}/?$|/(?:19|20)\d\d[-/_]?[01]\d(?:[-/_]?[0-3]\d)?/[^/]+|"
    r"/t?(?:19|20)\d{6}_\d+|(?:^|[?&])(?:id|aid|tid|newsid|articleid|news_id|p)=\d+",
    re.IGNORECASE,
)
_FIRST_PATH = re.compile(
    r"^/(?:(?:index|default|home)\.\w+)?$|^/(?:[a-z]{2}|zh-[a-z]{2,4})/?$", re.I
)
_BESIDE_LABEL = 10
"""Letters in a site's name beside the word of its host."""
_ARTICLE_TYPES = ("newsarticle", "article", "blogposting", "reportagenewsarticle")
_ARTICLE_META = ("article:published_time", "og:published_time", "pubdate", "publishdate")
_SHORT_TITLE = 6


class Judgement(NamedTuple):
    """What a page is, how its row is closed, and why in words ("" for an article).

    ``excerpts`` are of an article: text that may stand on the pages its headings lead to.
    """

    kind: PageKind
    outcome: Outcome
    reason: str
    excerpts: tuple[Excerpt, ...] = ()


def judge(page: Page, body: Body, title: str) -> Judgement:
    """Kind and outcome of *page*, with *body* as its extractor found it. Never raises."""
    features = page_kind_features(page, title)
    # Text that is not on the page was found in a script: nothing is missing then.
    if len(body.text) <= features.shown:
        for check in (_judge_gone, _login, _script_made):
            judgement = check(page, body, features)
            if judgement is not None:
                return judgement
    if body.text and title and opening_lines(page):
        return Judgement(PageKind.FORUM, Outcome.ARTICLE, "")
    is_dated = features.dated or _ARTICLE_URL.search(urlsplit(page.url).path) is not None
    is_table = features.headline >= 0 and is_dated and is_table_body(page, body)
    if is_table or is_verse_body(page, body):
        return Judgement(story_kind(page, features, title), Outcome.ARTICLE, "")
    listing = _listing(page, body, features, title)
    if listing is not None:
        return listing
    kind = story_kind(page, features, title)
    lacking = _lacking(page, body, features, title)
    if lacking:
        kind = PageKind.OTHER if kind is PageKind.ARTICLE else kind
        return Judgement(kind, Outcome.NOT_ARTICLE, lacking)
    if page.once(thread_of) is not None:
        return Judgement(PageKind.FORUM, Outcome.ARTICLE, "")
    excerpts = excerpts_of(page, features.entries, body.blocks)
    return Judgement(kind, Outcome.ARTICLE, "", tuple(excerpts))


def _judge_gone(page: Page, body: Body, features: PageKindFeatures) -> Judgement | None:
    if features.own_bytes > _MUCH_BYTES or (features.dated and features.own_bytes > _LITTLE_TEXT):
        return None
    message = _gone_message(page, body, features)
    if not message:
        return None
    reason = f"says {message!r} and shows only {features.shown} characters"
    return Judgement(PageKind.ERROR, Outcome.SOFT_404, reason)


def _gone_message(page: Page, body: Body, features: PageKindFeatures) -> str:
    heads = [page.title, *(node.text()[:200] for node in page.nodes("h1")[:2])]
    story = _is_headed(features) and _tells_something(body)
    for head in heads:
        match = _GONE.search(head)
        if match and (len(head.strip()) <= _HEAD_CHARS or features.own_bytes <= _LITTLE_TEXT):
            if story and _is_headline(head.strip(), match):
                continue
            return match[0]
    if story or features.own_bytes > _LITTLE_TEXT or (_is_headed(features) and _tells(body)):
        return ""
    texts = [b.text for b in page.blocks.blocks if 2 * b.linked <= len(b.text) <= _MESSAGE_CHARS]
    texts = [text for text in texts if _GONE_HINT.search(text)]
    if features.shown < _ALMOST_NO_TEXT:
        shown = " ".join(texts)
        match = _GONE.search(shown)
        if match is None and not (_ASKS_TO_LOG_IN.search(shown) or _NEEDS_SCRIPT.search(shown)):
            match = _GONE_POST.search(shown)
        if match:
            return match[0]
    return next((match[0] for text in texts if (match := _GONE_MESSAGE.search(text))), "")


def _is_headline(head: str, gone: re.Match[str]) -> bool:
    """Whether *head* is about something else than the page: 老侨寻亲多年找不到故居."""
    is_message = gone[0].isascii() or _GONE_MESSAGE.search(head) is not None
    return not is_message and 2 * len(gone[0]) < len(head)


def _tells_something(body: Body) -> bool:
    """Whether *body* has a sentence that is no message to a visitor."""
    return any(
        len(sentence.encode()) >= _SHORTEST_BYTES
        and _ADDRESSED.search(sentence) is None
        and (
            len(sentence) > _ONLY_MESSAGE_CHARS
            or (_GONE.match(sentence) is None and _GONE_MESSAGE.search(sentence) is None)
        )
        for sentence in _SENTENCE.findall(body.text)
    )


def _is_headed(features: PageKindFeatures) -> bool:
    """Whether a headline and a date are shown, as no message to a visitor has them."""
    return features.headline >= 0 and features.dated


def _tells(body: Body) -> bool:
    """Whether *body* has the length of a short story, in sentences or not."""
    return len(body.text) >= _SHORT_STORY_CHARS


def _login(page: Page, body: Body, features: PageKindFeatures) -> Judgement | None:
    if features.own_bytes >= _LITTLE_TEXT and features.shown >= _LITTLE_TEXT:
        return None
    if not any((n.attributes.get("type") or "").lower() == "password" for n in page.nodes("input")):
        return None
    if features.items >= _MANY_ITEMS:
        return None  # a home page or a list with a login box
    if _is_headed(features) and (_prose_after(features) or _tells(body)):
        return None  # a short story on a site with a login box
    reason = f"asks for a password and shows only {features.shown} characters"
    return Judgement(PageKind.LOGIN, Outcome.LOGIN, reason)


def why_login(page: Page, outcome: Outcome) -> str:
    """Why a page that shows next to nothing asks for a login, in words; "" when it does not.

    It sends to one by a refresh or a script, as old sites do in place of a redirect, or says so.

    Args:
        outcome: what :func:`judge` makes of it.
    """
    if outcome not in _HIDE_A_LOGIN or sum(map(len, page.texts)) > _ALMOST_NO_TEXT:
        return ""
    target = page.refresh_url
    if not target and (match := _SCRIPTED.search(page.source, 0, _SCRIPT_LOOKED_AT)):
        target = canonical_url(match[1].replace("\\/", "/"), page.base_url) or ""
    if target and sends_to_login(page.url, target):
        return f"sends to the login page {target.partition('?')[0]}"
    if outcome is Outcome.NOT_ARTICLE:
        for text in page.texts:
            if match := _ASKS_TO_LOG_IN.search(text):
                return f"asks to log in: {match[0]!r}"
    return ""


def _script_made(page: Page, body: Body, features: PageKindFeatures) -> Judgement | None:
    if features.prose_bytes >= 3 * _LITTLE_TEXT or (_is_headed(features) and _tells(body)):
        return None
    scripts = page.nodes("script")
    if not scripts:
        return None
    reason = ""
    if _has_empty_mount(page):
        reason = f"an empty mount point for scripts, {features.shown} characters"
    elif features.shown < _ALMOST_NO_TEXT:
        if _NEEDS_SCRIPT.search(page.source):
            reason = f"asks for JavaScript, {features.shown} characters"
        else:
            size = sum(len(script.text()) for script in scripts)
            if size > 10 * features.shown and size > len(page.source) // 3:
                reason = f"{size} characters of script, {features.shown} of text"
    return Judgement(PageKind.OTHER, Outcome.NEEDS_RENDERING, reason) if reason else None


def _has_empty_mount(page: Page) -> bool:
    mount = page.tree.css_first(_MOUNTS)
    if mount is None:
        return False
    unseen = sum(len(node.text(strip=True)) for node in mount.css("script,style,noscript"))
    return len(mount.text(strip=True)) - unseen < _MOUNT_TEXT


def _listing(page: Page, body: Body, features: PageKindFeatures, title: str) -> Judgement | None:
    """The judgement that *page* is a list, a home or a search page, or None."""
    url = urlsplit(page.url)
    index = (
        _index(page, body, features)
        or _board(page, features, title)
        or _site_itself(page, features, url, title)
    )
    if index:
        return Judgement(index_kind(page, url, title), Outcome.LIST, index)
    is_column = _is_column(page, body, features, title)
    article_points = _points_of_article(page, features, url, title, is_column=is_column)
    list_points, why = _points_of_list(page, features, url, title, is_column=is_column)
    if list_points < 2 or list_points < article_points or not features.linked:
        return None  # a page without a link leads nowhere
    if (
        list_points == article_points
        and features.own_bytes >= _MUCH_BYTES
        and not _is_plain_home(page, features, url)
    ):
        return None
    # Few links and little linked text: a list only if its URL or title says so as well.
    few = features.items < _FEW_ITEMS and 4 * features.linked <= features.shown
    if few and not (why and features.prose_bytes):
        return None
    reason = "; ".join(why) or f"{features.linked} of {features.shown} characters are link text"
    return Judgement(index_kind(page, url, title), Outcome.LIST, reason)


def _board(page: Page, features: PageKindFeatures, title: str) -> str:
    """In words, that *page* is a board that lists its threads; else ""."""
    if features.items < _LIST_ITEMS or features.item_bytes <= features.own_bytes:
        return ""
    marks = sum(map(page.once(BlockTexts).short.__contains__, _BOARD_MARKS))
    least = _LEAST_MARKS + (not _is_board_name(page, title))
    if marks < least or page.once(_count_rows) < _ROWS or page.once(thread_of) is not None:
        return ""
    return f"a board with {features.items} titles"


def _site_itself(page: Page, features: PageKindFeatures, url: SplitResult, title: str) -> str:
    """In words, that *page* has no headline but the name of its site; else "".

    On a first page a name with the word of the host is its site's; elsewhere only the site's
    very name counts, above a few titles and little text.
    """
    if url.query or not url.netloc or _is_declared_article(page):
        return ""
    declared, letters = declared_by(page), letters_of(title)
    if _FIRST_PATH.search(url.path or "/"):
        has_word = any(
            label in letters and len(letters) <= len(label) + _BESIDE_LABEL
            for label in declared.labels
        )
        is_name = has_word or declared.is_site(title)
        if features.dated and features.items < _LIST_ITEMS:
            is_name = False  # a story in a frame, under the title of the site
        return f"a first page that is called {title!r}" if is_name else ""
    is_little = features.own_bytes < _LITTLE_TEXT * 2 and features.items >= _FEW_ITEMS
    return (
        f"titles below the site's name {title!r}" if is_little and declared.is_site(title) else ""
    )


def _index(page: Page, body: Body, features: PageKindFeatures) -> str:
    """In words, that the text of *page* is that of the pages it leads to; else ""."""
    blocks = [page.blocks.blocks[index] for index in body.blocks]
    chars, linked = sum(len(b.text) for b in blocks), sum(b.linked for b in blocks)
    if (
        2 * linked > chars
        and chars < _LITTLE_TEXT
        and all(
            is_link_to_site(page, index) and not names_file(page.blocks, index)
            for index in body.blocks
            if page.blocks.blocks[index].links
        )
    ):
        return f"{linked} of the {chars} characters of its text are links"
    entries, share = entries_of_body(page, body, features)
    if share < _BELOW_ENTRIES:
        return ""
    if len(entries) == 1:
        # One alone may be a remark, or the story's own headline under another address.
        text = [index for index in body.blocks or features.prose if index > entries[0].block]
        if share < _BELOW_ONLY_ENTRY or not text or _is_declared_article(page):
            return ""
        if not is_linked_again(page, entries[0], text):
            return ""
    return f"its text stands below {len(entries)} headings that lead to other pages"


def entries_of_body(
    page: Page, body: Body, features: PageKindFeatures
) -> tuple[list[Entry], float]:
    """The entries that hold some of *body*, and the share of its characters they hold.

    A story may name others of its site, with an introduction of its own: it has no entries.
    """
    blocks = page.blocks.blocks
    at = {index: entry for entry in features.entries for index in range(entry.first, entry.end)}
    total = below = lead = 0
    entries: list[Entry] = []
    for index in body.blocks or features.prose:
        size = len(blocks[index].text)
        total += size
        if index not in at:
            lead += size if features.headline < index and not entries else 0
            continue
        below += size
        if not entries or entries[-1] is not at[index]:
            entries.append(at[index])
    if features.headline >= 0 and lead and (5 * lead > total or _is_declared_article(page)):
        return [], 0.0
    return entries, below / max(1, total)


def _is_plain_home(page: Page, features: PageKindFeatures, url: SplitResult) -> bool:
    """Whether this is the first page of its site and nothing on it claims otherwise."""
    is_first = bool(url.netloc) and not url.query and HOME_PATH.search(url.path or "/") is not None
    return is_first and features.headline < 0 and not _is_declared_article(page)


def _points_of_article(
    page: Page, features: PageKindFeatures, url: SplitResult, title: str, *, is_column: bool
) -> int:
    """Points for a page that tells one story, 0 to 9."""
    points = 0
    if features.headline >= 0 and not is_column:
        points += 2 + (_prose_after(features) > 0)
        is_long = len(title.encode()) >= _HEADLINE_BYTES
        if (
            features.dated
            and _starts_soon(features)
            and (is_long or heads_text(page, features.headline))
        ):
            points += 2
    points += features.dated and features.own_bytes > 0
    points += sum(features.own_bytes >= size for size in (300, _MUCH_BYTES, 3000))
    points += _ARTICLE_URL.search(url.path + ("?" + url.query if url.query else "")) is not None
    points += 2 * _is_declared_article(page)
    return points


def _is_column(page: Page, body: Body, features: PageKindFeatures, title: str) -> bool:
    """Whether *title* is that of a column or a board, or heads none of the text of *page*."""
    if _is_board_name(page, title) or _ENTRANCE.fullmatch(title.strip()):
        return True
    if len(title) <= _SHORT_TITLE and not heads_text(page, features.headline):
        return True
    return not body.text or (bool(body.blocks) and body.blocks[-1] < features.headline)


def _is_board_name(page: Page, title: str) -> bool:
    """Whether ``<title>`` begins with *title* as the name of a board: 侨乡话题论坛."""
    at = page.title.find(title) if title else -1
    behind = page.title[at + len(title) :] if at >= 0 else ""
    return _BOARD.match(behind) is not None


def _starts_soon(features: PageKindFeatures) -> bool:
    """Whether a sentence follows soon upon the headline."""
    return any(0 < index - features.headline <= _AT_ONCE for index in features.prose)


def _is_declared_article(page: Page) -> bool:
    meta = page.meta
    if meta.get("og:type", "").lower().endswith("article") or any(k in meta for k in _ARTICLE_META):
        return True
    return any(str(item.get("@type", "")).lower() in _ARTICLE_TYPES for item in page.json_ld)


def _prose_after(features: PageKindFeatures) -> int:
    return sum(index > features.headline for index in features.prose)


def _points_of_list(
    page: Page, features: PageKindFeatures, url: SplitResult, title: str, *, is_column: bool
) -> tuple[int, list[str]]:
    """Points for a page that leads to others, and the strongest evidence in words."""
    points = 0
    why = []
    if _LISTING_PATH.search(url.path) or SEARCH_QUERY.search(url.query):
        points += 4
        why.append("the URL is a listing's")
    elif url.netloc and HOME_PATH.search(url.path or "/") and not url.query:
        # Some know only the site of a page: with a dated headline it is no first page.
        points += (
            1 if features.headline >= 0 and features.dated and len(title) > _SHORT_TITLE else 2
        )
        why.append("the URL is a site's first page")
    if features.items >= _FEW_ITEMS and features.item_bytes > features.own_bytes:
        points += features.headline < 0
    if features.items >= _LIST_ITEMS:
        points += sum(features.item_bytes > times * features.own_bytes for times in (1, 3, 9))
        if 2 * features.linked >= features.shown:
            points += 1
            why.append(f"{features.linked} of {features.shown} characters are link text")
    if features.summary_blocks >= 3 and features.summary_bytes >= 0.6 * features.prose_bytes:
        points += 3
        why.append(f"{features.summary_blocks} summaries below titles that are links")
    if excerpts := _count_excerpts(page, features):
        points += 5
        why.append(f"{excerpts} excerpts that lead on")
    if index_declared(page) and not _is_declared_article(page):
        points += 3
        why.append("it declares itself an index")
    if len(letters_of(title)) <= _SHORT_TITLE:
        points += bool(title) and not heads_text(page, features.headline)
    if (
        is_column
        and features.items >= _LIST_ITEMS
        and features.item_bytes > 3 * features.own_bytes
        and not (features.headline >= 0 and _starts_soon(features))
        and page.once(_count_rows) >= _ROWS
    ):
        points += 2
        why.append("dated titles in rows below the name of a column")
    if _LIST_TITLE.search(title):
        points += 2
        why.append(f"called {title!r}")
    return points, why


def _count_rows(page: Page) -> int:
    """Linked titles with a date beside or right below them."""
    texts, marks = page.once(BlockTexts).texts, page.once(block_marks)
    rows = 0
    for index in marks.titles:
        for text in texts[index : index + _ROW_BLOCKS]:
            if len(text) <= _ROW_CHARS and is_dated(text):
                rows += 1
                break
    return rows


def _count_excerpts(page: Page, features: PageKindFeatures) -> int:
    """Texts that end with a link to all of them ("read more"), where most text is in such.

    Nearly all must be in such where the headline has a text of its own right below it.
    """
    blocks, excerpts = page.blocks.blocks, []
    for index in features.prose:
        is_led_on = blocks[index].links > 0 and _leads_on(blocks[index].text)
        if not is_led_on and index + 1 < len(blocks) and blocks[index + 1].links:
            link = blocks[index + 1].text
            is_box = link.rstrip(" >»…[]").lower() in _BOX_LINKS
            is_led_on = len(link) <= _MORE_CHARS and not is_box and _leads_on(link)
        if is_led_on:
            excerpts.append(index)
    if len(excerpts) < _EXCERPTS:
        return 0
    below = (index for index in features.prose if index > features.headline >= 0)
    share = 0.5 if next(below, excerpts[0]) in excerpts else _NEARLY_ALL
    size, total = (sum(len(blocks[i].text) for i in of) for of in (excerpts, features.prose))
    return len(excerpts) if size > share * total else 0


def _leads_on(text: str) -> bool:
    return _MORE_LINK.search(text[-_MORE_CHARS:]) is not None


def _holds_article(page: Page, body: Body, features: PageKindFeatures) -> bool:
    """Whether an ``<article>`` holds the headline and all of *body*."""
    elements = page.blocks.elements
    first, last = features.headline, body.blocks[-1] if body.blocks else -1
    return 0 <= first < last and any(
        element.tag == "article" and element.first <= first and last < element.end
        for element in elements
    )


def _lacking(page: Page, body: Body, features: PageKindFeatures, title: str) -> str:
    """What an article has and this page lacks, in words; "" when nothing is lacking."""
    if not body.text:
        return f"no body: {body.reason}"
    if not title:
        return "no title"
    prose_bytes = count_prose_bytes(body.text.split("\n"), MIN_PROSE_TOTAL_BYTES)
    if prose_bytes >= MIN_PROSE_TOTAL_BYTES:
        return ""
    size = len(body.text.encode())
    headed = features.headline >= 0 or len(title) > _SHORT_TITLE
    is_dated = features.dated or _ARTICLE_URL.search(urlsplit(page.url).path) is not None
    has_files = any(names_file(page.blocks, index) for index in body.blocks)
    if has_files and headed and is_dated and not _is_column(page, body, features, title):
        return ""  # what is sent out is in the files
    sentence = prose_bytes >= _SHORTEST_BYTES and SENTENCE_END.search(body.text) is not None
    is_told = features.dated or _holds_article(page, body, features)
    if headed and is_told and (sentence or size >= 3 * MIN_PROSE_TOTAL_BYTES):
        return ""
    if headed and size >= 6 * MIN_PROSE_TOTAL_BYTES and _is_declared_article(page):
        return ""  # code, verses, a table
    if size < MIN_PROSE_TOTAL_BYTES:
        return f"no body: body has {len(body.text)} characters"
    return f"{prose_bytes // 3} characters in sentences, boilerplate apart"
