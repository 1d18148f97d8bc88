"""Decides by status code what to do with a URL: read it, follow it, try again, or give up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from qiaocrawl.fetch.backoff import retry_after_seconds
from qiaocrawl.fetch.block_detection import BlockKind, BlockSign, find_block
from qiaocrawl.items import FetchedPage, Outcome
from qiaocrawl.urls import UrlJoiner, canonical_url
from qiaocrawl.urls.login import looks_like_login, sends_to_login

_GONE = frozenset({404, 410})
# The server waited in vain for the request, or wants it once more.
_ONCE_MORE = frozenset({408, 425})
BUSY_STATUSES = frozenset({429, 503})
"""The host is there and asks to be left alone for a while."""


@dataclass(frozen=True, slots=True)
class FetchDecision:
    """How a fetch ended when its page is not to be read.

    ``is_busy`` asks to leave the whole host alone, for ``park_seconds`` where it says so;
    ``target`` is where a redirect leads. ``is_refusal``: a server, or a firewall before it, does
    not want to give us the page; after the last try it ends as blocked, never as unreachable.
    ``may_be_login``: the target may be a login, which is known once it is followed.
    """

    outcome: Outcome
    reason: str
    park_seconds: float = 0.0
    target: str = ""
    is_busy: bool = False
    is_refusal: bool = False
    may_be_login: bool = False


def judge_fetch(page: FetchedPage, *, longest_park_seconds: float) -> FetchDecision | None:
    """Decide by status code and headers; None means the page is worth reading (2xx)."""
    status = page.status
    reason = f"HTTP {status} {_phrase(status)}".strip()
    if 200 <= status < 300:
        return None if page.body else _without_body(page)
    if 300 <= status < 400:
        return _redirect(page, reason)
    if status in _GONE:
        return FetchDecision(Outcome.DEAD, f"{reason} (gone)")
    if status == 401:
        return FetchDecision(Outcome.LOGIN, reason)
    sign = find_block(page)
    if status in BUSY_STATUSES:
        return _busy(page, reason, sign, longest_park_seconds)
    if sign is not None and sign.kind is not BlockKind.FORBIDDEN:
        reason = str(sign)
    elif sign is not None or 400 <= status < 500 and status not in _ONCE_MORE:
        word = "refused"
        reason = f"{reason} ({word})"
    # A server error may be over the next time; a client error (4xx) is not.
    if 400 <= status < 500 and status not in _ONCE_MORE:
        return FetchDecision(Outcome.BLOCKED, reason, is_refusal=True)
    return FetchDecision(Outcome.RETRY, reason, is_refusal=sign is not None)


def _without_body(page: FetchedPage) -> FetchDecision:
    # Some firewalls say "accepted" while they check, and send the page never.
    if page.status == HTTPStatus.ACCEPTED and (sign := find_block(page)) is not None:
        return FetchDecision(Outcome.BLOCKED, str(sign), is_refusal=True)
    return _empty(page)


def _busy(
    page: FetchedPage, reason: str, sign: BlockSign | None, longest_park_seconds: float
) -> FetchDecision:
    """429, which means us; 503 mostly means the server, unless its page checks the visitor."""
    wait = retry_after_seconds(page.header("retry-after"), page.fetched_at, longest_park_seconds)
    if sign is None or sign.kind is BlockKind.BUSY or wait is not None:
        return FetchDecision(Outcome.RETRY, reason, park_seconds=wait or 0.0, is_busy=True,
                             is_refusal=sign is not None)  # fmt: skip
    return FetchDecision(Outcome.RETRY, str(sign), is_refusal=True)


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
    from qiaocrawl.page.page import header_refresh

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
    if sends_to_login(page.url, target):
        # The page that is wanted stands behind the login; the login page is no page anybody wants.
        place = target.partition("?")[0]
        return FetchDecision(Outcome.LOGIN, f"{reason}, sends to the login page {place}")
    may_be_login = looks_like_login(target) and not looks_like_login(page.url)
    return FetchDecision(Outcome.REDIRECT, reason, target=target, may_be_login=may_be_login)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
