"""Influence: who is taken from, first with, and how far it reaches."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from qiaocrawl.news.spread.influence import influence_of
from qiaocrawl.news.spread.publication import Publication
from qiaocrawl.news.spread.tree import spread_tree
from qiaocrawl.text.zones import SHANGHAI

NOON = datetime(2026, 3, 5, 12, 7, 30, tzinfo=SHANGHAI)


def publication(name: str, minutes: float, **more: Any) -> Publication:
    return Publication(**{
        "key": f"http://{name}.example/{minutes}", "host": f"{name}.example", "title": "侨胞座谈",
        "published_at": NOON + timedelta(minutes=minutes), "fetched_at": NOON + timedelta(days=2),
        "outlet": f"{name}报", **more,
    })  # fmt: skip


def test_who_is_taken_from_stands_first() -> None:
    chain = spread_tree([
        publication("甲", 0, tier=3),
        publication("乙", 10, source="甲报"),
        publication("丙", 20, source="乙报"),
        publication("丁", 30, source="甲报"),
    ])  # fmt: skip
    alone = spread_tree([publication("戊", 0)])
    first, second, *others = influence_of([chain, alone])
    assert (first.name, first.tier, first.takers, first.taken, first.reached) == (
        "甲报",
        3,
        2,
        2,
        3,
    )
    assert (first.firsts, first.borrowed, first.stories, first.articles) == (1, 0, 1, 1)
    assert (second.name, second.takers, second.reached, second.borrowed) == ("乙报", 1, 1, 1)
    assert {own.name for own in others} == {"丙报", "丁报", "戊报"}
    assert all(own.firsts == own.takers == 0 for own in others)
    assert sum(own.borrowed for own in others) == 2


def test_an_outlet_that_is_only_named_is_there_without_articles() -> None:
    tree = spread_tree(
        [publication("乙", 10, source="新华社"), publication("丙", 20, source="新华网")]
    )
    first, *_others = influence_of([tree])
    assert (first.name, first.articles, first.takers) == ("新华社", 0, 2)


def test_what_an_outlet_takes_from_itself_counts_for_nobody() -> None:
    tree = spread_tree([
        publication("甲", 0, key="http://paper.example/1", host="paper.example"),
        publication("甲", 10, key="http://web.example/1", host="web.example",
                    source_url="http://paper.example/1", source="甲报"),
    ])  # fmt: skip
    (only,) = influence_of([tree])
    assert (only.takers, only.taken, only.borrowed, only.articles) == (0, 0, 0, 2)
