"""What a page is: a path, what answers it, and who may ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

Endpoint = Callable[[Request], Awaitable[Response]]

READER, EDITOR, ADMINISTRATOR = "reader", "editor", "administrator"
"""Least roles of pages. Readers change what is their own only."""
ANYBODY = ""
"""Of the few pages that are there without a log-in."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page, or one thing to do.

    Attributes:
        path: as Starlette has it, such as ``/articles/{article_id:int}``.
        name: ``area.what``; templates link to it by that name.
        role: the least that may ask for it.
        method: GET changes nothing; POST needs the token of a form.
        for_programs: a token in the header ``Authorization`` serves as well as a log-in, and
            errors are JSON.
        takes_files: its form brings files, and may have their size.
        by_itself: scripts of our pages ask for it while nobody does anything: it keeps no
            session alive.
    """

    path: str
    name: str
    endpoint: Endpoint
    role: str = READER
    method: str = "GET"
    for_programs: bool = False
    by_itself: bool = False
    takes_files: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """Pages that belong together; an entry of the menu.

    Attributes:
        title: of the menu, marked with ``N_``; "" for an area without an entry.
        icon: of Font Awesome, such as ``newspaper``.
        pages: the first is where the entry leads to; it shows up for those who may ask for it.
    """

    title: str
    icon: str
    pages: tuple[Page, ...]
