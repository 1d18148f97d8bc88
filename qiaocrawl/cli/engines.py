"""``qiaocrawl engines …``: the search engines there are, and whether they still answer as known."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import zlib
from dataclasses import dataclass
from typing import Annotated, cast
from urllib.parse import quote, urlsplit

import typer
from rich.markup import escape

from qiaocrawl.cli.output import echo, folding_table, table_console
from qiaocrawl.errors import AddressRefusedError
from qiaocrawl.fetch.addresses import DEFAULT_PORTS, Allowance, Origin, is_public_address
from qiaocrawl.fetch.user_agent import default_user_agent
from qiaocrawl.language import N_, _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.options import Options
from qiaocrawl.search.answer import ANSWER_NAMES, parse_answer
from qiaocrawl.search.definition import (
    EngineDefinition,
    SelectorUse,
    definitions_of,
    find_definition,
    selectors_in_use,
)
from qiaocrawl.search.hits import is_on_site
from qiaocrawl.search.query import WITH_HITS, AnswerState, Hit, Query, SearchAnswer
from qiaocrawl.search.request import EngineRequest, missing_variables, request_for
from qiaocrawl.text.normalise import fold

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


app = typer.Typer(
    help="Search engines: which there are, and whether they still answer.",
    no_args_is_help=True,
)

_KINDS = {"scraped": N_("result pages"), "service": N_("service")}
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


@app.command("list")
def list_engines() -> None:
    """List all engines: kind, whether you chose them, whether their key is there, their terms."""
    options = Options.from_environment()
    table = folding_table(_("engine"), _("name"), _("kind"), _("chosen"), _("key"), _("note"))
    for name, definition in definitions_of(options).items():
        chosen = _("yes") if name in options["QIAO_ENGINES"] else _("no")
        table.add_row(
            name,
            escape(definition.title),
            _(_KINDS[definition.kind]),
            chosen,
            _key_state(definition),
            escape(_(definition.note)),
        )
    table_console().print(table)


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="One engine; default: all that may be asked.")] = "",
) -> None:
    """Ask each engine one known query and say whether its layout still holds.

    Exit code 1 when an engine was asked and does not answer as it should, or when the one
    named may not be asked.
    """
    options = Options.from_environment()
    definitions = definitions_of(options)
    verdicts = []
    chosen = [find_definition(definitions, name)] if name else list(definitions.values())
    for definition in chosen:
        verdicts.append(_check_engine(definition, options))
        _say(verdicts[-1])
    if any(verdict.holds is False for verdict in verdicts) or (name and not verdicts[0].holds):
        raise typer.Exit(1)


def _key_state(definition: EngineDefinition) -> str:
    if "{base}" in definition.url and not definition.base_url:
        return _("no base URL")
    if not definition.keys:
        return _("none needed")
    missing = missing_variables(definition, os.environ)
    return _("missing: {names}", names=", ".join(missing)) if missing else _("it is there")


def _say(verdict: Verdict) -> None:
    mark = {True: _("ok"), False: _("not ok"), None: _("not asked")}[verdict.holds]
    echo(f"{verdict.name}: {mark}: {verdict.said}")


def _check_engine(definition: EngineDefinition, options: Options) -> Verdict:
    why_not = _why_not(definition, options)
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


def _why_not(definition: EngineDefinition, options: Options) -> str:
    """Why an engine is not asked, in words; "" when it may be."""
    if definition.kind == "scraped" and definition.name not in options["QIAO_ENGINES"]:
        return _("not in QIAO_ENGINES: result pages are asked on your choice only")
    if "{base}" in definition.url and not definition.base_url:
        return _("it has no base URL (searxng: set QIAO_SEARXNG_URL)")
    if missing := missing_variables(definition, os.environ):
        return _("set the environment variable {names}", names=", ".join(missing))
    if definition.check is None:
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
