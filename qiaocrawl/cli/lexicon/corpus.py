"""The texts that a lexicon is built from: stored articles, or files of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from qiaocrawl.cli.db import connection_to
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.extract import extract_article
from qiaocrawl.lexicon.term_counts import Document
from qiaocrawl.storage.pages.article_texts import count_texts, iter_texts
from qiaocrawl.storage.topics.topics import load_pack
from qiaocrawl.text.charset import decode_page
from qiaocrawl.text.zones import SHANGHAI
from qiaocrawl.topic.pack import TopicPack

TopicName = Annotated[str, typer.Option("--topic", help="An imported topic. 主题")]
FromSite = Annotated[
    str, typer.Option("--from-site", help="All stored articles of this host. 某站全部文章")
]
FromFiles = Annotated[
    Path | None,
    typer.Option("--from-files", help="Texts of a folder: .txt, .md, .html. 文件夹里的文本"),
]
FromStore = Annotated[
    bool, typer.Option("--from-store", help="Stored articles on topic (default). 已存的切题文章")
]
_PLAIN, _PAGES = frozenset({".txt", ".md"}), frozenset({".html", ".htm"})
_LARGEST_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Source:
    """Where the texts come from; at most one of site and files."""

    topic: str
    site: str = ""
    files: Path | None = None

    @property
    def shown(self) -> str:
        """As a reader is told."""
        if self.files is not None:
            return str(self.files)
        return self.site or f"主题 {self.topic} 的切题文章"


def source_choice(
    topic: TopicName,
    from_site: FromSite = "",
    from_files: FromFiles = None,
    from_store: FromStore = False,
) -> Source:
    """The source that the options name.

    Raises:
        ConfigError: more than one, or a folder that is not there.
    """
    if sum((bool(from_site), from_files is not None, from_store)) > 1:
        raise ConfigError("choose one of --from-site, --from-files and --from-store")
    if from_files is not None and not from_files.is_dir():
        raise ConfigError(f"--from-files {str(from_files)!r}: no such folder")
    return Source(topic, from_site, from_files)


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
        number = len(_files(source.files))
        hint = "put .txt, .md or .html files there"
    else:
        with connection_to(database) as c:
            number = count_texts(c, None if source.site else source.topic, source.site or None)
        start = f" -a start=https://{source.site}/" if source.site else ""
        hint = f"crawl first: scrapy crawl site -a topic={source.topic}{start}"
    if not number:
        raise StorageError(f"没有可用的文章 no texts: {source.shown}; {hint}")
    return number


def documents(source: Source, database: str) -> Iterator[Document]:
    """The texts of *source*."""
    if source.files is not None:
        yield from map(_read, _files(source.files))
        return
    with connection_to(database) as c:
        for one in iter_texts(c, None if source.site else source.topic, source.site or None):
            when = one.published_at
            month = f"{when.astimezone(SHANGHAI):%Y-%m}" if when is not None else ""
            yield Document(one.title, one.text, one.site, month, one.url)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in _PLAIN | _PAGES)


def _read(path: Path) -> Document:
    """The text of a file; its first line is the title.

    Raises:
        ConfigError: too large for a text.
    """
    if path.stat().st_size > _LARGEST_BYTES:
        raise ConfigError(f"--from-files: {str(path)!r} has more than 10 MiB")
    body = path.read_bytes()
    if path.suffix.lower() in _PAGES:
        found = extract_article(body, url=path.as_uri())
        return Document(found.title, found.text, path.parent.name, url=str(path))
    title, _, rest = decode_page(body).text.strip().partition("\n")
    return Document(title.lstrip("# ").strip(), rest, path.parent.name, url=str(path))
