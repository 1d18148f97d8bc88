"""URLs as vectors of their parts (U1): host, directories and file.

Any text may be given, also what no parser takes for a URL: it then has fewer parts.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from qiaocrawl.urls.hosts import registrable_domain

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
