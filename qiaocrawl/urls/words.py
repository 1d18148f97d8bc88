"""The words of a URL: what it says of its page to a reader (T5, O3)."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote_to_bytes

_REMEMBERED = 16_384
# What stands behind is data, not words.
_MAX_CHARS = 512
# "news", "c" and "12345" of /news/c_12345

_RUN = re.compile(r"[^\W_]+")
# Pieces inside a run: machineLearning, AIClub, course410.
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_EVERYWHERE = """
    www com cn org net gov edu html htm shtml php asp aspx jsp do index default
"""
_SAYS_NOTHING = frozenset(_EVERYWHERE.split())


@lru_cache(_REMEMBERED)
def url_words(url: str) -> str:
    """The words of host, path and query of *url* as a text, with one space between them.

    Escapes are read as UTF-8, else as GB 18030. A run of letters and digits is a word; so are
    the pieces it is joined from (``machineLearning`` gives three). Parts that every address
    has (``www``, ``html``, ``index``) are left out. Any text may be given; no URL is none.
    """
    words: list[str] = []
    for run in _RUN.findall(_readable(url.rpartition("://")[2][:_MAX_CHARS])):
        if run.lower() in _SAYS_NOTHING:
            continue
        # A word in small letters has no pieces: no second search.
        words.append(run)
        pieces = [] if run.islower() and run.isalpha() else _PIECE.findall(run)
        words += [piece for piece in pieces if piece != run and len(piece) > 1]
    return " ".join(words)


def _readable(text: str) -> str:
    if "%" not in text:
        return text
    # The cut may have split an escape.
    decoded = unquote_to_bytes(text.encode("utf-8", "replace"))
    try:
        return decoded.decode("utf-8")
    except UnicodeDecodeError:
        return decoded.decode("gb18030", "replace")
