"""Which of a topic's classes an article belongs to, learnt from its terms and from people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.analysis.classes.model import (
        ArticleClass,
        ClassModel,
        MarkedArticle,
        learn_classes,
    )
    from qiaocrawl.analysis.classes.naming import UNSURE, class_label, class_named, class_names

__all__ = [
    "UNSURE",
    "ArticleClass",
    "ClassModel",
    "MarkedArticle",
    "class_label",
    "class_named",
    "class_names",
    "learn_classes",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "model": ("ArticleClass", "ClassModel", "MarkedArticle", "learn_classes"),
        "naming": ("UNSURE", "class_label", "class_named", "class_names"),
    },
)
