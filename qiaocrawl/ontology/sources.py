"""Installs wordnets: finds what a path or name means, reads it once, stores it compactly."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from qiaocrawl.errors import ConfigError, OntologyError
from qiaocrawl.language import _
from qiaocrawl.ontology import princeton, stored
from qiaocrawl.ontology.draft import Draft
from qiaocrawl.ontology.folder import OWN, own_draft
from qiaocrawl.ontology.lmf import read_lmf
from qiaocrawl.ontology.stored import ENDING, StoredWordnet, arrays_of, write_wordnet
from qiaocrawl.ontology.tabs import read_tab

WORDNET = "wordnet"

Advance = Callable[[int], None]
_NAME = re.compile(r"\w[\w.-]{0,63}")
_XML = (".xml", ".xml.gz", ".xml.xz", ".lmf", ".lmf.gz", ".lmf.xz")
_TAB = (".tab", ".tab.gz", ".tab.xz")
_MAX_BYTES = 1 << 30


def sources_of(given: str) -> list[tuple[str, Path | None]]:
    """What *given*, a path or a name, stands for: (name to install as, file or folder).

    A folder of tab and XML files is each of them. None stands for the one that comes along.

    Raises:
        ConfigError: neither a name nor a file or folder that can be read.
    """
    if given == OWN:
        return [(OWN, None)]
    if given == WORDNET:
        if not princeton.is_wordnet(princeton.DEBIAN):
            raise ConfigError(
                _(
                    "ontology {wordnet!r}: {debian} has no WordNet; install the package "
                    "wordnet-base (apt-get install wordnet-base), or give the folder of data.noun",
                    wordnet=WORDNET,
                    debian=princeton.DEBIAN,
                )
            )
        return [(WORDNET, princeton.DEBIAN)]
    path = Path(given).expanduser()
    if path.is_dir():
        return _in_folder(path)
    if path.is_file() and path.name.endswith((*_XML, *_TAB)):
        return [(_name_of(path), path)]
    if path.exists():
        raise ConfigError(
            _(
                "ontology {given!r}: its name ends in none of {endings}",
                given=given,
                endings=", ".join(_XML + _TAB),
            )
        )
    raise ConfigError(
        _(
            "ontology {given!r}: no such file or folder, and no name (there are: {own}, {wordnet})",
            given=given,
            own=OWN,
            wordnet=WORDNET,
        )
    )


def _in_folder(folder: Path) -> list[tuple[str, Path | None]]:
    if princeton.is_wordnet(folder):
        return [(WORDNET, folder)]
    files = [file for file in sorted(folder.iterdir()) if file.name.endswith((*_XML, *_TAB))]
    if not files:
        raise ConfigError(
            _(
                "ontology folder {folder!r}: holds no WN-LMF, tab file or WordNet",
                folder=str(folder),
            )
        )
    return [(_name_of(file), file) for file in files]


def _name_of(file: Path) -> str:
    name = file.name
    for ending in (*_XML, *_TAB):
        name = name.removesuffix(ending)
    if _NAME.fullmatch(name) is None:
        raise ConfigError(
            _("{file!r}: rename it to letters, digits, '.', '_' and '-'", file=str(file))
        )
    return name


def install(
    name: str, source: Path | None, folder: Path, advance: Advance = lambda _: None
) -> StoredWordnet:
    """Read *source* and keep it in *folder* as *name*, in the place of an older one.

    Args:
        source: a file or folder of :func:`sources_of`; None is the one that comes along.
        advance: told how many bytes more of it were read.

    Raises:
        OntologyError: the source cannot be read, or the folder not be written.
    """
    arrays = arrays_of(read_source(source, advance))
    wordnet = stored.stored(name, arrays)
    write_wordnet(arrays, folder / f"{name}{ENDING}")
    return wordnet


def size_of(source: Path | None) -> int:
    """Bytes :func:`install` tells of while it reads *source*."""
    if source is None:
        return 0
    if source.is_file():
        return source.stat().st_size
    parts = (source / f"{kind}.{part}" for kind in ("data", "index") for part in princeton.PARTS)
    return sum(file.stat().st_size for file in parts if file.is_file())


def read_source(source: Path | None, advance: Advance = lambda _: None) -> Draft:
    """What *source* holds; arguments and errors as for :func:`install`."""
    if source is None:
        return own_draft()
    if source.is_dir():
        return princeton.read_wordnet(source, advance)
    with _unpacked(source, advance) as stream:
        if any(source.name.endswith(ending) for ending in _TAB):
            return read_tab(_limited(stream, source), str(source))
        return read_lmf(stream, str(source))


def _limited(stream: IO[bytes], source: Path) -> Iterator[bytes]:
    """The lines of *stream*; one without end is cut, and so seen as damaged."""
    read = 0
    # Bounded reads: a decompression bomb may be a single line.
    while line := stream.readline(1 << 20):
        read += len(line)
        if read > _MAX_BYTES:
            raise OntologyError(
                _(
                    "{source!r}: unpacks to more than {max_bytes:,} bytes",
                    source=str(source),
                    max_bytes=_MAX_BYTES,
                )
            )
        yield line


@contextmanager
def _unpacked(source: Path, advance: Advance) -> Iterator[IO[bytes]]:
    """*source* opened, unpacked by its ending; damage while reading is an OntologyError."""
    try:
        with source.open("rb") as raw, io.BufferedReader(_CountingReader(raw, advance)) as counted:
            if source.suffix == ".gz":
                with gzip.open(counted) as unpacked:
                    yield cast(IO[bytes], unpacked)
            elif source.suffix == ".xz":
                with lzma.open(counted) as stream:
                    yield stream
            else:
                yield counted
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise OntologyError(
            _("{source!r} cannot be read: {error}", source=str(source), error=error)
        ) from None


class _CountingReader(io.RawIOBase):
    """A file that reports the number of bytes of every read."""

    def __init__(self, raw: IO[bytes], advance: Advance) -> None:
        self._raw = raw
        self._advance = advance

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As io.RawIOBase has it."""
        view = memoryview(buffer)
        data = self._raw.read(len(view))
        view[: len(data)] = data
        self._advance(len(data))
        return len(data)
