"""``qiaocrawl report words …``: hot and new words of a stretch of time, a cloud, hits of groups."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from qiaocrawl.cli.database import (
    DatabaseUrl,
    connection_to,
    opened_database,
    transaction_on,
)
from qiaocrawl.cli.options import end_of, start_of, with_options
from qiaocrawl.cli.output import (
    check_output,
    echo,
    folding_table,
    join_with_commas,
    say_written,
    shown_pass,
    stopping,
    table_console,
    write_text,
)
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import check_ending, write_sheets
from qiaocrawl.interrupts import INTERRUPTED
from qiaocrawl.language import N_, _, choice_name, ngettext
from qiaocrawl.options.project import command_here
from qiaocrawl.text.visible import Terminal, visible_json
from qiaocrawl.text.zones import china_time

if TYPE_CHECKING:
    from qiaocrawl.news.word_groups import CloudWord, GroupHits, WordTrend
    from qiaocrawl.news.words import FreshWord, HotWord, WordCounter

# --- Words of a stretch of time at the terminal, and as data --------------------------------------

_TREND_WORDS: dict[WordTrend, str] = {
    "new": N_("new"),
    "up": N_("rising"),
    "steady": N_("steady"),
    "down": N_("falling"),
}
_TERMS_SHOWN = 6
_NO_BASE = "–"


def print_hot(console: Console, words: Sequence[HotWord]) -> None:
    """The hot words."""
    rows = [
        (
            word.text,
            str(word.documents),
            str(word.sites),
            _before(word.before),
            _rise(word),
            f"{word.score:.0f}",
        )
        for word in words
    ]
    _print(
        console, (_("word"), _("texts"), _("sites"), _("texts before"), _("rise"), _("heat")), rows
    )


def print_fresh(console: Console, words: Sequence[FreshWord]) -> None:
    """The new words."""
    from qiaocrawl.export.analysis_sheets import ORIGINS

    rows = [
        (
            word.text,
            str(word.documents),
            str(word.sites),
            china_time(word.first),
            choice_name(word.origin, ORIGINS),
        )
        for word in words
    ]
    _print(
        console,
        (_("word"), _("texts"), _("sites"), _("first seen"), _("taken for a word by")),
        rows,
    )


def print_cloud(console: Console, words: Sequence[CloudWord]) -> None:
    """The words of a cloud, those of most texts first."""
    rows = [
        (
            word.text,
            str(word.documents),
            _before(word.before),
            _NO_BASE if word.before is None else _(_TREND_WORDS[word.trend]),
        )
        for word in words
    ]
    _print(console, (_("word"), _("texts"), _("texts before"), _("trend")), rows)


def print_hits(console: Console, found: Sequence[GroupHits]) -> None:
    """Each group with its texts."""
    rows = [
        (
            own.group.name,
            str(len(own.hits)),
            str(len(own.by_site)),
            join_with_commas(
                f"{term} {count}" for term, count in own.by_term.most_common(_TERMS_SHOWN)
            ),
            max(own.by_day, key=lambda day: (own.by_day[day], day)) if own.hits else "",
        )
        for own in found
    ]
    _print(console, (_("group"), _("texts"), _("sites"), _("terms"), _("busiest day")), rows)


def cloud_legend(has_base: bool) -> Mapping[WordTrend, str]:
    """What the colours of a cloud are called; nothing where all words have one."""
    return {trend: _(name) for trend, name in _TREND_WORDS.items()} if has_base else {}


def cloud_json(
    words: Sequence[CloudWord], now: WordCounter, stretch: tuple[datetime, datetime]
) -> str:
    """The cloud as data: each word with the addresses of its articles, to navigate by."""
    data: dict[str, Any] = {
        "since": stretch[0].isoformat(),
        "before": stretch[1].isoformat(),
        "texts": now.documents,
        "words": [
            {
                "text": word.text,
                "texts": word.documents,
                "texts_before": word.before,
                "trend": word.trend,
                "articles": list(word.keys),
            }
            for word in words
        ],
    }
    return visible_json(json.dumps(data, ensure_ascii=False, indent=1)) + "\n"


def _before(count: int | None) -> str:
    return _NO_BASE if count is None else str(count)


def _rise(word: HotWord) -> str:
    if word.rise is not None:
        return f"×{word.rise:.1f}"
    return _NO_BASE if word.before is None else _("new")


def _print(console: Console, names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = folding_table(*names)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


app = typer.Typer(
    help="Words of a day, week or month: hot, new, as a cloud, and what your groups hit.",
    no_args_is_help=True,
)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Of which topic, from when to when."""

    topic: str
    since: datetime
    before: datetime
    database: str

    @property
    def label(self) -> str:
        """As a reader is told, in China's time."""
        last = self.before - timedelta(seconds=1)
        return _("{since} to {until}", since=china_time(self.since), until=china_time(last))

    def base_since(self, days: int) -> datetime:
        """Since when texts are compared with: *days* before, or for 0 as long as is usual."""
        from qiaocrawl.news.words import usual_base

        return self.since - timedelta(days) if days else usual_base(self.since, self.before)


