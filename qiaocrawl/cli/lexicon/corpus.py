"""The texts that a lexicon is built from: stored articles, or files of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from qiaocrawl.cli.db import connection_to
from qiaocrawl.cli.moments import start_of
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.extract.documents.analysis import text_files
from qiaocrawl.language import _
from qiaocrawl.lexicon.terms import Document
from qiaocrawl.options import Options
from qiaocrawl.options.project import advised
from qiaocrawl.runtime.sent_files import FileWorker
from qiaocrawl.storage.pages.articles import count_texts, iter_texts
from qiaocrawl.storage.topics.topics import load_pack
from qiaocrawl.text.zones import SHANGHAI
from qiaocrawl.topic.pack import TopicPack

TopicName = Annotated[str, typer.Option("--topic", help="An imported topic.")]
FromSite = Annotated[str, typer.Option("--from-site", help="All stored articles of this host.")]
FromFiles = Annotated[
    Path | None,
    typer.Option("--from-files", help="Texts of a folder: txt, md, html, docx, pdf, xlsx."),
]
FromStore = Annotated[
    bool, typer.Option("--from-store", help="Stored articles on topic (default).")
]
Since = Annotated[
    str,
    typer.Option(help="Only articles fetched since: today, yesterday, 7d, 2026-03-05."),
]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the texts come from; at most one of site and files.

    Args:
        since: when stored articles were fetched at the earliest, aware; None for all.
    """

    topic: str
    site: str = ""
    files: Path | None = None
    since: datetime | None = None

    @property
    def shown(self) -> str:
        """As a reader is told."""
        if self.files is not None:
            return str(self.files)
        return self.site or _("articles on topic {topic}", topic=self.topic)


def source_choice(
    topic: TopicName,
    from_site: FromSite = "",
    from_files: FromFiles = None,
    from_store: FromStore = False,
    since: Since = "",
) -> Source:
    """The source that the options name.

    Raises:
        ConfigError: more than one, a folder that is not there, or a time that is none.
    """
    if sum((bool(from_site), from_files is not None, from_store)) > 1:
        raise ConfigError(_("choose one of --from-site, --from-files and --from-store"))
    if from_files is not None and not from_files.is_dir():
        raise ConfigError(
            _("--from-files {from_files!r}: no such folder", from_files=str(from_files))
        )
    if from_files is not None and since:
        raise ConfigError(_("--since is of stored articles; --from-files takes all of a folder"))
    return Source(topic, from_site, from_files, start_of(since, "--since"))


def pack_of(source: Source, database: str) -> TopicPack:
    """The topic of *source*.

    Raises:
        StorageError: it was never imported.
    """
    with connection_to(database) as c:
        return load_pack(c, source.topic)


def count_documents(source: Source, database: str) -> int:
    """How many texts *source* has.

    Raises:
        StorageError: none; it says what would bring some.
    """
    if source.files is not None:
        number = len(text_files(source.files))
        hint = _("put .txt, .md, .html, .docx or .pdf files there")
    else:
        with connection_to(database) as c:
            number = count_texts(c, *_stored(source))
        start = f" -a start=https://{source.site}/" if source.site else ""
        command = advised(f"qiaocrawl crawl site -a topic={source.topic}{start}")
        hint = _("crawl first: {command}", command=command)
    if not number:
        raise StorageError(_("no texts: {shown}; {hint}", shown=source.shown, hint=hint))
    return number


def documents(source: Source, database: str) -> Iterator[Document]:
    """The texts of *source*."""
    if source.files is not None:
        seconds = Options.from_environment()["QIAO_EXTRACT_SECONDS"]
        with FileWorker(seconds) as worker:
            for path in text_files(source.files):
                page = worker.read_path(path)
                yield Document(page.title, page.text, path.parent.name, url=page.url or str(path))
        return
    with connection_to(database) as c:
        for one in iter_texts(c, *_stored(source)):
            when = one.published_at
            month = f"{when.astimezone(SHANGHAI):%Y-%m}" if when is not None else ""
            yield Document(one.title, one.text, one.site, month, one.url)


def _stored(source: Source) -> tuple[str | None, str | None, datetime | None]:
    """Topic, site and earliest fetch of its stored articles."""
    return (None, source.site, source.since) if source.site else (source.topic, None, source.since)
