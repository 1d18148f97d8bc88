"""What is done to a crew in the middle of its crawl, and what its web has seen of that."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise

from benchmarks.fleets.crew import Collector, Crew
from benchmarks.fleets.figures import shed_load, takeover
from benchmarks.fleets.galera import Galera
from benchmarks.fleets.web import Hit

MEMBER_AWAY_SECONDS = 10.0
_SLOW_SECONDS = 1.0


class Harm(ABC):
    """Something that happens once, when a quarter of the pages has been asked for."""

    @abstractmethod
    def happen(self, crew: Crew) -> None:
        """Do it."""

    @abstractmethod
    def figures(self, hits: Sequence[Hit]) -> dict[str, object]:
        """What *hits*, of the whole crawl, say of it."""

    def survivors(self, crew: Crew) -> list[Collector]:
        """Those of *crew* that have to end well."""
        return crew.collectors


class KilledCollector(Harm):
    """The first collector gets kill -9, with its analysis workers."""

    def happen(self, crew: Crew) -> None:
        """Kill it."""
        self._victim = crew.collectors[0]
        self._at = crew.kill(self._victim)

    def figures(self, hits: Sequence[Hit]) -> dict[str, object]:
        """How long it took until the others went on with what it had."""
        return {"harm": "a collector killed", **takeover(hits, self._victim.name, self._at)}

    def survivors(self, crew: Crew) -> list[Collector]:
        """All but the one that was killed."""
        return crew.collectors[1:]


class SlowCollector(Harm):
    """The web answers the first collector a second late from now on."""

    def happen(self, crew: Crew) -> None:
        """Slow it down."""
        self._victim = crew.collectors[0]
        self._at = time.monotonic()
        crew.served.slow_down(self._victim.name, _SLOW_SECONDS)

    def figures(self, hits: Sequence[Hit]) -> dict[str, object]:
        """How much it did before and after."""
        return {"harm": "a collector slow", **shed_load(hits, self._victim.name, self._at)}


class LostMember(Harm):
    """A member of the cluster is lost for a while; its collector waits for it.

    Args:
        number: of the member; the last one if not given.
        away_seconds: for how long.
    """

    name = ""

    def __init__(
        self, cluster: Galera, number: int | None = None, away_seconds: float = MEMBER_AWAY_SECONDS
    ) -> None:
        self.cluster = cluster
        self.number = len(cluster.members) - 1 if number is None else number
        self._away_seconds = away_seconds

    @abstractmethod
    def lose(self) -> None:
        """Lose it."""

    @abstractmethod
    def regain(self) -> None:
        """Bring it back; it has all the others have then."""

    def happen(self, crew: Crew) -> None:
        """Lose it, and bring it back."""
        self._lost_at = time.monotonic()
        self.lose()
        time.sleep(self._away_seconds)
        self.regain()
        self._back_at = time.monotonic()

    def figures(self, hits: Sequence[Hit]) -> dict[str, object]:
        """How long it was away, and how long nobody asked for anything."""
        after = [hit.at - self._lost_at for hit in hits if hit.at > self._lost_at]
        silences = [later - sooner for sooner, later in pairwise([0.0, *after])]
        return {
            "harm": self.name,
            "member_away_seconds": round(self._back_at - self._lost_at, 1),
            "longest_silence_seconds": round(max(silences, default=0.0), 1),
        }


class KilledMember(LostMember):
    """It gets kill -9."""

    name = "a member killed"

    def lose(self) -> None:
        """Kill it."""
        self.cluster.members[self.number].kill()

    def regain(self) -> None:
        """Start it from its last transaction on."""
        self.cluster.restart(self.number)


class SplitMember(LostMember):
    """It is cut off from the others, not from its collector.

    Where members are in networks of their own the cable between them is pulled; else Galera is
    told to hear nobody, which is less than a split.
    """

    def __init__(
        self, cluster: Galera, number: int | None = None, away_seconds: float = MEMBER_AWAY_SECONDS
    ) -> None:
        super().__init__(cluster, number, away_seconds)
        self.name = "a member isolated" if cluster.network is None else "a network split"

    def lose(self) -> None:
        """Let nothing pass between it and the others."""
        if self.cluster.network is not None:
            self.cluster.network.cut(self.number)
        else:
            self._isolate(1)

    def regain(self) -> None:
        """Let it hear the others again."""
        if self.cluster.network is not None:
            self.cluster.network.join(self.number)
        else:
            self._isolate(0)
        self.cluster.wait_until_joined(self.number)

    def _isolate(self, value: int) -> None:
        self.cluster.members[self.number].execute(
            f"SET GLOBAL wsrep_provider_options = 'gmcast.isolate={value}'"
        )
