"""What one sentence claims, piece by piece: words, quantities, days, names, and what turns them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property
from importlib import resources
from typing import NamedTuple

from qiaocrawl.news.events.times import NamedDay, named_days
from qiaocrawl.news.names.entity import Entity, Gazetteers
from qiaocrawl.news.names.recognition import entities_of
from qiaocrawl.news.summaries import NUMBER, number_value
from qiaocrawl.news.summary_sentences import tag_words
from qiaocrawl.text.normalise import to_simplified, with_narrow_marks

# --- Words by what they do, read from the file beside this ----------------------------------------


@dataclass(frozen=True, slots=True)
class WordLists:
    """The lists of ``words.toml``.

    Attributes:
        same: of a word all that may stand for it, itself among them.
        contrary: of a word those that say the contrary.
    """

    same: Mapping[str, frozenset[str]]
    contrary: Mapping[str, frozenset[str]]
    negations: frozenset[str]
    hedges: frozenset[str]
    causes: frozenset[str]
    strong: frozenset[str]
    harmless: frozenset[str]


@cache
def word_lists() -> WordLists:
    """Those that come along."""
    file = resources.files(__package__).joinpath("data", "words.toml")
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    plain = {
        name: frozenset(tables[name].split())
        for name in ("negations", "hedges", "causes", "strong", "harmless")
    }
    contrary = _joined(tables["contrary"])
    return WordLists(
        _joined(tables["same"]),
        {word: others - {word} for word, others in contrary.items()},
        **plain,
    )


def _joined(lines: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in filter(str.strip, lines.splitlines()):
        words = frozenset(line.split())
        for word in words:
            found[word] = found.get(word, frozenset()) | words
    return found


# --- The pieces of a sentence ---------------------------------------------------------------------

_WIDE = str.maketrans("０１２３４５６７８９％，、", "0123456789%,、")
_CLAUSE_ENDS = frozenset(",;:。!?！？；：\n")
_SEGMENT_ENDS = _CLAUSE_ENDS | frozenset("、和及与并")
# First letters of jieba's tags of words that say something: nouns, verbs, adjectives, times,
# places, idioms, short forms, foreign words. A name that no list knows may be cut so: 施/南方.
_CONTENT = frozenset("nvatsijlbzegf")
_ACTING = frozenset("va")
_SCOPE = 5
_TURNING = frozenset("不未没无")
_NO_NEGATIONS = frozenset(
    ("不仅", "不但", "不断", "不久", "未来", "无论", "不过", "无疑", "不仅仅")
)


class Token(NamedTuple):
    """A word at characters ``start`` to ``end``; ``tag`` is jieba's."""

    start: int
    end: int
    text: str
    tag: str

    @property
    def acts(self) -> bool:
        """Whether it is a verb or an adjective; 爆炸 as a noun is one too."""
        return self.tag[:1] in _ACTING


class Quantity(NamedTuple):
    """How many of what; *bound* is "over" or "under" where the text says 超过 or 不到."""

    start: int
    end: int
    value: float
    unit: str
    bound: str
    text: str


