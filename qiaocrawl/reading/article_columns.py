"""What lists choose articles by, of all articles, as columns in memory that follow the database.

Of each article its site, its times, its reprint group, and which topics call it on topic: some 30
bytes. A list of a million is counted in some hundredths of a second then, whatever is chosen.
Columns are read once and follow the log of changes, which is written in the transactions
that change articles: every count is that of what is committed when it is asked for. That they
are whole is looked at now and then (:meth:`ArticleColumns.is_true`); if not, they are read anew.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, func, select

from qiaocrawl.storage.pages.article_changes import ChangeReader
from qiaocrawl.storage.schema import article, relevance, topic, verdict
from qiaocrawl.storage.selection import (
    JUDGED,
    REPRINT,
    UNJUDGED,
    Selection,
    indexed_conditions,
)
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import from_time, to_stored_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Longs = NDArray[np.int64]
    Mask = NDArray[np.bool_]

logger = logging.getLogger(__name__)

LEAST_KEPT = 10_000
"""With fewer articles all are counted each time, which is as fast."""
MOST_MARKED = 10_000
"""So many articles with a mark, a tag, a name and the like are read for a count."""
_ROWS_AT_A_TIME = 10_000
_IDS_AT_A_TIME = 500
_NEVER = np.iinfo(np.int64).min
_JUDGED, _ON_TOPIC = 1, 2
_MOST_CELLS = 30_000_000


@dataclass(slots=True)
class _Columns:
    """By row id of the article; ``site`` is -1 where there is none.

    Attributes:
        group: row id of the article that stands for its reprint group.
        published: microseconds since 1970, or of the fetch where the day is unknown.
        judged: by topic, ``_JUDGED`` and ``_ON_TOPIC``.
    """

    site: NDArray[np.int32]
    group: Longs
    published: Longs
    fetched: Longs
    judged: dict[int, NDArray[np.int8]]

    @classmethod
    def empty(cls, size: int) -> _Columns:
        return cls(
            np.full(size, -1, np.int32),
            np.arange(size, dtype=np.int64),
            np.full(size, _NEVER, np.int64),
            np.full(size, _NEVER, np.int64),
            {},
        )

    def grow(self, size: int) -> None:
        """Have room for row ids below *size*."""
        have = len(self.site)
        if size <= have:
            return
        more = self.empty(max(size, have + have // 8 + 1024) - have)
        self.site = np.concatenate([self.site, more.site])
        self.group = np.concatenate([self.group, more.group + have])
        self.published = np.concatenate([self.published, more.published])
        self.fetched = np.concatenate([self.fetched, more.fetched])
        for number, own in self.judged.items():
            self.judged[number] = np.concatenate([own, np.zeros(len(more.site), np.int8)])

    def of_topic(self, number: int) -> NDArray[np.int8]:
        """The verdicts of the topic with this row id."""
        if number not in self.judged:
            self.judged[number] = np.zeros(len(self.site), np.int8)
        return self.judged[number]


class ArticleColumns:
    """The columns of one database; one count at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._columns: _Columns | None = None
        self._changes: ChangeReader | None = None
        self._sites: list[str] = []
        self._site_numbers: dict[str, int] = {}
        self._shared: _Shared | None = None

    @property
    def is_ready(self) -> bool:
        """Whether they were read."""
        return self._columns is not None

    def forget(self) -> None:
        """Have them read anew before they are used again."""
        with self._turn:
            self._columns = None

    def read(self, c: Connection) -> bool:
        """Read them all, some seconds a million; False where there are too few to be kept."""
        # The place in the log first: what changes meanwhile is read again.
        changes = ChangeReader(c)
        some = select(article.c.id).limit(LEAST_KEPT).subquery()
        if c.execute(select(func.count()).select_from(some)).scalar_one() < LEAST_KEPT:
            return False
        newest = c.execute(select(func.max(article.c.id))).scalar_one()
        columns = _Columns.empty(newest + 1)
        sites = select(article.c.id, article.c.site, article.c.fetched_at, article.c.published_at)
        for rows in _parts(c, sites):
            self._put(columns, rows)
        for rows in _parts(c, select(verdict.c.article_id, verdict.c.group_id)):
            _put_groups(columns, rows)
        judged = select(relevance.c.article_id, relevance.c.topic_id, relevance.c.relevant)
        for rows in _parts(c, judged):
            _put_judged(columns, rows)
        with self._turn:
            self._columns, self._changes, self._shared = columns, changes, None
        return True

    @contextmanager
    def of_now(self, c: Connection) -> Iterator[Counting | None]:
        """The columns as the database is now; None where they are not read or fell behind."""
        with self._turn:
            columns = self._columns
            if columns is None or not self._follow(c, columns):
                yield None
                return
            if self._shared is None:
                self._shared = _shared_of(columns)
            yield Counting(c, columns, self._sites, self._shared)

    def is_true(self, c: Connection) -> bool:
        """Whether they have what the database counts: articles, groups, articles on topics."""
        with self.of_now(c) as counting:
            if counting is None:
                return False
            own = counting.totals()
            relevant = select(relevance.c.topic_id, func.count()).where(relevance.c.relevant)
            rows = c.execute(relevant.group_by(relevance.c.topic_id))
            counted = {
                "articles": c.execute(select(func.count(article.c.site))).scalar_one(),
                "reprints": c.execute(
                    select(func.count()).where(verdict.c.group_id != verdict.c.article_id)
                ).scalar_one(),
                "on_topic": {number: count for number, count in rows if count},
            }
            if own == counted:
                return True
        logger.warning("columns of articles differ from the database: %s, %s", own, counted)
        return False

    def _put(self, columns: _Columns, rows: Sequence[Any]) -> None:
        for row_id, site, fetched, published in rows:
            number = self._site_numbers.get(site)
            if number is None:
                number = self._site_numbers[site] = len(self._sites)
                self._sites.append(site)
            columns.grow(row_id + 1)
            columns.site[row_id] = number
            columns.fetched[row_id] = moment = _microseconds(fetched)
            columns.published[row_id] = moment if published is None else _microseconds(published)

    def _follow(self, c: Connection, columns: _Columns) -> bool:
        assert self._changes is not None
        changed = self._changes.next(c)
        if changed is None:
            # More changed than the log keeps.
            self._columns = None
            return False
        ids = sorted(changed)
        for start in range(0, len(ids), _IDS_AT_A_TIME):
            self._renew(c, columns, ids[start : start + _IDS_AT_A_TIME])
        if ids:
            self._shared = None
        # A topic that was deleted took its verdicts along.
        known = set(c.execute(select(topic.c.id)).scalars())
        for gone in columns.judged.keys() - known:
            del columns.judged[gone]
        return True

    def _renew(self, c: Connection, columns: _Columns, ids: Sequence[int]) -> None:
        columns.grow(ids[-1] + 1)
        at = np.asarray(ids)
        columns.site[at], columns.group[at] = -1, at
        for judged in columns.judged.values():
            judged[at] = 0
        sites = select(article.c.id, article.c.site, article.c.fetched_at, article.c.published_at)
        self._put(columns, c.execute(sites.where(article.c.id.in_(ids))).all())
        groups = select(verdict.c.article_id, verdict.c.group_id)
        _put_groups(columns, c.execute(groups.where(verdict.c.article_id.in_(ids))).all())
        judged_rows = select(relevance.c.article_id, relevance.c.topic_id, relevance.c.relevant)
        _put_judged(columns, c.execute(judged_rows.where(relevance.c.article_id.in_(ids))).all())


