"""When an article was published: text, markup and leaves of a calendar vote for a day.

A vote's weight is how far its kind of witness can be trusted **(ours)**; votes of different
witnesses for the same day add up as independent ones do, 1 - prod(1 - weight). The day with
the highest sum wins; its most trusted vote that has a clock gives the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from itertools import islice
from math import prod
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from qiaocrawl.extract.block_texts import lines_with
from qiaocrawl.extract.extraction import Field
from qiaocrawl.extract.fields.body_context import BodyContext, Lines
from qiaocrawl.extract.fields.declared import Declared, first_text
from qiaocrawl.extract.fields.others import Others
from qiaocrawl.extract.wechat import is_post, sent_at
from qiaocrawl.page.page import Page
from qiaocrawl.text.dates import DateReader, WrittenDate

# --- Dates that stand in several lines, as on a leaf of a calendar: a large day, a small month ----

# "05", "5日"
_DAY_ALONE = re.compile(r"(?:[12]\d|3[01]|0?[1-9])日?")
# "2018-01", "Jan 2018", "一月, 2018"
_MONTH_ALONE = re.compile(
    r"(?:19|20)\d\d\s?[-/.年]\s?(?:1[0-2]|0?[1-9])月?|[A-Za-z]{3,9}\.?,?\s(?:19|20)\d\d|"
    r"[一二三四五六七八九十]{1,2}月[，,]?\s?(?:19|20)\d\d"
)
_YEAR_ALONE = re.compile(r"(?:19|20)\d\d年?")
_MONTH_NAME = re.compile(
    r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?|"
    r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月"
)
_DAY_AND_MONTH = re.compile(r"\d\d?[/.-]\d\d?|\d\d?月\d\d?日")


def leaf_of(parts: Sequence[str]) -> str:
    """The date that *parts* make in whatever order, as a reader knows it; "" for none."""
    rest = list(parts)
    taken = []
    for form in (_MONTH_ALONE, _YEAR_ALONE, _DAY_AND_MONTH, _DAY_ALONE, _MONTH_NAME):
        at = next((i for i, part in enumerate(rest) if form.fullmatch(part)), -1)
        taken.append(rest.pop(at) if at >= 0 else "")
    month_and_year, year, day_and_month, day, name = taken
    day = day.rstrip("日")
    if rest or (month_and_year and year):
        return ""
    if month_and_year and day and not name:
        is_number = month_and_year[0].isdigit()
        month = month_and_year.rstrip("月").replace("年", "-")
        return f"{month}-{day}" if is_number else f"{day} {month_and_year}"
    year = year.rstrip("年")
    if year and day and name:
        return f"{day} {name} {year}"
    if year and day_and_month and not day:
        if "月" in day_and_month:
            return f"{year}年{day_and_month}"
        return f"{day_and_month.replace('.', '/').replace('-', '/')}/{year}"
    return ""


# --- Dates that markup names as such: ``<time>``, ``<abbr title>``, microdata and RDFa ------------

_MAX_TIMES = 12
_MAX_TEXT_CHARS = 80
_CHANGED = re.compile(r"modif|updat|revis|\blast|更新|修改")
_DATE_CLASS = re.compile("publi|updat|date|time|posted")


class ElementVote(NamedTuple):
    """An element's date, how far it can be trusted, and whether it is that of a change."""

    written: WrittenDate
    weight: float
    origin: str
    is_modified: bool


