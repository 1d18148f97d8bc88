"""The default scorer: terms and samples together give the probability of being on topic."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import mul

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText, Relevance
from qiaocrawl.language import _
from qiaocrawl.relevance.samples import (
    FOLDS,
    WordJudge,
    assign_folds,
    learnt_samples,
    sample_places,
)
from qiaocrawl.relevance.scorer import (
    PagePlaces,
    chosen_threshold,
    judgement,
    page_scorers,
    term_rarities,
    term_weights,
)
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, TopicPack
from qiaocrawl.topic.profile import PageWords, background_frequencies, build_profile, characteristic

# --- Small logistic regressions: one with a prior for its weights, and Platt's for scores ---------

Floats = NDArray[np.float64]

_STEPS = 100
_SMALLEST_STEP = 1e-6
_SMALLEST_GAIN = 1e-9
_FURTHEST = 30.0


def probability(logit: float) -> float:
    """1 / (1 + exp(-logit)), in (0, 1); beyond ±30 it does not change any more."""
    return float(1.0 / (1.0 + np.exp(-min(max(logit, -_FURTHEST), _FURTHEST))))


def logit_of(chance: float) -> float:
    """The inverse of :func:`probability`, as far as that reaches."""
    if not 0 < chance < 1:
        return _FURTHEST if chance > 0 else -_FURTHEST
    return math.log(chance / (1 - chance))


def fit_logistic(
    features: Floats, targets: Floats, importance: Floats, prior: Floats, strength: Floats
) -> Floats:
    """The weights that are likeliest after seeing the rows (maximum a posteriori).

    Minimises sum of importance · log loss + ½ · sum of strength · (weight − prior)² by
    Newton's method, each step halved until it gains.

    Args:
        features: rows x columns; a column of ones makes a constant.
        targets: of each row, in [0, 1].
        importance: of each row, at least 0.
        prior: the weights before anything was seen; they stay where there are no rows.
        strength: how sure one is of each, above 0 (the inverse of its variance).

    Returns:
        A weight for each column.
    """
    weights = prior.copy()

    def loss(tried: Floats) -> float:
        logits = features @ tried
        fit = importance @ (np.logaddexp(0.0, logits) - targets * logits)
        return float(fit + 0.5 * strength @ (tried - prior) ** 2)

    before = loss(weights)
    for _step in range(_STEPS):
        predicted = 1.0 / (1.0 + np.exp(-np.clip(features @ weights, -_FURTHEST, _FURTHEST)))
        gradient = features.T @ (importance * (predicted - targets)) + strength * (weights - prior)
        curve = importance * predicted * (1.0 - predicted)
        # The prior's strength keeps it invertible, also with fewer rows than columns.
        hessian = (features * curve[:, None]).T @ features + np.diag(strength)
        step, size = np.linalg.solve(hessian, gradient), 1.0
        # A full Newton step may overshoot where the curve is flat.
        while size > _SMALLEST_STEP and loss(weights - size * step) > before:
            size /= 2
        weights = weights - size * step
        after = loss(weights)
        if before - after < _SMALLEST_GAIN:
            break
        before = after
    return weights


def fit_platt(scores: Floats, relevant: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and constant that turn a *score* into the logit of a probability (Platt 1999).

    The targets are (n⁺ + 1)/(n⁺ + 2) and 1/(n⁻ + 2) instead of 1 and 0, as there, so that
    few samples give no certainty. There must be rows of both kinds.
    """
    yes = int(relevant.sum())
    no = len(relevant) - yes
    targets = np.where(relevant, (yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0))
    features = np.column_stack([scores, np.ones(len(scores))])
    slope, constant = fit_logistic(
        features, targets, np.ones(len(scores)), np.array([1.0, 0.0]), np.array([1e-3, 1e-3])
    )
    return float(slope), float(constant)


# --- Vector space model with breadth (ours): the page's words against the topic's weighted
# terms

