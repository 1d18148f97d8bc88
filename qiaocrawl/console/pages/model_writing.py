"""What a language model drafts at the console: an event's paragraph, a briefing's lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field, wanted_number
from qiaocrawl.console.page import (
    EDITOR,
    Page,
    Told,
    actor_of,
    console_of,
    link,
    read,
    tell,
    user_of,
    write,
)
from qiaocrawl.console.security import credentials
from qiaocrawl.errors import ConfigError, StorageError, WriterError
from qiaocrawl.language import CHINESE, _, using_language
from qiaocrawl.news.drafts import stored as desk
from qiaocrawl.news.drafts.paper import LEAD, Draft, Item, Sentence, Source
from qiaocrawl.news.stories.lists import one_story
from qiaocrawl.news.writing import stored
from qiaocrawl.news.writing.address import OUTCOMES, Day, ModelAddress, spent_today
from qiaocrawl.news.writing.drafting import Material, Paragraph, Voice, draft
from qiaocrawl.options import Options
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.text.zones import SHANGHAI

_TO_TOP = -1_000
_MOST_SENTENCES = 20


@dataclass(frozen=True, slots=True)
class Offered:
    """What a page says before a model is asked.

    Attributes:
        refusal: why it may not be asked; "" if it may.
        address, day: None where the options are wrong, as *refusal* says.
        data: the sentences that would be sent, as they would be.
    """

    refusal: str
    address: ModelAddress | None = None
    day: Day | None = None
    data: str = ""
    orders: int = 0


def model_for(request: Request) -> ModelAddress | Offered | None:
    """The model that an editor may have asked; what a page says instead, None for nothing."""
    if not user_of(request).may(EDITOR):
        return None
    try:
        address = ModelAddress.from_options(Options.from_environment())
    except ConfigError as error:
        return Offered(str(error))
    return address if address.may_ask else None


async def offered_for_event(request: Request, number: int) -> Offered | None:
    """What the page of an event offers an editor; None where no model is set up."""
    address = model_for(request)
    if not isinstance(address, ModelAddress):
        return address
    try:
        voices, topics, _url_id = await read(request, stored.material_of_story, number)
    except ConfigError:
        return None
    return await _offered_voices(request, address, voices, topics)


async def offered_for_lead(request: Request, briefing: Draft) -> Offered | None:
    """The same at the desk of a briefing."""
    address = model_for(request) if briefing.is_open else None
    if not isinstance(address, ModelAddress):
        return address
    voices, _sources = _voices_of_items(briefing.items)
    topics = await read(request, _topics_of, briefing)
    return await _offered_voices(request, address, voices, topics)


async def _offered_voices(
    request: Request, address: ModelAddress, voices: Sequence[Voice], topics: frozenset[str]
) -> Offered:
    material = Material(voices)
    return await offered(request, address, material.as_data(), material.orders, topics)


async def offered(
    request: Request, address: ModelAddress, data: str, orders: int, topics: frozenset[str]
) -> Offered:
    """What a page says of asking *address* about *data*, texts of *topics*."""
    refusal = ""
    try:
        # It may look up a name.
        await run_in_threadpool(address.require, topics)
    except WriterError as error:
        refusal = str(error)
    day = await read(request, spent_today, datetime.now(UTC))
    return Offered(refusal, address, day, data, orders)


# --- The paragraph of an event --------------------------------------------------------------------


async def draft_event(request: Request) -> Response:
    """Ask for a paragraph; what stands of it is kept with the event."""
    number = request.path_params["story_id"]
    await read(request, _require_story, number)
    voices, topics, url_id = await read(request, stored.material_of_story, number)
    address = ModelAddress.from_options(Options.from_environment())
    paragraph = await _ask(request, address, "event", voices, topics)
    if paragraph is not None and paragraph.sentences:
        await write(
            request, stored.keep_text, actor_of(request), number, url_id, paragraph, address.name
        )
    return RedirectResponse(link(request, "stories.one", story_id=number) + "#drafted", 303)


async def save_event(request: Request) -> Response:
    """Keep the paragraph as an editor changed it."""
    number = request.path_params["story_id"]
    given = await field(request, "revision", 10)
    revision = wanted_number(_("Version"), given, 1, 2**31)
    texts = [str(one) for one in (await credentials.form_of(request)).getlist("sentence")]

    def save(c: Connection, actor: Actor) -> None:
        _require_story(c, number)
        stored.save_text(c, actor, number, revision, texts[:_MOST_SENTENCES])

    await write(request, save, actor_of(request))
    tell(request, Told(_("Saved.")))
    return RedirectResponse(link(request, "stories.one", story_id=number) + "#drafted", 303)


async def drop_event(request: Request) -> Response:
    """Take the paragraph away."""
    number = request.path_params["story_id"]

    def drop(c: Connection, actor: Actor) -> None:
        _require_story(c, number)
        stored.drop_text(c, actor, number)

    await write(request, drop, actor_of(request))
    tell(request, Told(_("The draft is taken away; what the sources say stands as before.")))
    return RedirectResponse(link(request, "stories.one", story_id=number), 303)


def _require_story(c: Connection, number: int) -> None:
    try:
        one_story(c, number)
    except ConfigError as error:
        raise HTTPException(404, _("There is no such story.")) from error


async def _ask(
    request: Request,
    address: ModelAddress,
    purpose: str,
    voices: Sequence[Voice],
    topics: frozenset[str],
) -> Paragraph | None:
    """What was written, with what is told of it; None where nothing was answered."""
    database, actor = console_of(request).database, actor_of(request)
    try:
        paragraph = await run_in_threadpool(
            draft, database, address, actor, purpose, voices, topics
        )
    except WriterError as error:
        name = _(OUTCOMES.get(error.outcome, OUTCOMES["away"]))
        words = _("Nothing was drafted: {name}. {why}", name=name, why=error)
        tell(request, Told(f"{words} {_('What the sources say stands as before.')}"))
        return None
    if not paragraph.sentences:
        words = _(
            "The model answered, and no sentence of its {count} stands in what it cites: nothing "
            "was kept.",
            count=len(paragraph.dropped),
        )
        tell(request, Told(words))
        return paragraph
    tell(
        request,
        Told(
            _(
                "Drafted: {kept} sentences stand in what they cite, {dropped} were dropped. "
                "{tokens} tokens.",
                kept=len(paragraph.sentences),
                dropped=len(paragraph.dropped),
                tokens=f"{paragraph.tokens:,}",
            )
        ),
    )
    return paragraph


# --- The lead of a briefing -----------------------------------------------------------------------


async def draft_lead(request: Request) -> Response:
    """Ask for a lead of what the items say; it stands first, and waits for an editor's word."""
    briefing = await read(request, _briefing, request.path_params["draft_id"])
    if not briefing.is_open:
        raise ConfigError(_("The briefing is locked: begin its next version first."))
    voices, sources = _voices_of_items(briefing.items)
    if not voices:
        raise ConfigError(_("The briefing says nothing yet: put something in first."))
    topics = await read(request, _topics_of, briefing)
    address = ModelAddress.from_options(Options.from_environment())
    paragraph = await _ask(request, address, "lead", voices, topics)
    anchor = ""
    if paragraph is not None and paragraph.sentences:
        row = await write(
            request, _put_lead, actor_of(request), briefing.id, _lead(paragraph, sources)
        )
        anchor = f"#item-{row}"
    return _to_desk(request, briefing.id, anchor)


