"""Where a form leads to afterwards: never to another site."""

from __future__ import annotations

import re

# A path of ours; // and /\ begin the name of a host, and browsers drop tabs and line ends.
_LOCAL = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")


def local_path(given: object, otherwise: str) -> str:
    """*given* if it is a path of this site, else *otherwise*."""
    is_local = isinstance(given, str) and len(given) < 4_000 and _LOCAL.fullmatch(given)
    return given if is_local and isinstance(given, str) else otherwise
