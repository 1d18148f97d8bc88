"""The published density method, rule by rule, on pages written for it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.extract.base import extractor_for, extractors
from qiaocrawl.extract.published.density import DensityExtractor
from qiaocrawl.options import Options
from qiaocrawl.page.page import parse_page

# 20 characters of three bytes; with <p></p> 60 of 67 bytes are text.
SENTENCE = "侨乡的老人说，这样的聚会多年没有过了。今"
LOW = '<div class="related"><a href="/a/long/address.html" title="title">短</a></div>'


def body_of(lines: list[str], **options: float) -> list[str]:
    extractor = DensityExtractor(**options)  # type: ignore[arg-type]
    page = parse_page("\n".join(lines).encode(), "text/html; charset=utf-8")
    return extractor.body(page).text.split("\n")


def paragraphs(count: int, mark: str = "") -> list[str]:
    return [f"<p>{mark}{i}{SENTENCE}</p>" for i in range(count)]


def plain(lines: list[str]) -> list[str]:
    return [line.removeprefix("<p>").removesuffix("</p>") for line in lines]


def test_dense_lines_are_the_body_and_low_lines_around_it_are_not() -> None:
    article = paragraphs(6)
    assert body_of([LOW] * 30 + article + [LOW] * 30) == plain(article)


def test_the_threshold_is_inclusive_and_counts_bytes() -> None:
    # 30 bytes of text in a line of 60.
    line = f"<i>{'侨' * 10}</i>".replace("<i>", "<i " + "x" * 22 + ">")
    assert len(line.encode()) == 60
    assert body_of([line] * 10) == ["侨" * 10] * 10
    assert body_of([line.replace("x", "xx", 1)] * 10) == [""]


def test_low_lines_within_the_tolerance_are_kept() -> None:
    first, second = paragraphs(5, "甲"), paragraphs(5, "乙")
    assert body_of(first + [LOW] * 20 + second) == plain(first) + ["短"] * 20 + plain(second)


def test_past_the_tolerance_the_article_has_ended_and_is_the_result() -> None:
    first, second = paragraphs(6, "甲"), paragraphs(5, "乙")
    # 5 paragraphs are 300 bytes and more: recognition stops at the 21st low line.
    assert body_of(first + [LOW] * 21 + second) == plain(first)
    assert body_of(second + [LOW] * 21 + first) == plain(second)
    assert body_of(second + [LOW] * 21 + first, run="longest") == plain(first)
    assert (
        body_of(first + [LOW] * 21 + second, low_density_tolerance_lines=21)[-1]
        == (plain(second)[-1])
    )


def test_below_the_minimum_bytes_a_low_run_does_not_end_the_article_and_is_not_kept() -> None:
    headline, article = paragraphs(1, "题"), paragraphs(6)
    assert body_of(headline + [LOW] * 60 + article) == plain(headline) + plain(article)
    assert body_of(headline + [LOW] * 60 + article, minimum_bytes=1) == plain(headline)


def test_less_than_the_minimum_is_returned_as_found() -> None:
    # 61, 62 and 63 bytes, 186 together: fewer than 200, and the page ends.
    article = [f"<p>{mark}{SENTENCE}</p>" for mark in ("1", "22", "333")]
    assert body_of([LOW] * 30 + article + [LOW] * 30) == plain(article)
    page = parse_page(LOW.encode(), "text/html; charset=utf-8")
    body = DensityExtractor().body(page)
    assert (body.text, body.score, body.reason) == ("", 0.0, "no line is dense")


def test_scripts_styles_and_comments_are_bytes_but_no_text() -> None:
    article = paragraphs(6)
    script = ["<script>", *(f"var text{i} = '{SENTENCE}';" for i in range(30)), "</script>"]
    comment = ["<!--", *paragraphs(30, "注"), "-->"]
    assert body_of(script + article + comment) == plain(article)
    hidden = f"<p>{SENTENCE}</p><!-- {SENTENCE * 2} -->"
    assert body_of([hidden] * 10) == [""]


def test_a_page_on_one_line_is_read_by_its_blocks() -> None:
    article = paragraphs(40)
    menu = "".join(f"<li>{LOW}</li>" for _ in range(40))
    assert body_of([f"<html><body><ul>{menu}</ul>" + "".join(article)]) == plain(article)


def test_the_score_is_the_share_of_the_visible_text() -> None:
    page = parse_page("\n".join(paragraphs(9) + [LOW]).encode(), "text/html; charset=utf-8")
    assert DensityExtractor().body(page).score == pytest.approx(9 * 61 / (9 * 61 + 3))


@given(st.lists(st.sampled_from([LOW, "", f"<p>{SENTENCE}</p>", "<br>", "x", "<", "<!--"])))
@settings(deadline=None)
def test_every_line_of_a_body_stands_in_the_page(lines: list[str]) -> None:
    page = parse_page("\n".join(lines).encode(), "text/html; charset=utf-8")
    body = DensityExtractor().body(page)
    assert 0.0 <= body.score <= 1.0
    assert bool(body.text) == (body.score > 0)
    assert set(filter(None, body.text.split("\n"))) <= set(page.texts)


OPTIONS = {"QIAO_DENSITY_THRESHOLD": 0.5, "QIAO_DENSITY_TOLERANCE_LINES": 20,
           "QIAO_DENSITY_MINIMUM_BYTES": 200, "QIAO_DENSITY_RUN": "first"}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "count"),
    [({}, 12), ({"QIAO_DENSITY_TOLERANCE_LINES": 0}, 11),
     ({"QIAO_DENSITY_TOLERANCE_LINES": 0, "QIAO_DENSITY_MINIMUM_BYTES": 0}, 11),
     ({"QIAO_DENSITY_THRESHOLD": 0.99}, 0)],
)  # fmt: skip
def test_options_switch_the_improvements(changes: dict[str, float], count: int) -> None:
    page = parse_page("\n".join([*paragraphs(9), LOW, *paragraphs(2)]).encode(), "text/html")
    body = extractor_for("density", {**OPTIONS, **changes}).body(page)
    assert len([line for line in body.text.split("\n") if line]) == count


def test_the_base_algorithm_takes_all_dense_lines() -> None:
    lines = [*paragraphs(6, "甲"), *[LOW] * 30, *paragraphs(1, "乙")]
    page = parse_page("\n".join(lines).encode(), "text/html")
    base = {**OPTIONS, "QIAO_DENSITY_TOLERANCE_LINES": 0}
    assert extractor_for("density", base).body(page).text.split("\n") == plain(
        [*paragraphs(6, "甲"), *paragraphs(1, "乙")]
    )


def test_the_defaults_of_the_options_are_the_registered_method() -> None:
    assert extractor_for("density", Options({})) == DensityExtractor() == extractors.get("density")
