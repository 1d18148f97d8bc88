"""``qiaocrawl story …``: what articles tell together: listed, shown, corrected, followed."""

from __future__ import annotations

import getpass
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from qiaocrawl.cli.database import DatabaseUrl, connection_to, transaction_on
from qiaocrawl.cli.options import start_of
from qiaocrawl.cli.output import (
    check_output,
    echo,
    folding_table,
    join_with_commas,
    print_hanging,
    say_written,
    table_console,
)
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import Sheet, check_ending, write_sheets
from qiaocrawl.language import N_, _
from qiaocrawl.news.events.finding import event_place, event_time
from qiaocrawl.news.names.stored import names_of_stories
from qiaocrawl.news.stories import lists as story_lists
from qiaocrawl.news.stories.story import CHANGE_NAMES, STATE_NAMES
from qiaocrawl.options.project import command_here
from qiaocrawl.text.zones import china_time

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qiaocrawl.cli.output import FoldingTable
    from qiaocrawl.news.events.mentions import Event
    from qiaocrawl.news.names.stored import StoryName
    from qiaocrawl.news.stories.lists import StoryArticle, StoryEvent, StoryLine

app = typer.Typer(
    help="Stories: what articles tell together; look at them, correct them.", no_args_is_help=True
)

Number = Annotated[int, typer.Argument(help="Number of a story.")]
Topic = Annotated[str, typer.Option(help="With an article on this topic only.")]
Since = Annotated[str, typer.Option(help="New articles since: today, yesterday, 7d, 2026-03-05.")]
MinVoices = Annotated[
    int, typer.Option(min=1, help="Least texts of a story; a text and its reprints are one.")
]
MinArticles = Annotated[int, typer.Option(min=1, help="Least articles of a story, reprints too.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="Stories shown.")]
Out = Annotated[Path | None, typer.Option("--out", help="Workbook (.xlsx) or CSV.")]

_NAMES = {
    "person": N_("Persons: {names}"),
    "place": N_("Places: {names}"),
    "organisation": N_("Bodies: {names}"),
}
_MOST_NAMES = 8
_MOST_READ = 2_000
_SHORT = "%m-%d %H:%M"


@app.command("list")
def list_(
    topic: Topic = "",
    since: Since = "7d",
    min_voices: MinVoices = 1,
    min_articles: MinArticles = 2,
    followed: Annotated[bool, typer.Option("--followed", help="Those you follow only.")] = False,
    limit: Limit = 20,
    out: Out = None,
    database: DatabaseUrl = "",
) -> None:
    """List stories, those of most articles first; ★ are followed."""
    if out is not None:
        check_output(out, "--out")
        check_ending(out)
    start = start_of(since, "--since")
    with connection_to(database) as c:
        lines = story_lists.list_stories(
            c,
            topic_name=topic,
            since_minute=int(start.timestamp() // 60) if start else 0,
            least=min_voices,
            least_articles=min_articles,
            followed=followed,
            limit=limit,
        )
        if out is not None:
            _write(c, lines, out)
    _print(lines)


@app.command()
def uncovered(
    groups: Annotated[
        Path,
        typer.Argument(
            help="Workbook (.xlsx) or CSV with columns group, term and use (any, all, none)."
        ),
    ],
    topic: Topic = "",
    since: Since = "7d",
    min_voices: MinVoices = 1,
    min_articles: MinArticles = 2,
    limit: Limit = 20,
    out: Out = None,
    database: DatabaseUrl = "",
) -> None:
    """List stories that none of your groups of terms touches: topics you might be missing.

    The heaviest words of each stand beside it, as terms for a new group.
    """
    from qiaocrawl.news.stories.analyse import uncovered as left
    from qiaocrawl.news.word_groups import read_groups

    if out is not None:
        check_output(out, "--out")
        check_ending(out)
    own = read_groups(groups)
    start = start_of(since, "--since")
    with connection_to(database) as c:
        lines = left(
            c,
            story_lists.list_stories(
                c,
                topic_name=topic,
                since_minute=int(start.timestamp() // 60) if start else 0,
                least=min_voices,
                least_articles=min_articles,
                limit=_MOST_READ,
            ),
            own,
            limit,
        )
        if out is not None:
            _write(c, lines, out)
    _print(lines, words=True)


def _print(lines: Sequence[StoryLine], *, words: bool = False) -> None:
    """A table of stories; their *words* behind the title."""
    if not lines:
        echo(_("no story fits; `{command}` makes them", command=command_here("qiaocrawl analyse")))
        return
    table = folding_table(
        _("story number"),
        _("different texts"),
        _("articles"),
        _("earliest"),
        _("latest"),
        _("title"),
    )
    for line in lines:
        # Without the year, so that all of it fits 80 columns.
        table.add_row(
            f"{'★' if line.is_followed else ''}{line.id}",
            str(line.voices),
            str(line.articles),
            china_time(line.first, _SHORT),
            china_time(line.last, _SHORT),
            escape(_title_with_words(line) if words else line.title),
        )
    table_console().print(table)


def _title_with_words(line: StoryLine) -> str:
    return _(
        "{title} (words: {words})",
        title=line.title,
        words=join_with_commas(line.words[:_MOST_NAMES]),
    )


def _write(c: Connection, lines: Sequence[StoryLine], out: Path) -> None:
    from qiaocrawl.news.events.finding import events_of_stories

    articles = {line.id: story_lists.articles_of(c, line.id) for line in lines}
    names = names_of_stories(c, [line.id for line in lines])
    events = events_of_stories(c, [line.id for line in lines])
    write_sheets(
        out, [*story_sheets(lines, articles, names), *event_sheets(lines, articles, events)]
    )
    say_written(out)


@app.command()
def show(number: Number, database: DatabaseUrl = "") -> None:
    """Show a story: its articles, its events, and what became of it, with the reasons."""
    from qiaocrawl.news.events.finding import events_of_stories
    from qiaocrawl.news.stories.membership import parts_alone
    from qiaocrawl.news.stories.round_ups import round_ups_naming

    with connection_to(database) as c:
        line = story_lists.one_story(c, number)
        articles = story_lists.articles_of(c, number)
        changes = story_lists.changes_of(c, number)
        names = names_of_stories(c, [number])[number]
        events = events_of_stories(c, [number])[number]
        alone = parts_alone(c, number)
        round_ups = round_ups_naming(c, number)
    console = table_console()
    console.print(f"{line.id}  {escape(line.title)}", style="bold")
    console.print(_state(line), markup=False)
    for shown in _name_lines(names):
        print_hanging(console, shown)
    table = folding_table("", _("time"), _("site"), _("title"), _("URL"))
    for at, one in enumerate(articles, start=1):
        table.add_row(
            f"{at}{' =' if one.is_reprint else ''}",
            china_time(one.published_at),
            escape(one.site),
            escape(one.title),
            escape(one.url),
        )
    console.print(table)
    if any(one.is_reprint for one in articles):
        console.print(_("= has the text of another"))
    for part in alone:
        print_hanging(console, _split_offer(number, articles, part))
    for own in round_ups:
        print_hanging(
            console,
            _(
                "Mentioned in a round-up: {title} ({outlet}), under “{heading}”",
                title=own.title,
                outlet=own.outlet,
                heading=own.heading,
            ),
        )
    if events:
        console.print(event_table(events, articles))
    for change in changes:
        console.print(_change_line(change), markup=False)


def _split_offer(number: int, articles: Sequence[StoryArticle], part: frozenset[int]) -> str:
    counted = [
        str(at)
        for at, one in enumerate(articles, start=1)
        if int(one.key.rpartition(":")[2]) in part
    ]
    return _(
        "Articles {numbers} stand alone in it; if they tell something else: `{command}`",
        numbers=join_with_commas(counted),
        command=command_here(f"qiaocrawl story split {number} {' '.join(counted)}"),
    )


@app.command()
def why(
    first: Annotated[str, typer.Argument(help="Address or number of an article.")],
    second: Annotated[str, typer.Argument(help="Address or number of another.")],
    database: DatabaseUrl = "",
) -> None:
    """Show why two articles are of one story, or are not: all that was weighed."""
    from qiaocrawl.news.stories.why import explain, why_lines
    from qiaocrawl.storage.titles.groups import article_at

    with connection_to(database) as c:
        numbers = [int(one) if one.isdecimal() else article_at(c, one) for one in (first, second)]
        found = explain(c, *numbers)
    console = table_console()
    for line in why_lines(found):
        print_hanging(console, line)
    for change in found.changes:
        print_hanging(console, f"  {_change_line(change)}")


@app.command()
def merge(
    number: Number,
    other: Annotated[int, typer.Argument(help="Number of the story that is the same.")],
    database: DatabaseUrl = "",
) -> None:
    """Say that two stories are one; done with the next analysis, and kept in every rebuild."""
    from qiaocrawl.news.stories.corrections import merge_stories
    from qiaocrawl.storage.audit_log import Actor

    with transaction_on(database) as c:
        merge_stories(c, Actor(getpass.getuser()), number, other, datetime.now(UTC))
    _say_noted()


@app.command()
def split(
    number: Number,
    articles: Annotated[
        list[int], typer.Argument(help="Its articles that are another story, as `show` counts.")
    ],
    database: DatabaseUrl = "",
) -> None:
    """Say that some articles of a story, and their copies, are another story."""
    from qiaocrawl.news.stories.corrections import members_of, take_out
    from qiaocrawl.storage.audit_log import Actor

    with transaction_on(database) as c:
        members = members_of(c, number)
        wrong = [at for at in articles if not 1 <= at <= len(members)]
        if wrong:
            raise ConfigError(
                _(
                    "story {number} has articles 1 to {last}, got {wrong}",
                    number=number,
                    last=len(members),
                    wrong=wrong[0],
                )
            )
        ids = {own for at in articles if (own := members[at - 1].article_id) is not None}
        take_out(c, Actor(getpass.getuser()), number, ids, datetime.now(UTC))
    _say_noted()


@app.command()
def follow(number: Number, database: DatabaseUrl = "") -> None:
    """Follow a story, whatever becomes of it."""
    with transaction_on(database) as c:
        story_lists.follow(c, number, by=getpass.getuser(), now=datetime.now(UTC))
        title = story_lists.one_story(c, number).title
    echo(_("following: {title}", title=title))


def _say_noted() -> None:
    echo(_("noted; `{command}` does it", command=command_here("qiaocrawl analyse")))


def _name_lines(names: Sequence[StoryName]) -> Iterator[str]:
    """Whom and what a story names, a line a kind, with in how many articles."""
    for kind, line in _NAMES.items():
        own = [f"{name.name} {name.articles}" for name in names if name.kind == kind]
        if own:
            yield _(line, names=join_with_commas(own[:_MOST_NAMES]))


def _state(line: StoryLine) -> str:
    state = _(STATE_NAMES[line.state])
    if line.merged_into is not None:
        state = f"{state}: {line.merged_into}"
    return _(
        "{state}; {voices} texts, {articles} articles: {words}",
        state=state,
        voices=line.voices,
        articles=line.articles,
        words=join_with_commas(line.words),
    )


def _change_line(change: StoryEvent) -> str:
    facts = [
        china_time(change.at),
        _(CHANGE_NAMES[change.kind]),
        "" if change.other is None else str(change.other),
        _("by hand") if change.by_hand else "",
        f"{change.score:.2f}" if change.score else "",
        join_with_commas(change.words),
    ]
    return "  ".join(filter(None, facts))


# --- Stories as sheets for officers: Chinese whoever writes them ----------------------------------

_STATES = {"awake": "进行中", "asleep": "沉寂", "ended": "已结束"}
_KINDS = ("person", "place", "organisation")


def story_sheets(
    lines: Sequence[StoryLine],
    articles: Mapping[int, Sequence[StoryArticle]],
    names: Mapping[int, Sequence[StoryName]],
) -> list[Sheet]:
    """The stories, and the articles of all of them."""
    stories = Sheet(
        "事件",
        (
            "编号",
            "标题",
            "状态",
            "不同文本",
            "文章",
            "最早",
            "最晚",
            "关键词",
            "人物",
            "地点",
            "机构",
            "关注",
        ),
        [
            (
                line.id,
                line.title,
                _STATES.get(line.state, line.state),
                line.voices,
                line.articles,
                china_time(line.first),
                china_time(line.last),
                "、".join(line.words),
                *(
                    "、".join(own.name for own in names[line.id] if own.kind == kind)
                    for kind in _KINDS
                ),
                "是" if line.is_followed else "",
            )
            for line in lines
        ],
    )
    texts = Sheet(
        "文章",
        ("事件", "时间", "站点", "标题", "网址", "转载"),
        [
            (
                line.id,
                china_time(own.published_at),
                own.site,
                own.title,
                own.url,
                "是" if own.is_reprint else "",
            )
            for line in lines
            for own in articles[line.id]
        ],
    )
    return [stories, texts]


# --- Events of stories: a table at the terminal, and sheets for officers, always in Chinese -------

_PERSON, _BODY = "人物", "机构"


def event_table(events: Sequence[Event], articles: Sequence[StoryArticle]) -> FoldingTable:
    """When, what, where and who, with the numbers of the articles that tell of it."""
    table = folding_table(
        _("event"), _("day"), _("what happened"), _("where"), _("who"), _("articles")
    )
    for event in events:
        table.add_row(
            str(event.number),
            event_time(event),
            escape(event.name),
            escape(event_place(event)),
            escape("、".join((*event.persons, *event.bodies))),
            _numbers(event, articles),
        )
    return table


def event_sheets(
    lines: Sequence[StoryLine],
    articles: Mapping[int, Sequence[StoryArticle]],
    events: Mapping[int, Sequence[Event]],
) -> list[Sheet]:
    """The events of all stories, and who stands together with whom in them."""
    happened = Sheet(
        "经过",
        ("事件", "编号", "名称", "时间", "地点", "人物", "机构", "文章", "网址"),
        [
            (
                line.id,
                event.number,
                event.name,
                event_time(event),
                event_place(event),
                "、".join(event.persons),
                "、".join(event.bodies),
                _numbers(event, articles[line.id]),
                "\n".join(event.keys[:_URLS]),
            )
            for line in lines
            for event in events[line.id]
        ],
    )
    named = Sheet(
        "人物与经过",
        ("事件", "名称", "类别", "经过数", "经过", "同时出现"),
        [row for line in lines for row in _relations(line.id, events[line.id])],
    )
    return [happened, named]


_URLS = 20


def _relations(story: int, events: Sequence[Event]) -> Iterator[tuple[Any, ...]]:
    """Of everybody named the events, and who else is named in how many of them."""
    kinds: dict[str, str] = {}
    told: dict[str, list[Event]] = {}
    for event in events:
        for kind, names in ((_PERSON, event.persons), (_BODY, event.bodies)):
            for name in names:
                kinds.setdefault(name, kind)
                told.setdefault(name, []).append(event)
    for name, own in sorted(told.items(), key=lambda item: (-len(item[1]), item[0])):
        others = Counter(
            other for event in own for other in (*event.persons, *event.bodies) if other != name
        )
        ranked = sorted(others.items(), key=lambda item: (-item[1], item[0]))
        yield (
            story,
            name,
            kinds[name],
            len(own),
            "、".join(str(event.number) for event in own),
            "、".join(f"{other} {count}" for other, count in ranked),
        )


def _numbers(event: Event, articles: Sequence[StoryArticle]) -> str:
    """As ``story show`` counts them."""
    keys = set(event.keys)
    return "、".join(str(at) for at, one in enumerate(articles, start=1) if one.url in keys)
