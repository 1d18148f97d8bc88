"""Claims of who wrote an article, and which of them is believed.

Claims of different kinds of witness for the same people add up as independent ones do,
1 - prod(1 - weight); of one kind only the heaviest counts **(ours)**.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

_MAX_AUTHORS = 12
_MOST = 0.98
_FAIR = 0.6
"""From this weight on a longer list of the same people is believed."""


class Claim(NamedTuple):
    """Authors as one witness names them; ``weight`` in [0, 1], ``kind`` of the witness."""

    names: tuple[str, ...]
    weight: float
    origin: str
    kind: str = "text"

    @property
    def people(self) -> frozenset[str]:
        """The names in lower case, in no order."""
        return frozenset([name.lower() for name in self.names])


def claim_of(names: list[str], weight: float, origin: str, kind: str = "text") -> Claim:
    """The claim of *names*, each once and not too many."""
    return Claim(tuple(dict.fromkeys(names))[:_MAX_AUTHORS], weight, origin, kind)


def heaviest(claims: list[Claim]) -> float:
    """The weight of the heaviest of *claims*; 0 when there is none."""
    return max([claim.weight for claim in claims], default=0.0)


def best_claim(claims: list[Claim]) -> Claim | None:
    """The claim whose people have the most weight; one that names them and more goes before."""
    if not claims:
        return None
    totals = {people: _total(claims, people) for people in {claim.people for claim in claims}}
    best = max(claims, key=lambda claim: (totals[claim.people], claim.weight))
    total = totals[best.people]
    if len(best.names) == 1 and " " not in best.names[0]:  # a first name alone: "Todd"
        begin = best.names[0] + " "
        best = next((claim for claim in claims if claim.names[0].startswith(begin)), best)
    for claim in claims:
        if claim.weight >= _FAIR and best.people < claim.people:
            best = claim
    return best._replace(weight=min(_MOST, max(total, totals[best.people])))


def _total(claims: list[Claim], people: frozenset[str]) -> float:
    kinds: dict[str, float] = {}
    for claim in claims:
        if claim.people == people:
            kinds[claim.kind] = max(claim.weight, kinds.get(claim.kind, 0.0))
    return 1.0 - prod([1.0 - weight for weight in kinds.values()])
