"""Gives cut groups a second try, at a limited price, when nothing else waits.

Cutting a group is a guess. When a crawl has nothing else to do, it fetches a few of the URLs it
closed for it. If half of those tell stories of their own and lead to no more closed URLs,
the group is finite, trap or not: it is opened again, and all of it is fetched. A trap's pages
lead to ever more of it, or tell what was told; so it costs a tenth of the host's pages at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

TRAP = "trap: "
"""How the reason of each URL that is closed as one of a trap begins; its group comes next."""
SHARE_OF_HOST = 0.1
"""Tried of a host in a run, of all that the run has fetched of it otherwise **(ours)**."""
FIRST_TRIAL = 4
_ACCEPTED = 0.5


def group_of(reason: str) -> str:
    """The group that *reason* names, "" where it is no trap's."""
    return reason.removeprefix(TRAP).partition(" (")[0] if reason.startswith(TRAP) else ""


@dataclass(slots=True)
class _Trial:
    share: int = FIRST_TRIAL
    tried: int = 0
    good: int = 0


class TrapTrials:
    """The trials of cut groups in one run. Not thread-safe."""

    def __init__(self) -> None:
        self._groups: dict[str, _Trial] = {}
        self._fetched: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()

    def fetched(self, host: str) -> None:
        """A page of *host* was fetched that is on no trial."""
        self._fetched[host] += 1

    def tried(self, group: str, *, is_good: bool) -> None:
        """A page of *group* was; *is_good*: it tells a story and leads to no more of it."""
        trial = self._groups.setdefault(group, _Trial())
        trial.tried += 1
        trial.good += is_good

    def ends(self, group: str, good: int, tried: int) -> bool:
        """Whether *group* is to be opened: half of its round tell something new.

        Args:
            good: of its last round, the URLs that led to a new article.
            tried: all of the round.
        """
        trial = self._groups.setdefault(group, _Trial())
        # Some of the round may have failed to load, so two good ones are asked for at least.
        enough = trial.good >= 2 and trial.good >= _ACCEPTED * trial.tried
        accepted = enough and good >= _ACCEPTED * trial.tried and good > 0
        trial.share *= 2
        trial.tried = trial.good = 0
        return accepted and tried > 0

    def shares(self, waiting: Mapping[str, int]) -> dict[str, int]:
        """How many URLs of each group are to be tried now, where so many are closed."""
        shares: dict[str, int] = {}
        rest: dict[str, list[str]] = {}
        for group in waiting:
            rest.setdefault(group.partition("/")[0], []).append(group)
        for host, groups in rest.items():
            left = int(SHARE_OF_HOST * self._fetched[host]) - self._asked[host]
            for at, group in enumerate(sorted(groups, key=self._share)):
                # Rounded up. The smallest shares come first: what they leave goes to the others.
                fair = -(-left // (len(groups) - at))
                shares[group] = max(0, min(self._share(group), waiting[group], fair))
                left -= shares[group]
                self._asked[host] += shares[group]
        return shares

    def _share(self, group: str) -> int:
        return self._groups.setdefault(group, _Trial()).share
