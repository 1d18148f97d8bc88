"""What a page declares about its article: JSON-LD objects, people, figures of its readers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.fields.body_context import body_span
from qiaocrawl.page.blocks import Block
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import collapse, letters_of

_ARTICLE_TYPE = re.compile(
    r"article|posting|report(?!er)|recipe|review|advertisement|question|qapage|creativework|"
    r"livestream|podcastepisode|aboutpage$",
    re.IGNORECASE,
)
_DATED = frozenset(("datePublished", "headline"))
_MAX_NESTED = 64
_MAX_TITLES = 3
_HEADLINE_CHARS = 200
_LEAST_LIKENESS = 0.6
_MAX_PEOPLE = 20
MAX_TEXT_CHARS = 1000
"""Of longer declared texts only so much is read."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a page says about itself outside its text.

    Attributes:
        articles: see :func:`articles_declared`.
        names: see :func:`site_names`.
        labels: see :func:`site_labels`.
    """

    articles: list[dict[str, Any]]
    names: frozenset[str]
    labels: frozenset[str]

    def is_site(self, text: str) -> bool:
        """Whether *text* is a name of the site, or its host's word, or that with ``the``."""
        lower = text.lower().strip()
        if lower in self.names:
            return True
        # The words of a host are of ASCII, but for hosts written in other letters.
        tight = letters_of(lower)
        return tight in self.labels or (tight[:3] == "the" and tight[3:] in self.labels)


def declared_by(page: Page, known_names: frozenset[str] = frozenset()) -> Declared:
    """What *page* declares; *known_names* are further names of its site, lower case."""
    names = site_names(page) | known_names
    return Declared(articles_declared(page), names, site_labels(page.once(host_written)))


def articles_declared(page: Page) -> list[dict[str, Any]]:
    """JSON-LD objects of an article's type first, then others with a publish date or a headline.

    Objects one level inside ``mainEntity`` and ``mainEntityOfPage`` count too.
    """
    objects = page.json_ld
    if not objects:
        return []
    nested = [
        inner
        for item in objects
        for name in ("mainEntity", "mainEntityOfPage", "review")
        if isinstance(inner := item.get(name), dict) and len(inner) > 2
    ]
    objects = [*objects, *nested[:_MAX_NESTED]]
    articles = [item for item in objects if _ARTICLE_TYPE.search(_types(item))]
    dated = [item for item in objects if item not in articles and not _DATED.isdisjoint(item)]
    return _of_this_page(page, articles + dated)


