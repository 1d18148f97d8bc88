"""Who may have taken a text from whom, and what speaks for it **(ours)**.

In falling order: the source line leads to that page; it names that outlet; the text credits that
outlet; the text links to that page; of all earlier texts that one is most alike. What names itself
as the source, or somebody who is not here, was taken from nobody here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

import numpy as np

from qiaocrawl.dedup.comparison import containment, read_sketch
from qiaocrawl.news.spread.publication import (
    is_nobody,
    is_own,
    is_short_for,
    known_outlets,
    outlet_of,
    plainest,
)
from qiaocrawl.text.normalise import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.news.spread.publication import Publication

# --- How alike the texts of a group are, with more weight on what only few of them have -----------

# What all have tells nothing of the way, but two texts without anything else are alike in it.
_COMMON_WEIGHT = 0.1
_AT_A_TIME = 512


def likeness(publications: Sequence[Publication]) -> NDArray[np.float64]:
    """n x n in [0, 1]: the weighted share of sentences (and the title) that two have in common.

    A sentence that few of the group have weighs more: who took a text from a copy took over that
    copy's changes. 0 for a body that is unknown.
    """
    rows = [_features(publication) for publication in publications]
    features, at, times = np.unique(
        np.concatenate([*rows, np.zeros(0, np.int64)]), return_inverse=True, return_counts=True
    )
    row_of = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    weights = np.log(len(rows) / np.maximum(times, 1.0)) + _COMMON_WEIGHT
    own = np.bincount(row_of, weights[at], minlength=len(rows))
    # What one text alone has is shared with none. The rest a part at a time: a matrix of all
    # sentences of thousands of texts does not fit into memory.
    common = np.flatnonzero(times > 1)
    places = np.full(len(features), -1)
    places[common] = np.arange(len(common))
    place = places[at]
    shared = np.zeros((len(rows), len(rows)))
    for start in range(0, len(common), _AT_A_TIME):
        part = weights[common[start : start + _AT_A_TIME]]
        inside = (place >= start) & (place < start + len(part))
        has = np.zeros((len(rows), len(part)))
        has[row_of[inside], place[inside] - start] = 1.0
        shared += (has * part) @ has.T
    np.fill_diagonal(shared, own)
    either = own[:, None] + own[None, :] - shared
    return np.asarray(np.divide(shared, either, out=np.zeros_like(shared), where=either > 0))


def _features(publication: Publication) -> NDArray[np.int64]:
    """Numbers of its sentences, and of its title above all of those."""
    sketch = read_sketch(publication.sketch)
    if sketch is None:
        return np.zeros(0, np.int64)
    title = "".join(fold(publication.title).split())
    number = int.from_bytes(blake2b(title.encode(), digest_size=4).digest(), "big") | 1 << 32
    sentences = np.unique(sketch.entries >> np.uint32(1)).astype(np.int64)
    return np.append(sentences, np.int64(number))


# --- Who may have taken a text from whom, and what speaks for it **(ours)** -----------------------

EvidenceKind = Literal["source_link", "source", "credit", "link", "text", "earlier", "later", "own"]

SURE_ABOVE = 0.5
"""Up to this certainty the way is unknown."""
_SOURCE_LINK, _SOURCE, _CREDIT, _LINK, _TEXT = 0.98, 0.95, 0.88, 0.85, 0.75
_OUTSIDE = 0.9
# A short form of a name may be meant otherwise.
_SHORT_FORM = 0.9
# A date that is wrong by minutes, and by more.
_SLIGHTLY, _CONTRADICTED = 0.95, 0.6
# Clocks differ, and pages are saved again minutes after they were published.
_SLACK = timedelta(hours=2)
_LEAST_CONTAINMENT = 0.3
_AS_ALIKE = 0.01


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that speaks for an edge.

    Args:
        value: what the page says: a name, an address, a share in percent, or seconds between.
    """

    kind: EvidenceKind
    value: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """Where a publication comes from.

    Args:
        child: its key.
        parent: the key of what it was taken from; "" if that is not here, or unknown.
        outside: the outlet it names as its source, of which nothing is here; "" for none.
        certainty: in [0, 1], by the kind of evidence; no frequency.
        alternatives: keys for which as much speaks.
    """

    child: str
    parent: str
    outside: str
    certainty: float
    evidence: tuple[Evidence, ...]
    alternatives: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether it says where the publication comes from."""
        return bool(self.parent or self.outside)


class EdgeFinder:
    """All that speaks for edges within one group."""

    def __init__(self, publications: Sequence[Publication]) -> None:
        self._all = publications
        self._windows = [publication.window for publication in publications]
        self._earliest, self._latest = (
            np.array([window[end].timestamp() for window in self._windows]) for end in (0, 1)
        )
        self._likeness: NDArray[np.float64] = likeness(publications)
        self._by_key = {publication.key: at for at, publication in enumerate(publications)}
        self._by_outlet: dict[str, list[int]] = {}
        self._by_short_form: dict[str, list[int]] = {}
        for at, publication in enumerate(publications):
            outlet = outlet_of(publication.outlet, publication.host)
            self._by_outlet.setdefault(outlet, []).append(at)
            # The host tells as well, where its name is none that is listed.
            by_host = self._by_outlet.setdefault(outlet_of("", publication.host), [])
            if at not in by_host:
                by_host.append(at)

    def proposals(self, child: int) -> Iterator[Edge]:
        """Edges that something speaks for, and one to an outlet outside."""
        own = self._all[child]
        if (at := self._by_key.get(own.source_url)) is not None and at != child:
            yield self._edge(child, at, _SOURCE_LINK, Evidence("source_link", own.source_url))
        yield from self._edges_to_outlet(child, own.source, Evidence("source", own.source), _SOURCE)
        for name in own.credits:
            yield from self._edges_to_outlet(child, name, Evidence("credit", name), _CREDIT)
        for link in own.links:
            if (at := self._by_key.get(link)) is not None and at != child:
                yield self._edge(child, at, _LINK, Evidence("link", link))
        if not self.says_own(child):
            yield from self._most_alike(child)

    def among_equals(self, edge: Edge, votes: Mapping[str, int]) -> Edge:
        """Which of several texts that are equally alike a text was taken from.

        Args:
            edge: by likeness, with alternatives.
            votes: how many others, surely, took theirs from each. The certainty is the share of
                these votes, of which each of the texts has one more (Laplace).
        """
        equal = (edge.parent, *edge.alternatives)
        parent = max(equal, key=lambda key: votes.get(key, 0))
        total = sum(votes.get(key, 0) for key in equal) + len(equal)
        others = tuple(key for key in equal if key != parent)
        places = self._by_key[edge.child], self._by_key[parent]
        share = Evidence("text", f"{self._containment(*places):.0%}")
        return self._edge(*places, (votes.get(parent, 0) + 1) / total, share, others)

    def outside(self, child: int) -> Edge | None:
        """To the outlet it names of which nothing is here; None if it names none."""
        own = self._all[child]
        named = [("source", own.source, _OUTSIDE)]
        named += [("credit", name, _OUTSIDE * _CREDIT) for name in own.credits]
        for kind, name, certainty in named:
            outlet = "" if is_nobody(name) or is_own(name) else outlet_of(name)
            if outlet and not self._of_outlet(name):
                evidence = Evidence("source" if kind == "source" else "credit", name)
                return Edge(own.key, "", outlet, certainty, (evidence,))
        return None

    def says_own(self, child: int) -> bool:
        """Whether its source line names itself."""
        own = self._all[child]
        if is_own(own.source):
            return True
        return not is_nobody(own.source) and child in self._of_outlet(own.source)

    def _of_outlet(self, name: str) -> list[int]:
        """What is here of the outlet that *name* names, in full or for short."""
        outlet = outlet_of(name)
        if outlet in self._by_outlet:
            return self._by_outlet[outlet]
        if name not in self._by_short_form:
            names = {own.outlet for own in self._all if own.outlet}
            meant = {outlet_of(known) for known in names if is_short_for(name, known)}
            # What may be short for several is none of them.
            self._by_short_form[name] = self._by_outlet[meant.pop()] if len(meant) == 1 else []
        return self._by_short_form[name]

    def _edges_to_outlet(
        self, child: int, name: str, evidence: Evidence, certainty: float
    ) -> Iterator[Edge]:
        if is_nobody(name) or is_own(name):
            return
        members = self._of_outlet(name)
        if child in members or not members:
            return
        # Of several of one outlet the one most alike, then the earliest.
        window = self._windows[child]
        best = min(
            members,
            key=lambda at: (
                not self._windows[at].may_precede(window, _SLACK),
                -round(self._likeness[child, at], 2),
                self._windows[at].latest,
                self._all[at].key,
            ),
        )
        page = plainest(self._all[best], (self._all[at] for at in members))
        best = self._by_key[page.key]
        if outlet_of(name) not in self._by_outlet:
            if self._containment(child, best) < _LEAST_CONTAINMENT:
                return
            certainty *= _SHORT_FORM
        yield self._edge(child, best, certainty, evidence)

    def _most_alike(self, child: int) -> Iterator[Edge]:
        # Likeness to those that are surely earlier; the child itself is never.
        alike = np.where(self._latest < self._earliest[child], self._likeness[child], 0.0)
        best = float(alike.max())
        is_equal = alike >= best - _AS_ALIKE
        # One that names its day only may be the earliest of all.
        is_equal |= (self._likeness[child] >= best - _AS_ALIKE) & (
            self._earliest <= self._earliest[is_equal].min()
        )
        is_equal[child] = False
        equal = [int(at) for at in np.flatnonzero(is_equal)]
        equal.sort(key=lambda at: (self._latest[at], self._all[at].key))
        if not best or self._containment(child, equal[0]) < _LEAST_CONTAINMENT:
            return
        first, others = equal[0], tuple(self._all[at].key for at in equal[1:])
        share = Evidence("text", f"{self._containment(child, first):.0%}")
        yield self._edge(child, first, _TEXT if not others else 0.0, share, others)

    def _containment(self, child: int, at: int) -> float:
        return containment(self._all[child].sketch, self._all[at].sketch)

    def _edge(
        self,
        child: int,
        parent: int,
        certainty: float,
        evidence: Evidence,
        alternatives: tuple[str, ...] = (),
    ) -> Edge:
        """With what texts and times add."""
        facts = [evidence]
        share = self._containment(child, parent)
        if evidence.kind != "text" and share >= _LEAST_CONTAINMENT:
            facts.append(Evidence("text", f"{share:.0%}"))
        own, other = self._windows[child], self._windows[parent]
        if other.surely_before(own):
            seconds = (own.earliest - other.latest).total_seconds()
            facts.append(Evidence("earlier", f"{seconds:.0f}"))
        elif not other.may_precede(own):
            seconds = (other.earliest - own.latest).total_seconds()
            facts.append(Evidence("later", f"{seconds:.0f}"))
            certainty *= _SLIGHTLY if other.may_precede(own, _SLACK) else _CONTRADICTED
        keys = self._all[child].key, self._all[parent].key
        return Edge(keys[0], keys[1], "", certainty, tuple(facts), alternatives)


# --- Whom a text says it was taken from: datelines (新华社北京3月5日电), 据…报道, 转自… ---------

_HEAD_CHARS, _TAIL_CHARS = 400, 200
_NAME = r"[《“\"]?([\w·]{2,16}?)[》”\"]?"
# After folding: ( ) : , are the ASCII signs.
_DATELINE = re.compile(r"(?:^|[\s()【】\]])([\w·]{2,24}?)\d{1,2}月\d{1,2}日(?:专)?[电電讯訊]")
_REPORTED = re.compile(
    rf"据(?:悉,)?{_NAME}(?:网站|客户端|微信公众号|微博)?(?:\d{{1,4}}年)?(?:\d{{1,2}}月)?(?:\d{{1,2}}日)?"
    r"(?:消息|报道|報道|援引|引述)"
)
_TAKEN = re.compile(
    # 客源来源地更加多样 names nobody: 来源 is a label with a colon or space.
    rf"(?:(?:转载自|转自|轉載自|摘自|原载于?)[::]?|(?:来源|來源|稿源)(?::|\s))\s*{_NAME}"
    r"(?=[\s)）】\],。;|]|$)"
)
# 据外媒报道, 据有关部门消息: nobody by name.
_NO_NAME = re.compile(
    r"(?:有关|相关|当地|多家|外国|海外|国内|上述|另有?|各|主流)*(?:[外港台官英美日法]媒|媒体|传媒|方面|部门|了解|介绍|统计)"
)


def credits_in(text: str) -> tuple[str, ...]:
    """Names that the beginning or the end of *text* credits, each once, in their order.

    >>> credits_in("新华社北京3月5日电（记者张三）据《联合早报》报道，……")
    ('新华社', '联合早报')
    """
    folded = fold(text)
    head, tail = folded[:_HEAD_CHARS], folded[_HEAD_CHARS:][-_TAIL_CHARS:]
    names = [*_datelines(head[:_TAIL_CHARS]), *_source_names(head), *_source_names(tail)]
    return tuple(dict.fromkeys(name for name in names if not is_nobody(name) and not is_own(name)))


def _datelines(head: str) -> Iterator[str]:
    """Outlets that stand before a place and a date; where the name ends only a list can tell."""
    for match in _DATELINE.finditer(head):
        name = next((name for name in _longest_first() if match[1].startswith(name)), "")
        if name:
            yield name


def _source_names(part: str) -> Iterator[str]:
    for pattern in (_REPORTED, _TAKEN):
        for match in pattern.finditer(part):
            if not _NO_NAME.fullmatch(match[1]):
                yield match[1]


@cache
def _longest_first() -> tuple[str, ...]:
    return tuple(sorted(known_outlets(), key=lambda name: (-len(name), name)))
