"""A topic pack from nothing: terms, threshold, samples and sites out of a few texts or words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from qiaocrawl.items import PageText
from qiaocrawl.lexicon.build import DraftedTerm, draft_terms
from qiaocrawl.lexicon.terms import Document
from qiaocrawl.relevance.blend import BlendScorer, Floats, VsmBreadthScorer
from qiaocrawl.topic.check import MAX_SAMPLE_CHARACTERS, MAX_TITLE_CHARACTERS
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, Sample, Site, TopicPack
from qiaocrawl.urls import canonical_url, host_of

ENOUGH_OTHERS = 100
"""Counter-examples up to which others are added to an operator's own."""
_STRIDE = 7
# Of the pages of a crawl, where none are stored; samples tell nothing of it, since they are chosen.
_ON_TOPIC_SHARE = 0.2
# With fewer stored pages their share on topic is a guess.
_LEAST_STORED = 30
# Of a share: what fewer samples than these reach says nothing of it.
_LEAST_REACHED = 0.25
# With so many samples the measured threshold and the one by breadth count alike.
_HALF_MEASURED = 10
_MOST_MOVED = 4.0
_LEAST_MEASURED = 8
_MOST_SITES = 20
_SITE_NOTE = "自动提议，请核对"
# Whose hosts say what they are.
_KINDS_OF_HOSTS = (
    (".gov.cn", "government", 2),
    (".edu.cn", "education", 3),
    (".org.cn", "association", 3),
)


@dataclass(frozen=True, slots=True)
class DraftSources:
    """What a topic is drafted from.

    Args:
        name, title: of the topic.
        texts: on the topic; those with a URL propose its host.
        others: counter-examples.
        words: that the operator named.
        hosts: pages on the topic by host, from what was searched and stored.
        threshold: by the topic's breadth; what the samples say moves it.
        most_terms: terms taken.
        stored: pages of which nobody said what they are; of the counter-examples, too.
    """

    name: str
    title: str
    texts: Sequence[Document]
    others: Sequence[Document] = ()
    words: Sequence[str] = ()
    hosts: Mapping[str, int] | None = None
    threshold: float = DEFAULT_THRESHOLD
    most_terms: int = 60
    stored: Sequence[Document] = ()


@dataclass(frozen=True, slots=True)
class TopicDraft:
    """A drafted pack with what speaks for it.

    Args:
        terms: in the order of the pack's.
        host_pages: pages on the topic of each proposed site.
    """

    pack: TopicPack
    terms: tuple[DraftedTerm, ...]
    host_pages: Mapping[str, int]


def draft_topic(sources: DraftSources) -> TopicDraft:
    """The pack of *sources*: valid as soon as there is a term or a site."""
    terms = draft_terms(sources.texts, sources.others, sources.words, sources.most_terms)
    hosts = Counter(sources.hosts or {})
    hosts.update(host for one in sources.texts if (host := host_of(canonical_url(one.url) or "")))
    best = dict(sorted(hosts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_SITES])
    pack = _pack(sources, terms)
    sites = tuple(_site(host, pages) for host, pages in best.items())
    pack = replace(pack, sites=sites, threshold=draft_threshold(pack, sources))
    return TopicDraft(pack, tuple(terms), best)


def _pack(sources: DraftSources, terms: Sequence[DraftedTerm]) -> TopicPack:
    """The pack with the usual threshold, without sites."""
    return TopicPack(
        name=sources.name,
        title=sources.title[:MAX_TITLE_CHARACTERS],
        description="",
        threshold=DEFAULT_THRESHOLD,
        terms=tuple(one.term for one in terms),
        sites=(),
        samples=(
            # In the order of their names, which a folder gives them.
            *_samples(sources.others, relevant=False),
            *_samples(sources.texts, relevant=True),
        ),
    )


def draft_threshold(pack: TopicPack, sources: DraftSources) -> float:
    """The threshold with which *pack* parts the samples best from what a crawl meets besides.

    Each sample is judged by the default scorer as learnt without it. What a crawl meets are the
    stored pages; with fewer than thirty of them, the counter-examples, and a fifth of all pages
    is taken to be on topic: such a border only raises the threshold. Between the threshold so
    measured and the one by breadth the samples' number decides, n / (n + 10), and it moves by a
    factor of 4 at most **(ours)**. With fewer than eight texts, or without counter-examples, it
    is the one by breadth.
    """
    scorer = BlendScorer(pack)
    own, _ = scorer.held_out
    if len(own) < _LEAST_MEASURED:
        return sources.threshold
    border = _best_border(own, _met(scorer, pack, sources))
    measured = DEFAULT_THRESHOLD * math.exp(border / max(scorer.slope, 1.0))
    if len(sources.stored) < _LEAST_STORED:
        # Counter-examples that are far from the topic part it from them alone.
        measured = max(measured, sources.threshold)
    share = len(own) / (len(own) + _HALF_MEASURED)
    moved = float((measured / sources.threshold) ** share)
    return round(sources.threshold * min(max(moved, 1 / _MOST_MOVED), _MOST_MOVED), 3)


@dataclass(frozen=True, slots=True)
class _Met:
    """Logits of the pages that a crawl meets; of *share* of them on topic, None for to be found."""

    logits: Floats
    share: float | None


