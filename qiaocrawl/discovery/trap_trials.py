"""Gives cut groups a second try, at a limited price, when nothing else waits.

Cutting a group is a guess. When a crawl has nothing else to do, it fetches a few of the URLs it
closed for it. If half of those tell stories of their own and lead to no more closed URLs, or if
they lead to fewer closed URLs than they are, the group is finite, trap or not: it is opened
again, and all of it is fetched. A trap's pages lead to ever more of it, or tell what was told; so
it costs a tenth of the host's pages at most. A section of another topic looks so as well, but most
of its pages have a text of their own and lead to nothing new: such a page pays for two more tries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

TRAP = "trap: "
"""How the reason of each URL that is closed as one of a trap begins; its group comes next."""
SHARE_OF_HOST = 0.1
"""Tried of a host in a run, of all that the run has fetched of it otherwise **(ours)**."""
LARGEST_SHARE = 0.5
"""The same with what pages have paid for **(ours)**."""
_PAID_BY_LEAF = 2
FIRST_TRIAL = 4
_ACCEPTED = 0.5
_GROWTH = 0.5
"""New closed URLs a page, below which what is left of a group runs dry. A branching process ends
for certain below one (Watson and Galton 1875); a calendar's pages lead to one each."""


def group_of(reason: str) -> str:
    """The group that *reason* names, "" where it is no trap's."""
    # "trap: a.cn/x/… (40 pages fetched, 0 of them told a story)" names "a.cn/x/…".
    return reason.removeprefix(TRAP).partition(" (")[0] if reason.startswith(TRAP) else ""


@dataclass(slots=True)
class _Trial:
    share: int = FIRST_TRIAL
    tried: int = 0
    good: int = 0
    repeated: int = 0
    new_closed: int = 0

    @property
    def runs_dry(self) -> bool:
        """Whether what was tried leads to little that is new and repeats little."""
        return (
            self.tried >= FIRST_TRIAL
            and self.new_closed <= _GROWTH * self.tried
            and self.repeated <= (1 - _ACCEPTED) * self.tried
        )


class TrapTrials:
    """The trials of cut groups in one run. Not thread-safe."""

    def __init__(self) -> None:
        self._groups: dict[str, _Trial] = {}
        self._fetched: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()
        self._paid: Counter[str] = Counter()

    def fetched(self, host: str) -> None:
        """Count a page of *host* that is on no trial."""
        self._fetched[host] += 1

    def tried(
        self, group: str, *, is_good: bool, has_text: bool, repeats: bool, new_closed: int
    ) -> None:
        """Count a page of *group* that is on trial.

        Args:
            is_good: it tells a story and leads to no more of the group.
            has_text: of its own.
            repeats: it tells what another address told, or nothing is there.
            new_closed: closed URLs it leads to that nothing led to before.
        """
        trial = self._groups.setdefault(group, _Trial())
        trial.tried += 1
        trial.good += is_good
        trial.repeated += repeats
        trial.new_closed += new_closed
        # It told a new story and led no deeper: that pays for two more tries.
        if has_text and not new_closed:
            self._paid[group.partition("/")[0]] += _PAID_BY_LEAF

    def ends(self, group: str, good: int, tried: int) -> bool:
        """Whether *group* is to be opened: half of its round bring something new, or it runs dry.

        Args:
            good: of its last round, the URLs that led to a new article.
            tried: all of the round.
        """
        trial = self._groups.setdefault(group, _Trial())
        # Some of the round may have failed to load, so two good ones are asked for at least.
        enough = trial.good >= 2 and trial.good >= _ACCEPTED * trial.tried
        # Both counts: articles that were new to the store, and pages that led no deeper.
        accepted = enough and good >= _ACCEPTED * trial.tried and good > 0
        is_open = tried > 0 and (accepted or trial.runs_dry)
        # The next trial gets twice the share, whatever came of this one.
        self._groups[group] = _Trial(2 * trial.share)
        return is_open

    def shares(self, waiting: Mapping[str, int]) -> dict[str, int]:
        """How many URLs of each group are to be tried now, where so many are closed."""
        shares: dict[str, int] = {}
        by_host: dict[str, list[str]] = {}
        for group in waiting:
            by_host.setdefault(group.partition("/")[0], []).append(group)
        for host, groups in by_host.items():
            fetched = self._fetched[host]
            # At most half of what was fetched, however well the tries pay.
            most = min(SHARE_OF_HOST * fetched + self._paid[host], LARGEST_SHARE * fetched)
            left = int(most) - self._asked[host]
            for at, group in enumerate(sorted(groups, key=self._share)):
                # Rounded up. The smallest shares come first: what they leave goes to the others.
                # -(-a // b): the quotient rounded up.
                fair = -(-left // (len(groups) - at))
                shares[group] = max(0, min(self._share(group), waiting[group], fair))
                left -= shares[group]
                self._asked[host] += shares[group]
        return shares

    def _share(self, group: str) -> int:
        return self._groups.setdefault(group, _Trial()).share
