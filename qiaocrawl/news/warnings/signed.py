"""Messages to a program: JSON by POST, signed, to public addresses only.

The form is that of Standard Webhooks (standardwebhooks.com), for which many languages have a
library: ``webhook-id``, ``webhook-timestamp`` and ``webhook-signature``, an HMAC-SHA256 of the
first two and the body. Who gets a message twice knows it by its id. Redirects are not followed.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import ssl
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

import httpcore

from qiaocrawl import __version__
from qiaocrawl.fetch.addresses import Origin
from qiaocrawl.language import N_
from qiaocrawl.news.warnings.answers import BUSY, REDIRECTED, REFUSED, Refusal
from qiaocrawl.news.warnings.failures import reason_of_error
from qiaocrawl.news.warnings.guarded import DestinationError, judged_addresses

if TYPE_CHECKING:
    from qiaocrawl.news.warnings.stored import DueMessage

MARK = "signed+"
"""What an address begins with whose messages are signed; the secret stands before its host."""
DATA = "data"
"""Severity of messages whose text is the JSON that is sent, as it is."""

SECONDS = 15.0
"""So long the far side may take for all of its answer."""
_SECRET_BYTES, _SECRET_MARK = 24, "whsec_"
_TOO_SLOW = N_("no answer in {seconds} s")
_GONE = N_("wants no more messages (HTTP 410)")
_BUSY_STATUSES = (408, 425, 429)


def new_secret() -> str:
    """A secret as the form of Standard Webhooks has it."""
    return _SECRET_MARK + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def signed_address(url: str, secret: str) -> str:
    """The address of a channel that signs with *secret* what it sends to *url*."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    signed = parts._replace(netloc=f"{quote(secret, safe='')}@{host}")
    return f"{MARK}{signed.geturl()}"


def is_signed_address(address: str) -> bool:
    """Whether *address* is one of :func:`signed_address`, with a secret that can sign."""
    try:
        url, secret = split_address(address)
        Origin.of(url)
        return address.startswith(MARK) and bool(_key(secret))
    except ValueError:
        return False


def split_address(address: str) -> tuple[str, str]:
    """Where an address of :func:`signed_address` leads to, and its secret."""
    parts = urlsplit(address.removeprefix(MARK))
    secret, _at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=host).geturl(), unquote(secret)


def _key(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(_SECRET_MARK), validate=True)


def signature(secret: str, message_id: str, timestamp: str, body: bytes) -> str:
    """What stands in ``webhook-signature``."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(_key(secret), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def envelope(kind: str, at: datetime, data: object) -> str:
    """What is sent of something that happened, such as ``article.new``; *at* is aware."""
    record = {"type": kind, "timestamp": at.astimezone(UTC).isoformat(), "data": data}
    return json.dumps(record, ensure_ascii=False)


def send_signed(address: str, message: DueMessage, now: float) -> Refusal | None:
    """Send *message* once; why it did not arrive, None if it did. *now*: epoch seconds."""
    url, secret = split_address(address)
    text = message.body
    if message.severity != DATA:
        told = {"severity": message.severity, "title": message.title, "text": message.body}
        text = envelope("message", datetime.fromtimestamp(now, UTC), told)
    body, timestamp = text.encode(), str(int(now))
    message_id = f"msg_{message.message_id}"
    headers: dict[bytes | str, bytes | str] = {
        "Host": urlsplit(url).netloc,
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "User-Agent": f"qiaocrawl/{__version__}",
        "Connection": "close",
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": signature(secret, message_id, timestamp, body),
    }
    try:
        backend = _GuardedBackend(url)
        with (
            httpcore.ConnectionPool(_tls(), network_backend=backend) as pool,
            pool.stream("POST", url, headers=headers, content=body) as answer,
        ):
            # What it says beside the status is nobody's matter.
            return _refusal_of(answer.status)
    except DestinationError as error:
        return Refusal(error.reason, is_final=error.is_final, is_busy=not error.is_final)
    except httpcore.TimeoutException:
        return Refusal(_TOO_SLOW.format(seconds=f"{SECONDS:g}"), is_busy=True)
    except (httpcore.NetworkError, httpcore.ProtocolError, ssl.SSLError, OSError) as error:
        return Refusal(reason_of_error(error), is_busy=True)


def _refusal_of(status: int) -> Refusal | None:
    why = f"HTTP {status}"
    if 200 <= status < 300:
        return None
    if status == 410:
        return Refusal(_GONE, is_final=True, is_gone=True)
    if 300 <= status < 400:
        return Refusal(REDIRECTED, is_final=True)
    if status >= 500 or status in _BUSY_STATUSES:
        return Refusal(BUSY.format(why=why), is_busy=True)
    return Refusal(REFUSED.format(why=why), is_final=True)


# --- The connection: to an address that was judged, within the time that is given -----------------


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


class _GuardedBackend(httpcore.NetworkBackend):
    """Connects to what a name was found to lead to, if that is public or allowed."""

    def __init__(self, url: str) -> None:
        self._origin = Origin.of(url)
        self._until = time.monotonic() + SECONDS
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to the first address of *host* that takes one."""
        addresses = judged_addresses(self._origin, host, port)
        failure: Exception | None = None
        for address in addresses:
            try:
                stream = self._inner.connect_tcp(address, port, _left(self._until))
                return _TimedStream(stream, self._until)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore.ConnectError(host)


class _TimedStream(httpcore.NetworkStream):
    """A connection whose whole life is bounded: who sends a byte now and then is cut off too."""

    def __init__(self, inner: httpcore.NetworkStream, until: float) -> None:
        self._inner, self._until = inner, until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What came."""
        return self._inner.read(max_bytes, _left(self._until))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send *buffer*."""
        self._inner.write(buffer, _left(self._until))

    def close(self) -> None:
        """End it."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """The same, encrypted."""
        inner = self._inner.start_tls(ssl_context, server_hostname, _left(self._until))
        return _TimedStream(inner, self._until)

    def get_extra_info(self, info: str) -> object:
        """What is known of the socket."""
        return self._inner.get_extra_info(info)


def _left(until: float) -> float:
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise httpcore.ReadTimeout
    return seconds
