"""Where the places that texts name lie: counted by country and province, drawn as a map."""

from __future__ import annotations

from qiaocrawl.analysis.place_map.picture import place_map_svg
from qiaocrawl.analysis.place_map.regions import CHINA, Region, RegionCounts, count_regions

__all__ = ["CHINA", "Region", "RegionCounts", "count_regions", "place_map_svg"]
