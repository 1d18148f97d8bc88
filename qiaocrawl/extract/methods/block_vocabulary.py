"""The characters, words and class names that block features count.

Each is general to Chinese or English pages; no site is named.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.text.normalise import late_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

# --- characters -------------------------------------------------------------------------

CLASSES = ("letter", "han", "digit", "stop", "dot", "comma", "quote", "bullet", "space", "other")
LETTER, HAN, DIGIT, STOP, DOT, COMMA, QUOTE, BULLET, SPACE, OTHER = range(len(CLASSES))
_STOPS = "。！？!?；;…"
_COMMAS = "，、,：:"
_QUOTES = "“”‘’「」『』\"'《》"
_BULLETS = "·•◆■●>»›|｜▪►▲★☆※-—"


@cache
def class_table() -> NDArray[np.uint8]:
    """The class of every character of the basic plane."""
    table = np.full(0x10000, OTHER, dtype=np.uint8)
    for code in range(0x10000):
        category = unicodedata.category(chr(code))
        if category == "Nd":
            table[code] = DIGIT
        elif category[0] == "L":
            table[code] = LETTER
    table[0x3400:0xA000] = HAN
    for characters, kind in (
        (_STOPS, STOP),
        (".", DOT),
        (_COMMAS, COMMA),
        (_QUOTES, QUOTE),
        (_BULLETS, BULLET),
    ):
        table[[ord(c) for c in characters]] = kind
    table[[0x20, 0xA0, 0x3000]] = SPACE
    table[0xFFFF] = OTHER  # stands for all beyond the basic plane
    return table


# --- words --------------------------------------------------------------------------------

# Words that tell what a block is for, in lower case; every one begins with a letter that is
# not optional, so that a search leaps from candidate to candidate.
_WORDS = {
    "legal": (
        "版权|版權|©|copyright|all rights reserved|icp备|icp证|公网安备|备案|備案|许可证|"
        "許可證|举报电话|"
        "举报邮箱|地址:|地址：|电话:|电话：|電話:|電話：|邮编|传真|邮箱|terms of|"
        "privacy policy|关于我们|关于本站|联系我们|關於我們|聯絡我們|联系方式|技术支持|主办|"
        "主管|承办|网站地图|友情链接|友情連結"
    ),
    "byline": (
        "责任编辑|責任編輯|责编|编辑:|编辑：|編輯:|編輯：|来源:|来源：|來源:|來源：|稿源|"
        "作者:|作者：|发布时间|發布時間|发表于|發表於|发布于|posted by|posted on|published|"
        "last updated|last modified"
    ),
    "related": (
        "相关|相關|推荐|推薦|热门|熱門|热点|排行|更多|图集|上一篇|下一篇|上一条|下一条|"
        "关键词|关键字|關鍵字|标签|標籤|延伸阅读|延伸閱讀|往期|精彩|related|more from|"
        "read more|see also|most read|most popular|trending|recommended|next article|"
        "previous|tags:|also on|more stories"
    ),
    "action": (
        "评论|評論|分享|收藏|打印|列印|字号|字體|字体|登录|登入|註冊|注册|留言|点击|點擊|"
        "浏览|阅读:|阅读：|阅读(|关闭|關閉|转发|我要|投诉|下载|订阅|訂閱|扫描|二维码|扫一扫|"
        "微信|微博|手机报|手機報|comment|share|e-mail|email|print|tweet|facebook|sign up|"
        "sign in|log in|login|register|subscribe|newsletter|click here|report abuse|"
        "advertisement|follow us|download|rss"
    ),
    "notice": (
        "不代表|免责|免責|仅供参考|僅供參考|严正声明|严正申明|特此声明|侵权|侵權|未经授权|"
        "未經授權|未经许可|不得转载|请勿转载|謝絕轉載|凡注明|凡註明|凡本网|凡本站|均为转载|"
        "均来源于|均转载|赞同其观点|贊同其觀點|真实性负责|真實性負責|真实性和|如涉及|"
        "版权等问题|与本网联系|与本站联系|与我们联系|及时删除|稿件处理|转载请注明|轉載請註明|"
        "原创性|文责自负|法律责任|法律責任|disclaimer|reproduced|without permission|"
        "copyrighted|may not be published|cookies"
    ),
    "reporter": (
        "记者|記者|通讯员|通訊員|讯|訊|电|电)|日电|日電|报道|報道|報導|本报|本報|(reuters)|(ap)"
    ),
    "caption": (
        "图为|圖為|资料图|資料圖|图片来源|圖片來源|摄)|摄）|摄影|攝|供图|图/|图：|图:|圖說|"
        "圖說：|圖：|photo|image:|picture:|getty|file picture|credit:"
    ),
}
WORD_NAMES = (*_WORDS, "clock")
WORD_KIND = {
    word: kind for kind, listed in enumerate(_WORDS.values()) for word in listed.split("|")
}
"""The index in WORD_NAMES of each word."""


def _one_of(words: Iterable[str]) -> str:
    """A pattern for the longest of *words* at a place; shared beginnings make it fast."""
    rests: dict[str, set[str]] = {}
    for word in words:
        rests.setdefault(word[:1], set()).add(word[1:])
    is_whole = rests.pop("", None) is not None
    branches = [re.escape(first) + _one_of(rest) for first, rest in sorted(rests.items())]
    if not branches:
        return ""
    return f"(?:{'|'.join(branches)})" + "?" * is_whole


_HAN_WORD = late_pattern(_one_of([word for word in WORD_KIND if not word.isascii()]))
# One of these is among the first letters of each ("icp备"); on an English page the first is near
# its end, if there is one.
_HAN_BEGIN = re.compile("[©\u4e00-\u9fff]")
_BEFORE_HAN = 3
_LATIN_WORD = late_pattern(
    "[ \\n(]((?:" + _one_of([word for word in WORD_KIND if word.isascii()]) + "))"
)
_CLOCK = late_pattern(
    "[0-9](?:[0-9]?:[0-9][0-9]|[0-9]{3}[-/.年][0-9]{1,2}[-/.月][0-9]|[0-9]?月[0-9]{1,2}日|"
    "[0-9]?(?:小时|分钟|天)前|[0-9]? (?:hours?|days?|minutes?) ago|"
    "[0-9]?(?:st|nd|rd|th)?,? (?:19|20)[0-9][0-9])"
)
_TITLE_END = re.compile("[_|｜»—]|--| - ")


def find_words(text: str) -> list[tuple[int, int]]:
    """(position, index in WORD_NAMES) of every telling word in *text*, which is lower case.

    Latin words count at the beginning of a word only: behind a space, a line end or "(".
    """
    begin = _HAN_BEGIN.search(text)
    han = _HAN_WORD.finditer(text, max(begin.start() - _BEFORE_HAN, 0)) if begin else ()
    hits = [(match.start(), WORD_KIND[match[0]]) for match in han]
    hits += [(match.start(1), WORD_KIND[match[1]]) for match in _LATIN_WORD.finditer(text)]
    # Dates and times are the last kind.
    hits += [(match.start(), len(_WORDS)) for match in _CLOCK.finditer(text)]
    return hits


def telling_words(text: str) -> dict[str, set[str]]:
    """The different words of each kind in *text*, which is lower case; see WORD_NAMES."""
    words: dict[str, set[str]] = {kind: set() for kind in _WORDS}
    found = [match[0] for match in _HAN_WORD.finditer(text)]
    found += [match[1] for match in _LATIN_WORD.finditer(f"\n{text}")]
    for word in found:
        words[WORD_NAMES[WORD_KIND[word]]].add(word)
    return words


# --- names of classes and ids ---------------------------------------------------------------


def _compounds(*pairs: tuple[str, str]) -> str:
    """Every first word before every second one of the *pairs*, with what stands between them."""
    return "|".join(
        first + between + second
        for firsts, seconds in pairs
        for first, second in product(firsts.split("|"), seconds.split("|"))
        for between in ("", "-", "_", "-_")
    )


_NAMES = {
    "good": "article|content|text|body|post|entry|story|main|news|detail|正文|zhengwen|para|"
    "artical|neirong|wenzhang",
    "strong": "entrycontent|entry-content|zoom|articlebody|artibody|bodytext|artcon|art_con|"
    "articalcon|artical_con|" + _compounds(
        ("article", "body|content|text|detail|con"), ("story|post", "body|content"),
        ("main", "content|text"), ("content", "text"), ("text", "con"),
        ("news", "content|text|body|con"),
    ),
    "comment": "comment|reply|disqus|discuss|pinglun|respond|feedback|liuyan|replies|message",
    "nav": "nav|menu|bread|crumb|tab|header|topbar|top-bar|toolbar|sitemap|logo|daohang",
    "foot": "foot|copyright|bottom|legal|disclaim",
    "side": "side|right|left|rail|widget|aside|col2|col-2|secondary",
    "related": "relat|recommend|hot|rank|popular|more|list|guess|other|latest|most|xiangguan|like|"
    "tuijian|next|prev|pagenav|page-nav|pagination|pager",
    "action": "share|social|tool|bookmark|print|search|login|sign|vote|subscribe|newsletter|"
    "follow|fontsize|digg|rating|poll",
    "ad": "advert|banner|sponsor|promo|guanggao|google",
    "consent": "cookie|consent|gdpr|onetrust|privacy|modal|popup|overlay|dialog|paywall",
    "meta": "info|source|author|byline|date|time|meta|editor|laiyuan|tag|keyword|caption|credit|"
    "summary|abstract|title|headline|subtitle",
}  # fmt: skip
NAME_KINDS = tuple(_NAMES)
_NAME_WORDS = {word: kind for kind, words in _NAMES.items() for word in words.split("|")}
_ANY_NAME = late_pattern(f"(?=({_one_of(_NAME_WORDS)}))")
_AD = re.compile(r"\bad[sv]?\b|\bad[-_]|[-_]ads?\b")
_AD_FLAG = 1 << NAME_KINDS.index("ad")
TAGS = (
    "p",
    "td",
    "div",
    "li",
    "h",
    "dd",
    "quote",
    "pre",
    "figure",
    "article",
    "nav",
    "footer",
    "aside",
    "form",
    "body",
)
_TAG_OF = {
    "th": "td", "tr": "td", "table": "td", "tbody": "td", "center": "div", "section": "div",
    "ul": "li", "ol": "li", "dl": "dd", "dt": "dd", "blockquote": "quote", "figcaption": "figure",
    "h1": "h", "h2": "h", "h3": "h", "h4": "h", "h5": "h", "h6": "h", "main": "article",
    "header": "nav", "fieldset": "form", "caption": "figure", "menu": "nav",
}  # fmt: skip
_TAG_NUMBERS = {tag: TAGS.index(kind) for tag, kind in ({t: t for t in TAGS} | _TAG_OF).items()}
tag_number = _TAG_NUMBERS.get
"""Index in TAGS of what a tag is; asked for every element of a page."""


@lru_cache(maxsize=20_000)
def name_flags(names: str) -> int:
    """Which of NAME_KINDS stand in *names*, the class and id of an element: a bit for each."""
    flags = 0
    for name in names.split():
        flags |= _flags_of_name(name)
    return flags


@lru_cache(maxsize=20_000)  # names of elements differ more than what they are made of
def _flags_of_name(name: str) -> int:
    flags = 0
    for word in _ANY_NAME.findall(name):
        flags |= _flags_of_word(word)
    if "ad" in name and _AD.search(name):
        flags |= _AD_FLAG
    return flags


@cache
def _flags_of_word(word: str) -> int:
    """What the longest word at a place tells: also what the shorter ones do that begin there."""
    kinds = {kind for begin, kind in _NAME_WORDS.items() if word.startswith(begin)}
    return sum(1 << NAME_KINDS.index(kind) for kind in kinds)


@lru_cache(maxsize=64)
def title_words(title: str) -> tuple[str, ...]:
    """Pairs of Chinese letters and words of four letters or more in the title, each once.

    The title is lower case; what follows its first separator is the site's name as a rule.
    """
    cut = _TITLE_END.search(title, 6)
    title = title[: cut.start()] if cut else title
    pairs = [a + b for a, b in pairwise(title[:80]) if a >= "\u3400" and b >= "\u3400"]
    return tuple(dict.fromkeys(pairs + re.findall("[a-z]{4,}", title)[:20]))


# --- Lines that say when and by whom an article was published, and nothing of it ------------------

_LABEL_OF_ARTICLE = (
    r"(?:信息|文章|稿件|新[闻聞]|本文|[点點][击擊])?(?:"
    r"[发發][布佈表](?:[时時][间間]|日期|[单單]位|[机機]构|人|者)?|[时時][间間]|日期|[来來]源|稿源|出[处處]|"
    r"作者|[记記]者|供稿(?:[单單]位)?|[责責]任[编編][辑輯]|[编編][辑輯]|[审審](?:核|稿)|校[对對]|"
    r"(?:[浏瀏][览覽]|[点點][击擊]|[阅閱][读讀]|[访訪][问問])(?:次[数數]|[数數]|量|率)?|人[气氣]|"
    r"字(?:[体體]|[号號])|[视視]力保[护護]色?|[打分][印享])\s?[:：]"
)
_OF_ARTICLE = re.compile(
    _LABEL_OF_ARTICLE + r"\s{0,4}(?:(?:(?!" + _LABEL_OF_ARTICLE + r")[^\s|｜【】\[\]，。；]){0,24}"
    r"(?:\s?次(?!\w))?)"
)
_DAY_AND_HOUR = re.compile(
    r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}\s?日?|\d{1,2}:\d\d(?::\d\d)?"
)
_OF_ARTICLE_CHARS, _REST_CHARS = 120, 8
_OF_EVENT = re.compile(r"地[点點]\s?[:：]")


def tells_of_article(text: str) -> bool:
    """Whether *text* is a line of labels: 发布时间：2025-03-01 来源：南桥侨报 浏览次数：12."""
    if len(text) > _OF_ARTICLE_CHARS or not _OF_ARTICLE.search(text) or _OF_EVENT.search(text):
        return False
    rest = _DAY_AND_HOUR.sub("", _OF_ARTICLE.sub("", text))
    return sum(map(str.isalnum, rest)) <= _REST_CHARS
