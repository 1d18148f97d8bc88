"""Articles: lists, searches, marks, exports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import parse_qsl

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from qiaocrawl.console.crawl_scorer import crawl_scorer, pack_without, page_text
from qiaocrawl.console.forms import back, download, field
from qiaocrawl.console.page import (
    EDITOR,
    READER,
    Area,
    Page,
    Told,
    actor_of,
    origin_of,
    read,
    tell,
    user_of,
    write,
)
from qiaocrawl.console.pages import article
from qiaocrawl.console.pages.evidence_packages import OF_ARTICLE
from qiaocrawl.console.pages.listed_articles import (
    FORMATS,
    ROWS,
    ArticleFilter,
    Row,
    bounded_selection,
    listing_of,
    matches_of,
    rows_of,
    selection_of,
)
from qiaocrawl.console.pages.reading import EVIDENCE, FACETS, REASONS, STATUS_NAMES
from qiaocrawl.console.pages.translations import PAGES as TRANSLATIONS
from qiaocrawl.console.pages.translations import offered_titles
from qiaocrawl.console.render import Chip, render
from qiaocrawl.console.search import MOST_MATCHES
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.base import exporters
from qiaocrawl.items import PageText, Relevance
from qiaocrawl.language import N_, _, ngettext
from qiaocrawl.reading import marks
from qiaocrawl.reading import pages_of_a_list as article_list
from qiaocrawl.reading.evidence import has_article
from qiaocrawl.reading.marks import Marks
from qiaocrawl.reading.pages_of_a_list import FacetValues, ListWish
from qiaocrawl.storage import people
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.titles.groups import chain
from qiaocrawl.storage.topics.classes import class_label, class_named, mark_class
from qiaocrawl.storage.topics.topics import find_topic_id
from qiaocrawl.text.zones import SHANGHAI
from qiaocrawl.topic.media import MEDIA
from qiaocrawl.topic.pack import TopicPack

# --- Marking an article: whether it is on topic, what it is about, a star, a note, tags -----------

RELEVANT, IRRELEVANT, UNJUDGED = "relevant", "irrelevant", "unjudged"
_MOST_COPIES = 200
"""Of one text; each is a row of the record of changes."""
STAR, UNSTAR, NOTE, TAGS, CLASS = "star", "unstar", "note", "tags", "class"


class Mark(NamedTuple):
    """What an article is to be marked with: one of the names above, and what it needs."""

    action: str
    topic: str = ""
    value: str = ""

    @property
    def is_judgement(self) -> bool:
        """Whether it says that the article is on topic or not."""
        return self.action in (RELEVANT, IRRELEVANT, UNJUDGED)


async def mark(request: Request) -> Response:
    """Judge an article, star it, note something, tag it; scripts get its marks as JSON."""
    article_id = request.path_params["article_id"]
    action, value = await field(request, "action"), await field(request, "value", 4_000)
    wanted = Mark(action, await field(request, "topic", 64), value)
    copies = bool(await field(request, "copies", 3))
    now, judged = await mark_article(request, article_id, [wanted], copies=copies)
    said = ""
    if judged > 1:
        said = ngettext("{count} copy was marked.", "{count} copies were marked.", judged)
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse(
            {
                "starred": now.starred,
                "note": now.note,
                "tags": now.tags,
                "judged": dict(now.judged),
                "said": said,
            }
        )
    return await back(request, "articles.detail", article_id=article_id)


async def mark_article(
    request: Request, article_id: int, wanted: Sequence[Mark], *, copies: bool
) -> tuple[Marks, int]:
    """Mark an article; its marks as they are now, and how many articles were judged.

    Args:
        copies: its reprints are judged with it.
    """
    actor, judged = actor_of(request), [article_id]
    if copies and any(one.is_judgement for one in wanted):
        judged = await read(request, _copies_of, article_id)
    for one in wanted:
        if one.action == UNJUDGED:
            await _take_back(request, judged, one.topic)

    def change(c: Connection) -> Marks:
        for one in wanted:
            for own in judged if one.is_judgement else [article_id]:
                if one.action != UNJUDGED:
                    _mark(c, actor, own, one)
        return marks.marks_of(c, [article_id]).get(article_id, Marks())

    return await write(request, change), len(judged)


def _copies_of(c: Connection, article_id: int) -> list[int]:
    """The article, first, and the others of its reprint group: a row of a list stands for all."""
    group = [member.article_id for member in chain(c, article_id)][:_MOST_COPIES]
    if article_id not in group:
        return [article_id]
    return [article_id, *(own for own in group if own != article_id)]


def _mark(c: Connection, actor: Actor, article_id: int, wanted: Mark) -> None:
    action, topic, value = wanted
    if action in (RELEVANT, IRRELEVANT):
        marks.judge(c, actor, article_id, topic, relevant=action == RELEVANT)
    elif action in (STAR, UNSTAR):
        marks.set_star(c, actor, article_id, starred=action == STAR and value == "yes")
    elif action == NOTE:
        marks.set_note(c, actor, article_id, value)
    elif action == TAGS:
        marks.set_tags(c, actor, article_id, value.replace("，", ",").split(","))
    elif action == CLASS:
        _mark_class(c, actor, article_id, (topic, value))
    else:
        raise HTTPException(400, _("There is no such mark."))


def _mark_class(c: Connection, actor: Actor, article_id: int, wanted: tuple[str, str]) -> None:
    """Say what the article is about; "" takes it back."""
    topic, name = wanted[0], class_named(wanted[1])
    if find_topic_id(c, topic) is None:
        raise HTTPException(404, _("There is no such topic."))
    marked = mark_class(c, article_id, topic, name, by=actor.name, now=datetime.now(UTC))
    before, after = (
        {"topic": topic, "class": own} if own else None for own in (marked.before, name)
    )
    record(c, actor, "article.class", marked.url, before, after)


async def _take_back(request: Request, articles: Sequence[int], topic: str) -> None:
    """Let the page scorer judge again, as if nobody had said anything of *articles*.

    They have one text: while one of them is a sample, the others are judged by it.
    """
    first = articles[0]

    def load(c: Connection) -> tuple[str, TopicPack, list[PageText]]:
        if first >= 2**63 or not has_article(c, first):
            raise ConfigError(_("there is no article {which}", which=first))
        name = topic or marks.best_topics(c, [first])[first]
        pages = [page_text(c, own) for own in articles]
        return name, pack_without(c, name, *pages), pages

    name, pack, pages = await read(request, load)

    def judge_texts() -> list[Relevance]:
        scorer = crawl_scorer(pack)
        return [scorer.judge(page) for page in pages]

    # Before the transaction: to learn a topic from its samples may take seconds.
    verdicts = await run_in_threadpool(judge_texts)
    actor = actor_of(request)

    def change(c: Connection) -> None:
        for own, verdict in zip(articles, verdicts, strict=True):
            marks.take_back(c, actor, own, name, verdict)

    await write(request, change)


_FEED_ITEMS = 50
SORT_NAMES = {
    "published": N_("newly published first"),
    "newest": N_("newly found first"),
    "score": N_("most on topic first"),
}


def _day_chips(choice: ArticleFilter, now: datetime) -> list[Chip]:
    """The usual stretches of publication, and the one of somebody's own."""
    today = now.astimezone(SHANGHAI).date()
    yesterday = today - timedelta(days=1)
    stretches = {
        _("all times"): ("", ""),
        _("today"): (f"{today}", ""),
        _("yesterday"): (f"{yesterday}", f"{yesterday}"),
        _("7 days"): (f"{today - timedelta(days=6)}", ""),
        _("30 days"): (f"{today - timedelta(days=29)}", ""),
    }
    own = choice.since, choice.until
    if own not in stretches.values():
        stretches[f"{choice.since}–{choice.until}"] = own
    return [
        Chip(text, choice.query(since=since, until=until), own == (since, until))
        for text, (since, until) in stretches.items()
    ]


