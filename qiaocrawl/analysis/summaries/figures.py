"""Figures that texts of one story give, and where they contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from qiaocrawl.text.normalise import to_simplified

_DIGITS = {letter: value for value, letter in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
_TENS = {"十": 10, "百": 100, "千": 1_000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_NUMERALS = "零〇一二两三四五六七八九十百千"
_PART = rf"(?:(?:\d+(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)[十百千]?|[{_NUMERALS}]+)"
_POWER = "(?:万亿|[万亿])"
# Whole: not the 五千 of 三万五千, the 千 of 5千 or what counts nothing (数十人, 第5人).
_NUMBER = (
    rf"(?<!\d[.,])(?<![\d{_NUMERALS}万亿第数几])"
    rf"{_PART}(?:{_POWER}{_PART})*{_POWER}?(?![\d{_NUMERALS}万亿])"
)
_TOKEN = re.compile(rf"\d+(?:,\d{{3}})*(?:\.\d+)?|[{_NUMERALS}万亿]", re.ASCII)
_WIDE = str.maketrans("０１２３４５６７８９", "0123456789")
_UNIT = "人|名|位|户|家|起|件|辆|艘|架|间|栋|所|美元|欧元|元|公里|亩|吨|级|岁|%|％"
# What a number counts stands right behind it or before: 造成5人受伤, 死亡人数升至8人.
_COUNTED = (
    "死亡|身亡|遇难|遇害|丧生|死|受伤|重伤|轻伤|伤|失踪|失联|获救|被困|被捕|被抓获|落网|感染|确诊|撤离|转移|受灾|遣返|"
    "经济损失|损失|捐款|捐赠|捐资|捐出|善款|投资|罚款|涉案|出席|参加|参与|到场|就业|失业|房屋"
)
_BEHIND = re.compile(
    rf"(?P<about>约|近|超过|逾|至少|上)?(?P<number>{_NUMBER})多?余?(?P<unit>{_UNIT})"
    rf"[^，。；,;\d\n]{{0,6}}?(?P<counted>{_COUNTED})",
    re.ASCII,
)
_BEFORE = re.compile(
    rf"(?P<counted>{_COUNTED})(?:人数|总数|总额|金额)?(?:已|共|达|为|升至|增至|上升到|增加到|超过|约|近|逾|了|至|到|上升至){{0,3}}"
    rf"(?P<number>{_NUMBER})多?余?(?P<unit>{_UNIT})",
    re.ASCII,
)
_SAME = {
    "身亡": "死亡", "遇难": "死亡", "遇害": "死亡", "丧生": "死亡", "死": "死亡", "伤": "受伤",
    "失联": "失踪", "被抓获": "被捕", "落网": "被捕", "经济损失": "损失", "捐赠": "捐款",
    "捐资": "捐款", "捐出": "捐款",
    "善款": "捐款", "参加": "出席", "参与": "出席", "到场": "出席", "转移": "撤离",
}  # fmt: skip
_SAME_UNIT = {"名": "人", "位": "人", "％": "%"}


class Figure(NamedTuple):
    """A number a text gives: how many of what, and the words."""

    counted: str
    unit: str
    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What sources count differently.

    Args:
        counted: such as 死亡.
        unit: such as 人.
        values: each with the numbers of the sources that give it, the most often given first.
    """

    counted: str
    unit: str
    values: tuple[tuple[float, tuple[int, ...]], ...]


def figures_of(text: str) -> list[Figure]:
    """The figures of *text* that say what they count, each once; in simplified characters."""
    return list(dict.fromkeys(_figures(to_simplified(text).translate(_WIDE))))


def contradictions(texts: Iterable[str]) -> tuple[Contradiction, ...]:
    """What *texts* (numbered from 1) count differently.

    A text that gives several values itself (two places, two days) contradicts nobody with them.
    """
    given: dict[tuple[str, str], dict[float, list[int]]] = {}
    for number, text in enumerate(texts, start=1):
        own: dict[tuple[str, str], set[float]] = {}
        for figure in figures_of(text):
            own.setdefault((figure.counted, figure.unit), set()).add(figure.value)
        for key, values in own.items():
            if len(values) == 1:
                given.setdefault(key, {}).setdefault(values.pop(), []).append(number)
    return tuple(
        Contradiction(*key, tuple(sorted(
            ((value, tuple(numbers)) for value, numbers in values.items()),
            key=lambda pair: (-len(pair[1]), pair[0]),
        )))
        for key, values in sorted(given.items())
        if len(values) > 1
    )  # fmt: skip


def number_value(written: str) -> float:
    """The value of a number in digits or Chinese characters.

    >>> number_value("三百二十"), number_value("1,200"), number_value("1亿2.5万")
    (320.0, 1200.0, 100025000.0)
    """
    total = part = digit = 0.0
    for token in _TOKEN.findall(written.translate(_WIDE)):
        if token in _TENS:
            part += (digit or 1) * _TENS[token]
            digit = 0.0
        elif token in _LARGE:
            part += digit
            # 万亿: what stands before is raised as a whole.
            total = total + part * _LARGE[token] if part else total * _LARGE[token]
            part = digit = 0.0
        else:
            digit = float(_DIGITS[token] if token in _DIGITS else token.replace(",", ""))
    # 0.07 · 10,000 is a little more than 700.
    return round(total + part + digit, 6)


def _figures(text: str) -> Iterator[Figure]:
    for pattern in (_BEHIND, _BEFORE):
        for match in pattern.finditer(text):
            counted, unit = match["counted"], match["unit"]
            yield Figure(
                _SAME.get(counted, counted), _SAME_UNIT.get(unit, unit),
                number_value(match["number"]), match[0],
            )  # fmt: skip
