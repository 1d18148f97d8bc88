"""What verdicts on reprints are called for people."""

from __future__ import annotations

from qiaocrawl.language import N_, _

_VERDICTS = {
    "same_page": N_("same page"),
    "reprint": N_("reprint"),
    "revision": N_("revision"),
    "series": N_("series"),
    "distinct": N_("distinct"),
}


def verdict_name(kind: str) -> str:
    """What *kind* is called in the operator's language."""
    return _(_VERDICTS.get(kind, kind))
