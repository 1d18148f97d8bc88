"""The adaptive order's inner loops: the signs of a link, its score, and one step of learning.

Evidence (ours): pages of a group (those a page links to, of one folder, in one region of pages)
had the values v_1 .. v_n. With the base rate b of all pages, the group's rate is
(v_1 + .. + v_n + k b) / (n + k), and its evidence is the log odds of that less those of b: 0
for a group nobody has seen, and more the more its pages differ from others.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from qiaocrawl.frontier.strategies.adaptive.arrays import MAX_LINKS_HERE, NUMBER_OF_SIGNS
from qiaocrawl.vsm.compiled import compiled

# k of the evidence of each kind of group: the wider a group, the more pages it takes.
_REGION_K, _SIBLING_K, _NEIGHBOUR_K, _SAMPLE_K = 3.0, 2.0, 1.0, 2.0
_GROUP_K = (8.0, 6.0, 4.0, 3.0)
_NEIGHBOURS = 3
_MAX_NEW = 60
_LEAST_RATE, _MOST_RATE = 0.01, 0.5


@compiled
def base_rate(learnt: Any) -> float:
    """The mean value of fetched pages, in [.01, .5]."""
    rate: float = learnt.sums[-1] / learnt.counts[-1]
    return min(max(rate, _LEAST_RATE), _MOST_RATE)


@compiled
def evidence(total: float, count: float, base: float, k: float) -> float:
    """Log odds of a group's rate less those of *base*; see the module."""
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
def _link_signs(nodes: Any, links: Any, learnt: Any, node: int, base: float, signs: Any) -> None:
    """What the links that lead to *node* tell: the best and the mean of them."""
    count = beside = 0
    best_page = -1.0
    best_region = best_sibling = -99.0
    first_place = 1.0
    neighbours = 0.0
    link = nodes.first_link[node]
    while link >= 0 and count < MAX_LINKS_HERE:
        page = links.source[link]
        count += 1
        signs[1] = max(signs[1], links.similarity[link])
        signs[2] = max(signs[2], links.context[link])
        best_page = max(best_page, nodes.relevance[page])
        signs[7] += nodes.relevance[page]
        first_place = min(first_place, links.position[link])
        region = links.region[link]
        found = evidence(learnt.sums[region], learnt.counts[region], base, _REGION_K)
        signs[12] += found
        best_region = max(best_region, found)
        found = evidence(nodes.yield_sum[page], nodes.yield_count[page], base, _SIBLING_K)
        signs[14] += found
        best_sibling = max(best_sibling, found)
        found = _neighbours(nodes, links, link, base)
        if found != 0.0:
            neighbours += found
            beside += 1
        for number in range(links.numbers.shape[1]):
            signs[31 + number] = max(signs[31 + number], links.numbers[link, number])
        link = links.next_here[link]
    if count == 0:
        signs[6] = signs[7] = base
        return
    signs[6], signs[7] = best_page, signs[7] / count
    signs[11] = 1.0 - first_place
    signs[12], signs[13] = signs[12] / count, best_region
    signs[14], signs[15] = signs[14] / count, best_sibling
    if beside > 0:
        signs[16] = neighbours / beside


@compiled
def _own_signs(nodes: Any, learnt: Any, node: int, base: float, signs: Any) -> None:
    """What the URL itself, its words and the groups it belongs to tell."""
    signs[0] = 1.0
    signs[3] = nodes.similarity[node]
    words = nodes.number_of_words[node]
    total, best = 0.0, -9.0
    for position in range(words):
        word = nodes.plain_words[node, position]
        found = evidence(learnt.sample_sum[word], learnt.sample_count[word], base, _SAMPLE_K)
        total += found
        best = max(best, found)
    if words > 0:
        signs[4], signs[5] = total / math.sqrt(1.0 + words), best
    signs[8] = math.log1p(nodes.links_here[node])
    signs[9] = math.exp(-0.5 * nodes.distance[node])
    signs[10] = 1.0 / (1.0 + nodes.depth[node])
    for number in range(nodes.groups.shape[1]):
        group = nodes.groups[node, number]
        total, seen = learnt.sums[group], learnt.counts[group]
        signs[17 + number] = evidence(total, seen, base, _GROUP_K[number])
        if number == 0:
            signs[21] = 1.0 / math.sqrt(1.0 + seen)
        elif number >= 2:
            signs[20 + number] = 1.0 / math.sqrt(1.0 + seen)
    for number in range(nodes.numbers.shape[1]):
        signs[24 + number] = nodes.numbers[node, number]


