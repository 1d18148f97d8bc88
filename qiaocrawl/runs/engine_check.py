"""Whether a search engine still answers as its definition expects: one known query, asked now."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import zlib
from dataclasses import dataclass
from typing import cast
from urllib.parse import quote, urlsplit

from qiaocrawl.errors import AddressRefusedError
from qiaocrawl.fetch.addresses import DEFAULT_PORTS, Allowance, Origin, is_public_address
from qiaocrawl.fetch.user_agent import default_user_agent
from qiaocrawl.language import N_, _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.options import Options
from qiaocrawl.search.answer import ANSWER_NAMES, parse_answer
from qiaocrawl.search.definition import EngineDefinition, SelectorUse, selectors_in_use
from qiaocrawl.search.hits import is_on_site
from qiaocrawl.search.query import WITH_HITS, AnswerState, Hit, Query, SearchAnswer
from qiaocrawl.search.request import EngineRequest, missing_variables, request_for
from qiaocrawl.text.normalise import fold

KIND_NAMES = {"scraped": N_("result pages"), "service": N_("service")}
_STATES = ANSWER_NAMES | {
    AnswerState.HIT: N_("hits:"),
    AnswerState.PARTIAL: N_("partial, hits:"),
    AnswerState.EMPTY: N_("empty: the engine says that it has found nothing"),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check of one engine came to. ``holds`` is None where it was not asked."""

    name: str
    holds: bool | None
    said: str


def key_state(definition: EngineDefinition) -> str:
    """Whether the key of an engine is there, in words."""
    if "{base}" in definition.url and not definition.base_url:
        return _("no base URL")
    if not definition.keys:
        return _("none needed")
    missing = missing_variables(definition, os.environ)
    return _("missing: {names}", names=", ".join(missing)) if missing else _("it is there")


def check_engine(definition: EngineDefinition, options: Options) -> Verdict:
    """Ask *definition* its known query once; an engine that may not be asked is not."""
    why_not = why_not_asked(definition, options)
    check = definition.check
    if why_not or check is None:
        return Verdict(definition.name, None, why_not)
    query = Query("check", check.term, check.site, definition.name)
    try:
        reply = send(request_for(definition, query, os.environ), options)
    except AddressRefusedError as error:
        return Verdict(definition.name, False, _("address refused: {error}", error=error))
    except (OSError, http.client.HTTPException) as error:
        # The text of an error may hold the address, and that a key.
        reason = getattr(error, "strerror", None) or type(error).__name__
        return Verdict(definition.name, False, _("cannot be reached: {reason}", reason=reason))
    answer = parse_answer(definition, query, reply.status, reply.headers, reply.body)
    # What is expected decides here, not whether snippets show the words of the query.
    answer = answer.doubted or answer
    return _judge_reply(definition, query, reply, answer)


def why_not_asked(
    definition: EngineDefinition, options: Options, *, needs_check: bool = True
) -> str:
    """Why an engine is not asked, in words; "" when it may be.

    Args:
        needs_check: one whose definition has no known query may not.
    """
    if definition.kind == "scraped" and definition.name not in options["QIAO_ENGINES"]:
        return _("not in QIAO_ENGINES: result pages are asked on your choice only")
    if "{base}" in definition.url and not definition.base_url:
        return _("it has no base URL (searxng: set QIAO_SEARXNG_URL)")
    if missing := missing_variables(definition, os.environ):
        return _("set the environment variable {names}", names=", ".join(missing))
    if needs_check and definition.check is None:
        return _("its definition ({source}) has no [check]", source=definition.source)
    return ""


def _judge_reply(
    definition: EngineDefinition, query: Query, reply: EngineReply, answer: SearchAnswer
) -> Verdict:
    findings = [_(_STATES[answer.state])]
    holds = answer.state in WITH_HITS
    if holds:
        findings[0] += f" {len(answer.hits)}"
    findings += [shown_reason(answer.message)] if answer.message else []
    if holds and not _shows_expected(definition, answer.hits):
        holds = False
        findings.append(
            _("none shows what was expected ({expected})", expected=_expectation(definition))
        )
    if answer.state in WITH_HITS or answer.state is AnswerState.LAYOUT_CHANGED:
        headers = {name.lower(): value for name, value in reply.headers}
        uses = selectors_in_use(definition, headers.get("content-type", ""), reply.body)
        outdated = [use for use in uses if not use.found and use.part != "date"]
        findings += [
            _outdated_selector(use) for use in outdated if use.entries or use.part == "each"
        ]
        holds = holds and not outdated
    return Verdict(definition.name, holds, "; ".join(findings))


