"""Using what is known of a site on one of its pages, and what the page tells of its site.

Everything here is **ours**. A body loses the blocks that its site repeats; those that stand
where the site's articles stand become likelier, others less so. The page has the last word:
when the template would take away most of a body, it is not followed.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.site_template import START, SiteTemplate
from qiaocrawl.extract.surroundings import body_span
from qiaocrawl.extract.title import title_pieces
from qiaocrawl.items import SiteObservation
from qiaocrawl.page.digests import place_of
from qiaocrawl.text import fold
from qiaocrawl.urls import canonical_host, canonical_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qiaocrawl.page import Page
    from qiaocrawl.page.blocks import Element

_LEAST_LEFT_CHARS = 40
_MOST_LEFT_OUT = 0.5
"""Less text than the one, or a greater share gone than the other: the page disagrees."""
_SHORT_CHARS = 16
"""A shorter block between two of the body may be a heading (总结) that articles share."""
_HELD = 0.8
"""An element that holds such a share of a body's characters is its holder."""
_SURER = 0.3
"""The part of its doubt that a body loses when it stands where the site's articles stand."""
_CONTENT = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "pre", "code", "table", "td", "th", "dt"))
"""What recurs in these is an article's own: a heading, a line of code, a cell."""
_NO_HOLDER = frozenset(
    ("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ul", "ol", "dl", "dt", "dd", "blockquote",
     "pre", "figure", "figcaption", "table", "tbody", "tr", "address")
)  # fmt: skip
"""Parts of an article: its holder stands around them."""
_MAX_AROUND = 12
"""Elements around a body that are compared with the known places."""
_MAX_SPANS = 8
_PLACE_SCORE = 0.6
"""How sure a body is that was taken for its place alone."""
_MAX_NAMES = 4
_MAX_NAME_CHARS = 40
_MAX_PLACE_CHARS = 200


@dataclass(frozen=True, slots=True)
class SiteReading:
    """A body after the template of its site was held against it.

    Attributes:
        body: what is left, or the body as it was.
        place: where the template expects the bodies of articles, and where this one stood;
            "" when it stood elsewhere.
        disagrees: whether the template would have taken it away, and was not followed.
        left_out: blocks (for a method without blocks: lines) left out.
    """

    body: Body
    place: str = ""
    disagrees: bool = False
    left_out: int = 0


def apply_template(template: SiteTemplate, page: Page, body: Body) -> SiteReading:
    """*body* of *page* without what the site repeats.

    The judgement of every block that repeats becomes 0. A block goes when a run of such blocks
    reaches from it to either end of the body, or when it is no short one.
    """
    if not body.text:
        return SiteReading(body)
    place = _expected_place(template, page, body)
    if place:
        body = replace(body, score=body.score + _SURER * (1.0 - body.score))
    repeated = _repeated(template, page)
    if not repeated:
        return SiteReading(body, place)
    left = _without(page, body, repeated)
    before, after = _size(body.text), _size(left.text)
    if after < before and (
        after < _LEAST_LEFT_CHARS or before - after > _MOST_LEFT_OUT * before
    ):
        return _from_place(template, page, body, repeated) or SiteReading(
            body, place, disagrees=True
        )
    if body.judged:
        judged = list(body.judged)
        for index in repeated:
            judged[index] = 0.0
        left = replace(left, judged=tuple(judged))
    count = body.text.count("\n") - left.text.count("\n")
    if count:
        reason = f"{body.reason}; {count} repeated blocks left out by what the site repeats"
        left = replace(left, reason=reason)
    return SiteReading(left, place, left_out=count)


def _from_place(
    template: SiteTemplate, page: Page, body: Body, repeated: Mapping[int, bool]
) -> SiteReading | None:
    """The text where the site's articles stand, for a body that nearly all repeats.

    None when there is no such place, or nothing but links and repetition in it.
    """
    blocks, elements = page.blocks.blocks, page.blocks.elements
    for place in template.holder_places:
        spans = [
            (element.first, element.end) for at, element in enumerate(elements)
            if element.end > element.first and place_of(elements, at)[:_MAX_PLACE_CHARS] == place
        ]
        for first, end in spans[:_MAX_SPANS]:
            taken = tuple(
                index for index in range(first, end)
                if index not in repeated and 2 * blocks[index].linked < len(blocks[index].text)
            )
            text = "\n".join(blocks[index].text for index in taken)
            if _size(text) >= _LEAST_LEFT_CHARS:
                reason = f"{body.reason}; the site repeats it, so what stands in {place} is taken"
                return SiteReading(
                    Body(text, _PLACE_SCORE, reason, taken, body.judged), place,
                    left_out=len(body.blocks) or body.text.count("\n") + 1,
                )
    return None


