"""The adaptive order's inner loops: the features of a link, its score, and one step of learning.

Evidence (ours): pages of a group (those a page links to, of one folder, in one region of pages)
had the values v_1 .. v_n. With the base rate b of all pages, the group's rate is
(v_1 + .. + v_n + k b) / (n + k), and its evidence is the log odds of that less those of b: 0
for a group nobody has seen, and more the more its pages differ from others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from qiaocrawl.frontier.strategies.adaptive.arrays import (
    GROUPS,
    LINK_NUMBERS,
    MAX_LINKS_HERE,
    MAX_NEW,
    URL_NUMBERS,
)
from qiaocrawl.kernels import floats, ints

if TYPE_CHECKING:
    from qiaocrawl.frontier.strategies.adaptive.arrays import Links, ModelArrays, Nodes
    from qiaocrawl.kernels import Floats, Ints

# --- The arrays as the loops see them -------------------------------------------------------------


class NodeViews:
    """:class:`~qiaocrawl.frontier.strategies.adaptive.arrays.Nodes`."""

    def __init__(self, nodes: Nodes) -> None:
        self.first_link = ints(nodes.first_link)
        self.links_here = floats(nodes.links_here)
        self.depth = floats(nodes.depth)
        self.distance = floats(nodes.distance)
        self.similarity = floats(nodes.similarity)
        self.groups = ints(nodes.groups)
        self.numbers = floats(nodes.numbers)
        self.words = ints(nodes.words)
        self.plain_words = ints(nodes.plain_words)
        self.number_of_words = ints(nodes.number_of_words)
        self.fetched = ints(nodes.fetched)
        self.relevance = floats(nodes.relevance)
        self.value = floats(nodes.value)
        self.score = floats(nodes.score)
        self.yield_sum = floats(nodes.yield_sum)
        self.yield_count = floats(nodes.yield_count)
        self.link_start = ints(nodes.link_start)
        self.link_count = ints(nodes.link_count)
        self.new_start = ints(nodes.new_start)
        self.new_count = ints(nodes.new_count)


class LinkViews:
    """:class:`~qiaocrawl.frontier.strategies.adaptive.arrays.Links`."""

    def __init__(self, links: Links) -> None:
        self.source = ints(links.source)
        self.target = ints(links.target)
        self.next_here = ints(links.next_here)
        self.region = ints(links.region)
        self.similarity = floats(links.similarity)
        self.context = floats(links.context)
        self.position = floats(links.position)
        self.numbers = floats(links.numbers)
        self.discovered = ints(links.discovered)


class ModelViews:
    """:class:`~qiaocrawl.frontier.strategies.adaptive.arrays.ModelArrays`."""

    def __init__(self, learnt: ModelArrays) -> None:
        self.weights = floats(learnt.weights)
        self.squares = floats(learnt.squares)
        self.word_weights = floats(learnt.word_weights)
        self.word_squares = floats(learnt.word_squares)
        self.sums = floats(learnt.sums)
        self.counts = floats(learnt.counts)
        self.sample_sum = floats(learnt.sample_sum)
        self.sample_count = floats(learnt.sample_count)


# --- The features of a link -----------------------------------------------------------------------
# Numbers in features[...] are places in arrays.FEATURES: a loop looks up no names.

# k of the evidence of each kind of group: a wider group needs more pages to count.
_REGION_K, _SIBLING_K, _NEIGHBOUR_K, _SAMPLE_K = 3.0, 2.0, 1.0, 2.0
_GROUP_K = (8.0, 6.0, 4.0, 3.0)
_NEIGHBOURS = 3
_LEAST_RATE, _MOST_RATE = 0.01, 0.5


def base_rate(learnt: ModelViews) -> float:
    """The mean value of fetched pages, in [.01, .5]."""
    # The counts begin with 20 made-up pages (link_memory.py), so this never divides by 0.
    every = len(learnt.sums) - 1
    return min(max(learnt.sums[every] / learnt.counts[every], _LEAST_RATE), _MOST_RATE)


def evidence(total: float, count: float, base: float, k: float) -> float:
    """Log odds of a group's rate less those of *base*; see the module."""
    # Bounded away from 0 and 1, where the log odds are infinite.
    rate = min(max((total + k * base) / (count + k), 0.001), 0.999)
    return math.log(rate / (1.0 - rate)) - math.log(base / (1.0 - base))


