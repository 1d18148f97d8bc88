"""Plans all queries: keyword x site x engine, and each keyword without a site (Q1).

A budget may end the plan anywhere, so every prefix of it should be a fair sample: heavier
terms come first and more often, and every site and engine is included early.
"""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from itertools import zip_longest
from typing import TypeVar

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import NO_PAYLOAD, Candidate, Lease, Link, Payload, Queue
from qiaocrawl.language import _
from qiaocrawl.ontology.similarity import NAMED_KINDS
from qiaocrawl.ontology.sources import current_ontology
from qiaocrawl.search.hits import is_on_site
from qiaocrawl.search.query import EVERYWHERE, Hit, Query, SearchAnswer
from qiaocrawl.search.records import EngineDefinition
from qiaocrawl.search.request import EngineRequest, day_range, query_url, request_for
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import Site, Term, TopicPack
from qiaocrawl.urls import host_of, url_key

# --- Splits by time: a query whose answer is cut off is sent again for shorter periods ------------
# A period is ``day``, ``week``, ``month`` or ``year`` (the last one), or ``2026-01-01/2026-02-01``
# (first day and the day after the last), as :class:`qiaocrawl.search.query.Query` says.

LAST_PERIODS = ("day", "week", "month", "year")

_SHORTER = {"": "year", "year": "month", "month": "week", "week": "day"}
_RANGE = re.compile(r"\d{4}-\d\d-\d\d/\d{4}-\d\d-\d\d")
_YEAR = timedelta(days=365)
# About when news on the web begins (ours).
_FIRST_DAY = date(1995, 1, 1)


def can_ask(engine: EngineDefinition, period: str) -> bool:
    """Whether *engine* can be asked for *period*; for any time ("") it always can."""
    return engine.supports_period(period)


def checked_period(text: str) -> str:
    """*text* as a period.

    Raises:
        ConfigError: it is none.
    """
    period = text.strip()
    if period in ("", *LAST_PERIODS):
        return period
    try:
        if _RANGE.fullmatch(period) and range_of(period)[0] < range_of(period)[1]:
            return period
    except ValueError:
        pass
    raise ConfigError(
        _(
            "period= must be one of {periods} or FIRST/END as 2026-01-01/2026-02-01 "
            "(END is the day after the last), got {text!r}",
            periods=", ".join(LAST_PERIODS),
            text=text,
        )
    )


def range_of(period: str) -> tuple[date, date]:
    """First day and the day after the last of a period that names them.

    Raises:
        ValueError: it does not, or there is no such day.
    """
    first, _, end = period.partition("/")
    return date.fromisoformat(first), date.fromisoformat(end)


def is_past(period: str, today: date) -> bool:
    """Whether *period* names days that are all over: little new can come there."""
    return bool(_RANGE.fullmatch(period)) and range_of(period)[1] <= today


def leads_on(answer: SearchAnswer, engine: EngineDefinition) -> bool:
    """Whether another result page may hold hits.

    Some engines' pages do not say so: one less than half full is the last one (ours).
    """
    is_half_full = 2 * len(answer.hits) >= engine.paging.per_page
    return answer.has_next and (bool(engine.signals.next) or is_half_full)


def is_cut_off(
    query: Query, answer: SearchAnswer, engine: EngineDefinition, most_pages: int
) -> bool:
    """Whether the engine has more than may be asked for, or than it lets one page through.

    Args:
        most_pages: result pages the operator has asked for one query.
    """
    if answer.has_next:
        return leads_on(answer, engine) and query.page >= most_pages
    if query.page < min(most_pages, engine.paging.max_pages):
        return False
    if answer.total is None:
        # No total, and no further page may be asked for: a page that is half full tells (ours).
        return not engine.signals.next and 2 * len(answer.hits) >= engine.paging.per_page
    return answer.total > query.page * engine.paging.per_page


