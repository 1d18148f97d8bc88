"""What the database has in English words, in the words of who reads: notes, names of methods."""

from __future__ import annotations

from qiaocrawl.language import N_, _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.storage.topics.judgements import OPERATOR

_NOTES = {
    "title": N_("title"), "body": N_("body"), "title and body": N_("title and body"),
    "soft 404": N_("an error page that does not say so"),
    "redirects to a first page": N_("leads to a first page now"),
}  # fmt: skip
_METHODS = {
    OPERATOR: N_("by an operator"),
    "best_words": N_("by the best words of its samples"),
    "blend": N_("by its terms and samples together"),
    "bm25": N_("by BM25"),
    "boolean": N_("by a Boolean expression"),
    "full_text": N_("by how often its terms occur"),
    "important_tags": N_("by title, headings and meta data"),
    "important_tags_share": N_("by its share in title, headings and meta data"),
    "inference_network": N_("by an inference network"),
    "nearest_word": N_("by the nearest word"),
    "ontology": N_("by the ontology"),
    "p_norm": N_("by extended Boolean logic"),
    "svm": N_("by a support vector machine"),
    "tfidf": N_("by TF-IDF"),
    "vsm": N_("by the vector space model"),
    "vsm_breadth": N_("by the vector space model with breadth"),
}


def shown_note(note: str) -> str:
    """The note of a revision."""
    return _(_NOTES[note]) if note in _NOTES else shown_reason(note)


def shown_method(method: str) -> str:
    """What judged an article; one of a plug-in shows its name."""
    return _(_METHODS.get(method, method))
