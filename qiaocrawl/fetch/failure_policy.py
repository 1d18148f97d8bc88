"""What becomes of a URL that brought no page: another try, a wait without blame, or its end.

Pure: the caller says what failed, :meth:`FailurePolicy.decide` says what to do, and the caller
does it. How a host fares is decided in :mod:`qiaocrawl.fetch.host_rules`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from http import HTTPStatus
from typing import Any

from qiaocrawl.fetch.block_detection import BlockKind, BlockSign, find_block
from qiaocrawl.items import FetchedPage, Outcome
from qiaocrawl.urls import UrlJoiner, canonical_url
from qiaocrawl.urls.login import looks_like_login, sends_to_login

# --- How long to leave a host or a URL alone ------------------------------------------------------

GROWTH = 4.0
"""How much longer each further pause is."""
HOST_PAUSES = 3
"""The pauses of a host that refuses again and again grow to this one: 2, 8, 32 s by default."""


def backoff_seconds(failures: int, first_seconds: float) -> float:
    """Pause after the *failures*-th failed fetch (1 = the first): first, x4, x16 …"""
    return first_seconds * GROWTH ** max(failures - 1, 0)


def retry_after_seconds(header: str, now: datetime, longest_seconds: float) -> float | None:
    """Seconds a ``Retry-After`` header asks for (RFC 9110: seconds or an HTTP date).

    Returns:
        A value in [0, longest_seconds], or None when the header is empty or unreadable.
    """
    header = header.strip()
    if header.isascii() and header.isdigit():
        # Cut before conversion: a hostile header may hold a million digits.
        return min(float(header[:12]), longest_seconds)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    # Without a time zone it could mean any hour of a day.
    if moment.tzinfo is None:
        return None
    # A date in the past asks for no wait.
    return min(max((moment - now).total_seconds(), 0.0), longest_seconds)


# Whatever the options, a host that does not answer or blocks rests for up to an hour.
_LEAST_SECONDS = 3_600.0
# For clocks of several machines, and for transactions that had to wait.
_SLACK_SECONDS = 60.0


def longest_wait_seconds(options: Mapping[str, Any]) -> float:
    """The longest pause these options can give a row or a host."""
    asked: float = options["QIAO_MAX_RETRY_AFTER_SECONDS"]
    growing = FailurePolicy.of(options).longest_pause_seconds
    return max(_LEAST_SECONDS, asked, growing) + _SLACK_SECONDS


# --- What becomes of a URL that brought no page: another try, a wait without blame, or its end ----

# Times a URL waits for a busy host before it fails. With the default pauses (2, 8, 32 s, then three
# counted tries) a host that stays away is given up after two minutes.
_PATIENCE = 3


class FailureKind(StrEnum):
    """What failed."""

    NO_PAGE = "no page"  # no answer, an error of the server, a redirect to itself
    INTERNAL = "internal"  # our own work on the page
    BLOCKED = "blocked"
    BUSY = "busy"  # the host asks to wait
    CANNOT_ASK = "cannot ask"  # the host rests, or there is no proxy or account for it
    ADDRESS_REFUSED = "address refused"
    TRAP = "trap"
    LOGIN = "login"
    ROBOTS = "robots"
    TOO_LARGE = "too large"


# Another try would end the same way.
_CLOSED_AT_ONCE: Mapping[FailureKind, Outcome] = {
    FailureKind.ADDRESS_REFUSED: Outcome.REFUSED,
    FailureKind.TRAP: Outcome.TRAP,
    FailureKind.LOGIN: Outcome.LOGIN,
    FailureKind.ROBOTS: Outcome.ROBOTS,
    FailureKind.TOO_LARGE: Outcome.TOO_LARGE,
}
_GIVEN_UP_AS: Mapping[FailureKind, Outcome] = {
    FailureKind.NO_PAGE: Outcome.UNREACHABLE,
    FailureKind.BUSY: Outcome.UNREACHABLE,
    FailureKind.BLOCKED: Outcome.BLOCKED,
    FailureKind.INTERNAL: Outcome.POISON,
}


@dataclass(frozen=True, slots=True)
class FetchFailure:
    """Why a fetch brought no page.

    Attributes:
        pause_seconds: the host is left alone so long, so the URL waits as long at least.
        host_given_up: the host is asked nothing more in this run.
        wait_reason: what a URL that is only put back waits for; "" for ``reason``.
        is_refusal: an answer refused us: given up, the URL is blocked, whatever failed.
    """

    kind: FailureKind
    reason: str
    pause_seconds: float = 0.0
    host_given_up: bool = False
    wait_reason: str = ""
    is_refusal: bool = False


@dataclass(frozen=True, slots=True)
class Retry:
    """The failure counts; the URL is due again after the pause."""

    reason: str
    pause_seconds: float


@dataclass(frozen=True, slots=True)
class Release:
    """The URL waits again, and no failure is counted."""

    reason: str


@dataclass(frozen=True, slots=True)
class Close:
    """The URL is done with; POISON sets it aside."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class FailurePolicy:
    """How often and how soon a URL is tried again.

    Attributes:
        max_failures: with so many it is given up.
        first_pause_seconds: after the first failure; each further pause is four times as long.
    """

    max_failures: int
    first_pause_seconds: float

    @classmethod
    def of(cls, options: Mapping[str, float]) -> FailurePolicy:
        """The policy these options ask for."""
        return cls(
            int(options["QIAO_FRONTIER_MAX_FAILURES"]), options["QIAO_FRONTIER_RETRY_SECONDS"]
        )

    def decide(
        self, failure: FetchFailure, *, failures: int, waits: int = 0
    ) -> Retry | Release | Close:
        """What becomes of the URL.

        Args:
            failures: counted against it before this one.
            waits: how often it was put back before because its host was busy.
        """
        kind, reason = failure.kind, failure.reason
        if kind in _CLOSED_AT_ONCE:
            return Close(_CLOSED_AT_ONCE[kind], reason)
        is_patient = kind is FailureKind.BUSY and waits < _PATIENCE
        # CANNOT_ASK has no limit: the wait is for the host, not the URL, and ends by itself.
        if kind is FailureKind.CANNOT_ASK or is_patient:
            return Release(failure.wait_reason or reason)
        # Before host_given_up: a URL that has used up its tries is not kept for another run.
        if failures + 1 >= self.max_failures:
            outcome = Outcome.BLOCKED if failure.is_refusal else _GIVEN_UP_AS[kind]
            return Close(outcome, reason)
        if failure.host_given_up:
            return Release(failure.wait_reason or reason)
        pause = backoff_seconds(failures + 1, self.first_pause_seconds)
        return Retry(reason, max(pause, failure.pause_seconds))

    def is_poison(self, deaths: int) -> bool:
        """Whether a page is set aside after a worker has died alone with it so often."""
        return deaths >= self.max_failures

    @property
    def longest_pause_seconds(self) -> float:
        """The longest pause of a URL or of its host."""
        # Of the URL or of the host, whichever lasts longer.
        return backoff_seconds(max(self.max_failures, HOST_PAUSES), self.first_pause_seconds)


# --- Decides by status code what to do with a URL: read it, follow it, try again, or give up ------

GONE = frozenset({404, 410})
"""The page is no more."""
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
    if status in GONE:
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
        return FetchDecision(
            Outcome.RETRY,
            reason,
            park_seconds=wait or 0.0,
            is_busy=True,
            is_refusal=sign is not None,
        )
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
