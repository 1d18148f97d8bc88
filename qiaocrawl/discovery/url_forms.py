"""The groups (URL patterns) a URL belongs to, from narrow to broad."""

from __future__ import annotations

import re
from functools import lru_cache

# Numbers are 0: /2024/05/t20240518_123.html and all its likes are one form.
_DIGITS = re.compile(r"\d+")
# Session ids and the like: long with a digit in it, or in brackets as ASP.NET writes them.
# "0123456789abcdef01", "(S(abc1))".
_TOKEN = re.compile(r"(?=[^/]*\d)[0-9a-zA-Z_-]{16,}|\([^/]*\)")
_MAX_PREFIXES = 3
_MAX_NAMES = 12
_MAX_FORM_CHARS = 400
NEW_BRANCH = "/(new)/…"
"""The group of all first folders of a host below which no page was of value yet."""


@lru_cache(maxsize=8_192)
def url_forms(canonical: str) -> tuple[str, ...]:
    """The groups of a canonical URL on its host, the narrowest first; each tells the host.

    First its form: folders, numbers as 0, long tokens as ``*``, the last part only by its ending
    and its marks, and the names of its parameters. Then, with a query, its path with any
    parameters; then its folders one after the other, the deepest of three first.
    """
    # "http://a.cn/x/show.php?id=5&c=2" has "a.cn/x/show.php?c&id",
    # "a.cn/x/show.php?…" and "a.cn/x/…".
    rest = canonical.partition("://")[2]
    authority, _, tail = rest.partition("/")
    path, mark, query = tail.partition("?")
    *folders, last = [_part(part) for part in path.split("/")]
    folders = [part for part in folders if part]
    if not last and folders:
        # /news/one-story/ is a page of /news/.
        last = f"{folders.pop()}/"
    base = f"{authority}/{'/'.join(folders)}{'/' if folders else ''}"
    forms = []
    # Sorted: parameters in another order make no other group.
    names = sorted({_DIGITS.sub("0", piece.partition("=")[0]) for piece in query.split("&")})
    # A path that takes parameters is a program, so its whole name is the group.
    form = f"{base}{last if mark else _last(last)}"
    if mark:
        forms += [f"{form}?{'&'.join(names[:_MAX_NAMES])}", f"{form}?…"]
    else:
        forms.append(form)
    for depth in range(min(_MAX_PREFIXES, len(folders)), 0, -1):
        forms.append(f"{authority}/{'/'.join(folders[:depth])}/…")
    return tuple(url_form[:_MAX_FORM_CHARS] for url_form in forms)


def section_of(forms: tuple[str, ...]) -> str:
    """The broadest of *forms* where it is a first folder; "" if it is in none."""
    return forms[-1] if forms[-1].endswith("/…") else ""


def _part(part: str) -> str:
    if _TOKEN.fullmatch(part):
        return "*"
    return _DIGITS.sub("0", part)


def _last(part: str) -> str:
    """The last part by its ending and marks; with words each page would be its own group."""
    if part.endswith("/"):
        return f"{_last(part[:-1])}/"
    stem, dot, ending = part.rpartition(".")
    # An "ending" of more than five characters is part of the name.
    if not dot or len(ending) > 5:
        stem, dot, ending = part, "", ""
    # "%" is left out: the escapes of a Chinese name ("%E6") would look like marks.
    marks = "".join(char for char in stem if not char.isalpha() and char != "%")[:24]
    return f"{marks if stem and marks else '*' if stem else ''}{dot}{ending}"
