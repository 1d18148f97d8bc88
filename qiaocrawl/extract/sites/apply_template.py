"""Applies what was learnt of a site to one of its pages.

Everything here is **ours**. A body loses the blocks that its site repeats; those that stand
where the site's articles stand become likelier, others less so. The page has the last word:
when the template would take away most of a body, it is not followed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.sites.element_paths import containers_of, element_path_at
from qiaocrawl.extract.sites.site_template import SiteTemplate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qiaocrawl.page.blocks import Element
    from qiaocrawl.page.page import Page

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
    repeated = _repeated(template, page)
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


def _repeated(template: SiteTemplate, page: Page) -> dict[int, bool]:
    """The blocks of *page* that its site repeats, and whether it does on nearly all articles.

    An article's own parts are left out.
    """
    repeating, often = template.repeated
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
        rest = _trimmed(
            [repeated.get(index) for index in body.blocks],
            [blocks[index].text for index in body.blocks],
        )
        chosen = tuple(body.blocks[at] for at in rest)
        return replace(body, text="\n".join(blocks[at].text for at in chosen), blocks=chosen)
    texts = {blocks[index].text: often for index, often in repeated.items()}
    lines = body.text.split("\n")
    rest = _trimmed([texts.get(line) for line in lines], lines)
    return replace(body, text="\n".join(lines[at] for at in rest))


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
    return len("".join(text.split()))
