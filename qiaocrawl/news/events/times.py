"""Days that a text names, by when it was published: 8月3日, 昨日, 当地时间5日晚, 上周三."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from qiaocrawl.news.names.tagger import simplify

_NUMERAL = "[一二三四五六七八九十廿]{1,3}"
_NUMBER = rf"(?:\d{{1,2}}|{_NUMERAL})"
_YEAR = r"(?:(?:19|20)\d\d|[一二][〇零○Oo一二三四五六七八九]{3})"
_TO = "(?:至|到|[-—–~～－]{1,2})"
# 3日至5日, 3-5日, 30日至9月2日: the day, and the last one of a span.
_DAYS = (
    rf"(?P<day>{_NUMBER})(?:[日号]?{_TO}(?:(?P<last_month>{_NUMBER})月)?(?P<last_day>{_NUMBER}))?"
)
# 农历八月十五日 is no day of our calendar.
_NO_OTHER_CALENDAR = "(?<!农历)(?<!阴历)(?<!夏历)"
_MONTH_AND_DAY = re.compile(
    rf"{_NO_OTHER_CALENDAR}(?<![\d一二三四五六七八九十])"
    rf"(?:(?:(?P<year>{_YEAR})|(?P<of_year>今|本|去|前|明|同|当|次|翌))年)?"
    rf"(?P<month>{_NUMBER})月{_DAYS}[日号]"
)
_SIGNED = re.compile(
    r"(?<![\d./-])(?P<year>(?:19|20)\d\d)(?P<sign>[-/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})(?![\d./-])"
)
_OF_MONTH = re.compile(rf"(?P<of_month>本|这个?|上个?|下个?|当|同|次)月{_DAYS}[日号]")
# A number of days is none: 为期3日, 3日内, 第3日, 3日游; 5日日内瓦 and 5日内政部 are days.
_BARE = re.compile(
    r"(?<![\d.月年第期续时近数逾余每约满共了隔短这那前])(?P<day>\d{1,2})"
    rf"(?:[日号]?{_TO}(?P<last_day>\d{{1,2}}))?日(?!内(?![政阁蒙罗])|游|后|间|前(?![往来去])|[元圆])"
)
# In characters, only where a day stands: 有一日, 三日三夜.
_BARE_NUMERAL = re.compile(
    rf"(?:(?<=当地时间)|(?<=北京时间)|(?<=^)|(?<=[\s，。；：、“（]))(?P<day>{_NUMERAL})日"
    "(?=上午|下午|中午|凌晨|清晨|傍晚|早|晚|夜|在|于|电|讯|从|向|表|举|发|宣|会)"
)
_NUMERAL_AND_HOUR = re.compile(
    rf"(?<![一二三四五六七八九十廿月第])(?P<day>{_NUMERAL})日(?=上午|下午|中午|凌晨|清晨|傍晚)"
)
_RELATIVE = re.compile(
    "(?<!《)(?P<relative>今[天日晚晨早]|昨[天日晚晨夜]|(?<![之目此先以提当生午年周日])(?:大?前天|前晚)"
    "|(?<![之目此先以提当生午年周日向])前日(?=[，、（(上下中凌清早晚夜在于])"
    "|明[天日晚晨](?!之?星)|(?<![之以今最然此先])后天(?!性|的))"
)
_ANAPHOR = re.compile("(?P<anaphor>当[日晚]|当天(?!气)|同日|同一天|次日|翌日|第二天|隔天)")
_WEEKDAY = re.compile(
    rf"(?<![每至到-])(?P<week>上上|上|本|这|下)个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天末])(?!{_TO}周?[一二三四五六日])"
)
# 周三 alone, where nobody is called so and nothing is weekly.
_BARE_WEEKDAY = re.compile(
    r"(?<![每至到一-])(?:(?<=^)|(?<=[\s，。；：、“（于]))(?:周|星期|礼拜)(?P<weekday>[一二三四五六日])"
    "(?=[，（(晚早上下中凌清在发表宣开举与说]|将|会见|对)"
)
_WEEK = re.compile("(?P<week>上上|上|本|这|下)个?(?:周|星期|礼拜)(?![一二三四五六日天末年期刊])")
_DAYS_AGO = re.compile(
    r"(?<![\d几数第])(?P<ago>\d{1,2}|[一两二三四五六七八九十]{1,2})天(?:之?前)(?!后)"
)

_PATTERNS = (
    _MONTH_AND_DAY,
    _SIGNED,
    _OF_MONTH,
    _BARE,
    _BARE_NUMERAL,
    _NUMERAL_AND_HOUR,
    _RELATIVE,
    _ANAPHOR,
    _WEEKDAY,
    _BARE_WEEKDAY,
    _WEEK,
    _DAYS_AGO,
)
_QUICK = re.compile("[日号號天晚晨夜早周週星礼禮]|[-/.]")

_RELATIVE_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2}
_WEEKDAYS = {letter: at for at, letter in enumerate("一二三四五六日")} | {"天": 6, "末": 5}
_WEEKS = {"上上": -2, "上": -1, "本": 0, "这": 0, "下": 1}
_MONTHS = {"本": 0, "这": 0, "这个": 0, "上": -1, "上个": -1, "下": 1, "下个": 1}
_YEARS = {"今": 0, "本": 0, "去": -1, "前": -2, "明": 1}
_FUTURE = re.compile("将|定于|拟|计划|预定|预计|即将|下[周月]")
_DAY = timedelta(days=1)
_WIDE = str.maketrans("０１２３４５６７８９", "0123456789")
# A day to come is taken for so many times farther than one that was, as news tell of what was;
# where the text says 将 it is nearer.
_TO_COME, _SAID_TO_COME, _WEEKDAY_TO_COME = 3.0, 0.25, 10.0
_LONGEST_SPAN = 366


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A day, or days *first* to *last*, named by characters ``start`` to ``end`` of a text."""

    start: int
    end: int
    text: str
    first: date
    last: date


