"""Titles, keys and dates as pages and databases should not give them, but do."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from dedup_samples import key, record

from qiaocrawl.dedup import TitleIndex
from qiaocrawl.dedup.methods import Relation, TitlePair, methods
from qiaocrawl.items import TitleRecord, VerdictKind

TITLE = "侨联为归侨老人送年货"
OTHER = "北山隧道贯通 两地车程缩短一小时"

every_method = pytest.mark.parametrize("method", methods.names())


@pytest.fixture(params=methods.names())
def index(request: pytest.FixtureRequest) -> TitleIndex:
    """An empty index of each method."""
    return TitleIndex(request.param)


WORDLESS = ["", " ", "-_", "——！？", "😀🎉😀", "\0\x01\x7f", "\ud800\udfff", "\r\n\x85\u2028",
            "|_-—>·：" * 50]  # fmt: skip
ODD = [
    "首", "2026", "12 34 56 78", "hello world", "a\0b\x01c 归侨", "\ud800归侨\udfff过年",
    "归侨\r\n返乡\x85过年\u2028了", "\u0301归侨\u200d过年", "i̇İ归侨", "ﷺ归侨", "𠮷田归侨过年",
    "归侨" * 100, "第 1 期 - " * 300, "归侨 " * 600,
]  # fmt: skip


@pytest.mark.parametrize("title", WORDLESS)
def test_titles_without_words_are_distinct(index: TitleIndex, title: str) -> None:
    records = [record(number, title) for number in range(3)]
    for one in records:
        verdict = index.judge(one)
        assert (verdict.kind, verdict.of, verdict.similarity) == (VerdictKind.DISTINCT, None, 0.0)
    assert index.near(title) == []
    assert len(set(index.regroup(records).groups.values())) == 3


@every_method
def test_an_odd_title_harms_no_neighbour(method: str) -> None:
    # Many titles are folded and cut in one call.
    index, alone = TitleIndex(method), TitleIndex(method)
    records = []
    for number, odd in enumerate([*WORDLESS, *ODD]):
        records += [record(3 * number, odd), record(3 * number + 1, TITLE),
                    record(3 * number + 2, odd + OTHER)]  # fmt: skip
    verdicts = index.judge_all(records)
    assert verdicts == [alone.judge(one) for one in records]
    assert all(verdict.of is not None for verdict in verdicts[4::3])
    assert len(index) == len(records)


@pytest.mark.parametrize("title", ODD)
def test_the_same_odd_title_is_found_again(title: str) -> None:
    index = TitleIndex("vsm")
    assert index.judge(record(1, title)).of is None
    verdict = index.judge(record(2, title))
    assert (verdict.of, verdict.similarity) == (key(1), 1.0)


@pytest.mark.parametrize("part", ["归侨过年", "第 1 期 - ", "|", "a", "7", " ", "\ud800", "\n"])
def test_a_megabyte_is_a_title_like_others(index: TitleIndex, part: str) -> None:
    title = part * (1_000_000 // len(part))
    for number in range(2):
        index.judge(record(number, title, host="a.example"))
    assert index.judge(record(3, TITLE)).of is None
    assert index.judge(record(4, TITLE)).of == key(3)
    # What is kept of it is bounded: the words of what the store keeps of a title.
    assert index.memory_bytes < 300_000


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of the method once for each pair of titles it was asked about."""
    asked: list[str] = []

    def watch(name: str) -> None:
        method = type(methods.get(name)(None))
        relation = method.relation

        def asking(self: object, pair: TitlePair) -> Relation:
            asked.append(name)
            return relation(self, pair)

        monkeypatch.setattr(method, "relation", asking)

    for name in methods.names():
        watch(name)
    return asked


@pytest.mark.parametrize(
    ("method", "title", "count"), [("reprint", TITLE, 10_000), ("vsm", "首页", 3_000)]
)
def test_thousands_of_identical_titles(
    method: str, title: str, count: int, counted: list[str]
) -> None:
    index, one = TitleIndex(method), record(0, title)
    verdicts = index.judge_all(replace(one, key=key(number)) for number in range(count))
    assert verdicts[0].of is None
    assert all(verdict.of != key(n) for n, verdict in enumerate(verdicts))
    assert all(v.of is not None and v.similarity == 1.0 for v in verdicts[1:])
    assert len(counted) <= 16 * count
    assert len(index) == count
    # Those at the end of a row are the first to go when pages are judged again.
    for number in range(1_000):
        index.remove(key(number))
    assert len(index.near(title)) == count - 1_000


