"""Installs wordnets: finds what a path or name means, reads it once, stores it compactly."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import IO, Any, cast

from qiaocrawl.errors import ConfigError, OntologyError
from qiaocrawl.language import _
from qiaocrawl.ontology import readers as princeton
from qiaocrawl.ontology import stored
from qiaocrawl.ontology.concepts import Ontology
from qiaocrawl.ontology.draft import Draft
from qiaocrawl.ontology.readers import read_lmf, read_tab
from qiaocrawl.ontology.stored import ENDING, StoredWordnet, arrays_of, write_wordnet
from qiaocrawl.options import Options
from qiaocrawl.options.project import user_data_folder

# --- The folder of installed ontologies, and the ontology of this process -------------------------

OPTION = "QIAO_ONTOLOGY_DIR"
OWN = "qiaoqing"
"""The ontology that comes with the program; a file of this name takes its place."""


def folder_of(given: str) -> Path:
    """The folder *given*, or ``qiaocrawl/ontology`` in the user's data folder where it is "".

    Raises:
        OntologyError: the account, or the one that is named (``~NAME``), has no home.
    """
    try:
        return Path(given).expanduser().absolute() if given else user_data_folder() / "ontology"
    except RuntimeError:
        raise OntologyError(
            _(
                "{option} {folder!r}: there is no such home; name a folder by its whole path",
                option=OPTION,
                folder=given,
            )
        ) from None


def installed_files(folder: Path) -> list[Path]:
    """The files of *folder*, in the order in which they are joined; none if there is no folder.

    Raises:
        OntologyError: it cannot be listed.
    """
    try:
        return sorted(f for f in folder.glob(f"*{ENDING}") if not f.name.startswith("."))
    except OSError as error:
        raise OntologyError(f"{str(folder)!r}: {error.strerror or error}") from None


def own_wordnet() -> StoredWordnet:
    """The ontology of overseas-Chinese affairs that comes with the program."""
    return stored.wordnet_of_arrays(OWN, arrays_of(own_draft()))


def own_draft() -> Draft:
    """The same, as read from its WN-LMF file."""
    file = resources.files("qiaocrawl.ontology").joinpath("data", f"{OWN}.xml")
    with file.open("rb") as stream:
        return read_lmf(stream, file.name)


def open_ontology(folder: Path) -> Ontology:
    """All ontologies of *folder* and the one that comes with the program, joined.

    Raises:
        OntologyError: a file is damaged; `qiaocrawl ontology check` names all that are.
    """
    files = installed_files(folder)
    # By time and size, so that a file installed anew is opened anew.
    stamps = tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    return _open_ontology(stamps)


@lru_cache(2)
def _open_ontology(stamps: tuple[tuple[str, int, int], ...]) -> Ontology:
    wordnets = [stored.read_wordnet(Path(name)) for name, _time, _size in stamps]
    if all(wordnet.name != OWN for wordnet in wordnets):
        wordnets.append(own_wordnet())
    return Ontology(wordnets)


_in_use: list[str] = []


def use_folder(given: str) -> None:
    """Let this process use the ontologies of a folder; "" means the user's data folder."""
    _in_use[:] = [given]


def current_ontology() -> Ontology:
    """The ontology of this process: of :func:`use_folder`, else of the option in the environment.

    Raises:
        ConfigError: a wrong option in the environment.
        OntologyError: an installed file is damaged, or the option names a home that is not there.
    """
    given = _in_use[0] if _in_use else _from_environment()
    try:
        folder = folder_of(given)
    except OntologyError:
        if given:
            raise
        # Nothing can have been installed for an account without a home.
        return _open_ontology(())
    return open_ontology(folder)


@cache
def _from_environment() -> str:
    return str(Options.from_environment()[OPTION])


# --- Installs wordnets: finds what a path or name means, reads it once, stores it compactly -------

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
    wordnet = stored.wordnet_of_arrays(name, arrays)
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
    with _open_unpacked(source, advance) as stream:
        if any(source.name.endswith(ending) for ending in _TAB):
            return read_tab(_bounded_lines(stream, source), str(source))
        return read_lmf(stream, str(source))


def _bounded_lines(stream: IO[bytes], source: Path) -> Iterator[bytes]:
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
def _open_unpacked(source: Path, advance: Advance) -> Iterator[IO[bytes]]:
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
