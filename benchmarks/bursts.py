"""Stories planted in an archive of hot lists: how early their bursts are seen, beside thresholds.

    python benchmarks/bursts.py --data DIR [--json FILE]

DIR/bursts holds files of ``day``, ``first`` and ``title``: when a title was on a list first. Weeks
that lie apart are put one after the other. The series are the titles with one word, of words told
rarely to often; the first two weeks only tell what is usual. In each later week a story is planted
in each series: as many titles more as a size says, half of them within six hours, at a random hour.

Every four hours each method gives a series a score of what it knows until then: ours is the
deviation that warnings go by. A method's threshold is the lowest at which series without a planted
story raise at most one alarm in ten weeks (alarms a day apart at most are one); so all are compared
at equal false alarms, and what bursts in the archive itself is a false alarm to all alike.
Found: the share seen within two days; hours: from its first title until then, 48 for what was not.
"""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

import jieba
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.analysis_data import Measured, files_of, is_choosing, read_lines, run
from qiaocrawl.news.trends.bursts import newest_of
from qiaocrawl.news.trends.usual import HolidayCalendar

TASK, FILES = "bursts", "bursts"
_HOUR, _DAY, _WEEK = 3_600.0, 86_400.0, 604_800.0
_WEEKS_BEFORE, _STEP, _WATCHED = 2, 4 * _HOUR, 48 * _HOUR
# Titles a day: four kinds of words, so many of each.
_RATES, _OF_EACH = (0.3, 1.0, 3.0, 10.0, 40.0), 4
_SIZES = {"small": 5, "middle": 12, "large": 30}
_MEDIAN_HOURS, _SPREAD = 6.0, 0.8
_FALSE_A_WEEK = 0.1
# Weeks of which no calendar knows a holiday: they were moved.
_BEGIN = datetime(2001, 1, 1, tzinfo=UTC) - timedelta(hours=8)

Times = NDArray[np.float64]
Score = Callable[[Times, Times, float], float]


class _Series(NamedTuple):
    """Moments of a word's titles, in order; *weeks* are the numbers that are looked at."""

    word: str
    times: Times
    weeks: range


def measure(data: Path, _train: Path | None, console: Console) -> Iterator[Measured]:
    """The figures of all methods."""
    for name, path in files_of(data, FILES).items():
        titles = _first_seen(path)
        everything = np.sort(np.fromiter(titles.values(), np.float64))
        series = _series(titles)
        console.print(f"{name}: {len(titles):,} titles, {len(series)} words")
        for method, score in METHODS.items():
            yield from _measured(name, method, score, series, everything)


def _measured(
    name: str, method: str, score: Score, series: Sequence[_Series], everything: Times
) -> Iterator[Measured]:
    """Alarms of the archive as it is set the threshold; what is planted is held against it."""
    quiet = {(own.word, week): _scores(own.times, everything, _checks(week), score)
             for own in series for week in own.weeks}  # fmt: skip
    threshold = _threshold(list(quiet.values()))
    yield Measured(TASK, name, method, "false_alarms_a_week",
                   float(np.mean([_alarms(own, threshold) for own in quiet.values()])))  # fmt: skip
    all_hours: list[float] = []
    for size, titles in _SIZES.items():
        hours = [_hours_until_found(own, week, titles, everything, (score, threshold))
                 for own in series for week in own.weeks]  # fmt: skip
        known = [hour for hour in hours if hour is not None]
        yield from _figures(name, method, f"_{size}", known)
        all_hours += known
    yield from _figures(name, method, "", all_hours)


def _figures(name: str, method: str, suffix: str, hours: Sequence[float]) -> Iterator[Measured]:
    watched = _WATCHED / _HOUR
    found = float(np.mean([hour < watched for hour in hours])) if hours else 0.0
    yield Measured(TASK, name, method, f"found{suffix}", found)
    mean = float(np.mean(hours)) if hours else watched
    yield Measured(TASK, name, method, f"hours{suffix}", mean)


def _hours_until_found(
    own: _Series, week: int, titles: int, everything: Times, judge: tuple[Score, float]
) -> float | None:
    """None where an alarm was up before the story began: nobody could see it start."""
    score, threshold = judge
    rng = random.Random(f"{own.word} {week} {titles}")
    begin = _start(week) + rng.uniform(1, 4) * _DAY
    planted = np.sort(np.array([begin, *(
        begin + rng.lognormvariate(np.log(_MEDIAN_HOURS), _SPREAD) * _HOUR
        for _ in range(titles - 1)
    )]))  # fmt: skip
    times, all_times = (np.sort(np.append(kept, planted)) for kept in (own.times, everything))
    first = np.ceil((begin - _start(week)) / _STEP) * _STEP + _start(week)
    if _scores(times, all_times, [first - _STEP], score)[0] >= threshold:
        return None
    for moment in np.arange(first, begin + _WATCHED, _STEP):
        if _scores(times, all_times, [float(moment)], score)[0] >= threshold:
            return float(moment - begin) / _HOUR
    return _WATCHED / _HOUR


