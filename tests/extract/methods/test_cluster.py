"""The extractor ``cluster``, its membership rule, and its model as a file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.base import extractor_for, extractors
from qiaocrawl.extract.published.cluster import ClusterExtractor
from qiaocrawl.extract.published.cluster_model import ClusterModel, load_model
from qiaocrawl.page.page import Page, parse_page

PARAGRAPH = "侨乡的老屋里，侨批一封一封摆在桌上，九十岁的阿婆念给孙子听，念到一半停了下来。"
ARTICLE = "".join(f"<p>第{i}封。{PARAGRAPH}</p>" for i in range(12))
MENU = "".join(f'<li><a href="/{i}/">栏目{i}</a></li>' for i in range(20))
FOOT = "<div>关于我们 联系方式 版权所有</div>"


def page_of(markup: str) -> Page:
    head = '<meta charset="utf-8"><title>侨批</title>'
    return parse_page(f"<html><head>{head}</head><body>{markup}</body></html>".encode())


def model_of(centres: list[list[float]], radii: list[float], body: tuple[int, ...]) -> ClusterModel:
    """Clusters around features as they are read, unscaled but for the logarithm."""
    return ClusterModel(
        np.zeros(5), np.ones(5), np.log1p(np.array(centres)), np.array(radii),
        (1,) * len(centres), body,
    )  # fmt: skip


def test_the_shipped_model_finds_a_plain_article() -> None:
    page = page_of(f"<ul>{MENU}</ul><div id=a>{ARTICLE}</div>{FOOT}")
    body = extractors.get("cluster").body(page)
    lines = body.text.split("\n")
    assert len(lines) == 12
    assert all(PARAGRAPH in line for line in lines)
    assert [page.blocks.blocks[index].text for index in body.blocks] == lines
    assert 0.5 <= body.score <= 1


def test_membership_is_radius_over_distance() -> None:
    model = model_of([[99, 0, 0, 0, 0], [0, 0, 0, 0, 0]], [2.0, 1.0], (0,))
    features = np.expm1(np.array([[np.log(100) + 4.0, 0, 0, 0, 0]]))
    expected = [2 / 4, 1 / (np.log(100) + 4)]
    assert model.memberships(features)[0].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(("radius", "found"), [(0.8, True), (0.2, False)])
def test_a_node_needs_half_a_membership(radius: float, found: bool) -> None:
    # The article node: 12 paragraphs of 44 or 45 characters; the centre has half as many.
    model = model_of([[260, 45, 0, 0, 24]], [radius], (0,))
    body = ClusterExtractor(model).body(page_of(f"<div>{ARTICLE}</div>"))
    assert bool(body.text) is found
    if not found:
        assert "no node belongs to a body cluster" in body.reason


def test_members_of_other_clusters_are_no_bodies() -> None:
    model = model_of([[530, 44, 0, 0, 24]], [1.0], (0,))
    two = replace(model, centres=np.vstack([model.centres, model.centres + 9]),
                  radii=np.array([1.0, 1.0]), body=(1,))  # fmt: skip
    page = page_of(f"<div>{ARTICLE}</div>")
    assert ClusterExtractor(model).body(page).text
    assert ClusterExtractor(two).body(page).text == ""


def test_of_nested_candidates_the_innermost_is_taken() -> None:
    # The inner node is a little farther from the centre than the one around it.
    page = page_of(f"<div>本报讯：侨批归乡记<div>{ARTICLE}</div></div>")
    outer = ClusterExtractor(model_of([[545, 40, 0, 0, 24]], [0.5], (0,)))
    body = outer.body(page)
    assert "本报讯" not in body.text
    assert body.text.startswith("第0封")


def test_a_page_of_links_has_no_body() -> None:
    body = extractors.get("cluster").body(page_of(f"<ul>{MENU}</ul>"))
    assert (body.text, body.reason) == ("", "no node has text outside links")


# --- the file ------------------------------------------------------------------------------


def written(folder: Path, **changes: Any) -> str:
    record = json.loads(load_model().to_json())
    for name, value in changes.items():
        record[name] = value
    path = folder / "model.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    return str(path)


def test_a_model_is_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    model = load_model()
    path = tmp_path / "model.json"
    path.write_text(model.to_json(), encoding="utf-8")
    assert load_model(str(path)).to_json() == model.to_json()


def test_the_option_chooses_the_model(tmp_path: Path) -> None:
    far = written(tmp_path, mean=[50.0] * 5)
    page = page_of(f"<div>{ARTICLE}</div>")
    assert extractor_for("cluster", {"QIAO_CLUSTER_MODEL": ""}).body(page).text
    assert extractor_for("cluster", {"QIAO_CLUSTER_MODEL": far}).body(page).text == ""


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("format", "x", "'qiaocrawl cluster model'"),
        ("version", 2, "must be 1"),
        ("features", ["text_chars"], "'full_stops'"),
        ("mean", [1, 2], "5 numbers"),
        ("deviation", [1, 1, 1, 1, 0], "above 0"),
        ("centres", "none", "1 to 100 rows"),
        ("radii", [1, 1, "two", 1], "4 numbers above 0"),
        ("counts", [1], "4 to 4 of them"),
        ("body", [9], "whole numbers from 0 to 3"),
        ("pages", -1, "whole numbers from 0"),
    ],
)
def test_a_faulty_file_is_refused_by_file_field_and_value(
    tmp_path: Path, field: str, value: Any, allowed: str
) -> None:
    path = written(tmp_path, **{field: value})
    with pytest.raises(ConfigError) as caught:
        load_model(path)
    message = str(caught.value)
    assert path in message
    assert f"field {field!r}" in message
    assert allowed in message
    assert repr(value) in message


@pytest.mark.parametrize("content", ["", "[1, 2]", "{}", "no JSON", "[" * 100_000])
def test_what_is_no_model_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"x\.json"):
        load_model(str(path))


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigError, match="/nowhere/model"):
        extractor_for("cluster", {"QIAO_CLUSTER_MODEL": "/nowhere/model.json"})
