"""Where a form leads to afterwards, and an error back to: never to another site."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from starlette.requests import Request

# A path of ours; // and /\ begin the name of a host, and browsers drop tabs and line ends.
_LOCAL = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")


def local_path(given: object, otherwise: str) -> str:
    """*given* if it is a path of this site, else *otherwise*."""
    is_local = isinstance(given, str) and len(given) < 4_000 and _LOCAL.fullmatch(given)
    return given if is_local and isinstance(given, str) else otherwise


def is_of_this_site(request: Request, url: str) -> bool:
    """Whether *url*, which a browser says it comes from, has the scheme and host of *request*."""
    try:
        there = urlsplit(url)
    except ValueError:
        return False
    return (there.scheme, there.netloc) == (request.url.scheme, request.headers.get("host"))


def came_from(request: Request) -> str:
    """The path of our page that led to *request*; "" for none, and for the same address."""
    given = request.headers.get("referer", "")
    if not is_of_this_site(request, given):
        return ""
    parts = urlsplit(given)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    is_same = request.method == "GET" and parts.path == request.url.path
    return "" if is_same else local_path(path, "")
