"""Classifies the answer of an engine. Pure; a blocked answer never counts as empty."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from qiaocrawl.language import N_, _
from qiaocrawl.search.documents import Document, parse_document
from qiaocrawl.search.hits import (
    COMMON_BLOCK_WORDS,
    COMMON_CHECK_PATHS,
    PageHits,
    answering_upstreams,
    describe_failures,
    failed_upstreams,
    is_on_site,
    matching_signal,
    matching_word,
    parse_hits,
    shares_words,
)
from qiaocrawl.search.query import WITH_HITS, AnswerState, Hit, Query, SearchAnswer
from qiaocrawl.search.records import EngineDefinition, Signal
from qiaocrawl.text.charset import decode_page

_BLOCKED_STATUSES = (403, 429)

# "48,300", "1.2万", "3亿"
_NUMBER = re.compile(r"(\d{1,15}(?:[,，]\d{3})*(?:\.\d{1,6}(?!\d))?)\s{0,3}([万萬亿億]?)")
_UNITS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_MAX_TOTAL_CHARS = 300
# No engine has so many pages; more is a joke that no column of a database holds **(ours)**.
_MOST_TOTAL = 10**15

Headers = Mapping[str, str] | Iterable[tuple[str, str]]


def parse_answer(
    definition: EngineDefinition, query: Query, status: int, headers: Headers, body: bytes
) -> SearchAnswer:
    """The answer of *definition* to *query*, classified; never raises on any bytes.

    Args:
        definition: the engine that was asked.
        query: what it was asked.
        status: HTTP status; redirects may have been followed or not.
        headers: response headers as a mapping or pairs, names in any case.
        body: the body, content encoding (gzip …) removed.

    Returns:
        ``hit`` with at least one hit, ``partial`` where engines behind it failed; ``empty`` only
        where the engine says so, ``unknown`` for an empty list without a word; ``blocked`` (403,
        429, check page, no body); ``decoy`` (none on the asked site; or none shows a bigram of
        the term, which ``doubted`` leaves open); ``layout_changed`` (no hits and no sign why);
        ``error``. Hits off the asked site are left out and counted in ``message``.
    """
    named = {name.lower(): value for name, value in _pairs(headers)}
    if answer := _by_redirect(definition, status, named.get("location", "")):
        return answer
    if status in _BLOCKED_STATUSES:
        return SearchAnswer(AnswerState.BLOCKED, message=_status_message(definition, status))
    if not body.strip() and 200 <= status < 400:
        return SearchAnswer(AnswerState.BLOCKED, message="empty body")
    content_type = named.get("content-type", "")
    if definition.charset:
        content_type = f"text/html; charset={definition.charset}"
    text = decode_page(body, content_type).text
    document = parse_document(text, definition.format, definition.scripts)
    try:
        return _by_document(definition, query, status, document)
    except ValueError as error:
        # A selector that compiles but cannot be evaluated: the engine's definition is wrong.
        return SearchAnswer(AnswerState.ERROR, message=f"{definition.source}: {error}")


def cut_answer(answer: SearchAnswer) -> SearchAnswer:
    """*answer* as read from a part: hits may be missing, and no hits are no empty list."""
    lost = "the connection was lost before the end of the page"
    message = "; ".join(filter(None, (answer.message, lost)))
    if answer.state is AnswerState.HIT:
        return replace(answer, state=AnswerState.PARTIAL, message=message)
    if answer.state in (AnswerState.BLOCKED, AnswerState.PARTIAL):
        return replace(answer, message=message)
    return SearchAnswer(AnswerState.ERROR, message=message)


def _pairs(headers: Headers) -> Iterable[tuple[str, str]]:
    return headers.items() if isinstance(headers, Mapping) else headers


def _status_message(definition: EngineDefinition, status: int) -> str:
    hint = definition.status_hints.get(str(status), "")
    return f"status {status}: {hint}" if hint else f"status {status}"


def _by_redirect(definition: EngineDefinition, status: int, location: str) -> SearchAnswer | None:
    # A redirect without a target is judged by its body.
    if not 300 <= status < 400 or not location:
        return None
    signals = (signal for signal in definition.signals.blocked if signal.place == "location")
    words = [word for signal in signals for word in signal.words]
    if matching_word((*words, *COMMON_CHECK_PATHS), location):
        return SearchAnswer(AnswerState.BLOCKED, message=f"redirect to check page {location}")
    return SearchAnswer(AnswerState.ERROR, message=f"redirect to {location} was not followed")


def _by_document(
    definition: EngineDefinition,
    query: Query,
    status: int,
    document: Document,
) -> SearchAnswer:
    signals = definition.signals
    # Only the title proves a check page; other signs may also stand beside real hits.
    titles = [signal for signal in signals.blocked if signal.place == "title"]
    if sign := matching_signal(titles, document, _terms(query)):
        return SearchAnswer(AnswerState.BLOCKED, message=sign)
    if not 200 <= status < 300 or document.broken:
        reason = document.broken or _status_message(definition, status)
        return _blocked_answer(definition, query, document, PageHits()) or SearchAnswer(
            AnswerState.ERROR, message=reason
        )
    page = parse_hits(definition, document, query, definition.address)
    answer = _by_hits(definition, query, document, page)
    failed = failed_upstreams(definition, document)
    if failed and answer.state in (AnswerState.BLOCKED, AnswerState.ERROR):
        # Name all failed upstreams: the sign that matched shows only one.
        answer = replace(answer, message=describe_failures(failed))
    return replace(answer, failed=failed)


def _by_hits(
    definition: EngineDefinition, query: Query, document: Document, page: PageHits
) -> SearchAnswer:
    signals = definition.signals
    answering = _answering(definition, query, page.hits)
    if page.hits and (sign := matching_signal(signals.decoy, document, _terms(query))):
        return SearchAnswer(AnswerState.DECOY, message=sign)
    hit = _hit(definition, query, document, page, answering) if answering else None
    if hit is not None and shares_words(_terms(query), answering):
        return hit
    return (
        # Nothing that shows the term: signs are believed from the surest to the least.
        _blocked_answer(definition, query, document, page)
        or _answer_by_sign(AnswerState.ERROR, _fitting(signals.error, page), query, document)
        or _answer_by_sign(AnswerState.EMPTY, _fitting(signals.empty, page), query, document)
        or _classify_without_signal(definition, query, document, page, hit)
    )


def _fitting(signals: tuple[Signal, ...], page: PageHits) -> list[Signal]:
    # Some words mean something only where the page lists nothing.
    return [signal for signal in signals if not (signal.alone and page.hits)]


def _answering(
    definition: EngineDefinition, query: Query, hits: tuple[Hit, ...]
) -> tuple[Hit, ...]:
    """Hits on the asked site; links still wrapped by the engine may lead there and stay."""
    if not query.site:
        return hits
    return tuple(
        hit for hit in hits if is_on_site(hit.url, query.site) or definition.wraps(hit.url)
    )


def _hit(
    definition: EngineDefinition,
    query: Query,
    document: Document,
    page: PageHits,
    answering: tuple[Hit, ...],
) -> SearchAnswer:
    # Without a sign for a next page, the engine's own bound decides.
    signals = definition.signals
    more = not signals.next or bool(matching_signal(signals.next, document, ()))
    notes = {
        "off the asked site": len(page.hits) - len(answering),
        "advertisements or the like": page.left_out,
        "without title or address": page.unreadable,
    }
    words = [f"{count} {what}" for what, count in notes.items() if count]
    if failed := failed_upstreams(definition, document):
        words.append(describe_failures(failed))
    return SearchAnswer(
        AnswerState.PARTIAL if failed else AnswerState.HIT,
        answering,
        has_next=more and query.page < definition.paging.max_pages,
        message="; ".join(words),
        total=_total(document.whole(definition.total), answering[-1].position),
        answered_by=answering_upstreams(definition, document),
    )


def _total(text: str, at_least: int) -> int | None:
    """The largest number in *text* ("约 48,300 个结果"); None for less than there are hits.

    None also for more than 10^15.
    """
    numbers = []
    for digits, unit in _NUMBER.findall(text[:_MAX_TOTAL_CHARS]):
        whole = float(digits.replace(",", "").replace("，", "")) * _UNITS.get(unit, 1)
        numbers.append(int(whole))
    # The largest: "第 1-10 条，共 48,300 条" has three numbers. Interfaces write 0 for "unknown".
    total = max(numbers, default=0)
    return total if max(at_least, 1) <= total <= _MOST_TOTAL else None


def _terms(query: Query) -> tuple[str, ...]:
    return (query.term, *query.also)


def _blocked_answer(
    definition: EngineDefinition, query: Query, document: Document, page: PageHits
) -> SearchAnswer | None:
    signals = _fitting(definition.signals.blocked, page)
    own = _answer_by_sign(AnswerState.BLOCKED, signals, query, document)
    # Words of check pages that all engines share, in the text or the title.
    common = Signal("text", words=COMMON_BLOCK_WORDS), Signal("title", words=COMMON_BLOCK_WORDS)
    return own or _answer_by_sign(AnswerState.BLOCKED, common, query, document)


def _answer_by_sign(
    state: AnswerState,
    signals: Iterable[Signal],
    query: Query,
    document: Document,
) -> SearchAnswer | None:
    sign = matching_signal(signals, document, _terms(query))
    return SearchAnswer(state, message=sign) if sign else None


def _classify_without_signal(
    definition: EngineDefinition,
    query: Query,
    document: Document,
    page: PageHits,
    hit: SearchAnswer | None,
) -> SearchAnswer:
    if page.hits:
        why = f"show nothing of {query.term!r}" if hit else f"are not on {query.site}"
        message = f"{len(page.hits)} hits {why}"
        doubted = hit and replace(hit, message="; ".join(filter(None, (hit.message, message))))
        return SearchAnswer(AnswerState.DECOY, message=message, doubted=doubted)
    if page.unreadable:
        message = f"{page.unreadable} entries, none with title and address"
        return SearchAnswer(AnswerState.LAYOUT_CHANGED, message=message)
    # A page without hits and without a place for them has been built anew.
    if not document.has_place(definition.hits.each):
        return SearchAnswer(AnswerState.LAYOUT_CHANGED, message="no hits and no sign why")
    # Past the last page many engines list nothing and say nothing.
    if query.page > 1:
        return SearchAnswer(AnswerState.EMPTY, message="past the last page")
    # An empty list without a word proves nothing: "unknown" is asked again, "empty" is not.
    return SearchAnswer(AnswerState.UNKNOWN, message="an empty list and no sign that it is true")


# --- What answers of engines are called at the terminal: one word for one thing, everywhere -------

ANSWER_NAMES = {
    AnswerState.HIT: N_("hit"),
    AnswerState.PARTIAL: N_("partial"),
    AnswerState.EMPTY: N_("empty"),
    AnswerState.BLOCKED: N_("blocked"),
    AnswerState.DECOY: N_("decoy"),
    AnswerState.LAYOUT_CHANGED: N_("layout changed"),
    AnswerState.ERROR: N_("error"),
    AnswerState.UNKNOWN: N_("unknown"),
    AnswerState.ROBOTS: N_("not chosen"),
    AnswerState.NOT_ASKED: N_("not asked"),
}
"""States in the order they are shown."""


def answer_name(state: AnswerState) -> str:
    """What *state* is called in the operator's language."""
    return _(ANSWER_NAMES[state])


