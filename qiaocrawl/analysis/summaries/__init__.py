"""What texts say in short: of one article, and of a story told by several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.analysis.summaries.article import headline_of, summarise
    from qiaocrawl.analysis.summaries.story import StorySource, StorySummary, summarise_story

__all__ = ["StorySource", "StorySummary", "headline_of", "summarise", "summarise_story"]

__getattr__ = lazy_exports(
    __name__,
    {
        "article": ("headline_of", "summarise"),
        "story": ("StorySource", "StorySummary", "summarise_story"),
    },
)
