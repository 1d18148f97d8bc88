"""``qiaocrawl words …``: hot and new words of a stretch of time, a cloud, hits of groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qiaocrawl.cli.analysis.word_sheets import (
    cloud_sheet,
    fresh_sheet,
    hit_sheets,
    hot_sheet,
)
from qiaocrawl.cli.analysis.word_tables import (
    cloud_json,
    cloud_legend,
    print_cloud,
    print_fresh,
    print_hits,
    print_hot,
)
from qiaocrawl.cli.analysis.written import write_text
from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.moments import end_of, start_of
from qiaocrawl.cli.output import check_output, say_written, shown_moment, table_console
from qiaocrawl.cli.shared_options import combined
from qiaocrawl.cli.terminal import echo
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import check_ending, write_sheets
from qiaocrawl.language import _
from qiaocrawl.options.project import advised

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qiaocrawl.news.words import TimedText, WordCounter

app = typer.Typer(
    help="Words of a day, week or month: hot, new, as a cloud, and what your groups hit.",
    no_args_is_help=True,
)

_LEAST_BASE_DAYS, _TIMES_AS_LONG = 28, 4


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Of which topic, from when to when."""

    topic: str
    since: datetime
    before: datetime
    database: str

    @property
    def shown(self) -> str:
        """As a reader is told, in China's time."""
        last = self.before - timedelta(seconds=1)
        return _("{since} to {until}", since=shown_moment(self.since), until=shown_moment(last))

    def base_since(self, days: int) -> datetime:
        """Since when texts are compared with: *days* before, or for 0 as long as is usual."""
        length = max((self.before - self.since) * _TIMES_AS_LONG, timedelta(_LEAST_BASE_DAYS))
        return self.since - (timedelta(days) if days else length)


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


def _wanted(
    base_days: Annotated[
        int,
        typer.Option(min=0, help="Days before --since to compare with; 0: four times as long as "
                     "the stretch, at least 28."),
    ] = 0,
    top: Annotated[int, typer.Option(min=1, max=1_000, help="Words at most.")] = 30,
    least: Annotated[
        int, typer.Option("--min-documents", min=1, help="Texts a word stands in at least.")
    ] = 2,
    with_persons: Annotated[
        bool, typer.Option("--with-persons", help="Names of people too.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Workbook (.xlsx) or CSV.")] = None,
) -> _Wanted:  # fmt: skip
    """What is to be made of them."""
    if out is not None:
        check_ending(out)
        check_output(out, "--out")
    return _Wanted(base_days, top, least, with_persons, out)


@app.command()
@combined(_stretch, _wanted)
def hot(stretch: _Stretch, wanted: _Wanted) -> None:
    """List words that stand in more texts than before; a story told by several counts once."""
    from qiaocrawl.news.words import hot_words

    now, before = _counted(stretch, wanted.base_days)
    words = hot_words(now, before, count=wanted.top, least_documents=wanted.least,
                      with_persons=wanted.with_persons)  # fmt: skip
    if _said_nothing(stretch, now, len(words)):
        return
    _say_base(stretch, wanted.base_days, now, before)
    print_hot(table_console(), words)
    if wanted.out is not None:
        write_sheets(wanted.out, [hot_sheet(words, now)])
        say_written(wanted.out)


@app.command()
@combined(_stretch, _wanted)
def new(stretch: _Stretch, wanted: _Wanted) -> None:
    """List words of no dictionary that no earlier text has."""
    from qiaocrawl.news.words import fresh_words
    from qiaocrawl.storage.pages.articles import count_texts

    with connection_to(stretch.database) as c:
        now = _counter(c, stretch)
        earlier = _texts(c, stretch.topic, stretch.base_since(wanted.base_days), stretch.since)
        words = fresh_words(now, earlier, count=wanted.top, least_documents=wanted.least,
                            with_persons=wanted.with_persons)  # fmt: skip
        texts = count_texts(
            c, stretch.topic, None, since=stretch.base_since(wanted.base_days), before=stretch.since
        )
    if _said_nothing(stretch, now, len(words)):
        return
    _say_texts(stretch, now.documents)
    echo(_("in none of {texts:,} texts since {since}", texts=texts,
           since=shown_moment(stretch.base_since(wanted.base_days))))  # fmt: skip
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
@combined(_stretch, _wanted, _pictures)
def cloud(stretch: _Stretch, wanted: _Wanted, pictures: tuple[Path | None, Path | None]) -> None:
    """Show the words that tell a stretch of time: as table, picture and data to navigate by."""
    from qiaocrawl.news.pictures.charts import cloud_svg
    from qiaocrawl.news.word_groups import cloud_words

    now, before = _counted(stretch, wanted.base_days)
    words = cloud_words(now, before, count=wanted.top, least_documents=wanted.least,
                        with_persons=wanted.with_persons)  # fmt: skip
    if _said_nothing(stretch, now, len(words)):
        return
    _say_base(stretch, wanted.base_days, now, before)
    print_cloud(table_console(), words)
    picture, json_file = pictures
    if picture is not None:
        legend = cloud_legend(words[0].before is not None)
        write_text(picture, cloud_svg(words, f"{stretch.topic} {stretch.shown}", legend))
    if json_file is not None:
        write_text(json_file, cloud_json(words, now, (stretch.since, stretch.before)))
    if wanted.out is not None:
        write_sheets(wanted.out, [cloud_sheet(words)])
        say_written(wanted.out)


