"""Wordnets of any language in one concept space, and the similarity of words in it.

Installed once (:mod:`sources`, :mod:`stored`), joined when opened (:mod:`concepts`), asked by
word (:mod:`similarity`) or by topic (:mod:`topic_words`).
"""
