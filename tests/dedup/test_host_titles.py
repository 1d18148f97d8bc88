"""Names of sites are learnt from titles, and titles before that are mended."""

from __future__ import annotations

import pytest
from dedup_samples import key, record

from qiaocrawl.dedup import TitleIndex
from qiaocrawl.dedup.cleaning import MAX_TITLE_CHARS, HostTitles
from qiaocrawl.dedup.methods import methods
from qiaocrawl.items import VerdictKind

TITLE = "侨联为归侨老人送年货"
OTHERS = [
    "北山隧道贯通两地车程缩短", "市图书馆延长开放到夜里十点", "少年棋手夺得全省冠军",
    "老城区三条公交线今起改道", "渔港迎来今年开渔第一船", "江口县新茶开采茶农忙到掌灯",
]  # fmt: skip
NAME = " - 甲地乡音"
HOST = "a.example"

every_method = pytest.mark.parametrize("method", methods.names())


def teach(index: TitleIndex, first: int = 100) -> None:
    """Let *index* learn the name that the host puts behind its titles."""
    for number, title in enumerate(OTHERS, first):
        index.judge(record(number, title + NAME, host=HOST))


@every_method
def test_an_earlier_title_is_mended_when_its_hosts_name_is_learnt(method: str) -> None:
    index = TitleIndex(method, 0.95)
    index.judge(record(1, TITLE + NAME, host=HOST))
    assert (key(1), 1.0) not in index.near(TITLE)
    teach(index)
    assert index.near(TITLE) == [(key(1), 1.0)]
    verdict = index.judge(record(2, TITLE, host="b.example"))
    assert (verdict.kind, verdict.of) == (VerdictKind.REPRINT, key(1))


@every_method
def test_a_title_that_was_replaced_or_removed_is_not_mended_back(method: str) -> None:
    index = TitleIndex(method, 0.95)
    index.judge(record(1, TITLE + NAME, host=HOST))
    index.judge(record(2, TITLE + NAME, host=HOST))
    index.judge(record(1, "两岸渔民同场赛龙舟", host=HOST))
    index.remove(key(2))
    index.add([record(2, "两岸渔民同场赛龙舟", host="b.example")])
    teach(index)
    assert index.near(TITLE) == []
    assert {one for one, _ in index.near("两岸渔民同场赛龙舟")} == {key(1), key(2)}


@every_method
def test_what_is_learnt_within_one_call_mends_what_came_before_it(method: str) -> None:
    index = TitleIndex(method, 0.95)
    records = [record(1, TITLE + NAME, host=HOST)]
    records += [record(n, title + NAME, host=HOST) for n, title in enumerate(OTHERS, 100)]
    records += [record(2, TITLE, host="b.example"), record(1, TITLE + NAME, host=HOST)]
    verdicts = index.judge_all(records)
    assert verdicts[0].of is None
    assert verdicts[-2].of == key(1)
    assert verdicts[-1].of == key(2)


def test_the_name_belongs_to_its_host() -> None:
    index = TitleIndex("vsm", 0.95)
    teach(index)
    index.judge(record(1, TITLE, host=HOST))
    assert index.judge(record(2, TITLE + NAME, host="b.example")).of is None
    assert index.judge(record(3, TITLE + NAME, host=HOST)).of == key(1)


def test_only_what_may_need_mending_is_kept() -> None:
    hosts = HostTitles()
    for one in (record(1, TITLE, host=HOST), record(2, TITLE + NAME),
                record(3, "长" * MAX_TITLE_CHARS + NAME, host=HOST)):  # fmt: skip
        assert not hosts.learn(one)
    assert hosts.earlier(HOST) == []
    hosts.learn(record(4, TITLE + NAME, host=HOST))
    assert hosts.earlier(HOST) == [(key(4), TITLE + NAME)]


def test_the_latest_titles_of_a_host_are_kept() -> None:
    hosts = HostTitles()
    for number in range(100):
        hosts.learn(record(number, f"{TITLE}{number}{NAME}", host=HOST))
    assert [one for one, _ in hosts.earlier(HOST)] == list(map(key, range(36, 100)))
    hosts.forget(key(40), HOST)
    hosts.forget(key(40), "unknown.example")
    assert key(40) not in dict(hosts.earlier(HOST))
    assert len(hosts.earlier(HOST)) == 63


def test_hosts_are_bounded() -> None:
    hosts = HostTitles()
    for number in range(4_200):
        hosts.learn(record(number, TITLE + NAME, host=f"{number}.example"))
    assert hosts.earlier("0.example") == []
    assert len(hosts.earlier("4199.example")) == 1
