"""A spread as sheets for officers: Chinese whoever writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl.cli.analysis.spread_tables import (
    figure_lines,
    first_lines,
    moment_of,
    parent_of,
    why_of,
)
from qiaocrawl.export.readable import Sheet
from qiaocrawl.language import CHINESE, using_language
from qiaocrawl.news.spread.tree import spread_figures

if TYPE_CHECKING:
    from qiaocrawl.news.spread.tree import SpreadTree


def spread_sheets(tree: SpreadTree) -> list[Sheet]:
    """The way of each article, and the figures."""
    with using_language(CHINESE):
        numbers = {key: str(number) for number, key in enumerate(tree.publications, 1)}
        ways = Sheet(
            "传播",
            ("序号", "时间", "媒体", "级别", "地区", "来自", "依据", "把握", "标题", "来源", "作者",
             "评论", "链接"),
            [
                (int(numbers[key]), moment_of(own), own.name, own.tier, own.region,
                 parent_of(tree, key, numbers), why_of(tree, key), round(edge.certainty, 2),
                 own.title, own.source, own.author, own.comments, key)
                for key, own in tree.publications.items()
                for edge in [tree.edges[key]]
            ],
        )  # fmt: skip
        lines = [*first_lines(tree, numbers), *figure_lines(spread_figures(tree))]
        return [ways, Sheet("概况", ("内容",), [(line,) for line in lines])]
