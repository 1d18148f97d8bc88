"""Which addresses of a host are other names of its pages, learnt from what the pages declare.

Articles declare a canonical link; a redirect tells as much. If that differs from the page's
address by :class:`~qiaocrawl.urls.versions.Step` s alone, the article votes for these steps and
against all others that would have changed the address. A page that names itself, or another
page of its site, votes against all steps; one that names another site, or none, does not vote. A
step of a host is a **rule** while, among the last :data:`WINDOW` distinct articles that could
tell, at least :data:`LEAST_AGREED` speak for it and at most one in :data:`ONE_IN` of those
against it. **(ours)**

Two different articles never get one address: a step may drop what tells articles apart only
if many articles, distinct without it, agree that it does not; index pages teach
nothing, and no rule leads to one.

The rules depend only on the sequence of observations. Memory: the last
:data:`MAX_HOSTS` hosts (those on which no article spoke for anything go first), at most
:data:`MAX_STEPS` steps a host and :data:`WINDOW` votes a step: 3.8 KB a step (measured). Most
hosts have one to three, 8 to 23 MB; 93 MB if all were full.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from qiaocrawl.urls.hosts import canonical_host, registrable_domain
from qiaocrawl.urls.versions import (
    Step,
    identity,
    is_front,
    other_hosts,
    possible_steps,
    steps_between,
    take,
)

WINDOW = 32
LEAST_AGREED = 5
ONE_IN = 20
"""One article against twenty for; with fewer, none."""
MAX_HOSTS = 2048
MAX_STEPS = 12

_VERSION = 1
_KINDS = frozenset(("https", "host", "first", "last", "suffix", "parameter"))
_MAX_WORD_CHARS = 300
# An address that takes more steps than any honest one has is left as it is.
_MAX_TAKEN = 12


@dataclass(frozen=True, slots=True)
class AliasRule:
    """What is known of one step of a host.

    Attributes:
        agreed: articles that speak for it, of the last :data:`WINDOW`.
        against: articles that speak against it.
        active: whether addresses are mapped by it now.
    """

    host: str
    step: Step
    agreed: int
    against: int
    active: bool


@dataclass(frozen=True, slots=True)
class HostVotes:
    """All that is known of a host, for storing.

    ``votes`` holds 32-bit digests of articles by step, oldest first. Each is stored plus one, so
    that 0 has a sign too, and negative where the article speaks against the step. ``rules`` is
    how many rules they make.
    """

    host: str
    votes: tuple[tuple[Step, tuple[int, ...]], ...] = ()
    rules: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; at most some 8 KB of text."""
        # Lists: a JSON object cannot have a step as its key.
        steps = [[*step, list(votes)] for step, votes in self.votes]
        return {"version": _VERSION, "host": self.host, "steps": steps, "rules": self.rules}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> HostVotes | None:
        """What :meth:`to_dict` gave; None for another version's or a damaged one."""
        if values.get("version") != _VERSION:
            return None
        try:
            host, rules = str(values["host"]), int(values["rules"])
            by_step = tuple(
                (Step(str(kind), str(word)), tuple(int(vote) for vote in votes))
                for kind, word, votes in values["steps"]
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            return None
        is_whole = all(_can_be(step, host) and _are_votes(votes) for step, votes in by_step)
        return cls(host, by_step, rules) if is_whole and len(by_step) <= MAX_STEPS else None


def _can_be(step: Step, host: str) -> bool:
    """Whether *step* may stand for *host*; a table edited by hand cannot lead elsewhere."""
    is_step = step.kind in _KINDS and len(step.word) <= _MAX_WORD_CHARS
    return is_step and (step.kind != "host" or step.word in other_hosts(host))


def _are_votes(votes: tuple[int, ...]) -> bool:
    return len(votes) <= WINDOW and all(0 < abs(vote) <= 1 << 32 for vote in votes)


class _Votes:
    """What the last articles say of one step; each article once, with its last word."""

    __slots__ = ("agreed", "by_page")

    def __init__(self) -> None:
        self.agreed = 0
        self.by_page: dict[int, bool] = {}

    @property
    def against(self) -> int:
        return len(self.by_page) - self.agreed

    @property
    def hold(self) -> bool:
        """Whether they make a rule."""
        return self.agreed >= LEAST_AGREED and self.against * ONE_IN <= self.agreed

    def count(self, page: int, *, agrees: bool) -> None:
        self.withdraw(page)
        self.by_page[page] = agrees
        self.agreed += agrees
        if len(self.by_page) > WINDOW:
            # An article that votes again moves to the end, so the first is the oldest.
            self.withdraw(next(iter(self.by_page)))

    def withdraw(self, page: int) -> None:
        self.agreed -= self.by_page.pop(page, False)


class AliasRules:
    """What is known of the hosts met last. Not for several threads at once."""

    def __init__(self, max_hosts: int = MAX_HOSTS) -> None:
        self._max_hosts = max_hosts
        self._hosts: dict[str, dict[Step, _Votes]] = {}
        # Each host is in one of these, least recently met first; quiet ones are forgotten first.
        self._quiet: OrderedDict[str, None] = OrderedDict()
        self._spoken: OrderedDict[str, None] = OrderedDict()
        self._unsaved: set[str] = set()

    def __len__(self) -> int:
        """How many hosts are remembered."""
        return len(self._hosts)

    # --- learning ---------------------------------------------------------------------------

    def observe(self, url: str, declared: str) -> None:
        """An article fetched from *url* declares *declared* its canonical address.

        Both in canonical form; *declared* may be *url* itself. "" and the address of another
        site teach nothing.
        """
        # Front pages show other articles each day: what they declare says nothing about addresses.
        if not declared or is_front(url) or not _of_one_site(url, declared):
            return
        # None, no steps lead there: the article votes against each step that applies.
        taken = steps_between(url, declared) or ()
        # A taken step may apply only behind another one: "amp" of /a/amp/print.
        for step in dict.fromkeys((*possible_steps(url), *taken)):
            self._vote(url, step, agrees=step in taken)
        self._speak_against_way_back(url, declared)

    def note_redirect(self, url: str, target: str) -> None:
        """The server of *url* redirects to *target*; both in canonical form.

        A redirect to anything but a version of the page teaches nothing: it may have moved.
        """
        if is_front(url) or not _of_one_site(url, target):
            return
        for step in steps_between(url, target) or ():
            self._vote(url, step, agrees=True)
        self._speak_against_way_back(url, target)

    def doubt(self, url: str) -> None:
        """The address that :meth:`apply` gave for *url* brought no page: its rules lose a vote."""
        # Each rule belongs to the host it leads from: m.a.com to www.a.com, then https there.
        for host, step in self._way(url)[1]:
            self._vote(url, step, agrees=False, host=host)

    def forgive(self, url: str) -> None:
        """*url* itself brings no page either: the votes it cast against its rules are withdrawn."""
        page = _digest(url)
        hosts = [canonical_host(url)]
        for host in hosts:
            # The list grows while it is walked: from m.www.a.com to www.a.com to a.com.
            hosts += [other for other in other_hosts(host) if other not in hosts]
            for votes in self._hosts.get(host, {}).values():
                if votes.by_page.get(page) is False:
                    votes.withdraw(page)
                    self._unsaved.add(host)

    def _speak_against_way_back(self, url: str, target: str) -> None:
        """Where *url* is a version of *target*, no rule may lead from *target* to *url*."""
        # Only the "www." step has a way back; all other steps shorten.
        for step in steps_between(target, url) or ():
            self._vote(target, step, agrees=False)

    def _vote(self, url: str, step: Step, *, agrees: bool, host: str = "") -> None:
        host = host or canonical_host(url)
        steps = self._steps(host)
        votes = steps.get(step)
        if votes is None:
            if len(steps) >= MAX_STEPS:
                # A host that invents steps without end cannot push out one that articles agree on.
                del steps[min(steps, key=lambda candidate: steps[candidate].agreed)]
            votes = steps[step] = _Votes()
        votes.count(_digest(url), agrees=agrees)
        self._met(host, spoken=agrees)

    def _steps(self, host: str) -> dict[Step, _Votes]:
        steps = self._hosts.get(host)
        if steps is None:
            if len(self._hosts) >= self._max_hosts:
                # A host without a vote for any step goes before one that may have a rule.
                forgotten, _ = (self._quiet or self._spoken).popitem(last=False)
                del self._hosts[forgotten]
                self._unsaved.discard(forgotten)
            steps = self._hosts[host] = {}
        return steps

    def _met(self, host: str, *, spoken: bool) -> None:
        if spoken or host in self._spoken:
            self._quiet.pop(host, None)
            self._spoken[host] = None
            self._spoken.move_to_end(host)
            self._unsaved.add(host)
        else:
            self._quiet[host] = None
            self._quiet.move_to_end(host)

    # --- using ------------------------------------------------------------------------------

    def apply(self, url: str) -> str:
        """The preferred address of *url* as far as is known; *url* itself where nothing is.

        Applied twice is applied once, and no other registrable domain is ever reached.
        """
        return self._way(url)[0]

    def _way(self, url: str) -> tuple[str, list[tuple[str, Step]]]:
        """Where the rules lead from *url*, and the steps, each with the host whose rule it is."""
        taken: list[tuple[str, Step]] = []
        further: str | None = url
        while further is not None and len(taken) <= _MAX_TAKEN:
            here, further = further, None
            step = self._first_active(here)
            if step is not None:
                taken.append((canonical_host(here), step))
                further = take(step, here)
        return (url, []) if len(taken) > _MAX_TAKEN else (here, taken)

    def _first_active(self, url: str) -> Step | None:
        host = canonical_host(url)
        votes = self._hosts.get(host)
        if not votes:
            return None
        steps = (step for step in possible_steps(url) if self._is_active(host, step, votes))
        return next(steps, None)

    def _is_active(self, host: str, step: Step, by_step: Mapping[Step, _Votes]) -> bool:
        votes = by_step.get(step)
        if votes is None or not votes.hold:
            return False
        # Rules with and without "www." may point at each other; then neither is followed.
        back = self._hosts.get(step.word, {}).get(Step("host", host))
        return step.kind != "host" or back is None or not back.hold

    # --- telling ----------------------------------------------------------------------------

    def rules(self) -> list[AliasRule]:
        """All steps that any article spoke for, by host, those with most agreement first."""
        rules = [
            AliasRule(host, step, votes.agreed, votes.against, self._is_active(host, step, steps))
            for host, steps in self._hosts.items()
            for step, votes in steps.items()
            if votes.agreed
        ]
        return sorted(rules, key=lambda rule: (rule.host, -rule.agreed, rule.step))

    def take_changes(self) -> list[HostVotes]:
        """What is new since the last call, for storing, by host.

        Hosts without a vote for any step are left out.
        """
        changed = [self._votes_of(host) for host in sorted(self._unsaved)]
        self._unsaved.clear()
        return changed

    def _votes_of(self, host: str) -> HostVotes:
        steps = self._hosts[host]
        votes = tuple(
            (step, _sign_votes(step_votes))
            for step, step_votes in steps.items()
            if step_votes.by_page
        )
        rules = sum(self._is_active(host, step, steps) for step in steps)
        return HostVotes(host, votes, rules)

    def restore(self, stored: HostVotes) -> None:
        """Begin with what was stored; nothing happens when the host is known already."""
        # What this run has observed is newer than the table.
        if stored.host in self._hosts or len(self._hosts) >= self._max_hosts:
            return
        self._spoken[stored.host] = None
        steps = self._hosts[stored.host] = {}
        for step, signed in stored.votes:
            votes = steps[step] = _Votes()
            # Oldest first, as stored: the window goes on where it stopped.
            for vote in signed:
                votes.count(abs(vote) - 1, agrees=vote > 0)


def _sign_votes(votes: _Votes) -> tuple[int, ...]:
    return tuple(page + 1 if agrees else -page - 1 for page, agrees in votes.by_page.items())


def _of_one_site(url: str, other: str) -> bool:
    ours, theirs = canonical_host(url), canonical_host(other)
    return ours == theirs or registrable_domain(ours) == registrable_domain(theirs)


def _digest(url: str) -> int:
    text = identity(url).encode()
    return int.from_bytes(blake2b(text, digest_size=4).digest(), "big")
