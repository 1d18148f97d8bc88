"""The exception family.

QiaoError
├── ConfigError            a wrong or misspelt option, setting or spider argument (exit code 1)
│   └── WorkerStartError   the processes that analyse pages cannot work; no page is at fault
├── TopicError             a topic pack or an import table with faults; carries every bad row
├── StorageError           the database cannot do what was asked
│   ├── UnknownTopicError  a topic that was never imported
│   ├── SchemaError        the schema is older or newer than this code
│   ├── OutdatedError      what was to be written was made from rows that changed meanwhile
│   ├── DatabaseLostError  the database was deleted, replaced or damaged while in use
│   ├── PageStoreError     raw pages outside the database that cannot be read or written
│   └── CrawlLockedError   another crawl already runs on this SQLite file
├── ExtractionError        a page cannot be analysed (the page, not the program, is at fault)
│   └── PoisonPageError    a page that killed or outlasted its worker
├── TrapError              a URL that is one of a trap, and so not fetched
├── AddressRefusedError    a URL that leads to a private address nobody allowed
├── ModelError             a stored model of a crawl order that is damaged or not its own
├── WriterError            a language model that may not be asked, or does not answer as it must
├── OntologyError          a wordnet that cannot be read or kept
├── RenderError            a page the browser cannot open as it must
│   └── BrowserLostError   the page took the browser down, or hung
├── HostParkedError        a host that asked to wait, whichever worker it told
├── RobotsUnreachableError a host whose robots.txt cannot be had is not asked for now
├── BlockedError           an answer that is a block rather than the page
├── ProxyError             what a proxy did instead of asking the site; shows no password
│   └── ProxiesRestError   no proxy is left for a host, and it is not asked directly
├── SessionError           a login, its recipe or its account
│   ├── SecretKeyError     the key that opens stored secrets is missing or another one
│   ├── LoginError         a login that did not succeed
│   ├── LoginPageError     a page that asks for a login although one is there
│   └── SessionRestError   no account of a site may be used now
├── SignInError            a sign-in at the office's provider that did not succeed
├── StampError             a time stamp that was not given, or is none of what it is for
├── ClusterError           the Dask cluster is not there, not of this code, or lost its workers
├── JobError               a job that cannot be started, or a scrapyd server that refuses
│   └── ServerAwayError    a scrapyd server that does not answer
└── ReplayError            a recorded web that cannot be read

Messages name the thing, the bad value with ``!r`` and what is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class QiaoError(Exception):
    """Base of every error this project raises on purpose."""


class ConfigError(QiaoError):
    """A wrong or misspelt option, setting or spider argument."""


class WorkerStartError(ConfigError):
    """The worker processes that analyse pages cannot start, or die between pages."""


@dataclass(frozen=True, slots=True)
class RowFault:
    """One bad row of a table: where it stands (1-based line, header included) and why it is bad."""

    table: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.table}:{self.line}: {self.reason}"


class TopicError(QiaoError):
    """A topic pack or an import table with faults; nothing of it was imported."""

    def __init__(self, message: str, faults: Sequence[RowFault] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)


class StorageError(QiaoError):
    """The database cannot do what was asked."""


class UnknownTopicError(StorageError):
    """A topic that was never imported."""


class SchemaError(StorageError):
    """The schema of the database is older or newer than this code."""


class OutdatedError(StorageError):
    """What was to be written was made from rows that changed meanwhile; nothing was written."""


class DatabaseLostError(StorageError):
    """The database was deleted, replaced or damaged while in use: waiting helps nothing."""


class PageStoreError(StorageError):
    """Raw pages outside the database that cannot be read or written; names file and offset."""


class CrawlLockedError(StorageError):
    """Another crawl already runs on this SQLite file."""


class ExtractionError(QiaoError):
    """A page cannot be analysed."""


class PoisonPageError(ExtractionError):
    """A page that killed or outlasted the worker process that analysed it."""


class OntologyError(QiaoError):
    """A wordnet that cannot be read or kept; the message names the file."""


class TrapError(QiaoError):
    """A URL that is not fetched since it is one of the pages a site makes without end."""


class AddressRefusedError(QiaoError):
    """A URL that leads to a private address nobody allowed.

    Attributes:
        host: whose address it is; "" where the URL itself is at fault.
    """

    def __init__(self, message: str, host: str = "") -> None:
        super().__init__(message)
        self.host = host


class RenderError(QiaoError):
    """A page the browser cannot open as it must be opened; another try may do."""


class BrowserLostError(RenderError):
    """The browser, or its page, crashed or hung while the page was open."""


class HostParkedError(QiaoError):
    """A host asked to wait (429, 503), this worker or another one; ``seconds`` are left."""

    def __init__(self, host: str, seconds: float) -> None:
        super().__init__(f"{host} asks to wait {seconds:.1f} s more")
        self.seconds = seconds


class RobotsUnreachableError(QiaoError):
    """A host whose robots.txt cannot be had; RFC 9309 forbids to ask it for now.

    ``retry_seconds`` is when robots.txt may be asked for again, ``cause`` what came in its place;
    ``is_refusal``: a firewall answered in its place.
    """

    def __init__(
        self,
        message: str,
        retry_seconds: float,
        cause: BaseException | None = None,
        *,
        is_refusal: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_seconds = retry_seconds
        self.cause = cause
        self.is_refusal = is_refusal


class BlockedError(QiaoError):
    """An answer that is a block rather than the page; the message says what was seen.

    ``pause_seconds`` is how long the host is to be left alone, None where only this page is in
    doubt; ``give_up`` leaves the host until the next run; ``wants_login``: the answer sends to a
    login, and the URL ends there.
    """

    def __init__(
        self,
        message: str,
        pause_seconds: float | None = None,
        *,
        give_up: bool = False,
        wants_login: bool = False,
    ) -> None:
        super().__init__(message)
        self.pause_seconds = pause_seconds
        self.give_up = give_up
        self.wants_login = wants_login


class ProxyError(QiaoError):
    """What a proxy did instead of asking the site; the message shows no user or password."""


class ProxiesRestError(ProxyError):
    """No proxy is left for a host now; ``retry_seconds`` is when one may be."""

    def __init__(self, message: str, retry_seconds: float) -> None:
        super().__init__(message)
        self.retry_seconds = retry_seconds


class ModelError(QiaoError):
    """A stored model of a crawl order that is damaged, too large, or of another kind."""


class SessionError(QiaoError):
    """A login, its recipe or its account; the message never holds a secret."""


class SecretKeyError(SessionError):
    """The key that opens stored secrets (QIAO_SECRET_KEY) is missing, malformed or another one."""


class LoginError(SessionError):
    """A login that did not succeed.

    ``is_final``: another try with the same secret would end the same way, and may lock the
    account; ``is_alert``: somebody may be after the secret, so an operator has to look.
    """

    def __init__(self, message: str, *, is_final: bool = False, is_alert: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final
        self.is_alert = is_alert


class LoginPageError(SessionError):
    """A page that asks for a login although the account is logged in."""


class SessionRestError(SessionError):
    """No account of a site may be used now, or the one that was used rests.

    ``retry_seconds`` says when to ask again: 0 for at once, inf for not in this run.
    """

    def __init__(self, message: str, retry_seconds: float) -> None:
        super().__init__(message)
        self.retry_seconds = retry_seconds


class ReplayError(QiaoError):
    """A recorded web that cannot be read."""


class ClusterError(QiaoError):
    """The Dask cluster is not there, runs other code, or lost its workers for good."""


class JobError(QiaoError):
    """A job that cannot be started or stopped, or a scrapyd server that refuses."""


class NoLoginError(JobError):
    """A node's user and password are not here: nobody asked it."""


class ServerAwayError(JobError):
    """A scrapyd server that does not answer; it may have done what it was asked."""


class StampError(QiaoError):
    """A time stamp that an authority did not give, or that is none of what it is for."""


class SignInError(QiaoError):
    """A sign-in at the office's provider that did not succeed; ``is_away``: that is at fault."""

    def __init__(self, message: str, *, is_away: bool = False) -> None:
        super().__init__(message)
        self.is_away = is_away


class WriterError(QiaoError):
    """A language model that may not be asked, or does not answer as it must.

    Args:
        outcome: one of ``OUTCOMES`` of ``news/writing/address.py``.
    """

    def __init__(self, message: str, *, outcome: str) -> None:
        super().__init__(message)
        self.outcome = outcome
