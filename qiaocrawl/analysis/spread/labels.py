"""What evidence and figures of a spread are called, in the language of who reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from qiaocrawl.language import N_, _

if TYPE_CHECKING:
    from qiaocrawl.analysis.spread.edges import Edge, Evidence, EvidenceKind
    from qiaocrawl.analysis.spread.publication import ChangeKind

_EVIDENCE: Mapping[EvidenceKind, str] = {
    "source_link": N_("its source line leads there"),
    "source": N_("its source line names “{value}”"),
    "credit": N_("its text credits “{value}”"),
    "link": N_("its text links there"),
    "text": N_("{value} of the text is the same"),
    "earlier": N_("{value} later"),
    "later": N_("though dated {value} earlier"),
    "own": N_("its source line names itself"),
}
CHANGES: Mapping[ChangeKind, str] = {
    "corrected": N_("corrected"), "deleted": N_("deleted"), "restored": N_("restored"),
}  # fmt: skip
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def evidence_text(evidence: Evidence) -> str:
    """One thing that speaks for an edge."""
    value = evidence.value
    if evidence.kind in ("earlier", "later"):
        value = duration(float(value))
    return _(_EVIDENCE[evidence.kind], value=value)


def edge_text(edge: Edge) -> str:
    """All that speaks for an edge; that it is unknown where nothing does."""
    if not edge.evidence:
        return _("origin unknown")
    return _("; ").join(evidence_text(evidence) for evidence in edge.evidence)


def duration(seconds: float) -> str:
    """How long something took, in its two largest units."""
    whole = round(seconds)
    if whole < _MINUTE:
        return _("less than a minute")
    if whole < _HOUR:
        return _("{minutes} min", minutes=whole // _MINUTE)
    if whole < _DAY:
        return _("{hours} h {minutes} min", hours=whole // _HOUR, minutes=whole % _HOUR // _MINUTE)
    return _("{days} d {hours} h", days=whole // _DAY, hours=whole % _DAY // _HOUR)


def tier_name(tier: int | None) -> str:
    """What a tier is called."""
    return _("tier {tier}", tier=tier) if tier is not None else _("tier unknown")
