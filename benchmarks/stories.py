"""Our stories beside simple clusterers: B-cubed, pairwise F, and stories a second.

    python benchmarks/stories.py --data DIR [--train DIR] [--json FILE]
    python benchmarks/stories.py --behind 1000000 [--json FILE]

DIR/events holds files of ``id``, ``time``, ``title``, ``text`` and ``story``. Rows of a file whose
times are days apart at most come minute by minute; others, whose times tell when they were
published long ago, as one crawl. With --train the titles of TRAIN/bursts that are older than a
file are the weeks before it. One setting for all files. Peers see the whole file at once, by
TF-IDF of pairs of characters: a single pass, and the same with time decay. --behind asks for
articles a second and memory with so many articles behind (``stories_behind.py``).
"""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package that numba looks for.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

import numpy as np
from rich.console import Console

from benchmarks.analysis_data import Measured, WithoutData, f1, files_of, read_lines, run
from benchmarks.stories_behind import measure_behind
from qiaocrawl.news.stories.desk import StoryDesk
from qiaocrawl.news.stories.story import Item
from qiaocrawl.news.stories.terms import TermReader
from qiaocrawl.news.stories.voices import Background, counts_of

TASK, FILES = "stories", "events"
_STREAM_DAYS = 31
_DAY_SECONDS = 86_400
_SINGLE_PASS = 0.2
_DECAY_DAYS = 3.0

Row = dict[str, Any]
Clusters = dict[str, object]


def measure(data: Path, train: Path | None, console: Console) -> Iterator[Measured]:
    """The figures of all sets and methods."""
    for name, path in files_of(data, FILES).items():
        rows = read_lines(path)
        console.print(f"{name}: {len(rows):,} texts")
        methods: dict[str, Callable[[Sequence[Row]], Clusters]] = {
            "ours": lambda rows: _ours(rows, train),
            "single_pass": lambda rows: _single_pass(rows, decays=False),
            "single_pass_decay": lambda rows: _single_pass(rows, decays=True),
            "singletons": lambda rows: {row["id"]: row["id"] for row in rows},
        }
        gold = {row["id"]: row["story"] for row in rows}
        for method, clusters in methods.items():
            started = time.process_time()
            found = clusters(rows)
            seconds = max(time.process_time() - started, 1e-3)
            yield Measured(TASK, name, method, "b3", b_cubed(gold, found))
            yield Measured(TASK, name, method, "pairwise", pairwise(gold, found))
            yield Measured(TASK, name, method, "per_second", len(rows) / seconds)


def b_cubed(gold: Clusters, found: Clusters) -> float:
    """The harmonic mean of B-cubed precision and recall (Bagga and Baldwin, 1998)."""
    both = Counter((gold[key], found[key]) for key in gold)
    golds, founds = Counter(gold.values()), Counter(found[key] for key in gold)
    precision = sum(n * n / founds[b] for (_, b), n in both.items()) / len(gold)
    recall = sum(n * n / golds[a] for (a, _), n in both.items()) / len(gold)
    return 2 * precision * recall / (precision + recall)


def pairwise(gold: Clusters, found: Clusters) -> float:
    """The F1 of pairs of texts that are in one story."""
    both = Counter((gold[key], found[key]) for key in gold)
    counts = both, Counter(found[key] for key in gold), Counter(gold.values())
    return f1(*(sum(n * (n - 1) // 2 for n in one.values()) for one in counts))


# --- ours ---------------------------------------------------------------------------------------


def _ours(rows: Sequence[Row], train: Path | None) -> Clusters:
    minutes: dict[int, list[Item]] = defaultdict(list)
    is_stream = _is_stream(rows)
    for row in rows:
        published = _seconds(row["time"])
        minute = int(published // 60) if is_stream and published is not None else 0
        minutes[minute].append(Item(row["id"], row["title"], row["text"], published))
    desk = StoryDesk(background=_weeks_before(train, rows) if train and is_stream else None)
    found: Clusters = {}
    for minute in sorted(minutes):
        taken = desk.take(minute, minutes[minute])
        for number in taken.stories & desk.stories.keys():
            found |= dict.fromkeys(desk.stories[number].articles, number)
    return found


def _is_stream(rows: Sequence[Row]) -> bool:
    times = [_seconds(row["time"]) for row in rows]
    known = [one for one in times if one is not None]
    return len(known) == len(rows) and max(known) - min(known) < _STREAM_DAYS * _DAY_SECONDS


def _weeks_before(train: Path, rows: Sequence[Row]) -> Background:
    """How common words were in the titles before the first of *rows*."""
    first_day = min(row["time"] for row in rows)[:10]
    titles: dict[str, set[str]] = defaultdict(set)
    for path in files_of(train, "bursts").values():
        for row in read_lines(path):
            if row["day"] < first_day:
                titles[row["day"]].add(row["title"])
    reader, background = TermReader(), Background()
    for day in sorted(titles):
        batch = [reader.terms(title).ids for title in sorted(titles[day])]
        background.count(counts_of(batch, datetime.fromisoformat(day).timestamp()))
    return background


def _seconds(moment: str) -> float | None:
    """Epoch seconds; a time of which a digit is missing (T9:18:) counts by its day alone."""
    if not moment:
        return None
    try:
        return datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return datetime.fromisoformat(moment[:10]).timestamp()


# --- peers --------------------------------------------------------------------------------------


def _single_pass(rows: Sequence[Row], *, decays: bool) -> Clusters:
    """Each text, in order of time, joins the nearest cluster so far if that is near enough."""
    ordered = sorted(rows, key=lambda row: (row["time"], row["id"]))
    texts = [_pairs(row) for row in ordered]
    documents = Counter(pair for own in texts for pair in own)
    names = {pair: at for at, pair in enumerate(documents)}
    sums, times, found = np.zeros((0, len(names)), np.float32), np.zeros(0), {}
    for row, own in zip(ordered, texts, strict=True):
        vector = np.zeros(len(names), np.float32)
        for pair, count in own.items():
            vector[names[pair]] = (1 + np.log(count)) * np.log(len(rows) / documents[pair] + 1)
        vector /= np.linalg.norm(vector) + 1e-9
        at, best, moment = len(sums), 0.0, _seconds(row["time"]) or 0.0
        if len(sums):
            near = sums @ vector / np.linalg.norm(sums, axis=1)
            if decays:
                near = near * np.exp(-np.abs(moment - times) / _DAY_SECONDS / _DECAY_DAYS)
            best = float(near.max())
            at = int(near.argmax()) if best >= _SINGLE_PASS else at
        if at == len(sums):
            sums = np.vstack((sums, vector[None]))
            times = np.append(times, moment)
        else:
            sums[at] += vector
            times[at] = moment
        found[row["id"]] = at
    return dict(found)


def _pairs(row: Row) -> Counter[str]:
    text = f"{row['title']}\n{row['text'][:400]}"
    return Counter(text[at : at + 2] for at in range(len(text) - 1) if text[at : at + 2].isalnum())


if __name__ == "__main__":
    behind = WithoutData(
        "--behind", "instead: speed and memory with so many articles", measure_behind
    )
    run(FILES, __doc__, measure, behind)