# --- What an operator may do about the answers of an engine ---------------------------------------

ADVICE = {
    AnswerState.BLOCKED: N_(
        "ask less (QIAO_SEARCH_DAILY_BUDGET), or ask through your own SearXNG or a keyed interface"
    ),
    AnswerState.DECOY: N_("the engine fobs us off: later again, or another engine"),
    AnswerState.LAYOUT_CHANGED: N_(
        "look with `qiaocrawl engines check {engine}` and mend its definition"
    ),
    AnswerState.ERROR: N_("look at address and network (does {engine} run?)"),
    AnswerState.UNKNOWN: N_("mostly there is nothing; it is asked again"),
    AnswerState.PARTIAL: N_("what is missing is asked for again soon"),
    AnswerState.NOT_ASKED: N_("run `qiaocrawl crawl search` again, or raise the day's budget"),
}
NOT_CHOSEN = N_(
    "result pages of public engines forbid robots: read their terms, then choose (QIAO_ENGINES)"
)
_SERVICE_BLOCKED = N_("ask less (QIAO_SEARCH_DAILY_BUDGET), look at its key, quota and settings")


def advice_of(state: AnswerState, engine: EngineDefinition | None) -> str:
    """What fits the engine: its own definition's word first."""
    if engine is not None:
        if own := engine.advice.get(state):
            return own
        if state is AnswerState.BLOCKED and engine.kind == "service":
            return _(_SERVICE_BLOCKED)
    return _(ADVICE[state])


