"""Classifies what an engine sent back. Pure; blocked is never counted as empty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qiaocrawl.items import AnswerState, Hit, Query, SearchAnswer
from qiaocrawl.search.definition import request_url
from qiaocrawl.search.documents import HtmlDocument, JsonDocument, parse_document
from qiaocrawl.search.reading import PageHits, read_hits
from qiaocrawl.search.records import EngineDefinition, Signal
from qiaocrawl.search.signs import (
    COMMON_BLOCK_WORDS,
    COMMON_CHECK_PATHS,
    found_sign,
    found_word,
    is_on_site,
    shares_words,
)
from qiaocrawl.text import decode_page
from qiaocrawl.urls import host_of

_BLOCKED_STATUSES = (403, 429)

Headers = Mapping[str, str] | Iterable[tuple[str, str]]


def read_answer(
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
        ``hit`` with at least one hit; ``empty`` only where the engine says so; ``blocked``
        (403, 429, check page, no body); ``decoy`` (no hit shows a bigram of the term, or none
        is on the asked site); ``layout_changed`` (no hits and no sign why); ``error``. Hits
        off the asked site are left out and counted in ``message``.
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
    document = parse_document(decode_page(body, content_type).text, definition.format)
    try:
        return _by_document(definition, query, status, document)
    except ValueError as error:
        # A selector that compiles but cannot be evaluated: the definition is at fault.
        return SearchAnswer(AnswerState.ERROR, message=f"{definition.source}: {error}")


def _pairs(headers: Headers) -> Iterable[tuple[str, str]]:
    return headers.items() if isinstance(headers, Mapping) else headers


def _status_message(definition: EngineDefinition, status: int) -> str:
    hint = dict(definition.status_hints).get(status, "")
    return f"status {status}: {hint}" if hint else f"status {status}"


def _by_redirect(definition: EngineDefinition, status: int, location: str) -> SearchAnswer | None:
    if not 300 <= status < 400 or not location:
        return None
    signals = (signal for signal in definition.signals.blocked if signal.place == "location")
    words = [word for signal in signals for word in signal.words]
    if found_word((*words, *COMMON_CHECK_PATHS), location):
        return SearchAnswer(AnswerState.BLOCKED, message=f"redirect to check page {location}")
    return SearchAnswer(AnswerState.ERROR, message=f"redirect to {location} was not followed")


def _by_document(
    definition: EngineDefinition,
    query: Query,
    status: int,
    document: HtmlDocument | JsonDocument,
) -> SearchAnswer:
    signals = definition.signals
    # The title of a check page is sure; other signs may stand beside hits.
    titles = [signal for signal in signals.blocked if signal.place == "title"]
    if sign := found_sign(titles, document, query.term):
        return SearchAnswer(AnswerState.BLOCKED, message=sign)
    if not 200 <= status < 300 or document.broken:
        reason = document.broken or _status_message(definition, status)
        return _blocked(definition, query, document) or SearchAnswer(
            AnswerState.ERROR, message=reason
        )
    page = read_hits(definition, document, query, request_url(definition, query))
    kept = _answering(definition, query, page.hits)
    if kept and shares_words(query.term, kept):
        return _hit(definition, query, document, page, kept)
    return (
        _blocked(definition, query, document)
        or _signed(AnswerState.ERROR, signals.error, query, document)
        or _signed(AnswerState.EMPTY, signals.empty, query, document)
        or _without_sign(definition, query, document, page)
    )


def _answering(
    definition: EngineDefinition, query: Query, hits: tuple[Hit, ...]
) -> tuple[Hit, ...]:
    """Hits on the asked site; links still wrapped by the engine may lead there and stay."""
    if not query.site:
        return hits
    own = definition.host
    return tuple(
        hit for hit in hits if is_on_site(hit.url, query.site) or host_of(hit.url) == own
    )


def _hit(
    definition: EngineDefinition,
    query: Query,
    document: HtmlDocument | JsonDocument,
    page: PageHits,
    kept: tuple[Hit, ...],
) -> SearchAnswer:
    signals = definition.signals
    more = not signals.next or bool(found_sign(signals.next, document, ""))
    partial = [s for s in (*signals.blocked, *signals.error) if s.place == "json"]
    notes = {
        "off the asked site": len(page.hits) - len(kept),
        "advertisements or the like": page.left_out,
        "without title or address": page.unreadable,
    }
    words = [f"{count} {what}" for what, count in notes.items() if count]
    if sign := found_sign(partial, document, query.term):
        words.append(f"partial answer ({sign})")
    return SearchAnswer(
        AnswerState.HIT,
        kept,
        has_next=more and query.page < definition.paging.max_pages,
        message="; ".join(words),
    )


def _blocked(
    definition: EngineDefinition, query: Query, document: HtmlDocument | JsonDocument
) -> SearchAnswer | None:
    own = _signed(AnswerState.BLOCKED, definition.signals.blocked, query, document)
    common = Signal("text", words=COMMON_BLOCK_WORDS), Signal("title", words=COMMON_BLOCK_WORDS)
    return own or _signed(AnswerState.BLOCKED, common, query, document)


def _signed(
    state: AnswerState,
    signals: tuple[Signal, ...],
    query: Query,
    document: HtmlDocument | JsonDocument,
) -> SearchAnswer | None:
    sign = found_sign(signals, document, query.term)
    return SearchAnswer(state, message=sign) if sign else None


def _without_sign(
    definition: EngineDefinition,
    query: Query,
    document: HtmlDocument | JsonDocument,
    page: PageHits,
) -> SearchAnswer:
    if page.hits:
        on_site = not query.site or bool(_answering(definition, query, page.hits))
        why = f"show nothing of {query.term!r}" if on_site else f"are not on {query.site}"
        return SearchAnswer(AnswerState.DECOY, message=f"{len(page.hits)} hits {why}")
    if page.unreadable:
        message = f"{page.unreadable} entries, none with title and address"
        return SearchAnswer(AnswerState.LAYOUT_CHANGED, message=message)
    if not document.has_place(definition.hits.each):
        return SearchAnswer(AnswerState.LAYOUT_CHANGED, message="no hits and no sign why")
    if query.page > 1:
        return SearchAnswer(AnswerState.EMPTY, message="past the last page")
    # An interface that lists nothing and says nothing: unknown, not none.
    return SearchAnswer(AnswerState.ERROR, message="an empty list and no sign that it is true")
