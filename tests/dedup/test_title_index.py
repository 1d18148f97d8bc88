"""What the title index promises, whatever the method."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from dedup_samples import DAY, key, near_enough, record

from qiaocrawl.dedup import Grouping, TitleIndex
from qiaocrawl.dedup.methods import methods
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import VerdictKind
from qiaocrawl.text.segment import Segmenter
from qiaocrawl.vsm import IdfSnapshot

TITLE = "侨联为归侨老人送年货"
OTHER_TITLES = [
    "江口县新茶开采 茶农忙到掌灯", "北山隧道贯通 两地车程缩短一小时", "市图书馆延长开放到夜里十点",
    "少年棋手夺得全省冠军", "老城区三条公交线改道", "渔港迎来开渔第一船",
]  # fmt: skip
TEXT = "\n".join(f"归侨林先生说，这是他收到的第{n}份年货，里面有家乡的味道。" for n in range(12))

every_method = pytest.mark.parametrize("method", methods.names())


@pytest.fixture(params=methods.names())
def index(request: pytest.FixtureRequest) -> TitleIndex:
    """The index of each method, some titles of other matters known."""
    made = TitleIndex(request.param)
    for number, title in enumerate(OTHER_TITLES, 1000):
        assert made.judge(record(number, title)).kind is VerdictKind.DISTINCT
    return made


def test_a_reprint_points_to_the_earlier_title(index: TitleIndex) -> None:
    first = index.judge(record(1, TITLE))
    assert (first.kind, first.of, first.also) == (VerdictKind.DISTINCT, None, ())
    verdict = index.judge(record(2, TITLE + "！"))
    assert (verdict.kind, verdict.of, verdict.similarity) == (VerdictKind.REPRINT, key(1), 1.0)
    assert verdict.why


def test_a_title_is_remembered_as_it_is_judged(index: TitleIndex) -> None:
    before = len(index)
    assert key(1) not in index
    index.judge(record(1, TITLE))
    assert (key(1) in index, len(index)) == (True, before + 1)
    assert index.near(TITLE) == [(key(1), 1.0)]


def test_scripts_and_widths_make_no_difference(index: TitleIndex) -> None:
    index.judge(record(1, "12名华侨学生返乡过年"))
    assert index.judge(record(2, "１２名華僑學生返鄉過年")).of == key(1)


def test_the_same_words_and_body_make_it_the_same_page(index: TitleIndex) -> None:
    index.judge(record(1, TITLE, digest=b"a"))
    index.judge(record(2, TITLE, digest=b"b"))
    verdict = index.judge(record(3, TITLE, digest=b"b"))
    assert (verdict.kind, verdict.of, verdict.also) == (VerdictKind.SAME_PAGE, key(2), (key(1),))


def test_bodies_count_for_the_default_and_not_for_the_published_method() -> None:
    kinds = {}
    for method in ("reprint", "vsm"):
        index = TitleIndex(method)
        index.judge(record(1, TITLE, text=TEXT, host="a.example"))
        verdict = index.judge(record(2, "一份年货里的家乡味", text=TEXT + "\n完", host="b.example"))
        kinds[method] = verdict.kind
    assert kinds == {"reprint": VerdictKind.REPRINT, "vsm": VerdictKind.DISTINCT}


def test_digests_alone_tell_copies_of_other_titles() -> None:
    index = TitleIndex()
    titles = [TITLE, "一份年货里的家乡味", "", "年货"]
    verdicts = index.judge_all(
        record(n, title, host=f"{n % 2}.example", digest=b"d") for n, title in enumerate(titles)
    )
    assert verdicts[0].kind is VerdictKind.DISTINCT
    assert {verdict.why for verdict in verdicts[1:]} == {"the same text word for word"}
    # Pages of one site are one page, others reprints.
    kinds = [verdict.kind for verdict in verdicts[1:]]
    assert kinds == [VerdictKind.REPRINT, VerdictKind.SAME_PAGE, VerdictKind.SAME_PAGE]
    assert [verdict.of for verdict in verdicts[1:]] == [key(0), key(0), key(1)]
    for number in range(4):
        index.remove(key(number))
    assert index.judge(record(9, TITLE + "了", digest=b"d")).of is None
    published = TitleIndex("vsm")
    published.judge(record(1, TITLE, digest=b"d"))
    assert published.judge(record(2, "年货里的家乡味", digest=b"d")).of is None


def test_one_sentence_under_many_titles_proves_nothing() -> None:
    index = TitleIndex()
    index.judge(record(1, TITLE, text="请点击下面的链接观看视频。"))
    other = index.judge(record(2, "两岸渔民同场赛龙舟", text="请点击下面的链接观看视频。"))
    assert other.kind is VerdictKind.DISTINCT


def test_a_key_judged_again_replaces_itself(index: TitleIndex) -> None:
    before = len(index)
    for _ in range(2):
        assert index.judge(record(1, TITLE, digest=b"a")).of is None
    assert index.judge(record(1, "两岸渔民同场赛龙舟")).of is None
    assert index.judge(record(2, TITLE, digest=b"a")).of is None
    assert index.judge(record(3, "两岸渔民同场赛龙舟")).of == key(1)
    assert len(index) == before + 3


def test_a_removed_title_is_forgotten(index: TitleIndex) -> None:
    before = len(index)
    index.judge(record(1, TITLE, text=TEXT))
    index.remove(key(1))
    index.remove(key(1))
    index.remove(key(77))
    assert (key(1) in index, len(index), index.near(TITLE)) == (False, before, [])
    assert index.judge(record(2, TITLE, text=TEXT)).kind is VerdictKind.DISTINCT


def test_of_copies_each_can_be_removed(index: TitleIndex) -> None:
    before = len(index)
    index.add(record(number, TITLE) for number in range(5))
    left = set(range(5))
    for number in (2, 4, 0, 3):
        index.remove(key(number))
        left.remove(number)
        assert {one for one, _ in index.near(TITLE)} == set(map(key, left))
    index.remove(key(1))
    assert (len(index), index.near(TITLE)) == (before, [])


@every_method
def test_what_was_added_counts_like_what_was_judged(method: str) -> None:
    titles = [*OTHER_TITLES, TITLE, TITLE + "和祝福"]
    records = [record(n, title, text=TEXT) for n, title in enumerate(titles)]
    judged, added = TitleIndex(method), TitleIndex(method)
    judged.judge_all(records)
    added.add(records)
    assert len(added) == len(judged)
    new = record(99, TITLE, text=TEXT)
    assert added.judge(new) == judged.judge(new)


def test_groups_that_a_third_title_joins_become_one() -> None:
    snapshot = IdfSnapshot(1, 1000, dict.fromkeys("甲乙丙丁戊己庚辛", 10), prior_titles=0)
    index = TitleIndex("vsm", 0.6, snapshot=snapshot)
    one, other = record(1, "甲 乙 丙 丁"), record(2, "丙 丁 戊 己")
    between = record(3, "甲 丙 丁 己")
    assert index.judge(one).of is index.judge(other).of is None
    verdict = index.judge(between)
    # Three words of four with both, so neither is nearer.
    assert near_enough(verdict.similarity, 0.75)
    assert {verdict.of, *verdict.also} == {key(1), key(2)}
    groups = index.regroup([one, other, between]).groups
    assert groups == dict.fromkeys(map(key, (1, 2, 3)), key(1))


def test_a_group_is_named_by_the_earliest_then_the_smallest_key(index: TitleIndex) -> None:
    records = [record(1, TITLE), record(2, TITLE, day=3), record(9, TITLE, day=1),
               record(8, TITLE, day=1), record(5, "渔港迎来开渔第一船")]  # fmt: skip
    for seed in range(3):
        groups = index.regroup(random.Random(seed).sample(records, len(records))).groups
        assert groups == {**dict.fromkeys(map(key, (1, 2, 8, 9)), key(8)), key(5): key(5)}


def test_regrouping_leaves_what_is_remembered_alone(index: TitleIndex) -> None:
    before = len(index)
    grouping = index.regroup([record(1, TITLE), record(1000, TITLE)])
    assert grouping.groups == {key(1): key(1), key(1000): key(1)}
    assert len(index) == before
    assert index.judge(record(2, TITLE)).kind is VerdictKind.DISTINCT
    assert index.regroup([]) == Grouping({}, {})


@every_method
def test_a_collection_is_grouped_with_what_all_of_it_teaches(method: str) -> None:
    # The first of a host's titles is cleaned like its last.
    name = " - 甲地乡音"
    records = [record(1, TITLE + name, day=0, host="a.example"),
               record(2, TITLE, day=1, host="b.example")]  # fmt: skip
    records += [
        record(10 + n, title + name, day=n, host="a.example")
        for n, title in enumerate(OTHER_TITLES)
    ]
    assert TitleIndex(method).regroup(records).groups[key(2)] == key(1)


def test_grouping_says_how_far_it_is_and_ends_when_told(index: TitleIndex) -> None:
    records = [record(number, f"第{number}条消息") for number in range(1, 1200)]
    placed: list[int] = []
    index.regroup(records, placed.append)
    assert sum(placed) == 1199
    assert len(placed) > 1

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.regroup(records, stop)


@every_method
@pytest.mark.parametrize("threshold", [-0.5, 1.5, float("nan"), float("inf")])
def test_a_threshold_that_is_none_is_refused(method: str, threshold: float) -> None:
    with pytest.raises(ConfigError, match=rf"must lie in .*1\], got {threshold}"):
        TitleIndex(method, threshold)


def test_the_published_method_goes_down_to_the_papers_lower_bound() -> None:
    with pytest.raises(ConfigError, match=r"\[0.5, 1\], got 0.4"):
        TitleIndex("vsm", 0.4)
    assert len(TitleIndex("reprint", 0.4)) == 0


@every_method
def test_no_threshold_is_the_methods_own(method: str) -> None:
    records = [record(n, TITLE + "好" * n) for n in range(4)]
    judged = [TitleIndex(method, least).judge_all(records) for least in (None, 0, 0.8)]
    assert judged[0] == judged[1] == judged[2]


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(ConfigError, match="'vsn'.*did you mean 'vsm'"):
        TitleIndex("vsn")


@every_method
def test_words_that_were_cut_before_change_nothing(method: str) -> None:
    terms = ("侨批档案馆",)
    segmenter = Segmenter(terms, "rjieba")
    titles = [
        f"{TITLE}（{n % 7}）{end}" for n in range(60) for end in ("", "-侨乡网", "_要闻_侨乡网")
    ]
    titles += ["侨批档案馆开馆", "　侨批\u2028档案馆 开馆 ", "", "！", "侨" * 1_200, TITLE]
    here, with_words = TitleIndex(method, terms=terms), TitleIndex(method, terms=terms)
    for number, title in enumerate(titles):
        new = record(number, title, host="news.example")
        assert with_words.judge(new, segmenter.terms(title)) == here.judge(new)
    saved = with_words.to_state()
    for name, values in here.to_state().items():
        assert np.array_equal(values, saved[name]), name


def test_terms_are_kept_whole() -> None:
    index = TitleIndex(terms=("归侨老人送年货",))
    index.judge(record(1, TITLE))
    plain = TitleIndex()
    plain.judge(record(1, TITLE))
    assert index.vocabulary_size < plain.vocabulary_size


def test_memory_is_counted_and_given_back() -> None:
    index = TitleIndex()
    empty = index.memory_bytes
    one = record(1, TITLE, text=TEXT)
    index.add(replace(one, key=key(n), title=f"{n}号新闻") for n in range(2000))
    assert index.memory_bytes > empty + 2000 * 100
    # Nobody is on the rows of titles that went; thousands come and go in the room of few.
    index = TitleIndex("vsm")
    index.add(replace(one, title=f"{n}号{n * 7}人") for n in range(4200))
    assert (len(index), index.memory_bytes) == (1, pytest.approx(empty, rel=0.5))
    assert index.near("4199号29393人") == [(one.key, 1.0)]


def test_dates_lie_apart_in_minutes() -> None:
    # A month is what a story lasts, see the rules of `reprint`.
    index = TitleIndex()
    index.judge(record(1, TITLE, day=0))
    assert index.judge(record(2, TITLE, day=29.9)).kind is VerdictKind.REPRINT
    index.remove(key(2))
    late = index.judge(record(3, TITLE, day=30.1))
    assert late.kind is VerdictKind.SERIES
    assert DAY.tzinfo is not None
