"""Of which topic and which days a page on trends tells, and what it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from qiaocrawl.console.render import Chip
from qiaocrawl.language import N_, _
from qiaocrawl.news.trends.usual import Stretch, Unit
from qiaocrawl.storage.topics.topics import TopicRow
from qiaocrawl.text.zones import SHANGHAI

_DAYS = (7, 30, 90)
_USUAL_DAYS = 30
_MOST_DAYS = 731
_EARLIER = "~"
"""What is compared with, where it is the time before; no topic is called so."""
_DAYS_IN_STEPS = 92
"""Beyond so many days steps are weeks."""


@dataclass(frozen=True, slots=True)
class Side:
    """A topic in some days of China: all that a page shows, or one of two things it compares.

    Attributes:
        label: what tells it from the other.
        first, last: days, both counted.
        now: the stretch ends there where its last day is not over.
    """

    topic: str
    title: str
    label: str
    first: date
    last: date
    now: datetime

    @property
    def since(self) -> datetime:
        """Its first moment."""
        return _midnight(self.first)

    @property
    def before(self) -> datetime:
        """The first moment behind it."""
        return min(_midnight(self.last + timedelta(days=1)), self.now)

    @property
    def days(self) -> int:
        """How many days it has."""
        return (self.last - self.first).days + 1

    @property
    def stretch(self) -> Stretch:
        """The same for counts over time."""
        unit: Unit = "week" if self.days > _DAYS_IN_STEPS else "day"
        return Stretch(self.since, self.before, unit)

    @property
    def earlier(self) -> Side:
        """As many days before it."""
        last = self.first - timedelta(days=1)
        first = last - timedelta(days=self.days - 1)
        return replace(self, label=_("the time before"), first=first, last=last)

    def articles(self, **choices: str) -> str:
        """What stands behind the ``?`` of the list of its articles, narrowed by *choices*."""
        own = {"topic": self.topic, "since": f"{self.first}", "until": f"{self.last}"}
        return urlencode({**own, "copies": "1", **choices})

    @property
    def key(self) -> str:
        """A name for what is kept of it."""
        return f"{self.topic} {self.first} {self.last}"


@dataclass(frozen=True, slots=True)
class TrendChoice:
    """What stands behind the ``?`` of a page on trends.

    Attributes:
        days: the last so many; 0 for ``since`` to ``until``, which are somebody's own.
        against: another topic, ``_EARLIER``, or "" for nothing.
    """

    topics: tuple[TopicRow, ...]
    topic: str
    now: datetime
    days: int = _USUAL_DAYS
    since: str = ""
    until: str = ""
    against: str = ""

    @classmethod
    def of(cls, parameters: QueryParams, topics: Sequence[TopicRow], now: datetime) -> TrendChoice:
        """The choices of an address; what cannot be one counts as not made. There is a topic."""
        names = [entry.name for entry in topics]
        topic = parameters.get("topic", "")
        own = cls(tuple(topics), topic if topic in names else names[0], now)
        against = parameters.get("against", "")
        if against == _EARLIER or (against in names and against != own.topic):
            own = replace(own, against=against)
        first, last = _day(parameters.get("since", "")), _day(parameters.get("until", ""))
        today = now.astimezone(SHANGHAI).date()
        last = min(last or today, today)
        if first is not None and first <= last:
            first = max(first, last - timedelta(days=_MOST_DAYS - 1))
            return replace(own, days=0, since=f"{first}", until=f"{last}")
        days = parameters.get("days", "")
        return replace(own, days=int(days)) if days in map(str, _DAYS) else own

    def query(self, **changes: object) -> str:
        """The same as an address has it, with *changes*."""
        changed = replace(self, **changes)  # type: ignore[arg-type]
        values = {
            "topic": changed.topic if len(self.topics) > 1 else "",
            "days": "" if changed.days in (0, _USUAL_DAYS) else str(changed.days),
            "since": "" if changed.days else changed.since,
            "until": "" if changed.days else changed.until,
            "against": changed.against,
        }
        return urlencode({name: value for name, value in values.items() if value})

    def query_of(self, side: Side) -> str:
        """The same for the days of *side*, compared with nothing."""
        return self.query(days=0, since=f"{side.first}", until=f"{side.last}", against="")

    @property
    def side(self) -> Side:
        """What is chosen."""
        if self.days:
            last = self.now.astimezone(SHANGHAI).date()
            first = last - timedelta(days=self.days - 1)
        else:
            first, last = date.fromisoformat(self.since), date.fromisoformat(self.until)
        label = self._title(self.topic) if self.against != _EARLIER else _("this time")
        return Side(self.topic, self._title(self.topic), label, first, last, self.now)

    @property
    def sides(self) -> tuple[Side, ...]:
        """What is chosen, and what it is compared with."""
        own = self.side
        if not self.against:
            return (own,)
        if self.against == _EARLIER:
            return own, own.earlier
        title = self._title(self.against)
        return own, replace(own, topic=self.against, title=title, label=title)

    @property
    def topic_chips(self) -> list[Chip]:
        """The topics, where there are several."""
        if len(self.topics) < 2:
            return []
        return [
            self._chip(one.title or one.name, topic=one.name, against="") for one in self.topics
        ]

    @property
    def day_chips(self) -> list[Chip]:
        """The usual periods, and the one of somebody's own."""
        chips = [self._chip(_("last {days} days", days=days), days=days) for days in _DAYS]
        if not self.days:
            chips.append(Chip(f"{self.since}–{self.until}", self.query(), True))
        return chips

    @property
    def against_chips(self) -> list[Chip]:
        """What it may be compared with."""
        others = [one for one in self.topics if one.name != self.topic]
        return [
            self._chip(_("nothing"), against=""),
            self._chip(_("the time before"), against=_EARLIER),
            *(self._chip(one.title or one.name, against=one.name) for one in others),
        ]

    def _chip(self, text: str, **changes: object) -> Chip:
        is_made = all(getattr(self, name) == value for name, value in changes.items())
        if "topic" in changes:
            is_made = self.topic == changes["topic"]
        return Chip(text, self.query(**changes), is_made)

    def _title(self, name: str) -> str:
        return next(one.title or one.name for one in self.topics if one.name == name)


STEP_NAMES: dict[Unit, str] = {"day": N_("day"), "week": N_("week of"), "hour": N_("hour")}
"""What the first column of counts over time is called."""


def step_side(side: Side, start: datetime, unit: Unit) -> Side:
    """The days of the step of *side* that begins at *start*."""
    first = start.astimezone(SHANGHAI).date()
    last = first + timedelta(days=6) if unit == "week" else first
    return replace(side, first=max(first, side.first), last=min(last, side.last))


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=SHANGHAI)


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if 1900 <= day.year <= 2200 else None
