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
from qiaocrawl.extract.fields.labels import Labels
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
    "expire|born|deadline|备案|许可证|报名|天气|weather|°|℃|当前时间|现在时间|系统时间|"
    "(?:活动|活動|会议|會議|比赛|演出|考试|举办|舉辦|开庭|开标|投标|截稿|培训|讲座|查询|访问|下载|抓取|打印|列印|print|"
    "面[试試]|集中|[报報]到|[领領]取|[缴繳][费費]|[笔筆][试試]|[体體][检檢]|[签簽]到|集合|出[发發]|公示|受理|"
    "[开開][课課馆館]|[发發]放|召[开開]|[举舉]行|[评評][审審]|"
    "生效|施行|实施|失效|废止|出生|event|meeting)(?:时间|時間|日期| date| time)"
)
# A document is written before it is published.
_WRITTEN_LABEL = re.compile(
    "(?:成文|生成|印[发發]|[发發]文|形成|制[发發]|[签簽][发發]|[写寫]作|[拟擬]稿|起草)(?:时间|時間|日期)"
)
_PUBLISHING_LABEL = re.compile(
    "(?:[发發][布佈]|[发發]表|刊[登发發]|公[开開布佈]|推送|上[传傳网線线])(?:时间|時間|日期)|posted|published"
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
_BESIDE = 0.5
"""Weights of a line between title and body, and of one of the first lines of the body."""
_DATE_ALONE_CHARS = 16
"""What stands beside the date in a line that holds nothing else: a weekday, ``Published on``."""
_DATE_CHARS = 20
_SIGNED_DAY = re.compile(
    r"\W*(?:(?:19|20)\d\d|[〇零○ＯO一二三四五六七八九]{4})\s?年\s?[\d一二三四五六七八九十]{1,3}\s?月"
    r"(?:\s?[\d一二三四五六七八九十]{1,3}\s?日)?\W*"
)
"""A notice is signed with a day in this form, below who signs it or above what it sends along."""
_STANDFIRST_CHARS, _LEAST_SENTENCE = 300, 25
"""A summary above the line with the day is no longer; captions and bylines are shorter."""
_MOST_SURE, _SURE_INSIDE = 0.88, 0.8
"""Weights of a day with its label near the title, and amid the body."""
_WRITTEN = 0.3
"""Weight of a document's own day, in hundredths of a published day's."""
_BUTTONS = re.compile(r"字[号號体體]|[大中小]|打印|列印|[关關][闭閉]|收藏|分享|保存|推荐")
_BARS, _BAR_CHARS = re.compile(r"\s?[|｜]\s?"), 12
"""Between bars stands the name of a column or a medium."""
_SHORT_YEAR = re.compile(r"'?\d\d(?:[-/.]\d\d?[-/.]|年\d\d?月)\d\d?")
_BUILD_DAYS = 2
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
_PLAIN_META, _DOUBTED_META = 0.75, 0.5
# Of what else a script makes, "created at" says nothing of an article.
_ARTICLE_KEY = re.compile(
    r"""["']?(?:\w*(?:title|headline|subject|slug|excerpt|summary|digest|abstract|body|content|author|article)\w*)["']?\s{0,3}:""",
    re.IGNORECASE,
)
_OBJECT_CHARS = 600
# A day in an attribute, for a script to write: data-time="1740789000000".
_DATA_DATE = re.compile(
    r"""\s((?:data-)?datetime|data-(?=[a-z-]{0,24}(?:time|date|stamp|publish|epoch|unix|created))"""
    r"""[a-z-]{2,32})\s?=\s?"""
    r"""["']?(\d{10}(?:\d{3})?(?!\d)|(?:19|20)\d\d[-/]\d\d?[-/][^"'>]{1,24})"""
)
_NO_DATA_DATE = re.compile(
    "expir|end|deadline|now|server|start|count|updat|modif|build|version|cache"
)
_MAX_DATA_DATES = 4
_MAX_DATA_CHARS = 200_000
_SURE_KEY_CHARS = 16
_PIECES_CHARS = 40
_CLOCK = re.compile(r"[0-2]?\d:[0-5]\d(?::[0-5]\d)?")
_PIECE_BORDERS = re.compile(r"\s*\n\s*([-/.年月])\s*\n\s*|\s*\n\s*([-/.])|([-/.])\s*\n\s*")
_ENOUGH = 0.65
"""With such a vote the page's scripts are not searched."""
_LIKELY = 0.5
"""With such a vote by the lines, dates with a missing year are not looked for."""
_MAX_INSIDE = 400
_MAX_OBJECTS = 16
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
    _vote_lines(page, context, others, ballot, year)
    _doubt_build_days(ballot)
    if ballot.strongest < _LIKELY:
        _vote_data(page, context, ballot)
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
    elements = {moment.date() for moment, _, origin, _ in ballot.votes if origin == "time element"}
    for number, (moment, weight, origin, has_clock) in enumerate(ballot.votes):
        local = moment.astimezone(zone)
        if has_clock and local.date() in days | elements and moment.date() not in days:
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
        return 0.9 if "pub" in key else _PLAIN_META, False
    return 0.0, False


def _doubt_build_days(ballot: _Ballot) -> None:
    """Less weight for the day of a meta tag that does not speak of publishing, where the line
    near the title shows an earlier day: it is the day on which the site was built."""
    shown = [v for v in ballot.votes if v[2] == "text near the title" and v[1] >= _NEAR]
    if not shown:
        return
    day = max(shown, key=lambda vote: vote[1])[0].date()
    for number, (moment, weight, origin, has_clock) in enumerate(ballot.votes):
        is_plain = weight == _PLAIN_META and origin.startswith("meta ")
        if is_plain and (moment.date() - day).days >= _BUILD_DAYS:
            ballot.votes[number] = (moment, _DOUBTED_META, origin, has_clock)


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


def _vote_lines(
    page: Page, context: BodyContext, others: Others, ballot: _Ballot, year: int
) -> None:
    """Votes by the lines around the article: nearest to the title count most."""
    before = len(ballot.votes)
    labels = page.once(Labels)
    dated = set()
    for line in _weighed_lines(context, _YEAR_SIGNS):
        dates = ballot.reader.sure(line.text) if _YEAR.search(line.text) else []
        is_near = line.origin in ("near the title", "above the title") and line.weight >= _BESIDE
        if not dates and is_near and len(line.text) <= _PIECES_CHARS:
            dates = _date_in_pieces(line.text, labels.parts_of(line.at), ballot.reader)
        if dates and not (line.is_apart and others.hold_block(line.at)):
            dated.add(line.text)
            _vote_line(line, labels.label_of(line.at), ballot, dates)
    if max((vote[1] for vote in ballot.votes[before:]), default=0.0) >= _LIKELY:
        return
    for line in _weighed_lines(context):
        text = line.text
        if text not in dated and _UNSURE_SIGN.search(text) and _MAY_HOLD_UNSURE.search(text):
            if line.is_apart and others.hold_block(line.at):
                continue
            dates = _unsure_dates(page, ballot, text, year or context.copyright_year)
            label = labels.label_of(line.at)
            for written in dates:
                share = 0.95 if _is_plain_short_year(text, label, written) else 0.6
                _vote_line(line._replace(weight=line.weight * share), label, ballot, [written])
    if ballot.strongest < _LIKELY:
        _vote_leaf(context, ballot)
    if ballot.strongest < _LIKELY:
        _vote_inside(context, ballot)


class _DateLine(NamedTuple):
    """A line that may hold the date.

    Attributes:
        is_apart: whether it stands below the body, where other articles are named.
        is_deep: whether the text has begun above it, where events have days and notices are
            signed.
    """

    text: str
    at: int
    weight: float
    origin: str
    is_apart: bool = False
    is_deep: bool = False


def _weighed_lines(context: BodyContext, words: tuple[str, ...] = ()) -> Iterator[_DateLine]:
    """The lines that may hold the date.

    Args:
        words: only lines with one of them; empty: all lines.
    """
    head, body = context.head, context.first
    for rank in _numbers(head, words):
        at = head.at[rank]
        inside = body >= 0 and at >= body
        far = rank > 12 and not (body >= 0 and 0 <= body - at <= 6)
        weight = _INSIDE if inside else 0.55 if far else _NEAR
        told = _told_before(context, at) if inside else 0
        is_signed = told > 0 and _SIGNED_DAY.fullmatch(head.texts[rank]) is not None
        is_deep = inside and (is_signed or at == context.last > body or told > _STANDFIRST_CHARS)
        yield _DateLine(head.texts[rank], at, weight, "near the title", is_deep=is_deep)
    beside = context.above.texts[0].partition(context.title)[2] if context.above.texts else ""
    if context.title and beside:
        yield _DateLine(beside, -1, _NEAR, "near the title")
    if context.title and len(context.title) <= _DATE_CHARS:
        yield _DateLine(context.title, -1, _INSIDE, "in the title")  # of all posts of a day
    for rank in _numbers(context.above, words):
        text, at = context.above.texts[rank], context.above.at[rank]
        yield _DateLine(text, at, _BESIDE if rank < 4 else 0.25, "above the title")
    last = head.at[-1] if head.at else -1
    for rank in _numbers(context.tail, words):
        if context.tail.at[rank] > last:
            at = context.tail.at[rank]
            is_apart = at > context.last
            yield _DateLine(context.tail.texts[rank], at, 0.3, "below the body", is_apart)


def _told_before(context: BodyContext, at: int) -> int:
    """The characters of the body's sentences above block *at*, links and short lines left out."""
    above = context.blocks[context.first : at]
    return sum(len(one.text) - one.linked for one in above if len(one.text) >= _LEAST_SENTENCE)


def _date_in_pieces(text: str, parts: list[str], reader: DateReader) -> list[WrittenDate]:
    """The date that the elements of a line make together: a large day, a small year."""
    if len(parts) < 2:
        return []
    joined = _PIECE_BORDERS.sub(lambda match: match[match.lastindex or 1], "\n".join(parts))
    pieces = [piece for part in joined.split("\n") for piece in part.split() if piece]
    clocks = [piece for piece in pieces if _CLOCK.fullmatch(piece)]
    days = [piece for piece in pieces if piece not in clocks]
    leaf = leaf_of(days)
    if not leaf and len(days) == 3 and _YEAR_ALONE.fullmatch(days[0]):
        leaf = "-".join(day.strip("年月日") for day in days)
    # Else a number may stand beside the date, that of a floor say.
    whole = [" ".join([leaf, *clocks[:1]])] if leaf else [p for p in parts if _YEAR.search(p)]
    dates = next(filter(None, map(reader.sure, whole)), [])
    return [written._replace(start=0, end=len(text)) for written in dates[:1]]


def _unsure_dates(page: Page, ballot: _Ballot, text: str, year: int) -> list[WrittenDate]:
    """The dates of *text* without a whole year; where another witness has that day with its
    year, in that year."""
    dates = ballot.reader.unsure(text, year)
    if not dates:
        return dates
    witnesses = [vote[0] for vote in (*ballot.votes, *ballot.modified)]
    for item in page.json_ld[:_MAX_OBJECTS]:
        for name in ("datePublished", "dateModified", "dateCreated"):
            declared = ballot.reader.sure(first_text(item.get(name))[:80])
            witnesses += [written.moment for written in declared[:1]]
    years = {(day.month, day.day): day.year for day in witnesses}
    for written in dates:
        known = years.get((written.moment.month, written.moment.day), year)
        if known not in (written.moment.year, year):
            return ballot.reader.unsure(text, known)
    return dates


def _is_plain_short_year(text: str, label: str, written: WrittenDate) -> bool:
    """Whether *written* has a year of two digits, and a label or nothing but buttons beside it."""
    if not _SHORT_YEAR.match(text, written.start):
        return False
    if _PUBLISHED_LABEL.search(label + text[: written.start].lower()):
        return True
    rest = _BUTTONS.sub("", text[: written.start] + text[written.end :])
    parts = _BARS.split(rest)
    words = [part for part in parts if any(map(str.isalnum, part))]
    return not words or (len(parts) > 1 and max(map(len, words)) <= _BAR_CHARS)


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
                line = _DateLine(text, -1, 0.4, "in the body")
                _vote_line(line, "", ballot, dates[:1])
                return


def _vote_line(line: _DateLine, cell: str, ballot: _Ballot, dates: Sequence[WrittenDate]) -> None:
    """Votes by the dates *dates* in *line*, by their labels and the words around.

    Args:
        cell: the label in the cell before; "" where there is none.
    """
    text, weight, origin = line.text, line.weight, line.origin
    previous = 0
    if dates and _NOT_PUBLISHED.search(text[dates[0].end : dates[0].end + 20].lower()):
        weight *= 0.5
    for number, written in enumerate(dates):
        label = text[max(previous, written.start - _LABEL_CHARS) : written.start].lower()
        if not previous:
            label = cell + label
        rest = len(text) - (written.end - written.start)
        previous = written.end
        if _NOT_PUBLISHED.search(label):
            continue
        is_modified = _MODIFIED_LABEL.search(label) is not None
        is_labelled = is_modified or _PUBLISHED_LABEL.search(label) is not None
        date_weight = weight
        written = _as_others_read(text, written, ballot)
        if weight == _INSIDE and rest <= _DATE_ALONE_CHARS and not line.is_deep:
            date_weight = _NEAR  # a line of its own, whatever the body takes in
        if _WRITTEN_LABEL.search(label):
            date_weight *= _WRITTEN
        elif is_labelled and _PUBLISHING_LABEL.search(label) and origin == "near the title":
            date_weight = _SURE_INSIDE if line.is_deep else _MOST_SURE
        elif is_labelled and (is_modified or not line.is_deep):
            date_weight = min(_MOST_SURE, date_weight * 1.25)
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
            if begin == "reate" and not _is_of_article(source, match):
                continue
            for script_date in ballot.reader.sure(match[1].strip(" ,-"))[:1]:
                if script_date.moment.date() not in seen:
                    weight = 0.6 if not seen else 0.2
                    seen.add(script_date.moment.date())
                    ballot.cast(script_date, weight, "script date")
        if seen:
            return


def _is_of_article(source: str, match: re.Match[str]) -> bool:
    """Whether the object of a script in which *match* stands may be an article."""
    if "=" in source[match.start() : match.start(1)]:
        return True  # a variable
    begin = at = match.start()
    depth = 0
    while at > max(0, begin - _OBJECT_CHARS) and depth >= 0:
        at -= 1
        depth += {"}": 1, "{": -1}.get(source[at], 0)
    if depth >= 0:
        return True  # a long object, as one with a text is
    inner = source[at + 1 : begin + _OBJECT_CHARS]
    depth = 0
    for end, letter in enumerate(inner):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth < 0:
            inner = inner[:end]
            break
    return _ARTICLE_KEY.search(inner) is not None


def _vote_data(page: Page, context: BodyContext, ballot: _Ballot) -> None:
    """Vote by the first attribute above the body that holds a date for a script to write."""
    source = page.source
    if (" data-" not in source and "datetime" not in source) or context.first < 0:
        return
    end = source.find(context.blocks[context.first].text[:_SURE_KEY_CHARS])
    begin = max(0, source.find("<h1"))
    end = min(end, begin + _MAX_DATA_CHARS)
    for match in islice(_DATA_DATE.finditer(source, begin, max(end, 0)), _MAX_DATA_DATES):
        if not _NO_DATA_DATE.search(match[1]):
            for written in ballot.reader.sure(match[2])[:1]:
                ballot.cast(written, 0.55, "time element")
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
