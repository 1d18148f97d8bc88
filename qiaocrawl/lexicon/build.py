"""A lexicon from a corpus: the texts go in one by one, the tables come out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from qiaocrawl.language import CHINESE, _, language
from qiaocrawl.lexicon.expansion import RELATIONS, Alias, Neighbours, Proposal, aliases
from qiaocrawl.lexicon.new_words import MAX_LETTERS, FreshClauses, LetterBonds, NewWord, new_words
from qiaocrawl.lexicon.phrases import PERSON_TAGS, STOP_TAGS, Tagged, is_content, tagged_words
from qiaocrawl.lexicon.terms import (
    Background,
    Document,
    TermCounts,
    TermRow,
    example_sentences,
    term_table,
)
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter
from qiaocrawl.topic.pack import Term
from qiaocrawl.topic.profile import background_frequencies


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What a corpus says of its words.

    Args:
        documents, size, sites, months: texts, words, and parts of the corpus.
        terms: ranked by how much they are of the corpus.
        new_words: that the dictionary does not know, ranked.
        aliases: names that texts state to be one.
    """

    documents: int
    size: int
    sites: int
    months: int
    terms: tuple[TermRow, ...]
    new_words: tuple[NewWord, ...]
    aliases: tuple[Alias, ...]


class LexiconBuilder:
    """Takes texts and gives their lexicon.

    Args:
        terms: of the topic, which are kept whole and are no new words.
        with_persons: whether names of people may be terms.
        stop_tags: first letters of the parts of speech left out; see
            :data:`qiaocrawl.lexicon.phrases.PUBLISHED_STOP_TAGS`.
    """

    def __init__(
        self,
        terms: Sequence[str] = (),
        *,
        with_persons: bool = False,
        stop_tags: frozenset[str] = STOP_TAGS,
    ) -> None:
        self._terms = {fold(term) for term in terms}
        self._segmenter = Segmenter(self._terms)
        self._with_persons = with_persons
        self._stop_tags = stop_tags
        self._counts = TermCounts(stop_tags=stop_tags, with_persons=with_persons)
        self._cut: Counter[str] = Counter()
        self._texts: list[str] = []
        self._words: list[list[str]] = []
        self._fresh = FreshClauses()

    def add(self, document: Document) -> None:
        """Count one text; a clause that an earlier one had is no new evidence."""
        text = self._fresh.of(fold(f"{document.title}\n{document.text}"))
        words = tagged_words(self._segmenter, text)
        self._counts.add(document, words)
        content = [
            word
            for word, tag in words
            if is_content(word, tag, self._stop_tags)
            and (self._with_persons or tag not in PERSON_TAGS)
        ]
        self._cut.update(word for word in content if 2 <= len(word) <= MAX_LETTERS)
        self._texts.append(text)
        self._words.append(content)

    def lexicon(
        self, *, least_documents: int = 2, without: Collection[str] = frozenset()
    ) -> Lexicon:
        """The tables of all texts so far.

        Args:
            least_documents: in how many texts a term stands at least.
            without: folded words that are left out, since an expert rejected them.
        """
        frequencies, size = background_frequencies({*self._counts.terms, *self._cut})
        counts, background = self._counts, Background(frequencies, size)
        terms = term_table(counts, background, least_documents=least_documents)
        known = {*self._terms, *without, *(word for word in self._cut if frequencies[word])}
        return Lexicon(
            counts.documents,
            counts.size,
            len(counts.site_sizes),
            len(counts.month_sizes.keys() - {""}),
            tuple(row for row in terms if row.text not in without),
            tuple(new_words(self._cut, LetterBonds(self._texts), known.__contains__)),
            tuple(aliases(self._texts)),
        )

    def neighbours(self) -> Neighbours:
        """The space of the texts' words."""
        return Neighbours(self._words)

    def examples(self, terms: Sequence[str], each: int = 2) -> dict[str, list[str]]:
        """Sentences for each of *terms* (folded)."""
        return example_sentences(self._texts, terms, each=each)


# --- What an expert is asked about: the best words of a corpus and beside the topic's terms -------


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word to decide about.

    Args:
        origin: where it comes from, in Chinese.
        facts: what speaks for it, in Chinese.
        of_term: the term it is likely a synonym of, "" for none.
    """

    text: str
    origin: str
    facts: str
    of_term: str = ""


def candidates(
    lexicon: Lexicon,
    proposals: Sequence[Proposal],
    *,
    known: Collection[str],
    count: int,
) -> list[Candidate]:
    """The best *count* words that nobody has decided about, the sources in turn.

    Args:
        known: folded words that are terms already, or were rejected.
    """
    seen = set(known)
    chosen: list[Candidate] = []
    rows = zip_longest(_terms(lexicon), _new_words(lexicon), _propose(proposals))
    for candidate in (one for row in rows for one in row if one is not None):
        key = fold(candidate.text)
        if key not in seen:
            seen.add(key)
            chosen.append(candidate)
        if len(chosen) == count:
            break
    return chosen


def _terms(lexicon: Lexicon) -> Iterator[Candidate]:
    for row in lexicon.terms:
        facts = _(
            "{count:,} times, {texts:,} texts, {sites} sites, score {score:.1f}",
            count=row.frequency,
            texts=row.documents,
            sites=row.sites,
            score=row.score,
        )
        yield Candidate(row.text, _("term of the texts") if row.words == 1 else _("phrase"), facts)


def _new_words(lexicon: Lexicon) -> Iterator[Candidate]:
    for new in lexicon.new_words:
        bonds = new.bonds
        facts = _(
            "{count:,} times, cohesion {cohesion:.1f}, freedom {freedom:.1f}",
            count=bonds.frequency,
            cohesion=bonds.cohesion,
            freedom=bonds.freedom,
        )
        yield Candidate(new.text, _("new word"), facts)


def _propose(proposals: Sequence[Proposal]) -> Iterator[Candidate]:
    for one in proposals:
        # Spellings in other letters need no decision: searches and texts are folded.
        if one.relation != "variant":
            relation = RELATIONS[one.relation] if language() == CHINESE else one.relation
            facts = _(
                "{relation} of “{term}”, closeness {closeness:.2f}",
                relation=relation,
                term=one.of_term,
                closeness=one.closeness,
            )
            yield Candidate(one.text, relation, facts, one.of_term)


# --- The terms of a new topic, from a few texts that are on it ------------------------------------

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
    folded = [_fold_document(other) for other in others]
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
    own, other = (
        sum(fold(word) in _fold_document(one) for one in part) for part in (texts, others)
    )
    return DraftedTerm(Term(word, "core"), own, other, is_seed=True)


def _score(row: TermRow, others: int, texts: int, all_others: int) -> float:
    share = row.documents / texts
    rarer = max(0.0, 1 - 2 * others / max(all_others, 1) / share)
    return float(row.score * share**0.5 * rarer)


def _fold_document(document: Document) -> str:
    return fold(f"{document.title}\n{document.text}")