class Claims:
    """The pieces of one sentence; each is read when it is asked for.

    Args:
        text: of any script.
        published: the day it is seen from; None where unknown.
        gazetteers: names that need no guessing; None: those that come along.
    """

    def __init__(
        self, text: str, published: date | None = None, gazetteers: Gazetteers | None = None
    ) -> None:
        self.plain = plain_text(text)
        self.published = published
        self._gazetteers = gazetteers

    @cached_property
    def tokens(self) -> list[Token]:
        """All words and marks."""
        found, at = [], 0
        for text, tag in tag_words(self.plain):
            found.append(Token(at, at + len(text), text, tag))
            at += len(text)
        return found

    @cached_property
    def content(self) -> list[Token]:
        """The words that say something, and are neither a quantity nor a day."""
        taken = [(own.start, own.end) for own in self.quantities]
        taken += [(own.start, own.end) for own in self.days]
        # Negations are looked at by themselves.
        harmless = word_lists().harmless | word_lists().negations
        return [
            token
            for token in self.tokens
            if token.tag[:1] in _CONTENT
            and token.text not in harmless
            and not any(start <= token.start < end for start, end in taken)
        ]

    @cached_property
    def days(self) -> list[NamedDay]:
        """The days it names."""
        return named_days(self.plain, self.published)

    @cached_property
    def names(self) -> list[Entity]:
        """The persons, places and bodies it names, whoever they are."""
        found = entities_of("", self.plain, self._gazetteers, all_persons=True)
        # Positions count from behind an empty title and its line end.
        return [_moved(entity) for entity in found if entity.text.strip()]

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Its numbers with what they count; days are none."""
        taken = [(own.start, own.end) for own in self.days]
        return list(_quantities(self.plain, taken, self.tokens))

    def clause(self, at: int) -> tuple[int, int]:
        """Where the clause that holds character *at* begins and ends."""
        return _around(self.plain, at, _CLAUSE_ENDS)

    def segment(self, at: int) -> tuple[int, int]:
        """The same, cut at 、 and 和 too."""
        return _around(self.plain, at, _SEGMENT_ENDS)

    def clauses(self) -> Iterator[tuple[int, int]]:
        """All clauses that hold a letter."""
        at = 0
        while at < len(self.plain):
            start, end = self.clause(at)
            if any(letter.isalnum() for letter in self.plain[start:end]):
                yield start, end
            at = end + 1

    @cached_property
    def negated(self) -> frozenset[int]:
        """Where words begin that a negation turns: up to its verb; twice turned is not turned."""
        lists, turned = word_lists(), set[int]()
        for number, token in enumerate(self.tokens):
            if token.text not in lists.negations:
                continue
            for other in self.tokens[number + 1 : number + 1 + _SCOPE]:
                if other.text in _CLAUSE_ENDS:
                    break
                turned ^= {other.start}
                if other.acts and other.text not in lists.negations | lists.harmless:
                    break
        return frozenset(turned)

    @cached_property
    def hedged(self) -> frozenset[int]:
        """Where words begin that stand behind 将, 可能 and the like in their clause."""
        found = set[int]()
        is_hedged = False
        for number, token in enumerate(self.tokens):
            if token.text in _CLAUSE_ENDS:
                is_hedged = False
            elif is_hedged:
                found.add(token.start)
            else:
                is_hedged = self.is_hedge(number)
                # 将建, which is cut as one word, is hedged itself.
                if is_hedged and token.text not in word_lists().hedges:
                    found.add(token.start)
        return frozenset(found)

    def is_hedge(self, number: int) -> bool:
        """Whether word *number* makes a plan, a guess or a charge of what follows."""
        token = self.tokens[number]
        if token.text != "将":
            is_joined = token.text[0] in "将拟" and len(token.text) > 1 and token.acts
            return is_joined or token.text in word_lists().hedges
        # 将此情况通报检察机关: as 把.
        behind = self.tokens[number + 1 : number + 2]
        return bool(behind) and behind[0].tag[:1] in "vdpat"

    def within(self, start: int, end: int) -> list[Token]:
        """The words of the characters *start* to *end*."""
        return [token for token in self.tokens if start <= token.start < end]


def is_negation(token: Token) -> bool:
    """Whether it turns what follows, or itself (没有支撑, which is cut as one word)."""
    negations = word_lists().negations
    return token.text in negations or any(
        token.text.startswith(word) for word in negations if len(word) > 1
    )


def count_negations(tokens: Iterable[Token]) -> int:
    """How often *tokens* turn something; by letters, since 没有支撑 may be cut as one word."""
    words = [token for token in tokens if token.text not in _NO_NEGATIONS]
    letters = sum(letter in _TURNING for token in words for letter in token.text)
    return letters + sum(
        token.text in word_lists().negations and not set(token.text) & _TURNING for token in words
    )


def plain_text(text: str) -> str:
    """*text* as it is compared: simplified characters, narrow digits and marks, no blanks."""
    plain = with_narrow_marks(to_simplified(text)).translate(_WIDE)
    # A space parts words of Latin letters only.
    return re.sub(r"(?<![A-Za-z0-9])\s+|\s+(?![A-Za-z0-9])", "", plain)


def _moved(entity: Entity) -> Entity:
    return Entity(
        entity.kind,
        entity.text,
        entity.normal_form,
        entity.start - 1,
        entity.end - 1,
        entity.certainty,
    )


def _around(text: str, at: int, ends: Collection[str]) -> tuple[int, int]:
    start, end = at, at
    while start > 0 and not _ends_at(text, start - 1, ends):
        start -= 1
    while end < len(text) and not _ends_at(text, end, ends):
        end += 1
    return start, end


def _ends_at(text: str, at: int, ends: Collection[str]) -> bool:
    # 1,200 and 10:30 are one.
    inside = text[at] in ",:" and text[at - 1 : at].isdigit() and text[at + 1 : at + 2].isdigit()
    return text[at] in ends and not inside


# --- Quantities -----------------------------------------------------------------------------------

# Elsewhere 第5人 counts nothing; here it must be the fifth in both.
_NUMBER = re.compile(rf"(?P<ordinal>第)?(?P<number>{NUMBER.replace('第数', '数')})", re.ASCII)
_PARTS = re.compile(
    r"(?P<base>百|千|万|[二三四五六七八九十]|\d+)分之(?P<share>[\d.]+|[零〇一二两三四五六七八九十百点]+)"
)
_UNITS = (
    "平方公里|平方千米|平方米|立方米|人民币|个百分点|百分点|个小时|小时|分钟|个月|季度|公里|千米|厘米|毫米|海里|公斤|千克|公顷|"
    "美元|美金|欧元|英镑|日元|港元|港币|澳元|加元|泰铢|韩元|卢布|卢比|新元|新台币|台币|人次|万人|周年|"
    "摄氏度|千瓦时|千瓦|兆瓦|"
    "人|名|位|户|家|起|件|辆|艘|架|间|栋|幢|所|座|元|亩|米|吨|克|级|岁|年|月|日|天|周|时|分|秒|次|场|届|项|个|只|条|支|枚|"
    "份|套|台|部|张|篇|本|册|宗|例|处|倍|成|折|度|度|票|分|号|批|种|类|期|轮|国|省|市|县|点|口|头|棵|株|块|镑|%"
)
_UNIT = re.compile(_UNITS)
_SAME_UNIT = {
    "名": "人",
    "位": "人",
    "口": "人",
    "人民币": "元",
    "块": "元",
    "千米": "公里",
    "千克": "公斤",
    "平方千米": "平方公里",
    "个百分点": "百分点",
    "个小时": "小时",
    "个月": "月数",
    "美金": "美元",
    "港币": "港元",
    "台币": "新台币",
    "幢": "栋",
    "日": "天",
    "点": "时",
}
_OVER_BEFORE = re.compile("(?:超过?|逾|高达|至少|不少于|不低于|多达|突破|大于|以上)$")
_UNDER_BEFORE = re.compile("(?:不到|不足|未满|不满|少于|低于|不超过|至多|最多|小于|未到|没到)$")
_OVER_BEHIND = re.compile(r"(?:\w{0,3}?(?:以上|之多|有余))")
_UNDER_BEHIND = re.compile(r"(?:\w{0,3}?(?:以下|以内|之内))")
_MORE = re.compile("[多余来几]")
# A number of one character that counts nothing known is a word: 一起, 一些, 统一.
_LEAST_NUMERALS = 2
# 一次 and 一个 are articles.
_COUNTED_ALONE = frozenset("人家户架艘辆例")


def _quantities(
    text: str,
    taken: list[tuple[int, int]],
    tokens: Sequence[Token],
) -> Iterator[Quantity]:
    starts = {token.start for token in tokens}
    ends = {token.end for token in tokens}
    measures = {token.start: token.text for token in tokens if token.tag == "q"}
    # 六扇 is one word.
    joined = {token.start: token.end for token in tokens if token.tag.startswith("m")}
    parts = [match.span() for match in _PARTS.finditer(text)]
    for match in _PARTS.finditer(text):
        base, share = number_value(match["base"]), _share_value(match["share"])
        if base == 100:
            yield Quantity(*match.span(), share, "%", "", match[0])
        elif base:
            yield Quantity(*match.span(), round(share / base, 6), "part", "", match[0])
    for match in _NUMBER.finditer(text):
        start, end = match.span("number")
        if any(first <= start < last for first, last in (*taken, *parts)):
            continue
        if joined.get(start, end) > end:
            measures[end] = text[end : joined[start]].lstrip("多余来几")
        quantity = _quantity(text, match, measures)
        written = match["number"]
        if not (written[0].isascii() or match["ordinal"]):
            known = quantity.unit != "" and start in starts
            # 一方面 and 三亚 are words.
            if not known and (len(written) < _LEAST_NUMERALS or end not in ends):
                continue
            if known and written == "一" and quantity.unit not in _COUNTED_ALONE:
                continue
        yield quantity


def _share_value(written: str) -> float:
    whole, point, rest = written.partition("点")
    if not point:
        return number_value(written)
    digits = "".join(str(int(number_value(letter))) for letter in rest)
    return float(f"{int(number_value(whole))}.{digits or 0}")


def _quantity(text: str, match: re.Match[str], measures: Mapping[int, str]) -> Quantity:
    start, end = match.span("number")
    value = number_value(match["number"])
    more = _MORE.match(text, end)
    behind = more.end() if more else end
    unit_match = _UNIT.match(text, behind)
    unit = unit_match[0] if unit_match else measures.get(behind, "")
    last = behind + len(unit)
    if unit in ("个", "名", "位") and text[last : last + 1] == "人":
        unit, last = "人", last + 1
    if unit == "成":
        value, unit = value * 10, "%"
    if match["ordinal"]:
        unit = f"第{_SAME_UNIT.get(unit, unit)}"
    bound = ""
    if _UNDER_BEFORE.search(text, max(0, start - 4), start) or _UNDER_BEHIND.match(text, last):
        bound = "under"
    elif (
        more
        or _OVER_BEFORE.search(text, max(0, start - 4), start)
        or _OVER_BEHIND.match(text, last)
    ):
        bound = "over"
    unit = _SAME_UNIT.get(unit, unit)
    return Quantity(match.start(), last, value, unit, bound, text[match.start() : last])
