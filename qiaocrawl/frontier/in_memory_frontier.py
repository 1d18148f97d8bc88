"""One crawl's order in memory, kept in step with what is committed and what is in hand.

Around :class:`~qiaocrawl.frontier.PriorityIndex`, which a simulation uses as it is, a real crawl
has rows that are not committed yet, rows that other workers took, and pauses. It is not thread
safe: one thread does everything here.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from qiaocrawl.frontier import LearningStrategy, NodeState, PriorityIndex
from qiaocrawl.frontier.threshold import MovingThreshold
from qiaocrawl.items import SEED_SCORE, Candidate, Lease, Visit
from qiaocrawl.storage.frontier.lease import Decision
from qiaocrawl.storage.frontier.visit_log import PendingUrl

MAX_WAITING = 500_000
"""Waiting URLs read from the database; what is beyond waits there until the order runs dry."""

REST = 10.0
"""After each page rescoring rests for so many times what the page took, so that it fills at most
a tenth of the thread even with 100,000 URLs waiting. Pages of a polite crawl come more slowly."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A URL the order chose to be fetched now.

    Attributes:
        score: on the strategy's own scale.
        place, waiting: its rank among the URLs that waited (1 is best) and how many these were.
        parts: of the score, by name.
    """

    key: bytes
    score: float
    place: int
    waiting: int
    parts: Mapping[str, float]

    def decision(self, strategy: str, now: float) -> Decision:
        """The same as it is stored, taken by *strategy* at epoch second *now*."""
        return Decision(strategy, self.score, now, self.place, self.waiting, self.parts)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be fetched now, best first, and how many URLs waited before.

    Those whose rows are being written are counted with them.
    """

    choices: tuple[Choice, ...]
    waiting: int


@dataclass(slots=True)
class _Held:
    """What a page brought that waits for its transaction: nodes, and rows with no link to them."""

    nodes: list[int]
    candidates: tuple[Candidate, ...]


