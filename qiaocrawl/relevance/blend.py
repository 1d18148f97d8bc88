"""The default scorer: terms and samples together give the probability of being on topic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText, Relevance
from qiaocrawl.language import _
from qiaocrawl.relevance.logistic import Floats, fit_logistic, logit_of, probability
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.sample_vectors import learnt_samples, sample_places
from qiaocrawl.relevance.scorer import chosen_threshold, judgement, page_scorers
from qiaocrawl.relevance.term_evidence import LEAST_THRESHOLD, Evidence, TermEvidence
from qiaocrawl.relevance.word_judge import WordJudge
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import PageWords

# Constant, likeness of the terms, terms in the title, words learnt from samples: what they
# weigh before any sample is seen, and how sure of that one is. So sure of the terms that a
# sample or two which contradict them do not turn a whole collection over.
_PRIOR = np.array([-0.4, 2.0, 0.5, 1.5])
_SURENESS = np.array([2.5, 5.0, 5.0, 0.25])
# With so many samples of the rarer kind, words learnt from samples count for half.
_HALF_HEARD = 1.5
# Of either kind; with more, what was learnt from them decides more and more about single words.
_FEW_SAMPLES = 3
# Samples are clearer than the pages of a site: with n of the rarer kind the odds of a page are
# (1 + n) ** 0.15 times smaller than they let expect.
_CLEARER = 0.15
# No threshold of a pack is a hundred times another.
_FURTHEST_SHIFT = math.log(100)


@page_scorers.register("blend")
class BlendScorer:
    """P(on topic) = 1 / (1 + exp(−(b0 + b1·likeness + b2·title + b3·words))). **(ours)**

    likeness and title are what the terms say (:class:`TermEvidence`), words what the page's
    other words say (:class:`WordJudge`, learnt from the samples). The b are fixed by hand for
    a pack of terms alone: the pack's threshold of vector-space relevance is where its terms
    begin to speak for a page (P = 0.40, with other terms in the title 0.5). Samples move
    them (logistic regression whose prior are the fixed ones), where each sample is judged by
    words learnt without it, which keeps the probability honest. Nothing is assumed of how many
    pages are on topic: operators mark mistakes, so the samples' own share tells nothing; a
    topic of which that is known says so by its threshold, which moves P beside all samples. Words
    come in gradually: with n samples of the rarer kind they count n / (n + 1.5). At last the odds
    are divided by (1 + n) ** 0.15, since samples are clearer than the pages of a site; the
    threshold is moved along, so that this changes no verdict.

    A list of words means "these words": where one of them stands in the title or twice in the text
    (:class:`~qiaocrawl.relevance.term_evidence.ListedWords`), a page is taken to be as like the
    topic as it must be, however long it is and however little else of the list it has. Words learnt
    from samples speak against it as always; with n samples of the rarer kind, more than three,
    such a word counts 3 / n **(ours)**.

    Needs terms, or samples of both kinds, or both; with neither nothing is relevant.

    Args:
        pack: the topic; the last 1000 samples are learnt from.
        threshold: probability from which a page is on topic; 0 takes 1 / (1 + (1 + n) ** 0.15),
            which is 0.5 without samples.
        single_word: what one word counts, in [0, 1]; 0 judges by breadth alone.

    Attributes:
        held_out: the logits of relevant samples and of others, each by what was learnt without
            it, at the usual threshold of a pack; none without samples of both kinds.
        slope: what a logit loses where the pack's threshold is e times as high.

    Raises:
        ConfigError: a threshold or *single_word* outside [0, 1].
    """

    def __init__(
        self, pack: TopicPack, threshold: float = 0.0, *, single_word: float = 1.0
    ) -> None:
        if not 0 <= single_word <= 1:
            raise ConfigError(_("single_word must lie in [0, 1], got {given!r}", given=single_word))
        self._topic = pack.name
        self._pack_threshold = max(pack.threshold, LEAST_THRESHOLD)
        self._words = PageWords(term.text for term in pack.terms)
        samples = learnt_samples(pack.samples)
        relevant = np.array([sample.relevant for sample in samples], dtype=np.bool_)
        counted = sample_places(samples, self._words)
        self._terms = TermEvidence(pack, self._words, counted, relevant)
        self._judge: WordJudge | None = None
        self._factors = _PRIOR
        self.held_out: tuple[Floats, Floats] = np.zeros(0), np.zeros(0)
        rarer = min(int(relevant.sum()), int((~relevant).sum()))
        self._heard = rarer / (rarer + _HALF_HEARD)
        self._single_word = single_word * min(1.0, _FEW_SAMPLES / max(rarer, 1))
        self._caution = _CLEARER * math.log1p(rarer)
        self.threshold = chosen_threshold(threshold, probability(-self._caution))
        if rarer:
            self._judge = WordJudge(counted, relevant)
            scores = self._heard * self._judge.left_out
            evidence = self._terms.of_samples()
            rows = _rows(evidence, scores)
            self._factors = _fitted(rows, relevant)
            lifts = np.array([one.lift for one in evidence])
            logits = rows @ self._factors + self._of_lift * lifts
            self.held_out = logits[relevant], logits[~relevant]
        self.slope = float(self._factors[1])

    @property
    def _of_lift(self) -> float:
        """What a lift of the likeness adds to the logit."""
        return self._single_word * max(0.0, float(self._factors[1]))

    def logit(self, page: PageText) -> float:
        """ln(P / (1 − P)) for a page before its odds are divided: 0 at the usual threshold."""
        return self._judged(PagePlaces(page, self._words))[0]

    def judge(self, page: PageText) -> Relevance:
        """The probability for a page, explained by the words that speak for the topic."""
        places = PagePlaces(page, self._words)
        if not places.both:
            return Relevance(self._topic, 0.0, False, "blend")
        logit, evidence, learnt = self._judged(places)
        chance = probability(logit - self._caution)
        parts = self._parts(evidence, learnt)
        return judgement(self._topic, "blend", chance, self.threshold, parts, places)

    def word_weights(self, page: PageText) -> Mapping[str, float]:
        """What each word of a page adds to its logit, below 0 for what speaks against."""
        places = PagePlaces(page, self._words)
        if not places.both:
            return {}
        _logit, evidence, learnt = self._judged(places)
        return self._parts(evidence, learnt)

    def pack_threshold(self, score: float) -> float | None:
        """The pack's threshold with which on topic is what now has *score* or more.

        Every logit falls by ``slope`` where it is e times as high: the scores move, not the line.
        None where it would lie outside of what counts.
        """
        shift = logit_of(score) - logit_of(self.threshold)
        if self.slope <= 0 or abs(shift) > _FURTHEST_SHIFT * self.slope:
            return None
        wanted = self._pack_threshold * math.exp(shift / self.slope)
        return wanted if LEAST_THRESHOLD <= wanted <= 1 else None

    def _judged(self, places: PagePlaces) -> tuple[float, Evidence, dict[str, float]]:
        """The logit, what the terms say, and what each of the other words adds to their score."""
        evidence = self._terms.of(places)
        score, learnt = self._judge.of(places) if self._judge is not None else (0.0, {})
        logit = float(_row(evidence, self._heard * score) @ self._factors)
        return logit + self._of_lift * evidence.lift, evidence, learnt

    def _parts(self, evidence: Evidence, learnt: Mapping[str, float]) -> dict[str, float]:
        """What each word adds to the logit, wherever it stands."""
        _, likeness, title, words = self._factors
        parts: dict[str, float] = {}
        whole = sum(evidence.parts.values())
        given = likeness * (evidence.likeness - self._terms.nothing) + title * evidence.title
        for word, part in evidence.parts.items():
            parts[word] = given * part / whole
        named = sum(evidence.named.values())
        for word, part in evidence.named.items() if evidence.lift else ():
            lifted = self._of_lift * evidence.lift * part / named
            parts[word] = parts.get(word, 0.0) + lifted
        for word, part in learnt.items():
            parts[word] = parts.get(word, 0.0) + self._heard * words * part
        return parts


def _rows(evidence: Sequence[Evidence], scores: Floats) -> Floats:
    """The features of each sample, judged by what was learnt without it."""
    return np.array(list(map(_row, evidence, scores)))


def _fitted(rows: Floats, relevant: NDArray[np.bool_]) -> Floats:
    """The factors b."""
    targets = relevant.astype(np.float64)
    return fit_logistic(rows, targets, np.ones(len(rows)), _PRIOR, _SURENESS)


def _row(evidence: Evidence, score: float) -> Floats:
    return np.array([1.0, evidence.likeness, evidence.title, score])
