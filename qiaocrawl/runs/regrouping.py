"""All reprint groups made anew in one pass, and what that changes.

The result does not depend on the order in which articles were found or on how many workers
found them. Titles are read without holding anybody up; only when others stored articles
meanwhile are they read and grouped once more, under the lock of the title log.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Connection

from qiaocrawl.dedup import Grouping, TitleIndex
from qiaocrawl.dedup.fingerprints import body_fingerprints
from qiaocrawl.dedup.grouping import count_titles
from qiaocrawl.items import TitleRecord
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.titles import idf_snapshots, title_log, verdicts
from qiaocrawl.storage.titles.groups import (
    Change,
    Changes,
    Rank,
    compare,
    names,
    next_ranked,
    stored_places,
)
from qiaocrawl.storage.titles.title_log import rebuild_term_weights
from qiaocrawl.storage.titles.verdicts import Place
from qiaocrawl.vsm import IdfSnapshot

Advance = Callable[[int], bool]
"""Called with the number of titles just done; False asks to stop."""

_ENTRIES_AT_A_TIME = 5_000
_TEXTS_AT_A_TIME = 200


class Stopped(Exception):
    """The pass was asked to stop; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """A grouping of all titles.

    Attributes:
        found: by keys of URLs.
        ids: articles by the same keys.
        heads: the article that represents each group, by the key that names the group.
        newest: number of the last entry of the log it knows.
    """

    found: Grouping
    ids: Mapping[bytes, int]
    heads: Mapping[bytes, int]
    newest: int

    def place(self, key: bytes) -> Place:
        """Where the article at the URL of *key* stands."""
        verdict = self.found.verdicts[key]
        of = self.ids.get(verdict.of) if verdict.of is not None else None
        head = self.heads[self.found.groups[key]]
        return Place(self.ids[key], verdict.kind, of, head, verdict.similarity, verdict.why[:500])


def regroup_all(runtime: Runtime, advance: Advance) -> Changes:
    """Rebuild all reprint groups, and the title weights (Q6).

    Raises:
        Stopped: *advance* said so.
    """
    look_at_bodies(runtime, advance)
    return regroup(runtime, runtime.reader.run(used_snapshot), advance)


def regroup(
    runtime: Runtime,
    snapshot: IdfSnapshot,
    advance: Advance,
    *,
    first: Callable[[Connection], object] | None = None,
    early: Grouped | None = None,
) -> Changes:
    """Group all titles by *snapshot* and write what changes, in one transaction.

    Args:
        first: done in that transaction before all else.
        early: a grouping by *snapshot*, if there is one already.

    Raises:
        Stopped: *advance* said so.
    """
    index = runtime.articles.titles.index_for(snapshot)
    first_pass = early or runtime.reader.run(partial(group_all, index=index, advance=advance))

    def operation(c: Connection) -> Changes:
        title_log.lock(c)
        if first is not None:
            first(c)
        # Under the lock the log stands still: the first pass holds if it saw the newest entry.
        stands = title_log.newest(c) == first_pass.newest
        grouped = first_pass if stands else group_all(c, index, advance)
        changes = _write(c, grouped, runtime.articles.titles.method, snapshot.version)
        rebuild_term_weights(c)
        return changes

    return runtime.write_now(operation)


def group_all(c: Connection, index: TitleIndex, advance: Advance) -> Grouped:
    """Group all titles that are in the log.

    Raises:
        Stopped: *advance* said so.
    """
    ids: dict[bytes, int] = {}

    def report_place(number: int) -> None:
        if not advance(number):
            raise Stopped

    newest = title_log.newest(c)
    grouping = index.regroup(title_records(c, newest, ids), report_place)
    return Grouped(grouping, ids, _heads(c, grouping), newest)


def used_snapshot(c: Connection) -> IdfSnapshot:
    """The IDF snapshot in use."""
    return idf_snapshots.load_snapshot(c, title_log.idf_version(c))


def title_records(c: Connection, newest: int, ids: dict[bytes, int]) -> Iterator[TitleRecord]:
    """The titles up to number *newest* that others are compared with, in the log's order.

    Args:
        ids: filled with their articles, by key.
    """
    after = 0
    while entries := title_log.entries_since(c, after, _ENTRIES_AT_A_TIME):
        after = entries[-1].seq
        for entry in entries:
            if entry.counts and entry.article_id is not None and entry.seq <= newest:
                ids[entry.record.key] = entry.article_id
                yield entry.record


def _heads(c: Connection, grouping: Grouping) -> dict[bytes, int]:
    best: dict[bytes, tuple[Rank, int]] = {}
    after = 0
    while batch := next_ranked(c, after, _ENTRIES_AT_A_TIME):
        after = batch[-1].seq
        for row in batch:
            name = grouping.groups.get(row.key)
            if name is not None and (name not in best or row.rank < best[name][0]):
                best[name] = (row.rank, row.article_id)
    return {name: article_id for name, (_, article_id) in best.items()}


def _write(c: Connection, grouped: Grouped, method: str, snapshot: int) -> Changes:
    """Write the rows that differ; a second time none does."""
    keys = sorted(grouped.ids, key=grouped.ids.__getitem__)

    def pairs() -> Iterator[tuple[Place | None, Place]]:
        for start in range(0, len(keys), _ENTRIES_AT_A_TIME):
            places = [grouped.place(key) for key in keys[start : start + _ENTRIES_AT_A_TIME]]
            stored = stored_places(c, [place.article_id for place in places])
            olds = [stored.get(place.article_id) for place in places]
            verdicts.write_places(
                c,
                [
                    new
                    for old, new in zip(olds, places, strict=True)
                    if old is None
                    or (old.place, old.method, old.snapshot) != (new, method, snapshot)
                ],
                method=method,
                snapshot=snapshot,
            )
            for old, new in zip(olds, places, strict=True):
                yield None if old is None else old.place, new

    return compare(pairs())


