"""What is known of a site, used on its pages: what goes, what stays, who has the last word."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.page import extract_page
from qiaocrawl.extract.sites.boilerplate_model import BoilerplateModel, observation_of
from qiaocrawl.extract.sites.site_template import SiteTemplate, TemplateMatch, apply_template
from qiaocrawl.page.page import Page, parse_page
from site_pages import DISCLAIMER, FOOTER, HOST, body_of, page, paragraphs, taught, title, whole


@pytest.fixture(scope="module")
def template() -> SiteTemplate:
    found = taught(12).template(HOST)
    assert found is not None
    return found


def test_repeated_blocks_leave_the_body_and_lose_their_judgement(template: SiteTemplate) -> None:
    found = page(40)
    body = whole(40, found)
    result = apply_template(template, found, body)
    assert result.body.text.split("\n") == paragraphs(40)
    assert result.body.reason == ("test; 1 repeated blocks left out by what the site repeats")
    assert (result.left_out, result.contradicts, result.place) == (1, False, "div.article.c-0")
    assert result.body.score > body.score
    judged = dict(zip((b.text for b in found.blocks.blocks), result.body.judged, strict=True))
    assert judged[DISCLAIMER] == judged[FOOTER] == 0.0
    assert judged[paragraphs(40)[0]] == 0.9


def test_a_method_without_blocks_loses_the_lines(template: SiteTemplate) -> None:
    found = page(41)
    body = Body("\n".join([*paragraphs(41), DISCLAIMER, FOOTER]), 0.5, "lines")
    result = apply_template(template, found, body)
    assert result.body.text.split("\n") == paragraphs(41)
    assert result.left_out == 2


def test_a_body_that_only_repeats_gives_way_to_the_articles_place(template: SiteTemplate) -> None:
    found = page(42)
    result = apply_template(template, found, body_of(found, FOOTER))
    assert result.body.text.split("\n") == paragraphs(42)
    assert result.body.reason.endswith("so what stands in div.article.c-0 is taken")
    assert not result.contradicts


def test_the_page_has_the_last_word(template: SiteTemplate) -> None:
    short = parse_page(
        f'<div class="article" id="c-1"><p>短讯一则。</p><p>{DISCLAIMER}</p></div>'.encode(),
        "", f"http://{HOST}/s",
    )  # fmt: skip
    body = body_of(short, "短讯一则。", DISCLAIMER)
    result = apply_template(template, short, body)
    assert result.contradicts
    assert result.left_out == 0
    assert (result.body.text, result.body.blocks) == (body.text, body.blocks)
    seen = observation_of(short, "短讯", result)
    assert seen is not None
    assert (seen.contradicts, seen.place) == (True, "")


def test_moderate_blocks_elsewhere_lose_and_sure_ones_stay(template: SiteTemplate) -> None:
    told = "".join(f"<p>{text}</p>" for text in paragraphs(7))
    found = parse_page(
        '<h1>题</h1><p class="lead">导语：老码头今天重新开放。</p>'
        '<p class="ad">广告：码头游船七折。</p>'
        f'<div class="article" id="c-7">{told}</div>'.encode(), "", f"http://{HOST}/x",
    )  # fmt: skip
    texts = [block.text for block in found.blocks.blocks][1:]
    judged = (0.0, 0.95, 0.5, 0.5, 0.9, 0.9)
    body = Body("\n".join(texts), 0.6, "test", (1, 2, 3, 4, 5), judged)
    result = apply_template(template, found, body)
    assert result.body.blocks == (1, 3, 4, 5)
    assert "1 left out since the site's articles stand in div.article.c-0" in result.body.reason


def blog(number: int, *inside: str) -> Page:
    """A post that begins like all others, in a place of its own."""
    told = "".join(f"<p>{text}</p>" for text in paragraphs(number))
    html = f'<title>{title(number)}</title><div class="post">{inside[0]}{told}{inside[1]}</div>'
    return parse_page(html.encode(), "", f"http://{HOST}/b/{number}")


@pytest.mark.parametrize(
    "own",
    ["<h2>总结与展望以及下一步的打算和安排说明</h2>",
     "<pre>sudo apt update && sudo apt upgrade</pre>",
     "<table><tr><td>项目名称和负责人以及联系电话一览</td></tr></table>"],
)  # fmt: skip
def test_headings_code_and_cells_are_an_articles_own(own: str) -> None:
    model = BoilerplateModel()
    for number in range(20):
        found = blog(number, own, own)
        body = body_of(found, *(block.text for block in found.blocks.blocks))
        known = model.template(HOST)
        result = apply_template(known, found, body) if known else TemplateMatch(body)
        assert result.left_out == 0
        seen = observation_of(found, title(number), result)
        assert seen is not None
        model.observe(seen)


def test_a_short_line_between_paragraphs_stays() -> None:
    model = BoilerplateModel()
    for number in range(20):
        first, *rest = paragraphs(number)
        told = f"<p>{first}</p><p>记者问：</p>" + "".join(f"<p>{text}</p>" for text in rest)
        found = parse_page(f'<div class="a">{told}</div>'.encode(), "", f"http://{HOST}/{number}")
        body = body_of(found, *(block.text for block in found.blocks.blocks))
        known = model.template(HOST)
        result = apply_template(known, found, body) if known else TemplateMatch(body)
        assert result.body.text == body.text
        seen = observation_of(found, title(number), result)
        assert seen is not None
        model.observe(seen)


def test_library_users_read_with_a_template(template: SiteTemplate) -> None:
    found = page(44)
    before, after = (
        extract_page(found, "density"),
        extract_page(found, "density", template=template),
    )
    assert DISCLAIMER in before.text
    assert DISCLAIMER not in after.text
    assert paragraphs(44)[2] in after.text
    assert after.metadata.title == title(44)


def test_a_template_never_breaks_a_page(template: SiteTemplate) -> None:
    for html in (
        "",
        "<p>",
        "<div class=article id=c-1>",
        f"<p>{DISCLAIMER}</p>",
        "<div class=article id=c-2>" * 2000 + DISCLAIMER,
        "<table>" * 50 + FOOTER,
    ):
        found = parse_page(html.encode(), "", f"http://{HOST}/")
        for method in ("density", "visual", "cluster"):
            result = extract_page(found, method, template=template)
            seen = observation_of(found, "", result.site)
            assert seen is not None
            assert len(seen.place) <= 200


def test_a_page_without_an_address_teaches_nothing() -> None:
    assert observation_of(parse_page(b"<p>x"), "x", TemplateMatch(Body("", 0, ""))) is None


def test_a_huge_page_tells_a_bounded_number_of_blocks() -> None:
    found = parse_page("".join(f"<p>{n}" for n in range(9000)).encode(), "", f"http://{HOST}/")
    seen = observation_of(found, "x", TemplateMatch(Body("", 0, "")))
    assert seen is not None
    assert len(seen.blocks) == 8 * 2000
