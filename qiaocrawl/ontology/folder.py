"""The folder of installed ontologies, and the ontology of this process."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import resources
from pathlib import Path

from qiaocrawl.errors import OntologyError
from qiaocrawl.language import _
from qiaocrawl.ontology import stored
from qiaocrawl.ontology.concepts import Ontology
from qiaocrawl.ontology.draft import Draft
from qiaocrawl.ontology.lmf import read_lmf
from qiaocrawl.ontology.stored import ENDING, StoredWordnet, arrays_of
from qiaocrawl.options import Options
from qiaocrawl.options.project import user_data_folder

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
            _("{option} {folder!r}: there is no such home; name a folder by its whole path",
              option=OPTION, folder=given)
        ) from None  # fmt: skip


def installed(folder: Path) -> list[Path]:
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
    return stored.stored(OWN, arrays_of(own_draft()))


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
    files = installed(folder)
    # By time and size, so that a file installed anew is opened anew.
    stamps = tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    return _opened(stamps)


@lru_cache(2)
def _opened(stamps: tuple[tuple[str, int, int], ...]) -> Ontology:
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
        return _opened(())
    return open_ontology(folder)


@cache
def _from_environment() -> str:
    return str(Options.from_environment()[OPTION])