def named_days(text: str, published: date | None = None) -> list[NamedDay]:
    """The days *text* names, in either script, from left to right; what cannot be told is left out.

    Args:
        published: the day it is seen from; None where unknown: days with their year are told then.

    >>> named_days("当地时间5日晚", date(2026, 8, 6))[0].first
    datetime.date(2026, 8, 5)
    """
    if not _QUICK.search(text):
        return []
    plain = simplify(text).translate(_WIDE)
    days: list[NamedDay] = []
    before: _Before | None = None
    for match in _matches(plain):
        found = _resolve(match, plain, published, before)
        if found is not None:
            first, last = found
            days.append(NamedDay(*match.span(), text[slice(*match.span())], first, last))
            has_month = "month" in match.re.groupindex
            if match.re is _ANAPHOR and before is not None:
                has_month = before.has_month
            before = _Before(last, has_month, match.end())
    return days


@dataclass(frozen=True, slots=True)
class _Before:
    """The day named before, which 当日 and a day without its month lean on."""

    day: date
    has_month: bool
    end: int


def _matches(text: str) -> Iterator[re.Match[str]]:
    """What looks like a day, the longest at each place."""
    found = [match for pattern in _PATTERNS for match in pattern.finditer(text)]
    end = 0
    for match in sorted(found, key=lambda match: (match.start(), -match.end())):
        if match.start() >= end:
            end = match.end()
            yield match


def _resolve(
    match: re.Match[str], text: str, published: date | None, before: _Before | None
) -> tuple[date, date] | None:
    """First and last day of *match*; None of what is no day, or of a day that cannot be told."""
    try:
        first = _first_day(match, text, published, before)
        if first is None:
            return None
        if match.re is _WEEK:
            return first, first + 6 * _DAY
        if match.groupdict().get("weekday") == "末":
            return first, first + _DAY
        return first, _last_day(match, first)
    except (ValueError, OverflowError):
        return None


def _first_day(
    match: re.Match[str], text: str, published: date | None, before: _Before | None
) -> date | None:
    groups = match.groupdict()
    if groups.get("year"):
        return date(_year(groups["year"]), _number(groups["month"]), _number(groups["day"]))
    if groups.get("anaphor"):
        is_near = before is not None and "\n" not in text[before.end : match.start()]
        return _anaphor(groups["anaphor"], before) if is_near else None
    if match.re is _MONTH_AND_DAY:
        return _month_and_day(match, text, published, before)
    if published is None:
        return None
    if groups.get("relative"):
        return published + _RELATIVE_DAYS[groups["relative"][:-1]] * _DAY
    if groups.get("ago"):
        return published - _number(groups["ago"]) * _DAY
    if match.re in (_WEEKDAY, _BARE_WEEKDAY, _WEEK):
        return _weekday(match, text, published)
    if groups.get("of_month") in _MONTHS:
        return _in_month(published, _MONTHS[groups["of_month"]], _number(groups["day"]))
    if groups.get("of_month"):
        if before is None:
            return None
        later = 1 if groups["of_month"] == "次" else 0
        return _in_month(before.day, later, _number(groups["day"]))
    return _bare_day(match, text, published, before)