def _grouped(
    groups: Annotated[
        Path,
        typer.Option(
            help="Workbook (.xlsx) or CSV with columns group, term and use (any, all, none)."
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Workbook (.xlsx) or CSV.")] = None,
) -> tuple[Path, Path | None]:
    """Which groups, and where to."""
    if out is not None:
        check_ending(out)
        check_output(out, "--out")
    return groups, out


@app.command()
@combined(_stretch, _grouped)
def hits(stretch: _Stretch, files: tuple[Path, Path | None]) -> None:
    """Show which of your groups of terms the articles touch, day by day; articles with each."""
    from qiaocrawl.news.word_groups import group_hits, read_groups

    groups, out = files
    own = read_groups(groups)
    with connection_to(stretch.database) as c:
        texts = list(_texts(c, stretch.topic, stretch.since, stretch.before))
    found = group_hits(own, texts)
    _say_texts(stretch, len(texts))
    print_hits(table_console(), found)
    if out is not None:
        write_sheets(out, hit_sheets(found, texts))
        say_written(out)


def _counted(stretch: _Stretch, base_days: int) -> tuple[WordCounter, WordCounter]:
    """The words of the stretch and of its base."""
    from qiaocrawl.news.words import WordCounter

    with connection_to(stretch.database) as c:
        now = _counter(c, stretch)
        before = WordCounter(now.terms, keeps_texts=False)
        if now.documents:
            for text in _texts(c, stretch.topic, stretch.base_since(base_days), stretch.since):
                before.add(text)
    return now, before


def _counter(c: Connection, stretch: _Stretch) -> WordCounter:
    from qiaocrawl.news.words import WordCounter
    from qiaocrawl.storage.topics.topics import load_pack

    now = WordCounter(term.text for term in load_pack(c, stretch.topic).terms)
    for text in _texts(c, stretch.topic, stretch.since, stretch.before):
        now.add(text)
    return now


def _texts(c: Connection, topic: str, since: datetime, before: datetime) -> Iterator[TimedText]:
    """The stored articles on topic, of a group of reprints the first."""
    from qiaocrawl.news.words import TimedText
    from qiaocrawl.storage.pages.articles import iter_texts

    for one in iter_texts(c, topic, None, since=since, before=before):
        assert one.at is not None, "every article was fetched some time"
        yield TimedText(one.url, one.title, one.text, one.site, one.at)


def _say_texts(stretch: _Stretch, texts: int) -> None:
    echo(_("{topic}, {stretch}: {texts:,} texts", topic=stretch.topic, stretch=stretch.shown,
           texts=texts))  # fmt: skip


def _said_nothing(stretch: _Stretch, now: WordCounter, words: int) -> bool:
    """Whether there is nothing to show, which is said."""
    if words:
        return False
    _say_texts(stretch, now.documents)
    if now.documents:
        echo(_("no word stands out"))
    else:
        command = advised(f"qiaocrawl article list --topic {stretch.topic}")
        echo(_("nothing stored fits; what there is: {command}", command=command))
    return True


def _say_base(stretch: _Stretch, base_days: int, now: WordCounter, before: WordCounter) -> None:
    from qiaocrawl.news.words import has_base

    _say_texts(stretch, now.documents)
    if has_base(before):
        echo(_("compared with {texts:,} texts since {since}", texts=before.documents,
               since=shown_moment(stretch.base_since(base_days))))  # fmt: skip
    else:
        echo(_("too few texts before ({texts}): compared with general Chinese",
               texts=before.documents))  # fmt: skip