@dataclass(frozen=True, slots=True)
class _Shared:
    """The articles that share their reprint group with others; all others are rows by themselves.

    Attributes:
        is_alone: of each article, whether it does not.
        at: their row ids.
        codes: of their groups, from 0 on.
        groups: how many groups those are.
    """

    is_alone: Mask
    at: Longs
    codes: Longs
    groups: int


def _shared_of(columns: _Columns) -> _Shared:
    here = columns.site >= 0
    sizes = np.bincount(columns.group[here], minlength=len(here))
    is_alone = sizes[columns.group] == 1
    at = np.flatnonzero(here & ~is_alone)
    numbers = np.cumsum(sizes > 1) - 1
    return _Shared(is_alone, at, numbers[columns.group[at]], int((sizes > 1).sum()))


@dataclass(frozen=True, slots=True)
class _Places:
    """The rows of a list by site: those that count there whatever other sites there are, and
    pairs of a site and a group, each once."""

    alone: Longs
    sites: Longs
    codes: Longs


def _parts(c: Connection, statement: Any) -> Iterator[Sequence[Any]]:
    # Of the statement, not of the connection, whose later ones would be streamed too.
    with c.execute(statement.execution_options(stream_results=True)) as result:
        while rows := result.fetchmany(_ROWS_AT_A_TIME):
            yield rows


