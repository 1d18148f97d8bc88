"""Text: charset, normal forms, segmentation and dates. Pure functions over strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.text.charset import Decoded, decode_page
    from qiaocrawl.text.dates import find_date
    from qiaocrawl.text.normalise import clean_text, collapse, fold, to_simplified
    from qiaocrawl.text.segment import Segmenter

__all__ = [
    "Decoded",
    "Segmenter",
    "clean_text",
    "collapse",
    "decode_page",
    "find_date",
    "fold",
    "to_simplified",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "charset": ("Decoded", "decode_page"),
        "dates": ("find_date",),
        "normalise": ("clean_text", "collapse", "fold", "to_simplified"),
        "segment": ("Segmenter",),
    },
)
