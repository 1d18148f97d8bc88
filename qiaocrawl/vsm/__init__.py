"""Vector space model: document frequencies, TF-IDF weights, sparse vectors and their cosine."""

from __future__ import annotations

from qiaocrawl.vsm.vectors import Counts, IdfSnapshot, SparseVector, TfIdf, Vocabulary, cosine

__all__ = ["Counts", "IdfSnapshot", "SparseVector", "TfIdf", "Vocabulary", "cosine"]
