"""Wordnets of any language in one concept space, and the similarity of words in it.

Installed once (:mod:`sources`, :mod:`stored`), joined when opened (:mod:`concepts`), asked by
word (:mod:`similarity`) or by topic (:mod:`topic_words`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.ontology.concepts import Ontology
    from qiaocrawl.ontology.folder import current_ontology, use_folder
    from qiaocrawl.ontology.similarity import WordSimilarity
    from qiaocrawl.ontology.topic_words import TopicWords

__all__ = ["Ontology", "TopicWords", "WordSimilarity", "current_ontology", "use_folder"]

__getattr__ = lazy_exports(
    __name__,
    {
        "concepts": ("Ontology",),
        "folder": ("current_ontology", "use_folder"),
        "similarity": ("WordSimilarity",),
        "topic_words": ("TopicWords",),
    },
)