def element_votes(page: Page, others: Others, reader: DateReader) -> Iterator[ElementVote]:
    """The dates of elements that are there to hold one, if of the article; the first says most."""
    seen: set[str] = set()
    for prefixed, node in page.dated_nodes[:_MAX_TIMES]:
        if others.hold(node):
            continue
        name = prefixed.rpartition(":")[2]
        is_modified = "modif" in name or "updat" in name
        weight = 0.85 if "publi" in name or is_modified else 0.6
        for written in _attribute_dates(node, reader):
            # Teasers and comments below the article have such dates as well.
            yield ElementVote(written, 0.2 if name in seen else weight, "microdata", is_modified)
            seen.add(name)
    times = [*page.nodes("time")[:_MAX_TIMES], *_dated_abbreviations(page)]
    for rank, node in enumerate([node for node in times if not others.hold(node)]):
        attributes = node.attributes
        shown = f"{attributes.get('class') or ''} {attributes.get('title') or ''}".lower()
        names = f"{shown} {attributes.get('itemprop') or ''}"
        is_published = "publi" in names or "entry-date" in names or "pubdate" in attributes
        # Themes that mark both dates as published tell them apart by class or tooltip.
        is_modified = _CHANGED.search(shown if is_published else names) is not None
        if is_modified and "publi" in shown:
            is_modified = False
        weight = 0.85 if is_published else 0.55 if not rank else 0.2
        for written in _attribute_dates(node, reader):
            yield ElementVote(written, weight, "time element", is_modified)


def _dated_abbreviations(page: Page) -> list[LexborNode]:
    """``<abbr class="published" title="…">`` and the like, as feeds in HTML write dates."""
    nodes = page.nodes("abbr")[:_MAX_TIMES]
    return [node for node in nodes if _DATE_CLASS.search(node.attributes.get("class") or "")]


def _attribute_dates(node: LexborNode, reader: DateReader) -> list[WrittenDate]:
    """The date declared in an attribute; where the text shows the day before or after, that
    day: the attribute may be in the time zone of a server."""
    attributes = node.attributes
    text = node.text()[:_MAX_TEXT_CHARS]
    named = attributes.get("datetime") or attributes.get("content") or attributes.get("title")
    dates = reader.sure((named or text)[:_MAX_TEXT_CHARS])[:1]
    shown = reader.sure(text)[:1] if named else []
    if dates and shown:
        away_days = (shown[0].moment.date() - dates[0].moment.date()).days
        return shown if abs(away_days) == 1 else dates
    return dates or shown