def shorter_periods(engine: EngineDefinition, period: str, today: date) -> tuple[str, ...]:
    """What to ask for in place of *period*, the newest first; () when it goes no shorter.

    An engine that takes days is asked for halves of the days, down to one day; any time is
    then the last year and all before. Others are asked for the next shorter of the last year,
    month, week and day.
    """
    days = _days_of(engine, period, today)
    if days is not None:
        first, end = days
        middle = first + timedelta(days=(end - first).days // 2)
        # All time: the last year is split off, since most results are from there.
        if period == "":
            middle = end - _YEAR
        # A single day cannot be halved.
        if middle in (first, end):
            return ()
        return _period_text(middle, end), _period_text(first, middle)
    shorter = _SHORTER.get(period, "")
    # Only the newer part: an engine without ranges cannot be asked for the rest.
    return (shorter,) if shorter and can_ask(engine, shorter) else ()


def _days_of(engine: EngineDefinition, period: str, today: date) -> tuple[date, date] | None:
    """The days of *period*; None where the engine cannot be asked for days."""
    if _RANGE.fullmatch(period):
        return range_of(period)
    # The end of a range is the day after its last.
    tomorrow = today + timedelta(days=1)
    if not can_ask(engine, _period_text(today, tomorrow)):
        return None
    # The days it was asked for: none may be left out between its halves and what came before.
    return day_range(period, today) if period else (_FIRST_DAY, tomorrow)


def _period_text(first: date, end: date) -> str:
    return f"{first.isoformat()}/{end.isoformat()}"


# --- Groups terms that ask for the same: spelling variants always, synonyms if the engine has
# OR

MAX_WORDS = 4
"""Words of one OR-group, the term included (ours): engines read a few dozen characters, and a
long list of results is cut sooner."""
MAX_CHARS = 30
"""Characters of one OR-group without its operators, for the same reason (ours)."""

Concept = Callable[[str], int | None]
"""The concept a folded word usually stands for; None for a word nobody knows."""


@dataclass(frozen=True, slots=True)
class TermGroup:
    """A term as it is asked, with the words asked in one group with it.

    ``weight`` is the heaviest word's; the term is that word, the first of equals.
    """

    term: str
    weight: float
    also: tuple[str, ...] = ()


def usual_concept(word: str) -> int | None:
    """The concept a folded *word* usually stands for in the ontologies at hand."""
    senses = current_ontology().senses(word)
    return senses[0] if senses else None


def group_terms(
    terms: Iterable[Term], most_words: int, concept: Concept = usual_concept
) -> list[TermGroup]:
    """*terms* folded, the heaviest first, in given order where equal.

    Words that differ by script (traditional, simplified), width, case or white space are one.
    Words whose usual concept is the same are asked together where the engine has OR-groups.
    None of them is left out, since our ontology also joins words that are only near (闽商 and
    粤商).
    Names of persons, places and media stay alone.

    Args:
        most_words: of one query; 1 where the engine has no OR-groups: only spellings are
            folded then, and the spelling of the heaviest is asked.
        concept: what joins words, by their folded form.
    """
    spellings = _by_spelling(terms)
    if most_words < 2:
        return [TermGroup(words[0].text, words[0].weight) for words in spellings]
    classes: dict[object, list[list[Term]]] = {}
    for number, words in enumerate(spellings):
        concept_id = None if words[0].kind in NAMED_KINDS else concept(_fold_word(words[0].text))
        classes.setdefault(("alone", number) if concept_id is None else concept_id, []).append(
            words
        )
    groups = [group for members in classes.values() for group in _fill_groups(members, most_words)]
    return sorted(groups, key=lambda group: -group.weight)


def _fold_word(text: str) -> str:
    return "".join(fold(text).split())


def _by_spelling(terms: Iterable[Term]) -> list[list[Term]]:
    """Terms of one folded spelling together, the heaviest first; the heaviest lists first."""
    spellings: dict[str, dict[str, Term]] = {}
    for term in terms:
        text = " ".join(term.text.split())
        if not text:
            continue
        # Variants of one spelling: 台湾 and 臺灣; each is kept with its heaviest weight.
        same = spellings.setdefault(_fold_word(text), {})
        if text not in same or same[text].weight < term.weight:
            same[text] = Term(text, term.kind, term.weight)
    lists = [
        sorted(same.values(), key=lambda variant: -variant.weight) for same in spellings.values()
    ]
    return sorted(lists, key=lambda words: -words[0].weight)


def _fill_groups(members: Sequence[list[Term]], most_words: int) -> Iterable[TermGroup]:
    """Groups of at most *most_words* words and :data:`MAX_CHARS` characters, in order."""
    words: list[Term] = []
    for term in (word for spelling in members for word in spelling):
        chars = sum(len(word.text) for word in words) + len(term.text)
        if words and (len(words) == most_words or chars > MAX_CHARS):
            yield _group(words)
            words = []
        words.append(term)
    yield _group(words)


def _group(words: Sequence[Term]) -> TermGroup:
    return TermGroup(words[0].text, words[0].weight, tuple(word.text for word in words[1:]))


# --- Plans all queries: keyword x site x engine, and each keyword without a site (Q1) -------------


def plan(
    pack: TopicPack,
    engines: Sequence[EngineDefinition],
    *,
    sites: Sequence[str] | None = None,
    max_terms: int | None = None,
    period: str = "",
    fold_synonyms: bool = True,
) -> Iterator[Query]:
    """All queries of a topic, each once, for result page 1, in the order they should be asked.

    Terms take turns in proportion to their weights (stride scheduling, Waldspurger and Weihl
    1995: the n-th query of a term is due at n / weight). A term is first asked without a
    site, then on the sites, always on the one asked least so far. Each query goes to all
    engines in a row, another engine beginning each time; engines that cannot be restricted to
    a site get only the queries without one. Deterministic; O(sites) a query.

    Args:
        pack: terms and sites; terms that differ only in spelling are one.
        engines: the engines to ask.
        sites: only these hosts, the most important first, with :data:`EVERYWHERE` for the
            query without a site; None = that and all sites of the pack, by authority.
        max_terms: only this many of the heaviest terms (groups of synonyms); None = all.
        period: asked of engines that can be asked for it; the others are asked for any time.
        fold_synonyms: ask synonyms in one group where the engine has groups.
    """
    hosts = [EVERYWHERE, *_by_authority(pack.sites)] if sites is None else list(sites)
    hosts = list(dict.fromkeys(hosts))
    by_words: dict[int, list[EngineDefinition]] = {}
    # Engines that ask the same groups of words share a line, so that a term comes to all at once.
    for engine in engines:
        by_words.setdefault(words_per_query(engine) if fold_synonyms else 1, []).append(engine)
    lines = [
        _plan(pack.name, group_terms(pack.terms, most_words)[:max_terms], hosts, some, period)
        for most_words, some in sorted(by_words.items())
    ]
    # Round-robin over the engines, each time beginning with another one.
    # zip_longest: lines of engines that take more words at once are shorter.
    for number, lines_now in enumerate(zip_longest(*lines, fillvalue=())):
        round_queries = [query for queries in lines_now for query in queries]
        first = number % len(round_queries) if round_queries else 0
        yield from round_queries[first:] + round_queries[:first]


def words_per_query(engine: EngineDefinition) -> int:
    """How many words are asked as alternatives in one query; 1 where there are no groups."""
    return min(MAX_WORDS, engine.any_of.max_terms) if engine.any_of else 1


def _plan(
    topic: str,
    groups: Sequence[TermGroup],
    hosts: Sequence[str],
    engines: Sequence[EngineDefinition],
    period: str,
) -> Iterator[Sequence[Query]]:
    """Query by query, the queries for *engines*, which all ask the same groups."""
    # Without such an engine a site would only repeat the query without one.
    if not any(engine.supports_site for engine in engines):
        hosts = [host for host in hosts if host == EVERYWHERE]
    for group, site in _questions(groups, hosts):
        yield [
            Query(
                topic,
                group.term,
                site,
                engine.name,
                also=group.also,
                period=period if can_ask(engine, period) else "",
            )
            for engine in engines
            if site == EVERYWHERE or engine.supports_site
        ]


def _by_authority(sites: Iterable[Site]) -> list[str]:
    return [site.host for site in sorted(sites, key=lambda site: site.tier)]


def _questions(
    groups: Sequence[TermGroup], hosts: Sequence[str]
) -> Iterator[tuple[TermGroup, str]]:
    times = dict.fromkeys(hosts, 0)
    waiting = [list(hosts) for _ in groups]
    due = (
        # Stride scheduling: a term of weight 2 is due twice as often as one of weight 1.
        [(1 / term_group.weight, rank, 1) for rank, term_group in enumerate(groups)]
        if hosts
        else []
    )
    heapq.heapify(due)
    while due:
        _, rank, turn = heapq.heappop(due)
        group = groups[rank]
        # Of equals min() takes the first, which is the more important site.
        # A term is asked everywhere first, then where least was asked so far.
        site = min(waiting[rank], key=lambda host: -1 if host == EVERYWHERE else times[host])
        waiting[rank].remove(site)
        times[site] += 1
        yield group, site
        if waiting[rank]:
            heapq.heappush(due, ((turn + 1) / group.weight, rank, turn + 1))


# --- How many requests an engine may get per day --------------------------------------------------

T = TypeVar("T")

REQUESTS_A_DAY = {"scraped": 200, "service": 5_000, "keyed": 100}
"""Where the operator sets none: what a diligent reader asks a public engine (ours), what an own
instance bears easily, and what Baidu and Google allow a key free of charge."""

# Names that never lead to a real host (RFC 6761), such as the demo's engines: nobody is spared
# there.
_RESERVED = (".test", ".invalid", ".example")


def budgets_of(given: Sequence[str]) -> dict[str, int]:
    """The ``name=number`` pairs of QIAO_SEARCH_DAILY_BUDGET, which the options have checked."""
    return {name: int(number) for name, _, number in (pair.partition("=") for pair in given)}


def daily_limit(engine: EngineDefinition, given: Mapping[str, int]) -> int | None:
    """Most requests a day of *engine*; None = no limit.

    Args:
        given: QIAO_SEARCH_DAILY_BUDGET, by name of an engine or by kind (scraped, service,
            and keyed for interfaces with a key); the name wins.
    """
    # An engine with a key counts as keyed first: its key has a quota.
    kinds = ("keyed", engine.kind) if getattr(engine, "keys", ()) else (engine.kind,)
    for name in (engine.name, *kinds):
        if name in given:
            # 0 means no limit.
            return given[name] or None
    if engine.host.endswith(_RESERVED):
        return None
    return REQUESTS_A_DAY[kinds[0]]


def within_budget(order: Sequence[T], left: int | None) -> Sequence[T]:
    """The first of *order* that the day's budget has *left* requests for; None = all."""
    return order if left is None else order[: max(left, 0)]


# --- Turns queries into frontier rows, and an engine's hits into candidates -----------------------


def search_request(definition: EngineDefinition, query: Query) -> EngineRequest:
    """The request that asks *definition* for *query*, its key out of the environment.

    Raises:
        ConfigError: the engine lacks something to be asked, or cannot be asked that.
    """
    return request_for(definition, query, os.environ)


def query_candidate(
    query: Query, definition: EngineDefinition, *, rank: float = 0, depth: int = 0
) -> Candidate:
    """The frontier row that asks *query*; a smaller *rank* is asked earlier.

    Its address stands for the query and holds no key; it is not in canonical form: an engine's
    parameters are its language.
    """
    url = query_url(definition, query)
    return Candidate(
        url=url,
        key=url_key(url),
        host=host_of(url),
        queue=Queue.SEARCH,
        topic=query.topic,
        # Negative: a smaller rank is asked earlier, and so is a higher score.
        score=-float(rank),
        depth=depth,
        payload=Payload(**asdict(query)),
        # A query is asked again whenever it is due, although its row is done.
        refetch=True,
    )


def query_of(lease: Lease) -> Query:
    """The query a leased row asks.

    Raises:
        ValueError: its payload holds none.
    """
    payload = lease.payload
    if not (payload.engine and payload.term):
        raise ValueError(f"no query in the payload of {lease.url}")
    return Query(
        payload.topic,
        payload.term,
        payload.site,
        payload.engine,
        payload.page,
        payload.period,
        payload.also,
    )


def next_page(
    query: Query, definition: EngineDefinition, lease: Lease, *, place: float
) -> Candidate:
    """The following result page, asked at *place* of the engine's line."""
    following = replace(query, page=query.page + 1)
    candidate = query_candidate(following, definition, rank=place, depth=lease.depth + 1)
    return replace(candidate, parent=lease.key)


def hit_candidates(
    hits: Sequence[tuple[Hit, Link]], lease: Lease, *, topic: str
) -> list[Candidate]:
    """Search results as pages to fetch; an earlier position is fetched earlier."""
    return [
        Candidate(
            url=link.url,
            key=link.key,
            host=link.host,
            queue=Queue.PAGES,
            topic=topic,
            score=1.0 / (1 + position),
            parent=lease.key,
            anchor=hit.title,
            context=hit.snippet,
            payload=_asked_site(lease, link),
        )
        for position, (hit, link) in enumerate(hits)
    ]


def _asked_site(lease: Lease, link: Link) -> Payload:
    """For a hit that is still a link of the engine: where it must lead in the end."""
    site = lease.payload.site
    return Payload(asked_site=site) if site and not is_on_site(link.url, site) else NO_PAYLOAD
