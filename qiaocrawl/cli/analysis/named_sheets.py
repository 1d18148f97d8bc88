"""Names of articles as sheets for officers: Chinese whoever writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from qiaocrawl.export.readable import Sheet

if TYPE_CHECKING:
    from qiaocrawl.news import RegionCounts
    from qiaocrawl.news.names.stored import NamedOfTopic

_SHEETS = {"person": "人物", "place": "地点", "organisation": "机构"}


def named_sheets(found: NamedOfTopic) -> list[Sheet]:
    """A sheet a kind, and the regions."""
    return [*_name_sheets(found), _region_sheet(found.regions)]


def _name_sheets(found: NamedOfTopic) -> Iterator[Sheet]:
    for kind, title in _SHEETS.items():
        own = [named for named in found.names if named.kind == kind]
        header = ("名称", "文章", "媒体", "最早", "最晚", *(("所在",) if kind == "place" else ()))
        yield Sheet(title, header, [
            (named.name, named.articles, named.outlets, f"{named.first:%Y-%m-%d}",
             f"{named.last:%Y-%m-%d}", *((named.lies_in,) if kind == "place" else ()))
            for named in own
        ])  # fmt: skip


def _region_sheet(regions: RegionCounts) -> Sheet:
    rows: list[tuple[object, ...]] = [
        ("国家", own.name, own.articles, _listed(own.places)) for own in regions.countries
    ]
    rows += [("中国省份", own.name, own.articles, _listed(own.places))
             for own in regions.provinces]  # fmt: skip
    rows.append(("未能定位", "", regions.unplaced_articles, _listed(regions.unplaced)))
    return Sheet("地区", ("类别", "地区", "文章", "所提地名（篇数）"), rows)


def _listed(names: tuple[tuple[str, int], ...]) -> str:
    return "、".join(f"{name} {articles}" for name, articles in names)