_PUBLISHED_KEY = re.compile(
    r"publish|publication|pub[_.-]?(?:date|time)|issued|creat(?:ed|e_at|ion)|release_date|"
    r"original[\w-]*date|posted|sailthru\.date|display-?date|"
    r"^(?:dc\.|dcterms\.|article[.:_])?(?:date|pdate|ptime)$"
)
_MODIFIED_KEY = re.compile(r"modif|updat|revis|last")
_NO_DATE_KEY = re.compile(r"publisher|expir|copyright|format")
# All three are to be searched in lower case, and each branch begins with a letter, so that a
# search leaps to the few places where one may begin.
_PUBLISHED_LABEL = re.compile(
    r"时间|時間|日期|(?:发布|發布|發佈|发表|發表|刊登|张贴|写|贴)\s?(?:于|於|在)|"
    r"(?:p(?<!\wp)(?:osted|ublished|ublication)|c(?<!\wc)reated|s(?<!\ws)ubmitted|f(?<!\wf)iled|"
    r"a(?<!\wa)dded|d(?<!\wd)ated?|w(?<!\ww)ritten|r(?<!\wr)elease)\b"
)
_MODIFIED_LABEL = re.compile(
    r"更新|修改|修订|编辑[于时]|編輯[於時]|最后|(?:u(?<!\wu)pdated?|m(?<!\wm)odified|e(?<!\we)dited|"
    r"l(?<!\wl)ast|r(?<!\wr)evised|c(?<!\wc)orrected)\b"
)
_NOT_PUBLISHED = re.compile(
    "今天是|今日是|今天日期|现在是|copyright|©|版权|注册|註冊|登录|入会|截止|有效期|joined|"
    "expire|born|deadline|备案|许可证|报名|天气|weather|°|℃|打印|列印|print|当前时间|现在时间|系统时间|"
    "(?:活动|活動|会议|會議|比赛|演出|考试|举办|舉辦|开庭|开标|投标|截稿|培训|讲座|查询|访问|下载|抓取|"
    "生效|施行|实施|成文|出生|event|meeting)(?:时间|時間|日期| date| time)"
)
_MAY_HOLD_UNSURE = re.compile(r"\d[-/月:.年]|前|昨|今[天日]|刚|剛|ago|day,?\s|just|[a-z]\.? \d")
_UNSURE_SIGN = re.compile("[0-9０-９前昨今刚剛]|ago|day|just")
_YEAR_SIGNS = ("20", "19", "年", "２０", "民")
_YEAR = re.compile(r"[12１２][09０９]\d\d|[〇零○O一二三四五六七八九]{4}年|民[國国]")
_LABEL_CHARS = 28
_LONGEST_REST = 70
"""A line with more than so many characters beside its date is running text."""
_DATELINE_CHARS = 40
_NEAR, _INSIDE = 0.7, 0.5
"""Weights of a line between title and body, and of one of the first lines of the body."""
_DATE_ALONE_CHARS = 16
"""What stands beside the date in a line that holds nothing else: a weekday, ``Published on``."""
_DATE_CHARS = 20
_NUMBERS = re.compile(r"(\d\d?)([/.])(\d\d?)\2\d{2,4}")
_URL_DATE = re.compile(
    r"(?<!\d)((?:19|20)\d\d)[-/_.]?(0[1-9]|1[0-2])[-/_.]?(0[1-9]|[12]\d|3[01])(?!\d)|"
    r"/((?:19|20)\d\d)/(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*/(\d\d?)/|"
    r"/((?:19|20)\d\d)/(\d\d?)/(\d\d?)/"
)
_URL_YEAR = re.compile(r"/((?:19|20)\d\d)(?:[-/]|(?=0[1-9]|1[0-2])\d\d)")
# Case matters, and each begins with a literal, so that a search through a whole page is fast.
_QUOTED_DATE = (
    r"""\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?"""
    r"(\d[\d:T+ ./Z-]{7,34}|[A-Z][a-z]{2,8},? [\w:+ ,-]{8,30})"
)
# (How each begins, the pattern): looking for the beginning first is several times as fast.
_SCRIPT_DATES = (
    (
        "ub",
        re.compile(
            r"ubli(?:sh|cation|c)(?:ed|ing)?_?-?(?:[tT]ime|[dD]ate|[aA]t|[oO]n)?(?:[sS]tamp|UTC|Utc)?"
            + _QUOTED_DATE
        ),
    ),
    ("ub", re.compile(r"""ublished["']?[^>]{0,80}?(?:content|datetime)=["']([^"'>]{8,40})""")),
    ("ub", re.compile(r"ub_?-?(?:[dD]ate|[tT]ime)" + _QUOTED_DATE)),
    ("reate", re.compile(r"reate(?:d)?_?(?:[tT]ime|[dD]ate|[aA]t)?" + _QUOTED_DATE)),
    ("time", re.compile(r"time(?<=[\"'_ ][pc]time)" + _QUOTED_DATE)),
)
_MAX_SCRIPT_DATES = 6
_ENOUGH = 0.65
"""With such a vote the page's scripts are not searched."""
_LIKELY = 0.5
"""With such a vote by the lines, dates with a missing year are not looked for."""
_MAX_INSIDE = 400
_PART_CHARS = 16
"""Day and month of a date in two lines are no longer."""


@dataclass
class _Ballot:
    """Votes for days: (moment, weight, origin)."""

    reader: DateReader
    votes: list[tuple[datetime, float, str, bool]] = field(default_factory=list)
    modified: list[tuple[datetime, float, str, bool]] = field(default_factory=list)

    def cast(
        self, written: WrittenDate, weight: float, origin: str, is_modified: bool = False
    ) -> None:
        vote = (written.moment, weight, origin, written.has_clock)
        (self.modified if is_modified else self.votes).append(vote)

    def vote_declared(
        self, written: str, weight: float, origin: str, is_modified: bool = False
    ) -> None:
        """A vote by a declared value, if it holds a date."""
        for first_date in self.reader.sure(written[:80])[:1]:
            self.cast(first_date, weight, origin, is_modified)

    @property
    def strongest(self) -> float:
        return max((weight for _, weight, _, _ in self.votes), default=0.0)


