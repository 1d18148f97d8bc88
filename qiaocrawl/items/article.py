"""An article as it is stored, and its parts; plain values, as :mod:`qiaocrawl.items`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

# --- Records that travel between processes, made cheap to pickle ----------------------------------

T = TypeVar("T")


def travelling(cls: type[T]) -> type[T]:
    """Class decorator above ``@dataclass(frozen=True, slots=True)``: pickled at half the cost.

    What ``dataclasses`` gives such a class asks for its fields anew for every record, in Python;
    a page has dozens of links, and each is packed in a worker and unpacked by the crawl. Here the
    fields are known, and slots are filled by their own descriptors.
    """
    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    # With one name attrgetter gives the value itself, which would be no state.
    assert len(names) > 1, f"{cls.__name__} has a single field"
    state: Callable[[Any], Sequence[Any]] = attrgetter(*names)
    fill = [getattr(cls, name).__set__ for name in names]

    def getstate(self: Any) -> Sequence[Any]:
        return state(self)

    def setstate(self: Any, values: Sequence[Any]) -> None:
        for put, value in zip(fill, values, strict=True):
            put(self, value)

    cls.__getstate__ = getstate  # type: ignore[method-assign]
    cls.__setstate__ = setstate  # type: ignore[attr-defined]
    return cls


ARTICLE, DOCUMENT = "article", "document"
"""Kinds of articles: pages, and files such as PDF."""


# --- An article as it is stored, and its parts; plain values, as :mod:`qiaocrawl.items` -----------


class Comment(NamedTuple):
    """What a reader said of an article; ``author`` is "" and the time None where not plain."""

    author: str
    published_at: datetime | None
    text: str


@travelling
@dataclass(frozen=True, slots=True)
class Article:
    """Page attributes (Q7, E6). ``text`` is the body, a paragraph a line, no title line.

    ``html`` is the same with its structure; see :mod:`qiaocrawl.extract.structure.html`.
    ``engagement`` are counts by name; see :mod:`qiaocrawl.extract.fields.declared`.
    ``modified_at`` is when its page says it was last changed.
    """

    url: str
    title: str
    text: str
    published_at: datetime | None = None
    author: str = ""
    source: str = ""
    channel: str = ""
    keywords: str = ""
    description: str = ""
    language: str = ""
    method: str = ""
    html: str = ""
    engagement: Mapping[str, int] = field(default_factory=dict)
    comments: tuple[Comment, ...] = ()
    kind: str = ARTICLE
    modified_at: datetime | None = None


class PartText(NamedTuple):
    """What the joined article takes from one of its parts; see :class:`Article`."""

    text: str
    html: str = ""


@travelling
@dataclass(frozen=True, slots=True)
class ArticlePart:
    """Where a page stands among the parts of a paged article.

    Attributes:
        number: of this part, from 1.
        urls: canonical URLs of all parts its pager names, in order; the first of them is the
            address of the whole article.
        reads_alone: whether this page alone would be taken for an article.
    """

    number: int
    urls: tuple[str, ...]
    reads_alone: bool = True
