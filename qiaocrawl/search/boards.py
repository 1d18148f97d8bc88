"""Hot lists (热榜) as data: where a list's entries stand in what a service answers.

A form is the answer of newsnow (``{"items": [{"title": …, "url": …}]}``), or says itself where the
entries stand: dotted paths in JSON, CSS or ``xpath:…`` in a page, as search engines are described.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urljoin

from pydantic import ConfigDict, Field

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import FetchedPage
from qiaocrawl.language import N_, _
from qiaocrawl.search.documents import Document, parse_document
from qiaocrawl.search.record_checks import Path, Paths
from qiaocrawl.text.charset import decode_page
from qiaocrawl.text.normalise import collapse, fold
from qiaocrawl.text.toml_file import check_table, parse_toml
from qiaocrawl.urls import canonical_url

MOST_ENTRIES = 100
"""Lists have 50; of a longer one the rest is not kept."""
_LEAST_READ = 3
"""A list of fewer is none: what has changed its form often leaves one or two."""
_MOST_TITLE_CHARS, _MOST_HEAT_CHARS = 200, 40

CHANGED = N_("answers, but no list stands where its form says ({count} entries)")
CUT_OFF = N_("the connection was lost before the end of the page")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardForm:
    """Where the entries of a list stand, and in each its title, address and heat.

    Attributes:
        format: ``json``, ``html``, or ``scripts``: JSON in scripts that *scripts* finds.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    format: Literal["json", "html", "scripts"] = "json"
    each: Annotated[Paths, Field(min_length=1)]
    title: Annotated[Paths, Field(min_length=1)]
    link: Paths = ()
    heat: Paths = ()
    scripts: Path = ""


NEWSNOW = BoardForm(
    each=("items",), title=("title",), link=("url", "mobileUrl"), heat=("extra.info",)
)
"""What newsnow answers at ``/api/s?id=…``."""


@dataclass(frozen=True, slots=True)
class Board:
    """A list that a topic watches, as somebody entered it."""

    url: str
    name: str = ""
    form: BoardForm = NEWSNOW


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """One line of a list; *rank* counts from 1, *heat* is as the list writes it."""

    rank: int
    title: str
    url: str = ""
    heat: str = ""


@dataclass(frozen=True, slots=True)
class BoardReading:
    """What was read of a list; *fault* says why that is nothing, "" where it is a list."""

    entries: tuple[BoardEntry, ...] = ()
    fault: str = ""


def read_board(page: FetchedPage, form: BoardForm) -> BoardReading:
    """The entries of the list *page*, each title once. No bytes make it raise."""
    if page.connection_lost:
        return BoardReading(fault=CUT_OFF)
    text = decode_page(page.body, page.header("content-type")).text
    document = parse_document(text, form.format, form.scripts)
    titles: dict[str, BoardEntry] = {}
    for item in document.items(form.each):
        title = document.value(item, form.title)[:_MOST_TITLE_CHARS].strip()
        if not title or fold(title) in titles:
            continue
        titles[fold(title)] = BoardEntry(
            len(titles) + 1,
            title,
            _address(document, item, form.link, page.final_url),
            collapse(document.value(item, form.heat))[:_MOST_HEAT_CHARS],
        )
        if len(titles) == MOST_ENTRIES:
            break
    if len(titles) < _LEAST_READ:
        return BoardReading(fault=CHANGED.format(count=len(titles)))
    return BoardReading(tuple(titles.values()))


def _address(document: Document, item: Any, paths: tuple[str, ...], base: str) -> str:
    """Where an entry leads to: what ``href`` of the element that is found says, else its text."""
    for path in paths:
        given = document.attribute(item, path, "href") or document.value(item, (path,))
        try:
            address = canonical_url(urljoin(base, given)) if given else None
        except ValueError:
            address = None
        if address:
            return address
    return ""


# --- As they are written in a file, entered in a form, and kept -----------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _BoardTable:
    __pydantic_config__ = ConfigDict(extra="forbid")

    url: Annotated[str, Field(min_length=1, max_length=2_000)]
    name: Annotated[str, Field(max_length=200)] = ""
    form: BoardForm | Literal["newsnow"] = "newsnow"


@dataclass(frozen=True, slots=True, kw_only=True)
class _BoardFile:
    __pydantic_config__ = ConfigDict(extra="forbid")

    board: Annotated[tuple[_BoardTable, ...], Field(min_length=1)]


def boards_in(data: bytes, name: str) -> list[Board]:
    """The lists of a TOML file called *name*: ``[[board]]`` with ``url``, ``name``, ``form``.

    Raises:
        ConfigError: it cannot be read; with every fault.
    """
    try:
        table = parse_toml(data)
    except ValueError as error:
        reason = _("cannot be read as TOML in UTF-8: {error}", error=error)
        raise ConfigError(f"{name}: {reason}") from None
    file, faults = check_table(_BoardFile, table)
    if file is None:
        raise ConfigError("\n  ".join([f"{name}:", *faults]))
    return [
        Board(one.url, one.name, NEWSNOW if isinstance(one.form, str) else one.form)
        for one in file.board
    ]


def form_from(record: Mapping[str, object]) -> BoardForm:
    """The form in *record*, as a file or a form of the console has it.

    Raises:
        ConfigError: with every fault.
    """
    form, faults = check_table(BoardForm, record)
    if form is None:
        raise ConfigError("; ".join(faults))
    return form


def form_record(form: BoardForm) -> dict[str, object]:
    """*form* as :func:`form_from` reads it."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(form).items()
        if value
    }
