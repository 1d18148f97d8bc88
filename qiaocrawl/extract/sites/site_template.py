"""What is known of a site **(ours)**: repeated blocks, where bodies stand; applied to its pages.

A :class:`SiteTemplate` is the knowledge, plain data that goes to worker processes and into the
database. :mod:`~qiaocrawl.extract.sites.boilerplate_model` gathers it, and
:mod:`~qiaocrawl.extract.sites.site_template` uses it on a page.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.fields.body_context import body_span
from qiaocrawl.page.blocks import element_path
from qiaocrawl.text.normalise import without_blanks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from qiaocrawl.page.blocks import Element
    from qiaocrawl.page.page import Page

VERSION = 1
"""Of the digests and of what a template holds; others are not read but learnt anew."""
MIN_PAGES = 5
"""Articles of a site before anything is believed of it."""
_LEAST_PAGES = 5
_LEAST_SHARE = 0.3
"""A block repeats when it stood on so many articles and on such a share of them."""
_MANY_PAGES = 6
_MANY_SHARE = 0.6
"""From so many on it stands on nearly all: a paragraph of its own is none, wherever it is."""
_LEAST_PLACE_SHARE = 0.1
"""Bodies are expected where they stood on such a share of the articles."""
_LEAST_NAME_SHARE = 0.05
"""What ends titles is a name (of the site, of a channel) from such a share of them."""
_LEAST_START_SHARE = 0.5
"""The same for what begins titles: a series (第一章 …) has one beginning too."""
START = "^"
"""Marks, in :attr:`SiteTemplate.names`, what stood at the beginning of titles."""
WHOLE = "="
"""Marks there what was the whole ``<title>`` of articles."""


def name_of(text: str) -> str:
    """One of :attr:`SiteTemplate.names` without its mark."""
    return text[1:] if text.startswith((START, WHOLE)) else text


@dataclass(frozen=True)
class SiteTemplate:
    """What was learnt from the articles of one host.

    All counts are of different articles and fade: they are halved now and then.

    Attributes:
        host: as in canonical URLs.
        pages: articles behind it.
        blocks: digests (see :mod:`qiaocrawl.page.blocks`) of blocks that came more than
            once, 8 bytes each, ascending, in the order of this machine's little end.
        counts: on how many articles each of them stood, 2 bytes each.
        places: (place, count) of the elements that held bodies, most frequent first.
        names: (lower-case text, count) of what ended ``<title>``; with :data:`START` in front,
            what began it, with :data:`WHOLE` all of it.
        redesigns: how often the site was found to be built otherwise than before.
        disagreements: how often a page would have lost its body to the template.
        seen: 4 bytes of the URLs of the last articles.
    """

    host: str
    pages: int
    blocks: bytes = b""
    counts: bytes = b""
    places: tuple[tuple[str, int], ...] = ()
    names: tuple[tuple[str, int], ...] = ()
    redesigns: int = 0
    disagreements: int = 0
    seen: bytes = b""

    @cached_property
    def repeated_blocks(self) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Digests of the blocks that repeat, ascending, and whether on nearly all articles."""
        digests, counts = self.known_blocks
        repeat = counts >= max(_LEAST_PAGES, _LEAST_SHARE * self.pages)
        return digests[repeat], counts[repeat] >= max(_MANY_PAGES, _MANY_SHARE * self.pages)

    @property
    def known_blocks(self) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
        """Digests of all blocks, ascending, with their counts; not to be changed."""
        return np.frombuffer(self.blocks, "<u8"), np.frombuffer(self.counts, "<u2")

    @property
    def body_places(self) -> tuple[str, ...]:
        """Where bodies stand on this site, the most frequent place first."""
        least = max(_LEAST_PAGES, _LEAST_PLACE_SHARE * self.pages)
        return tuple(place for place, count in self.places if count >= least and place != "body")

    @property
    def site_names(self) -> frozenset[str]:
        """What the site adds to its titles, lower case."""
        return frozenset(
            name_of(text)
            for text, count in self.names
            if count >= _LEAST_PAGES
            and count
            >= self.pages * (_LEAST_START_SHARE if text.startswith(START) else _LEAST_NAME_SHARE)
        )

    def to_dict(self) -> dict[str, Any]:
        """As values that JSON knows; at most some 20 KB of it."""
        return {
            "version": VERSION,
            "host": self.host,
            "pages": self.pages,
            "blocks": b64encode(self.blocks).decode(),
            "counts": b64encode(self.counts).decode(),
            "places": [list(entry) for entry in self.places],
            "names": [list(entry) for entry in self.names],
            "redesigns": self.redesigns,
            "disagreements": self.disagreements,
            "seen": b64encode(self.seen).decode(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SiteTemplate | None:
        """The template that :meth:`to_dict` gave; None for another version's or a damaged one.

        What cannot be read is learnt again from a few pages, so it is no error.
        """
        if values.get("version") != VERSION:
            return None
        try:
            template = cls(
                host=str(values["host"]),
                pages=int(values["pages"]),
                blocks=b64decode(values["blocks"]),
                counts=b64decode(values["counts"]),
                places=_text_counts(values["places"]),
                names=_text_counts(values["names"]),
                redesigns=int(values["redesigns"]),
                disagreements=int(values["disagreements"]),
                seen=b64decode(values["seen"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            return None
        return template if template._is_whole else None

    @property
    def _is_whole(self) -> bool:
        numbers = [self.pages, self.redesigns, self.disagreements]
        numbers += [count for _, count in (*self.places, *self.names)]
        return (
            all(0 <= number < 2**31 for number in numbers)
            and len(self.blocks) % 8 == 0
            and len(self.blocks) == 4 * len(self.counts)
            and len(self.seen) % 4 == 0
            and bool(np.all(self.known_blocks[0][:-1] < self.known_blocks[0][1:]))
        )


def _text_counts(values: Any) -> tuple[tuple[str, int], ...]:
    return tuple((str(text), int(count)) for text, count in values)


# --- The place of a body on its page: the elements that contain it, and their paths ---------------

_HELD = 0.8
"""An element that holds such a share of a body's characters is its holder **(ours)**."""
_ARTICLE_PARTS = frozenset(
    (
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "li",
        "ul",
        "ol",
        "dl",
        "dt",
        "dd",
        "blockquote",
        "pre",
        "figure",
        "figcaption",
        "table",
        "tbody",
        "tr",
        "address",
    )
)
"""Parts of an article: its holder stands around them."""
_MAX_AROUND = 12
_MAX_PLACE_CHARS = 200


def containers_of(page: Page, body: Body) -> Sequence[int]:
    """The elements that hold nearly all of *body*, innermost first, at most 12 of them."""
    page_blocks = page.blocks
    first, last = body_span(page, body)
    if first < 0:
        return ()
    indexes = body.blocks or range(first, last + 1)
    sums = [0, *accumulate(len(page_blocks.blocks[index].text) for index in indexes)]
    # The longest block lies in the body for certain, so its ancestors are the candidates.
    longest = max(indexes, key=lambda index: len(page_blocks.blocks[index].text))
    containers: list[int] = []
    for at in page_blocks.path(page_blocks.blocks[longest].element):
        element = page_blocks.elements[at]
        inside = sums[bisect_left(indexes, element.end)] - sums[bisect_left(indexes, element.first)]
        if inside >= _HELD * sums[-1]:
            containers.append(at)
            if len(containers) == _MAX_AROUND:
                break
    return containers


def body_place(page: Page, body: Body) -> str:
    """Where *body* stands: the innermost element around it that is no part of an article.

    "" when nothing holds the body.
    """
    for at in containers_of(page, body):
        if page.blocks.elements[at].tag not in _ARTICLE_PARTS:
            return element_path_at(page, at)
    return ""


def element_path_at(page: Page, at: int) -> str:
    """Where the element *at* of *page* stands."""
    return element_path(page.blocks.elements, at)[:_MAX_PLACE_CHARS]


# --- Applies what was learnt of a site to one of its pages ----------------------------------------
# Everything here is **ours**. A body loses the blocks that its site repeats; those that stand
# where the site's articles stand become likelier, others less so. The page has the last word:
# when the template would take away most of a body, it is not followed.

_LEAST_LEFT_CHARS = 40
_MOST_LEFT_OUT = 0.5
"""Less text than the one, or a greater share gone than the other: the page contradicts."""
_SHORT_CHARS = 16
"""A shorter block between two of the body may be a heading (总结) that articles share."""
_SURE = 0.7
"""A block that is judged higher stays wherever it stands."""
_SURER = 0.3
"""The part of its doubt that a body loses when it stands where the site's articles stand."""
_CONTENT = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "pre", "code", "table", "td", "th", "dt"))
"""What recurs in these is an article's own: a heading, a line of code, a cell."""
_MAX_SPANS = 8
_PLACE_SCORE = 0.6
"""How sure a body is that was taken for its place alone."""


@dataclass(frozen=True, slots=True)
class TemplateMatch:
    """A body after the template of its site was applied.

    Attributes:
        body: what is left, or the body as it was.
        place: where the template expects the bodies of articles, and where this one stood;
            "" when it stood elsewhere.
        contradicts: whether the template would have taken it away, and was not followed.
        left_out: blocks (for a method without blocks: lines) left out.
    """

    body: Body
    place: str = ""
    contradicts: bool = False
    left_out: int = 0


def apply_template(template: SiteTemplate, page: Page, body: Body) -> TemplateMatch:
    """*body* of *page* without what the site repeats.

    The judgement of every block that repeats becomes 0. A repeated block at either end of the
    body goes, and between others one that is no short line and stands on nearly all articles.
    When the body stands where those of the site do, it is surer, and blocks elsewhere whose
    judgement is moderate go. Adding moderate ones inside that place was tried and cost more
    than it gave.
    """
    if not body.text:
        return TemplateMatch(body)
    at = _expected_container(template, page, body)
    place = element_path_at(page, at) if at >= 0 else ""
    if place:
        body = replace(body, score=body.score + _SURER * (1.0 - body.score))
    repeated = _repeated_blocks(template, page)
    left = _without(page, body, repeated)
    before, after = _size(body.text), _size(left.text)
    if after < before and (after < _LEAST_LEFT_CHARS or before - after > _MOST_LEFT_OUT * before):
        # A body in the known place is the article, however much of it others have copied.
        other = None if place else _from_place(template, page, body, repeated)
        return other or TemplateMatch(body, place, contradicts=True)
    if body.judged:
        judged = list(body.judged)
        for index in repeated:
            judged[index] = 0.0
        left = replace(left, judged=tuple(judged))
    lines = body.text.count("\n")
    reasons = [body.reason]
    if again := lines - left.text.count("\n"):
        reasons.append(f"{again} repeated blocks left out by what the site repeats")
    if place:
        left = _inside(page, left, page.blocks.elements[at])
        if elsewhere := lines - again - left.text.count("\n"):
            reasons.append(f"{elsewhere} left out since the site's articles stand in {place}")
    left = replace(left, reason="; ".join(reasons))
    return TemplateMatch(left, place, left_out=lines - left.text.count("\n"))


def _inside(page: Page, body: Body, container: Element) -> Body:
    """*body* without its moderately judged blocks outside of *container*."""
    if not (body.blocks and body.judged) or (
        container.first <= body.blocks[0] <= body.blocks[-1] < container.end
    ):
        return body
    chosen = tuple(
        index
        for index in body.blocks
        if container.first <= index < container.end or body.judged[index] >= _SURE
    )
    return replace(
        body, text="\n".join(page.blocks.blocks[index].text for index in chosen), blocks=chosen
    )


def _from_place(
    template: SiteTemplate, page: Page, body: Body, repeated: Mapping[int, bool]
) -> TemplateMatch | None:
    """The text where the site's articles stand, for a body that nearly all repeats.

    None when there is no such place, or nothing but links and repetition in it.
    """
    blocks, elements = page.blocks.blocks, page.blocks.elements
    for place in template.body_places:
        spans = [
            (element.first, element.end)
            for at, element in enumerate(elements)
            if element.end > element.first and element_path_at(page, at) == place
        ]
        for first, end in spans[:_MAX_SPANS]:
            chosen = tuple(
                index
                for index in range(first, end)
                if index not in repeated and 2 * blocks[index].linked < len(blocks[index].text)
            )
            text = "\n".join(blocks[index].text for index in chosen)
            if _size(text) >= _LEAST_LEFT_CHARS:
                reason = f"{body.reason}; the site repeats it, so what stands in {place} is taken"
                return TemplateMatch(
                    Body(text, _PLACE_SCORE, reason, chosen, body.judged),
                    place,
                    left_out=len(body.blocks) or body.text.count("\n") + 1,
                )
    return None


def _repeated_blocks(template: SiteTemplate, page: Page) -> dict[int, bool]:
    """The blocks of *page* that its site repeats, and whether it does on nearly all articles.

    An article's own parts are left out.
    """
    repeating, often = template.repeated_blocks
    digests = page.block_digests
    if not len(repeating) or not len(digests):
        return {}
    at = np.minimum(np.searchsorted(repeating, digests), len(repeating) - 1)
    blocks, elements = page.blocks.blocks, page.blocks.elements
    return {
        int(index): bool(often[at[index]])
        for index in np.flatnonzero(repeating[at] == digests)
        if not _is_content(elements, blocks[index].element)
    }


def _is_content(elements: Sequence[Element], at: int) -> bool:
    """Whether the block in the element *at* is a heading, a line of code or a cell."""
    around = elements[at].parent
    return elements[at].tag in _CONTENT or (around >= 0 and elements[around].tag in _CONTENT)


def _without(page: Page, body: Body, repeated: Mapping[int, bool]) -> Body:
    blocks = page.blocks.blocks
    if body.blocks:
        rest = _trim_texts(
            [repeated.get(index) for index in body.blocks],
            [blocks[index].text for index in body.blocks],
        )
        chosen = tuple(body.blocks[at] for at in rest)
        return replace(body, text="\n".join(blocks[at].text for at in chosen), blocks=chosen)
    texts = {blocks[index].text: often for index, often in repeated.items()}
    lines = body.text.split("\n")
    rest = _trim_texts([texts.get(line) for line in lines], lines)
    return replace(body, text="\n".join(lines[at] for at in rest))


def _trim_texts(often: Sequence[bool | None], texts: Sequence[str]) -> list[int]:
    """What is kept of *texts*.

    What repeats goes at both ends; between them only what is no short line and stands on
    nearly all articles, since a site's writers repeat themselves too.

    Args:
        often: of each text: None when it does not repeat, True when nearly everywhere.
    """
    unique = [at for at, repeats in enumerate(often) if repeats is None]
    if not unique:
        return []
    return [
        at
        for at in range(unique[0], unique[-1] + 1)
        if not often[at] or len(texts[at]) < _SHORT_CHARS
    ]


def _expected_container(template: SiteTemplate, page: Page, body: Body) -> int:
    """The element of a known place around *body*; -1 when it stands in none of them."""
    places = template.body_places
    if not places:
        return -1
    return next((at for at in containers_of(page, body) if element_path_at(page, at) in places), -1)


def _size(text: str) -> int:
    """Characters of *text*, white space apart."""
    return len(without_blanks(text))
