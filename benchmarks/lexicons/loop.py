"""The closed loop: words, search, what it brought, new words; beside words that stay as they are.

An engine of our own answers from a collection: pages that hold the query, by how much they do, ten
a request. Queries are chosen by the crawl's own order, a round being a run with a budget of ten
requests: in it only the number of new pages is known, between two the crawl's scorer judges them.
Only the scripted expert and the figures know the labels. The expert takes a word when half of the
pages that hold it are on topic, as a person takes words that name the topic.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.crawl_orders.data import find_collections, load_collection
from qiaocrawl.demo.model import ARTICLE_KINDS
from qiaocrawl.demo.web import build_web
from qiaocrawl.items import PageText
from qiaocrawl.lexicon.build import LexiconBuilder, candidates
from qiaocrawl.lexicon.decisions import Decision, decided_terms
from qiaocrawl.lexicon.expansion import expansion
from qiaocrawl.lexicon.terms import Document
from qiaocrawl.ontology.sources import current_ontology
from qiaocrawl.options import Options
from qiaocrawl.relevance import PageScorer, page_scorers
from qiaocrawl.search.priority import (
    DueQuery,
    ExpectedYield,
    Pair,
    PairYield,
    QueryLine,
    prioritise,
)
from qiaocrawl.search.query import EVERYWHERE, Query
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, Term, TopicPack

ROUNDS, QUERIES, HITS = 4, 10, 10
"""Rounds, requests in each, and hits on a result page."""
COLLECTIONS = ("zhsites_a",)
_PROPOSED = 100
"""Words that the expert looks at in a round."""
_SEED_WORDS = 5
_SEED_WEIGHT, _WEIGHT = 3.0, 2.0
_LEAST_PAGES = 3
_SHORTEST_LETTERS = 100
_ENGINE = "e"
_RESULT_PAGES = int(Options.from_environment({})["QIAO_SEARCH_MAX_PAGES"])
"""Of one query."""
_DEMO_WORDS = ("侨胞", "归侨", "侨眷", "侨联", "华侨")


@dataclass(frozen=True)
class SearchedWeb:
    """Pages with an engine over them.

    Args:
        relevant: numbers of the pages on topic.
        words: the five that a topic begins with.
    """

    name: str
    pages: Sequence[PageText]
    relevant: frozenset[int]
    words: tuple[str, ...]
    _folded: list[tuple[str, str]] = field(default_factory=list)
    _ranked: dict[str, list[int]] = field(default_factory=dict)

    def holders(self, word: str) -> list[int]:
        """The pages with *word*, those first that say it most for their length."""
        key = fold(word)
        if not self._folded:
            self._folded.extend((fold(page.title), fold(page.text)) for page in self.pages)
        if key not in self._ranked:
            scores = []
            for number, (title, text) in enumerate(self._folded):
                count = 5 * title.count(key) + text.count(key)
                if count:
                    scores.append((-count / (1 + len(text) / 1000), number))
            self._ranked[key] = [number for _, number in sorted(scores)]
        return self._ranked[key]

    def answer(self, word: str, page: int) -> list[int]:
        """The hits of result page *page*, from 0."""
        return self.holders(word)[page * HITS : (page + 1) * HITS]

    def coverage(self, found: set[int]) -> float:
        """Share of the pages on topic that were found."""
        return len(self.relevant & found) / len(self.relevant)


def webs(data: Path) -> Iterator[SearchedWeb]:
    """The demo web, and every topic of the collections."""
    gold = [one for one in build_web().gold() if one.kind in ARTICLE_KINDS]
    pages = [PageText(one.title, one.body) for one in gold]
    relevant = frozenset(n for n, one in enumerate(gold) if one.on_topic)
    yield SearchedWeb("demo", pages, relevant, _DEMO_WORDS)
    for folder in find_collections(data / "focus"):
        if folder.name not in COLLECTIONS:
            continue
        collection = load_collection(folder)
        numbers = [n for n, page in enumerate(collection.pages)
                   if len(page.words.text) >= _SHORTEST_LETTERS]  # fmt: skip
        for topic, query in collection.queries.items():
            own = [at for at, n in enumerate(numbers) if topic in collection.labels[n]]
            yield SearchedWeb(
                f"{folder.name} {topic}",
                [collection.pages[n].words for n in numbers],
                frozenset(own),
                tuple(query.split()[:_SEED_WORDS]),
            )


def fixed(web: SearchedWeb) -> list[float]:
    """Coverage after each round by the first words alone, result page after result page.

    As many requests as the loop has; an engine of theirs goes on to its last page.
    """
    found: set[int] = set()
    coverages = []
    asked = ((word, page) for page in range(ROUNDS * QUERIES) for word in web.words)
    wanted = (one for one in asked if web.answer(*one))
    for _ in range(ROUNDS):
        for _, (word, page) in zip(range(QUERIES), wanted, strict=False):
            found.update(web.answer(word, page))
        coverages.append(web.coverage(found))
    return coverages


def looped(web: SearchedWeb) -> list[float]:
    """Coverage after each round where words are proposed, decided and asked by what they bring."""
    terms = tuple(Term(word, "core", _SEED_WEIGHT) for word in web.words)
    looked_at = {fold(term.text) for term in terms}
    search = _Search(web)
    search.add(term.text for term in terms)
    coverages = []
    for number in range(ROUNDS):
        if number:
            proposed = _proposed(web, terms, search.found, looked_at)
            looked_at.update(map(fold, proposed))
            accepted = [word for word in proposed if _is_of_topic(web, word)]
            for word in accepted:
                terms = decided_terms(terms, Decision(word, "accept", weight=_WEIGHT))
            search.add(accepted)
        search.run(QUERIES, _scorer(terms))
        coverages.append(web.coverage(search.found))
    return coverages


class _Search:
    """Runs of ``scrapy crawl search`` with a small budget; pages are judged between two of them."""

    def __init__(self, web: SearchedWeb) -> None:
        self._web = web
        self._run = 0
        self._due: list[DueQuery] = []
        # By word: new pages of each request.
        self._new: dict[str, list[set[int]]] = {}
        self.found: set[int] = set()

    def add(self, words: Iterable[str]) -> None:
        """Have *words* asked, in this order among equals."""
        self._due += [
            DueQuery(Query("t", word, EVERYWHERE, _ENGINE), len(self._due) + number, self._run)
            for number, word in enumerate(words)
        ]

    def run(self, requests: int, scorer: PageScorer) -> None:
        """Spend *requests* in the order of the crawl and add what they hit to what was found."""
        self._run += 1
        relevant = {n for n in self.found if scorer.judge(self._web.pages[n]).relevant}
        stored_with = {
            due.query.term: len(relevant.intersection(self._web.holders(due.query.term)))
            for due in self._due
        }
        expected_yield = ExpectedYield(self._yields(relevant), stored_with)
        order = prioritise(self._due, expected_yield)
        line = QueryLine({_ENGINE: [due.query for due in order]}, expected_yield)
        waiting = [(float(place), place, due) for place, due in enumerate(order)]
        for request in range(requests):
            if not waiting:
                return
            place, _, due = heapq.heappop(waiting)
            self._due.remove(due)
            new, is_full = self._ask(due.query)
            line.note(due.query, new)
            if new and is_full and due.query.page < _RESULT_PAGES:
                after = replace(due.query, page=due.query.page + 1)
                following = DueQuery(after, due.rank, self._run)
                self._due.append(following)
                next_place = line.place_of_next_page(due.query, place)
                heapq.heappush(waiting, (next_place, len(order) + request, following))

    def _ask(self, query: Query) -> tuple[int, bool]:
        """Number of new pages, and whether the answer was full."""
        answer = self._web.answer(query.term, query.page - 1)
        new = set(answer) - self.found
        self._new.setdefault(query.term, []).append(new)
        self.found |= new
        return len(new), len(answer) == HITS

    def _yields(self, relevant: set[int]) -> dict[Pair, PairYield]:
        return {
            (word, EVERYWHERE, _ENGINE): PairYield(
                len(answers),
                sum(map(len, answers)),
                sum(map(len, answers)),
                sum(len(new & relevant) for new in answers),
            )
            for word, answers in self._new.items()
        }


def _scorer(terms: Sequence[Term]) -> PageScorer:
    pack = TopicPack("t", "t", "", DEFAULT_THRESHOLD, tuple(terms), (), ())
    return page_scorers.get("blend")(pack)


def _proposed(
    web: SearchedWeb, terms: Sequence[Term], found: set[int], looked_at: set[str]
) -> list[str]:
    """What the desk would show: of the pages found so far that the scorer takes for the topic's."""
    scorer = _scorer(terms)
    builder = LexiconBuilder([term.text for term in terms])
    for number in sorted(found):
        page = web.pages[number]
        if scorer.judge(page).relevant:
            builder.add(Document(page.title, page.text))
    lexicon = builder.lexicon()
    proposals = expansion(
        terms,
        ontology=current_ontology(),
        neighbours=builder.neighbours(),
        stated=lexicon.aliases,
    )
    chosen = candidates(lexicon, proposals, known=looked_at, count=_PROPOSED)
    return [one.text for one in chosen]


def _is_of_topic(web: SearchedWeb, word: str) -> bool:
    """Whether the scripted expert takes *word*."""
    holders = web.holders(word)
    return len(holders) >= _LEAST_PAGES and len(web.relevant & set(holders)) * 2 >= len(holders)


METHODS: dict[str, Callable[[SearchedWeb], list[float]]] = {
    "loop": looped,
    "fixed words": fixed,
}
"""Coverage after each round by each method."""
