"""The spread of a stored article: its reprints, and what of its story hangs together with them."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from qiaocrawl.analysis.spread.tree import SpreadTree, spread_tree
from qiaocrawl.storage.analysis.publications import publications_of
from qiaocrawl.storage.schema import article, story_article
from qiaocrawl.storage.titles import reprint_groups

_MOST_OF_A_STORY = 500


def spread_of(c: Connection, article_id: int, topic: str | None = None) -> SpreadTree:
    """Who took it from whom; without a publication where there is no such article.

    A text that was corrected, cut or given other figures leaves the group of its old copies, but
    not its story. So the story is read too (unless it is very large), and what is joined with the
    group by an edge belongs to its spread.
    """
    group = [member.article_id for member in reprint_groups.chain(c, article_id)] or [article_id]
    own = publications_of(c, group, topic)
    others = sorted(set(_of_stories(c, group)) - set(group))
    if not own or not others or len(others) > _MOST_OF_A_STORY:
        return spread_tree(own)
    whole = spread_tree([*own, *publications_of(c, others, topic)])
    joined = _joined(whole, {publication.key for publication in own})
    if len(joined) == len(whole.publications):
        return whole
    return spread_tree([whole.publications[key] for key in whole.publications if key in joined])


def _of_stories(c: Connection, group: Collection[int]) -> list[int]:
    """The articles of the stories that articles of *group* are in."""
    stories = (
        select(story_article.c.story_id)
        .join(article, article.c.url_id == story_article.c.url_id)
        .where(article.c.id.in_(group), story_article.c.story_id.is_not(None))
    )
    told = select(article.c.id).join(story_article, story_article.c.url_id == article.c.url_id)
    numbers = set(c.execute(stories).scalars())
    return list(c.execute(told.where(story_article.c.story_id.in_(numbers))).scalars())


def _joined(tree: SpreadTree, keys: set[str]) -> set[str]:
    """*keys*, and all that edges lead to from there, in either direction.

    Likeness alone joins nobody: those of a story are alike, and were not found to be reprints.
    """
    edges = [(key, edge.parent) for key, edge in tree.edges.items()
             if edge.parent and edge.evidence[0].kind != "text"]  # fmt: skip
    joined, size = set(keys), -1
    while len(joined) != size:
        size = len(joined)
        for key, parent in edges:
            if key in joined or parent in joined:
                joined |= {key, parent}
    return joined