def observation_of(page: Page, title: str, reading: SiteReading) -> SiteObservation | None:
    """What *page*, an article called *title*, tells about its site; None without a URL."""
    url = canonical_url(page.url)
    if url is None:
        return None
    return SiteObservation(
        host=canonical_host(url),
        url=_digest(url),
        title=_digest(fold(title or page.title)),
        blocks=np.unique(page.block_digests).astype("<u8").tobytes(),
        # Where the body is nothing but repetition, it stands in no good place.
        place="" if reading.disagrees else reading.place or _place(page, reading.body),
        names=_names(page.title),
        agrees=bool(reading.place),
        disagrees=reading.disagrees,
        left_out=reading.left_out,
    )


def _repeated(template: SiteTemplate, page: Page) -> dict[int, bool]:
    """The blocks of *page* that its site repeats, and whether it does on nearly all articles.

    An article's own parts are left out.
    """
    known, often = template.repeated
    digests = page.block_digests
    if not len(known) or not len(digests):
        return {}
    at = np.minimum(np.searchsorted(known, digests), len(known) - 1)
    blocks, elements = page.blocks.blocks, page.blocks.elements
    return {
        int(index): bool(often[at[index]]) for index in np.flatnonzero(known[at] == digests)
        if not _is_content(elements, blocks[index].element)
    }


def _is_content(elements: Sequence[Element], at: int) -> bool:
    """Whether the block in the element *at* is a heading, a line of code or a cell."""
    around = elements[at].parent
    return elements[at].tag in _CONTENT or (around >= 0 and elements[around].tag in _CONTENT)


def _without(page: Page, body: Body, repeated: Mapping[int, bool]) -> Body:
    blocks = page.blocks.blocks
    if body.blocks:
        kept = _trimmed([repeated.get(index) for index in body.blocks],
                        [blocks[index].text for index in body.blocks])
        taken = tuple(body.blocks[at] for at in kept)
        return replace(body, text="\n".join(blocks[at].text for at in taken), blocks=taken)
    texts = {blocks[index].text: often for index, often in repeated.items()}
    lines = body.text.split("\n")
    kept = _trimmed([texts.get(line) for line in lines], lines)
    return replace(body, text="\n".join(lines[at] for at in kept))


def _trimmed(often: Sequence[bool | None], texts: Sequence[str]) -> list[int]:
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
        at for at in range(unique[0], unique[-1] + 1)
        if not often[at] or len(texts[at]) < _SHORT_CHARS
    ]


def _expected_place(template: SiteTemplate, page: Page, body: Body) -> str:
    """The known place around *body*; "" when it stands in none of them."""
    known = template.holder_places
    if not known:
        return ""
    elements = page.blocks.elements
    places = (place_of(elements, at)[:_MAX_PLACE_CHARS] for at in _holders(page, body))
    return next((place for place in places if place in known), "")


def _place(page: Page, body: Body) -> str:
    """Where *body* stands: the innermost element around it that is no part of an article."""
    elements = page.blocks.elements
    for at in _holders(page, body):
        if elements[at].tag not in _NO_HOLDER:
            return place_of(elements, at)[:_MAX_PLACE_CHARS]
    return ""


def _holders(page: Page, body: Body) -> Sequence[int]:
    """The elements that hold nearly all of *body*, innermost first, at most some around."""
    found = page.blocks
    first, last = body_span(page, body)
    if first < 0:
        return ()
    taken = body.blocks or range(first, last + 1)
    sums = [0, *accumulate(len(found.blocks[index].text) for index in taken)]
    longest = max(taken, key=lambda index: len(found.blocks[index].text))
    holders: list[int] = []
    for at in found.path(found.blocks[longest].element):
        element = found.elements[at]
        inside = sums[bisect_left(taken, element.end)] - sums[bisect_left(taken, element.first)]
        if inside >= _HELD * sums[-1]:
            holders.append(at)
            if len(holders) == _MAX_AROUND:
                break
    return holders


def _names(title: str) -> tuple[str, ...]:
    """The pieces of ``<title>`` that may be names: the last ones, and the first one marked."""
    pieces = [piece.strip().lower() for piece in title_pieces(title)]
    if len(pieces) < 2:
        return ()
    names = [*pieces[1:][-_MAX_NAMES:], START + pieces[0]]
    return tuple(name for name in dict.fromkeys(names) if 1 < len(name) <= _MAX_NAME_CHARS)


def _size(text: str) -> int:
    """Characters of *text*, white space apart."""
    return len("".join(text.split()))


def _digest(text: str) -> int:
    return crc32(text.encode("utf-8", "replace"))
