"""Foreign articles in Chinese, by a language model: beside the original, and titles in lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import back
from qiaocrawl.console.page import (
    EDITOR,
    Page,
    Told,
    actor_of,
    console_of,
    link,
    read,
    tell,
    write,
)
from qiaocrawl.console.pages.model_writing import Offered, model_for, offered
from qiaocrawl.console.pages.reading import require_article
from qiaocrawl.console.security import credentials
from qiaocrawl.errors import ConfigError, WriterError
from qiaocrawl.language import _
from qiaocrawl.news.writing.address import OUTCOMES, ModelAddress
from qiaocrawl.news.writing.kept_translations import (
    KeptTranslation,
    drop_translation,
    foreign_article,
    foreign_titles,
    is_foreign_article,
    keep_translation,
    topics_of,
    translation_of,
)
from qiaocrawl.news.writing.translation import is_foreign
from qiaocrawl.news.writing.translator import Translation, as_data, translate
from qiaocrawl.options import Options
from qiaocrawl.reading.records import ArticleRecord, iter_articles
from qiaocrawl.storage.selection import Selection

_MOST_TITLES = 50


@dataclass(frozen=True, slots=True)
class ShownTranslation:
    """What the page of an article shows of it.

    Attributes:
        is_old: the article says something else now.
        offer: None where no model is set up, or to who may not ask.
    """

    kept: KeptTranslation | None
    is_old: bool
    offer: Offered | None


async def shown_translation(
    request: Request, article_id: int, own: ArticleRecord
) -> ShownTranslation | None:
    """The translation of an article and what asking for one would send; None of a Chinese one."""
    foreign = None
    if is_foreign_article(own):
        foreign = await read(request, foreign_article, article_id)
    if foreign is None:
        return None
    kept = await read(request, translation_of, article_id)
    address = model_for(request)
    if isinstance(address, ModelAddress):
        address = await offered(request, address, *as_data(foreign.text.lines), foreign.topics)
    if kept is None and address is None:
        return None
    return ShownTranslation(kept, kept is not None and not kept.is_of(foreign.text), address)


async def translate_article(request: Request) -> Response:
    """Ask for a translation; what stands of it is kept with the article."""
    article_id = request.path_params["article_id"]
    await read(request, require_article, article_id)
    foreign = await read(request, foreign_article, article_id)
    if foreign is None:
        raise ConfigError(_("This article is in Chinese."))
    done = await _ask(request, "article", foreign.text.lines, foreign.topics)
    if done is not None and done.kept:

        def keep(c: Connection) -> None:
            keep_translation(
                c,
                actor_of(request),
                article_id,
                done.lines,
                _address().name,
                left=foreign.text.left,
                trouble=done.trouble,
            )

        await write(request, keep)
    return _to_article(request, article_id)


async def take_away(request: Request) -> Response:
    """Take a translation away."""
    article_id = request.path_params["article_id"]
    await read(request, require_article, article_id)
    await write(request, drop_translation, actor_of(request), article_id)
    tell(request, Told(_("The translation is taken away; the article stands as before.")))
    return _to_article(request, article_id)


async def translate_titles(request: Request) -> Response:
    """Ask for the foreign titles of a list; those that stand are kept with their articles."""
    form = await credentials.form_of(request)
    given = [str(one) for one in form.getlist("article")][:_MOST_TITLES]
    wanted = tuple(int(one) for one in given if one.isdecimal() and len(one) < 19)
    titles, topics = await read(request, _foreign_titles, wanted)
    if not titles:
        raise ConfigError(_("There is no foreign title to translate."))
    done = await _ask(request, "titles", list(titles.values()), topics)
    if done is not None and done.kept:

        def keep(c: Connection) -> None:
            # A colleague may have had a whole text translated meanwhile.
            still = foreign_titles(c, titles).missing
            for article_id, own in zip(titles, done.lines, strict=True):
                if own.text and article_id in still:
                    keep_translation(c, actor_of(request), article_id, [own], _address().name)

        await write(request, keep)
    return await back(request, "articles.list")


def _foreign_titles(c: Connection, wanted: Sequence[int]) -> tuple[dict[int, str], frozenset[str]]:
    if not wanted:
        return {}, frozenset()
    found = {own.id: own.title for own in iter_articles(c, Selection(article_ids=tuple(wanted)))}
    missing = foreign_titles(c, found).missing
    return missing, topics_of(c, missing) if missing else frozenset()


async def offered_titles(
    request: Request, titles: Mapping[int, str]
) -> tuple[dict[int, str], list[int], Offered | None]:
    """Of a list: titles in Chinese by article, those without, and what asking would send."""
    if not any(map(is_foreign, titles.values())):
        return {}, [], None
    known = await read(request, foreign_titles, titles)
    address = model_for(request) if known.missing else None
    if isinstance(address, ModelAddress):
        topics = await read(request, topics_of, tuple(known.missing))
        lines = list(known.missing.values())
        address = await offered(request, address, *as_data(lines), topics)
    return known.translated, list(known.missing), address


def _address() -> ModelAddress:
    return ModelAddress.from_options(Options.from_environment())


async def _ask(
    request: Request, purpose: str, lines: Sequence[str], topics: frozenset[str]
) -> Translation | None:
    """What was translated, with what is told of it; None where nothing was answered."""
    database, actor = console_of(request).database, actor_of(request)
    try:
        done = await run_in_threadpool(
            translate, database, _address(), actor, purpose, lines, topics
        )
    except WriterError as error:
        name = _(OUTCOMES.get(error.outcome, OUTCOMES["away"]))
        words = _("Nothing was translated: {name}. {why}", name=name, why=error)
        tell(request, Told(words, is_fault=True))
        return None
    words = _(
        "Translated: {kept} of {count} lines stand the check. {tokens} tokens.",
        kept=done.kept,
        count=len(done.lines),
        tokens=f"{done.tokens:,}",
    )
    tell(request, Told(f"{words} {done.trouble}".strip(), is_fault=not done.kept))
    return done


def _to_article(request: Request, article_id: int) -> Response:
    address = link(request, "articles.detail", article_id=article_id)
    return RedirectResponse(f"{address}#translation", 303)


_ARTICLE = "/articles/{article_id:int}/translation"

PAGES = (
    Page("/articles/titles", "articles.translate_titles", translate_titles, EDITOR, "POST"),
    Page(_ARTICLE, "articles.translate", translate_article, EDITOR, "POST"),
    Page(f"{_ARTICLE}/drop", "articles.drop_translation", take_away, EDITOR, "POST"),
)
