"""The desk a briefing is written at: its items, what may be put in, approval and sending."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from qiaocrawl.console.forms import back, field, known_topic, wanted_number
from qiaocrawl.console.page import (
    EDITOR,
    READER,
    Page,
    Told,
    actor_of,
    console_of,
    do_heavy,
    link,
    read,
    read_heavy,
    tell,
    user_of,
    write,
)
from qiaocrawl.console.pages import model_writing
from qiaocrawl.console.pages.briefing_offer import offered
from qiaocrawl.console.render import render
from qiaocrawl.console.security import credentials
from qiaocrawl.console.security.credentials import STORED_PAGE_POLICY
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.export.chromium import to_pdf
from qiaocrawl.export.paper import paper_files
from qiaocrawl.language import CHINESE, _, using_language
from qiaocrawl.news.drafts import making, stored
from qiaocrawl.news.drafts.making import Stretch, items_of_event
from qiaocrawl.news.drafts.office import OfficePaper, office_of
from qiaocrawl.news.drafts.paper import (
    APPROVED,
    DRAFT,
    KINDS,
    LINE,
    MOST_SENTENCE_CHARS,
    OWN_WORDS,
    REVIEW,
    SCRIPT_NAMES,
    SENT,
    SIMPLIFIED,
    STATE_NAMES,
    Draft,
    Item,
    Sentence,
    cites_of,
    edited,
    numbered_sources,
    period_words,
)
from qiaocrawl.news.stories.lists import one_story
from qiaocrawl.news.warnings.channels import all_channels, known_channels
from qiaocrawl.news.warnings.delivery import Letter, send_now
from qiaocrawl.options import Options
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.people import list_users
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.text.zones import SHANGHAI, start_of_days
from qiaocrawl.topic.media import MEDIA

_MOST_DAYS, _MOST_RECEIVERS = 92, 30
_STEPS = {"up": -1, "down": 1}
_TYPES = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "html": "text/html; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "pdf": "application/pdf",
}


# --- A new one ------------------------------------------------------------------------------------


async def begin(request: Request) -> Response:
    """Write one of today, of the week, of one event, or of days that somebody chose."""
    kind = await field(request, "kind", 16)
    if kind not in KINDS:
        raise ConfigError(
            _("kind {given!r} must be one of {allowed}", given=kind, allowed=", ".join(KINDS))
        )
    topic = await field(request, "topic", 64)
    if topic:
        await known_topic(request, topic)
    now = datetime.now(UTC)
    since, before = await _days(request, kind, now)
    number = None
    if kind == "event":
        number = wanted_number(_("Event"), await field(request, "story", 20), 1, 2**62)
        await read(request, _require_story, number)
    stretch = Stretch(topic, since, before)
    items = await read_heavy(request, _first_items, stretch, kind, number)
    title = await read(request, _title, stretch, kind, number)
    draft = _blank(kind, topic, title, (since, before), now)

    def add(c: Connection, actor: Actor) -> int:
        return stored.add_draft(c, actor, replace(draft, issue=stored.next_issue(c, now)), items)

    draft_id = await write(request, add, actor_of(request))
    tell(request, Told(_("The draft is begun. What you change is kept at once.")))
    return _to_desk(request, draft_id)


async def _days(request: Request, kind: str, now: datetime) -> tuple[datetime, datetime]:
    """From the first moment up to the one after the last."""
    if kind != "period":
        days = making.DAYS.get(kind, making.DAYS["week"])
        return start_of_days(now, days), now
    given = [await field(request, name, 10) for name in ("since", "until")]
    try:
        first, last = (
            datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=SHANGHAI) for text in given
        )
    except ValueError:
        raise ConfigError(
            _("days are written like {example}, got {given!r}", example="2026-11-02", given=given)
        ) from None
    before = last + timedelta(days=1)
    if not first < before <= first + timedelta(days=_MOST_DAYS):
        raise ConfigError(
            _("the first day comes before the last, at most {most} days", most=_MOST_DAYS)
        )
    return first, before


def _first_items(c: Connection, stretch: Stretch, kind: str, number: int | None) -> list[Item]:
    if number is not None:
        return items_of_event(c, number)
    return making.first_items(c, stretch, kind)


def _require_story(c: Connection, number: int) -> str:
    try:
        return one_story(c, number).title
    except ConfigError as error:
        raise HTTPException(404, _("There is no such story.")) from error


def _title(c: Connection, stretch: Stretch, kind: str, number: int | None) -> str:
    if number is not None:
        return _require_story(c, number)
    # It stands on paper, which is Chinese.
    with using_language(CHINESE):
        return _title_of_days(c, stretch, kind)


def _title_of_days(c: Connection, stretch: Stretch, kind: str) -> str:
    topics = list_topics(c)
    named = [own.title for own in topics if own.name == stretch.topic or len(topics) == 1]
    name = named[0] if named else ""
    last = stretch.before - timedelta(seconds=1)
    if kind == "day":
        return _("{name} daily ({days})", name=name, days=period_words(last, last)).strip()
    days = period_words(stretch.since, last)
    if kind == "week":
        return _("{name} weekly ({days})", name=name, days=days).strip()
    return _("{name} briefing ({days})", name=name, days=days).strip()


def _blank(
    kind: str, topic: str, title: str, days: tuple[datetime, datetime], now: datetime
) -> Draft:
    return Draft(0, kind, topic, title, None, *days, DRAFT, SIMPLIFIED, "", 1, "", now, "", now)


# --- The desk -------------------------------------------------------------------------------------


async def show(request: Request) -> Response:
    """What it says, with what may be put in at the right; read only once it is locked."""
    draft = await _require(request)
    return await _show(request, draft)


async def _show(request: Request, draft: Draft, line: str = "", fault: str = "") -> Response:
    user = user_of(request)
    view = await read(request, _desk_view, draft.id)
    is_writing = draft.is_open and user.may(EDITOR)
    beside = await offered(request, draft, is_writing=is_writing)
    shown, options = draft.in_its_script(), Options.from_environment()
    return render(
        request,
        "briefings/desk.html",
        status=400 if fault else 200,
        draft=shown,
        items=tuple(zip(shown.items, _ranks(shown), strict=True)),
        numbers=numbered_sources(shown.items),
        cites_of=cites_of,
        period=period_words(draft.since, draft.before - timedelta(seconds=1)),
        offer=beside.of_days,
        found=beside.found,
        groups=beside.groups,
        group="".join(beside.chosen_groups),
        media=MEDIA,
        medium="".join(beside.chosen_media),
        is_writing=is_writing,
        writer=await model_writing.offered_for_lead(request, draft),
        may_approve=view.office.may_approve(user),
        view=view,
        channels=await read(request, known_channels, options["QIAO_WARNING_CHANNELS"]),
        states=STATE_NAMES,
        kinds=KINDS,
        scripts=SCRIPT_NAMES,
        own_words=OWN_WORDS,
        line=line,
        fault=fault,
        is_unsent=draft.state == APPROVED,
        is_locked=draft.state in (APPROVED, SENT),
        is_waiting=draft.state == REVIEW,
    )


@dataclass(frozen=True, slots=True)
class _DeskView:
    """What stands beside a briefing: its locked copies, the office's paper, who approves."""

    versions: tuple[stored.Version, ...]
    office: OfficePaper
    approvers: tuple[str, ...]