def dates_of(
    page: Page, context: BodyContext, declared: Declared, others: Others, reader: DateReader
) -> dict[str, Field]:
    """``published_at`` and ``modified_at``, as far as the page tells them."""
    ballot = _Ballot(reader)
    _vote_meta(page, ballot)
    _vote_json_ld(declared, ballot)
    _vote_elements(page, others, ballot)
    if is_post(page):  # shows no day, or what was "yesterday" when it was saved
        ballot.vote_declared(sent_at(page), 0.95, "script of the post")
    year = _vote_url(page.url, ballot)
    if not year and not ballot.votes:
        year = _vote_url(page.canonical_link, ballot)
    _vote_lines(context, ballot, year)
    if ballot.strongest < _ENOUGH:
        _vote_scripts(page.source, ballot)
    _as_shown(ballot)
    fields = {}
    modified = _elect_day(ballot.modified)
    if modified is not None:
        fields["modified_at"] = modified
    published = _elect_day(ballot.votes)
    if published is None and modified is not None:
        published = modified._replace(confidence=round(modified.confidence * 0.6, 3))
    if published is not None:
        fields["published_at"] = published
    return fields


def _as_shown(ballot: _Ballot) -> None:
    """Give declared moments of another time zone the day on which the page's readers see them,
    where a line of the page shows that day."""
    zone = ballot.reader.zone
    days = {moment.date() for moment, _, origin, _ in ballot.votes if origin.startswith("text")}
    for number, (moment, weight, origin, has_clock) in enumerate(ballot.votes):
        local = moment.astimezone(zone)
        if has_clock and local.date() in days and moment.date() not in days:
            ballot.votes[number] = (local, weight, origin, has_clock)


def _elect_day(votes: list[tuple[datetime, float, str, bool]]) -> Field | None:
    """The day with the most weight; one origin votes once for a day."""
    if not votes:
        return None
    by_day: dict[date, dict[str, float]] = {}
    for moment, weight, origin, _ in votes:
        day = by_day.setdefault(moment.date(), {})
        kind = origin.partition(" ")[0]
        day[kind] = max(weight, day.get(kind, 0.0))
    sums = {day: 1.0 - prod([1.0 - w for w in kinds.values()]) for day, kinds in by_day.items()}
    best = max(sums, key=lambda day: sums[day])
    day_votes = [vote for vote in votes if vote[0].date() == best]
    leader = max(day_votes, key=lambda vote: vote[1])
    clocked = [vote for vote in day_votes if vote[3]]
    moment = max(clocked, key=lambda vote: vote[1])[0] if clocked else leader[0]
    rival = max((score for day, score in sums.items() if day != best), default=0.0)
    confidence = sums[best] * (1.0 - 0.3 * rival)
    return Field(moment, leader[2], round(min(0.99, confidence), 3))


def _vote_meta(page: Page, ballot: _Ballot) -> None:
    for key, value in page.meta.items():
        if len(value) > 80 or ("19" not in value and "20" not in value and not value.isdigit()):
            continue
        weight, is_modified = _trust_in(key)
        if weight:
            ballot.vote_declared(value, weight, f"meta {key}", is_modified)


# Most pages name their meta tags alike; bounded, so that a hostile one cannot fill the memory.
@lru_cache(maxsize=2048)
def _trust_in(key: str) -> tuple[float, bool]:
    """The weight of a date in the meta tag *key*, 0 for none; whether it is of a change."""
    if _NO_DATE_KEY.search(key):
        return 0.0, False
    if _MODIFIED_KEY.search(key):
        return 0.8, True
    if _PUBLISHED_KEY.search(key):
        return 0.9 if "pub" in key else 0.75, False
    return 0.0, False