class InMemoryFrontier:
    """The order of one crawl.

    Args:
        strategy: what scores.
        covers: whether a host belongs to this crawl.
        threshold: see :class:`PriorityIndex`.
    """

    def __init__(
        self,
        strategy: LearningStrategy,
        covers: Callable[[str], bool],
        threshold: MovingThreshold | None = None,
    ) -> None:
        self.index = PriorityIndex(strategy, threshold)
        self.strategy = strategy
        self.covers = covers
        self.visits = 0
        """Pages learnt from, those of the log included."""
        self._held: dict[bytes, _Held] = {}
        # Keys in hand: handed out by the order or leased past it. They must not be chosen again.
        self._out: set[bytes] = set()
        # A heap of (due time, key). A key in it may have been fetched meanwhile: its row then
        # refuses the lease.
        self._later: list[tuple[float, bytes]] = []
        self._is_telling = False
        self._rests_until = 0.0
        # While waiting rows are read: nodes this process saw meanwhile, and nodes that were read.
        self._fresh: set[int] | None = None
        self._found: set[int] = set()

    # --- pages ------------------------------------------------------------------------------

    def visit(self, visit: Visit, via: bytes | None = None) -> list[float]:
        """Learn from a page; the scores of its links, in order.

        Args:
            via: key of the URL that led here without a page of its own.
        """
        self.visits += 1
        # First: if a redirect led here, its node and links become this page's before
        # it is visited.
        self._replace_redirect(visit.key, visit.host, via)
        # The thread's own time: on a busy machine the wall clock would put rescoring off for ever.
        began = time.thread_time()
        # Not while the log is replayed: 20,000 visits would rescore thousands of
        # times for nothing.
        self.index.scores_anew = not self._is_telling and time.monotonic() >= self._rests_until
        scores = self.index.visit(visit)
        self._rests_until = time.monotonic() + REST * (time.thread_time() - began)
        return scores

    def begin_telling(self) -> None:
        """The log is about to be replayed; everything is rescored once waiting rows were read."""
        self._is_telling = True

    def hold(
        self, page: bytes, links: Iterable[bytes], candidates: Sequence[Candidate] = ()
    ) -> None:
        """Hold back what *page* brought, which has no rows before :meth:`note_stored`.

        Args:
            links: keys of its links that were not known before.
            candidates: what it brought beside.
        """
        nodes = [node for key in links if (node := self._waiting_node(key)) is not None]
        # Closed, not unlinked: the node keeps its score until stored() lets it wait.
        for node in nodes:
            self.index.close(node)
        self._held[page] = _Held(nodes, tuple(candidates))

    def note_stored(self, page: bytes) -> None:
        """The transaction of *page* is committed: what it brought may be leased."""
        held = self._held.pop(page, None)
        if held is None:
            return
        for node in held.nodes:
            self._see(node)
            self.index.put_back(node)
        self.note_enqueued(held.candidates)

    def note_closed(self, page: bytes) -> None:
        """*page* is no longer in hand; its links that are still held have no rows."""
        self._out.discard(page)
        held = self._held.pop(page, None)
        if held is not None:
            for node in held.nodes:
                # No transaction, no row: a lease of this node would find nothing.
                self.index.unlink(node)

    def note_enqueued(self, candidates: Iterable[Candidate]) -> None:
        """*candidates* have rows now; no link of a visited page need lead to them."""
        for candidate in candidates:
            if candidate.left_out is None:
                # A redirect's target or an alias stands in for the URL that led there, with
                # all its links.
                is_led = candidate.payload.hops or candidate.payload.alias_of
                again = self._replace_redirect(
                    candidate.key, candidate.host, candidate.parent if is_led else None
                )
                comes_back = candidate.refetch or candidate.payload.taken_up is not None
                again |= comes_back and candidate.key not in self._out
                # "again" also reopens a node that was fetched before, unless it is in
                # hand right now.
                self._add(candidate, candidate.score, again=again)

    # --- leasing ----------------------------------------------------------------------------

    def choose(
        self,
        limit: int,
        *,
        per_host: int,
        busy_hosts: Collection[str],
        now: float,
        own_hosts: frozenset[str] | None = None,
    ) -> Chosen:
        """Take the best *limit* nodes, at most *per_host* of a host and none of *busy_hosts*.

        Args:
            now: epoch seconds; what waited for a moment before comes back.
            own_hosts: those nodes may be of; None for all.
        """
        self._wake(now)
        index = self.index
        nodes: list[int] = []
        of_host: Counter[str] = Counter()
        full = set(busy_hosts)
        while len(nodes) < limit:
            # Asks again without the hosts that are full: sorting all nodes for the sake of
            # a few would cost ten times as much.
            best = index.best(limit, busy_hosts=full, own_hosts=own_hosts)
            # best() repeats what is in hand here: these nodes are taken only at the end.
            best = [node for node in best if node not in nodes]
            if not best:
                break
            before = len(full)
            for node in best[: limit - len(nodes)]:
                host = index.host_of(node)
                if of_host[host] < per_host:
                    of_host[host] += 1
                    nodes.append(node)
                if of_host[host] >= per_host:
                    full.add(host)
            # No host became full in this round, so another one would bring the same nodes.
            if len(full) == before:
                break
        choices = tuple(self._choice(node) for node in nodes)
        waiting = choices[0].waiting if choices else len(index.waiting)
        # Held-back nodes count: their rows come in a moment, so the order has not run dry.
        waiting += sum(len(held.nodes) + len(held.candidates) for held in self._held.values())
        index.take(nodes)
        # Taken out before the lease is made: the next call must not choose them a second time.
        self._out.update(choice.key for choice in choices)
        return Chosen(choices, waiting)

    def _choice(self, node: int) -> Choice:
        index = self.index
        place, waiting = index.place_of(node)
        parts = self.strategy.explain_node(node)
        return Choice(index.key_of(node), index.score_of(node), place, waiting, parts)

    def note_unleased(self, later: Mapping[bytes, float], gone: Iterable[bytes]) -> None:
        """Chosen rows that were not leased: *later* from their second on, *gone* never."""
        self._out.difference_update(gone)
        for key, at in later.items():
            self.wait_until(key, at)

    def wait_until(self, key: bytes, at: float) -> None:
        """*key* is in hand no longer and waits again from *at* on (clock of :meth:`choose`)."""
        self._out.discard(key)
        heapq.heappush(self._later, (at, key))

    def note_taken(self, leases: Iterable[Lease]) -> None:
        """*leases* were taken without asking the order."""
        for lease in leases:
            # A row another worker proposed: it enters the order as taken, so that links found
            # later to it add no second node.
            node = self.index.node_of(lease.key)
            if node is None:
                node = self.index.add(lease.key, lease.url, lease.host, lease.depth, lease.score)
            self.index.close(node)
            self._out.add(lease.key)

    def _wake(self, now: float) -> None:
        while self._later and self._later[0][0] <= now:
            _, key = heapq.heappop(self._later)
            node = self.index.node_of(key)
            # Already in hand again: a row taken past the order while its pause ran.
            if node is not None and key not in self._out:
                self._see(node)
                self.index.put_back(node)

    # --- what waits in the database -----------------------------------------------------------

    def begin_reading(self) -> None:
        """All waiting rows are about to be read, batch by batch."""
        self._fresh, self._found = set(), set()

    def found_waiting(self, rows: Iterable[PendingUrl]) -> bool:
        """Rows that wait; those the order did not know enter it.

        Returns:
            Whether there is room for more.
        """
        # The limit is for new rows; known ones are only ticked off.
        room = MAX_WAITING - len(self.index.waiting)
        # A node that is held back waits for the transaction of its page, even where a row of it
        # can be seen already.
        held = {node for page in self._held.values() for node in page.nodes}
        for row in rows:
            if not self.covers(row.host) or row.key in self._out:
                continue
            node = self._waiting_node(row.key)
            if node is None:
                if room <= 0:
                    # Full: the stored scores serve the rest until the order runs dry.
                    return False
                room -= 1
                self._replace_redirect(row.key, row.host, row.via)
                node = self._add(row, row.score, again=self.index.node_of(row.key) not in held)
            if self._fresh is not None:
                self._found.add(node)
        return True

    def end_reading(self, *, complete: bool) -> None:
        """All rows were read: nodes not among them stop waiting, and everything is rescored.

        Args:
            complete: False where reading was given up for lack of room.
        """
        # If reading was cut short, the missing nodes may be among the unread rows: none is closed.
        if complete and self._fresh is not None:
            waiting = self._found | self._fresh
            for node in self.index.waiting.tolist():
                # Another worker took or closed its row.
                if node not in waiting:
                    self.index.close(node)
        self._fresh, self._found = None, set()
        self._is_telling = False
        self.index.rescore()

    # --- asking -------------------------------------------------------------------------------

    def best_scores(self, most: int) -> list[tuple[bytes, float]]:
        """(key, score) of the *most* best waiting nodes."""
        index = self.index
        return [(index.key_of(node), index.score_of(node)) for node in index.best(most)]

    @property
    def is_below_threshold(self) -> bool:
        """Whether URLs wait, and none of them may be handed out."""
        return len(self.index.waiting) > 0 and not self.index.best(1)

    def score_of(self, key: bytes) -> float | None:
        """The present score of *key*; None where it is unknown. Any thread may ask."""
        node = self.index.node_of(key)
        return None if node is None else self.index.score_of(node)

    # --- inside -------------------------------------------------------------------------------

    def _add(self, one: Candidate | PendingUrl, score: float, *, again: bool) -> int:
        """Let *one* wait; with *again* even if it was fetched or given up before."""
        index = self.index
        node = index.node_of(one.key)
        state = None if node is None else index.state_of(node)
        if node is not None and state is NodeState.TAKEN and again:
            index.put_back(node)
        taken = state is NodeState.TAKEN and not again
        # A node that links lead to keeps the strategy's score, not the stored one.
        has_score = node is not None and index.score_of(node) > -np.inf
        # A start page, or no known score: the stored score is all there is.
        if node is None or (not taken and (not has_score or score >= SEED_SCORE)):
            node = index.add(one.key, one.url, one.host, one.depth, score)
        self._see(node)
        return node

    def _replace_redirect(self, key: bytes, host: str, via: bytes | None) -> bool:
        """Let *key* take the place of *via*, which redirects there, and all links to it.

        Returns:
            Whether it did: not where either is unknown, or both are known.
        """
        node = None if via is None else self.index.node_of(via)
        # If the target is known, both have links of their own; merging them is not worth the cost.
        if node is None or self.index.node_of(key) is not None:
            return False
        self.index.readdress(node, key, host)
        return True

    def _see(self, node: int) -> None:
        # Marked only while rows are read, so that end_reading() does not close
        # what came meanwhile.
        if self._fresh is not None:
            self._fresh.add(node)

    def _waiting_node(self, key: bytes) -> int | None:
        node = self.index.node_of(key)
        waits = node is not None and self.index.state_of(node) is NodeState.WAITING
        return node if waits else None
