"""Spread: outlets, credits, who took it from whom, figures, changes, pictures."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest

from qiaocrawl.dedup.fingerprints import body_sketch
from qiaocrawl.news.pictures.spread import time_line_svg, tree_svg
from qiaocrawl.news.spread.edges import credits_in
from qiaocrawl.news.spread.publication import (
    Change,
    Publication,
    is_nobody,
    is_own,
    is_short_for,
    outlet_of,
)
from qiaocrawl.news.spread.tree import SpreadTree, change_reports, spread_figures, spread_tree
from qiaocrawl.text.zones import SHANGHAI

NOON = datetime(2026, 3, 5, 12, 7, 30, tzinfo=SHANGHAI)
BODY = [
    f"第{n}条消息说明侨胞在{place}参加了座谈会" for n, place in enumerate("泉福厦漳广深温青江梅")
]


def publication(
    name: str, minutes: float | None, body: list[str] = BODY, **more: Any
) -> Publication:
    published = None if minutes is None else NOON + timedelta(minutes=minutes)
    return Publication(**{
        "key": f"http://{name}.example/1", "host": f"{name}.example", "title": "侨胞座谈",
        "published_at": published, "fetched_at": NOON + timedelta(days=2), "outlet": f"{name}报",
        "sketch": body_sketch("。".join(body)), **more,
    })  # fmt: skip


def parents(tree: SpreadTree) -> dict[str, str]:
    """Letters of the hosts; names of outlets outside."""
    return {key[7]: (edge.parent[7:8] or edge.outside) for key, edge in tree.edges.items()}


@pytest.mark.parametrize(
    ("name", "host", "outlet"),
    [
        ("新华网", "", "新华社"),
        ("《新华社客户端》", "", "新华社"),
        ("", "www.xinhuanet.com", "新华社"),
        ("中新社", "", "中国新闻社"),
        ("人民日報海外版", "", "人民日报海外版"),
        ("人民网", "", "人民日报"),
        ("泉州网", "", "泉州"),
        ("泉州", "www.sohu.com", "泉州"),
        ("", "news.qzwb.example", "news.qzwb.example"),
        ("", "", ""),
        ("综合新华社消息", "", "新华社"),
        ("新华社综合报道", "", "新华社"),
        ("据《联合早报》报道", "", "联合早报"),
        ("據南洋華文日報報道", "", "南洋华文日报"),
        ("转自：欧洲时报", "", "欧洲时报"),
        ("参考消息", "", "参考消息"),
        ("据参考消息报道", "", "参考消息"),
        ("南海消息", "", "南海消息"),
        ("腾讯综合", "", "腾讯"),
        ("综合", "", "综合"),
    ],
)
def test_outlets_by_all_their_names(name: str, host: str, outlet: str) -> None:
    assert outlet_of(name, host) == outlet


def test_source_lines_that_name_nobody_or_themselves() -> None:
    assert all(map(is_own, ("本站", "本网讯", "原创")))
    assert all(map(is_nobody, ("", "网络", "互联网综合", "佚名", "本站综合", "本網綜合報道")))
    assert not any(map(is_own, ("本溪日报", "", "本站综合")))
    assert not any(map(is_nobody, ("网络传播杂志社", "综合开发研究院")))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("新华社曼谷3月5日电（记者张三）侨胞说", ("新华社",)),
        ("（中新社记者 李四）中新网3月5日电 侨胞", ("中新网",)),
        ("据《联合早报》3月4日报道，侨胞", ("联合早报",)),
        ("據星洲日報報道，僑胞", ("星洲日报",)),
        ("据外媒报道，据有关部门消息，据悉，据介绍", ()),
        ("侨胞说。" * 80 + "（转自：欧洲时报）", ("欧洲时报",)),
        ("本报讯 侨胞 来源：本站", ()),
        ("游客的客源来源地都更加多样。侨胞", ()),
        ("侨胞 来源 欧洲时报", ("欧洲时报",)),
        ("没有说明", ()),
    ],
)
def test_whom_a_text_credits(text: str, names: tuple[str, ...]) -> None:
    assert credits_in(text) == names


@pytest.mark.parametrize(
    ("name", "outlet", "is_short"),
    [
        ("侨报网", "寰宇侨报网", True),
        ("据侨报网报道", "寰宇侨报网", True),
        ("南洋日报", "南洋华文日报", True),
        ("闽南侨务网", "闽南侨务信息网", True),
        ("华声", "港澳华声", True),
        ("日报", "南洋华文日报", False),
        ("南华日报", "南洋华文", False),
        ("寰宇侨报网", "寰宇侨报网", False),
        ("寰宇侨报网", "侨报网", False),
        # It is another that is listed.
        ("人民日报", "人民日报海外版", False),
        ("", "寰宇侨报网", False),
    ],
)
def test_short_forms_of_outlets(name: str, outlet: str, is_short: bool) -> None:
    assert is_short_for(name, outlet) is is_short


def test_a_source_line_in_short_names_who_is_here() -> None:
    tree = spread_tree([
        publication("a", 0, outlet="南洋华文日报"),
        publication("b", 60, outlet="港澳华声", source="南洋日报"),
        publication("c", 90, outlet="江北新闻网", source="综合南洋华文日报"),
        # Its own name in short is no credit of another.
        publication("d", 95, ["完全是另外一件事情的报道"] * 2, outlet="寰宇侨报网",
                    source="寰宇侨报网", credits=("侨报网",)),
        # Another text is hardly from there: the name may be meant otherwise.
        publication("e", 99, ["又是一件不同的事情"] * 2, outlet="都市在线", source="南洋日报"),
    ])  # fmt: skip
    assert parents(tree) == {"a": "", "b": "a", "c": "a", "d": "", "e": ""}
    certainties = [tree.edges[f"http://{name}.example/1"].certainty for name in "bc"]
    assert certainties[0] < certainties[1] == 0.95


def test_what_is_short_for_two_outlets_names_neither() -> None:
    tree = spread_tree([
        publication("a", 0, outlet="南洋华文日报"), publication("b", 30, outlet="南洋商业日报"),
        publication("c", 60, ["完全是另外一件事情的报道"] * 2, source="南洋日报"),
    ])  # fmt: skip
    assert parents(tree)["c"] == "南洋日报"


def test_one_that_names_its_day_only_may_have_been_the_source() -> None:
    midnight = -(12 * 60 + 7.5)
    day_only = publication("a", midnight)
    copy = publication("b", 0, source="a报")
    unsourced = publication("c", 120)
    assert parents(spread_tree([day_only, copy, unsourced])) == {"a": "", "b": "a", "c": "a"}
    # Without anybody who surely had it from there, it is open.
    tree = spread_tree([day_only, replace(copy, source=""), unsourced])
    assert tree.edges["http://c.example/1"].alternatives


def test_a_copy_of_a_changed_copy_is_known_by_the_change() -> None:
    changed = [*BODY[:8], "编者补充的一句话只有这里才有"]
    tree = spread_tree([
        publication("a", 0), publication("b", 60, changed), publication("c", 120, changed),
        publication("d", 130), publication("e", 200, ["完全是另外一件事情的报道"] * 2),
    ])  # fmt: skip
    assert parents(tree) == {"a": "", "b": "a", "c": "b", "d": "a", "e": ""}
    edge = tree.edges["http://c.example/1"]
    assert [evidence.kind for evidence in edge.evidence] == ["text", "earlier"]
    assert edge.evidence[0].value == "100%"
    assert tree.first is not None
    assert (tree.first.outlet, tree.first.certainty, tree.first.alternatives) == ("a报", 0.95, ())
    # Nothing speaks for where e has it from.
    assert not tree.edges["http://e.example/1"].is_known


def test_names_weigh_more_than_likeness_and_links_more_than_names() -> None:
    tree = spread_tree([
        publication("a", 0), publication("b", 60), publication("c", 120, source="b报网"),
        publication("d", 180, source="b报", source_url="http://c.example/1"),
        publication("e", 240, credits=("c报",)),
        publication("f", 300, BODY[:2], links=("http://e.example/1", "http://x.example/")),
    ])  # fmt: skip
    assert parents(tree) == {"a": "", "b": "a", "c": "b", "d": "c", "e": "c", "f": "e"}
    assert [e.kind for e in tree.edges["http://d.example/1"].evidence] == [
        "source_link", "text", "earlier",
    ]  # fmt: skip
    assert spread_figures(tree).depth == 4


def test_who_names_somebody_else_had_it_from_outside() -> None:
    tree = spread_tree([publication(name, minutes, source=source) for name, minutes, source in (
        ("a", 5, "联合早报"), ("b", 60, "早报网"), ("c", 90, "新加坡联合早报"), ("d", 95, "本站"),
    )])  # fmt: skip
    assert parents(tree) == {"a": "联合早报", "b": "联合早报", "c": "联合早报", "d": ""}
    assert tree.first is not None
    assert (tree.first.key, tree.first.outlet, tree.first.named_by) == ("", "联合早报", 3)
    assert tree.first.certainty > 0.9
    assert tree.edges["http://d.example/1"].evidence[0].kind == "own"


def test_what_is_unknown_is_called_so() -> None:
    midnight: dict[str, Any] = {"published_at": NOON.replace(hour=0, minute=0, second=0)}
    tree = spread_tree([publication("a", 0, **midnight), publication("b", 0, **midnight),
                        publication("c", None)])  # fmt: skip
    assert parents(tree) == {"a": "", "b": "", "c": ""}
    assert tree.first is not None
    assert tree.first.certainty == 0.5
    assert len(tree.first.alternatives) == 2
    figures = spread_figures(tree)
    assert (figures.unknown, figures.half_seconds, figures.first_at) == (2, None, None)
    # Of equals that is taken which others had theirs from; without such, nothing is said.
    equal = [publication("a", 0), publication("b", 30, source="a报"), publication("c", 60)]
    assert parents(spread_tree(equal))["c"] == "a"
    assert spread_tree(equal).edges["http://c.example/1"].alternatives == ("http://b.example/1",)
    vague = [publication("a", 0, **midnight), publication("b", 1), publication("c", 1_440)]
    edge = spread_tree(vague).edges["http://c.example/1"]
    assert not edge.is_known
    assert {key[7] for key in edge.alternatives} == {"a", "b"}


def test_no_circles_and_the_same_whatever_the_order() -> None:
    group = [publication("a", 0, source="b报"), publication("b", 1, source="a报"),
             publication("c", 30, source="c报"), publication("d", 40)]  # fmt: skip
    tree = spread_tree(group)
    assert parents(tree) == {"a": "", "b": "a", "c": "", "d": ""}
    for seed in range(5):
        shuffled = Random(seed).sample(group, len(group))
        assert spread_tree(shuffled) == tree
    with pytest.raises(ValueError, match="one key"):
        spread_tree([group[0], group[0]])
    assert spread_tree([]).first is None


def simulated(seed: int, count: int = 25) -> tuple[list[Publication], dict[str, str]]:
    """A group where a third of the copies change the text and half name their source."""
    random = Random(seed)
    bodies, group, truth = [list(BODY)], [publication("r", 0)], {}
    for number in range(1, count):
        at = int(len(group) * random.random() ** 2)
        body = list(bodies[at])
        if random.random() < 1 / 3:
            body[random.randrange(len(body))] = f"第{number}家编辑在这里改写了一句话"
        source = group[at].outlet if random.random() < 0.5 else ""
        bodies.append(body)
        own = publication(f"s{number}", number * 10, body, source=source)
        truth[own.key] = group[at].key
        group.append(own)
    return group, truth


def test_most_of_a_simulated_spread_comes_out() -> None:
    right = said = total = 0
    for seed in range(8):
        group, truth = simulated(seed)
        tree = spread_tree(group)
        assert tree.first is not None
        assert tree.first.key == group[0].key
        total += len(truth)
        said += sum(tree.edges[key].is_known for key in truth)
        right += sum(tree.edges[key].parent == parent for key, parent in truth.items())
    # A copy of one of many equal copies cannot be told: that is said, not guessed.
    assert right / said >= 0.9
    assert said / total >= 0.65


def test_figures() -> None:
    tree = spread_tree([
        publication("a", 0, tier=1, region="中国", engagement={"reads": 1000}, comments=3),
        publication("b", 30, tier=2, region="福建", source="a报", engagement={"reads": 5}),
        publication("c", 40, tier=2, region="福建", source="b报"),
        publication("d", 180, source="b报"),
        publication("e", None, source="a报", outlet="b报"),
    ])  # fmt: skip
    figures = spread_figures(tree)
    assert (figures.publications, figures.outlets, figures.depth) == (5, 4, 2)
    assert figures.by_depth == (1, 2, 2)
    assert figures.by_tier == {1: 1, 2: 2, None: 1}
    assert figures.by_region == {"中国": 1, "福建": 2, "": 1}
    assert (figures.timed, figures.most_in_an_hour, figures.half_seconds) == (4, 3, 1_800)
    assert figures.median_lag_seconds == 1_800
    assert (figures.engagement, figures.shown, figures.comments) == ({"reads": 1005}, 2, 3)


def test_who_stands_by_what_was_corrected() -> None:
    later = NOON + timedelta(hours=5)
    tree = spread_tree([
        publication("a", 0, changes=(Change("corrected", later, "title"),)),
        publication("b", 30, source="a报"),
        publication("c", 40, source="a报", changes=(Change("corrected", later + timedelta(1)),)),
        publication("d", 400, source="a报"),
        publication("e", 50, source="b报", changes=(Change("deleted", later + timedelta(2)),)),
    ])  # fmt: skip
    reports = change_reports(tree)
    assert [(report.key[7], report.change.kind) for report in reports] == [
        ("a", "corrected"), ("c", "corrected"), ("e", "deleted"),
    ]  # fmt: skip
    assert [key[7] for key in reports[0].not_followed] == ["b"]


def test_pictures_tell_in_chinese_and_stand_what_pages_write() -> None:
    group = [publication("a", 0, tier=1, outlet="<x>&\x00\ufffe报", source="联合早报",
                         changes=(Change("deleted", NOON + timedelta(hours=3)),))]  # fmt: skip
    group += [publication(f"b{n}", 10 + n, tier=2, source_url=group[0].key) for n in range(20)]
    group += [publication("c", None), publication("d", 50, ["另一件完全不同的事情"] * 2, tier=3)]
    tree = spread_tree(group)
    tree_picture, time_line = tree_svg(tree, "传播"), time_line_svg(tree, "时间")
    for picture in (tree_picture, time_line):
        root = ElementTree.fromstring(picture)
        assert root.tag.endswith("svg")
    for words in ("另有 8 篇", "首发", "删除", "不在库中", "来源处链接", "1 级", "不明"):
        assert words in tree_picture
    for words in ("1 级", "删除", "篇没有日期", "累计"):
        assert words in time_line
    assert "origin unknown" in tree_svg(tree, "x", "en")
    assert ElementTree.fromstring(time_line_svg(spread_tree([]), "")) is not None
    assert ElementTree.fromstring(tree_svg(spread_tree([]), "")) is not None
    assert "03-05" in time_line_svg(spread_tree([replace(group[0], source="")]), "")


def test_a_print_version_is_the_page_it_is_of() -> None:
    later = NOON + timedelta(hours=5)
    printed = BODY[:-1]
    tree = spread_tree([
        publication("a", 0, changes=(Change("corrected", later),)),
        publication("b", 30, source="a报"),
        publication("b", 30, printed, key="http://b.example/print/1", source="a报"),
        publication("c", 60, printed, source="b报"),
        # Seen in the same round, a moment before that of a.
        publication("d", 40, source="a报",
                    changes=(Change("corrected", later - timedelta(minutes=1)),)),
    ])  # fmt: skip
    # The print version is more alike, and yet nobody's source.
    assert tree.edges["http://c.example/1"].parent == "http://b.example/1"
    (not_followed,) = [own.not_followed for own in change_reports(tree) if own.key[7] == "a"]
    assert set(not_followed) == {"http://b.example/1", "http://c.example/1"}
