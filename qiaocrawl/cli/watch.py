"""``qiaocrawl watch …``: what is watched, when it is due, and what became of an article."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from difflib import unified_diff
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from sqlalchemy import Connection

from qiaocrawl.cli.database import DatabaseUrl, connection_to, transaction_on
from qiaocrawl.cli.output import echo, echo_json, folding_table, not_an_address, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
from qiaocrawl.options.project import command_here
from qiaocrawl.reading.silence import board_words, state_words
from qiaocrawl.search.boards import boards_in
from qiaocrawl.storage import url_history
from qiaocrawl.storage.pages import revisions
from qiaocrawl.storage.pages.revisions import Revision, Source
from qiaocrawl.storage.sites import boards as stored_boards
from qiaocrawl.storage.sites import sources, watch_counts, watched
from qiaocrawl.storage.sites.sources import FeedSource
from qiaocrawl.storage.sites.watched import MAX_PAGE_WEIGHT, WatchedPage
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.text.zones import china_time, china_time_at
from qiaocrawl.topic.feeds import Feed, read_feeds, write_feeds
from qiaocrawl.topic.files import read_limited
from qiaocrawl.urls import canonical_url, url_key

app = typer.Typer(
    help="Pages that are looked at again and again, and what articles said before.",
    no_args_is_help=True,
)

_KINDS = {
    "home": N_("home"),
    "rolling": N_("rolling"),
    "channel": N_("channel"),
    "list": N_("list"),
    "feed": N_("feed"),
    "source": N_("feed of the topic"),
}
_FACTS = {
    revisions.REVISED: N_("revised"),
    revisions.DELETED: N_("deleted"),
    revisions.RESTORED: N_("restored"),
    revisions.WITHDRAWN: N_("withdrawn"),
}
_CHANGES = {"title": N_("title"), "body": N_("body"), "title and body": N_("title and body")}

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_pages(
    topic: Annotated[str, typer.Argument(help="An imported topic; none: all of them.")] = "",
    site: Annotated[str, typer.Option(help="Only pages of this host.")] = "",
    as_json: AsJson = False,
    database: DatabaseUrl = "",
) -> None:
    """Show what is watched: group, interval, last change, next visit, what it brought."""
    options = Options.from_environment({"QIAO_DATABASE_URL": database} if database else None)
    with connection_to(database) as c:
        topics = [row.name for row in list_topics(c) if topic in ("", row.name)]
        if not topics:
            raise ConfigError(_("topic {topic!r} is not in the database", topic=topic))
        by_topic = [_topic_facts(c, name, site, options) for name in topics]
    if as_json:
        echo_json(by_topic)
        return
    for facts in by_topic:
        _show_topic(facts)


def _topic_facts(c: Connection, topic: str, site: str, options: Options) -> dict[str, Any]:
    now = time.time()
    pages = [page for page in watched.watched_pages(c, topic) if site in ("", page.host)]
    waiting, first = watched.articles_waiting(c, topic)
    listing, articles, looks = watch_counts.totals_today(c, topic, now)
    return {
        "topic": topic,
        "requests_today": {"pages": listing, "new_articles": articles, "articles_again": looks},
        "daily_requests": options["QIAO_WATCH_DAILY_REQUESTS"],
        "articles_to_look_at": waiting,
        "next_article_at": first,
        "pages": [_page_dict(page) for page in sorted(pages, key=lambda page: page.next_at)],
    }


def _page_dict(page: WatchedPage) -> dict[str, Any]:
    left_out = ("key", "memory", "digest", "state", "url_id")
    return {name: value for name, value in asdict(page).items() if name not in left_out}


def _show_topic(facts: dict[str, Any]) -> None:
    table = folding_table(
        _("URL"),
        _("group"),
        _("name"),
        _("interval"),
        _("news/day"),
        _("last changed"),
        _("next visit"),
        _("visits"),
        _("changes"),
        _("new links"),
        _("failures"),
    )
    for column in (3, 4, 7, 8, 9, 10):
        table.columns[column].justify = "right"
    for page in facts["pages"]:
        table.add_row(*_cells(page))
    console = table_console()
    requests = facts["requests_today"]
    first = china_time_at(facts["next_article_at"])
    console.print(
        _(
            "{topic}: {count} pages watched; {requests} of {daily} requests today (pages "
            "{pages}, new articles {new}, articles again {again}); {waiting} articles to look at "
            "again",
            topic=facts["topic"],
            count=len(facts["pages"]),
            requests=sum(requests.values()),
            daily=facts["daily_requests"],
            pages=requests["pages"],
            new=requests["new_articles"],
            again=requests["articles_again"],
            waiting=facts["articles_to_look_at"],
        )
        + (_(", the first at {first}", first=first) if first else ""),
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    console.print(table)


def _cells(page: dict[str, Any]) -> Iterator[str]:
    yield escape(page["url"])
    yield _(_KINDS.get(page["kind"], page["kind"]))
    yield escape(page["name"])
    yield _hours(page["wait_hours"]) if page["wait_hours"] else ""
    yield f"{24 * page['rate']:.3g}"
    yield china_time_at(page["changed_at"])
    yield china_time_at(page["next_at"])
    for name in ("visits", "changes", "news", "failures"):
        yield str(page[name])


@app.command("weight")
def set_page_weight(
    url: Annotated[str, typer.Argument(help="The address of a watched page.")],
    weight: Annotated[float, typer.Argument(help="Above 0, at most 100; usual are 2 to 5.")],
    database: DatabaseUrl = "",
) -> None:
    """Set how much a watched page counts: heavier ones are visited more often."""
    if not 0 < weight <= MAX_PAGE_WEIGHT:
        raise ConfigError(
            _(
                "a weight must be above 0 and at most {most:g}, got {weight:g}",
                most=MAX_PAGE_WEIGHT,
                weight=weight,
            )
        )
    canonical = canonical_url(url.strip())
    with transaction_on(database) as c:
        topics = watched.set_weight(c, url_key(canonical), weight) if canonical else 0
    if not topics:
        raise ConfigError(_("{url!r} is not watched (qiaocrawl watch list)", url=url))
    echo(_("weight {weight:g}: {page}", weight=weight, page=canonical))


@app.command("feeds")
def feeds(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    add: Annotated[
        list[str] | None, typer.Option(help="Address of a feed to add; may be repeated.")
    ] = None,
    name: Annotated[str, typer.Option(help="What the added feed is called.")] = "",
    remove: Annotated[
        list[str] | None, typer.Option(help="Address of a feed to take away; may be repeated.")
    ] = None,
    import_: Annotated[
        Path | None, typer.Option("--import", help="List to add: OPML, CSV or Excel.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="File to write: .opml, .csv or .xlsx.")
    ] = None,
    as_json: AsJson = False,
    database: DatabaseUrl = "",
) -> None:
    """Show the feeds a topic has as sources; add, take away, import or export them.

    `scrapy crawl watch` visits them; their entries are fetched on whatever host, and no further.
    """
    given = [Feed(address, name.strip()) for address in add or ()]
    if name and len(given) != 1:
        raise ConfigError(_("--name names one feed: give one --add with it"))
    given += read_feeds(import_) if import_ is not None else ()
    if given or remove:
        with transaction_on(database) as c:
            for address in remove or ():
                if not sources.remove_source(c, topic, address):
                    raise ConfigError(
                        _("{url!r} is none of the feeds of {topic!r}", url=address, topic=topic)
                    )
            new = sources.add_sources(c, topic, given, now=time.time())
        _say_changed(topic, len(given), new, len(remove or ()))
    with connection_to(database) as c:
        found = sources.feed_sources(c, topic)
    if export is not None:
        listed = (Feed(one.url, one.name) for one in found)
        write_feeds(listed, export, title=_("Feeds of {topic}", topic=topic))
        echo(_("{count} feeds: {file}", count=len(found), file=export))
    if as_json:
        echo_json([asdict(one) for one in found])
    elif not (given or remove or export):
        _show_feeds(topic, found)


@app.command("boards")
def boards(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    import_: Annotated[
        Path | None,
        typer.Option("--import", help="TOML file to add: [[board]] with url, name and form."),
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option(help="Address of a list to take away; may be repeated.")
    ] = None,
    as_json: AsJson = False,
    database: DatabaseUrl = "",
) -> None:
    """Show the hot lists a topic watches; add those of a file, take some away.

    `scrapy crawl watch` reads them; what stands on them is noted, not fetched.
    """
    given = [] if import_ is None else boards_in(read_limited(import_), import_.name)
    if given or remove:
        with transaction_on(database) as c:
            for address in remove or ():
                if not stored_boards.remove_board(c, topic, address):
                    raise ConfigError(
                        _("{url!r} is none of the hot lists of {topic!r}", url=address, topic=topic)
                    )
            new = stored_boards.add_boards(c, topic, given, now=time.time())
        echo(
            _(
                "{topic}: {new} hot lists added, {known} were there, {removed} taken away",
                topic=topic,
                new=new,
                known=len(given) - new,
                removed=len(remove or ()),
            )
        )
    with connection_to(database) as c:
        found = stored_boards.board_states(c, topic)
    if as_json:
        echo_json([asdict(one) for one in found])
        return
    table = folding_table(_("Hot list"), _("state"), _("last read"), _("Entries"))
    for one in found:
        table.add_row(
            escape(f"{one.source.name}\n{one.source.url}".strip()),
            escape(board_words(one)),
            china_time_at(one.seen_at),
            str(one.entries),
        )
    table_console().print(table)


def _say_changed(topic: str, given: int, new: int, removed: int) -> None:
    if given:
        words = _("{count} feeds added to {topic}", count=new, topic=topic)
        if known := given - new:
            words += _(", {count} were there", count=known)
        command = command_here(f"qiaocrawl run {topic} --only watch")
        echo(words)
        echo(_("the next round visits them: {command}", command=command))
    if removed:
        words = _(
            "{count} feeds taken from {topic}; what they brought stays", count=removed, topic=topic
        )
        echo(words)


def _show_feeds(topic: str, found: list[FeedSource]) -> None:
    if not found:
        command = command_here(f"qiaocrawl watch feeds {topic} --add https://…/feed.xml")
        echo(_("{topic} has no feed; one is added with `{command}`", topic=topic, command=command))
        return
    table = folding_table(
        _("Feed"), _("state"), _("last changed"), _("usually every"), _("new entries")
    )
    for one in found:
        table.add_row(
            escape(f"{one.name}\n{one.url}".strip()),
            escape(state_words(one)),
            china_time_at(one.changed_at),
            _hours(one.every_hours) if one.every_hours else "",
            str(one.news),
        )
    table_console().print(table)


@app.command("history")
def show_history(
    url: Annotated[str, typer.Argument(help="The address of an article.")],
    diff: Annotated[bool, typer.Option("--diff", help="Show what changed, line by line.")] = False,
    as_json: AsJson = False,
    database: DatabaseUrl = "",
) -> None:
    """Show the versions of an article: what it said before, deletions, stored pages."""
    canonical = canonical_url(url.strip())
    with connection_to(database) as c:
        history = url_history.url_history(c, url_key(canonical)) if canonical else None
        if history is None:
            never = _("{url!r} was never seen", url=url)
            raise ConfigError(never if canonical else not_an_address(url))
        facts = revisions.revisions_of(c, history.id)
        sources = revisions.sources_of(c, history.id)
        today = revisions.article_text(c, history.id)
    if as_json:
        answer = {
            "url": history.url,
            "now": today and {"title": today[0], "text": today[1]},
            "revisions": [asdict(one) for one in facts],
            "pages": [asdict(one) for one in sources],
        }
        echo_json(answer)
        return
    _show_history(facts, sources, today)
    if diff:
        _show_changes(facts, today)


def _show_history(
    facts: list[Revision], sources: list[Source], today: tuple[str, str] | None
) -> None:
    table = folding_table(_("time"), _("what happened"), _("title"), _("note"))
    rows = [(source.fetched_at, _("page stored"), "", _source_facts(source)) for source in sources]
    rows += [
        (
            fact.at,
            _(_FACTS.get(fact.kind, fact.kind)),
            fact.title and _("was: {title}", title=fact.title),
            _(_CHANGES.get(fact.note, fact.note)),
        )
        for fact in facts
    ]
    for at, what, title, note in sorted(rows, key=lambda row: row[0]):
        table.add_row(china_time(at, "%Y-%m-%d %H:%M:%S"), what, escape(title), escape(note))
    if today is not None:
        table.add_row(
            "", _("stored now"), escape(today[0]), _("{count} characters", count=len(today[1]))
        )
    table_console().print(table)


def _source_facts(source: Source) -> str:
    return _(
        "{bytes} bytes, seen until {when}",
        bytes=source.body_bytes,
        when=china_time(source.last_seen_at),
    )


def _show_changes(facts: list[Revision], today: tuple[str, str] | None) -> None:
    versions = [
        (f"{fact.title}", fact.text, china_time(fact.at))
        for fact in facts
        if fact.kind == revisions.REVISED
    ]
    if today is not None:
        versions.append((*today, _("stored now")))
    for before, after in zip(versions, versions[1:], strict=False):
        old, new = ([title, *text.split("\n")] for title, text, _ in (before, after))
        names = (_("before {when}", when=before[2]), _("after ({when})", when=after[2]))
        for line in unified_diff(old, new, names[0], names[1], n=1, lineterm=""):
            echo(line)


def _hours(hours: float) -> str:
    if hours < 1:
        return f"{60 * hours:.0f} min"
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} d"