def logistic(value: float) -> float:
    """1 / (1 + exp(-value)), without overflow."""
    return 1.0 / (1.0 + math.exp(-min(max(value, -30.0), 30.0)))


def _neighbours(nodes: NodeViews, links: LinkViews, link: int, base: float) -> float:
    """Evidence of the fetched pages linked beside *link*, the nearer the more it weighs."""
    page = links.source[link]
    first = nodes.link_start[page]
    end = first + nodes.link_count[page]
    total = weight = 0.0
    for distance in range(1, _NEIGHBOURS + 1):
        for side in range(-1, 2, 2):
            other = link + side * distance
            if first <= other < end and nodes.fetched[links.target[other]]:
                total += nodes.value[links.target[other]] / distance
                weight += 1.0 / distance
    return evidence(total, weight, base, _NEIGHBOUR_K) if weight > 0.0 else 0.0


def _link_features(
    nodes: NodeViews,
    links: LinkViews,
    learnt: ModelViews,
    node: int,
    base: float,
    features: Floats,
) -> None:
    """What the links that lead to *node* tell: the best and the mean of them."""
    count = beside = 0
    best_page = -1.0
    best_region = best_sibling = -99.0
    first_place = 1.0
    neighbours = 0.0
    # The links to a URL are a chain of indices: there is no list per node.
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
        for number in range(LINK_NUMBERS):
            told = links.numbers[link, number]
            features[31 + number] = max(features[31 + number], told)
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


def _own_features(
    nodes: NodeViews, learnt: ModelViews, node: int, base: float, features: Floats
) -> None:
    """What the URL itself, its words and the groups it belongs to tell."""
    features[0] = 1.0
    features[3] = nodes.similarity[node]
    words = nodes.number_of_words[node]
    # Below any evidence, so that the first word of a URL sets it.
    total, best = 0.0, -9.0
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
    for number in range(GROUPS):
        group = nodes.groups[node, number]
        total, seen = learnt.sums[group], learnt.counts[group]
        features[17 + number] = evidence(total, seen, base, _GROUP_K[number])
        if number == 0:
            features[21] = 1.0 / math.sqrt(1.0 + seen)
        elif number >= 2:
            features[20 + number] = 1.0 / math.sqrt(1.0 + seen)
    for number in range(URL_NUMBERS):
        features[24 + number] = nodes.numbers[node, number]


def node_features(
    nodes: NodeViews, links: LinkViews, learnt: ModelViews, node: int, features: Floats
) -> None:
    """Fill *features* with those of *node*, in the order of FEATURES; there may be more room."""
    for feature in range(len(learnt.weights)):
        features[feature] = 0.0
    base = base_rate(learnt)
    _link_features(nodes, links, learnt, node, base, features)
    _own_features(nodes, learnt, node, base, features)


# --- The score of a link, and what its fetch was worth --------------------------------------------


def _logit(nodes: NodeViews, learnt: ModelViews, node: int, features: Floats) -> float:
    total = 0.0
    words = nodes.number_of_words[node]
    for position in range(words):
        total += learnt.word_weights[nodes.words[node, position]]
    # By the root of their number: more words say more, but not in proportion.
    logit = total / math.sqrt(1.0 + words)
    for feature in range(len(learnt.weights)):
        logit += learnt.weights[feature] * features[feature]
    return logit


