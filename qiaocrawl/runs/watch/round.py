"""One round of watching: what is due, and what each visit leaves in the database.

All that a visit changes is written in the transaction that closes its page: a kill loses no
schedule. A page stays due until then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from qiaocrawl.frontier.limits import Limits
from qiaocrawl.items import Candidate, Lease, Payload, Queue
from qiaocrawl.runs.watch.links import (
    LOOK,
    LOOK_SCORE,
    NEW,
    PAGE,
    PAGE_SCORE,
)
from qiaocrawl.runs.watch.planning import plan_pages, righted
from qiaocrawl.runs.watch.settings import GROUP_WEIGHTS, WatchSettings
from qiaocrawl.runtime import Runtime
from qiaocrawl.stages.follow_links import FollowPolicy, link_to
from qiaocrawl.storage.frontier.url_aliases import AS_WRITTEN
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.sites import watch_counts, watched
from qiaocrawl.storage.sites.watch_counts import Kind
from qiaocrawl.storage.sites.watched import WatchedArticle, WatchedPage

Floats = NDArray[np.float64]

_MOST_LOOKS = 2_000
_OPEN = frozenset({State.PENDING, State.DONE, State.FAILED})
_KINDS: Mapping[str, Kind] = {PAGE: "pages", LOOK: "looks", NEW: "articles"}


class WatchRound:
    """What a run of the spider asks; its operations run in the writer's thread.

    Args:
        runtime: of the run.
        topic: that is watched.
        policy: the sites.
    """

    def __init__(
        self, runtime: Runtime, topic: str, policy: FollowPolicy, settings: WatchSettings
    ) -> None:
        self.topic, self.policy, self.settings = topic, policy, settings
        self._runtime = runtime
        # (url, due time) pairs: a page that failed is due again at another time, and may
        # be scheduled anew.
        self._scheduled: set[tuple[int, float]] = set()
        self._counted: set[tuple[int, int]] = set()
        self.weeks: Mapping[str, Floats] = {}

    # --- what is due -------------------------------------------------------------------------

    def begin(self, starts: Sequence[str], extra: Sequence[str], now: float) -> None:
        """Watch the start pages, and pages an operator named beside them."""

        def operation(c: Connection) -> None:
            # enter_page() needs their rows; schedule_due() makes them wait even if already fetched.
            urls = [(url, "home") for url in starts] + [(url, "list") for url in extra]
            self._runtime.enqueue(c, [_known(url, self.topic) for url, _ in urls])
            for url, kind in urls:
                watched.enter_page(
                    c,
                    self.topic,
                    link_to(url).key,
                    kind=kind,
                    name="",
                    weight=GROUP_WEIGHTS[kind],
                    now=now,
                )

        self._runtime.write_now(operation)

    def schedule_due(self, now: float) -> Callable[[Connection], int]:
        """An operation that plans all pages and lets what is due wait; gives how many.

        Each is scheduled once a round for one due time, whatever becomes of it.
        """
        scheduled: set[tuple[int, float]] = set()

        def operation(c: Connection) -> int:
            self._scheduled -= scheduled  # what a failed try of this transaction noted
            due = self._due(c, now)
            self._runtime.enqueue(c, [candidate for candidate, _ in due])
            scheduled.update(one for _, one in due)
            self._scheduled |= scheduled
            return len(due)

        return operation

    def _due(self, c: Connection, now: float) -> list[tuple[Candidate, tuple[int, float]]]:
        pages = [
            page
            for page in self._planned(c, now)
            if page.next_at <= now and page.state in _OPEN and self.policy.covers(page.host)
        ]
        # Most urgent first: by what a visit is expected to bring, and how long it is overdue.
        weight_of = self.settings.weight_of
        pages.sort(key=lambda page: -weight_of(page.kind, page.weight) * max(page.rate, 1e-6)
                   * (now - page.next_at + 1))  # fmt: skip
        watched.right_articles(c, self.topic, now, self.settings.longest_step_seconds)
        articles = watched.due_articles(c, self.topic, now, _MOST_LOOKS)
        looks = [article for article in articles if self.policy.covers(article.host)]
        due: Iterable[WatchedPage | WatchedArticle] = [*pages, *looks]
        new = [item for item in due if (item.url_id, item.next_at) not in self._scheduled]
        return [
            (self._candidate(c, item), (item.url_id, item.next_at))
            for item in self._within_budget(c, new, now)
        ]

    def _planned(self, c: Connection, now: float) -> list[WatchedPage]:
        pages = watched.watched_pages(c, self.topic)
        needed = watch_counts.articles_a_day(c, self.topic, now)
        due_by_clock = [righted(page, now, self.settings) for page in pages]
        plan = plan_pages(due_by_clock, watch_counts.hours_by_host(c), self.settings, needed)
        self.weeks = plan.weeks
        # Only changes are written: most plans stay as they are.
        changed = [new for old, new in zip(pages, plan.pages, strict=True) if new != old]
        watched.save_plan(c, self.topic, changed)
        return list(plan.pages)

    def _within_budget(
        self, c: Connection, due: Sequence[WatchedPage | WatchedArticle], now: float
    ) -> list[WatchedPage | WatchedArticle]:
        spent = Counter(watch_counts.spent_today(c, self.topic, now))
        left = self.settings.daily - spent.total()
        taken: list[WatchedPage | WatchedArticle] = []
        # In order of urgency until the day's budget is used up.
        for one in due:
            if len(taken) < left and spent[one.host] < self.settings.daily_of_host:
                spent[one.host] += 1
                taken.append(one)
        return taken

    def _candidate(self, c: Connection, one: WatchedPage | WatchedArticle) -> Candidate:
        is_page = isinstance(one, WatchedPage)
        # Under exactly this address, whatever is learnt about other versions of the page.
        payload = Payload(watch=PAGE if is_page else LOOK, as_is=AS_WRITTEN)
        if watched.has_source(c, one.url_id):
            payload = replace(payload, etag=one.etag, modified=one.modified)
        if not isinstance(one, WatchedPage):
            # Articles lie at depth 2: home page, channel, article.
            return _candidate(one.url, self.topic, LOOK_SCORE, 2, payload)
        payload = replace(payload, channel=one.name, again=one.last_at is not None)
        depth = 0 if one.kind == "home" else 1
        weight = self.settings.weight_of(one.kind, one.weight)
        return _candidate(one.url, self.topic, PAGE_SCORE + weight, depth, payload)

    # --- what was asked ----------------------------------------------------------------------

    def spent(self, now: float) -> Mapping[str, int]:
        """Requests of this day (UTC) by host."""
        return self._runtime.reader.run(lambda c: watch_counts.spent_today(c, self.topic, now))

    def limits(self, usual: Limits, now: float) -> Limits:
        """What is left of the day's budget within the *usual* limits."""
        spent = self.spent(now)
        return Limits(
            pages=self.settings.most(self.settings.daily, sum(spent.values()), usual.pages),
            pages_per_host=usual.pages_per_host or self.settings.daily_of_host,
            seconds=usual.seconds,
            spent=spent,
        )

    def count(self, c: Connection, lease: Lease, now: float) -> None:
        """Count the request of *lease*, once; a page taken from storage was none."""
        # A page that came is counted with it; what it fails at later is no further request.
        if not lease.stored and (lease.url_id, lease.attempt) not in self._counted:
            kind = _KINDS.get(lease.payload.watch, "articles")
            watch_counts.count_request(c, self.topic, lease.host, kind, now)

    def note_counted(self, lease: Lease) -> None:
        """The request of *lease* is counted: what its page fails at costs no further one."""
        self._counted.add((lease.url_id, lease.attempt))


def _candidate(url: str, topic: str, score: float, depth: int, payload: Payload) -> Candidate:
    link = link_to(url)
    return Candidate(
        url=link.url,
        key=link.key,
        host=link.host,
        queue=Queue.WATCH,
        topic=topic,
        score=score,
        depth=depth,
        payload=payload,
        refetch=True,
    )


def _known(url: str, topic: str) -> Candidate:
    """Make a row for *url* if there is none; an existing one stays as it is."""
    payload = Payload(watch=PAGE, as_is=AS_WRITTEN)
    return replace(_candidate(url, topic, PAGE_SCORE, 0, payload), refetch=False)
