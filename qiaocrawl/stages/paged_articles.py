"""Paged articles in a crawl: with each part the article is rebuilt from all stored parts.

Three steps: the part is stored by itself; what is stored of its article is joined and judged
in a worker process; the part's row is closed and the whole article written in one transaction,
provided that no other part came meanwhile, else the second step is done again. A kill in
between leaves the row open, and its stored page goes through the same steps once more.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sqlalchemy import Connection

from qiaocrawl.dedup.fingerprints import BodyFingerprints, body_fingerprints
from qiaocrawl.errors import ExtractionError
from qiaocrawl.items import Lease, PageAnalysis, Verdict
from qiaocrawl.items.article import PartText
from qiaocrawl.stages.analysis_setup import JoinedText
from qiaocrawl.storage import frontier
from qiaocrawl.storage.pages.article_parts import (
    PartGroup,
    load_group,
    place_article,
    save_part,
    update_part_outcomes,
)
from qiaocrawl.urls import url_key

logger = logging.getLogger(__name__)

Join = Callable[[str, Sequence[PartText]], Awaitable[JoinedText]]
"""Joins the texts of an article's parts under its title, in a worker process."""


class SaveArticle(Protocol):
    """Writes an article with all that is known of it; returns how it relates to others."""

    def __call__(  # noqa: D102
        self, c: Connection, url_id: int, analysis: PageAnalysis, *, anchor: str
    ) -> Verdict | None: ...


@dataclass(frozen=True, slots=True)
class AssembledArticle:
    """What the parts in *group* make: the analysis of the whole article, None for no article."""

    group: PartGroup
    analysis: PageAnalysis | None


def add_part(c: Connection, lease: Lease, analysis: PageAnalysis) -> PartGroup | None:
    """Store a leased page as a part; returns all stored parts of its article.

    Returns:
        None when the lease was lost; nothing is written then.
    """
    # Checked before anything is written: save_part() has no fence of its own.
    if not frontier.is_mine(c, lease):
        return None
    save_part(c, lease.url_id, analysis)
    assert analysis.part is not None
    return load_group(c, url_key(analysis.part.urls[0]))


async def assemble_article(group: PartGroup, own: PageAnalysis, join: Join) -> AssembledArticle:
    """The whole article of *group*, which the page of *own* belongs to.

    Texts that cannot be joined in the time a page has leave the article with its first part's.

    Raises:
        CancelledError: the crawl is stopping.
    """
    if not group.is_article:
        return AssembledArticle(group, None)
    # The part has been analysed already; joining one text would only repeat it.
    if len(group.parts) == 1:
        return head_alone(group, own)
    try:
        return assembled_of(group, await join(group.title, group.texts))
    except ExtractionError as error:
        logger.warning("the parts of %s stay apart: %s", group.head.first_url, error)
        return head_alone(group, None)


def head_alone(group: PartGroup, own: PageAnalysis | None) -> AssembledArticle:
    """The head of *group* without the texts of the others.

    Args:
        own: its analysis; None leaves the article's relevance as it is.
    """
    analysis = group.head.analysis
    assert analysis.article is not None
    if own is None:
        prints = body_fingerprints(analysis.article.text)
    else:
        prints = BodyFingerprints(own.body_digest, own.body_simhash, own.body_sketch)
    return AssembledArticle(group, replace(
        analysis,
        body_digest=prints.digest,
        body_simhash=prints.simhash,
        body_sketch=prints.sketch,
        relevance=own.relevance if own else (),
    ))  # fmt: skip


def assembled_of(group: PartGroup, joined: JoinedText) -> AssembledArticle:
    """The article of *group* with the *joined* text: all else is said by its head."""
    analysis = group.head.analysis
    assert analysis.article is not None
    return AssembledArticle(group, replace(
        analysis,
        article=replace(analysis.article, text=joined.text, html=joined.html),
        body_digest=joined.body_digest,
        body_simhash=joined.body_simhash,
        body_sketch=joined.body_sketch,
        relevance=joined.relevance,
    ))  # fmt: skip


def save_assembled(
    c: Connection, whole: AssembledArticle, save_article: SaveArticle, *,
    own_url_id: int | None = None,
) -> Verdict | None:  # fmt: skip
    """Write the article where it belongs, and the state of its parts.

    Args:
        own_url_id: of the part whose row is closed in this transaction.

    Returns:
        How the article relates to others; None if there is none.
    """
    group = whole.group
    # First: the article may have to move before it is written at its new place.
    place_article(c, group)
    update_part_outcomes(c, group, own_url_id)
    if whole.analysis is None:
        return None
    return save_article(c, group.head.url_id, whole.analysis, anchor=group.head.anchor)
