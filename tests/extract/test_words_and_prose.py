"""Words of notices never take a sentence out of a text; what has the form of a notice goes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.extraction import Extraction, PageKind

TITLE = "乡亲回渡口镇寻根"
STORY = (
    "本月初，来自十多个国家的乡亲回到渡口镇，参加三天的寻根活动，其中一半是第一次回来的年轻人。",
    "活动期间，大家参观了家书馆和两处老宅，还与镇上的中学生一起包了粽子。",
    "“祖屋还在，心里就踏实。”七十岁的许阿婆说，她打算明年把孙辈也带回来。",
    "镇里的负责人说，老宅的修缮名单下个月公布，村民可以提意见。",
)
TOLD = (
    "论坛由省侨联主办、市侨联承办，市外办协办，共有三百人参加。",
    "本次活动由省侨联主办，渡口镇政府承办。",
    "按照规定，小吃店要先办许可证，再到主管部门备案，才能开门营业。",
    "第九条 县侨务主管部门主管本县的侨务工作，并报上一级主管部门备案。",
    "法院认定，平台未经授权使用照片属于侵权，应当承担法律责任。",
    "律师提醒，转载他人文章要先得到许可，未经授权不得转载，否则可能被判侵权。",
    "如果平台构成侵权，就要承担法律责任，侵权的照片也要删掉。",
    "展品的版权属于捐赠人，技术支持由大学提供，联系方式写在门口。",
    "关于我们这一代侨胞的故事，主管单位和主办单位都说要写进镇志。",
    "Many websites use cookies to follow their readers, and the cookies stay for months.",
    "The court said the copyrighted songs had been reproduced without permission.",
)
NOTICES = (
    "主办单位：渡口镇侨联　承办单位：渡口镇文化站　技术支持：某某网络　备案号：某ICP备00000000号",
    "© 2025 渡口网 版权所有 某ICP备00000000号-1",
    "Copyright © 2025 Dukou. All rights reserved.",
    "某公网安备 00000000000000号 某ICP备00000000号",
    "渡口镇人民政府主办 渡口镇信息中心承办 技术支持：某某网络",
    "地址：渡口镇老街12号 电话：0000-1234567 邮编：000000 某ICP备00000000号",
    "违法和不良信息举报电话：0000-1234567 举报邮箱：jb@dukou.example",
    "免责声明：本文来源于网络，不代表本站观点，如涉及侵权请与我们联系，我们会及时删除。",
    "本文转载自其他媒体，版权归原作者所有，如有侵权请联系我们删除。",
    "凡本网注明“来源：渡口网”的作品，未经授权不得转载，违者将追究法律责任。",
    "【版权声明】未经书面许可不得转载，违反者本网将依法追究法律责任。",
    "郑重声明：部分图片来源于网络，如涉及侵权，请与本站联系，我们将及时删除。",
    "版權所有，未經授權不得轉載，違者將追究法律責任。",
    "This material may not be published, broadcast or rewritten without permission.",
)
LISTS = (
    '<div class="latest"><ul>' + "".join(
        f'<li><a href="/n/{n}.html">渡口镇的第{n}条老街开始修缮</a>'
        f"<p>第{n}条老街有三十多间铺面，修缮要到年底才能完成，街坊们说等得起。</p></li>"
        for n in range(2, 7)) + "</ul></div>",
    '<div class="comments"><h3>网友评论</h3>' + "".join(
        f"<dl><dt>街坊{n}号 2025-03-0{n} 10:2{n}</dt>"
        f"<dd>第{n}个留言：祖屋能留下来最好，谢谢镇里。</dd></dl>"
        for n in range(1, 6)) + "</div>",
)  # fmt: skip


def _paragraphs(texts: tuple[str, ...]) -> str:
    return "".join(f"<p>　　{text}</p>" for text in texts)


def _lines(texts: tuple[str, ...]) -> str:
    return "<br>\n<br>\n".join(f"　　{text}" for text in texts)


def read(content: str, *, below: str = "", foot: str = "", title: str = TITLE) -> Extraction:
    page = (
        f"<html><head><title>{title}_渡口网</title></head><body>"
        '<div class="nav"><a href="/">首页</a> <a href="/n/">新闻</a> <a href="/p/">图片</a></div>'
        f'<div class="main"><h1>{title}</h1><div class="info">2025-03-01 08:30 来源：渡口报</div>'
        f'<div class="content">{content}</div>{below}<div class="related"><h3>相关阅读</h3><ul>'
        '<li><a href="/1.html">老街修缮完成</a></li><li><a href="/2.html">龙舟赛开锣</a></li></ul>'
        f'</div></div><div class="footer"><p><a href="/law">法律声明</a></p>{foot}</div>'
        "</body></html>"
    )
    url = "https://www.dukou.example/news/2025/83421.html"
    return extract_article(page.encode(), url, "text/html; charset=utf-8")


@pytest.mark.parametrize("wrapped", [_paragraphs, _lines])
@pytest.mark.parametrize("place", [0, 2, 4])
@pytest.mark.parametrize("sentence", TOLD)
def test_a_sentence_stays_wherever_it_stands(
    sentence: str, place: int, wrapped: Callable[[tuple[str, ...]], str]
) -> None:
    article = read(wrapped((*STORY[:place], sentence, *STORY[place:])))
    assert article.text.split("\n") == [*STORY[:place], sentence, *STORY[place:]]
    assert article.page_kind is PageKind.ARTICLE


@pytest.mark.parametrize("sentence", [text for text in TOLD if len(text) > 25])
def test_short_news_of_one_such_sentence_is_an_article(sentence: str) -> None:
    article = read(_paragraphs((sentence,)))
    assert (article.text, article.page_kind) == (sentence, PageKind.ARTICLE)


@pytest.mark.parametrize("notice", NOTICES)
def test_a_notice_goes_from_the_end_of_the_text_and_below_it(notice: str) -> None:
    assert read(_paragraphs((*STORY, notice))).text.split("\n") == list(STORY)
    assert read(_lines((*STORY, notice))).text.split("\n") == list(STORY)
    assert read(_paragraphs(STORY), foot=f"<p>{notice}</p>").text.split("\n") == list(STORY)
    assert read(_paragraphs((STORY[0], notice))).text == STORY[0]


def test_a_claim_below_the_text_stays_out() -> None:
    for claim in (
        "本版文字和照片的版权均为渡口报所有，未经授权严禁转载或者复制，违者必究。",
        "照片由乡亲提供，未經許可請勿翻攝或轉載，違者追究法律責任。",
    ):
        text = read(_paragraphs(STORY), foot=f"<p>{claim}</p>").text
        assert text.split("\n") == list(STORY)


def test_a_call_for_papers_in_a_column_of_its_own_stays_out() -> None:
    column = (
        "<h3>征稿启事</h3><p>欢迎投稿：请把照片原图和一百字的说明寄到编辑部，采用即付稿酬，"
        "严禁摆拍，未经许可不得一稿多投。</p>"
    )
    assert read(_paragraphs(STORY), foot=column).text.split("\n") == list(STORY)


def test_remarks_stay_out_whatever_the_site_says_below_them() -> None:
    remarks = "<div><h3>读者留言</h3>" + "".join(
        f"<p>街坊{n}号：这件事办得好，下个月我也要带孩子回去看看。</p>" for n in range(1, 8)
    )
    below = (
        f"{remarks}</div><p>喜欢这篇文章吗？每星期六我们把最值得读的五篇送到您的信箱。</p>"
        "<p>本网所载资料来自可靠的来源，但不保证准确，读者请自行判断。</p>"
    )
    text = read(_paragraphs(STORY), below=below).text
    assert not [line for line in text.split("\n") if line.startswith("街坊")]


@pytest.mark.parametrize("rows", LISTS)
def test_lists_of_excerpts_and_of_comments_stay_out(rows: str) -> None:
    assert read(_paragraphs(STORY), below=rows).text.split("\n") == list(STORY)


def test_a_law_keeps_all_its_articles() -> None:
    law = tuple(
        f"第{number}条 {text}"
        for number, text in zip(
            "一二三四五",
            (
                "为了保护老宅，根据有关法律，制定本办法。",
                "镇文物主管部门主管老宅的保护工作，村主管部门主管本村的保护工作。",
                "修缮老宅应当报主管部门备案；跨村修缮的，报上一级主管部门备案。",
                "需要许可证的，发证机关应当在五日内核发许可证。",
                "违反本办法侵权的，依法承担法律责任；免责的情形由主管部门规定。",
            ),
            strict=True,
        )
    )
    assert read(_paragraphs(law), title="渡口镇老宅保护办法").text.split("\n") == list(law)


def test_contact_lines_stay_in_the_text_of_a_notice() -> None:
    lines = (
        "有意报名的乡亲，请在月底前来信或者来电。",
        "联系电话：0000-1234567；传真：0000-7654321；",
    )
    assert read(_paragraphs((*STORY, *lines))).text.split("\n") == [*STORY, *lines]


@pytest.mark.parametrize("wrapper", ["", "section"])
def test_a_section_called_comments_amid_the_text_is_text(wrapper: str) -> None:
    opened, closed = ("<div>", "</div>") if not wrapper else ("<section>", "</section>")
    part = f"{opened}<h3>回应</h3>{_paragraphs(STORY[2:3])}{closed}"
    first = f"{opened}{_paragraphs(STORY[:2])}{closed}"
    last = f"{opened}{_paragraphs(STORY[3:])}{closed}"
    assert STORY[2] in read(first + part + last).text.split("\n")
