"""What the requests that a web has seen say of those who crawled it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from benchmarks.fleets.crew import page_hits
from benchmarks.fleets.web import FORBIDDEN, FleetWeb, Hit

# Two rounds of dealing, and the requests that were under way.
_SETTLED_SECONDS = 10.0
_SHORT = 0.75
"""A gap below this part of the pause is a violation. A request that a busy machine holds up on its
way makes the next gap a short one, so a little less than the pause is none."""


def politeness(web: FleetWeb, hits: Sequence[Hit]) -> dict[str, float]:
    """How well all collectors together kept to what each host's robots.txt asks for."""
    times: dict[str, list[float]] = defaultdict(list)
    for hit in hits:
        # Who asks for robots.txt first knows of no pause yet.
        if times[hit.host] or hit.path != "/robots.txt":
            times[hit.host].append(hit.at)
    gaps = [after - before for of_host in times.values() for before, after in pairwise(of_host)]
    too_fast = sum(
        bool(of_host) and of_host[-1] - of_host[0] < (len(of_host) - 1.5) * web.delay_seconds
        for of_host in times.values()
    )
    return {
        "delay_seconds": web.delay_seconds,
        "politeness_violations": sum(gap < _SHORT * web.delay_seconds for gap in gaps),
        "hosts_asked_too_fast": too_fast,
        "least_gap_seconds": round(min(gaps, default=0.0), 3),
        "forbidden_pages_asked_for": sum(hit.path == FORBIDDEN for hit in hits),
    }


def coverage(web: FleetWeb, hits: Sequence[Hit]) -> dict[str, float]:
    """Pages that were missed or asked for again, and how evenly they were shared out."""
    asked = Counter((hit.host, hit.path) for hit in page_hits(hits))
    shares = Counter(hit.agent for hit in page_hits(hits))
    return {
        "pages": len(asked),
        "pages_missed": web.pages - len(asked),
        "fetched_twice": asked.total() - len(asked),
        "least_share_percent": round(100 * min(shares.values()) / asked.total()),
    }


def crossings(hits: Sequence[Hit]) -> int:
    """How many hosts were asked by more than one collector."""
    agents = defaultdict(set)
    for hit in page_hits(hits):
        agents[hit.host].add(hit.agent)
    return sum(len(of_host) > 1 for of_host in agents.values())


def takeover(hits: Sequence[Hit], dead: str, killed_at: float) -> dict[str, float]:
    """Seconds from the death of the collector *dead* until others went on with what it had.

    ``hosts_go_on_seconds``: each host that it asked last, and that has more pages, was asked by
    another. ``longest_silence_seconds``: for so long nobody asked for anything.
    """
    last_asked: dict[str, str] = {}
    hosts: dict[str, float] = {}
    silence, before = 0.0, killed_at
    for hit in page_hits(hits):
        if hit.at <= killed_at:
            last_asked[hit.host] = hit.agent
            continue
        silence, before = max(silence, hit.at - before), hit.at
        if dead in last_asked.get(hit.host, ""):
            hosts.setdefault(hit.host, hit.at - killed_at)
    return {
        "hosts_taken_over": len(hosts),
        "hosts_go_on_seconds": round(max(hosts.values(), default=0.0), 1),
        "longest_silence_seconds": round(silence, 1),
    }


def false_finishes(hits: Sequence[Hit], finished: Sequence[float]) -> int:
    """How many collectors said that all is done before a page was asked for the first time.

    Args:
        finished: when collectors said so.
    """
    first_asked: dict[tuple[str, str], float] = {}
    for hit in page_hits(hits):
        first_asked.setdefault((hit.host, hit.path), hit.at)
    last_new = max(first_asked.values(), default=0.0)
    return sum(at < last_new for at in finished)


def shed_load(hits: Sequence[Hit], slow: str, slow_at: float) -> dict[str, float]:
    """Pages of the collector *slow* in a hundred, before and well after it had become slow."""
    settled = slow_at + _SETTLED_SECONDS

    def share(begin: float, end: float) -> float:
        asked = [slow in hit.agent for hit in page_hits(hits) if begin <= hit.at < end]
        return round(100 * sum(asked) / max(len(asked), 1))

    return {
        "share_before_percent": share(0.0, slow_at),
        "share_after_percent": share(settled, float("inf")),
    }
