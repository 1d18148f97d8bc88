"""Words of a stretch of time: hot ones, new ones, a cloud, and hits of a user's groups of terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.analysis.words.cloud import CloudWord, cloud_words
    from qiaocrawl.analysis.words.cloud_picture import cloud_svg
    from qiaocrawl.analysis.words.counting import TimedText, WordCounter
    from qiaocrawl.analysis.words.fresh import FreshWord, fresh_words
    from qiaocrawl.analysis.words.groups import GroupHits, TermGroup, group_hits, read_groups
    from qiaocrawl.analysis.words.hot import HotWord, hot_words

__all__ = [
    "CloudWord",
    "FreshWord",
    "GroupHits",
    "HotWord",
    "TermGroup",
    "TimedText",
    "WordCounter",
    "cloud_svg",
    "cloud_words",
    "fresh_words",
    "group_hits",
    "hot_words",
    "read_groups",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "cloud": ("CloudWord", "cloud_words"),
        "cloud_picture": ("cloud_svg",),
        "counting": ("TimedText", "WordCounter"),
        "fresh": ("FreshWord", "fresh_words"),
        "groups": ("GroupHits", "TermGroup", "group_hits", "read_groups"),
        "hot": ("HotWord", "hot_words"),
    },
)
