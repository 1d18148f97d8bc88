"""The arrays the adaptive order works on, and the names and prior weights of its features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.language import N_

FEATURES: tuple[tuple[str, float], ...] = (
    (N_("always"), -1.5),
    # What is said of it.
    (N_("anchor like topic"), 4.0), (N_("context like topic"), 1.0), (N_("URL like topic"), 2.0),
    (N_("words of the samples"), 0.4), (N_("best word of the samples"), 0.2),
    # Who says it.
    (N_("best page leading here"), 0.5), (N_("pages leading here"), 0.5),
    (N_("number of links here"), 0.1), (N_("near a relevant page"), 1.0), (N_("not deep"), 0.3),
    (N_("early on its page"), 0.2),
    # What else such links led to.
    (N_("page region"), 0.5), (N_("best region"), 0.1), (N_("siblings"), 0.5),
    (N_("best siblings"), 0.1), (N_("neighbours on the page"), 0.5), (N_("host"), 0.2),
    (N_("section"), 0.2), (N_("path folder"), 0.3), (N_("form of URL"), 0.5), (N_("new host"), 0.0),
    (N_("new folder"), 0.0), (N_("new form of URL"), 0.0),
    # What it looks like.
    (N_("short path"), 1.0), (N_("home page"), 2.0), (N_("URL of a folder"), 0.3),
    (N_("query"), 0.0), (N_("digits"), 0.0), (N_("URL of a file"), 0.0), (N_("long path"), -1.5),
    (N_("words in anchor"), 0.0), (N_("no anchor"), 0.0), (N_("pager"), 0.0),
    (N_("other host"), 0.0), (N_("up to a folder above"), 0.0), (N_("links on the page"), 0.0),
)  # fmt: skip
"""Name and prior weight (ours) of every feature of a link but its words."""

NUMBER_OF_FEATURES = len(FEATURES)
LINK_NUMBERS = 6
URL_NUMBERS = 7
GROUPS = 4
MAX_WORDS = 24
"""Words kept of a URL: of its own path, and of the anchors that lead to it."""
MAX_LINKS_HERE = 12
"""Links to one URL that are looked at: navigation links come from every page."""
MAX_NEW = 60
"""URLs first found on a page that count for its value."""


class Nodes(NamedTuple):
    """One entry a URL. Groups, numbers and words as in
    :mod:`~qiaocrawl.frontier.strategies.adaptive.link_features`.
    """

    first_link: NDArray[np.int32]
    """Of the links that lead here, in order of discovery; -1 for none."""
    links_here: NDArray[np.float64]
    depth: NDArray[np.float64]
    distance: NDArray[np.float64]
    """Links from the nearest relevant page."""
    similarity: NDArray[np.float64]
    """Of the URL's words to the topic."""
    groups: NDArray[np.int32]
    numbers: NDArray[np.float32]
    words: NDArray[np.int32]
    """Places in the table of weights."""
    plain_words: NDArray[np.int32]
    """The same words in the table of the samples."""
    number_of_words: NDArray[np.int32]
    fetched: NDArray[np.bool_]
    relevance: NDArray[np.float64]
    """Of a fetched page."""
    value: NDArray[np.float64]
    """Of a fetched page, with what it led to."""
    score: NDArray[np.float64]
    """The last score, while it waits."""
    yield_sum: NDArray[np.float64]
    yield_count: NDArray[np.float64]
    """Values and number of the fetched pages this page links to."""
    link_start: NDArray[np.int32]
    link_count: NDArray[np.int32]
    """Its own links."""
    new_start: NDArray[np.int32]
    new_count: NDArray[np.int32]
    """The URLs first found on it, in ``discovered``."""


class Links(NamedTuple):
    """One entry a link, those of a page together and in document order."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    next_here: NDArray[np.int32]
    """The next link that leads to the same URL; -1 for none."""
    region: NDArray[np.int32]
    similarity: NDArray[np.float64]
    """Of anchor and title to the topic."""
    context: NDArray[np.float64]
    """Of the text around it to the topic."""
    position: NDArray[np.float64]
    """Place on its page, 0 first, 1 last."""
    numbers: NDArray[np.float32]
    discovered: NDArray[np.int32]
    """URLs in the order in which links to them were first seen."""


class ModelArrays(NamedTuple):
    """The arrays of the model; they carry over to other crawls."""

    weights: NDArray[np.float64]
    """Of the features."""
    squares: NDArray[np.float64]
    """Sums of squared gradients of the weights (AdaGrad)."""
    word_weights: NDArray[np.float64]
    word_squares: NDArray[np.float64]
    sums: NDArray[np.float64]
    """Values of fetched pages by group, and over all in the last entry."""
    counts: NDArray[np.float64]
    sample_sum: NDArray[np.float64]
    """Relevant samples with a word."""
    sample_count: NDArray[np.float64]
