"""URLs as vectors of their parts (U1): host, directories and file.

Any text may be given, also what no parser takes for a URL: it then has fewer parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.kernels import floats, ints
from qiaocrawl.urls import structure_kernels as kernels
from qiaocrawl.urls import structure_layout as layout
from qiaocrawl.urls.hosts import registrable_domain
from qiaocrawl.vsm.growing_array import Column

MAX_DIRECTORIES = 8
"""Deeper directories are counted, not compared **(ours)**."""
_MAX_SEGMENTS = 64
_MAX_DATE_RUN = 3

# Year, year and month, or all three; without a mark between them two digits each.
_MONTH = r"(?:[-_/](?:0?[1-9]|1[0-2])|0[1-9]|1[0-2])"
_DAY = r"(?:[-_/](?:0?[1-9]|[12]\d|3[01])|0[1-9]|[12]\d|3[01])"
# "2014", "201406", "2014-06-06", "2014/6/6"
_DATE = re.compile(rf"(?:19|20)\d\d(?:{_MONTH}{_DAY}?)?", re.ASCII)
_DIGIT = re.compile(r"\d", re.ASCII)
_AUTHORITY_END = re.compile(r"[/?#]")

STRING, DIGITAL, MIX = 0, 1, 2
"""Types of a text: without digits, digits only, both. A date run is digital."""


class HostVector(NamedTuple):
    """``edition.cnn.com`` is (``edition``, ``cnn``, ``edition.cnn.com``)."""

    subdomain: str
    domain: str
    host: str


class Directory(NamedTuple):
    """One directory; a date run is one (``2014/06/06``, its digits written 0). *type* as above."""

    text: str
    type: int


class FileVector(NamedTuple):
    """What follows the last slash; digits are written 0, since any number will do **(ours)**.

    Attributes:
        stem, suffix: before and after the last dot; both ``0`` without a dot.
        has_dot: whether there is one.
        name: all of it.
        ending: type of the stem, or of the name where there is no dot **(ours)**.
        has_parameters: whether a query follows.
    """

    stem: str
    suffix: str
    has_dot: bool
    name: str
    ending: int
    has_parameters: bool


class UrlVector(NamedTuple):
    """A URL taken apart. *depth* counts all directories, the first eight are kept."""

    host: HostVector
    directories: tuple[Directory, ...]
    depth: int
    file: FileVector


def url_vector(url: str) -> UrlVector:
    """The parts of *url*; never raises."""
    rest = url.rpartition("://")[2].partition("#")[0]
    end = _AUTHORITY_END.search(rest)
    authority, tail = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
    path, mark, query = tail.partition("?")
    # Without a slash, as in "http://a.com", the file is the empty name.
    *folders, name = path.split("/")[1 : _MAX_SEGMENTS + 1] or [""]
    directories = tuple(_directories([folder for folder in folders if folder]))
    return UrlVector(
        _host_vector(authority.rpartition("@")[2]),
        directories[:MAX_DIRECTORIES],
        len(directories),
        _file_vector(name, bool(mark and query)),
    )


def text_type(text: str) -> int:
    """STRING, DIGITAL or MIX; a text without any character is a string."""
    digits = len(_DIGIT.findall(text))
    if not digits:
        return STRING
    return DIGITAL if digits == len(text) else MIX


def _host_vector(host: str) -> HostVector:
    # An IP address is its own domain: no subdomain.
    domain = registrable_domain(host)
    # The main domain is its name without the public suffix, as in the text.
    is_address = domain.startswith("[") or domain.replace(".", "").isdigit()
    label = domain if is_address else domain.partition(".")[0]
    return HostVector(host.removesuffix(domain).rstrip("."), label, host)


def _directories(folders: list[str]) -> list[Directory]:
    directories: list[Directory] = []
    at = 0
    while at < len(folders):
        run = _date_run(folders, at)
        if run:
            date = "/".join(folders[at : at + run])
            directories.append(Directory(_DIGIT.sub("0", date), DIGITAL))
        else:
            directories.append(Directory(folders[at], text_type(folders[at])))
        at += run or 1
    return directories


def _date_run(folders: list[str], at: int) -> int:
    """How many directories from *at* on are one date, the longest run; 0 for none."""
    if folders[at][:2] not in ("19", "20"):
        return 0
    for run in range(_MAX_DATE_RUN, 0, -1):
        if at + run <= len(folders) and _DATE.fullmatch("/".join(folders[at : at + run])):
            return run
    return 0


def _file_vector(name: str, has_parameters: bool) -> FileVector:
    stem, dot, suffix = name.rpartition(".")
    ending = text_type(stem if dot else name)
    alike = _DIGIT.sub("0", name)
    if not dot:
        return FileVector("0", "0", False, alike, ending, has_parameters)
    return FileVector(
        _DIGIT.sub("0", stem), _DIGIT.sub("0", suffix), True, alike, ending, has_parameters
    )


# --- The structures of many URLs, their weights learnt without supervision, and likeness
# (U1-U3)

Floats = NDArray[np.float64]

# A value seen once is never a frequent one.
_LEAST_COUNT = 1


FILE_WEIGHT, DEPTH_WEIGHT = 0.15, 0.05
"""w_f and w_dd, set by experience as the text has it; their values are **(ours)**."""


def initial_weights(file: float = FILE_WEIGHT, depth: float = DEPTH_WEIGHT) -> Floats:
    """U3: the weights at first, sum 1; shape (11,): host, eight directories, file, same depth.

    *file* and *depth* (w_f, w_dd) are given; what is left of 1 halves from host to the last
    directory **(ours, the formula is lost: heavier on the left)**.
    """
    halved = 0.5 ** np.arange(1, layout.WEIGHTS - 1)
    shared = halved / halved.sum() * (1.0 - file - depth)
    return np.concatenate((shared, (file, depth)))


class UrlStructures:
    """The structures of the URLs added; URLs with the same parts share one, with a count.

    ``weights`` are of shape (11,) with sum 1: host, directory 1 to 8, file, same depth.

    Args:
        file, depth: w_f and w_dd, together below 1.
    """

    def __init__(self, file: float = FILE_WEIGHT, depth: float = DEPTH_WEIGHT) -> None:
        self.weights = initial_weights(file, depth)
        self._layout = file, depth
        self._urls = 0
        self._texts: dict[tuple[str, int], int] = {}
        self._codes = Column(np.uint8)
        self._lengths = Column(np.int64)
        self._kinds = Column(np.int8)
        self._ids: dict[tuple[int, ...], int] = {}
        self._rows = Column(np.int32)
        self._counts = Column(np.int64)
        # Text 0 is the empty one, so that missing parts need no special case.
        self._text("", 0)

    def __len__(self) -> int:
        """How many structures there are."""
        return len(self._ids)

    def add(self, url: str) -> int:
        """Count *url* and return the number of its structure, from 0."""
        row = tuple(self._row(url_vector(url)))
        number = self._ids.get(row)
        if number is None:
            number = self._ids[row] = len(self._ids)
            end = (number + 1) * layout.ROW
            self._rows.reserve(end)[end - layout.ROW : end] = row
            self._counts.reserve(number + 1)
        self._counts.data[number] += 1
        self._urls += 1
        return number

    def learn_weights(self, gamma: float) -> None:
        """U3: the fewer values the host or a directory takes, the heavier it is.

        ``Σ pv_j / (n·number of URLs)`` over the n values that more than a share *gamma* of the
        URLs have (and more than one URL), pv_j how many have value j; w_f and w_dd keep what
        they were set to; then all are brought to sum 1. A position without such a value weighs
        nothing; with none at all the weights stay. Form and *gamma* as a share are **(ours)**,
        the formula is lost.
        """
        if not self._urls:
            return
        rows, counts = self._all_rows(), self._counts.data[: len(self)]
        least = max(gamma * self._urls, _LEAST_COUNT)
        raw = np.array(
            [_position_weight(rows[:, column], counts, least, self._urls) for column in _POSITIONS]
        )
        # All zeros while no value is frequent: the weights stay.
        if raw.sum() > 0:
            weights = np.concatenate((raw, self._layout))
            self.weights = weights / weights.sum()

    def nearest(self, numbers: NDArray[np.int64], examples: Examples) -> tuple[Floats, Floats]:
        """The similarity of the structures *numbers* to the nearest of *examples*.

        Returns:
            The similarity in [0, 1], shape (n,), 0 without examples; and its three parts
            (host, directories, layout) that add up to it, shape (n, 3).
        """
        best = np.zeros(len(numbers))
        return best, self.raise_to_nearest(numbers, examples, np.zeros_like(numbers), best)

    def raise_to_nearest(
        self,
        numbers: NDArray[np.int64],
        examples: Examples,
        since: NDArray[np.int64],
        best: Floats,
    ) -> Floats:
        """Raise *best*, (n,), where an example that came after the first *since* is nearer.

        Returns:
            The parts of what was raised, zeros where nothing was; shape (n, 3).
        """
        parts = np.zeros((len(numbers), layout.PARTS))
        texts = kernels.TextViews(self._codes.data, self._lengths.data, self._kinds.data)
        rows = self._all_rows()[numbers]
        # Hosts are few and URLs many: each host is compared once, not once a URL.
        _, first_rows, host = np.unique(
            rows[:, layout.HOST], return_index=True, return_inverse=True
        )
        likeness = np.empty((len(first_rows), len(examples.rows)))
        known = kernels.ExampleViews(examples.ever, examples.rows, examples.masks, likeness)
        kernels.compare_hosts(ints(rows[first_rows]), known, texts)
        kernels.raise_to_nearest(
            ints(rows),
            ints(since),
            ints(host),
            known,
            texts,
            floats(self.weights),
            floats(best),
            floats(parts),
            floats(np.empty(layout.PARTS)),
        )
        return parts

    def row_with_masks(self, number: int) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
        """Structure *number* as others are compared to it: (16,) and (16, 128)."""
        row = self._all_rows()[number].copy()
        masks = np.zeros((layout.ROW, layout.CHARACTERS), np.uint64)
        codes, lengths = ints(self._codes.data), ints(self._lengths.data)
        flat = ints(masks.reshape(-1))
        for column in _TEXT_COLUMNS:
            text = int(row[column])
            if text >= 0:
                start, place = text * layout.MAX_TEXT, column * layout.CHARACTERS
                kernels.fill_masks(codes, start, lengths[text], flat, place)
        return row, masks

    def _all_rows(self) -> NDArray[np.int32]:
        return self._rows.data[: len(self) * layout.ROW].reshape(-1, layout.ROW)

    def _row(self, vector: UrlVector) -> Iterator[int]:
        """The numbers of a row, in the order of the kernels' columns."""
        yield from (self._text(text, 0) for text in vector.host)
        yield vector.depth
        for directory in vector.directories:
            yield self._text(*directory)
        yield from (-1 for _ in range(layout.DIRECTORIES - len(vector.directories)))
        file = vector.file
        yield from (self._text(text, 0) for text in (file.stem, file.suffix, file.name))
        yield (
            layout.HAS_DOT * file.has_dot
            + layout.HAS_PARAMETERS * file.has_parameters
            + layout.ENDING * file.ending
        )

    def _text(self, text: str, kind: int) -> int:
        """The number of a text of that type; texts with equal first characters share one."""
        text = text[: layout.MAX_TEXT]
        number = self._texts.get((text, kind))
        if number is None:
            number = self._texts[text, kind] = len(self._texts)
            start = number * layout.MAX_TEXT
            codes = [ord(letter) % layout.CHARACTERS for letter in text]
            self._codes.reserve(start + layout.MAX_TEXT)[start : start + len(codes)] = codes
            self._lengths.reserve(number + 1)[number] = len(codes)
            self._kinds.reserve(number + 1)[number] = kind
        return number


