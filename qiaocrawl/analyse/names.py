"""The persons, places and organisations of articles in stories, read once an article."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from qiaocrawl.analysis.entities import entities_of, gazetteers_of
from qiaocrawl.analysis.entities.gazetteers import Gazetteers, KnownName, default_gazetteers
from qiaocrawl.storage.analysis import names

if TYPE_CHECKING:
    from qiaocrawl.runtime import Runtime

_AT_A_TIME = 50
# Who acts is named early; reading costs some 40 µs a character.
_CHARS_READ = 2_000
# What is less sure is as often wrong as right, and would be "named for the first time".
_SURE_FROM = 0.85


def read_names(runtime: Runtime, advance: Callable[[int], bool]) -> int:
    """Read the names of all articles of stories that have none yet; returns how many articles.

    A kill costs fifty articles at most. Two workers that read the same article write the same.

    Args:
        advance: called with the number of articles just read; False asks to stop.
    """
    known = _known_names(runtime)
    after = read = 0
    while True:
        articles = runtime.reader.run(partial(names.unread, after=after, most=_AT_A_TIME))
        if not articles:
            return read
        found = [(url_id, _names(title, body, known)) for url_id, title, body in articles]
        runtime.write_now(partial(_keep, found=found))
        after, read = articles[-1][0], read + len(articles)
        if not advance(len(articles)):
            return read


def _known_names(runtime: Runtime) -> Gazetteers:
    """Names that come along, and those of all topics."""
    known = default_gazetteers()
    of_packs: dict[str, KnownName] = {}
    for pack in runtime.catalogue.packs.values():
        own = gazetteers_of(pack)
        for term in pack.terms:
            if (meaning := own.get(term.text)) is not None:
                of_packs.setdefault(term.text, meaning)
    return known.joined(of_packs)


def _names(title: str, body: str, known: Gazetteers) -> list[names.Named]:
    entities = entities_of(title, body[:_CHARS_READ], known)
    counts = Counter((entity.kind, entity.normal_form) for entity in entities
                     if entity.certainty >= _SURE_FROM)  # fmt: skip
    return [(kind, name, mentions) for (kind, name), mentions in counts.items()]


def _keep(c: Connection, found: list[tuple[int, list[names.Named]]]) -> None:
    for url_id, own in found:
        names.keep_names(c, url_id, own)
