"""Comments under an article are told apart, the article in an oddly named element is not lost."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.comments import comment_blocks
from qiaocrawl.page.page import Page, parse_page

STORY = "<p>因片区改造，开了三十七年的鱼丸店将于本月底搬离。消息传开后，店门口排起了长队。</p>"
REMARKS = "".join(
    f"<li><b>网友{i}</b> <span>2023-05-1{i} 08:0{i}</span><p>第{i}条：小时候天天来吃，"
    "搬走了真舍不得，希望新店还是老味道，价钱也别涨得太多，老人家吃不起。</p></li>"
    for i in range(9)
)


def page_of(body: str) -> Page:
    return parse_page(f"<html><body>{body}</body></html>".encode(), "text/html; charset=utf-8")


def left(page: Page) -> str:
    out = comment_blocks(page)
    return "".join(b.text for i, b in enumerate(page.blocks.blocks) if i not in out)


def test_comments_much_longer_than_the_article_go() -> None:
    page = page_of(f"<h1>鱼丸店</h1>{STORY}<div class=comment-box><ul>{REMARKS}</ul></div>")
    assert "三十七年" in left(page)
    assert "老味道" not in left(page)


def test_an_article_inside_an_element_called_comment_stays() -> None:
    page = page_of(f"<h1>时评</h1><div class=comment>{STORY * 4}</div>")
    assert left(page).count("三十七年") == 4
    undated = page_of(f"<p>导读：短。</p><div class=comment>{STORY * 9}</div>")
    assert "三十七年" in left(undated)


def test_no_comments() -> None:
    assert comment_blocks(page_of(STORY)) == frozenset()


@pytest.mark.parametrize(
    "heading",
    ["What you should know about comments on harbour.example", "Commenting rules", "发言须知",
     "Guidelines for reader comments"],
)  # fmt: skip
def test_the_rules_for_commenting_are_no_text(heading: str) -> None:
    rules = "<p>请文明发言，不要重复别人说过的话，也不要攻击他人，违者删除。</p>" * 3
    page = page_of(f"<div>{STORY * 4}</div><div><h4>{heading}</h4>{rules}</div>")
    assert left(page).count("三十七年") == 4
    assert "文明" not in left(page)


def test_a_story_about_comments_stays() -> None:
    page = page_of(
        f"<div>{STORY * 4}<h4>What readers said about comments by the mayor</h4>{STORY}</div>"
    )
    assert left(page).count("三十七年") == 5


def test_a_part_of_the_text_with_such_a_heading_stays() -> None:
    part = "<div><h3>回应</h3><p>片区办公室回应说，新铺面的租金五年不变，老店可以先挑。</p></div>"
    page = page_of(f"<div>{STORY * 2}{part}{STORY}</div>")
    assert "租金" in left(page)
    rows = f"<div><h3>评论</h3><ul>{REMARKS}</ul></div>"
    assert "老味道" not in left(page_of(f"<div>{STORY * 4}{rows}{STORY}</div>"))


def test_rated_remarks_in_a_row_below_their_heading_go() -> None:
    rows = "".join(
        f"<div><div>南洋客{i} 评分 4.{i}</div><p>写得实在，下个月也想去看看。</p></div>"
        for i in range(4)
    )
    page = page_of(f"<h1>鱼丸店</h1>{STORY * 3}<h3>驴友点评</h3>{rows}<p>鱼丸店还会再开。</p>")
    assert "南洋客" not in left(page)
    assert "还会再开" in left(page)
