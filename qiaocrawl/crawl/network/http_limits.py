"""What one HTTP answer may cost, alone and beside others (F-R2, F-R3, F-R5, F-K7).

``DOWNLOAD_MAXSIZE`` bounds bodies. Twisted bounds neither the heads before them, 1xx answers
among them, nor the framing of chunks, and reads as fast as a host sends: a flood of any of them
leaves the event loop no time for other hosts. Here each is counted as it comes, and the
connection of one that is too large is cut at once.
"""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, cast

from scrapy.core.downloader.handlers import http11
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, ResponseFailed
from twisted.web.http import _ChunkedTransferDecoder
from twisted.web.http_headers import InvalidHeaderName

from qiaocrawl.crawl.network.address_guard import remember_written_names
from qiaocrawl.crawl.network.pacing import BeforeSending, PacedPool, connecting
from qiaocrawl.crawl.spider import CONNECTION_LOST

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.interfaces import IAddress
    from twisted.internet.protocol import Protocol as TwistedProtocol
    from twisted.web._newclient import HTTP11ClientProtocol
    from twisted.web._newclient import Request as TxRequest
    from twisted.web.iweb import IResponse

# --- How many large answers are read at once, and how fast (faults F-R2, F-K7) --------------------
# Each answer is bounded by ``DOWNLOAD_MAXSIZE``, their sum is not: fifty hosts that send ten
# megabytes each, as fast as they can, hold half a gigabyte and leave the event loop little time for
# others. So an answer beyond its first part takes one of a few places, in the order they come, and
# is read at a pace that no ordinary line reaches. A waiting connection is not read, and TCP tells
# the host so; ``DOWNLOAD_TIMEOUT`` runs on meanwhile.

FREE_BYTES = 256 * 1024
"""Of an answer as it comes over the line, read without a place; most pages have less."""
PLACES = 3
"""Large answers read at once **(ours)**: with 10 MiB each, 30 MiB in all."""
BYTES_PER_SECOND = 4 * 1024 * 1024
"""At most, of each large answer **(ours)**."""
# A slower answer needs no place: it costs little, and must not keep others waiting.
SLOW_BYTES_PER_SECOND = 256 * 1024
SLOW_AFTER_SECONDS = 2.0
# Timers for shorter pauses would cost more than they save.
_SHORTEST_PAUSE_SECONDS = 0.02


class Transport(Protocol):
    """A connection whose reading can be paused: Twisted's."""

    def pauseProducing(self) -> None:
        """Stop reading."""

    def resumeProducing(self) -> None:
        """Continue reading."""


@dataclass(slots=True)
class _Place:
    began: float
    read_bytes: int = 0

    @property
    def is_slow(self) -> bool:
        """Whether it has been read too slowly to keep others waiting."""
        seconds = time.monotonic() - self.began
        return seconds >= SLOW_AFTER_SECONDS and self.read_bytes < SLOW_BYTES_PER_SECOND * seconds


class LargeAnswers:
    """The large answers that one process reads. Not thread safe: the event loop's."""

    def __init__(self) -> None:
        self._reading: dict[Transport, _Place] = {}
        self._waiting: dict[Transport, None] = {}
        self._looks_again = False

    def note_received(self, transport: Transport, new_bytes: int, total_bytes: int) -> None:
        """*transport* brought *new_bytes*, *total_bytes* of this answer; it may be paused now."""
        if total_bytes <= FREE_BYTES:
            return
        place = self._reading.get(transport)
        # A dict keeps them in the order they come.
        if place is None:
            transport.pauseProducing()
            self._waiting[transport] = None
            self._fill()
            return
        place.read_bytes += new_bytes
        # How far reading is ahead of its pace; a pause of that length brings it back.
        ahead_seconds = place.read_bytes / BYTES_PER_SECOND - (time.monotonic() - place.began)
        if ahead_seconds > _SHORTEST_PAUSE_SECONDS:
            transport.pauseProducing()
            loop = asyncio.get_running_loop()
            loop.call_later(ahead_seconds, self._read_on, transport, place)

    def note_end(self, transport: Transport) -> None:
        """The answer of *transport* is whole or given up."""
        self._waiting.pop(transport, None)
        if self._reading.pop(transport, None) is not None:
            self._fill()

    def _fill(self) -> None:
        while self._waiting:
            if self._places_taken() >= PLACES:
                self._look_again()
                return
            transport = next(iter(self._waiting))
            del self._waiting[transport]
            place = self._reading[transport] = _Place(time.monotonic())
            self._read_on(transport, place)

    def _places_taken(self) -> int:
        """How many places are taken by answers that are not slow."""
        return sum(not place.is_slow for place in self._reading.values())

    def _look_again(self) -> None:
        """Check again soon whether an answer that holds a place has become slow."""
        if self._looks_again:
            return
        self._looks_again = True

        def look() -> None:
            self._looks_again = False
            self._fill()

        asyncio.get_running_loop().call_later(SLOW_AFTER_SECONDS / 2, look)

    def _read_on(self, transport: Transport, place: _Place) -> None:
        # During the pause the answer may have ended, and the connection may serve another one.
        if self._reading.get(transport) is place:
            transport.resumeProducing()