# --- bodies that were never looked at ---------------------------------------------------------


def look_at_bodies(runtime: Runtime, advance: Advance) -> int:
    """Compute what is kept of bodies where that is missing; returns for how many.

    Raises:
        Stopped: *advance* said so.
    """
    after = done = 0
    while texts := runtime.reader.run(
        partial(title_log.texts_without_body, after=after, limit=_TEXTS_AT_A_TIME)
    ):
        after = texts[-1][0]
        runtime.write_now(partial(_save_bodies, texts=texts))
        done += len(texts)
        if not advance(0):
            raise Stopped
    return done


def _save_bodies(c: Connection, texts: list[tuple[int, int, str]]) -> None:
    title_log.lock(c)
    by_article = {article_id: (seq, text) for seq, article_id, text in texts}
    for entry in title_log.entries_of_articles(c, list(by_article)):
        assert entry.article_id is not None
        seq, text = by_article[entry.article_id]
        # Else the title was written anew meanwhile, with the fingerprints of its new body.
        if entry.seq == seq:
            prints = body_fingerprints(text)
            title_log.append(
                c,
                replace(
                    entry,
                    record=replace(
                        entry.record,
                        body_digest=prints.digest,
                        body_simhash=prints.simhash,
                        body_sketch=prints.sketch,
                    ),
                ),
            )


# --- telling --------------------------------------------------------------------------------------


def change_report(c: Connection, changes: Sequence[Change]) -> list[dict[str, object]]:
    """Each of *changes*, some thousands at most, with titles and URLs, as JSON objects."""
    ids = {
        row_id
        for change in changes
        for place in (change.before, change.after)
        if place is not None
        for row_id in (place.article_id, place.of, place.group)
        if row_id is not None
    }
    named = names(c, sorted(ids))
    reports: list[dict[str, object]] = []
    for change in changes:
        title, url = named.get(change.after.article_id, ("", ""))
        reports.append(
            {
                "title": title,
                "url": url,
                "moved": change.has_moved,
                "before": _place_record(change.before, named),
                "after": _place_record(change.after, named),
            }
        )
    return reports


def _place_record(
    place: Place | None, named: Mapping[int, tuple[str, str]]
) -> dict[str, object] | None:
    if place is None:
        return None
    of = named.get(place.of, ("", "")) if place.of is not None else ("", "")
    group = named.get(place.group, ("", ""))
    return {
        "kind": str(place.kind),
        "similarity": round(place.similarity, 4),
        "why": place.why,
        "of_title": of[0],
        "of_url": of[1],
        "group_title": group[0],
        "group_url": group[1],
    }


# --- IDF snapshots made, tried and put to use -----------------------------------------------------
# The weights of words stay as they are until an operator renews them; then all groups are made
# anew with them, and what that changes is known before.

PASSES_TO_TRY = 2
"""How often :func:`try_snapshot` goes over all titles."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a snapshot would change, against the one in use."""

    snapshot: IdfSnapshot
    changes: Changes
    grouped: Grouped


def new_snapshot(runtime: Runtime, advance: Advance) -> IdfSnapshot:
    """A new snapshot of all stored titles; it is not stored yet.

    Raises:
        Stopped: *advance* said so.
    """

    terms = runtime.articles.title_terms

    def count(number: int) -> None:
        if not advance(number):
            raise Stopped

    def operation(c: Connection) -> IdfSnapshot:
        records = title_records(c, title_log.newest(c), {})
        return count_titles(records, idf_snapshots.next_version(c), terms, count)

    return runtime.reader.run(operation)


def load_snapshot(runtime: Runtime, version: int) -> IdfSnapshot:
    """The snapshot of *version*.

    Raises:
        ConfigError: there is none.
    """
    return runtime.reader.run(partial(idf_snapshots.load_snapshot, version=version))


def try_snapshot(runtime: Runtime, snapshot: IdfSnapshot, advance: Advance) -> Trial:
    """Group all titles by the snapshot in use and by *snapshot*, and compare; writes nothing.

    Raises:
        Stopped: *advance* said so.
    """
    look_at_bodies(runtime, advance)
    used = runtime.reader.run(used_snapshot)
    old, new = (
        runtime.reader.run(
            partial(group_all, index=runtime.articles.titles.index_for(version), advance=advance)
        )
        for version in (used, snapshot)
    )

    def pairs() -> Iterator[tuple[Place | None, Place]]:
        for key in new.ids:
            yield old.place(key) if key in old.ids else None, new.place(key)

    return Trial(snapshot, compare(pairs()), new)


def put_to_use(runtime: Runtime, trial: Trial, note: str, advance: Advance) -> Changes:
    """Use a snapshot from now on, and make all groups anew with it, in one transaction.

    A new snapshot is stored with *note*. Other workers go over to it with their next title.

    Returns:
        What changed against the stored verdicts.

    Raises:
        Stopped: *advance* said so; then the old one stays in use.
    """
    snapshot = trial.snapshot

    def first(c: Connection) -> None:
        there = {line.version for line in idf_snapshots.list_snapshots(c)}
        if snapshot.version not in there:
            idf_snapshots.save_snapshot(c, snapshot, note=note, now=time.time())
        title_log.set_idf_version(c, snapshot.version)

    return regroup(runtime, snapshot, advance, first=first, early=trial.grouped)
