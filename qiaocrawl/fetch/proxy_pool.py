"""The proxy pool: chooses a proxy for each host and learns how well each works.

A proxy proves itself on the sites that are to be asked, by use; no third party is asked whether
it lives. Pure: time comes in as an argument, seconds on one clock that never goes back.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from qiaocrawl.fetch.backoff import backoff_seconds
from qiaocrawl.fetch.proxy import Proxy

# What a result still weighs after the next one **(ours)**: about the last twenty count.
_DECAY = 0.9
LONGEST_PAUSE_SECONDS = 3600.0
_BUSY_SECONDS = 0.2
_MINUTE = 60.0
# Hosts remembered of one proxy, and of the pool; the oldest are forgotten first.
_MOST_HOSTS = 10_000
# Latency that halves a proxy's score **(ours)**: the proxy answers, but costs time.
_SLOW_SECONDS = 5.0
# Hosts without an answer through a proxy before the proxy is at fault, not the hosts.
_DOUBTS = 3


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """What one proxy is asked for at most.

    Attributes:
        at_once: requests under way.
        per_minute: requests begun within any minute; 0 = no limit.
        first_pause_seconds: rest after a failure; four times as long after each further one in
            a row, at most an hour.
    """

    at_once: int = 4
    per_minute: int = 0
    first_pause_seconds: float = 60.0


@dataclass(slots=True)
class ProxyState:
    """What is known of one proxy.

    Attributes:
        successes, failures: decayed counts.
        latency_seconds: decayed mean of answers that came; 0 before the first.
        failures_in_row: since the last success.
        resting_until: it is not used before.
        blocked_until: hosts that cannot be asked through it, and until when it keeps off them.
        blocks_in_row: by host.
        doubts: hosts that could not be asked through it since its last success.
    """

    successes: float = 0.0
    failures: float = 0.0
    latency_seconds: float = 0.0
    failures_in_row: int = 0
    resting_until: float = 0.0
    blocked_until: dict[str, float] = field(default_factory=dict)
    blocks_in_row: dict[str, int] = field(default_factory=dict)
    doubts: set[str] = field(default_factory=set)
    under_way: int = 0
    begun: deque[float] = field(default_factory=deque)

    @property
    def score(self) -> float:
        """Success share with a prior of one success in two, halved by slow answers; in (0, 1).

        **(ours)**: (successes + 1) / (successes + failures + 2) / (1 + latency / 5 s).
        """
        share = (self.successes + 1) / (self.successes + self.failures + 2)
        return share / (1 + self.latency_seconds / _SLOW_SECONDS)

    def note(self, *, good: bool) -> None:
        """Count a result; earlier ones weigh less now."""
        self.successes = self.successes * _DECAY + good
        self.failures = self.failures * _DECAY + (not good)


class ProxyPool:
    """Proxies with their scores, and the one each host keeps (sticky).

    Args:
        draw: chooses among the usable ones, better scores more often; seeded in tests.
    """

    def __init__(self, limits: ProxyLimits, draw: random.Random) -> None:
        self._limits = limits
        self._draw = draw
        self.states: dict[Proxy, ProxyState] = {}
        self._kept: dict[str, Proxy] = {}

    def replace(
        self, proxies: Iterable[Proxy], known: Mapping[Proxy, ProxyState] | None = None
    ) -> None:
        """The pool is *proxies* now; those that stay keep what is known of them.

        Args:
            known: what an earlier run knew of new ones.
        """
        earlier = {**(known or {}), **self.states}
        # What was seen in this run beats what an earlier run stored.
        self.states = {proxy: earlier.get(proxy) or ProxyState() for proxy in proxies}
        # A host whose proxy is gone gets another one.
        self._kept = {host: proxy for host, proxy in self._kept.items() if proxy in self.states}

    def alive(self, now: float) -> int:
        """How many are not resting."""
        return sum(state.resting_until <= now for state in self.states.values())

    def take(
        self, host: str, scheme: str, now: float, avoid: Collection[Proxy] = ()
    ) -> Proxy | None:
        """The proxy for a request of *host*, in use until :meth:`release`.

        A host keeps its proxy as long as it is usable, even while it is at its limits: a
        session must not change its address only to save a short wait.

        Args:
            scheme: of the site.
            avoid: proxies this request has been through already; used again only where there
                is no other one.

        Returns:
            None when none may be used now; :meth:`wait_seconds` says for how long.
        """
        proxy = self._kept.get(host)
        # Also where the kept one must be avoided: this request has failed through it.
        if proxy is None or proxy in avoid or not self._serves(proxy, host, scheme, now):
            proxy = self._choose(host, scheme, now, avoid)
            if proxy is None:
                return None
            self._keep(host, proxy)
        if self._full(proxy, now):
            return None
        state = self.states[proxy]
        state.under_way += 1
        # Only with a limit: without one the deque would grow for ever.
        if self._limits.per_minute:
            state.begun.append(now)
        return proxy

    def release(self, proxy: Proxy) -> None:
        """The request that took *proxy* is over, whatever came of it."""
        state = self.states.get(proxy)
        if state is not None and state.under_way:
            state.under_way -= 1

    def wait_seconds(self, host: str, scheme: str, now: float) -> tuple[float, bool]:
        """How long until a proxy may be used for *host*, and whether all of them rest.

        Returns:
            Seconds, and False where it is only a limit that has to be waited for. An empty
            pool, or none that serves *scheme*, is an hour's wait.
        """
        ends = [
            max(state.resting_until, state.blocked_until.get(host, 0.0))
            for proxy, state in self.states.items() if proxy.serves(scheme)
        ]  # fmt: skip
        if not ends:
            return LONGEST_PAUSE_SECONDS, True
        left = min(ends) - now
        return (left, True) if left > 0 else (_BUSY_SECONDS, False)

    # --- what became of it -----------------------------------------------------------------

    def answered(self, proxy: Proxy, host: str, latency_seconds: float) -> None:
        """*host* answered through *proxy* as it should."""
        state = self.states.get(proxy)
        if state is None:
            return
        state.note(good=True)
        # The first latency counts whole.
        old = state.latency_seconds or latency_seconds
        state.latency_seconds = old * _DECAY + latency_seconds * (1 - _DECAY)
        state.failures_in_row = 0
        state.blocks_in_row.pop(host, None)
        # It works: what did not answer was the host.
        state.doubts.clear()

    def failed(self, proxy: Proxy, now: float) -> None:
        """*proxy* could not be reached, refused us or broke off: it rests."""
        state = self.states.get(proxy)
        if state is None:
            return
        state.note(good=False)
        if state.resting_until > now:
            # Requests that were under way together fail together and count once.
            return
        state.failures_in_row += 1
        state.doubts.clear()
        state.resting_until = now + self._pause(state.failures_in_row)

    def blocked(self, proxy: Proxy, host: str, now: float) -> None:
        """*host* blocks us through *proxy*, which keeps off that host and serves others."""
        state = self.states.get(proxy)
        if state is None:
            return
        state.note(good=False)
        row = state.blocks_in_row[host] = state.blocks_in_row.get(host, 0) + 1
        state.blocked_until[host] = now + self._pause(row)
        # The oldest goes: a host that is forgotten is tried through it again.
        for table in (state.blocked_until, state.blocks_in_row):
            while len(table) > _MOST_HOSTS:
                del table[next(iter(table))]

    def unanswered(self, proxy: Proxy, host: str, now: float) -> None:
        """*host* did not answer through *proxy*; which of them is at fault cannot be seen.

        A dead host must not wear out all proxies, so the proxy keeps off this host only, until
        other hosts do not answer through it either.
        """
        state = self.states.get(proxy)
        if state is None:
            return
        state.doubts.add(host)
        if len(state.doubts) >= _DOUBTS:
            self.failed(proxy, now)
        else:
            self.blocked(proxy, host, now)

    def _pause(self, row: int) -> float:
        # Capped: 4^30 exceeds the hour for any first pause, and a float holds it.
        pause = backoff_seconds(min(row, 30), self._limits.first_pause_seconds)
        return min(pause, LONGEST_PAUSE_SECONDS)

    # --- choosing ---------------------------------------------------------------------------

    def _choose(self, host: str, scheme: str, now: float, avoid: Collection[Proxy]) -> Proxy | None:
        usable = [proxy for proxy in self.states if self._serves(proxy, host, scheme, now)]
        # Those this request has not tried, unless it has tried all; then those not busy,
        # unless all are.
        fresh = [proxy for proxy in usable if proxy not in avoid] or usable
        free = [proxy for proxy in fresh if not self._full(proxy, now)] or fresh
        if not free:
            return None
        # Squared: a proxy twice as good is drawn four times as often (ours).
        weights = [self.states[proxy].score ** 2 for proxy in free]
        return self._draw.choices(free, weights)[0]

    def _serves(self, proxy: Proxy, host: str, scheme: str, now: float) -> bool:
        state = self.states.get(proxy)
        if state is None or not proxy.serves(scheme):
            return False
        return max(state.resting_until, state.blocked_until.get(host, 0.0)) <= now

    def _full(self, proxy: Proxy, now: float) -> bool:
        state, limit = self.states[proxy], self._limits.per_minute
        # Only the last minute counts.
        while state.begun and state.begun[0] <= now - _MINUTE:
            state.begun.popleft()
        return state.under_way >= self._limits.at_once or bool(limit and len(state.begun) >= limit)

    def _keep(self, host: str, proxy: Proxy) -> None:
        # Re-inserted: the host that was asked longest ago is forgotten first.
        self._kept.pop(host, None)
        self._kept[host] = proxy
        while len(self._kept) > _MOST_HOSTS:
            del self._kept[next(iter(self._kept))]
