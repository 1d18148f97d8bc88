"""The persons, places and organisations of articles in stories, read once an article."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from qiaocrawl.analysis.entities.gazetteers import (
    Gazetteers,
    KnownName,
    default_gazetteers,
    gazetteers_of,
)
from qiaocrawl.analysis.entities.recognition import entities_of
from qiaocrawl.bulk.local import LocalBulk
from qiaocrawl.bulk.works import Bulk, Pending
from qiaocrawl.storage.analysis import names

if TYPE_CHECKING:
    from qiaocrawl.runtime import Runtime

_AT_A_TIME = 50
# On a cluster: as many times fifty articles are under way.
_BATCHES_AHEAD = 64
# Who acts is named early; reading costs some 40 µs a character.
_CHARS_READ = 2_000
# What is less sure is as often wrong as right, and would be "named for the first time".
_SURE_FROM = 0.85


_Articles = list[tuple[int, str, str]]
_Found = list[tuple[int, list[names.Named]]]
# Names of all topics, as they travel: by their spelling, in order.
_OfPacks = tuple[tuple[str, KnownName], ...]


def read_names(runtime: Runtime, advance: Callable[[int], bool], bulk: Bulk | None = None) -> int:
    """Read the names of all articles of stories that have none yet; returns how many articles.

    A kill costs fifty articles at most, or on a cluster those under way. Two workers that read the
    same article write the same.

    Args:
        advance: called with the number of articles just read; False asks to stop.
        bulk: where they are read; None: here.
    """
    read = 0
    ahead = 0 if bulk is None else _BATCHES_AHEAD
    waiting: deque[Pending[_Found]] = deque()
    bulk = bulk or LocalBulk(lambda: runtime.analysis.slots)
    of_packs = _names_of_packs(runtime)
    for articles in _unread(runtime):
        name = f"names-{articles[0][0]}-{articles[-1][0]}"
        waiting.append(bulk.call(names_of_articles, articles, of_packs, name=name))
        if len(waiting) > ahead:
            read += (done := _keep_first(runtime, waiting))
            if not advance(done):
                return read
    while waiting:
        read += (done := _keep_first(runtime, waiting))
        if not advance(done):
            break
    return read


def _keep_first(runtime: Runtime, waiting: deque[Pending[_Found]]) -> int:
    found = waiting.popleft().result()
    runtime.write_now(partial(_keep, found=found))
    return len(found)


def _unread(runtime: Runtime) -> Iterator[_Articles]:
    after = 0
    while articles := runtime.reader.run(partial(names.unread, after=after, most=_AT_A_TIME)):
        after = articles[-1][0]
        yield articles


def _names_of_packs(runtime: Runtime) -> _OfPacks:
    """Names of all topics."""
    of_packs: dict[str, KnownName] = {}
    for pack in runtime.catalogue.packs.values():
        own = gazetteers_of(pack)
        for term in pack.terms:
            if (meaning := own.get(term.text)) is not None:
                of_packs.setdefault(term.text, meaning)
    return tuple(of_packs.items())


@cache
def _known_names(of_packs: _OfPacks) -> Gazetteers:
    """Names that come along, and those of all topics."""
    return default_gazetteers().joined(dict(of_packs))


def names_of_articles(articles: _Articles, of_packs: _OfPacks) -> _Found:
    """Whom and what articles (id of the URL, title, body) name; also called on other machines."""
    known = _known_names(of_packs)
    return [(url_id, _names(title, body, known)) for url_id, title, body in articles]


def _names(title: str, body: str, known: Gazetteers) -> list[names.Named]:
    entities = entities_of(title, body[:_CHARS_READ], known)
    counts = Counter((entity.kind, entity.normal_form) for entity in entities
                     if entity.certainty >= _SURE_FROM)  # fmt: skip
    return [(kind, name, mentions) for (kind, name), mentions in counts.items()]


def _keep(c: Connection, found: _Found) -> None:
    for url_id, own in found:
        names.keep_names(c, url_id, own)
