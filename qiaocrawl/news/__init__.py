"""What stored articles mean: entities, tone, summaries, stories. Values in, values out."""

from __future__ import annotations

from qiaocrawl.news.names.places import CHINA, Region, RegionCounts, count_regions
from qiaocrawl.news.pictures.place_map import place_map_svg

# --- Where the places that texts name lie: counted by country and province, drawn as a map --------

__all__ = ["CHINA", "Region", "RegionCounts", "count_regions", "place_map_svg"]
