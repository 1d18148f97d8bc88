"""Asks a language model at an address the operator named, in the OpenAI chat form.

Nothing is asked while QIAO_MODEL_FORBIDDEN is on, beyond the day's budget, or of texts that may not
leave. Every question is a row of ``model_call`` before it is sent, at the most it may come to, so
that a process that dies in between leaves no budget unspent, and an entry of the log of changes.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import httpx
from sqlalchemy import Connection, func, insert, select, update

from qiaocrawl.errors import ConfigError, WriterError
from qiaocrawl.fetch.addresses import Allowance, Origin, is_public_address, looks_like_address
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
from qiaocrawl.storage import Database
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.schema import model_call
from qiaocrawl.storage.values import clean_word, to_stored_time
from qiaocrawl.text.zones import start_of_days

ASKED, ANSWERED = "asked", "answered"
OUTCOMES = {
    ASKED: N_("no answer was noted"),
    ANSWERED: N_("answered"),
    "unset": N_("no model is set up"),
    "forbidden": N_("asking a model is forbidden here"),
    "kept": N_("texts of this topic may not leave"),
    "budget": N_("the day's budget is spent"),
    "away": N_("the address does not answer"),
    "late": N_("no answer in time"),
    "refused": N_("the address refuses"),
    "form": N_("the answer is not in the form"),
    "long": N_("the answer is too long"),
}
"""What may become of a question, for people (marked with ``N_``)."""

_MOST_ANSWER_TOKENS = 1_000
_MOST_ANSWER_BYTES = 400_000
_CONNECT_SECONDS = 10.0
_MILLION = 1_000_000
_SHOWN_CHARS = 200
# A Chinese character is a token or two; more where the model has not learnt it.
_TOKENS_A_CHARACTER = 2
# Of an answer that is to be mended.
_SENT_BACK = 4_000


class Message(NamedTuple):
    """One part of a talk: *role* is system, user or assistant."""

    role: str
    text: str


class Answer(NamedTuple):
    """What the model said, and the row of ``model_call`` that it is noted in."""

    text: str
    call: int
    tokens: int
    cost: float
    seconds: float


class Day(NamedTuple):
    """What was asked since the day began in China."""

    calls: int
    tokens: int
    cost: float
    kept: int
    dropped: int
    failed: int


@dataclass(frozen=True, slots=True)
class ModelAddress:
    """A model that may be asked.

    Attributes:
        url: up to /v1.
        topics: whose texts may leave.
        tokens_a_day, money_a_day: the budget; money 0 is no limit.
        price: of a million tokens.
    """

    url: str
    name: str
    key: str
    is_forbidden: bool
    topics: frozenset[str]
    tokens_a_day: int
    money_a_day: float
    price: float
    seconds: float

    @classmethod
    def from_options(cls, options: Options) -> ModelAddress:
        """The one that is set up; one without a URL asks nothing.

        Raises:
            ConfigError: the URL is none of http or https, holds a login, or the name is missing.
        """
        url, name = options["QIAO_MODEL_URL"].rstrip("/"), options["QIAO_MODEL_NAME"]
        if url:
            _require_address(url, name)
        return cls(
            url,
            name,
            options["QIAO_MODEL_KEY"],
            options["QIAO_MODEL_FORBIDDEN"],
            frozenset(options["QIAO_MODEL_TOPICS"]),
            options["QIAO_MODEL_TOKENS_A_DAY"],
            options["QIAO_MODEL_MONEY_A_DAY"],
            options["QIAO_MODEL_PRICE"],
            options["QIAO_MODEL_SECONDS"],
        )

    @property
    def may_ask(self) -> bool:
        """Whether a model is set up and not forbidden."""
        return bool(self.url) and not self.is_forbidden

    @property
    def origin(self) -> str:
        """Scheme, host and port, which may be shown."""
        return str(Origin.of(self.url))

    def is_inside(self) -> bool:
        """Whether all addresses of its host are inside this network; the name is looked up.

        Raises:
            WriterError: the name leads nowhere.
        """
        origin = Origin.of(self.url)
        if looks_like_address(origin.host):
            return not is_public_address(origin.host)
        try:
            found = socket.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            words = _("the name {host!r} leads to no address", host=origin.host)
            raise WriterError(words, outcome="away") from None
        return not any(is_public_address(str(address[0])) for *_rest, address in found)

    def require(self, topics: Collection[str] | None) -> None:
        """Refuse what may not be asked at all, or not of texts of these *topics*; None: no text.

        Raises:
            WriterError: unset, forbidden, or an address outside and a topic that may not leave.
        """
        if not self.url:
            raise WriterError(_("No model is set up (QIAO_MODEL_URL)."), outcome="unset")
        if self.is_forbidden:
            raise WriterError(
                _("Asking a model is forbidden here (QIAO_MODEL_FORBIDDEN)."), outcome="forbidden"
            )
        if topics is None:
            return
        kept = sorted(set(topics) - self.topics)
        if (kept or not topics) and not self.is_inside():
            raise WriterError(
                _(
                    "{address} lies outside this network, and texts of {topics} may not leave: "
                    "QIAO_MODEL_TOPICS names those that may.",
                    address=self.origin,
                    topics=_(", ").join(name or _("no topic") for name in kept or [""]),
                ),
                outcome="kept",
            )


def _require_address(url: str, name: str) -> None:
    try:
        parsed = httpx.URL(url)
        origin = Origin.of(url)
        Allowance.parse([str(origin)], "QIAO_MODEL_URL")
    except (ValueError, httpx.InvalidURL):
        raise ConfigError(
            _("QIAO_MODEL_URL must be http://HOST:PORT/v1 or https://…, got {url!r}", url=url)
        ) from None
    if parsed.username or parsed.password or parsed.query:
        raise ConfigError(
            _("QIAO_MODEL_URL holds a login or a query: the key belongs in QIAO_MODEL_KEY")
        )
    if not name:
        raise ConfigError(_("QIAO_MODEL_NAME is missing: what the model is called at its address"))


# --- The day's budget -----------------------------------------------------------------------------


def spent_today(c: Connection, now: datetime) -> Day:
    """What all together asked since the day began in China; failures count as they were noted."""
    columns = model_call.c
    row = c.execute(
        select(
            func.count(),
            func.coalesce(func.sum(columns.tokens), 0),
            func.coalesce(func.sum(columns.cost), 0.0),
            func.coalesce(func.sum(columns.kept), 0),
            func.coalesce(func.sum(columns.dropped), 0),
        ).where(columns.at >= to_stored_time(start_of_days(now, 1)))
    ).one()
    failed = c.execute(
        select(func.count()).where(
            columns.at >= to_stored_time(start_of_days(now, 1)), columns.outcome != ANSWERED
        )
    ).scalar_one()
    return Day(int(row[0]), int(row[1]), float(row[2]), int(row[3]), int(row[4]), int(failed))


def note_checked(c: Connection, call: int, kept: int, dropped: int) -> None:
    """Note how many sentences of an answer were kept, and how many not."""
    values = {"kept": kept, "dropped": dropped}
    c.execute(update(model_call).where(model_call.c.id == call).values(values))


# --- One question ---------------------------------------------------------------------------------


def ask(
    database: Database,
    address: ModelAddress,
    actor: Actor,
    purpose: str,
    messages: Sequence[Message],
    topics: Collection[str] | None,
) -> Answer:
    """What the model says to *messages*; noted before it is sent and when it answers.

    Args:
        purpose: event, lead or check.
        topics: whose texts are sent; None for a question without any text.

    Raises:
        WriterError: it may not be asked, or does not answer as it must; with its outcome.
    """
    address.require(topics)
    characters = sum(len(own.text) for own in messages)
    call = _reserve(database, address, actor, purpose, characters)
    begun = time.monotonic()
    try:
        said = _post(address, messages)
    except WriterError as error:
        # What was sent may be charged for, so the budget keeps it.
        _note(database, call, {"outcome": error.outcome})
        raise
    usage = said.get("usage")
    tokens = usage.get("total_tokens") if isinstance(usage, dict) else None
    text = _text_of(said)
    if not isinstance(tokens, int) or not 0 < tokens < _MILLION:
        tokens = _TOKENS_A_CHARACTER * (characters + len(text or ""))
    cost = tokens * address.price / _MILLION
    outcome = ANSWERED if text is not None else "form"
    _note(database, call, {"outcome": outcome, "tokens": tokens, "cost": cost})
    if text is None:
        raise WriterError(
            _("The address answers, but not in the OpenAI chat form."), outcome="form"
        )
    return Answer(text, call, tokens, cost, time.monotonic() - begun)


def ask_twice(
    database: Database,
    address: ModelAddress,
    actor: Actor,
    purpose: str,
    messages: Sequence[Message],
    topics: Collection[str] | None,
    judge: Callable[[str], str],
) -> list[Answer]:
    """:func:`ask`, and once more where *judge* wants something of the answer anew.

    Where the second question fails, what stands of the first answer is kept; why it failed is noted
    in its row.

    Args:
        judge: takes an answer and gives what is to be asked of it once more, "" for nothing.

    Raises:
        WriterError: as :func:`ask`, of the first question.
    """
    first = ask(database, address, actor, purpose, messages, topics)
    wanted = judge(first.text)
    if not wanted:
        return [first]
    said = Message("assistant", first.text[:_SENT_BACK]), Message("user", wanted)
    try:
        second = ask(database, address, actor, purpose, [*messages, *said], topics)
    except WriterError:
        return [first]
    judge(second.text)
    return [first, second]


def _reserve(
    database: Database, address: ModelAddress, actor: Actor, purpose: str, characters: int
) -> int:
    """Note the question at the most it may come to; its row.

    Raises:
        WriterError: that is more than is left of the day.
    """
    now = datetime.now(UTC)
    most = _TOKENS_A_CHARACTER * characters + _MOST_ANSWER_TOKENS
    values = {
        "at": to_stored_time(now),
        "purpose": purpose,
        "address": clean_word(address.origin, 200),
        "model": clean_word(address.name, 100),
        "tokens": most,
        "cost": most * address.price / _MILLION,
        "outcome": ASKED,
        "kept": 0,
        "dropped": 0,
        "asked_by": clean_word(actor.name, 64),
    }
    with database.engine.begin() as c:
        made = c.execute(insert(model_call).values(values)).inserted_primary_key
        assert made is not None
    # Looked at when its own row is there for all to see: of two at once that both need what is
    # left, none gets it rather than both.
    with database.engine.begin() as c:
        day = spent_today(c, now)
        is_over = day.tokens > address.tokens_a_day or 0 < address.money_a_day < day.cost
        if is_over:
            nothing = {"tokens": 0, "cost": 0.0, "outcome": "budget"}
            c.execute(update(model_call).where(model_call.c.id == made[0]).values(nothing))
        else:
            after = {"model": address.name, "purpose": purpose, "characters": characters}
            record(c, actor, "model.ask", address.origin, None, after)
    if is_over:
        raise WriterError(
            _(
                "The day's budget does not reach for this: {spent} of {most} tokens are spent "
                "(QIAO_MODEL_TOKENS_A_DAY, QIAO_MODEL_MONEY_A_DAY).",
                spent=f"{day.tokens - most:,}",
                most=f"{address.tokens_a_day:,}",
            ),
            outcome="budget",
        )
    return int(made[0])


def _note(database: Database, call: int, values: dict[str, Any]) -> None:
    with database.engine.begin() as c:
        c.execute(update(model_call).where(model_call.c.id == call).values(values))


def _post(address: ModelAddress, messages: Sequence[Message]) -> dict[str, Any]:
    """The answer as JSON."""
    body = {
        "model": address.name,
        "messages": [{"role": own.role, "content": own.text} for own in messages],
        "temperature": 0,
        "max_tokens": _MOST_ANSWER_TOKENS,
        "stream": False,
    }
    headers = {"Authorization": f"Bearer {address.key}"} if address.key else {}
    timeout = httpx.Timeout(address.seconds, connect=min(_CONNECT_SECONDS, address.seconds))
    until = time.monotonic() + address.seconds
    data = bytearray()
    try:
        # The operator's proxies are for pages; what is sent here goes to its address alone.
        with (
            httpx.Client(timeout=timeout, trust_env=False, follow_redirects=False) as client,
            client.stream(
                "POST", f"{address.url}/chat/completions", json=body, headers=headers
            ) as response,
        ):
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > _MOST_ANSWER_BYTES:
                    raise WriterError(
                        _("The answer is longer than any that is asked for."), outcome="long"
                    )
                if time.monotonic() > until:
                    raise httpx.ReadTimeout("too slow")
            status = response.status_code
    except httpx.TimeoutException:
        words = _("No answer within {seconds:g} s.", seconds=address.seconds)
        raise WriterError(words, outcome="late") from None
    except (httpx.HTTPError, OSError) as error:
        words = _("{address} does not answer: {error}", address=address.origin, error=error)
        raise WriterError(words, outcome="away") from None
    if status != httpx.codes.OK:
        words = data.decode("utf-8", "replace")
        if address.key:
            words = words.replace(address.key, "…")
        raise WriterError(
            _(
                "{address} refuses ({status}): {said}",
                address=address.origin,
                status=status,
                said=" ".join(words.split())[:_SHOWN_CHARS],
            ),
            outcome="refused",
        )
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        said = None
    return said if isinstance(said, dict) else {}


def _text_of(said: dict[str, Any]) -> str | None:
    """What the first choice says; None where there is none."""
    try:
        text = said["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        return None
    return text if isinstance(text, str) and text.strip() else None
