"""The adaptive order's inner loops: the features of a link, its score, and one step of learning.

Evidence (ours): pages of a group (those a page links to, of one folder, in one region of pages)
had the values v_1 .. v_n. With the base rate b of all pages, the group's rate is
(v_1 + .. + v_n + k b) / (n + k), and its evidence is the log odds of that less those of b: 0
for a group nobody has seen, and more the more its pages differ from others.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.kernels.compiled import compiled
from qiaocrawl.language import N_

# --- The arrays the adaptive order's compiled loops work on, and the names of its features --------

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
MAX_WORDS = 24
"""Words kept of a URL: of its own path, and of the anchors that lead to it."""
MAX_LINKS_HERE = 12
"""Links to one URL that are looked at: navigation links come from every page."""


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


# Numbers in features[...] are places in arrays.FEATURES: numba compiles no look-up by name.
# k of the evidence of each kind of group: a wider group needs more pages to count.
_REGION_K, _SIBLING_K, _NEIGHBOUR_K, _SAMPLE_K = 3.0, 2.0, 1.0, 2.0
# --- The adaptive order's inner loops: the features of a link, its score, and one step of
# learning

_GROUP_K = (8.0, 6.0, 4.0, 3.0)
_NEIGHBOURS = 3
_MAX_NEW = 60
_LEAST_RATE, _MOST_RATE = 0.01, 0.5


@compiled
def base_rate(learnt: Any) -> float:
    """The mean value of fetched pages, in [.01, .5]."""
    # counts[-1] begins with 20 made-up pages (model.py), so this never divides by 0.
    rate: float = learnt.sums[-1] / learnt.counts[-1]
    return min(max(rate, _LEAST_RATE), _MOST_RATE)


@compiled
def evidence(total: float, count: float, base: float, k: float) -> float:
    """Log odds of a group's rate less those of *base*; see the module."""
    # Bounded away from 0 and 1, where the log odds are infinite.
    rate = min(max((total + k * base) / (count + k), 0.001), 0.999)
    return math.log(rate / (1.0 - rate)) - math.log(base / (1.0 - base))


@compiled
def logistic(value: float) -> float:
    """1 / (1 + exp(-value)), without overflow."""
    return 1.0 / (1.0 + math.exp(-min(max(value, -30.0), 30.0)))


@compiled
def _neighbours(nodes: Any, links: Any, link: int, base: float) -> float:
    """Evidence of the fetched pages linked beside *link*, the nearer the more it weighs."""
    page = links.source[link]
    first = nodes.link_start[page]
    end = first + nodes.link_count[page]
    total = weight = 0.0
    for distance in range(1, _NEIGHBOURS + 1):
        for other in (link - distance, link + distance):
            if first <= other < end and nodes.fetched[links.target[other]]:
                total += nodes.value[links.target[other]] / distance
                weight += 1.0 / distance
    return evidence(total, weight, base, _NEIGHBOUR_K) if weight > 0.0 else 0.0


@compiled
def _link_features(
    nodes: Any, links: Any, learnt: Any, node: int, base: float, features: Any
) -> None:
    """What the links that lead to *node* tell: the best and the mean of them."""
    count = beside = 0
    best_page = -1.0
    best_region = best_sibling = -99.0
    first_place = 1.0
    neighbours = 0.0
    # The links to a URL are a chain of indices: numba takes no list per node.
    link = nodes.first_link[node]
    while link >= 0 and count < MAX_LINKS_HERE:
        page = links.source[link]
        count += 1
        features[1] = max(features[1], links.similarity[link])
        features[2] = max(features[2], links.context[link])
        best_page = max(best_page, nodes.relevance[page])
        features[7] += nodes.relevance[page]
        first_place = min(first_place, links.position[link])
        region = links.region[link]
        weight = evidence(learnt.sums[region], learnt.counts[region], base, _REGION_K)
        features[12] += weight
        best_region = max(best_region, weight)
        weight = evidence(nodes.yield_sum[page], nodes.yield_count[page], base, _SIBLING_K)
        features[14] += weight
        best_sibling = max(best_sibling, weight)
        weight = _neighbours(nodes, links, link, base)
        if weight != 0.0:
            neighbours += weight
            beside += 1
        for number in range(links.numbers.shape[1]):
            features[31 + number] = max(features[31 + number], links.numbers[link, number])
        link = links.next_here[link]
    # A start page, or what waits without a known link: as good as the average page.
    if count == 0:
        features[6] = features[7] = base
        return
    features[6], features[7] = best_page, features[7] / count
    features[11] = 1.0 - first_place
    features[12], features[13] = features[12] / count, best_region
    features[14], features[15] = features[14] / count, best_sibling
    if beside > 0:
        features[16] = neighbours / beside


@compiled
def _own_features(nodes: Any, learnt: Any, node: int, base: float, features: Any) -> None:
    """What the URL itself, its words and the groups it belongs to tell."""
    features[0] = 1.0
    features[3] = nodes.similarity[node]
    words = nodes.number_of_words[node]
    total, best = 0.0, -9.0
    # Below any evidence, so that the first word of a URL sets it.
    for position in range(words):
        word = nodes.plain_words[node, position]
        weight = evidence(learnt.sample_sum[word], learnt.sample_count[word], base, _SAMPLE_K)
        total += weight
        best = max(best, weight)
    if words > 0:
        features[4], features[5] = total / math.sqrt(1.0 + words), best
    features[8] = math.log1p(nodes.links_here[node])
    features[9] = math.exp(-0.5 * nodes.distance[node])
    features[10] = 1.0 / (1.0 + nodes.depth[node])
    # Features 21 to 23 say how new host, folder and form are, 1 for never seen; the
    # section has none.
    for number in range(nodes.groups.shape[1]):
        group = nodes.groups[node, number]
        total, seen = learnt.sums[group], learnt.counts[group]
        features[17 + number] = evidence(total, seen, base, _GROUP_K[number])
        if number == 0:
            features[21] = 1.0 / math.sqrt(1.0 + seen)
        elif number >= 2:
            features[20 + number] = 1.0 / math.sqrt(1.0 + seen)
    for number in range(nodes.numbers.shape[1]):
        features[24 + number] = nodes.numbers[node, number]