def _made_choices(choice: ArticleFilter, facets: FacetValues) -> list[Chip]:
    """What narrows the list, each with the list without it."""
    sites, topics = dict(facets.sites), dict(facets.topics)
    found = [
        (choice.q, {"q": ""}),
        (topics.get(choice.topic) or choice.topic, {"topic": ""}),
        (_("off topic") if choice.relevance == "no" else "", {"relevance": "yes"}),
        (_(STATUS_NAMES.get(choice.status, "")) if choice.status else "", {"status": ""}),
        (choice.tag, {"tag": ""}),
        (class_label(class_named(choice.about)) if choice.about else "", {"about": ""}),
        (choice.name, {"name": ""}),
        (f"{choice.since}–{choice.until}".strip("–"), {"since": "", "until": ""}),
        (_("found in {days} days", days=choice.found) if choice.found else "", {"found": ""}),
        (
            _("found {days}", days=f"{choice.found_from}–{choice.found_to}".strip("–"))
            if choice.found_from or choice.found_to
            else "",
            {"found_from": "", "found_to": ""},
        ),
    ]
    made = [Chip(text, choice.query(**changes), True) for text, changes in found if text]
    made += [Chip(sites.get(one, one), choice.query_with("site", one), True) for one in choice.site]
    made += [Chip(one, choice.query_with("region", one), True) for one in choice.region]
    made += [
        Chip(_("tier {tier}", tier=one), choice.query_with("tier", one), True)
        for one in choice.tier
    ]
    made += [Chip(_(MEDIA[one]), choice.query_with("medium", one), True) for one in choice.medium]
    made += [Chip(one, choice.query_with("group", one), True) for one in choice.group]
    return made


