"""What is kept of bodies, and what it tells of two of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.dedup import fingerprints as simhash
from qiaocrawl.dedup.comparison import (
    BodyEvidence,
    compare,
    containment,
    other_body,
    read_sketch,
    same_body,
)
from qiaocrawl.dedup.fingerprints import (
    MAX_SKETCH_BYTES,
    BodyFingerprints,
    body_digest,
    body_fingerprints,
    body_simhash,
    body_sketch,
    hamming,
)

STORY = (
    "本报云州1月7日电，最后一车家具运抵安置点，15100名群众住进了新村。",
    "新村按原村组整体安置的办法建设，水、电、路、网和卫生室同步到位。",
    "一家五口分到120平方米，老屋的门槛被带了过来，钉在新房的阳台上。",
    "移民局干部说，账目全部张榜，每一笔补偿都要本人按手印。",
    "夜里，村口的老榕树下又坐满了摇着扇子说闲话的人。",
    "水库建成后，将灌溉下游20余万亩农田。",
)
OTHER = (
    "江口县的新茶昨天开采，茶农一直忙到掌灯时分才收工。",
    "合作社今年添了3台杀青机，一天能做2000斤鲜叶。",
    "往年这个时候，收茶的客商还在路上，今年早早住进了镇上的旅店。",
)
WEATHER = (
    "市气象台今晨发布预报。今天白天{0}，最高气温{1}度。"
    "夜间多云转晴，最低气温{2}度。请市民注意增减衣物。"
)


def evidence(a: str, b: str) -> BodyEvidence:
    one, other = read_sketch(body_sketch(a)), read_sketch(body_sketch(b))
    assert one is not None
    assert other is not None
    return compare(one, other)


def story(*without: int) -> str:
    return "\n".join(line for number, line in enumerate(STORY) if number not in without)


# --- prints ----------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.text())
def test_any_text_has_prints(text: str) -> None:
    prints = body_fingerprints(text)
    assert prints == BodyFingerprints(body_digest(text), body_simhash(text), body_sketch(text))
    assert 0 <= prints.simhash < 1 << 64
    assert len(prints.digest) in (0, 16)
    sketch = read_sketch(prints.sketch)
    assert (sketch is None) == (prints.sketch == b"") == (prints.simhash == 0)
    if sketch is not None:
        assert len(prints.sketch) <= MAX_SKETCH_BYTES
        assert all(a < b for a, b in pairwise((sketch.entries >> 1).tolist()))


def test_rare_characters_are_letters_and_marks_are_none() -> None:
    assert body_simhash("𠮷野家_𠮷野家 𠮷野家") == body_simhash("𠮷野家𠮷野家𠮷野家")
    assert body_simhash("𠮷野家") != body_simhash("野家") != 0
    assert body_simhash("😀_…") == 0
    assert body_sketch("😀_…") == b""


def test_nothing_has_no_prints() -> None:
    assert body_fingerprints("") == body_fingerprints(" \n") == BodyFingerprints()
    assert body_fingerprints("！？").sketch == b""
    assert hamming(0, (1 << 64) - 1) == 64


def test_script_width_case_and_layout_make_no_difference() -> None:
    plain = body_fingerprints("他坐着看ABC。侨胞回到屋檐下，参观了12个侨乡！")
    other = body_fingerprints("他坐著看ＡＢＣ。\n\n僑胞回到屋簷下,參觀了１２個僑鄉!")
    assert (plain.simhash, plain.sketch) == (other.simhash, other.sketch)


def test_a_simhash_is_near_where_texts_are() -> None:
    whole = body_simhash(story())
    assert hamming(whole, body_simhash(story(4))) < 16
    assert hamming(whole, body_simhash("\n".join(OTHER))) > 20
    assert body_simhash("图") not in (0, body_simhash("文"))


def test_a_simhash_is_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = body_simhash(story())
    monkeypatch.setattr(simhash, "is_compiled", lambda loop: False)
    monkeypatch.setattr(simhash, "_CHUNK", 7)
    assert body_simhash(story()) == whole


def test_short_sentences_count_with_the_next_one() -> None:
    # A table cell by cell: its figures must not get lost.
    first, second = (body_sketch(f"沪指\n{n}\n深指\n收盘价\n{n + 1}\n两市成交额") for n in (3, 5))
    assert containment(first, second) == 0.0
    sketch = read_sketch(body_sketch("他说。这一句有12个字呢。再说一句没有数的话。"))
    assert sketch is not None
    assert sketch.total == 2
    assert sorted((sketch.entries & 3).tolist()) == [1, 3]


def test_a_long_body_keeps_a_choice_and_its_beginning() -> None:
    lines = [f"这是第{number}句，说的是第{number}件事情。" for number in range(3_000)]
    data = body_sketch("\n".join(lines))
    sketch = read_sketch(data)
    assert sketch is not None
    assert sketch.total == 3_000
    assert 64 <= len(sketch.entries) <= 70
    assert np.count_nonzero(sketch.entries & 1) == 6
    assert containment(data, body_sketch("\n".join(lines[:6] + lines))) == 1.0


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_a_sketch_or_none(data: bytes) -> None:
    sketch = read_sketch(data)
    if sketch is not None:
        assert compare(sketch, sketch).shared <= max(1, sketch.total)
    assert read_sketch(b"\x02" + body_sketch(story())[1:]) is None
    assert containment(data[:2], body_sketch(story())) == 0.0


# --- two bodies ------------------------------------------------------------------------------

BODIES = st.lists(st.integers(0, 30), max_size=12).map(
    lambda numbers: "".join(f"这是编号为{'甲乙丙丁'[n % 4]}{n}的一句话。" for n in numbers)
)


@settings(deadline=None)
@given(BODIES, BODIES)
def test_evidence_is_symmetric_and_in_bounds(a: str, b: str) -> None:
    one, other = read_sketch(body_sketch(a)), read_sketch(body_sketch(b))
    if one is None or other is None:
        assert containment(body_sketch(a), body_sketch(b)) == 0.0
        return
    found = compare(one, other)
    assert found == compare(other, one)
    mine, theirs = (set(text.split("。")) - {""} for text in (a, b))
    assert found.shared == len(mine & theirs)
    assert (found.smaller, found.larger) == tuple(sorted((len(mine), len(theirs))))
    assert found.containment == found.shared / found.smaller
    assert found.coverage == found.shared / found.larger


@settings(deadline=None)
@given(st.sets(st.integers(0, 200), min_size=1), st.sets(st.integers(0, 200)))
def test_what_is_part_of_a_body_is_contained(part: set[int], more: set[int]) -> None:
    small, large = (
        body_sketch("\n".join(f"这一行写着编号{number}。" for number in sorted(numbers)))
        for numbers in (part, part | more)
    )
    assert containment(small, large) == 1.0


def test_containment_of_long_bodies_is_estimated() -> None:
    lines = [f"这一行写着编号{number}。" for number in range(900)]
    estimates = [
        containment(body_sketch("\n".join(lines[at : at + 300])),
                    body_sketch("\n".join(lines[at + 150 : at + 450])))
        for at in range(0, 450, 25)
    ]  # fmt: skip
    assert sum(estimates) / len(estimates) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    "copy",
    [
        story(2), story(1, 4), story(5), story(2, 3, 4, 5),
        "（本文转载自云州新闻网，内容略有改动）\n" + story(3),
        "家里人发来的，贴上来给需要的朋友。\n" + story() + "\n责任编辑：李四\n欢迎转发本文章",
        story().replace("本报云州1月7日电，", "据本报1月8日消息，"),
    ],
)  # fmt: skip
def test_a_copy_is_the_same_body(copy: str) -> None:
    found = evidence(story(), copy)
    assert same_body(found)
    assert not other_body(found)


def test_reports_from_one_mould_are_other_texts() -> None:
    found = evidence(WEATHER.format("晴", 23, 11), WEATHER.format("有雨", 19, 9))
    assert found.containment == 0.5
    assert not same_body(found, titles_agree=True)
    assert other_body(found)


def test_a_round_up_is_none_of_its_items() -> None:
    items = [f"第{n}件事发生在{n}月的一个早上。\n当天有{n}00人到场观看。\n第{n}件事就讲到这里为止。"
             for n in range(1, 13)]  # fmt: skip
    whole = "\n".join(items)
    for number, item in enumerate(items):
        found = evidence(whole, item)
        assert found.containment == 1.0
        assert not same_body(found, titles_agree=number > 1)


def test_other_texts_and_what_says_too_little() -> None:
    assert other_body(evidence(story(), "\n".join(OTHER)))
    unsaid = evidence(story(), "请点击查看全文内容")
    assert not same_body(unsaid)
    assert not other_body(unsaid)
    # Half of two sentences with digits: a date line told anew, or another report?
    half = evidence(story(2), story(2).replace("1月7日", "7日"))
    assert not same_body(half)
    assert not other_body(half)


def test_junk_around_a_short_body_needs_titles_that_agree() -> None:
    brief = story(2, 3, 4, 5)
    found = evidence(
        brief + "下载客户端，阅读体验更佳。周末亲子阅读会火热报名中。转发收藏不会迷路了。",
        brief + "快速回复请先登录后发表。违者删帖禁言封禁账号。禁止人身攻击和广告。",
    )
    assert found.containment == 0.4
    assert not same_body(found)
    assert same_body(found, titles_agree=True)


def test_a_note_of_who_tells_it_makes_no_other_sentence() -> None:
    text = "菲律宾马尼拉唐人街10日发生大火，37家店铺被烧毁。4名侨胞被送往医院。"
    for note in ("（转自：江北新闻网）", "【本报讯】", "（马尼拉11月10日讯）(记者 王五)"):
        assert body_sketch(note + text) == body_sketch(text)
    # What is no such note stays.
    assert body_sketch("（第三期）" + text) != body_sketch(text)