def _outdated_selector(use: SelectorUse) -> str:
    where = _(" in {count} entries", count=use.entries) if use.entries else ""
    return _(
        "hits.{part} finds nothing{where}: {selectors}",
        part=use.part,
        where=where,
        selectors=" | ".join(use.selectors),
    )


def _shows_expected(definition: EngineDefinition, hits: tuple[Hit, ...]) -> bool:
    check = definition.check
    if check is None:
        return True
    word = fold(check.word)
    shown = (fold(f"{hit.title} {hit.snippet}") for hit in hits)
    by_word = bool(word) and any(word in text for text in shown)
    return by_word or (bool(check.host) and any(is_on_site(hit.url, check.host) for hit in hits))


def _expectation(definition: EngineDefinition) -> str:
    check = definition.check
    return " / ".join(filter(None, (check.word, check.host))) if check else ""


# --- One guarded HTTP request to a search engine, without a crawl around it -----------------------
# Redirects are not followed (where one leads is an answer), proxies of the environment are not
# used, and the address connected to is the one that was checked.

_TIMEOUT_SECONDS = 20.0
_MAX_BODY_BYTES = 4 * 1024 * 1024
_DEMO_SUFFIX = ".test"


@dataclass(frozen=True, slots=True)
class EngineReply:
    """What came back: header names as sent, the body unpacked and at most 4 MiB of it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def send(request: EngineRequest, options: Options) -> EngineReply:
    """Ask an engine once.

    Raises:
        AddressRefusedError: its host is a private address nobody allowed.
        OSError: it cannot be reached, or does not answer in time.
        http.client.HTTPException: what it sends is no HTTP.
    """
    parts = urlsplit(request.url)
    connection = _connection(parts.scheme, parts.hostname or "", _address(request.url, options))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    # What a definition's own text holds beside the encoded words of the query.
    target = quote(target, safe="%/?&=+:,;@!$'()*~[]|-._")
    headers = {
        "Host": parts.netloc,
        "User-Agent": default_user_agent(),
        "Accept-Encoding": "gzip, deflate",
        "Connection": "close",
        **dict(request.headers),
    }
    try:
        connection.request(request.method, target, request.body or None, headers)
        response = connection.getresponse()
        raw = response.read(_MAX_BODY_BYTES)
        encoding = response.getheader("Content-Encoding", "")
        return EngineReply(response.status, tuple(response.getheaders()), _unpack(raw, encoding))
    finally:
        connection.close()


def _address(url: str, options: Options) -> tuple[str, int]:
    """The checked address and port to connect to; demo hosts live on the demo's server."""
    scheme, host, port = _origin(url)
    demo: str = options["QIAO_DEMO"]
    if demo and host.endswith(_DEMO_SUFFIX):
        parts = urlsplit(f"//{demo}")
        return parts.hostname or "", parts.port or DEFAULT_PORTS["http"]
    allowance = Allowance.parse(options["QIAO_ALLOW_ADDRESSES"])
    is_own = _origin(options["QIAO_SEARXNG_URL"]) == (scheme, host, port)
    resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [cast("str", entry[4][0]) for entry in resolved]
    # One private address among public ones is one too many.
    if not is_own and not allowance.permits(Origin.of(url)):
        for address in addresses:
            if not is_public_address(address):
                raise AddressRefusedError(
                    _(
                        "{host}:{port} leads to {address}, which is no public address; "
                        "QIAO_ALLOW_ADDRESSES can name it",
                        host=host,
                        port=port,
                        address=address,
                    )
                )
    return addresses[0], port


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme, 0)


def _connection(scheme: str, host: str, address: tuple[str, int]) -> http.client.HTTPConnection:
    class Checked(http.client.HTTPConnection):
        def connect(self) -> None:
            self.sock = socket.create_connection(address, _TIMEOUT_SECONDS)
            if scheme == "https":
                context = ssl.create_default_context()
                self.sock = context.wrap_socket(self.sock, server_hostname=host)

    return Checked(host, timeout=_TIMEOUT_SECONDS)


def _unpack(raw: bytes, encoding: str) -> bytes:
    name = encoding.strip().lower()
    if name not in ("gzip", "deflate"):
        return raw
    # 47: gzip or zlib, whichever the bytes begin as.
    try:
        return zlib.decompressobj(47).decompress(raw, _MAX_BODY_BYTES)
    except zlib.error:
        return raw