async def show(request: Request) -> Response:
    """The list."""
    choice = ArticleFilter.of(request.query_params.multi_items())
    matches, notice = await matches_of(request, choice)
    listing = await read(request, listing_of, choice, matches)
    searches = await read(request, people.list_searches, user_of(request))
    titles = {row.listed.id: row.title for row in listing.rows}
    translated, untranslated, writer = await offered_titles(request, titles)
    return render(
        request,
        "articles/list.html",
        choice=choice,
        listing=listing,
        notice=notice,
        searches=searches,
        status_names=STATUS_NAMES,
        sort_names=SORT_NAMES,
        formats=FORMATS,
        most_counted=article_list.MOST_COUNTED,
        rows_a_page=ROWS,
        cut_from=matches.total if matches and matches.total > MOST_MATCHES else 0,
        most_matches=MOST_MATCHES,
        best_first=choice.sort == article_list.SCORE,
        pairs=_pairs,
        media=[(kind, _(name)) for kind, name in MEDIA.items()],
        days=_day_chips(choice, datetime.now(UTC)),
        made=_made_choices(choice, listing.facets),
        translated=translated,
        untranslated=untranslated,
        writer=writer,
    )


def _pairs(values: Iterable[object]) -> list[tuple[str, str]]:
    """Values that are called what they are."""
    return [(str(value), str(value)) for value in values]


async def export(request: Request) -> Response:
    """The list as a file."""
    choice = ArticleFilter.of(request.query_params.multi_items())
    name = request.path_params["format"]
    if name not in FORMATS:
        raise HTTPException(404, _("There is no such page."))
    # All of the list: where the index cannot name them, all texts are read.
    matches, _notice = await matches_of(request, choice, None)
    selection = replace(
        selection_of(choice, matches),
        by_group=choice.is_folded,
        with_copies=False,
        order=choice.sort,
    )
    exporter = exporters.get(name)
    if not exporter.for_people:
        selection = replace(selection, by_group=False)
    name = f"articles-{datetime.now(SHANGHAI):%Y%m%d-%H%M}{exporter.suffix}"
    return await download(
        request, name, lambda c, file: exporter.write(c, selection, file, lambda _count: None)
    )


async def feed(request: Request) -> Response:
    """The list as RSS, for a news reader."""
    choice = ArticleFilter.of(request.query_params.multi_items())
    if "sort" not in request.query_params:
        # What is found late has an old date, and a reader that comes back would never see it.
        choice = replace(choice, sort=article_list.NEWEST)
    matches, _notice = await matches_of(request, choice)

    def newest(c: Connection) -> tuple[Row, ...]:
        wish = ListWish(
            bounded_selection(c, choice, matches), choice.sort, choice.is_folded, limit=_FEED_ITEMS
        )
        return rows_of(c, article_list.list_page(c, wish).ids, choice)

    rows = await read(request, newest)
    response = render(
        request, "articles/feed.xml", rows=rows, choice=choice, base=origin_of(request)
    )
    response.headers["Content-Type"] = "application/rss+xml; charset=utf-8"
    return response


async def save_search(request: Request) -> Response:
    """Keep the list under a name."""
    query = ArticleFilter.of(parse_qsl(await field(request, "query", 4_000))).query()
    name = await field(request, "name", 200)
    user, actor = user_of(request), actor_of(request)
    await write(request, people.save_search, actor, user, name, query)
    tell(request, Told(_("The list is kept under “{name}”.", name=name)))
    return await back(request, "articles.list")


async def remove_search(request: Request) -> Response:
    """Forget a saved list."""
    search_id = request.path_params["search_id"]
    await write(request, people.remove_search, actor_of(request), user_of(request), search_id)
    return await back(request, "articles.list")


AREA = Area(
    N_("Articles"),
    "newspaper",
    (
        Page("/articles", "articles.list", show),
        FACETS,
        Page("/articles/feed.xml", "articles.feed", feed, READER, for_programs=True),
        Page("/articles/export/{format}", "articles.export", export),
        Page("/articles/searches", "articles.save_search", save_search, READER, "POST"),
        Page(
            "/articles/searches/{search_id:int}/remove",
            "articles.remove_search",
            remove_search,
            READER,
            "POST",
        ),
        Page("/articles/{article_id:int}", "articles.detail", article.show),
        *EVIDENCE,
        OF_ARTICLE,
        *REASONS,
        *TRANSLATIONS,
        Page("/articles/{article_id:int}/mark", "articles.mark", mark, EDITOR, "POST"),
    ),
)
