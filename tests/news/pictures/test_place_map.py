"""The map of places: what is counted where, and what the picture shows of it."""

from __future__ import annotations

import re
import tomllib
from importlib import resources

from lxml import etree

from qiaocrawl.news.names.places import CHINA, count_regions, gazetteer
from qiaocrawl.news.pictures.place_map import place_map_svg

_SVG = "{http://www.w3.org/2000/svg}"
_TEXTS = (
    ["泉州市", "福建", "马德里", "唐人街"], ["福州"], ["中国"], ["中國", "西班牙"], ["唐人街"], [],
)  # fmt: skip


def _squares(svg: str) -> dict[str, str]:
    """The count that stands in each square, "" where none does; by the first line of its tip."""
    squares = {}
    for group in etree.fromstring(svg.encode()).iter(f"{_SVG}g"):
        tip = group.findtext(f"{_SVG}title", "")
        written = [own.text or "" for own in group.findall(f"{_SVG}text")]
        squares[tip.partition("：")[0]] = written[1] if written[1:] else ""
    return squares


def test_an_article_counts_once_in_each_region_it_names() -> None:
    counts = count_regions(_TEXTS)
    assert counts.articles == len(_TEXTS) - 1
    assert {own.name: own.articles for own in counts.countries} == {CHINA: 4, "西班牙": 2}
    assert {own.name: own.articles for own in counts.provinces} == {"福建": 2}
    assert counts.provinces[0].places == (("泉州市", 1), ("福州", 1), ("福建", 1))
    assert counts.home_only == 2
    assert (counts.unplaced, counts.unplaced_articles) == ((("唐人街", 2),), 2)


def test_every_region_of_the_gazetteer_has_its_square() -> None:
    places = list(gazetteer().values())
    names = {own.province or own.country for own in places}
    squares = _squares(place_map_svg(count_regions([name] for name in names), ""))
    file = resources.files("qiaocrawl.news.pictures") / "data" / "tiles.toml"
    continents = tomllib.loads(file.read_text("utf-8"))["continents"].values()
    laid_out = [name for own in continents for name in own.split()]
    assert len(laid_out) == len(set(laid_out))
    assert {own.country for own in places} == {CHINA, *laid_out}
    assert {own.province for own in places if own.province} <= squares.keys()


def test_the_picture_tells_counts_by_figure_and_shade() -> None:
    svg = place_map_svg(count_regions([*_TEXTS, *[["马来西亚"]] * 40]), "<地图>")
    squares = _squares(svg)
    assert (squares["福建"], squares["西班牙"], squares["马来西亚"]) == ("2", "2", "40")
    assert squares["黑龙江"] == ""
    assert CHINA not in squares
    assert "&lt;地图&gt;" in svg
    assert "中国：4 篇，其中 2 篇未提到具体省份" in svg
    assert "未能定位：2 篇文章中的 1 个地名，最常见：唐人街 2" in svg
    assert "泉州市 1、福州 1、福建 1" in svg
    legend = re.findall(r">(\d+(?:–\d+)?)</text>", svg.partition("提到当地的文章篇数")[2])
    assert legend == ["0", "1–2", "3–4", "5–9", "10–19", "20–40"]


def test_names_of_strangers_do_not_break_the_picture() -> None:
    counts = count_regions([["泉州", "a<b>&\x00\ud800"]])
    etree.fromstring(place_map_svg(counts, "图").encode())
    etree.fromstring(place_map_svg(count_regions([]), "图").encode())


def test_few_counts_have_a_shade_each() -> None:
    svg = place_map_svg(count_regions([["泉州"], ["泉州", "广州"], ["泉州"]]), "", "en")
    assert "of these 0 without a province" in svg
    assert "no other country is named" in svg
    legend = re.findall(r">(\d+(?:–\d+)?)</text>", svg.partition("name a place there")[2])
    assert legend == ["0", "1", "2", "3"]