# Topic weight at which the page has reached 63 % of full breadth.
_BREADTH = 3.0
# Share of its heaviest term that does not count for breadth.
_FIRST_TERM_DISCOUNT = 0.85
# Shorter pages are measured as if they had this many other words.
_MIN_WORDS = 25


@page_scorers.register("vsm_breadth")
class VsmBreadthScorer:
    """Cosine of page and topic, times the breadth of what the page says of the topic.

    Page: x_i = frequency / highest frequency, times the term's weight (E5); a word outside
    the topic weighs 1. Topic: weight x idf, restricted to the words the page has, since no
    page speaks of four hundred terms (ours). Breadth (ours): 1 - exp(-W / 3), where W adds up
    the distinct topic words the page has, the heaviest by 0.15 of its weight only.

    So one term of weight 2 scores at most 1 - exp(-0.1) = 0.095 however often it comes, one
    of weight 3 at most 0.14: with the packs' threshold of 0.1 an ordinary term alone does not
    suffice, and a heavy one must fill a short page. ``terms`` of a judgement are the shares
    of the topic words in the page's topical part.

    Args:
        pack: the topic.
        threshold: score in [0, 1] from which a page is on topic; 0 takes the pack's own.

    Raises:
        ConfigError: a threshold outside [0, 1].
    """

    def __init__(self, pack: TopicPack, threshold: float = 0.0) -> None:
        self._topic = pack.name
        self.threshold = chosen_threshold(threshold, pack.threshold)
        self._is_given = threshold != 0
        self._words = PageWords(term.text for term in pack.terms)
        self._profile = build_profile(pack, self._words)

    def judge(self, page: PageText) -> Relevance:
        """The score of a page, explained by the terms that contributed most."""
        places = PagePlaces(page, self._words)
        parts = topical_parts(places.both, self._profile.weights)
        score = similarity(places.both, parts, self._profile.weights)
        return judgement(self._topic, "vsm_breadth", score, self.threshold, parts, places)

    def pack_threshold(self, score: float) -> float | None:
        """*score* itself; None where the operator gave a threshold, which overrules the pack."""
        return None if self._is_given else score


def topical_parts(counts: Counter[str], weights: Mapping[str, float]) -> dict[str, float]:
    """Frequency times weight of each word of a page, *counts* so often, that is the topic's."""
    return {word: times * weights[word] for word, times in counts.items() if word in weights}


def breadth(weights: Mapping[str, float], words: Mapping[str, object]) -> float:
    """W of the scorer: the weight of the distinct *words* but most of the heaviest."""
    topic = [weights[word] for word in words]
    return math.fsum(topic) - _FIRST_TERM_DISCOUNT * max(topic, default=0.0)


def similarity(
    words: Counter[str], parts: Mapping[str, float], weights: Mapping[str, float]
) -> float:
    """Cosine times breadth, in [0, 1]; dividing by the highest frequency cancels out."""
    if not parts:
        return 0.0
    topic = [weights[word] for word in parts]
    square = math.fsum(part * part for part in parts.values())
    counts = words.values()
    other = sum(map(mul, counts, counts)) - sum(words[word] ** 2 for word in parts)
    page_length = math.sqrt(square + max(other, _MIN_WORDS))
    topic_length = math.sqrt(sum(weight * weight for weight in topic))
    product = math.fsum(map(mul, parts.values(), topic))
    cosine = min(1.0, product / (page_length * topic_length))
    return cosine * (1.0 - math.exp(-breadth(weights, parts) / _BREADTH))


# --- The evidence of a topic's terms on a page: two numbers that make a probability ---------------