def _desk_view(c: Connection, number: int) -> _DeskView:
    office = office_of(c)
    able = (user.name for user in list_users(c) if user.disabled_at is None)
    return _DeskView(
        tuple(stored.versions_of(c, number)),
        office,
        tuple(name for name in able if name in office.approvers),
    )


def _ranks(draft: Draft) -> list[int]:
    """The number of each item that has a heading; 0 for the editor's own lines."""
    ranks: list[int] = []
    for item in draft.items:
        ranks.append(max(ranks, default=0) + 1 if item.heading else 0)
    return ranks


async def save_head(request: Request) -> Response:
    """Keep title, number of the issue, script and the editor's note."""
    number = request.path_params["draft_id"]
    title = await field(request, "title", stored.MOST_TITLE_CHARS)
    script = await field(request, "script", 16)
    note = await field(request, "note", stored.MOST_NOTE_CHARS)
    given = await field(request, "issue", 10)
    issue = wanted_number(_("Issue"), given, 1, stored.MOST_ISSUE) if given else None

    def save(c: Connection, actor: Actor) -> None:
        _found(c, number)
        stored.save_head(c, actor, number, title, issue, script, note)

    await write(request, save, actor_of(request))
    tell(request, Told(_("Saved.")))
    return _to_desk(request, number)