def _scores(times: Times, everything: Times, moments: Sequence[float], score: Score) -> list[float]:
    """What a method says at each moment of what was known by then."""
    return [
        score(times[: np.searchsorted(times, now)], everything[: np.searchsorted(everything, now)],
              now)
        for now in moments
    ]  # fmt: skip


def _checks(week: int) -> list[float]:
    return [float(now) for now in np.arange(_start(week), _start(week + 1), _STEP) + _STEP]


def _threshold(quiet: Sequence[Sequence[float]]) -> float:
    """The lowest at which no more alarms are raised than are allowed."""
    allowed = _FALSE_A_WEEK * len(quiet)
    for value in sorted({one for own in quiet for one in own if one > 0}):
        if sum(_alarms(own, value) for own in quiet) <= allowed:
            return value
    return float("inf")


def _alarms(scores: Sequence[float], threshold: float) -> int:
    """Runs of checks at or above the threshold; what is a day apart at most is one."""
    raised = [at for at, own in enumerate(scores) if own >= threshold]
    apart = _DAY / _STEP
    return sum(1 for at, place in enumerate(raised) if not at or place - raised[at - 1] > apart)


# --- the archive ---------------------------------------------------------------------------------


def _first_seen(path: Path) -> dict[str, float]:
    """When each title was seen first, in weeks that follow each other."""
    rows = read_lines(path)
    weeks = {week: at for at, week in enumerate(sorted({_monday(row["day"]) for row in rows}))}
    seen: dict[str, float] = {}
    for row in rows:
        day = date.fromisoformat(row["day"])
        hour, minute = row["first"].split(":")[:2]
        moment = _start(weeks[_monday(row["day"])]) + day.weekday() * _DAY
        moment += int(hour) * _HOUR + int(minute) * 60
        seen[row["title"]] = min(moment, seen.get(row["title"], moment))
    return seen


def _monday(day: str) -> date:
    own = date.fromisoformat(day)
    return own - timedelta(days=own.weekday())


def _start(week: int) -> float:
    return _BEGIN.timestamp() + week * _WEEK


def _series(titles: Mapping[str, float]) -> list[_Series]:
    """Words of each kind, those first whose hash is; half of all words are left for choosing."""
    words: dict[str, list[float]] = defaultdict(list)
    for title, moment in titles.items():
        for word in {own for own in jieba.cut(title) if len(own) > 1 and own.isalpha()}:
            if is_choosing(word) != _CHOOSES:
                continue
            words[word].append(moment)
    last = int((max(titles.values()) - _start(0)) // _WEEK)
    weeks = range(_WEEKS_BEFORE, last + 1)
    chosen: Counter[int] = Counter()
    series = []
    for word in sorted(words, key=lambda own: random.Random(own).random()):
        kind = int(np.searchsorted(_RATES, len(words[word]) / (7 * (last + 1))))
        if 0 < kind < len(_RATES) and chosen[kind] < _OF_EACH:
            chosen[kind] += 1
            series.append(_Series(word, np.sort(np.array(words[word])), weeks))
    return series


# --- methods -------------------------------------------------------------------------------------


def _count(hours: float) -> Score:
    """How many there were in the last *hours*."""
    return lambda times, _all, now: float((times >= now - hours * _HOUR).sum())


def _plain_z(times: Times, _all: Times, now: float) -> float:
    """The last day against mean and standard deviation of the days before."""
    days = np.floor((now - times) / _DAY).astype(int)
    counts = np.bincount(days, minlength=2)
    return float((counts[0] - counts[1:].mean()) / max(counts[1:].std(), 1.0))


def _ours(times: Times, _all: Times, now: float) -> float:
    moment = datetime.fromtimestamp(now, UTC)
    # Of all there is, only bursts are a share: not asked for here.
    return newest_of(times, times, moment, _CALENDAR).deviation or 0.0


_CHOOSES = False
_CALENDAR = HolidayCalendar()
METHODS: dict[str, Score] = {
    "ours": _ours, "count_24h": _count(24), "count_6h": _count(6),
    "mean_and_deviation": _plain_z,
}  # fmt: skip


if __name__ == "__main__":
    run(FILES, __doc__, measure)
