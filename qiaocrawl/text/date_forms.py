"""The forms in which pages write dates, as patterns, and quick tests for which of them to try.

All but the shortest are to be used on normalised text (NFKC). Groups are named alike in all of
them: year, month (or name, in letters), day, hour, minute, second, zone and the like.
"""

from __future__ import annotations

import re

from qiaocrawl.text.normalise import late_pattern
from qiaocrawl.text.zones import ZONE

_WEEKDAY = (
    r"(?:\(?(?:星期|周|週|礼拜|禮拜)?[一二三四五六日天]\)?|"
    r"\(?(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\)?)?"
)
_HALF = r"(?:凌晨|早上|早晨|清晨|上午|中午|下午|傍晚|晚上|晚间|晚間|晚)"
# "下午3:05", "15时30分", "3.05 pm", "08:00:00 +0800"
_TIME = (
    rf"(?P<half>{_HALF})?\s?(?P<hour>2[0-3]|[01]?\d)"
    r"(?:\s?[:时時点點]\s?(?P<minute>[0-5]\d)(?:\s?[:分]\s?(?P<second>[0-5]\d))?(?:[.,]\d{1,9})?|"
    r"\.(?P<dotted>[0-5]\d)(?=\s?[ap]\.?m)|(?=\s?[ap]\.?m))"
    rf"分?(?:\s?(?P<ampm>[ap])\.?m\b\.?)?(?:[\s,(]{{0,2}}(?P<zone>{ZONE}))?"
)
_CLOCK = rf"(?:日?[\s,|T·–—-]{{0,4}}(?:at\s)?{_WEEKDAY}[\s,|·–—-]{{0,3}}(?:at\s)?{_TIME})?"
# "12:30 on Tuesday, ", "08:30 GMT | "
_CLOCK_BEFORE = late_pattern(
    rf"(?<!\d){_TIME}\)?[\s,|·–—-]{{0,4}}(?:on\s)?{_WEEKDAY}[\s,]{{0,3}}$", re.IGNORECASE
)
_CLOCK_BEFORE_CHARS = 40
# Without such a mark no time of day is written.
_CLOCK_SIGN = re.compile("[:时時点點mM]")

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# In lower case.
_ANY_MONTH = re.compile("|".join(MONTHS))
_LATIN = re.compile("[A-Za-z]")
DAY_MARK = re.compile(r"\d[/.-]\d")
_NAME = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
# Markup often puts nothing between a name and the date: "Ann LeeMarch 5, 2024".
_WORD_BEGINS = r"(?:(?<![a-z])|(?-i:(?<=[a-z])(?=[A-Z][a-z])))"
_HAN_NAME = r"(?P<han>(?:十[一二]?|[一二三四五六七八九]|(?:1[0-2]|0?[1-9])\s?)月)"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_MONTH = r"(?P<month>1[0-2]|0?[1-9])"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])"
# The clock may follow without a space: "2024-03-0512:30".
_DAY_ENDS = r"(?:(?!\d)|(?=[0-2]\d:[0-5]\d))"
_NAMED_DAY = r"(?<!\d)(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"


def _form_pattern(pattern: str) -> re.Pattern[str]:
    return late_pattern(pattern + _CLOCK, re.IGNORECASE)