def _vote_json_ld(declared: Declared, ballot: _Ballot) -> None:
    for rank, item in enumerate(declared.articles[:8]):
        falling = 0.9 if rank == 0 else 0.5
        for name, weight in (("datePublished", 1.0), ("dateCreated", 0.7), ("uploadDate", 0.6)):
            written = first_text(item.get(name))
            if written:
                ballot.vote_declared(written, falling * weight, f"json-ld {name}")
        written = first_text(item.get("dateModified"))
        if written:
            ballot.vote_declared(written, falling, "json-ld dateModified", is_modified=True)


def _vote_elements(page: Page, others: Others, ballot: _Ballot) -> None:
    for vote in element_votes(page, others, ballot.reader):
        ballot.cast(vote.written, vote.weight, vote.origin, vote.is_modified)


def _vote_url(url: str, ballot: _Ballot) -> int:
    """Vote by the date in *url*; the year it holds, else 0."""
    match = _URL_DATE.search(url)
    if match is not None:
        parts = [part for part in match.groups() if part]
        for url_date in ballot.reader.sure(
            " ".join(reversed(parts)) if parts[1].isalpha() else "-".join(parts)
        )[:1]:
            ballot.cast(url_date, 0.65 if "/" in match[0] else 0.55, "url date")
            return url_date.moment.year
    year = _URL_YEAR.search(url)
    return int(year[1]) if year is not None else 0


def _vote_lines(context: BodyContext, ballot: _Ballot, year: int) -> None:
    """Votes by the lines around the article: nearest to the title count most."""
    before = len(ballot.votes)
    dated = set()
    for text, weight, origin in _weighed_lines(context, _YEAR_SIGNS):
        dates = ballot.reader.sure(text) if _YEAR.search(text) else ()
        if dates:
            dated.add(text)
            _vote_line(text, ballot, dates, weight, origin)
    if max((vote[1] for vote in ballot.votes[before:]), default=0.0) >= _LIKELY:
        return
    for text, weight, origin in _weighed_lines(context):
        if text not in dated and _UNSURE_SIGN.search(text) and _MAY_HOLD_UNSURE.search(text):
            year = year or context.copyright_year
            _vote_line(text, ballot, ballot.reader.unsure(text, year), weight * 0.6, origin)
    if ballot.strongest < _LIKELY:
        _vote_leaf(context, ballot)
    if ballot.strongest < _LIKELY:
        _vote_inside(context, ballot)


def _weighed_lines(
    context: BodyContext, words: tuple[str, ...] = ()
) -> Iterator[tuple[str, float, str]]:
    """(text, weight, origin) of the lines that may hold the date.

    Args:
        words: only lines with one of them; empty: all lines.
    """
    head, body = context.head, context.first
    for rank in _numbers(head, words):
        at = head.at[rank]
        inside = body >= 0 and at >= body
        far = rank > 12 and not (body >= 0 and 0 <= body - at <= 6)
        weight = _INSIDE if inside else 0.55 if far else _NEAR
        yield head.texts[rank], weight, "near the title"
    beside = context.above.texts[0].partition(context.title)[2] if context.above.texts else ""
    if context.title and beside:
        yield beside, _NEAR, "near the title"
    if context.title and len(context.title) <= _DATE_CHARS:
        yield context.title, _INSIDE, "in the title"  # of all posts of a day
    for rank in _numbers(context.above, words):
        yield context.above.texts[rank], 0.5 if rank < 4 else 0.25, "above the title"
    last = head.at[-1] if head.at else -1
    for rank in _numbers(context.tail, words):
        if context.tail.at[rank] > last:
            yield context.tail.texts[rank], 0.3, "below the body"


def _numbers(lines: Lines, words: tuple[str, ...]) -> Sequence[int]:
    return lines_with(lines.whole, words) if words else range(len(lines.texts))