@compiled
def node_features(nodes: Any, links: Any, learnt: Any, node: int, features: Any) -> None:
    """Fill *features* (NUMBER_OF_FEATURES) with those of *node*, in the order of FEATURES."""
    features[:] = 0.0
    base = base_rate(learnt)
    _link_features(nodes, links, learnt, node, base, features)
    _own_features(nodes, learnt, node, base, features)


@compiled
def _words_logit(nodes: Any, learnt: Any, node: int) -> float:
    total = 0.0
    words = nodes.number_of_words[node]
    for position in range(words):
        total += learnt.word_weights[nodes.words[node, position]]
    # By the root of their number: more words say more, but not in proportion.
    return total / math.sqrt(1.0 + words)


@compiled
def score_nodes(nodes: Any, links: Any, learnt: Any, wanted: Any, scores: Any) -> None:
    """Fill *scores* with the chance, in [0, 1], that each of *wanted* is worth its fetch."""
    features = np.empty(NUMBER_OF_FEATURES)
    for place in range(len(wanted)):
        node = wanted[place]
        node_features(nodes, links, learnt, node, features)
        logit = _words_logit(nodes, learnt, node)
        for feature in range(NUMBER_OF_FEATURES):
            logit += learnt.weights[feature] * features[feature]
        scores[place] = logistic(logit)
        nodes.score[node] = scores[place]


@compiled
def value_of(nodes: Any, links: Any, node: int) -> float:
    """What the fetch of *node* was worth, in [0, 1], its relevance and what it led to (ours).

    The best mean over the page and the m best URLs first found on it, for any m: what one would
    get a fetch by going there and on. A URL that waits counts with its score, so that credit
    flows back over any number of links; a list of ten pages with a rate of .3 is worth .27.
    """
    own: float = nodes.relevance[node]
    count = min(nodes.new_count[node], _MAX_NEW)
    # No new links: an article, or a page that repeats what others linked to.
    if count == 0:
        return own
    start = nodes.new_start[node]
    values = np.empty(count)
    for place in range(count):
        other = links.discovered[start + place]
        values[place] = nodes.relevance[other] if nodes.fetched[other] else nodes.score[other]
    # Ascending, hence the places from the end below.
    values.sort()
    best, total = own, own
    for place in range(count):
        total += values[count - 1 - place]
        best = max(best, total / (2.0 + place))
    return best


@compiled
def add_yield(nodes: Any, links: Any, learnt: Any, node: int, value: float, count: float) -> None:
    """Add *value*, of *count* pages, to every group *node* belongs to."""
    for number in range(nodes.groups.shape[1]):
        group = nodes.groups[node, number]
        learnt.sums[group] += value
        learnt.counts[group] += count
    learnt.sums[-1] += value
    learnt.counts[-1] += count
    link = nodes.first_link[node]
    # A menu is one region on all pages of a site: its links to a node follow each other in the
    # chain, and count once.
    last_region = -1
    while link >= 0:
        page = links.source[link]
        nodes.yield_sum[page] += value
        nodes.yield_count[page] += count
        region = links.region[link]
        if region != last_region:
            learnt.sums[region] += value
            learnt.counts[region] += count
            last_region = region
        link = links.next_here[link]


@compiled
def step(nodes: Any, learnt: Any, node: int, features: Any, value: float, rates: Any) -> None:
    """One step of logistic regression towards *value* (AdaGrad, Duchi et al. 2011).

    *rates*: of the features, of the words.
    """
    logit = _words_logit(nodes, learnt, node)
    for feature in range(NUMBER_OF_FEATURES):
        logit += learnt.weights[feature] * features[feature]
    error = logistic(logit) - value
    for feature in range(NUMBER_OF_FEATURES):
        gradient = error * features[feature]
        learnt.squares[feature] += gradient * gradient
        learnt.weights[feature] -= rates[0] * gradient / math.sqrt(learnt.squares[feature])
    words = nodes.number_of_words[node]
    gradient = error / math.sqrt(1.0 + words)
    # The same factor as in the score: the gradient of words / sqrt(1 + n).
    for position in range(words):
        word = nodes.words[node, position]
        learnt.word_squares[word] += gradient * gradient
        change = rates[1] * gradient / math.sqrt(learnt.word_squares[word])
        learnt.word_weights[word] -= change


@compiled
def relearn(
    nodes: Any, links: Any, learnt: Any, pages: Any, features: Any, picks: Any, rates: Any
) -> None:
    """Learn from *picks* of the fetched *pages* and their *features* once more.

    What a page was worth changes when what it led to is fetched: the delayed credit.
    """
    for pick in picks:
        node = pages[pick]
        value = value_of(nodes, links, node)
        # Count 0: the page is in the sums already, only its value has changed.
        add_yield(nodes, links, learnt, node, value - nodes.value[node], 0.0)
        nodes.value[node] = value
        step(nodes, learnt, node, features[pick], value, rates)
