"""``qiaocrawl dedup …``: reprint groups to look at and to correct by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from sqlalchemy import Connection

from qiaocrawl.cli import CommandEntry, lazy_group
from qiaocrawl.cli.database import DatabaseUrl, connection_to
from qiaocrawl.cli.output import folding_table, print_line, table_console
from qiaocrawl.dedup.labels import verdict_name
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.options import Options
from qiaocrawl.storage.titles import groups as reprint_groups
from qiaocrawl.storage.titles import title_log
from qiaocrawl.storage.titles.groups import Member
from qiaocrawl.storage.titles.title_log import TitleEntry
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.text.zones import china_time

if TYPE_CHECKING:
    from qiaocrawl.runtime.runtime import Runtime

_SNAPSHOT = CommandEntry(
    "snapshot",
    "qiaocrawl.cli.dedup_snapshot:app",
    "",
    help="Weights of words: verdicts keep to one version until it is renewed.",
)
app = typer.Typer(
    cls=lazy_group([_SNAPSHOT]),
    help="Reprint groups: look at them, correct them.",
    no_args_is_help=True,
)

Url = Annotated[str, typer.Argument(help="Address of an article.")]


@app.command()
def group(url: Url, database: DatabaseUrl = "") -> None:
    """Show who published a story when: the chain of reprints an article belongs to."""
    with connection_to(database) as c:
        chain = reprint_groups.chain(c, reprint_groups.article_at(c, url))
    numbers = {member.article_id: str(number) for number, member in enumerate(chain, start=1)}
    table = folding_table(
        "", _("time"), _("site"), _("source line"), _("title"), _("verdict"), _("like"), _("URL")
    )
    for member in chain:
        table.add_row(
            ("●" if member.represents else "") + numbers[member.article_id],
            china_time(member.published_at),
            escape(member.site_name or member.site),
            escape(member.source),
            escape(member.title),
            _verdict(member),
            numbers.get(member.of or 0, ""),
            escape(member.url),
        )
    table_console().print(table)
    sites = len({member.site for member in chain})
    print_line(
        _("{count} articles, {sites} sites; ● represents the group", count=len(chain), sites=sites)
    )


@app.command()
def why(url: Url, database: DatabaseUrl = "") -> None:
    """Show an article's verdict, and what it was compared with."""
    with connection_to(database) as c:
        at = reprint_groups.article_at(c, url)
        article = reprint_groups.members(c, [at]).get(at)
        if article is None:
            raise ConfigError(
                _("{url} was not judged yet; `qiaocrawl reprocess --stage dedup`", url=url)
            )
        compared_with = reprint_groups.members(
            c, [row for row in (article.of, article.group) if row is not None]
        )
    table = folding_table("", _("this article"), _("compared with"), _("representative"))
    shown = [article, compared_with.get(article.of or 0), compared_with.get(article.group)]
    for name, cells in (
        (_("title"), [row and row.title for row in shown]),
        (_("site"), [row and f"{row.site_name} {row.site}".strip() for row in shown]),
        (_("time"), [row and china_time(row.published_at) for row in shown]),
        (_("source line"), [row and row.source for row in shown]),
        (_("URL"), [row and row.url for row in shown]),
    ):
        table.add_row(name, *(escape(cell or "") for cell in cells))
    table_console().print(table)
    print_line(f"{_verdict(article)}: {shown_reason(article.why)}")
    print_line(
        _(
            "method {method}, IDF snapshot {snapshot}",
            method=article.method or "-",
            snapshot=article.snapshot,
        )
    )


