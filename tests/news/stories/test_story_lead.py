"""What of an article tells what happened: without datelines, days and a site's own sentences."""

from __future__ import annotations

import pytest

from qiaocrawl.news.stories.lead import is_round_up, lead_of

TITLE = "泉州侨胞捐资修建侨乡图书馆"
TEXT = "泉州侨胞日前捐资修建一座侨乡图书馆，预计明年开放。"


@pytest.mark.parametrize(
    "before",
    [
        "",
        "中新社泉州11月5日电（记者 王小明）",
        "（泉州11月5日讯）",
        "客户端全新改版上线，语音播报、离线阅读，一个应用就够了。\n",
        "客户端全新改版上线，离线阅读一个应用就够了。\n中新社泉州11月5日电（记者 王小明）",
    ],
)
def test_what_stands_before_a_text_is_left_out(before: str) -> None:
    assert lead_of(TITLE, before + TEXT) == TEXT


def test_days_are_no_words_of_a_lead() -> None:
    assert (
        lead_of("图书馆开放", "图书馆2026年11月5日上午开放，3月起施工。")
        == "图书馆上午开放，起施工。"
    )


def test_where_no_sentence_is_of_the_title_nothing_is_left_out() -> None:
    body = "天还没亮，他就出门了。路上没有人。"
    assert lead_of("Morning", body) == body


PARAGRAPH = "当地侨团负责人和各界人士约四百人出席了活动，气氛热烈，大家表示将继续互相帮助。"
ITEMS = "\n".join(
    f"{heading}\n{PARAGRAPH}"
    for heading in (
        "温州同乡会举行就职典礼",
        "悉尼侨团发放健康包",
        "侨乡小学新校舍启用",
        "归侨喜迁新居",
    )
)


@pytest.mark.parametrize(
    "title", ["侨界一周（11月2日—11月8日）", "每周要闻速览", "侨社新闻早报：四件事"]
)
def test_several_headed_items_are_a_round_up(title: str) -> None:
    assert is_round_up(title, ITEMS)


def test_headings_without_a_telling_title_are_a_round_up_if_they_are_of_other_things() -> None:
    assert is_round_up("本地见闻", ITEMS)
    assert not is_round_up("温州同乡会侨团小学归侨", ITEMS)


def test_a_long_report_with_headings_of_its_own_is_no_round_up() -> None:
    below = "渔船“闽狮号”当时载有十一人，其中九人已获救，另有两人下落不明，搜救还在进行。"
    report = "\n".join(
        f"{heading}\n{below}"
        for heading in (
            "凌晨三点发出求救信号",
            "家属连夜赶到码头",
            "当地连日有大风",
            "公司称会负责",
        )
    )
    assert not is_round_up("渔船倾覆 两人下落不明", report)
    # Under the same headings of four things.
    assert is_round_up("本地见闻", report)


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("一周岁的熊猫与游客见面", f"{TEXT}\n{TEXT}"),
        ("侨界一周（11月2日—11月8日）", TEXT),
        ("", ""),
    ],
)
def test_one_text_is_no_round_up(title: str, body: str) -> None:
    assert not is_round_up(title, body)
