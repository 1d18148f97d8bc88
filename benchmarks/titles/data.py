"""The open pairs and titles of deduplication, read where they lie, and parted in two."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path

TASKS = {
    "event": ("sohu_event",),
    "revision": ("url_edit", "series_digits", "far_neighbor"),
    "topic": ("sohu_topic",),
    "question": ("lcqmc", "bq", "pawsx_zh"),
}
"""Tasks that are scored, with the kinds of pairs each is made of."""

_NO_LETTER = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two titles and whether they are the same; ``kind`` is the file's own name of the task."""

    kind: str
    one: str
    other: str
    same: bool
    part: int
    """0 to 9; pairs that share a title or an address are in one part."""

    @property
    def choosing(self) -> bool:
        """Whether thresholds and models may be chosen on it; the others are reported on."""
        return self.part < 6


def read_pairs(folder: Path) -> list[Pair]:
    """All pairs of ``pairs.jsonl``."""
    with open(folder / "pairs.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [
        Pair(row["task"], row["title_a"], row["title_b"], bool(row["label"]), part)
        for row, part in zip(rows, _parts(rows), strict=True)
    ]


def _parts(rows: Sequence[dict[str, str]]) -> Iterator[int]:
    """By connected component over equal titles and addresses, named by its smallest member."""
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        while (parent := parents.setdefault(name, name)) != name:
            parents[name] = parents[parent]
            name = parents[name]
        return name

    firsts = []
    for row in rows:
        titles = (_NO_LETTER.sub("", row[side].lower()) for side in ("title_a", "title_b"))
        urls = (row[side] for side in ("url", "url_b") if row.get(side))
        names = [*("t" + title for title in titles), *("u" + url for url in urls)]
        smallest = min(map(root, names))
        for name in names:
            parents[root(name)] = smallest
        firsts.append(names[0])
    for first in firsts:
        yield int(sha1(root(first).encode()).hexdigest(), 16) % 10


def read_titles(folder: Path, *names: str) -> list[str]:
    """The titles of the files *names* (``titles``, ``hot_titles``), one after the other."""
    titles: list[str] = []
    for name in names:
        with gzip.open(folder / f"{name}.txt.gz", "rt", encoding="utf-8") as file:
            titles += (line.rstrip("\n") for line in file)
    return titles
