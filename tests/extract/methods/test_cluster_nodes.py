"""Candidates of a page and their five features."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.published.cluster_model import FEATURES, Candidates, candidates_of
from qiaocrawl.page.page import parse_page


def candidates(markup: str) -> Candidates:
    return candidates_of(parse_page(f"<body>{markup}</body>".encode(), "text/html").blocks)


def test_the_five_features_of_an_article_node() -> None:
    found = candidates(
        "<div><p>侨胞今天回到<a href=/q>家乡</a>看看。</p><p>他们带来了新的故事。很好。</p>"
        "<img src=a.jpg><p><img src=b.jpg>海外乡亲聚首一堂</p></div>"
    )
    whole = dict(zip(FEATURES, found.features[0], strict=True))
    assert whole == {"text_chars": 32, "paragraph_chars": pytest.approx(32 / 3), "link_chars": 2,
                     "images": 2, "full_stops": 3}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "stops"),
    [("价格涨到3.5元和4.25元，大家都很意外", 0), ("第一句话说完了。第二句话也说完了。", 2),
     ("The price rose to 3.5 dollars. It fell again.", 2)],
)  # fmt: skip
def test_points_inside_numbers_are_no_full_stops(text: str, stops: int) -> None:
    found = candidates(f"<p>{text}</p>")
    assert found.features[0, FEATURES.index("full_stops")] == stops


def test_nodes_of_links_only_are_dropped_and_count_for_no_node_around_them() -> None:
    menu = "".join(f"<li><a href=/{i}>第{i}个栏目的名字</a></li>" for i in range(9))
    found = candidates(f"<div><ul>{menu}</ul><p>侨胞今天回到家乡看看老屋。</p></div>")
    assert found.features[:, 0].tolist() == [13, 13]
    assert found.features[:, 2].tolist() == [0, 0]
    assert found.kept.tolist() == [False] * 9 + [True]


def test_a_page_with_much_text_is_not_dropped_for_its_many_links() -> None:
    menu = "".join(f"<li><a href=/{i}>第{i}个栏目很长的名字</a></li>" for i in range(200))
    article = "侨胞今天回到家乡看看老屋。" * 20
    found = candidates(f"<ul>{menu}</ul><p>{article}</p>")
    # The page, and the paragraph.
    assert found.features[:, 0].tolist() == [260, 260]


def test_a_short_report_between_much_navigation_stays() -> None:
    menu = "".join(f"<li><a href=/{i}>第{i}个栏目的名字</a></li>" for i in range(90))
    found = candidates(f"<ul>{menu}</ul><p>侨胞今天回到家乡看看老屋。</p>")
    assert found.kept.tolist() == [False] * 90 + [True]


def test_of_elements_around_the_same_text_the_innermost_is_the_candidate() -> None:
    found = candidates("<div><section><p>侨胞今天回到家乡看看老屋。</p></section></div>")
    assert len(found.features) == 1


@pytest.mark.parametrize("markup", ["", "短", "<a href=/x>只有一个链接的一页没有别的文字</a>"])
def test_pages_without_text_have_no_candidates(markup: str) -> None:
    assert len(candidates(markup).features) == 0