def _met(scorer: BlendScorer, pack: TopicPack, sources: DraftSources) -> _Met:
    _, others = scorer.held_out
    if len(sources.stored) < _LEAST_STORED:
        return _Met(others, _ON_TOPIC_SHARE)
    # The last ones of many were learnt from.
    texts = [sample.text for sample in pack.samples if not sample.relevant][-len(others) :]
    held_out = dict(zip(texts, others.tolist(), strict=True))
    logits = [
        held_out[text] if (text := _sample_text(one)) in held_out else scorer.logit(_page(one))
        for one in sources.stored
    ]
    return _Met(np.array(logits), None)


def _best_border(own: Floats, met: _Met) -> float:
    """The logit from which on verdicts have the best F1 among what is met; the middle of a range.

    Of what is met, a share that is not known is at most u / r: of the pages u are at or above a
    border, of those on topic r, as of the samples; the least such quotient is taken for it.
    """
    borders = np.unique(np.concatenate([own, met.logits]))
    borders = (borders[1:] + borders[:-1]) / 2
    reached = _shares_above(own, borders)
    above = _shares_above(met.logits, borders)
    if met.share is None:
        # One page more than there are, so that none is no proof that there will be none.
        above = (above * len(met.logits) + 1) / (len(met.logits) + 1)
        enough = reached >= _LEAST_REACHED
        share = float((above[enough] / reached[enough]).min(initial=1.0))
    else:
        share = met.share
        above = share * reached + (1 - share) * above
    f1 = 2 * share * reached / (above + share)
    good = borders[f1 >= f1.max() - 1e-9]
    return float(good[len(good) // 2])


def _shares_above(logits: Floats, borders: Floats) -> Floats:
    return np.asarray((logits[None, :] >= borders[:, None]).mean(axis=1))


def _site(host: str, pages: int) -> Site:
    kind, tier = next(
        ((kind, tier) for end, kind, tier in _KINDS_OF_HOSTS if host.endswith(end)), ("other", 4)
    )
    return Site(host, host, "target", tier, "", kind, note=f"{_SITE_NOTE}：{pages} 篇")


def _samples(texts: Sequence[Document], *, relevant: bool) -> list[Sample]:
    """The *texts* as samples; one without a text is none."""
    lead = "sample" if relevant else "other"
    samples = [
        Sample(
            f"{lead}_{number:03}",
            " ".join((one.title or one.text).split())[:MAX_TITLE_CHARACTERS],
            _sample_text(one),
            relevant,
        )
        for number, one in enumerate(texts, 1)
    ]
    return [sample for sample in samples if sample.title]


def _page(one: Document) -> PageText:
    return PageText(one.title, one.text)


def _sample_text(one: Document) -> str:
    return (one.text.strip() or one.title)[:MAX_SAMPLE_CHARACTERS]


def with_counter_examples(
    sources: DraftSources, stored: Sequence[Document], tree: Sequence[Document]
) -> DraftSources:
    """*sources* with more counter-examples where its own are few: what is stored, then the tree's.

    Pages of the very sites tell most, so that far ones only fill up: among many of them the few
    that are near would not count. What speaks of the topic is left out; a few such pages among
    *stored* do no harm, since what sets the texts apart from most of them tells.

    Args:
        stored: pages of which nobody said what they are.
        tree: samples of other nodes of the topic tree.
    """
    room = max(0, ENOUGH_OTHERS - len(sources.others))
    known = [*sources.others, *stored, *tree]
    terms = draft_terms(sources.texts, known, sources.words, sources.most_terms)
    pack = TopicPack("t", "t", "", DEFAULT_THRESHOLD, tuple(one.term for one in terms), (), ())
    scorer, least = VsmBreadthScorer(pack), sources.threshold / 2
    more: list[Document] = []
    for candidates in (stored, _spread_texts(tree)):
        far = (one for one in candidates if scorer.judge(_page(one)).score < least)
        more += islice(far, room - len(more))
    sources = replace(sources, others=[*sources.others, *more], stored=stored)
    return replace(sources, others=[*sources.others, *_near(sources, terms)])


def _near(sources: DraftSources, terms: Sequence[DraftedTerm]) -> list[Document]:
    """Stored pages that speak of the topic and yet are less of it than half of the texts.

    The border runs between these and the texts; without them all that is near is on topic.
    """
    pack = _pack(sources, terms)
    scorer = BlendScorer(pack)
    own, _ = scorer.held_out
    if len(own) < _LEAST_MEASURED:
        return []
    border = float(np.median(own))
    known = {sample.text for sample in pack.samples}
    left = [one for one in sources.stored if _sample_text(one) not in known]
    return [one for one in left if scorer.logit(_page(one)) < border]


def _spread_texts(texts: Sequence[Document]) -> list[Document]:
    """*texts* in an order of which any beginning is from all over them."""
    return [one for start in range(_STRIDE) for one in texts[start::_STRIDE]]


def without(draft: TopicDraft, terms: Sequence[int], sites: Sequence[int]) -> TopicDraft:
    """*draft* without those of its terms and sites, by place."""
    pack = draft.pack
    kept = [one for place, one in enumerate(draft.terms) if place not in terms]
    pack = replace(
        pack,
        terms=tuple(one.term for one in kept),
        sites=tuple(one for place, one in enumerate(pack.sites) if place not in sites),
    )
    return replace(draft, pack=pack, terms=tuple(kept))
