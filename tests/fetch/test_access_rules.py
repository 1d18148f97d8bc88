"""Which hosts options speak of, whose turn it is, and what strikes cost a host."""

from __future__ import annotations

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.block_detection import BlockKind, BlockSign
from qiaocrawl.fetch.host_rules import CrawlWindows, HostHealth, parse_crawl_windows, parse_rules

ENGINES = {"baidu": "www.baidu.com", "so360_news": "news.so.com"}


def test_the_most_exact_rule_counts() -> None:
    entries = ("*=a", "*.example.com=b", "*.news.example.com=c", "News.example.com=d", "baidu=e")
    rules = parse_rules("QIAO_X", entries, ENGINES, str)
    expected = {
        "other.test": "a", "example.com": "b", "www.example.com": "b", "news.example.com": "d",
        "a.news.example.com": "c", "www.baidu.com": "e", "baidu.com": "a", "badexample.com": "a",
        "news.example.com:8080": "d",
    }  # fmt: skip
    assert {host: rules.find(host) for host in expected} == expected
    assert not parse_rules("QIAO_X", (), ENGINES, str)


@pytest.mark.parametrize(
    ("entries", "said"),
    [(("baidoo=a",), r"'baidoo' is no host.*engines: baidu, so360_news"),
     (("=a",), "'' is no host"), (("a/b=a",), "'a/b' is no host"),
     (("a.test=a", "a.test=b"), "a.test is named twice")],
)  # fmt: skip
def test_what_is_no_rule_is_named(entries: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigError, match=f"QIAO_X: .*{said}|{said}"):
        parse_rules("QIAO_X", entries, ENGINES, str)


def windows(*entries: str) -> CrawlWindows:
    return parse_crawl_windows(entries, ENGINES)


def test_one_engine_rests_while_the_other_works() -> None:
    shared = windows("baidu=60/60", "so360_news=60/60")
    for second in range(0, 240, 7):
        resting = [host for host in ENGINES.values() if shared.rest_seconds(host, second) > 0]
        assert len(resting) == 1, second
    assert shared.rest_seconds("www.baidu.com", 60) == 60
    assert shared.rest_seconds("www.baidu.com", 100) == 20
    assert shared.rest_seconds("www.baidu.com", 120) == 0
    assert shared.rest_seconds("elsewhere.test", 0) == 0


def test_hosts_of_a_wider_rule_rest_at_times_of_their_own() -> None:
    shared = windows("*=100/300")
    hosts = [f"h{n}.test" for n in range(200)]
    working = [sum(shared.rest_seconds(host, at) == 0 for host in hosts) for at in (0, 150, 370)]
    assert all(30 <= number <= 70 for number in working)
    assert windows("*=5/0").rest_seconds("a.test", 3.0) == 0
    assert not windows()


@pytest.mark.parametrize("value", ["", "60", "0/60", "60/-1", "nan/5", "x/y", "1e9/5"])
def test_windows_that_make_no_sense_are_refused(value: str) -> None:
    with pytest.raises(ConfigError, match=r"WORK/REST in seconds"):
        windows(f"baidu={value}")


SURE = BlockSign(BlockKind.CAPTCHA, "x")
MAYBE = BlockSign(BlockKind.FORBIDDEN, "x")
MEMBERS = BlockSign(BlockKind.LOGIN, "x")


def test_a_sure_block_rests_the_host_longer_each_time_and_ends_in_giving_up() -> None:
    health = HostHealth(60.0)
    pauses = []
    now = 0.0
    while True:
        strike = health.note_block("a", SURE, now)
        assert strike is not None
        if strike.give_up:
            break
        pauses.append(strike.pause_seconds)
        # What was under way when the host was parked is the same strike.
        same = health.note_block("a", SURE, now + 1)
        assert same is not None
        assert (same.pause_seconds, same.give_up) == (strike.pause_seconds - 1, False)
        now += strike.pause_seconds
    assert pauses == [60.0, 240.0]
    assert health.note_block("b", SURE, now) is not None


def test_suspicion_and_silence_need_several_in_a_row() -> None:
    health = HostHealth(60.0)
    assert [health.note_block("a", MAYBE, 0.0) is None for _ in range(5)] == [True] * 4 + [False]
    assert [health.silent("b", 0.0) is None for _ in range(3)] == [True, True, False]
    assert health.rest_seconds("b", 10.0) == 50.0
    assert health.is_on_trial("b")
    assert not health.is_on_trial("a stranger")
    for _ in range(2):
        health.silent("c", 0.0)
    for _ in range(4):
        health.note_block("d", MAYBE, 0.0)
    assert health.is_on_trial("c")
    health.alive("c")
    assert not health.is_on_trial("c")
    health.alive("nobody")
    health.note_answer("d")
    assert health.silent("c", 0.0) is None
    assert health.note_block("d", MAYBE, 0.0) is None
    assert health.rest_seconds("d", 0.0) == 0.0


def test_pages_for_members_are_not_soon_taken_for_a_block() -> None:
    health = HostHealth(60.0)
    strikes = [health.note_block("a", MEMBERS, 0.0) for _ in range(20)]
    assert strikes[:19] == [None] * 19
    assert strikes[19] is not None