def _of_this_page(page: Page, articles: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """*articles* without those of other pages; those with this page's address or headline first.

    An object whose address and headline are both others' is of another page.
    """
    if not articles:
        return articles
    own, unsure = [], []
    shown = [page.title, page.meta.get("og:title", "")]
    shown += [node.text() for node in page.nodes("h1")[:_MAX_TITLES]]
    titles = [letters_of(text[:_HEADLINE_CHARS]) for text in shown]
    urls = {_last_part(url) for url in (page.url, page.canonical_link, page.meta.get("og:url", ""))}
    for item in articles:
        address = _address(item)
        headline = letters_of(first_text(item.get("headline"))[:_HEADLINE_CHARS])
        has_address = bool(address) and _last_part(address) in urls
        has_headline = bool(headline) and any(_is_like(headline, title) for title in titles)
        if has_address or has_headline:
            own.append(item)
        elif not (address and headline and any(titles) and any(urls)):
            unsure.append(item)
    return own + unsure


def _address(item: dict[str, Any]) -> str:
    """The address of the page that *item* says it is of; "" where it says none."""
    for name in ("url", "mainEntityOfPage", "@id"):
        value = item.get(name)
        if isinstance(value, dict):
            value = value.get("@id") or value.get("url")
        if isinstance(value, str) and value.startswith(("http", "/")):
            return value
    return ""


def _last_part(url: str) -> str:
    """The last part of the path of *url*; "" for a home page."""
    path = url.partition("#")[0].partition("?")[0].partition("://")[2]
    return path.rstrip("/").rpartition("/")[2].partition(".")[0].lower() if "/" in path else ""


def _is_like(headline: str, title: str) -> bool:
    """Whether most pairs of letters of *headline* stand in *title*."""
    if headline in title:
        return True
    pairs = {headline[at : at + 2] for at in range(len(headline) - 1)}
    return sum(pair in title for pair in pairs) > _LEAST_LIKENESS * len(pairs)


def text_declared(items: list[dict[str, Any]], *names: str) -> str:
    """The first text under one of *names* in *items*, or ""; of an object, its name."""
    for item in items:
        for name in names:
            value = first_text(item.get(name))
            if value:
                return value
    return ""


def first_text(value: Any) -> str:
    """*value* if it is a text, its first element, or its name; "" otherwise."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("name", "")
    if isinstance(value, list):
        value = value[0] if value else ""
    if not isinstance(value, str):
        return ""
    # Templates put texts that were escaped for HTML into JSON.
    value = value[:MAX_TEXT_CHARS].strip()
    return unescape(value) if "&" in value else value


def people_declared(page: Page, item: dict[str, Any], name: str) -> list[tuple[str, bool]]:
    """(name, is an organisation) of all authors or editors under *name* of *item*.

    ``{"@id": …}`` is looked up among the page's other objects.
    """
    people = []
    for value in _each(item.get(name)):
        if isinstance(value, dict) and "name" not in value and "@id" in value:
            value = next((o for o in page.json_ld if _same_object(o, value["@id"])), value)
        if isinstance(value, dict):
            is_organisation = "organization" in _types(value).lower()
            people += [
                (text, is_organisation) for text in map(first_text, _each(value.get("name")))
            ]
        elif isinstance(value, str):
            people.append((first_text(value), False))
    return [(collapse(text), flag) for text, flag in people if text.strip()][:_MAX_PEOPLE]


def site_names(page: Page) -> frozenset[str]:
    """What the page calls its site, lower case: og:site_name, publishers, WebSite objects."""
    meta = page.meta
    names = [
        meta.get(key, "")
        for key in (
            "og:site_name",
            "application-name",
            "author:site",
            "apple-mobile-web-app-title",
            "twitter:site",
            "copyright",
            "publisher",
            "dc.publisher",
            "sitename",
        )
    ]
    for item in page.json_ld:
        names.append(first_text(item.get("publisher")))
        if re.search("WebSite|Organization", _types(item)):
            names += [first_text(item.get("name")), first_text(item.get("alternateName"))]
    return frozenset(collapse(name).lower().lstrip("@") for name in names if name)


def host_written(page: Page) -> str:
    """The host of the page's URL, lower case; "" if it has none. For ``page.once``."""
    try:
        return urlsplit(page.url).hostname or ""
    except ValueError:
        return ""


# The pages of a site come together.
@lru_cache(maxsize=1024)
def site_labels(host: str) -> frozenset[str]:
    """The words of *host* that may be a site's name, lower case."""
    labels = {label for part in host.split(".") for label in (part, part.replace("-", ""))}
    return frozenset([label for label in labels if len(label) > 3])


def _same_object(item: dict[str, Any], identity: Any) -> bool:
    return item.get("@id") == identity and "name" in item


def _types(item: dict[str, Any]) -> str:
    return " ".join(kind for kind in _each(item.get("@type")) if isinstance(kind, str))


def _each(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


# --- How often an article was read, commented on, liked, forwarded and kept, as its page says -----
# Counts stand beside the date or below the body (阅读 1.2万 评论(36)), or in the page's JSON-LD. A
# label that stands twice below the body belongs to other articles. All rules are **(ours)**.

READS, COMMENTS, LIKES, SHARES, FAVORITES = "reads", "comments", "likes", "shares", "favorites"
_LABELS = {
    READS: "阅读|閱讀|浏览|瀏覽|点击|點擊|访问|訪問|人气|人氣|围观|播放|查看|reads?|views?|hits",
    COMMENTS: "评论|評論|跟帖|回帖|回复|回覆|留言|comments?|replies|responses?",
    LIKES: "点赞|點讚|获赞|赞|讚|喜欢|喜歡|likes?",
    SHARES: "转发|轉發|分享|shares?|reposts?|retweets?",
    FAVORITES: "收藏|favou?rites?|bookmarks?",
}
# To be searched in lower case: so it leaps to the few places where one may begin.
_HINT = re.compile("|".join(_LABELS.values()))
_DIGIT = re.compile(r"\d")
_LABEL = "|".join(f"(?P<{name}>{words})" for name, words in _LABELS.items())
_NUMBER = (
    r"(?P<number>\d{1,3}(?:,\d{3})+|\d{1,10}(?:\.\d{1,2})?)"
    r"\s?(?P<unit>[万萬千亿億]|[wkm](?![a-z]))?\+?"
)
_NO_DATE = r"(?![\d.]*\s?(?:[-/:：年月日%％张張页頁集期岁歲元]|st\b|nd\b|th\b))"
_OF_COUNT = "(?:量|次数|次數|人数|人數|数|數|率|总数)?"
_LABEL_FIRST = re.compile(
    rf"(?:{_LABEL}){_OF_COUNT}\s?[:：|｜丨︱/／]?\s?[(（\[【第]?\s?{_NUMBER}{_NO_DATE}",
    re.IGNORECASE,
)
_LABEL_ALONE = re.compile(rf"(?:{_HINT.pattern})(?:{_OF_COUNT}\s?[:：|｜丨])?\s?")
_NUMBER_FIRST = re.compile(
    rf"(?<![\d.:/-]){_NUMBER}\s?[个個条條则則次人位]{{0,2}}\s?(?:参与)?(?:{_LABEL})", re.IGNORECASE
)
_DATE = re.compile(
    r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}日?|\d{1,2}:\d\d(?::\d\d)?|\d{1,2}月\d{1,2}日"
)
_UNITS = {"千": 1e3, "k": 1e3, "万": 1e4, "萬": 1e4, "w": 1e4, "m": 1e6, "亿": 1e8, "億": 1e8}
_LINE_CHARS = 120
_ABOVE, _BELOW, _INTO_BODY = 12, 8, 2
_MAX_COUNT = 10**11
_ACTIONS = {
    "read": READS,
    "view": READS,
    "watch": READS,
    "comment": COMMENTS,
    "like": LIKES,
    "share": SHARES,
    "bookmark": FAVORITES,
}
_REST = re.compile(r"[\s|｜/·•:：()（）\[\]【】,，;；次人条個个量数數率+-]|发布|时间|日期")


def engagement_of(page: Page, body: Body) -> dict[str, int]:
    """Counts by :data:`READS`, :data:`COMMENTS`, :data:`LIKES`, :data:`SHARES`,
    :data:`FAVORITES`; those the page does not tell are absent.
    """
    counts = dict(_declared_counts(page.json_ld))
    first, last = body_span(page, body)
    if first < 0:
        return counts
    blocks = page.blocks.blocks
    above = _counts(blocks[max(0, first - _ABOVE) : first + _INTO_BODY])
    below = _counts(blocks[max(first + _INTO_BODY, last - 1) : last + 1 + _BELOW])
    for region in (above, below):
        often = Counter(name for name, _ in region)
        for name, count in region:
            # 0 is a place that a script fills.
            if count and (often[name] == 1 or region is above):
                counts.setdefault(name, count)
    return counts


def without_counters(page: Page, body: Body) -> Body:
    """*body* without lines at its ends that hold nothing but counts."""
    texts = [page.blocks.blocks[index].text for index in body.blocks]
    first, end = 0, len(texts)
    while first < min(_INTO_BODY, end - 1) and _is_counter(texts[first]):
        first += 1
    while end > max(first + 1, len(texts) - _INTO_BODY) and _is_counter(texts[end - 1]):
        end -= 1
    if end - first == len(texts):
        return body
    return replace(body, text="\n".join(texts[first:end]), blocks=body.blocks[first:end])


def _is_counter(text: str) -> bool:
    if len(text) > _LINE_CHARS or not _HINT.search(text.lower()) or not any(map(str.isdigit, text)):
        return False
    rest = _DATE.sub(" ", text)
    counted = _LABEL_FIRST.sub(" ", _NUMBER_FIRST.sub(" ", rest))
    other = _LABEL_FIRST.sub(" ", rest)
    return any(not _REST.sub("", left) and left != rest for left in (counted, other))


def _counts(blocks: Sequence[Block]) -> list[tuple[str, int]]:
    """(name, count) of the lines of *blocks*, in order."""
    counts: list[tuple[str, int]] = []
    for text in _lines([block.text for block in blocks]):
        if not _DIGIT.search(text) or not _HINT.search(text.lower()):
            continue
        shown = _DATE.sub(" ", text)
        label, number = _HINT.search(shown.lower()), _DIGIT.search(shown)
        if label is None or number is None:
            continue
        # One line writes them all in one way: 阅读 12 评论 3, or 12 阅读 3 评论.
        pattern = _LABEL_FIRST if label.start() < number.start() else _NUMBER_FIRST
        for match in pattern.finditer(shown):
            name = next(name for name in _LABELS if match[name])
            counts.append((name, _value(match)))
    return counts


def _lines(texts: Sequence[str]) -> Iterator[str]:
    """Short lines; a label and the number in the next block are one."""
    at = 0
    while at < len(texts):
        text = texts[at]
        at += 1
        if len(text) > _LINE_CHARS:
            continue
        if at < len(texts) and texts[at][:1].isdigit() and _LABEL_ALONE.fullmatch(text.lower()):
            text = f"{text} {texts[at]}"
            at += 1
        yield text


def _value(match: re.Match[str]) -> int:
    number = float(match["number"].replace(",", ""))
    return min(round(number * _UNITS.get((match["unit"] or "").lower(), 1)), _MAX_COUNT)


def _declared_counts(objects: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, int]]:
    """The counts of JSON-LD: ``interactionStatistic`` and ``commentCount``."""
    for item in objects:
        statistics = item.get("interactionStatistic")
        for one in statistics if isinstance(statistics, list) else [statistics]:
            if isinstance(one, dict):
                action = one.get("interactionType")
                kind = str(action.get("@type") if isinstance(action, dict) else action or "")
                name = _ACTIONS.get(kind.rpartition("/")[2].lower().removesuffix("action"))
                count = _whole(one.get("userInteractionCount"))
                if name and count is not None:
                    yield name, count
        count = _whole(item.get("commentCount"))
        if count is not None:
            yield COMMENTS, count


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 11 else None