def _stretch(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    since: Annotated[
        str, typer.Option(help="Published since: today, yesterday, 7d, 30d, 2026-03-05.")
    ] = "7d",
    until: Annotated[str, typer.Option(help="Published until, that day too.")] = "",
    database: DatabaseUrl = "",
) -> _Stretch:
    """Of when."""
    start = start_of(since, "--since")
    end = end_of(until, "--until") or datetime.now(UTC)
    if start is None or start >= end:
        raise ConfigError(_("--since {since!r} is not before --until", since=since))
    return _Stretch(topic, start, end, database)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Since when the base is, how many words, and where to."""

    base_days: int
    top: int
    least: int
    with_persons: bool
    out: Path | None


def _word_options(
    base_days: Annotated[
        int,
        typer.Option(
            min=0,
            help="Days before --since to compare with; 0: four times as long as "
            "the stretch, at least 28.",
        ),
    ] = 0,
    top: Annotated[int, typer.Option(min=1, max=1_000, help="Words at most.")] = 30,
    least: Annotated[
        int, typer.Option("--min-documents", min=1, help="Texts a word stands in at least.")
    ] = 2,
    with_persons: Annotated[
        bool, typer.Option("--with-persons", help="Names of people too.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Workbook (.xlsx) or CSV.")] = None,
) -> _Wanted:
    """What is to be made of them."""
    if out is not None:
        check_ending(out)
        check_output(out, "--out")
    return _Wanted(base_days, top, least, with_persons, out)


@app.command()
@with_options(_stretch, _word_options)
def hot(stretch: _Stretch, wanted: _Wanted) -> None:
    """List words that stand in more texts than before; a story told by several counts once."""
    from qiaocrawl.export.analysis_sheets import hot_sheet
    from qiaocrawl.news.words import hot_words

    now, before = _count_words(stretch, wanted.base_days)
    words = hot_words(
        now,
        before,
        count=wanted.top,
        least_documents=wanted.least,
        with_persons=wanted.with_persons,
    )
    if _said_nothing(stretch, now, len(words)):
        return
    _say_base(stretch, wanted.base_days, now, before)
    print_hot(table_console(), words)
    if wanted.out is not None:
        write_sheets(wanted.out, [hot_sheet(words, now)])
        say_written(wanted.out)


@app.command()
@with_options(_stretch, _word_options)
def new(stretch: _Stretch, wanted: _Wanted) -> None:
    """List words of no dictionary that no earlier text has."""
    from qiaocrawl.export.analysis_sheets import fresh_sheet
    from qiaocrawl.news.words import count_words, fresh_words, texts_on_topic
    from qiaocrawl.storage.pages.articles import count_texts

    with connection_to(stretch.database) as c:
        now = count_words(c, stretch.topic, stretch.since, stretch.before)
        earlier = texts_on_topic(
            c, stretch.topic, stretch.base_since(wanted.base_days), stretch.since
        )
        words = fresh_words(
            now,
            earlier,
            count=wanted.top,
            least_documents=wanted.least,
            with_persons=wanted.with_persons,
        )
        texts = count_texts(
            c, stretch.topic, None, since=stretch.base_since(wanted.base_days), before=stretch.since
        )
    if _said_nothing(stretch, now, len(words)):
        return
    _say_texts(stretch, now.documents)
    echo(
        _(
            "in none of {texts:,} texts since {since}",
            texts=texts,
            since=china_time(stretch.base_since(wanted.base_days)),
        )
    )
    print_fresh(table_console(), words)
    if wanted.out is not None:
        write_sheets(wanted.out, [fresh_sheet(words, now)])
        say_written(wanted.out)


def _pictures(
    picture: Annotated[Path | None, typer.Option(help="Write the cloud (.svg).")] = None,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="Write the words with the articles that have them (.json)."),
    ] = None,
) -> tuple[Path | None, Path | None]:
    """Picture and data of a cloud."""
    if picture is not None and picture.suffix.lower() != ".svg":
        raise ConfigError(_("--picture must end in .svg, got {picture!r}", picture=str(picture)))
    for file, option in ((picture, "--picture"), (json_file, "--json")):
        if file is not None:
            check_output(file, option)
    return picture, json_file


@app.command()
@with_options(_stretch, _word_options, _pictures)
def cloud(stretch: _Stretch, wanted: _Wanted, pictures: tuple[Path | None, Path | None]) -> None:
    """Show the words that tell a stretch of time: as table, picture and data to navigate by."""
    from qiaocrawl.export.analysis_sheets import cloud_sheet
    from qiaocrawl.news.pictures.charts import cloud_svg
    from qiaocrawl.news.word_groups import cloud_words

    now, before = _count_words(stretch, wanted.base_days)
    words = cloud_words(
        now,
        before,
        count=wanted.top,
        least_documents=wanted.least,
        with_persons=wanted.with_persons,
    )
    if _said_nothing(stretch, now, len(words)):
        return
    _say_base(stretch, wanted.base_days, now, before)
    print_cloud(table_console(), words)
    picture, json_file = pictures
    if picture is not None:
        legend = cloud_legend(words[0].before is not None)
        write_text(picture, cloud_svg(words, f"{stretch.topic} {stretch.label}", legend))
    if json_file is not None:
        write_text(json_file, cloud_json(words, now, (stretch.since, stretch.before)))
    if wanted.out is not None:
        write_sheets(wanted.out, [cloud_sheet(words)])
        say_written(wanted.out)


def _group_options(
    groups: Annotated[
        Path | None,
        typer.Option(
            help="Workbook (.xlsx) or CSV with columns group, term and use (any, all, none); "
            "without it the groups kept with the topic."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Workbook (.xlsx) or CSV.")] = None,
) -> tuple[Path | None, Path | None]:
    """Which groups, and where to."""
    if out is not None:
        check_ending(out)
        check_output(out, "--out")
    return groups, out


@app.command()
@with_options(_stretch, _group_options)
def hits(stretch: _Stretch, files: tuple[Path | None, Path | None]) -> None:
    """Show which of your groups of terms the articles touch, day by day; articles with each."""
    from qiaocrawl.export.analysis_sheets import hit_sheets
    from qiaocrawl.news.word_groups import group_hits, read_groups
    from qiaocrawl.news.words import texts_on_topic
    from qiaocrawl.storage.topics.word_groups import kept_groups

    groups, out = files
    own = read_groups(groups) if groups is not None else []
    with connection_to(stretch.database) as c:
        own = own or kept_groups(c, stretch.topic)
        if not own:
            raise ConfigError(
                _(
                    "topic {topic!r} has no groups of words: --groups names a file",
                    topic=stretch.topic,
                )
            )
        texts = list(texts_on_topic(c, stretch.topic, stretch.since, stretch.before))
    found = group_hits(own, texts)
    _say_texts(stretch, len(texts))
    print_hits(table_console(), found)
    if out is not None:
        write_sheets(out, hit_sheets(found, texts))
        say_written(out)


@app.command()
def keep(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    file: Annotated[
        Path,
        typer.Argument(
            help="Workbook (.xlsx) or CSV with columns group, term, use (any, all, none, near) "
            "and distance (characters; empty: one sentence)."
        ),
    ],
    database: DatabaseUrl = "",
) -> None:
    """Keep groups of words with a topic, each in place of what has its name."""
    from qiaocrawl.news.word_groups import read_groups
    from qiaocrawl.storage.topics.word_groups import articles_left, keep_groups

    groups = read_groups(file)
    with transaction_on(database) as c:
        known = keep_groups(c, topic, groups)
        left = articles_left(c, topic)
    count = ngettext("{count} group was taken.", "{count} groups were taken.", len(groups))
    more = _("In place of what had the same name: {names}.", names=", ".join(known))
    echo(f"{count} {more}" if known else count)
    if left:
        command = command_here("qiaocrawl report words mark")
        echo(
            _(
                "Articles that are stored are marked with them by the console, or now by: "
                "{command}",
                command=command,
            )
        )


@app.command()
def mark(database: DatabaseUrl = "") -> None:
    """Mark stored articles with groups of words that are new or changed; goes on after a stop."""
    from qiaocrawl.storage.topics.word_groups import articles_left, mark_some, sweep_hits

    console = Terminal(stderr=True)
    with opened_database(database) as opened, stopping() as stopped:
        opened.require_current()
        with opened.reading() as c:
            left = articles_left(c, None)
        with shown_pass(_("groups of words"), left, console, stopped) as shown:
            while left and not stopped.is_set():
                with opened.engine.begin() as c:
                    articles, left = mark_some(c)
                shown.advance(articles)
        if left:
            console.print(_("stopped; the same command goes on where this one ended"))
            raise typer.Exit(INTERRUPTED)
        gone = 1
        while gone and not stopped.is_set():
            with opened.engine.begin() as c:
                gone = sweep_hits(c)
    echo(
        ngettext(
            "{count} article was marked; all are",
            "{count} articles were marked; all are",
            shown.done,
        )
    )


def _count_words(stretch: _Stretch, base_days: int) -> tuple[WordCounter, WordCounter]:
    """The words of the stretch and of its base."""
    from qiaocrawl.news.words import count_base, count_words

    topic, since = stretch.topic, stretch.since
    with connection_to(stretch.database) as c:
        now = count_words(c, topic, since, stretch.before)
        return now, count_base(c, topic, now, stretch.base_since(base_days), since)


def _say_texts(stretch: _Stretch, texts: int) -> None:
    echo(
        _(
            "{topic}, {stretch}: {texts:,} texts",
            topic=stretch.topic,
            stretch=stretch.label,
            texts=texts,
        )
    )


def _said_nothing(stretch: _Stretch, now: WordCounter, words: int) -> bool:
    """Whether there is nothing to show, which is said."""
    if words:
        return False
    _say_texts(stretch, now.documents)
    if now.documents:
        echo(_("no word stands out"))
    else:
        command = command_here(f"qiaocrawl article list --topic {stretch.topic}")
        echo(_("nothing stored fits; what there is: {command}", command=command))
    return True


def _say_base(stretch: _Stretch, base_days: int, now: WordCounter, before: WordCounter) -> None:
    from qiaocrawl.news.words import has_base

    _say_texts(stretch, now.documents)
    if has_base(before):
        echo(
            _(
                "compared with {texts:,} texts since {since}",
                texts=before.documents,
                since=china_time(stretch.base_since(base_days)),
            )
        )
    else:
        echo(
            _(
                "too few texts before ({texts}): compared with general Chinese",
                texts=before.documents,
            )
        )
