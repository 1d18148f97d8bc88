"""Why a message did not leave, in words of an office: libraries speak to programmers.

The far side may be away, its name unknown, its certificate wrong, its mail server unwilling. Each
of these has a message of its own; what is none of them is handed on as it was said.
"""

from __future__ import annotations

import ast
import errno
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from http.client import RemoteDisconnected

from qiaocrawl.language import N_
from qiaocrawl.news.warnings.guarded import NO_NAME

NOT_REACHED = N_("cannot be reached: {why}")
_NOBODY_THERE = N_("the connection is refused: nothing serves there")
_NOT_IN_TIME = N_("no answer in time")
_CLOSED = N_("connection closed before an answer came")
_NO_WAY = N_("no way leads there: its network or this one is away")
_NO_TLS = N_("no secure connection (TLS): {what}")
_NOT_SENT = N_("could not be sent: {why}")
_MAIL_LOG_IN = N_("the mail server refuses the log-in; user or password is wrong: {why}")
_MAIL_NO_LOG_IN = N_("the mail server takes no log-in on this connection; try its port for TLS")
_MAIL_NO_TLS = N_("the mail server has no encryption; smtp:// before its name goes without")
_MAIL_RECEIVER = N_("the mail server takes no mail for the receiver: {why}")
_MAIL_REFUSED = N_("the mail server refuses the message: {why}")

_REFUSED_ERRNO = frozenset({errno.ECONNREFUSED})
_AWAY_ERRNO = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})
_CLOSED_ERRNO = frozenset({errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED})
# Not every system has all of them.
_NAME_ERRORS = ("EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME")
_NAME_ERRNO = frozenset(getattr(socket, name) for name in _NAME_ERRORS if hasattr(socket, name))
_DEEPEST = 12
# 530 asks for one, 534, 535 and 538 refuse it (RFC 4954).
_LOG_IN_CODES = frozenset({"530", "534", "535", "538"})
_ERRNO = re.compile(r"\[Errno (-?\d+)\]")
_MAIL_ANSWER = re.compile(r"""\((\d{3}), (b?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))""", re.DOTALL)
_TLS_SAYS = re.compile(r"\[SSL(?:: [A-Z_0-9]+)?\] (.+?)(?: \(_ssl\.c:\d+\))?", re.DOTALL)


def reason_of_error(error: BaseException, hide: Callable[[str], str] = str) -> str:
    """Why *error* kept a message from being sent by HTTP, and what stands behind it.

    Args:
        hide: takes secrets out of what others say.
    """
    chain = list(_behind(error))
    for one in reversed(chain):
        if why := _reason_of_one(one):
            return NOT_REACHED.format(why=why)
    if any("timeout" in type(one).__name__.lower() for one in chain):
        return NOT_REACHED.format(why=_NOT_IN_TIME)
    last = chain[-1]
    return NOT_REACHED.format(why=hide(f"{last}") or type(last).__name__)


def reason_of_words(words: str, error: str = "", hide: Callable[[str], str] = str) -> str:
    """Why a message was not sent, as a library tells it.

    Args:
        words: all that it said.
        error: of that the error alone, "" where it has none.
        hide: takes secrets out of both.
    """
    if "'" in error and error.startswith("{") and (found := _MAIL_ANSWER.search(error)):
        return _MAIL_RECEIVER.format(why=hide(_answer(found)))
    if (found := _MAIL_ANSWER.match(error)) is not None:
        template = _MAIL_LOG_IN if found[1] in _LOG_IN_CODES else _MAIL_REFUSED
        return template.format(why=hide(_answer(found)))
    if error.startswith(("SMTP AUTH extension", "No suitable authentication")):
        return _MAIL_NO_LOG_IN
    if error.startswith("STARTTLS extension"):
        return _MAIL_NO_TLS
    if (found := _TLS_SAYS.fullmatch(error)) is not None:
        return NOT_REACHED.format(why=_NO_TLS.format(what=hide(found[1])))
    if (found := _ERRNO.search(error)) is not None and (why := _by_number(int(found[1]))):
        return NOT_REACHED.format(why=why)
    if "timed out" in error:
        return NOT_REACHED.format(why=_NOT_IN_TIME)
    if "unexpectedly closed" in error:
        return NOT_REACHED.format(why=_CLOSED)
    return _NOT_SENT.format(why=hide(words)) if words else ""


def _behind(error: BaseException) -> Iterator[BaseException]:
    """*error*, and what it came of, the first cause last: libraries keep it in several places."""
    found: BaseException | None = error
    for _depth in range(_DEEPEST):
        if found is None:
            return
        yield found
        inside = (getattr(found, "reason", None), *found.args, found.__cause__, found.__context__)
        found = next((one for one in inside if isinstance(one, BaseException)), None)


def _reason_of_one(error: BaseException) -> str:
    if isinstance(error, socket.gaierror):
        return NO_NAME
    if isinstance(error, ssl.SSLError):
        said = getattr(error, "verify_message", "") or getattr(error, "reason", "") or f"{error}"
        return _NO_TLS.format(what=said)
    if isinstance(error, TimeoutError):
        return _NOT_IN_TIME
    if isinstance(error, RemoteDisconnected):
        return _CLOSED
    return _by_number(error.errno) if isinstance(error, OSError) and error.errno else ""


def _by_number(number: int) -> str:
    if number in _REFUSED_ERRNO:
        return _NOBODY_THERE
    if number in _AWAY_ERRNO:
        return _NO_WAY
    if number in _CLOSED_ERRNO:
        return _CLOSED
    if number == errno.ETIMEDOUT:
        return _NOT_IN_TIME
    return NO_NAME if number in _NAME_ERRNO else ""


def _answer(found: re.Match[str]) -> str:
    """What a mail server said, code and words, on one line."""
    said: bytes | str = ast.literal_eval(found[2])
    words = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return " ".join(f"{found[1]} {words}".split())