def _vote_leaf(context: BodyContext, ballot: _Ballot) -> None:
    """Vote by day, month and year in two or three lines (a calendar leaf)."""
    texts = [*context.above.texts[::-1], *context.head.texts]
    for first in range(len(texts) - 1):
        for parts in (texts[first : first + 2], texts[first : first + 3]):
            if max(map(len, parts)) > _PART_CHARS:
                break
            for leaf in ballot.reader.sure(leaf_of(parts))[:1]:
                ballot.cast(leaf, 0.5, "text in two lines")
                return


def _vote_inside(context: BodyContext, ballot: _Ballot) -> None:
    """Vote by the first labelled date in a short line of the body: a thread's first post."""
    for block in context.blocks[max(0, context.first) : context.last][:_MAX_INSIDE]:
        text = block.text
        if len(text) <= 80 and "20" in text and _PUBLISHED_LABEL.search(text.lower()):
            dates = ballot.reader.sure(text)
            if dates:
                _vote_line(text, ballot, dates[:1], 0.4, "in the body")
                return


def _vote_line(
    text: str, ballot: _Ballot, dates: Sequence[WrittenDate], weight: float, origin: str
) -> None:
    """Votes by the dates *dates* in the line *text*, by their labels and the words around."""
    previous = 0
    if dates and _NOT_PUBLISHED.search(text[dates[0].end : dates[0].end + 20].lower()):
        weight *= 0.5
    for number, written in enumerate(dates):
        label = text[max(previous, written.start - _LABEL_CHARS) : written.start].lower()
        rest = len(text) - (written.end - written.start)
        previous = written.end
        if _NOT_PUBLISHED.search(label):
            continue
        is_modified = _MODIFIED_LABEL.search(label) is not None
        is_labelled = is_modified or _PUBLISHED_LABEL.search(label) is not None
        date_weight = weight
        written = _as_others_read(text, written, ballot)
        if weight == _INSIDE and rest <= _DATE_ALONE_CHARS:
            date_weight = _NEAR  # a line of its own, whatever the body takes in
        if is_labelled:
            date_weight = min(0.88, date_weight * 1.25)
        elif rest > _LONGEST_REST or "。" in text:
            date_weight *= 0.4 if written.start < _DATELINE_CHARS else 0.15
        date_weight *= 0.9**number
        ballot.cast(written, date_weight, f"text {origin}", is_modified)
        if is_modified:  # often the only date a page shows
            ballot.cast(written, 0.7 * date_weight, f"updated {origin}")


def _as_others_read(text: str, written: WrittenDate, ballot: _Ballot) -> WrittenDate:
    """*written*, with day and month exchanged where only so another witness gives that day."""
    moment = written.moment
    if moment.day > 12 or not _NUMBERS.match(text, written.start):
        return written
    exchanged = moment.replace(month=moment.day, day=moment.month)
    days = {vote[0].date() for vote in (*ballot.votes, *ballot.modified)}
    if moment.date() in days or exchanged.date() not in days:
        return written
    return written._replace(moment=exchanged)


def _vote_scripts(source: str, ballot: _Ballot) -> None:
    """Votes by JSON in scripts and by attributes; the first such date counts most."""
    seen: set[date] = set()
    places: dict[str, list[int]] = {}
    for begin, pattern in _SCRIPT_DATES:
        if begin not in places:
            places[begin] = [match.start() for match in re.finditer(begin, source)]
        for match in islice(_matches(pattern, places[begin], source), _MAX_SCRIPT_DATES):
            for script_date in ballot.reader.sure(match[1].strip(" ,-"))[:1]:
                if script_date.moment.date() not in seen:
                    weight = 0.6 if not seen else 0.2
                    seen.add(script_date.moment.date())
                    ballot.cast(script_date, weight, "script date")
        if seen:
            return


def _matches(
    pattern: re.Pattern[str], places: Iterable[int], source: str
) -> Iterator[re.Match[str]]:
    """The matches of *pattern* in *source*, all of which begin at one of *places*."""
    done = 0
    for at in places:
        match = pattern.match(source, at) if at >= done else None
        if match is not None:
            done = match.end()
            yield match
