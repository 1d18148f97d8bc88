"""IDF snapshots made, tried and put to use.

The weights of words stay as they are until an operator renews them; then all groups are made
anew with them, and what that changes is known before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from qiaocrawl.dedup.grouping import count_titles
from qiaocrawl.reprocess.groups import (
    Advance,
    Grouped,
    Stopped,
    group_all,
    look_at_bodies,
    regroup,
    title_records,
    used_snapshot,
)
from qiaocrawl.runtime import Runtime
from qiaocrawl.storage.titles import idf_snapshots, title_log
from qiaocrawl.storage.titles.groups import Changes, compare
from qiaocrawl.storage.titles.verdicts import Place
from qiaocrawl.vsm import IdfSnapshot

PASSES_TO_TRY = 2
"""How often :func:`tried` goes over all titles."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a snapshot would change, against the one in use."""

    snapshot: IdfSnapshot
    changes: Changes
    grouped: Grouped


def counted(runtime: Runtime, advance: Advance) -> IdfSnapshot:
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


def stored(runtime: Runtime, version: int) -> IdfSnapshot:
    """The snapshot of *version*.

    Raises:
        ConfigError: there is none.
    """
    return runtime.reader.run(partial(idf_snapshots.load_snapshot, version=version))


def tried(runtime: Runtime, snapshot: IdfSnapshot, advance: Advance) -> Trial:
    """Group all titles by the snapshot in use and by *snapshot*, and compare; writes nothing.

    Raises:
        Stopped: *advance* said so.
    """
    look_at_bodies(runtime, advance)
    used = runtime.reader.run(used_snapshot)
    old, new = (
        runtime.reader.run(partial(
            group_all, index=runtime.articles.titles.index_for(version), advance=advance
        ))
        for version in (used, snapshot)
    )  # fmt: skip

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
