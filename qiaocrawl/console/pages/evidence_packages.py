"""Evidence packages of an article or an event, made when somebody asks and kept by them alone."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.forms import sent_file
from qiaocrawl.console.heavy_work import IsOver
from qiaocrawl.console.page import (
    EDITOR,
    Page,
    Told,
    actor_of,
    console_of,
    do_heavy,
    read,
    tell,
    user_of,
    write,
)
from qiaocrawl.console.pages.reading import require_article
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.evidence import (
    Made,
    StoppedError,
    Subject,
    Terms,
    article_subject,
    event_subject,
    make_package,
    note_package,
)
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.runtime.sent_files import GivenUpError
from qiaocrawl.text.zones import china_time


async def of_article(request: Request) -> Response:
    """The package of one article, as a file."""
    article_id = request.path_params["article_id"]

    def load(c: Connection) -> Subject:
        require_article(c, article_id)
        return article_subject(c, article_id)

    return await _send(request, await read(request, load))


async def of_event(request: Request) -> Response:
    """The package of one event with all its articles, as a file."""
    try:
        subject = await read(request, event_subject, request.path_params["story_id"])
    except ConfigError as error:
        raise HTTPException(404, str(error)) from error
    return await _send(request, subject)


async def _send(request: Request, subject: Subject) -> Response:
    terms = Terms.from_options(Options.from_environment(), user_of(request).name)
    database = console_of(request).database

    async def make(file: Path) -> None:
        def work(is_over: IsOver) -> Made:
            try:
                return make_package(database, subject, terms, file, lambda _count: not is_over())
            except StoppedError:
                raise GivenUpError from None

        made = await do_heavy(request, work)
        await write(request, note_package, actor_of(request), subject, made)
        tell(request, Told(_words(made), is_fault=not made.is_whole))

    return await sent_file(f"evidence-{subject.kind}-{subject.number}.zip", make)


def _words(made: Made) -> str:
    """What the next page says of it."""
    words = [_("The evidence package was made.")]
    if made.stamp is not None:
        words.append(_("Stamped {when}.", when=china_time(made.stamp.at)))
    elif made.stamp_fault:
        words.append(_("It has no time stamp: {why}.", why=made.stamp_fault))
    if any(gap.is_page for gap in made.gaps):
        words.append(_("It lacks a page that is no longer stored."))
    elif made.gaps:
        words.append(_("What it lacks stands in its report."))
    return " ".join(words)


OF_ARTICLE = Page(
    "/articles/{article_id:int}/evidence.zip", "articles.package", of_article, EDITOR, "POST"
)
OF_EVENT = Page("/stories/{story_id:int}/evidence.zip", "stories.package", of_event, EDITOR, "POST")