async def accept_lead(request: Request) -> Response:
    """An editor stands for the lead as it is now."""
    number = request.path_params["draft_id"]
    revision = wanted_number(_("Version"), await field(request, "revision", 10), 1, 2**31)

    def accept(c: Connection, actor: Actor) -> Item | None:
        briefing = _briefing(c, number)
        item = next((one for one in briefing.items if one.kind == LEAD), None)
        if item is None:
            raise ConfigError(_("the briefing has no such item any more"))
        own = tuple(replace(one, by=one.by or actor.name) for one in item.sentences)
        with using_language(CHINESE):
            facts = _("drafted by a model, approved by {name}", name=actor.name)
        changed = replace(item, sentences=own, facts=facts, revision=revision)
        return desk.save_item(c, actor, number, changed)

    if await write(request, accept, actor_of(request)) is not None:
        raise ConfigError(_("A colleague changed this paragraph meanwhile. Look at it again."))
    tell(request, Told(_("You stand for the lead now.")))
    return _to_desk(request, number, "#desk-items")


def _voices_of_items(items: Sequence[Item]) -> tuple[list[Voice], dict[str, Source]]:
    """What the sources of a briefing say, each with the sentences that cite it first."""
    said: dict[str, list[str]] = {}
    sources: dict[str, Source] = {}
    for item in items:
        for own in item.sentences if item.kind != LEAD else ():
            if not own.is_editors and own.sources:
                source = own.sources[0]
                sources.setdefault(source.url, source)
                said.setdefault(source.url, []).append(own.original)
    voices = [
        Voice(
            url,
            sources[url].outlet,
            sources[url].title,
            "\n".join(texts),
            None if (at := sources[url].at) is None else at.astimezone(SHANGHAI).date(),
        )
        for url, texts in said.items()
    ]
    return voices, sources


def _lead(paragraph: Paragraph, sources: dict[str, Source]) -> Item:
    sentences = []
    for own in paragraph.sentences:
        cited = {cite.url: sources[cite.url] for cite in own.cites}
        sentences.append(Sentence(own.text, own.text, tuple(cited.values())))
    # It stands on paper, which is Chinese.
    with using_language(CHINESE):
        heading, facts = _("Lead"), _("drafted by a model, not approved yet")
    return Item(LEAD, None, heading, tuple(sentences), heading, facts)


def _put_lead(c: Connection, actor: Actor, number: int, item: Item) -> int:
    """In the place of the one that is there, at the top."""
    for own in _briefing(c, number).items:
        if own.kind == LEAD:
            desk.drop_item(c, actor, number, own.id)
    row = desk.add_item(c, actor, number, item)
    desk.move_item(c, actor, number, row, _TO_TOP)
    return row


def _briefing(c: Connection, number: int) -> Draft:
    try:
        return desk.one_draft(c, number)
    except StorageError as error:
        raise HTTPException(404, str(error)) from error


def _topics_of(c: Connection, briefing: Draft) -> frozenset[str]:
    """Of whose articles it may tell."""
    return frozenset((briefing.topic,) if briefing.topic else (own.name for own in list_topics(c)))


def _to_desk(request: Request, number: int, anchor: str = "") -> Response:
    return RedirectResponse(link(request, "briefings.desk", draft_id=number) + anchor, 303)


_STORY, _DESK = "/stories/{story_id:int}/draft", "/briefings/drafts/{draft_id:int}"

STORY_PAGES = (
    Page(_STORY, "stories.draft", draft_event, EDITOR, "POST"),
    Page(f"{_STORY}/save", "stories.save_draft", save_event, EDITOR, "POST"),
    Page(f"{_STORY}/drop", "stories.drop_draft", drop_event, EDITOR, "POST"),
)
DESK_PAGES = (
    Page(f"{_DESK}/lead", "briefings.lead", draft_lead, EDITOR, "POST"),
    Page(f"{_DESK}/lead/accept", "briefings.accept_lead", accept_lead, EDITOR, "POST"),
)