@pytest.mark.parametrize(
    ("method", "threshold", "kind"),
    [("vsm", 0.6, VerdictKind.REPRINT), ("reprint", None, VerdictKind.SERIES)],
)
def test_titles_of_one_mould_are_compared_with_so_many(
    method: str, threshold: float | None, kind: VerdictKind, counted: list[str]
) -> None:
    verdicts = TitleIndex(method, threshold).judge_all(
        record(number, f"双色球第{number + 1000}期开奖结果中奖号码公布") for number in range(400)
    )
    assert len(counted) <= 64 * 400
    assert {verdict.kind for verdict in verdicts[1:]} == {kind}


@pytest.mark.parametrize("odd", [b"", b"a", b"a" * 15, b"a" * 17, b"x" * 40, b"\0" * 16])
def test_keys_of_any_length(index: TitleIndex, odd: bytes) -> None:
    first = TitleRecord(odd, TITLE)
    assert index.judge(first).of is None
    verdict = index.judge(record(1, TITLE))
    assert (verdict.of, odd in index, odd + b"\0" in index) == (odd, True, False)
    assert index.judge_all([first, first])[0].of == key(1)
    assert len(index) == 2
    assert index.regroup([first, record(1, TITLE)]).groups == dict.fromkeys(
        (odd, key(1)), min(odd, key(1))
    )
    index.remove(odd)
    assert (odd in index, len(index)) == (False, 1)


EARLY, LATE = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)
DATES = [
    EARLY, LATE, EARLY.replace(tzinfo=UTC), LATE.replace(tzinfo=UTC),
    EARLY.replace(tzinfo=timezone(timedelta(hours=14))),
    LATE.replace(tzinfo=timezone(timedelta(hours=-12))), datetime(1969, 12, 31, 23, 59, 59),
    datetime(2026, 3, 1, 8, 0, 0, 1),
]  # fmt: skip


@pytest.mark.parametrize("when", DATES, ids=str)
def test_dates_far_outside(index: TitleIndex, when: datetime) -> None:
    one, other = replace(record(1, TITLE), published_at=when), record(2, TITLE, day=0)
    assert index.judge(one).of is None
    assert index.judge(other).of == key(1)
    groups = index.regroup([other, one]).groups
    assert index.regroup([one, other]).groups == groups


def test_a_date_without_a_zone_is_utc_wherever_this_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    naive = replace(record(1, TITLE), published_at=datetime(2026, 3, 1, 12))
    aware = [record(2, TITLE, day=0.4), record(3, TITLE, day=0.6)]
    for zone in ("Asia/Shanghai", "America/Los_Angeles"):
        monkeypatch.setenv("TZ", zone)
        assert set(TitleIndex().regroup([naive, aware[1]]).groups.values()) == {key(1)}
        assert set(TitleIndex().regroup([naive, aware[0]]).groups.values()) == {key(2)}


@pytest.mark.parametrize("simhash", [-1, 2**64])
def test_a_record_that_is_none_leaves_nothing_behind(index: TitleIndex, simhash: int) -> None:
    wrong = replace(record(1, TITLE), body_simhash=simhash)
    for bad in ([wrong], [record(2, TITLE), wrong]):
        with pytest.raises(OverflowError):
            index.judge_all(bad)
        assert (len(index), key(1) in index) == (0, False)
    assert index.judge(record(1, TITLE)).of is None
    assert index.judge(record(2, TITLE)).of == key(1)


def test_simhashes_of_all_64_bits_are_kept() -> None:
    index = TitleIndex()
    full = 2**64 - 1
    index.judge(replace(record(1, TITLE), body_simhash=full))
    index.judge(replace(record(2, OTHER), body_simhash=1))
    verdict = index.judge(replace(record(3, TITLE + "和对联"), body_simhash=full - 4))
    assert (verdict.of, verdict.why) == (key(1), "bodies differ in 1 of 64 bits")


def test_digests_are_told_from_no_digest() -> None:
    index = TitleIndex()
    index.judge(record(1, TITLE))
    assert index.judge(record(2, TITLE, digest=bytes(16))).kind is VerdictKind.REPRINT
    assert index.judge(record(3, TITLE, digest=bytes(16))).of == key(2)


def test_hosts_that_are_none(index: TitleIndex) -> None:
    hosts = ["localhost", "[::1]", "127.0.0.1", "a..b", ".", "com", "中国.中国", "\ud800.cn", "\0",
             "a" * 1000 + ".cn", "a b", "a.cn.", "a.cn:8080"]  # fmt: skip
    records = [record(n, TITLE + " - 甲地乡音", host=host) for n, host in enumerate(hosts)]
    verdicts = index.judge_all(records)
    assert all(verdict.is_same_story for verdict in verdicts[1:])
    assert set(index.regroup(records).groups.values()) == {key(0)}