LEAST = 0.003
"""Added to the similarity, so that a page without any term has a logarithm."""
LEAST_THRESHOLD = 0.01
"""A pack whose threshold is lower is taken for one that has this."""
# With so many relevant samples, the words they share count for half: two pages that an operator
# judged share much that is not the topic's.
_HALF_HEARD_TERMS = 3.0
# A page that plainly names a word of the list is as like the topic as one with e ** 0.5 times the
# usual threshold: on topic, though not by much.
_NAMED_LIKENESS = 0.5
# Twice in the text is as good as once in the title.
_TEXT_SHARE = 0.5
# In a list of more words an everyday one (学校, 市场) says less by itself.
_LONG_LIST = 100
# Chinese words are written together: 养老院 names 养老. In other scripts "art" is not in "article".
_CHINESE = re.compile("[\u4e00-\u9fff]{2,}")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the terms say of one page.

    Attributes:
        likeness: ln((similarity + 0.003) / threshold of the pack), 0 at the threshold.
        title: 1 − exp(−W), W the breadth of the terms in the title; in [0, 1).
        parts: frequency times weight of the topic's words on the page.
        lift: what is missing of the likeness that one plainly named word of the list gives.
        named: which words of the page name those of the list, and how plainly.
    """

    likeness: float
    title: float
    parts: dict[str, float]
    lift: float = 0.0
    named: Mapping[str, float] = field(default_factory=dict)


class TermEvidence:
    """Looks for the terms of *pack*, and for words its relevant samples use more than others.

    Similarity is that of :class:`~qiaocrawl.relevance.blend.VsmBreadthScorer`, with the
    same weights of terms; words of n relevant samples count n / (n + 3) of theirs.

    Args:
        pack: the topic.
        words: cuts texts.
        samples: those to learn from.
        relevant: which of them are.
    """

    def __init__(
        self,
        pack: TopicPack,
        words: PageWords,
        samples: Sequence[PagePlaces],
        relevant: NDArray[np.bool_],
    ) -> None:
        self._terms = build_profile(replace(pack, samples=()), words).weights
        self._threshold = max(pack.threshold, LEAST_THRESHOLD)
        self._listed = ListedWords(pack)
        self._samples = samples
        self._relevant = relevant
        found = {
            word
            for places, yes in zip(samples, relevant, strict=True)
            if yes
            for word in places.both
        }
        self._known = background_frequencies(found) if found else ({}, 1)
        self._weights = self._learnt(np.ones(len(samples), dtype=np.bool_))
        self.nothing = self._likeness(0.0)
        """The likeness of a page without any term."""

    def of(self, places: PagePlaces) -> Evidence:
        """What they say of one page."""
        return self._evidence(places, self._weights)

    def of_samples(self) -> list[Evidence]:
        """What they say of each sample, by words learnt from samples of other folds.

        At the usual threshold: what is learnt from samples would else undo the topic's own.
        """
        folds = assign_folds(self._relevant)
        by_fold = [self._learnt(folds != fold) for fold in range(FOLDS)]
        at_usual = math.log(self._threshold / DEFAULT_THRESHOLD)
        judged = [
            self._evidence(places, by_fold[fold])
            for places, fold in zip(self._samples, folds, strict=True)
        ]
        return [replace(one, likeness=one.likeness + at_usual) for one in judged]

    def _learnt(self, chosen: NDArray[np.bool_]) -> dict[str, float]:
        """The weights of the terms, and of words of the *chosen* samples."""
        counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        for places, yes in zip(
            [places_ for places_, keep in zip(self._samples, chosen, strict=True) if keep],
            self._relevant[chosen].tolist(),
            strict=True,
        ):
            counts[yes].update(places.both.keys())
            counts[yes][""] += 1
        learnt = characteristic(counts[True], counts[False], *self._known)
        heard = counts[True][""] / (counts[True][""] + _HALF_HEARD_TERMS)
        return {**{word: heard * weight for word, weight in learnt.items()}, **self._terms}

    def _evidence(self, places: PagePlaces, weights: Mapping[str, float]) -> Evidence:
        parts = topical_parts(places.both, weights)
        title = breadth(weights, topical_parts(places.title, weights))
        score = similarity(places.both, parts, weights)
        likeness = self._likeness(score)
        named = self._listed.on(places)
        lift = 0.0
        if plainness := min(1.0, math.fsum(named.values())):
            enough = DEFAULT_THRESHOLD * math.exp(_NAMED_LIKENESS) * plainness
            lift = max(0.0, self._likeness(enough) - likeness)
        return Evidence(likeness, 1.0 - math.exp(-title), parts, lift, named)

    def _likeness(self, score: float) -> float:
        return math.log((score + LEAST) / self._threshold)


class ListedWords:
    """How plainly a page names words of the list: a list means "these words". **(ours)**

    A word counts once for the title and half for each time in the text, up to once: 1 is plain. It
    also counts where it begins or ends a longer Chinese word (养老 in 养老院), but not inside one
    (华人 in 中华人民). A word that weighs less than the middle one of the list counts that much
    less, so that a list without weights, or with equal ones, has no lesser words; in a list of more
    than a hundred an everyday word counts by its rarity. Words of one character do not count: they
    are parts of too many others.
    """

    def __init__(self, pack: TopicPack) -> None:
        weights = {word: weight for word, weight in term_weights(pack).items() if len(word) > 1}
        middle = statistics.median_low(weights.values()) if weights else 1.0
        self._counts = {word: min(1.0, weight / middle) for word, weight in weights.items()}
        if len(weights) > _LONG_LIST:
            rarities = term_rarities(weights)
            self._counts = {word: n * rarities[word] for word, n in self._counts.items()}
        self._longest = max(map(len, weights), default=0)

    def on(self, places: PagePlaces) -> dict[str, float]:
        """The words of a page that name one of the list, and how plainly each does."""
        found: dict[str, float] = {}
        seen: dict[str, list[float]] = {}
        for counts, is_title in ((places.title, True), (places.text, False)):
            for word, times in counts.items():
                if listed := self._find_word(word):
                    given = 1.0 if is_title else _TEXT_SHARE * times
                    so_far = seen.setdefault(listed, [0.0, 0.0])
                    added = min(1.0, so_far[not is_title] + given) - so_far[not is_title]
                    so_far[not is_title] += added
                    found[word] = found.get(word, 0.0) + added * self._counts[listed]
        return {word: given for word, given in found.items() if given}

    def _find_word(self, word: str) -> str:
        """The word of the list that *word* is, begins with or ends with; "" for none."""
        if word in self._counts:
            return word
        if len(word) < 3 or not _CHINESE.fullmatch(word):
            return ""
        for size in range(min(len(word) - 1, self._longest), 1, -1):
            for part in (word[:size], word[-size:]):
                if part in self._counts:
                    return part
        return ""


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
    (:class:`~qiaocrawl.relevance.blend.ListedWords`), a page is taken to be as like the
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
            self._factors = _fit(rows, relevant)
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
        return self._score_places(PagePlaces(page, self._words))[0]

    def judge(self, page: PageText) -> Relevance:
        """The probability for a page, explained by the words that speak for the topic."""
        places = PagePlaces(page, self._words)
        if not places.both:
            return Relevance(self._topic, 0.0, False, "blend")
        logit, evidence, learnt = self._score_places(places)
        chance = probability(logit - self._caution)
        parts = self._parts(evidence, learnt)
        return judgement(self._topic, "blend", chance, self.threshold, parts, places)

    def word_weights(self, page: PageText) -> Mapping[str, float]:
        """What each word of a page adds to its logit, below 0 for what speaks against."""
        places = PagePlaces(page, self._words)
        if not places.both:
            return {}
        _logit, evidence, learnt = self._score_places(places)
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

    def _score_places(self, places: PagePlaces) -> tuple[float, Evidence, dict[str, float]]:
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


def _fit(rows: Floats, relevant: NDArray[np.bool_]) -> Floats:
    """The factors b."""
    targets = relevant.astype(np.float64)
    return fit_logistic(rows, targets, np.ones(len(rows)), _PRIOR, _SURENESS)


def _row(evidence: Evidence, score: float) -> Floats:
    return np.array([1.0, evidence.likeness, evidence.title, score])