async def add(request: Request) -> Response:
    """Put an event or an article in, or the editor's own line."""
    return await _put_in(request, request.path_params["draft_id"])


async def put(request: Request) -> Response:
    """The same from the page of an event or article: into the briefing that is written now."""
    number = await read(request, stored.open_draft, user_of(request).name)
    if number is None:
        # The first thing of the day begins the day's briefing, with this alone in it.
        now = datetime.now(UTC)
        days = start_of_days(now, making.DAYS["day"]), now
        title = await read(request, _title, Stretch("", *days), "day", None)
        draft = _blank("day", "", title, days, now)

        def begin_empty(c: Connection, actor: Actor) -> int:
            return stored.add_draft(c, actor, replace(draft, issue=stored.next_issue(c, now)), ())

        await read(request, _item_of, await _wish(request), "day")
        number = await write(request, begin_empty, actor_of(request))
    return await _put_in(request, number, go_back=True)


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is to be put in: an event, an article, or a line."""

    story: str
    article: str
    line: str


async def _wish(request: Request) -> _Wish:
    story, article = await field(request, "story", 20), await field(request, "article", 20)
    return _Wish(story, article, await field(request, "line", MOST_SENTENCE_CHARS))


def _item_of(c: Connection, wish: _Wish, kind: str) -> Item:
    if wish.story:
        number = wanted_number(_("Event"), wish.story, 1, 2**62)
        _require_story(c, number)
        return making.item_of_story(c, number, kind)
    if wish.article:
        return making.item_of_article(c, wanted_number(_("Article"), wish.article, 1, 2**62))
    raise ConfigError(_("write something first"))


async def _put_in(request: Request, number: int, *, go_back: bool = False) -> Response:
    draft = await read(request, _found, number)
    wish = await _wish(request)
    by = user_of(request).name
    if wish.line:
        item = Item(LINE, None, "", (Sentence(" ".join(wish.line.split()), by=by),))
    else:
        item = await read_heavy(request, _item_of, wish, draft.kind)

    def put_it(c: Connection, actor: Actor) -> int:
        _found(c, number)
        return stored.add_item(c, actor, number, item)

    row = await write(request, put_it, actor_of(request))
    if not go_back:
        tell(request, Told(_("Put in, as the last item.")))
        return _to_desk(request, number, f"#item-{row}")
    words = _("Put into the briefing “{title}”.", title=draft.title)
    step = link(request, "briefings.desk", draft_id=number)
    tell(request, Told(words, _("To the briefing"), step))
    return await back(request, "briefings.desk", draft_id=number)


async def move(request: Request) -> Response:
    """One place up or down."""
    number, row = _row_of(request)
    given = await field(request, "step", 10)
    if given not in _STEPS:
        raise ConfigError(
            _("step {given!r} must be one of {allowed}", given=given, allowed=", ".join(_STEPS))
        )

    def move_it(c: Connection, actor: Actor) -> None:
        _found(c, number)
        stored.move_item(c, actor, number, row, _STEPS[given])

    await write(request, move_it, actor_of(request))
    return _to_desk(request, number, f"#item-{row}")


async def drop(request: Request) -> Response:
    """Take an item out; the next page takes that back."""
    number, row = _row_of(request)

    def drop_it(c: Connection, actor: Actor) -> Item:
        _found(c, number)
        return stored.drop_item(c, actor, number, row)

    item = await write(request, drop_it, actor_of(request))
    undo = link(request, "briefings.restore", draft_id=number, item_id=row)
    said = item.heading or item.sentences[0].text[:40]
    tell(request, Told(_("Taken out: {title}", title=said), undo=undo))
    return _to_desk(request, number)


async def restore(request: Request) -> Response:
    """Put back what was taken out, where it stood."""
    number, row = _row_of(request)

    def put_it_back(c: Connection, actor: Actor) -> None:
        _found(c, number)
        stored.put_back(c, actor, number, row)

    await write(request, put_it_back, actor_of(request))
    tell(request, Told(_("Taken back.")))
    return _to_desk(request, number, f"#item-{row}")


async def drop_draft(request: Request) -> Response:
    """Delete a draft of which nothing was ever approved."""
    number = request.path_params["draft_id"]

    def drop_it(c: Connection, actor: Actor) -> str:
        draft = _found(c, number)
        stored.drop_draft(c, actor, number)
        return draft.title

    title = await write(request, drop_it, actor_of(request))
    tell(request, Told(_("Deleted: {title}", title=title)))
    return RedirectResponse(link(request, "briefings.show"), 303)


# --- One item, changed ----------------------------------------------------------------------------


async def edit(request: Request) -> Response:
    """The form of one item: its heading, and a field a sentence with what its sources say."""
    draft = await _require(request)
    item = _own_item(draft, request.path_params["item_id"])
    texts = [own.text for own in item.sentences]
    return _edit_page(request, draft, item, (item.heading, texts))


def _own_item(draft: Draft, row: int) -> Item:
    found = next((item for item in draft.in_its_script().items if item.id == row), None)
    if found is None:
        raise HTTPException(404, _("There is no such page."))
    return found


def _edit_page(
    request: Request, draft: Draft, item: Item, typed: tuple[str, list[str]], fault: str = ""
) -> Response:
    heading, texts = typed
    return render(
        request,
        "briefings/item.html",
        status=409 if fault else 200,
        draft=draft,
        item=item,
        heading=heading,
        texts=[*texts, ""] if not texts or texts[-1] else texts,
        fault=fault,
        own_words=OWN_WORDS,
        most_chars=MOST_SENTENCE_CHARS,
    )


async def save_item(request: Request) -> Response:
    """Keep what an editor made of an item; what a colleague saved meanwhile is not lost."""
    draft = await _require(request)
    row = request.path_params["item_id"]
    item = _own_item(draft, row)
    heading = " ".join((await field(request, "heading", 500)).split())
    sent = (await credentials.form_of(request)).getlist("sentence")
    texts = [text for text in sent if isinstance(text, str)]
    if any(len(text) > MOST_SENTENCE_CHARS for text in texts):
        fault = _("a sentence has at most {most} characters", most=MOST_SENTENCE_CHARS)
        return _edit_page(request, draft, item, (heading, texts), fault)
    revision = await field(request, "revision", 10)
    if revision != str(item.revision):
        return _edit_page(request, draft, item, (heading, texts), _meanwhile(draft))
    raw = next(own for own in draft.items if own.id == row)
    new = edited(raw, heading, texts, user_of(request).name, draft.script)

    def save(c: Connection, actor: Actor) -> Item | None:
        _found(c, draft.id)
        return stored.save_item(c, actor, draft.id, new)

    if await write(request, save, actor_of(request)) is not None:
        newest = await _require(request)
        fault = _meanwhile(newest)
        return _edit_page(request, newest, _own_item(newest, row), (heading, texts), fault)
    tell(request, Told(_("Saved.")))
    return _to_desk(request, draft.id, f"#item-{row}")


def _meanwhile(draft: Draft) -> str:
    return _(
        "{name} changed this item meanwhile. What you wrote is still below; beside it is what "
        "stands there now.",
        name=draft.changed_by,
    )


# --- Approved, locked, sent -----------------------------------------------------------------------


async def submit(request: Request) -> Response:
    """Ask whoever approves."""
    number = request.path_params["draft_id"]

    def ask(c: Connection, actor: Actor) -> None:
        _found(c, number)
        stored.submit(c, actor, number)

    await write(request, ask, actor_of(request))
    tell(request, Told(_("It waits for approval now. Nobody changes it meanwhile.")))
    return _to_desk(request, number)


async def give_back(request: Request) -> Response:
    """Let it be written on, with the reason."""
    draft, office = await _require(request), await read(request, office_of)
    user = user_of(request)
    if not (office.may_approve(user) or user.may(EDITOR)):
        raise HTTPException(403, _("Your role does not allow this."))
    reason = await field(request, "reason", 1_000)
    await write(request, stored.give_back, actor_of(request), draft.id, reason)
    tell(request, Told(_("It is a draft again.")))
    return _to_desk(request, draft.id)


async def approve(request: Request) -> Response:
    """Lock it as it stands, with its files and their digests."""
    draft, office = await _require(request), await read(request, office_of)
    if not office.may_approve(user_of(request)):
        raise HTTPException(403, _("Your role does not allow this."))
    now = datetime.now(UTC)
    files = await do_heavy(request, lambda _is_over: paper_files(draft, office, now))
    await write(request, stored.approve, actor_of(request), draft, files, now)
    tell(request, Told(_("Approved. This copy is locked; a change makes the next version.")))
    return _to_desk(request, draft.id)


async def reopen(request: Request) -> Response:
    """Write the next version; the approved one stays."""
    number = request.path_params["draft_id"]

    def begin_next(c: Connection, actor: Actor) -> int:
        draft = _found(c, number)
        stored.reopen(c, actor, number)
        return draft.version

    version = await write(request, begin_next, actor_of(request))
    words = _(
        "You write version {number} now; version {before} stays as it was approved.",
        number=version + 1,
        before=version,
    )
    tell(request, Told(words))
    return _to_desk(request, number)


async def send(request: Request) -> Response:
    """Send the approved copy to each receiver, and note what became of it."""
    draft = await _require(request)
    form = await credentials.form_of(request)
    chosen = list(dict.fromkeys(str(one) for one in form.getlist("channel")))
    by_hand = await field(request, "by_hand", 2_000)
    others = list(dict.fromkeys(filter(None, map(str.strip, by_hand.splitlines()))))
    if draft.state not in (APPROVED, SENT):
        raise ConfigError(_("Only what is approved is sent."))
    if not chosen and not others:
        raise ConfigError(_("choose who gets it"))
    if len(chosen) + len(others) > _MOST_RECEIVERS:
        raise ConfigError(_("at most {most} receivers at once", most=_MOST_RECEIVERS))
    options = Options.from_environment()
    file, keys = options["QIAO_WARNING_CHANNELS"], options["QIAO_SECRET_KEY"]
    addresses = await read(request, all_channels, file, keys)
    unknown = [name for name in chosen if name not in addresses]
    if unknown:
        raise ConfigError(
            _(
                "channel {name!r} must be one of {allowed}",
                name=unknown[0],
                allowed=_(", ").join(addresses) or _("none"),
            )
        )
    files = {
        ending: await read(request, stored.file_of_version, draft.id, draft.version, ending)
        for ending in ("docx", "txt")
    }
    now, name = datetime.now(UTC), user_of(request).name
    receipts = [stored.Receipt(own[:100], "hand", name, now, "") for own in others]
    for channel in chosen:
        refusal = await run_in_threadpool(
            _send_copy, request, addresses[channel], channel, draft, files
        )
        receipts.append(stored.Receipt(channel, "channel", name, datetime.now(UTC), refusal))
    await write(request, stored.note_sent, actor_of(request), draft.id, draft.version, receipts)
    refused = [own.receiver for own in receipts if own.refusal]
    words = _(
        "Sent to {count} of {total}.", count=len(receipts) - len(refused), total=len(receipts)
    )
    if refused:
        words += _(" Not arrived: {names}; why stands below.", names=_(", ").join(refused))
    tell(request, Told(words))
    return _to_desk(request, draft.id, "#sent")


def _send_copy(
    request: Request, address: str, channel: str, draft: Draft, files: Mapping[str, bytes]
) -> str:
    """The text, and the Word file where the channel takes one; why it did not arrive, "" if so."""
    with TemporaryDirectory(prefix="qiao-send-") as folder:
        file = Path(folder) / f"briefing-{draft.id}-v{draft.version}.docx"
        file.write_bytes(files["docx"])
        letter = Letter(channel, draft.title, files["txt"].decode(), file)
        return send_now(console_of(request).database, address, letter, datetime.now(UTC))


# --- Its files ------------------------------------------------------------------------------------


async def page(request: Request) -> Response:
    """How it looks on paper, as it stands now or as it was approved."""
    content = await _content(request, "html")
    return HTMLResponse(
        content,
        headers={"Content-Security-Policy": STORED_PAGE_POLICY, "X-Frame-Options": "SAMEORIGIN"},
    )


async def file(request: Request) -> Response:
    """One of its files, to be kept; PDF is printed now."""
    ending = request.path_params["ending"]
    if ending not in _TYPES:
        raise HTTPException(404, _("There is no such page."))
    content = await _content(request, "html" if ending == "pdf" else ending)
    if ending == "pdf":
        chromium, markup = Options.from_environment()["QIAO_CHROMIUM"], content.decode()
        content = await do_heavy(request, lambda _is_over: to_pdf(markup, chromium))
    number, version = request.path_params["draft_id"], request.path_params["version"]
    name = f"briefing-{number}-v{version}.{ending}" if version else f"briefing-{number}.{ending}"
    return Response(
        content,
        media_type=_TYPES[ending],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


async def _content(request: Request, ending: str) -> bytes:
    """A file of a locked copy; of version 0, as the briefing stands now."""
    draft, version = await _require(request), request.path_params["version"]
    if version:
        return await read(request, _locked, draft.id, version, ending)
    office = await read(request, office_of)
    now = datetime.now(UTC)
    files = await do_heavy(request, lambda _is_over: paper_files(draft, office, now))
    return files[ending]


def _locked(c: Connection, number: int, version: int, ending: str) -> bytes:
    if all(own.number != version for own in stored.versions_of(c, number)):
        raise HTTPException(404, _("There is no such briefing."))
    return stored.file_of_version(c, number, version, ending)


def _found(c: Connection, number: int) -> Draft:
    try:
        return stored.one_draft(c, number)
    except StorageError as error:
        raise HTTPException(404, str(error)) from error


async def _require(request: Request) -> Draft:
    draft: Draft = await read(request, _found, request.path_params["draft_id"])
    return draft


def _row_of(request: Request) -> tuple[int, int]:
    return request.path_params["draft_id"], request.path_params["item_id"]


def _to_desk(request: Request, number: int, anchor: str = "") -> Response:
    return RedirectResponse(link(request, "briefings.desk", draft_id=number) + anchor, 303)


def _pages() -> tuple[Page, ...]:
    base = "/briefings/drafts/{draft_id:int}"
    item = base + "/items/{item_id:int}"
    posts: dict[str, Any] = {"role": EDITOR, "method": "POST"}
    return (
        Page("/briefings/drafts", "briefings.begin", begin, **posts),
        Page("/briefings/put", "briefings.put", put, **posts),
        Page(base, "briefings.desk", show),
        Page(f"{base}/head", "briefings.head", save_head, **posts),
        Page(f"{base}/add", "briefings.add", add, **posts),
        Page(f"{base}/delete", "briefings.delete", drop_draft, **posts),
        Page(item, "briefings.item", edit, EDITOR),
        Page(item, "briefings.save_item", save_item, **posts),
        Page(f"{item}/move", "briefings.move", move, **posts),
        Page(f"{item}/drop", "briefings.drop", drop, **posts),
        Page(f"{item}/restore", "briefings.restore", restore, **posts),
        Page(f"{base}/submit", "briefings.submit", submit, **posts),
        # Who approves is named on the page of the office's paper, whatever their role.
        Page(f"{base}/return", "briefings.give_back", give_back, READER, "POST"),
        Page(f"{base}/approve", "briefings.approve", approve, READER, "POST"),
        Page(f"{base}/reopen", "briefings.reopen", reopen, **posts),
        Page(f"{base}/send", "briefings.send", send, **posts),
        Page(base + "/{version:int}/page", "briefings.paper", page),
        Page(base + "/{version:int}/file/{ending}", "briefings.paper_file", file),
    )


PAGES = _pages()