# Quick tests for _YEAR_FIRST and _YEAR_LAST, which are much slower to search for.
_YEAR_THEN_MARK = re.compile(r"[12][09]\d\d\s?[年/.-]")
_MARK_THEN_YEAR = re.compile(r"[/.-](?:19|20)\d\d")
_ANY_YEAR = re.compile(r"[12][09]\d\d")
# "2024-03-05", "2024年3月5日"
_YEAR_FIRST = _form_pattern(
    rf"(?<!\d)(?P<year>(?:19|20)\d\d)\s?(?:年|[-/.])\s?{_MONTH}\s?(?:月|[-/.])\s?{_DAY}{_DAY_ENDS}"
)
# "05/03/2024"
_YEAR_LAST = _form_pattern(rf"(?<!\d)(?P<one>\d\d?)(?P<mark>[-/.])(?P<two>\d\d?)(?P=mark){_YEAR}")
# "March 5th, 2024", "March the 5th, 2024", "Mar-05-2024", "Mar.5.2024"
_NAME_FIRST = _form_pattern(
    rf"{_WORD_BEGINS}{_NAME}[\s-]?(?:the\s)?(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?!\d)[,.-]?\s?{_YEAR}"
)
# As themes translated from English write: 十月 5th, 2010, 5 十月 2010, 10 月 5, 2010.
_HAN_NAME_FIRST = _form_pattern(
    rf"(?<![\d十]){_HAN_NAME}\s{{0,2}}(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th|日)?\s?[,，]?\s?{_YEAR}"
)
_HAN_NAME_SECOND = _form_pattern(rf"{_NAMED_DAY}\s?[,，./-]?\s?{_HAN_NAME}\s?[,，./-]?\s?{_YEAR}")
# As C's asctime writes: Mon Feb 25 22:14:07 2002.
_YEAR_AFTER_CLOCK = late_pattern(
    rf"(?<![a-z]){_NAME}\s{{1,2}}(?P<day>[12]\d|3[01]|0?[1-9])\s{_TIME}\s{{1,2}}{_YEAR}",
    re.IGNORECASE,
)
# "5 March 2024", "5-Mar-2024", "5/Mar/2024", "5. March 2024"
_NAME_SECOND = _form_pattern(
    rf"{_NAMED_DAY}(?:\s?[/-]\s?|\.?\s?)(?:of\s)?{_NAME},?(?:\s?[/-]\s?|\s?){_YEAR}"
)
# "2024 March 5", "2024-Mar-05", "2024, March 5"
_NAME_AFTER_YEAR = _form_pattern(
    rf"(?<!\d)(?P<year>(?:19|20)\d\d)(?:,?\s|[/-]){_NAME}[\s/-]?(?P<day>[12]\d|3[01]|0?[1-9])"
    rf"(?:st|nd|rd|th)?(?![\d:]|,?\s(?:19|20)\d\d)"
)
# Dates without a year, or with one that is believed only in context.
# "民國113年3月5日"
REPUBLIC = _form_pattern(
    rf"民[國国]\s?(?P<roc>\d{{2,3}})\s?[年/.-]\s?{_MONTH}\s?[月/.-]\s?{_DAY}(?!\d)"
)
# "113/03/05"
REPUBLIC_BARE = _form_pattern(
    rf"(?<![\d/.-])(?P<roc>1[0-3]\d|[89]\d)(?P<mark>[/.-]){_MONTH}(?P=mark){_DAY}(?![\d/.-])"
)
# "24-03-05", "'24/03/05"
SHORT_YEAR = _form_pattern(
    rf"(?:(?<=')|(?<![\d/.-]))(?P<short>[0-4]\d)(?P<mark>[/.-]){_MONTH}(?P=mark){_DAY}(?![\d/.-])"
)
# "24年3月5日"
SHORT_YEAR_HAN = _form_pattern(rf"(?<!\d)(?P<short>[0-4]\d)年{_MONTH}月{_DAY}(?=日)")
# "05 Oct 21"; "5 Oct 21:30" and "5 Oct 9 pm" hold a time of day.
SHORT_YEAR_NAME = _form_pattern(
    rf"{_NAMED_DAY}[\s-]{_NAME}[\s-]'?(?P<short>[0-4]\d)(?![\d:.]|\s?[ap]\.?m)"
)
# "3月5日"
NO_YEAR_HAN = _form_pattern(rf"(?<![\d年]){_MONTH}月{_DAY}日")
# "03-05 12:30"
NO_YEAR = _form_pattern(rf"(?<![\d/.:-])(?P<month>1[0-2]|0[1-9])[-/]{_DAY}(?=\s[0-2]?\d:[0-5]\d)")
# "3/5/24", "05.03.24"
SHORT_YEAR_LAST = _form_pattern(
    r"(?<![\d/.-])(?P<one>\d\d?)(?P<mark>[/.])(?P<two>\d\d?)(?P=mark)(?P<short>[0-4]\d)(?![\d/.-])"
)
# "March 5, '24"
SHORT_YEAR_AFTER_NAME = _form_pattern(
    rf"(?<![a-z]){_NAME}\s(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?,?\s'(?P<short>[0-4]\d)(?!\d)"
)
# "5 March"
NO_YEAR_DAY_FIRST = _form_pattern(
    rf"{_NAMED_DAY}\s(?:of\s)?{_NAME}(?!,?\s?'?\d\d(?![:.\d]|\s?[ap]))"
)
# "March 5"
NO_YEAR_NAME = _form_pattern(
    rf"(?<![a-z]){_NAME}\s(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?![\d:])"
)

