"""How texts judge: the tone of an article, and towards what it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.analysis.tone.judging import tone_of, tone_towards
    from qiaocrawl.analysis.tone.tone import Tone, tone_shares

__all__ = ["Tone", "tone_of", "tone_shares", "tone_towards"]

__getattr__ = lazy_exports(
    __name__,
    {"judging": ("tone_of", "tone_towards"), "tone": ("Tone", "tone_shares")},
)
