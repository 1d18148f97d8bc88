"""How often an article was read, commented on, liked, forwarded and kept, as its page says.

Counts stand beside the date or below the body (阅读 1.2万 评论(36)), or in the page's JSON-LD. A
label that stands twice below the body belongs to other articles. All rules are **(ours)**.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.fields.body_context import body_span
from qiaocrawl.page.blocks import Block
from qiaocrawl.page.page import Page

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
_LABEL_FIRST = re.compile(
    rf"(?:{_LABEL})(?:量|次数|次數|人数|人數|数|數|率|总数)?\s?[:：]?\s?[(（\[【]?\s?{_NUMBER}{_NO_DATE}",
    re.IGNORECASE,
)
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
_ACTIONS = {"read": READS, "view": READS, "watch": READS, "comment": COMMENTS, "like": LIKES,
            "share": SHARES, "bookmark": FAVORITES}  # fmt: skip
_REST = re.compile(r"[\s|｜/·•:：()（）\[\]【】,，;；次人条個个量数數率+-]|发布|时间|日期")


def engagement_of(page: Page, body: Body) -> dict[str, int]:
    """Counts by :data:`READS`, :data:`COMMENTS`, :data:`LIKES`, :data:`SHARES`,
    :data:`FAVORITES`; those the page does not tell are absent.
    """
    counts = dict(_declared(page.json_ld))
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
        if (
            at < len(texts)
            and texts[at][:1].isdigit()
            and _HINT.fullmatch(text.rstrip(":： ").lower())
        ):
            text = f"{text} {texts[at]}"
            at += 1
        yield text


def _value(match: re.Match[str]) -> int:
    number = float(match["number"].replace(",", ""))
    return min(round(number * _UNITS.get((match["unit"] or "").lower(), 1)), _MAX_COUNT)


def _declared(objects: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, int]]:
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