MAX_HEAD_BYTES = 256 * 1024
"""Of all heads of one answer, as Chromium bounds it; most answers have a hundredth of it."""
MAX_HEAD_LINES = 1000
"""Of all heads of one answer **(ours)**; curl takes 5,000."""
MAX_INTERIM_ANSWERS = 5
"""1xx answers before the real one, as Go's client bounds it."""
MAX_FRAMING_BYTES = 512 * 1024
"""Of a chunked body, beside the body: 85,000 chunks, a quarter of a second of CPU **(ours)**."""
_ZLIB = frozenset({b"gzip", b"x-gzip", b"deflate"})
_GZIP_OR_ZLIB = 47
_UNPACKED_AT_A_TIME = 65_536
# A host that never closes its half of a TLS connection holds our file descriptor no longer.
_CLOSING_SECONDS = 5.0


class AnswerTooLargeError(DownloadCancelledError):
    """An answer that passes a limit; the message says which one."""


class LimitedHTTPHandler(http11.HTTP11DownloadHandler):
    """Scrapy's handler with these limits.

    Raises AnswerTooLargeError, beside what Scrapy's raises.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        # Now: Scrapy's constructor puts its own way of writing names in Twisted's place.
        remember_written_names()
        # Scrapy makes the pool in its constructor and takes no class for it.
        self._pool.__class__ = PacedPool
        self._pool._factory = partial(_LimitedFactory, LargeAnswers())  # type: ignore[assignment]

    async def download_request(
        self, request: Request, before_sending: BeforeSending | None = None, server: str = ""
    ) -> Response:
        """Fetch *request*, from *server* (host:port, plain HTTP) in place of its own host's."""
        try:
            with connecting(before_sending, server):
                return self._flag_truncation(await super().download_request(request))
        except DownloadFailedError as error:
            raise _cause(error) from error
        except DownloadCancelledError as error:
            # Scrapy's error says nothing: the size of a body it cut goes only to the log.
            limit = request.meta.get("download_maxsize", self._default_maxsize)
            reason = str(error) or f"a body of more than {limit} bytes"
            raise AnswerTooLargeError(reason) from error

    def _flag_truncation(self, response: Response) -> Response:
        """Flag a compressed body that ended with its connection, but not by itself."""
        if "partial" not in response.flags or not response.body:
            return response
        encoding = (response.headers.get("Content-Encoding") or b"").strip().lower()
        if encoding not in _ZLIB or _ends(response.body, self._default_maxsize):
            return response
        return response.replace(flags=[*response.flags, CONNECTION_LOST])


def _cause(error: DownloadFailedError) -> Exception:
    """The exceeded limit that caused *error*; without one *error* itself."""
    failed = error.__cause__
    reasons = failed.reasons if isinstance(failed, ResponseFailed) else ()
    passed = (one.value for one in reasons if _is(one, AnswerTooLargeError))
    return next(passed, error)


class _CountedChunks(_ChunkedTransferDecoder):
    """Passes on what one read brought in one piece, and bounds the framing around it.

    A delivery costs Scrapy as much as a thousand bytes do: a body of chunks of one byte would
    cost an hour.
    """

    def __init__(
        self, dataCallback: Callable[[bytes], None], finishCallback: Callable[[bytes], None]
    ) -> None:
        self._pieces: list[bytes] = []
        super().__init__(self._pieces.append, self._finish)
        # Called once the last chunk has come, maybe in the middle of dataReceived().
        self._deliver = dataCallback
        self._finished = finishCallback
        self._framing_bytes = 0

    def dataReceived(self, data: bytes) -> None:
        """Twisted's; raises AnswerTooLargeError for more framing than a body can need."""
        # All bytes count as framing until _flush() subtracts those of the body.
        self._framing_bytes += len(data)
        try:
            super().dataReceived(data)
        finally:
            self._flush()
        # Checked after the flush: an incomplete chunk line stays with Twisted, and is short.
        if self._framing_bytes > MAX_FRAMING_BYTES:
            raise AnswerTooLargeError(f"chunks with more than {MAX_FRAMING_BYTES} bytes of framing")

    def _finish(self, rest: bytes) -> None:
        self._flush()
        self._finished(rest)

    def _flush(self) -> None:
        piece = b"".join(self._pieces)
        self._pieces.clear()
        self._framing_bytes -= len(piece)
        if piece:
            self._deliver(piece)


