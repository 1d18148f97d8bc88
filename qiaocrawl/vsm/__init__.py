"""Vector space model: document frequencies, TF-IDF weights, sparse vectors and their cosine."""

from __future__ import annotations

from qiaocrawl.vsm.snapshot import IdfSnapshot
from qiaocrawl.vsm.tfidf import TfIdf
from qiaocrawl.vsm.vector import SparseVector, cosine
from qiaocrawl.vsm.vocabulary import Counts, Vocabulary

__all__ = ["Counts", "IdfSnapshot", "SparseVector", "TfIdf", "Vocabulary", "cosine"]
