"""A simulated fleet: a second of all collectors on one frontier.

A tick is a second. In it a host is asked once, whoever asks: the pause that all workers keep
(``host_turn``). A collector handles as many pages as it is fast. It leases rows in batches, as
:class:`~qiaocrawl.frontier.worker.FrontierWorker` does: when nothing it holds can be fetched, up
to so many of one host, and never more than four batches.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np

NOBODY = -1
FIREWALL, CROSSOVER, EXCHANGE = 0, 1, 2
BATCH = 64
ROWS_OF_A_HOST = 4
MOST_HELD = 4 * BATCH
FETCHED, CROSSED, DROPPED, ASKED = 0, 1, 2, 3
"""Places in ``counts``: pages fetched, links whose page another fetched than found it, links that
a firewall dropped, batches asked for."""


class Frontier(NamedTuple):
    """All rows of a crawl, by page, host and collector.

    ``next``, ``first`` and ``last`` chain the waiting pages of each host; ``held`` are the pages
    a collector has leases of, ``of_host`` how many of them are of each host.

    As arrays, or as views of them (:func:`views_of`): items of those are Python's own numbers,
    several times as fast to reckon with one by one.
    """

    next: Any
    is_known: Any
    found_by: Any
    first: Any
    last: Any
    waiting: Any
    owner: Any
    asked_at: Any
    held: Any
    held_count: Any
    of_host: Any
    scan_from: Any
    pages: Any
    counts: Any


Columns = TypeVar("Columns", bound=NamedTuple)


def views_of(columns: Columns) -> Columns:
    """Views of the arrays *columns*; to write to one is to write to the array."""
    return type(columns)(*(column.data for column in columns))


def new_frontier(pages: int, hosts: int, collectors: int) -> Frontier:
    """An empty one."""
    return Frontier(
        next=np.full(pages, NOBODY, np.int32), is_known=np.zeros(pages, np.uint8),
        found_by=np.full(pages, NOBODY, np.int16), first=np.full(hosts, NOBODY, np.int32),
        last=np.full(hosts, NOBODY, np.int32), waiting=np.zeros(hosts, np.int32),
        owner=np.full(hosts, NOBODY, np.int16), asked_at=np.full(hosts, NOBODY, np.int32),
        held=np.zeros((collectors, MOST_HELD + BATCH), np.int32),
        held_count=np.zeros(collectors, np.int32),
        of_host=np.zeros((collectors, hosts), np.int16),
        scan_from=np.zeros(collectors, np.int32), pages=np.zeros(collectors, np.int64),
        counts=np.zeros(4, np.int64),
    )  # fmt: skip


def enqueue(rows: Any, links: Any, page: int) -> None:
    """*page* waits."""
    host = links.hosts[page]
    rows.is_known[page] = 1
    rows.next[page] = NOBODY
    if rows.waiting[host]:
        rows.next[rows.last[host]] = page
    else:
        rows.first[host] = page
    rows.last[host] = page
    rows.waiting[host] += 1


def _lease(rows: Any, links: Any, me: int, is_free: bool) -> int:
    """Lease a batch of *me*'s hosts, or of all where *is_free*; returns how many rows."""
    hosts = len(rows.first)
    taken = 0
    rows.counts[ASKED] += 1
    start = rows.scan_from[me]
    for step in range(hosts):
        host = (start + step) % hosts
        if not rows.waiting[host] or not (is_free or rows.owner[host] == me):
            continue
        while rows.waiting[host] and rows.of_host[me, host] < ROWS_OF_A_HOST:
            page = rows.first[host]
            rows.first[host] = rows.next[page]
            rows.waiting[host] -= 1
            rows.held[me, rows.held_count[me]] = page
            rows.held_count[me] += 1
            rows.of_host[me, host] += 1
            taken += 1
            if taken == BATCH:
                rows.scan_from[me] = (host + 1) % hosts
                return taken
    return taken


def _fetch_held(rows: Any, links: Any, me: int, now: int, room: int, mode: int) -> int:
    """Fetch what *me* holds of hosts nobody has asked in this second; returns how many pages."""
    done = kept = 0
    for place in range(rows.held_count[me]):
        page = rows.held[me, place]
        host = links.hosts[page]
        if done == room or rows.asked_at[host] == now:
            rows.held[me, kept] = page
            kept += 1
            continue
        rows.asked_at[host] = now
        rows.of_host[me, host] -= 1
        done += 1
        rows.counts[CROSSED] += rows.found_by[page] >= 0 and rows.found_by[page] != me
        _follow(rows, links, me, page, mode)
    rows.held_count[me] = kept
    rows.pages[me] += done
    rows.counts[FETCHED] += done
    return done


def _follow(rows: Any, links: Any, me: int, page: int, mode: int) -> None:
    for place in range(links.first[page], links.first[page + 1]):
        target = links.targets[place]
        if rows.is_known[target]:
            continue
        owner = rows.owner[links.hosts[target]]
        if mode == FIREWALL and owner != NOBODY and owner != me:
            rows.counts[DROPPED] += 1
            continue
        rows.found_by[target] = me
        enqueue(rows, links, target)


def tick(rows: Any, links: Any, speeds: Any, now: int, mode: int, is_shared: bool) -> int:
    """A second of all collectors; returns how many pages were fetched."""
    size = len(speeds)
    total = 0
    for turn in range(size):
        # Who comes first changes from second to second.
        me = (turn + now) % size
        room = speeds[me]
        while True:
            room -= _fetch_held(rows, links, me, now, room, mode)
            if not room or rows.held_count[me] >= MOST_HELD:
                break
            taken = _lease(rows, links, me, is_shared)
            helps_out = mode == CROSSOVER and not is_shared
            if not taken and helps_out and not rows.held_count[me]:
                taken = _lease(rows, links, me, True)
            if not taken:
                break
        total += speeds[me] - room
    return total


def give_back(rows: Any, links: Any, me: int) -> int:
    """What *me* holds of hosts that are another's now waits again; returns how many rows."""
    kept = 0
    count = rows.held_count[me]
    for place in range(count):
        page = rows.held[me, place]
        host = links.hosts[page]
        if rows.owner[host] == me:
            rows.held[me, kept] = page
            kept += 1
        else:
            rows.of_host[me, host] -= 1
            enqueue(rows, links, page)
    rows.held_count[me] = kept
    returned: int = count - kept
    return returned


def count_idle(rows: Frontier, collectors: int) -> int:
    """How many collectors have no host with waiting pages, while there are such pages."""
    has_pages = rows.waiting > 0
    if not has_pages.any():
        return 0
    owners = np.unique(rows.owner[has_pages])
    return collectors - len(owners[owners != NOBODY])
