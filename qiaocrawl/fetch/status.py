"""Decides by status code what to do with a URL: read it, follow it, try again, or give up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from qiaocrawl.fetch.backoff import retry_after_seconds
from qiaocrawl.items import FetchedPage, Outcome
from qiaocrawl.urls import UrlJoiner, canonical_url

_GONE = frozenset({404, 410})
BUSY_STATUSES = frozenset({429, 503})
"""The host is there and asks to be left alone for a while."""


@dataclass(frozen=True, slots=True)
class FetchDecision:
    """How a fetch ended when its page is not to be read.

    ``is_busy`` asks to leave the whole host alone, for ``park_seconds`` where it says so;
    ``target`` is where a redirect leads.
    """

    outcome: Outcome
    reason: str
    park_seconds: float = 0.0
    target: str = ""
    is_busy: bool = False


def judge_fetch(page: FetchedPage, *, longest_park_seconds: float) -> FetchDecision | None:
    """Decide by status code and headers; None means the page is worth reading (2xx)."""
    status = page.status
    if 200 <= status < 300:
        return None if page.body else _empty(page)
    reason = f"HTTP {status} {_phrase(status)}".strip()
    if 300 <= status < 400:
        return _redirect(page, reason)
    if status in BUSY_STATUSES:
        wait = retry_after_seconds(
            page.header("retry-after"), page.fetched_at, longest_park_seconds
        )
        return FetchDecision(Outcome.RETRY, reason, park_seconds=wait or 0.0, is_busy=True)
    # A server error may be over the next time; a client error (4xx) is not.
    if status >= 500:
        return FetchDecision(Outcome.RETRY, reason)
    if status == 401:
        return FetchDecision(Outcome.LOGIN, reason)
    if status == 403:
        return FetchDecision(Outcome.BLOCKED, reason)
    word = "gone" if status in _GONE else "refused"
    return FetchDecision(Outcome.DEAD, f"{reason} ({word})")


def judge_type(page: FetchedPage, allowed: Sequence[str]) -> FetchDecision | None:
    """Refuse a page of another content type than those *allowed* (T4); None means it may be read.

    Args:
        allowed: such as ``text/html`` and ``text/*``; () = all.
    """
    kind = page.header("content-type").partition(";")[0].strip().lower()
    main = kind.partition("/")[0]
    if not allowed or not kind or any(one.lower() in (kind, f"{main}/*") for one in allowed):
        return None
    return FetchDecision(Outcome.NOT_HTML, f"content type {kind} is not in QIAO_CONTENT_TYPES")


def _empty(page: FetchedPage) -> FetchDecision:
    """What an answer without a body says by its headers."""
    from qiaocrawl.page.markup import header_refresh

    target = header_refresh(page.header("refresh"), UrlJoiner(page.url))
    if target and target != canonical_url(page.url):
        return FetchDecision(Outcome.REDIRECT, "Refresh header", target=target)
    return FetchDecision(Outcome.NOT_ARTICLE, "empty body")


def _redirect(page: FetchedPage, reason: str) -> FetchDecision:
    # Header bytes were read as latin-1; Chinese servers write UTF-8 or GBK into Location.
    raw = page.header("location").encode("latin-1", "replace")
    location = "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in raw)
    target = canonical_url(location, page.url) if location else None
    if target is None:
        return FetchDecision(Outcome.DEAD, f"{reason} without a target that can be fetched")
    return FetchDecision(Outcome.REDIRECT, reason, target=target)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