class _LimitedParser(http11._LenientHTTPClientParser):
    """Counts what comes before a body.

    Twisted makes a parser, which is given this class afterwards: the counts begin here.
    """

    _transferDecoders = {b"chunked": _CountedChunks}  # noqa: RUF012 - Twisted's
    _head_bytes = 0
    _head_lines = 0
    # +1 for the line feed, which Twisted has taken off.
    _interim_answers = 0

    def lineReceived(self, line: bytes) -> None:
        """A line of a head."""
        self._head_bytes += len(line) + 1
        self._head_lines += 1
        if self._head_bytes > MAX_HEAD_BYTES:
            raise AnswerTooLargeError(f"heads of more than {MAX_HEAD_BYTES} bytes")
        if self._head_lines > MAX_HEAD_LINES:
            raise AnswerTooLargeError(f"heads of more than {MAX_HEAD_LINES} lines")
        # A first header line cannot go on from one before it.
        if self.state == HEADER and self._partialHeader is None:
            line = line.lstrip(b" \t")
        super().lineReceived(line)

    def headerReceived(self, name: bytes, value: bytes) -> None:
        """A header; one whose name no browser would read, with a blank or quotes, is left aside.

        A blank in front of the colon does no harm: the header is as browsers read it.
        """
        with suppress(InvalidHeaderName):
            super().headerReceived(name.strip(), value)  # type: ignore[no-untyped-call]

    def allHeadersReceived(self) -> None:
        """The end of a head; of transfer codings only chunks count, and Twisted knows no other."""
        codings = self.connHeaders.getRawHeaders(b"transfer-encoding")
        if codings is not None:
            if b"chunked" in b",".join(codings).lower():
                self.connHeaders.setRawHeaders(b"transfer-encoding", [b"chunked"])
            else:
                self.connHeaders.removeHeader(b"transfer-encoding")
        super().allHeadersReceived()  # type: ignore[no-untyped-call]

    def lineLengthExceeded(self, line: bytes) -> None:
        """A line without end, or a longer one than Twisted takes."""
        raise AnswerTooLargeError(f"a head line of more than {self.MAX_LENGTH} bytes")

    def statusReceived(self, status: bytes) -> None:
        """The first line of a head."""
        super().statusReceived(status)  # type: ignore[no-untyped-call]
        self._interim_answers += 100 <= self.response.code < 200
        # A host may send "100 Continue" for ever without sending a page.
        if self._interim_answers > MAX_INTERIM_ANSWERS:
            raise AnswerTooLargeError(f"more than {MAX_INTERIM_ANSWERS} 1xx answers")

    def connectionLost(self, reason: Failure | None = None) -> None:
        """A body cut for its framing is no page that is kept as far as it came."""
        reader = getattr(getattr(self, "response", None), "_bodyProtocol", None)
        # Scrapy would otherwise take the part that came for the page.
        if _is(reason, AnswerTooLargeError) and reader and not reader._finished.called:
            reader._finished.errback(reason)
        decoder = self.bodyDecoder
        # A body without a length ends where its connection does. One that was reset did not end
        # by the server's will, but Twisted forgets that. Over TLS many servers only seem to.
        is_endless = decoder is not None and getattr(decoder, "contentLength", 0) is None
        if is_endless and _is(reason, ConnectionLost):
            # As if bytes were missing, which they are.
            decoder.contentLength = -1  # type: ignore[union-attr]
        super().connectionLost(reason)