# The column that says a position's value, in the order of the weights.
_POSITIONS = (
    layout.HOST,
    *range(layout.FIRST_DIRECTORY, layout.FIRST_DIRECTORY + layout.DIRECTORIES),
)
_TEXT_COLUMNS = tuple(
    column for column in range(layout.ROW) if column not in (layout.DEPTH, layout.FLAGS)
)


def _position_weight(
    values: NDArray[np.int32], counts: NDArray[np.int64], least: float, urls: int
) -> float:
    present = values >= 0
    seen = np.bincount(values[present], counts[present])
    frequent = seen[seen > least]
    return float(frequent.sum() / (len(frequent) * urls)) if len(frequent) else 0.0


class Examples:
    """The newest *most* of the different structures to compare with.

    ``ever`` counts all there have been; number k stands at row k modulo *most*.
    """

    def __init__(self, most: int) -> None:
        self.ever = 0
        self.rows = np.zeros((most, layout.ROW), np.int32)
        self.masks = np.zeros((most, layout.ROW, layout.CHARACTERS), np.uint64)
        self._numbers: list[int] = []

    def __len__(self) -> int:
        """How many there are."""
        return len(self._numbers)

    def add(self, structures: UrlStructures, number: int) -> bool:
        """Add structure *number* of *structures*; False if it is one of them already."""
        if number in self._numbers:
            return False
        place = self.ever % len(self.rows)
        # Appends until the ring is full, then replaces the oldest.
        self._numbers[place : place + 1] = [number]
        self.rows[place], self.masks[place] = structures.row_with_masks(number)
        self.ever += 1
        return True