def _last_day(match: re.Match[str], first: date) -> date:
    groups = match.groupdict()
    if not groups.get("last_day"):
        return first
    month = _number(groups["last_month"]) if groups.get("last_month") else first.month
    last = date(first.year + (month < first.month), month, _number(groups["last_day"]))
    return last if 0 < (last - first).days < _LONGEST_SPAN else first


def _anaphor(word: str, before: _Before | None) -> date | None:
    if before is None:
        return None
    return before.day + (_DAY if word in ("次日", "翌日", "第二天", "隔天") else 0 * _DAY)


def _month_and_day(
    match: re.Match[str], text: str, published: date | None, before: _Before | None
) -> date | None:
    month, day = _number(match["month"]), _number(match["day"])
    of_year = match["of_year"]
    if of_year in _YEARS:
        return None if published is None else date(published.year + _YEARS[of_year], month, day)
    if of_year or published is None:
        # 同年, and where nothing is known but a year that was said.
        if before is None:
            return None
        return date(before.day.year + (of_year in ("次", "翌")), month, day)
    years = (published.year + more for more in (0, -1, 1))
    return _nearest([(year, month, day) for year in years], published, _future(match, text))


def _bare_day(
    match: re.Match[str], text: str, published: date, before: _Before | None
) -> date | None:
    """A day of the month that was said before in the same line, or the nearest one."""
    day = _number(match["day"])
    if before is not None and before.has_month and "\n" not in text[before.end : match.start()]:
        same = _in_month(before.day, 0, day)
        if same is not None and same >= before.day:
            return same
    months = [_month_from(published, more) for more in (0, -1, 1)]
    return _nearest([(*month, day) for month in months], published, _future(match, text))


def _weekday(match: re.Match[str], text: str, published: date) -> date:
    groups = match.groupdict()
    at = _WEEKDAYS[groups.get("weekday") or "一"]
    monday = published - published.weekday() * _DAY
    if groups.get("week"):
        return monday + (7 * _WEEKS[groups["week"]] + at) * _DAY
    days = [monday + (7 * week + at) * _DAY for week in (0, -1, 1)]
    far = _SAID_TO_COME if _future(match, text) else _WEEKDAY_TO_COME
    return min(days, key=lambda day: _farness(day, published, far))


def _nearest(
    candidates: list[tuple[int, int, int]], published: date, is_future: bool
) -> date | None:
    """The day of *candidates* (year, month, day) that the text means most likely."""
    days = []
    for candidate in candidates:
        try:
            days.append(date(*candidate))
        except ValueError:
            continue
    far = _SAID_TO_COME if is_future else _TO_COME
    return min(days, key=lambda day: _farness(day, published, far), default=None)


def _farness(day: date, published: date, to_come: float) -> float:
    days = (day - published).days
    return days * to_come if days > 0 else -days


def _future(match: re.Match[str], text: str) -> bool:
    """Whether the words beside a day say that it is to come."""
    around = text[max(0, match.start() - 6) : match.start()].rpartition("。")[2]
    return bool(_FUTURE.search(around + text[match.end() : match.end() + 4].partition("。")[0]))


def _in_month(day: date, more: int, number: int) -> date | None:
    year, month = _month_from(day, more)
    try:
        return date(year, month, number)
    except ValueError:
        return None


def _month_from(day: date, more: int) -> tuple[int, int]:
    months = day.year * 12 + day.month - 1 + more
    return months // 12, months % 12 + 1


def _year(written: str) -> int:
    if written.isdigit() and written.isascii():
        return int(written)
    plain = re.sub("[零○Oo]", "〇", written)
    return int("".join(str("〇一二三四五六七八九".index(digit)) for digit in plain))


def _number(written: str) -> int:
    """The value of one or two digits, or of Chinese characters up to 三十一."""
    if written.isascii():
        return int(written)
    written = written.replace("廿", "二十").replace("两", "二")
    tens, ten, ones = written.rpartition("十")
    digits = "零一二三四五六七八九"
    if not ten:
        if len(written) != 1:
            raise ValueError(written)
        return digits.index(written)
    return (digits.index(tens) if tens else 1) * 10 + (digits.index(ones) if ones else 0)