class _LimitedProtocol(http11._LenientHTTP11ClientProtocol):
    """A connection whose answers are limited, and that is closed when it should be."""

    def __init__(
        self, large_answers: LargeAnswers, quiescentCallback: Callable[[Any], None]
    ) -> None:
        super().__init__(quiescentCallback)  # type: ignore[no-untyped-call]
        self._large_answers = large_answers
        self._answer_bytes = 0

    def request(self, request: TxRequest) -> Deferred[IResponse]:
        """Twisted's; the parser's class is replaced as Scrapy replaces it."""
        self._answer_bytes = 0
        answer = super().request(request)
        if self._parser is not None:
            self._parser.__class__ = _LimitedParser
        return answer

    def dataReceived(self, data: bytes) -> None:
        """Ignores data after an answer that is complete or given up: nobody asked for it."""
        # Abort, not close: over TLS closing asks the other side to agree.
        if self._parser is None:
            self._abort()
            return
        super().dataReceived(data)  # type: ignore[no-untyped-call]
        self._answer_bytes += len(data)
        if self._parser is not None:
            transport = cast("Transport", self.transport)
            self._large_answers.note_received(transport, len(data), self._answer_bytes)

    def _disconnectParser(self, reason: Failure) -> None:
        # Twisted calls this however an answer ends.
        self._large_answers.note_end(cast("Transport", self.transport))
        super()._disconnectParser(reason)  # type: ignore[no-untyped-call]

    def _giveUp(self, reason: Failure) -> None:
        super()._giveUp(reason)  # type: ignore[no-untyped-call]
        if _is(reason, ConnectionDone):
            # Over TLS the other side is asked to close as well, and may not do so.
            asyncio.get_running_loop().call_later(_CLOSING_SECONDS, self._abort)
        else:
            self._abort()

    def _abort(self) -> None:
        if self.transport is not None and self.transport.connected:
            self.transport.abortConnection()


class _LimitedFactory(http11._LenientHTTP11ClientFactory):
    def __init__(self, large_answers: LargeAnswers, *arguments: Any) -> None:
        super().__init__(*arguments)  # type: ignore[no-untyped-call]
        self._large_answers = large_answers

    def buildProtocol(self, addr: IAddress | None) -> HTTP11ClientProtocol:
        """A protocol for a new connection."""
        return _LimitedProtocol(self._large_answers, self._quiescentCallback)


class _LimitedTunnel(http11._TunnelingTCP4ClientEndpoint):
    """A tunnel through a proxy: the answer to CONNECT is limited, no connection is left open."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._tunnelReadyDeferred.addErrback(self._close)

    def requestTunnel(self, protocol: TwistedProtocol) -> TwistedProtocol:
        """Ask the proxy, unless nobody waits any more."""
        self._protocol = protocol
        if self._tunnelReadyDeferred.called:
            self._close()
            return protocol
        return super().requestTunnel(protocol)

    def processProxyResponse(self, data: bytes) -> None:
        """Bytes of the proxy's answer."""
        if len(self._connectBuffer) + len(data) <= MAX_HEAD_BYTES:
            super().processProxyResponse(data)
        else:
            too_large = f"an answer to CONNECT of more than {MAX_HEAD_BYTES} bytes"
            # errback, not raise: raised here it would end in the reactor's log.
            self._tunnelReadyDeferred.errback(http11.TunnelError(too_large))

    def _close(self, reason: Failure | None = None) -> Failure | None:
        """Close the connection, which Scrapy leaves open after a refused tunnel."""
        protocol: TwistedProtocol | None = getattr(self, "_protocol", None)
        if protocol is not None and protocol.transport is not None:
            protocol.dataReceived = _ignore  # type: ignore[method-assign]
            protocol.transport.abortConnection()
        return reason


def _ends(body: bytes, most_bytes: int) -> bool:
    """Whether the gzip or zlib stream *body* has its end; what cannot be told is taken for one."""
    unpacker = zlib.decompressobj(wbits=_GZIP_OR_ZLIB)
    rest, unpacked = body, 0
    try:
        # A bomb is refused by whoever unpacks it.
        while rest and not unpacker.eof and (not most_bytes or unpacked <= most_bytes):
            unpacked += len(unpacker.decompress(rest, _UNPACKED_AT_A_TIME))
            rest = unpacker.unconsumed_tail
    except zlib.error:
        return True
    return unpacker.eof or bool(rest)


def _ignore(data: bytes) -> None:
    """What nobody waits for."""


def _is(reason: Failure | None, kind: type[Exception]) -> bool:
    # For a connection that is kept alive Twisted passes an exception, not a Failure.
    return isinstance(getattr(reason, "value", reason), kind)


# Scrapy's agent names this class itself; there is no setting to replace it.
http11._TunnelingTCP4ClientEndpoint = _LimitedTunnel  # type: ignore[misc]