# --- The form of a URL: what pages made by one program of a site have in common -------------------
# ``/2026/03/05/c_12345.html`` and ``/2025/11/20/c_99.html`` have one form; so have ``/app/?id=7``
# and ``/app/?id=12``.

_MOST_DIRECTORIES = 4
_MOST_NAMES = 8
_MOST_CHARS = 200
_MARKS = {STRING: "a", DIGITAL: "0", MIX: "a0"}


def url_form(url: str) -> str:
    """The form of *url* without its host, at most 200 characters **(ours)**. Never raises.

    Directories stay as they are, but numbers and dates become 0, and letters with digits a0;
    from the fifth on all become one ``*``. Of the file the kind and suffix stay, of the query
    the names.
    """
    vector = url_vector(url)
    folders = [
        part.text if part.type == STRING else _MARKS[part.type]
        for part in vector.directories[:_MOST_DIRECTORIES]
    ]
    if vector.depth > _MOST_DIRECTORIES:
        folders.append("*")
    file = vector.file
    name = _MARKS[file.ending] if file.name else ""
    if file.has_dot:
        name += f".{file.suffix}"
    form = "/" + "/".join([*folders, name])
    if file.has_parameters:
        form += "?" + "&".join(_names(url))
    return form[:_MOST_CHARS]


def _names(url: str) -> list[str]:
    try:
        pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True, max_num_fields=64)
    # Raised for more than 64 parameters too.
    except ValueError:
        return []
    return sorted({name for name, _ in pairs})[:_MOST_NAMES]
