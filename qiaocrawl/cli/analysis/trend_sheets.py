"""A trend as sheets for officers: Chinese whoever writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl.cli.analysis.trend_tables import begin_of
from qiaocrawl.export.readable import Sheet

if TYPE_CHECKING:
    from qiaocrawl.news.trends.trend import Trend


def trend_sheets(trend: Trend) -> list[Sheet]:
    """The steps, and the forecast if there is any."""
    steps = Sheet(
        "趋势",
        ("起", "篇数", "平常", "偏离（标准差）", "爆发", "节假日", "已结束"),
        [
            (begin_of(trend, step.start), step.count,
             None if step.expected is None else round(step.expected, 1),
             None if step.deviation is None else round(step.deviation, 2),
             "是" if step.is_burst else "", step.holiday, "是" if step.is_whole else "否")
            for step in trend.steps
        ],
    )  # fmt: skip
    ahead = Sheet(
        "预测",
        ("起", "预计", "下限", "上限"),
        [(begin_of(trend, step.start), round(step.expected, 1), step.low, step.high)
         for step in trend.forecast],
    )  # fmt: skip
    return [steps, ahead] if trend.forecast else [steps]