def _put_groups(columns: _Columns, rows: Sequence[Any]) -> None:
    if rows:
        pairs = np.array([tuple(row) for row in rows], np.int64)
        columns.grow(int(pairs.max()) + 1)
        columns.group[pairs[:, 0]] = pairs[:, 1]


def _put_judged(columns: _Columns, rows: Sequence[Any]) -> None:
    for row_id, number, relevant in rows:
        columns.grow(row_id + 1)
        columns.of_topic(number)[row_id] = _JUDGED | (_ON_TOPIC if relevant else 0)


def _microseconds(moment: datetime | str) -> int:
    given = from_time(moment)
    assert given is not None, "every article was fetched some time"
    return int(given.timestamp()) * 1_000_000 + given.microsecond


class Counting:
    """Counts over the columns, while nobody changes them."""

    def __init__(
        self, c: Connection, columns: _Columns, sites: Sequence[str], shared: _Shared
    ) -> None:
        self._c, self._columns, self._shared = c, columns, shared
        self.sites = sites
        self._places: dict[tuple[int, bool], tuple[Mask, _Places]] = {}
        self._read: dict[Selection, list[int] | None] = {}

    def totals(self) -> dict[str, Any]:
        """Articles, reprints among them, and articles on each topic by its row id."""
        here = self._columns.site >= 0
        on_topic = {
            number: int(((own & _ON_TOPIC) > 0).sum())
            for number, own in self._columns.judged.items()
        }
        return {
            "articles": int(here.sum()),
            "reprints": int((here & self.reprints()).sum()),
            "on_topic": {number: count for number, count in on_topic.items() if count},
        }

    def mask(self, selection: Selection) -> Mask | None:
        """The articles of *selection*, whatever it says of sites; None where that is not known.

        Raises:
            StorageError: the selection's topic was never imported.
        """
        if selection.reads_texts or selection.terms or selection.groups:
            return None
        columns = self._columns
        mask = self._judged(selection)
        for column, since, before in (
            (columns.published, selection.since, selection.before),
            (columns.fetched, selection.fetched_since, selection.fetched_before),
        ):
            if since is not None:
                mask &= column >= _microseconds(to_stored_time(since))
            if before is not None:
                mask &= column < _microseconds(to_stored_time(before))
        if selection.article_ids:
            mask &= self.among(selection.article_ids)
        if REPRINT in selection.marks:
            mask &= self.reprints()
        if UNJUDGED in selection.marks:
            judged = self._ids(Selection(selection.topic, marks=(JUDGED,)))
            if judged is None:
                return None
            mask &= ~self.among(judged)
        return self._marked(mask, selection)

    def _judged(self, selection: Selection) -> Mask:
        columns = self._columns
        here = columns.site >= 0
        wanted = selection.only_relevant or selection.only_irrelevant
        if selection.topic is None and not wanted:
            return here
        topics = list(columns.judged.values())
        if selection.topic is not None:
            topics = [columns.of_topic(topic_id(self._c, selection.topic))]
        met = np.zeros(len(here), np.bool_)
        for own in topics:
            mine = own > 0
            if selection.only_relevant:
                mine = own == _JUDGED | _ON_TOPIC
            if selection.only_irrelevant:
                mine = (own == _JUDGED) if not selection.only_relevant else np.zeros_like(mine)
            met |= mine
        return here & met

    def _marked(self, mask: Mask, selection: Selection) -> Mask | None:
        marked = Selection(
            selection.topic,
            marks=tuple(mark for mark in selection.marks if mark not in (REPRINT, UNJUDGED)),
            tags=selection.tags,
            classes=selection.classes,
            names=selection.names,
            stories=selection.stories,
        )
        if marked == Selection(selection.topic):
            return mask
        # Without the topic's verdicts, which are in the mask; of judgements the topic counts.
        ids = self._ids(marked)
        return None if ids is None else mask & self.among(ids)

    def _ids(self, selection: Selection) -> list[int] | None:
        if selection not in self._read:
            self._read[selection] = self._read_ids(selection)
        return self._read[selection]

    def _read_ids(self, selection: Selection) -> list[int] | None:
        statement = select(article.c.id).where(*indexed_conditions(self._c, selection))
        found = self._c.execute(statement.limit(MOST_MARKED + 1)).scalars().all()
        return None if len(found) > MOST_MARKED else list(found)

    def among(self, ids: Collection[int]) -> Mask:
        """Whether an article is one of *ids*."""
        mask = np.zeros(len(self._columns.site), np.bool_)
        wanted = np.fromiter(ids, np.int64, len(ids))
        mask[wanted[(wanted > 0) & (wanted < len(mask))]] = True
        return mask

    def on(self, is_chosen: Callable[[str], bool]) -> Mask:
        """Whether an article is on a site that *is_chosen*."""
        chosen = np.array([*map(is_chosen, self.sites), False], np.bool_)
        # No article has site -1, which is the last one.
        mask: Mask = chosen[self._columns.site]
        return mask

    def sites_of(self, mask: Mask) -> list[str]:
        """The sites of these articles."""
        there = np.bincount(self._columns.site[mask], minlength=len(self.sites))
        return [self.sites[int(number)] for number in np.flatnonzero(there)]

    def reprints(self) -> Mask:
        """Whether an article stands in a group for which another one stands."""
        mask: Mask = self._columns.group != np.arange(len(self._columns.group))
        return mask

    def rows(self, mask: Mask, *, folded: bool) -> int:
        """How many rows a list of these articles has."""
        if not folded:
            return int(np.count_nonzero(mask))
        alone = int(np.count_nonzero(mask & self._shared.is_alone))
        seen = np.zeros(self._shared.groups, np.bool_)
        seen[self._shared.codes[mask[self._shared.at]]] = True
        return alone + int(np.count_nonzero(seen))

    def rows_by_label(
        self, mask: Mask, labels_of_host: Mapping[str, Collection[str]], *, folded: bool
    ) -> dict[str, int]:
        """The same by each label of the articles' sites.

        Args:
            labels_of_host: of hosts; a site has those of its own and of the hosts above it.
        """

        def labels_of(host: str) -> Collection[str]:
            labels: Collection[str] = ()
            while host:
                # Most hosts have none.
                if host in labels_of_host:
                    labels = {*labels, *labels_of_host[host]}
                host = host.partition(".")[2]
            return labels

        return self._by_labels(mask, labels_of, folded=folded)

    def rows_by_site_label(
        self, mask: Mask, label_of: Callable[[str], str], *, folded: bool
    ) -> dict[str, int]:
        """The same by the one label that each site has."""
        return self._by_labels(mask, lambda site: (label_of(site),), folded=folded)

    def _by_labels(
        self, mask: Mask, labels_of: Callable[[str], Collection[str]], *, folded: bool
    ) -> dict[str, int]:
        places = self._places_of(mask, folded=folded)
        on_site = places.alone + np.bincount(places.sites, minlength=len(self.sites))
        labels: dict[str, int] = {}
        # The first label of each site, the second, and so on; -1 for none.
        levels: list[Longs] = []
        of_label: list[int] = []
        for number in np.flatnonzero(on_site):
            for level, label in enumerate(labels_of(self.sites[int(number)])):
                if level == len(levels):
                    levels.append(np.full(len(self.sites), -1, np.int64))
                own = levels[level][number] = labels.setdefault(label, len(labels))
                of_label.extend([0] * (own + 1 - len(of_label)))
                of_label[own] += 1
        # A group counts once for a label, on however many of its sites.
        is_of_several = np.array([*(count > 1 for count in of_label), False], np.bool_)
        codes = np.cumsum(is_of_several) - 1
        counts = np.zeros(len(labels), np.int64)
        pairs: list[tuple[Longs, Longs]] = []
        for label_of_site in levels:
            has_label = label_of_site >= 0
            single = has_label & ~is_of_several[label_of_site]
            counts += _added(label_of_site[single], on_site[single], len(labels))
            several = has_label & is_of_several[label_of_site]
            counts += _added(label_of_site[several], places.alone[several], len(labels))
            is_shared = several[places.sites]
            of_pairs = label_of_site[places.sites[is_shared]]
            pairs.append((codes[of_pairs], places.codes[is_shared]))
        found = _distinct(pairs, int(is_of_several.sum()), self._shared.groups)
        counts[np.flatnonzero(is_of_several[:-1])] += found
        return {label: int(counts[number]) for label, number in labels.items()}

    def _places_of(self, mask: Mask, *, folded: bool) -> _Places:
        # The same mask is asked for by one facet after the other.
        kept = self._places.get((id(mask), folded))
        if kept is None:
            kept = self._places[id(mask), folded] = mask, self._placed(mask, folded=folded)
        return kept[1]

    def _placed(self, mask: Mask, *, folded: bool) -> _Places:
        sites, count = self._columns.site, len(self.sites)
        if not folded:
            none = np.zeros(0, np.int64)
            return _Places(np.bincount(sites[mask], minlength=count), none, none)
        alone = np.bincount(sites[mask & self._shared.is_alone], minlength=count)
        is_chosen = mask[self._shared.at]
        codes = self._shared.codes[is_chosen]
        pairs = _once(sites[self._shared.at[is_chosen]] * np.int64(self._shared.groups) + codes)
        own_sites, own_codes = np.divmod(pairs, max(1, self._shared.groups))
        return _Places(alone, own_sites, own_codes)


def _once(numbers: Longs) -> Longs:
    """*numbers* in order, each once; numpy's own way, by a hash table, takes several times as
    long for numbers that are nearly all different."""
    ordered = np.sort(numbers)
    is_first = np.ones(len(ordered), np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]


def _added(labels: Longs, numbers: Longs, count: int) -> Longs:
    """The sum of *numbers* for each of so many labels."""
    return np.bincount(labels, numbers, count).astype(np.int64)


def _distinct(pairs: Sequence[tuple[Longs, Longs]], count: int, groups: int) -> Longs:
    """How many distinct groups each of so many labels has in *pairs* of both."""
    if count * groups <= _MOST_CELLS:
        seen = np.zeros((count, groups), np.bool_)
        for labels, codes in pairs:
            seen[labels, codes] = True
        return np.asarray(np.count_nonzero(seen, axis=1))
    whole = np.concatenate([labels * groups + codes for labels, codes in pairs])
    return np.asarray(np.bincount(_once(whole) // groups, minlength=count))