# --- Recognises decoys from several answers, where the words of one leave a doubt -----------------
# Titles and snippets are short: genuine hits of a term may show synonyms only, or another
# language. So hits without a word of the term count as genuine unless other queries speak
# against them: an engine that deceives a robot gives the same hits to different queries, or
# shows the words of none of them.

# Fewer hits are no evidence (ours).
_LEAST_HITS = 3
# Different terms in a row none of whose hits show a word of them, the last included (ours). Of
# genuine answers up to 15 in 100 are such (measured on 33), so one in 300 goes wrong.
_IN_A_ROW = 3


class DecoyWatch:
    """The doubtful answers of one run, by engine.

    It judges only answers that come later: one requested again is judged again.
    """

    def __init__(self) -> None:
        self._doubtful: dict[str, dict[str, frozenset[str]]] = {}

    def decide(self, query: Query, answer: SearchAnswer) -> SearchAnswer:
        """*answer* with a doubt about its words settled: a decoy, or hits whose message says so."""
        if answer.doubted is None:
            if answer.state in WITH_HITS:
                # The engine shows what it is asked for.
                self._doubtful.pop(query.engine, None)
            return answer
        urls = frozenset(hit.url for hit in answer.doubted.hits)
        if len(urls) < _LEAST_HITS:
            return answer.doubted
        row = self._doubtful.setdefault(query.engine, {})
        # Other terms only: the same query may rightly bring the same hits.
        earlier = [seen for term, seen in row.items() if term != query.term]
        row[query.term] = urls | row.get(query.term, frozenset())
        # Half of the hits for two different terms: no answer to either.
        if any(2 * len(urls & seen) >= len(urls) for seen in earlier):
            why = "as another term brought"
        elif len(earlier) + 1 >= _IN_A_ROW:
            why = f"as of {len(earlier)} terms before"
        else:
            return answer.doubted
        return replace(answer, message=f"{answer.message}, {why}", doubted=None)