@compiled
def signs_of(nodes: Any, links: Any, learnt: Any, node: int, signs: Any) -> None:
    """Fill *signs* (NUMBER_OF_SIGNS) with those of *node*, in the order of SIGNS."""
    signs[:] = 0.0
    base = base_rate(learnt)
    _link_signs(nodes, links, learnt, node, base, signs)
    _own_signs(nodes, learnt, node, base, signs)


@compiled
def _words_logit(nodes: Any, learnt: Any, node: int) -> float:
    total = 0.0
    words = nodes.number_of_words[node]
    for position in range(words):
        total += learnt.word_weights[nodes.words[node, position]]
    return total / math.sqrt(1.0 + words)


@compiled
def score_nodes(nodes: Any, links: Any, learnt: Any, wanted: Any, scores: Any) -> None:
    """Fill *scores* with the chance, in [0, 1], that each of *wanted* is worth its fetch."""
    signs = np.empty(NUMBER_OF_SIGNS)
    for place in range(len(wanted)):
        node = wanted[place]
        signs_of(nodes, links, learnt, node, signs)
        logit = _words_logit(nodes, learnt, node)
        for sign in range(NUMBER_OF_SIGNS):
            logit += learnt.weights[sign] * signs[sign]
        scores[place] = logistic(logit)
        nodes.score[node] = scores[place]


@compiled
def value_of(nodes: Any, links: Any, node: int) -> float:
    """What the fetch of *node* was worth, in [0, 1], its relevance and what it led to (ours).

    The best mean over the page and the m best URLs first found on it, for any m: what one would
    get a fetch by going there and on. A URL that waits counts with its score, so that credit
    flows back over any number of links; a list of ten pages with a rate of .3 is worth .27.
    The page itself counts as two fetches, since scores of what waits are too hopeful.
    """
    own: float = nodes.relevance[node]
    count = min(nodes.new_count[node], _MAX_NEW)
    if count == 0:
        return own
    start = nodes.new_start[node]
    found = np.empty(count)
    for place in range(count):
        other = links.discovered[start + place]
        found[place] = nodes.relevance[other] if nodes.fetched[other] else nodes.score[other]
    found.sort()
    best, total = own, own
    for place in range(count):
        total += found[count - 1 - place]
        best = max(best, total / (2.0 + place))
    return best


@compiled
def credit(nodes: Any, links: Any, learnt: Any, node: int, value: float, count: float) -> None:
    """Add *value*, of *count* pages, to every group *node* belongs to."""
    for number in range(nodes.groups.shape[1]):
        group = nodes.groups[node, number]
        learnt.sums[group] += value
        learnt.counts[group] += count
    learnt.sums[-1] += value
    learnt.counts[-1] += count
    link = nodes.first_link[node]
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
def step(nodes: Any, learnt: Any, node: int, signs: Any, value: float, rates: Any) -> None:
    """One step of logistic regression towards *value* (AdaGrad, Duchi et al. 2011).

    *rates*: of the signs, of the words.
    """
    logit = _words_logit(nodes, learnt, node)
    for sign in range(NUMBER_OF_SIGNS):
        logit += learnt.weights[sign] * signs[sign]
    error = logistic(logit) - value
    for sign in range(NUMBER_OF_SIGNS):
        gradient = error * signs[sign]
        learnt.squares[sign] += gradient * gradient
        learnt.weights[sign] -= rates[0] * gradient / math.sqrt(learnt.squares[sign])
    words = nodes.number_of_words[node]
    gradient = error / math.sqrt(1.0 + words)
    for position in range(words):
        word = nodes.words[node, position]
        learnt.word_squares[word] += gradient * gradient
        change = rates[1] * gradient / math.sqrt(learnt.word_squares[word])
        learnt.word_weights[word] -= change


@compiled
def learn_again(
    nodes: Any, links: Any, learnt: Any, pages: Any, signs: Any, picks: Any, rates: Any
) -> None:
    """Learn from *picks* of the fetched *pages* and their *signs* once more.

    What a page was worth changes when what it led to is fetched: the delayed credit.
    """
    for pick in picks:
        node = pages[pick]
        value = value_of(nodes, links, node)
        credit(nodes, links, learnt, node, value - nodes.value[node], 0.0)
        nodes.value[node] = value
        step(nodes, learnt, node, signs[pick], value, rates)
