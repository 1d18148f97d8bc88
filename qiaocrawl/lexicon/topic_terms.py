"""The terms of a new topic, from a few texts that are on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from qiaocrawl.lexicon.build import LexiconBuilder
from qiaocrawl.lexicon.tagged_words import Tagged, tagged_words
from qiaocrawl.lexicon.term_counts import Document
from qiaocrawl.lexicon.term_table import TermRow
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter
from qiaocrawl.topic.pack import Term

_LEAST_WEIGHT, _WEIGHT_RANGE = 0.5, 2.0
# With fewer texts a word of one text alone counts, where it stands there twice; a phrase never.
_ENOUGH_TEXTS = 10
# Of the best one's score; below come words like 情况 and 部门.
_LEAST_SCORE = 0.15
# A phrase that stands within longer ones nearly always says no more than these.
_LEAST_STANDING = 0.1
# A verb names a topic only where many texts have it: 移民, 捕捞, but not 降到.
_TEXTS_OF_VERBS = 3
_NOMINAL = re.compile("n.*|vn|an|[jlibsa]|eng")
_POLICY = re.compile("(?:法|条例|办法|规定|政策|规划|方案|意见|纲要|制度)$")
_ORGANISATION = re.compile("(?:局|部|委|厅|院|会|协会|联合会|公司|大学|集团|中心|署|社|团)$")
_EVENT = re.compile("(?:节|赛|大会|会议|论坛|展|仪式|活动)$")
_KIND_OF_TAG = {"nt": "organisation", "ns": "place", "nr": "person", "nrt": "person"}


@dataclass(frozen=True, slots=True)
class DraftedTerm:
    """A term with why it was taken.

    Args:
        texts: in how many of the samples it stands; 0 for a seed that stands in none.
        others: in how many counter-examples.
        is_seed: whether the operator named it.
    """

    term: Term
    texts: int
    others: int
    is_seed: bool = False


def draft_terms(
    texts: Sequence[Document],
    others: Sequence[Document] = (),
    seeds: Sequence[str] = (),
    count: int = 60,
) -> list[DraftedTerm]:
    """The best *count* terms of *texts*, the *seeds* first.

    Ranked by keyness against general Chinese (as ``lexicon build``), times the root of the share
    of texts that have the term, times how much rarer it is in the counter-examples; one that they
    have half as often is none **(ours)**. Terms are nouns and what is made of them.
    Weights lie between 0.5 and 2.5, by the root of the rank's score; seeds weigh 3.

    Args:
        texts: on the topic.
        others: counter-examples.
        seeds: words that the operator named, kept whole.
    """
    drafted = [_seed(word, texts, others) for word in dict.fromkeys(seeds)]
    known = {fold(one.term.text) for one in drafted}
    rows = [row for row in _rows(texts, seeds) if fold(row.text) not in known]
    folded = [_folded(other) for other in others]
    counted = [(row, sum(row.text in other for other in folded)) for row in rows]
    scored = sorted(
        ((_score(row, n, len(texts), len(others)), row, n) for row, n in counted),
        key=lambda one: (-one[0], one[1].text),
    )
    best = scored[: max(count - len(drafted), 0)]
    least = _LEAST_SCORE * max((one[0] for one in best), default=0.0)
    best = [one for one in best if one[0] > max(least, 0.0)]
    for score, row, n in best:
        weight = _LEAST_WEIGHT + _WEIGHT_RANGE * (score / best[0][0]) ** 0.5
        term = Term(row.text, kind_of(row.text, row.tag), round(weight, 1))
        drafted.append(DraftedTerm(term, row.documents, n))
    return drafted


def kind_of(text: str, tag: str = "") -> str:
    """What kind of term *text* is by its part of speech and its last letters; a guess.

    >>> kind_of("教育局"), kind_of("物业管理条例"), kind_of("龙舟")
    ('organisation', 'policy', 'other')
    """
    if tag in _KIND_OF_TAG:
        return _KIND_OF_TAG[tag]
    if len(text) < 3:
        return "other"
    if _POLICY.search(text):
        return "policy"
    if _EVENT.search(text):
        return "event"
    return "organisation" if _ORGANISATION.search(text) else "other"


def _rows(texts: Sequence[Document], seeds: Sequence[str]) -> list[TermRow]:
    if not texts:
        return []
    builder = LexiconBuilder(seeds)
    for text in texts:
        builder.add(text)
    rows = builder.lexicon(least_documents=1).terms
    segmenter = Segmenter({fold(word) for word in seeds})
    return [
        row
        for row in rows
        if _is_supported(row, len(texts)) and _is_nominal(row, tagged_words(segmenter, row.text))
    ]


def _is_supported(row: TermRow, texts: int) -> bool:
    if row.words > 1 and row.standing < _LEAST_STANDING:
        # A piece: 海外华文 of 海外华文教师研修班.
        return False
    if row.documents > 1:
        return True
    return texts < _ENOUGH_TEXTS and row.words == 1 and row.frequency > 1


def _is_nominal(row: TermRow, words: Sequence[Tagged]) -> bool:
    tags = [tag for _, tag in words]
    if len(tags) == 1 and tags[0] == "v":
        return row.documents >= _TEXTS_OF_VERBS
    return all(_NOMINAL.fullmatch(tag) for tag in tags)


def _seed(word: str, texts: Sequence[Document], others: Sequence[Document]) -> DraftedTerm:
    own, other = (sum(fold(word) in _folded(one) for one in part) for part in (texts, others))
    return DraftedTerm(Term(word, "core"), own, other, is_seed=True)


def _score(row: TermRow, others: int, texts: int, all_others: int) -> float:
    share = row.documents / texts
    rarer = max(0.0, 1 - 2 * others / max(all_others, 1) / share)
    return float(row.score * share**0.5 * rarer)


def _folded(document: Document) -> str:
    return fold(f"{document.title}\n{document.text}")