# "20240305", "20240305T1230"
COMPACT = re.compile(
    r"(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])"
    r"(?:[T ]?(?P<hour>[01]\d|2[0-3]):?(?P<minute>[0-5]\d):?(?P<second>[0-5]\d)?)?"
)
# Epoch seconds or milliseconds: "1709600000", "1709600000000"
EPOCH = re.compile(r"\d{10}(?:\d{3})?")
# As programs write dates; a case of _YEAR_FIRST that is read in a fraction of its time.
ISO = re.compile(
    r"((?:19|20)\d\d)-(\d\d)-(\d\d)"
    r"(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,9})?)?"
    r"(Z|[+-](?:1[0-4]|0\d):?[0-5]\d)?)?",
    re.ASCII,
)
# "二〇二四年三月五日"
NUMERAL_DATE = re.compile(
    r"([〇零○O一二三四五六七八九]{4})年(十[一二]?|[一二三四五六七八九])月"
    r"([二三]?十[一二三四五六七八九]?|[一二三四五六七八九])日"
)
# "3小时前", "an hour ago", "2 days ago"
AGO = late_pattern(
    r"(?<![\d.])(?:(?P<count>\d{1,3})|(?P<one>an?))\s?"
    r"(?P<unit>秒|分钟|分鐘|小时|小時|天|日|周|週|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?)"
    r"\s?(?:之?前|ago\b)",
    re.IGNORECASE,
)
DAYS_BACK = {"今天": 0, "今日": 0, "today": 0, "昨天": 1, "昨日": 1, "yesterday": 1, "前天": 2}
# "昨天 12:30", "today at 9:15"
NAMED_DAYS = late_pattern(
    rf"(?P<named>{'|'.join(DAYS_BACK)})\s?,?\s?(?:at\s)?{_TIME}", re.IGNORECASE
)
JUST_NOW = re.compile(r"刚刚|剛剛|just now", re.IGNORECASE)
DAY_SIGN = re.compile("[今昨刚剛]|[Aa][Gg][Oo]|[Dd][Aa][Yy]|[Nn][Oo][Ww]")
"""What every relative date has, but for 前."""


def forms_in(text: str) -> list[re.Pattern[str]]:
    """The forms of a date with its year that *text* may hold."""
    forms = []
    if _YEAR_THEN_MARK.search(text):
        forms.append(_YEAR_FIRST)
    if _MARK_THEN_YEAR.search(text):
        forms.append(_YEAR_LAST)
    if "月" in text and _ANY_YEAR.search(text):
        forms += [_HAN_NAME_FIRST, _HAN_NAME_SECOND]
    if may_name_month(text) and _ANY_YEAR.search(text):
        forms += [_NAME_FIRST, _NAME_SECOND, _YEAR_AFTER_CLOCK, _NAME_AFTER_YEAR]
    return forms


def may_name_month(text: str) -> bool:
    """Whether the name of a month may stand in *text*."""
    return _LATIN.search(text) is not None and _ANY_MONTH.search(text.lower()) is not None


def clock_before(text: str, start: int) -> re.Match[str] | None:
    """The time of day that ends where a date starts."""
    before = text[max(0, start - _CLOCK_BEFORE_CHARS) : start]
    return _CLOCK_BEFORE.search(before) if _CLOCK_SIGN.search(before) else None