def score_nodes(
    nodes: NodeViews,
    links: LinkViews,
    learnt: ModelViews,
    wanted: Ints,
    scores: Floats,
    room: Floats,
) -> None:
    """Fill *scores* with the chance, in [0, 1], that each of *wanted* is worth its fetch.

    *room*: for the features of a node.
    """
    for place in range(len(wanted)):
        node = wanted[place]
        node_features(nodes, links, learnt, node, room)
        scores[place] = logistic(_logit(nodes, learnt, node, room))
        nodes.score[node] = scores[place]


def value_of(nodes: NodeViews, links: LinkViews, node: int, room: Floats) -> float:
    """What the fetch of *node* was worth, in [0, 1], its relevance and what it led to (ours).

    The best mean over the page and the m best URLs first found on it, for any m: what one would
    get a fetch by going there and on. A URL that waits counts with its score, so that credit
    flows back over any number of links; a list of ten pages with a rate of .3 is worth .27.

    *room*: for MAX_NEW numbers.
    """
    best = total = nodes.relevance[node]
    # No new links: an article, or a page that repeats what others linked to.
    count = min(nodes.new_count[node], MAX_NEW)
    start = nodes.new_start[node]
    for place in range(count):
        other = links.discovered[start + place]
        value = nodes.relevance[other] if nodes.fetched[other] else nodes.score[other]
        # Sorted in, the largest first.
        at = place
        while at > 0 and room[at - 1] < value:
            room[at] = room[at - 1]
            at -= 1
        room[at] = value
    for place in range(count):
        total += room[place]
        best = max(best, total / (2.0 + place))
    return best


# --- Learning -------------------------------------------------------------------------------------


def add_yield(
    nodes: NodeViews, links: LinkViews, learnt: ModelViews, node: int, value: float, count: float
) -> None:
    """Add *value*, of *count* pages, to every group *node* belongs to."""
    every = len(learnt.sums) - 1
    for number in range(GROUPS):
        group = nodes.groups[node, number]
        learnt.sums[group] += value
        learnt.counts[group] += count
    learnt.sums[every] += value
    learnt.counts[every] += count
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


def step(
    nodes: NodeViews,
    learnt: ModelViews,
    node: int,
    features: Floats,
    value: float,
    rate: float,
    word_rate: float,
) -> None:
    """One step of logistic regression towards *value* (AdaGrad, Duchi et al. 2011)."""
    error = logistic(_logit(nodes, learnt, node, features)) - value
    for feature in range(len(learnt.weights)):
        gradient = error * features[feature]
        learnt.squares[feature] += gradient * gradient
        learnt.weights[feature] -= rate * gradient / math.sqrt(learnt.squares[feature])
    words = nodes.number_of_words[node]
    # The same factor as in the score: the gradient of words / sqrt(1 + n).
    gradient = error / math.sqrt(1.0 + words)
    for position in range(words):
        word = nodes.words[node, position]
        learnt.word_squares[word] += gradient * gradient
        change = word_rate * gradient / math.sqrt(learnt.word_squares[word])
        learnt.word_weights[word] -= change


def relearn(
    nodes: NodeViews,
    links: LinkViews,
    learnt: ModelViews,
    pages: Ints,
    features: Floats,
    picks: Ints,
    rate: float,
    word_rate: float,
    room: Floats,
) -> None:
    """Learn from *picks* of the fetched *pages* and their *features* once more.

    What a page was worth changes when what it led to is fetched: the delayed credit.

    *room*: for the features of a node, and for MAX_NEW numbers.
    """
    for place in range(len(picks)):
        pick = picks[place]
        node = pages[pick]
        value = value_of(nodes, links, node, room)
        # Count 0: the page is in the sums already, only its value has changed.
        add_yield(nodes, links, learnt, node, value - nodes.value[node], 0.0)
        nodes.value[node] = value
        for feature in range(len(learnt.weights)):
            room[feature] = features[pick, feature]
        step(nodes, learnt, node, room, value, rate, word_rate)