@app.command()
def groups(
    topic: Annotated[str, typer.Option(help="On-topic articles of this topic only.")] = "",
    min_size: Annotated[int, typer.Option(min=1, help="Least articles of a group.")] = 2,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Groups shown.")] = 20,
    database: DatabaseUrl = "",
) -> None:
    """Show the largest groups."""
    with connection_to(database) as c:
        there = [row.name for row in list_topics(c)]
        if topic and topic not in there:
            topics = ", ".join(there) or _("none yet")
            raise ConfigError(
                _(
                    "topic {topic!r} is not in the database (imported: {there})",
                    topic=topic,
                    there=topics,
                )
            )
        largest = reprint_groups.largest_groups(c, topic, least=min_size, limit=limit)
    table = folding_table(
        _("articles"), _("sites"), _("earliest"), _("latest"), _("title"), _("URL")
    )
    for column in table.columns[:2]:
        column.justify = "right"
    for group_row in largest:
        table.add_row(
            str(group_row.articles),
            str(group_row.sites),
            china_time(group_row.first),
            china_time(group_row.last),
            escape(group_row.head.title),
            escape(group_row.head.url),
        )
    table_console().print(table)


@app.command("take-out")
def take_out(url: Url, database: DatabaseUrl = "") -> None:
    """Take an article out of its group, for good: it joins none and links none any more."""
    with _runtime(database) as runtime:
        entry, before = _entry(runtime, url)
        if entry.taken_out:
            print_line(_("is out already: {title}", title=entry.record.title))
            return
        runtime.articles.load_titles_now()
        runtime.write_now(partial(_take_out, runtime=runtime, key=entry.record.key))
        print_line(_("taken out: {title}", title=entry.record.title))
        _print_rest(runtime, [member for member in before if member.article_id != entry.article_id])


@app.command("put-back")
def put_back(url: Url, database: DatabaseUrl = "") -> None:
    """Let an article that was taken out be compared and grouped again."""
    with _runtime(database) as runtime:
        entry = _entry(runtime, url)[0]
        if not entry.taken_out:
            raise ConfigError(_("{url} was not taken out of any group", url=url))
        runtime.articles.load_titles_now()
        runtime.write_now(partial(_put_back, runtime=runtime, key=entry.record.key))
        after = _entry(runtime, url)[1]
        own = next(member for member in after if member.article_id == entry.article_id)
        print_line(
            _(
                "put back: {title}: {verdict}, {count} in its group",
                title=own.title,
                verdict=_verdict(own),
                count=len(after),
            )
        )


# Both read the entry again under the lock: another worker may have changed it.
def _take_out(c: Connection, runtime: Runtime, key: bytes) -> None:
    title_log.lock(c)
    for entry in title_log.entries_of_keys(c, [key]):
        if entry.counts:
            runtime.articles.titles.take_out(c, entry)


def _put_back(c: Connection, runtime: Runtime, key: bytes) -> None:
    title_log.lock(c)
    for entry in title_log.entries_of_keys(c, [key]):
        if entry.taken_out and entry.article_id is not None:
            runtime.articles.titles.put_back(c, entry)


def _entry(runtime: Runtime, url: str) -> tuple[TitleEntry, list[Member]]:
    """The title at *url*, and its group."""

    def operation(c: Connection) -> tuple[TitleEntry, list[Member]]:
        at = reprint_groups.article_at(c, url)
        entries = title_log.entries_of_articles(c, [at])
        if not entries:
            raise ConfigError(_("{url} has no place in the log of titles", url=url))
        return entries[0], reprint_groups.chain(c, at)

    return runtime.reader.run(operation)


def _print_rest(runtime: Runtime, rest: Sequence[Member]) -> None:
    if not rest:
        return
    now = runtime.reader.run(
        partial(reprint_groups.members, article_ids=[member.article_id for member in rest])
    )
    heads = [member for member in now.values() if member.represents]
    for head in heads:
        size = sum(member.group == head.article_id for member in now.values())
        print_line(
            _("the rest: {size} × {title} ({url})", size=size, title=head.title, url=head.url)
        )


@contextmanager
def _runtime(database: str) -> Iterator[Runtime]:
    # A crawl may go on meanwhile: it reads what is changed here with its next title.
    options = Options.from_environment({"QIAO_DATABASE_URL": database} if database else None)
    from qiaocrawl.runtime.runtime import Runtime

    runtime = Runtime(options, crawling=False)
    try:
        yield runtime
    finally:
        runtime.close()


def _verdict(member: Member) -> str:
    if member.is_taken_out:
        return _("taken out")
    similarity = f" {member.similarity:.2f}" if member.of is not None else ""
    return verdict_name(member.kind) + similarity
