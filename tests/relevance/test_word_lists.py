"""A list of words means "these words": one of them in the title or twice in the text is enough."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.relevance.blend import BlendScorer
from qiaocrawl.relevance.scorer import make_scorer
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, Sample, Term, TopicPack

# An office's list: few words, far apart.
WORDS = ("中文学校", "唐人街", "华侨农场", "侨领", "养老", "护理员", "居家照护", "海外侨胞",
         "长者食堂", "归侨", "侨批", "适老化", "银发经济")  # fmt: skip
NEWS = "昨天下午，有关部门在当地召开会议，介绍了工程的进展、资金的安排和下一步的打算。记者了解到，"
LONG = "".join(f"{NEWS}第{n}批设备已经运到，工人们加班安装，周边居民前来观看。" for n in range(12))


def listed(*weights: float, words: tuple[str, ...] = WORDS) -> TopicPack:
    terms = (Term(word, "other", *weight) for word, weight in zip(
        words, [(weight,) for weight in weights] or [()] * len(words), strict=True))  # fmt: skip
    return TopicPack("t", "题", "", DEFAULT_THRESHOLD, tuple(terms), (), ())


@pytest.mark.parametrize("word", WORDS)
def test_one_word_in_the_title_of_a_long_article_is_enough(word: str) -> None:
    judged = BlendScorer(listed()).judge(PageText(f"城南{word}举行揭牌仪式", LONG))
    assert judged.relevant
    assert word in dict(judged.terms)
    assert (
        not make_scorer("blend", listed(), options="single_word=0")
        .judge(PageText(f"城南{word}举行揭牌仪式", LONG))
        .relevant
    )


@pytest.mark.parametrize("word", WORDS)
def test_one_word_twice_in_the_text_is_enough_and_once_is_not(word: str) -> None:
    scorer = BlendScorer(listed())
    once, twice = (LONG.replace("会议", f"{word}会议", times) for times in (1, 2))
    assert scorer.judge(PageText("城南举行揭牌仪式", twice)).relevant
    assert not scorer.judge(PageText("城南举行揭牌仪式", once)).relevant


@pytest.mark.parametrize("weight", [0.5, 1.0, 3.0, 10.0])
def test_equal_weights_say_no_more_than_none(weight: float) -> None:
    pack = listed(*[weight] * len(WORDS))
    assert BlendScorer(pack).judge(PageText("城南唐人街举行揭牌仪式", LONG)).relevant


def test_a_lesser_word_of_a_weighted_list_needs_company() -> None:
    pack = listed(*[6.0] * (len(WORDS) - 2), 1.0, 1.0)
    scorer = BlendScorer(pack)
    assert scorer.judge(PageText("城南唐人街举行揭牌仪式", LONG)).relevant
    assert not scorer.judge(PageText("城南银发经济举行揭牌仪式", LONG)).relevant


def test_marked_words_leave_the_others_what_they_are() -> None:
    pack = listed(*[4.0] * 5, *[3.0] * (len(WORDS) - 5))
    for word in WORDS:
        assert BlendScorer(pack).judge(PageText(f"城南{word}举行揭牌仪式", LONG)).relevant


@pytest.mark.parametrize(
    ("title", "is_on_topic"),
    [("城南养老院举行揭牌仪式", True), ("城南居家养老服务扩围", True),
     ("中华人民银行举行揭牌仪式", False), ("东北流动人口举行仪式", False)],
)  # fmt: skip
def test_a_word_begins_or_ends_longer_ones_but_is_not_inside(title: str, is_on_topic: bool) -> None:
    pack = listed(words=("养老", "华人", "北流"))
    assert BlendScorer(pack).judge(PageText(title, LONG)).relevant is is_on_topic


def test_latin_words_are_whole_and_single_characters_do_not_decide() -> None:
    scorer = BlendScorer(listed(words=("art", "侨")))
    assert scorer.judge(PageText("An art fair opens", LONG)).relevant
    assert not scorer.judge(PageText("An article about partners", LONG)).relevant
    assert not scorer.judge(PageText("城南华侨城举行仪式", LONG)).relevant


def test_samples_that_say_otherwise_are_heard() -> None:
    pack = listed()
    match = "球队客场取胜，前锋梅开二度，门将扑出点球，球迷在看台上欢呼，教练赛后称赞了全队的防守。"
    school = "学校举行毕业典礼，校长为学生颁发证书，家长和教师观看了书法、舞蹈和朗诵的表演。"
    title = "唐人街杯足球赛收官"
    page = PageText(title, match)
    assert BlendScorer(pack).judge(page).relevant
    samples = [Sample(f"no{n}", title, match, False) for n in range(3)]
    samples += [Sample(f"yes{n}", "中文学校举行毕业典礼", school, True) for n in range(3)]
    learnt = BlendScorer(replace(pack, samples=tuple(samples)))
    assert not learnt.judge(page).relevant
    assert learnt.judge(PageText("海外中文学校举行毕业典礼", school)).relevant


def test_the_pack_threshold_moves_single_words_too() -> None:
    page = PageText("城南唐人街举行揭牌仪式", LONG)
    scorer = BlendScorer(listed())
    score = scorer.judge(page).score
    wanted = scorer.pack_threshold(min(0.95, score + 0.1))
    assert wanted is not None
    assert wanted > DEFAULT_THRESHOLD
    stricter = BlendScorer(replace(listed(), threshold=wanted))
    assert not stricter.judge(page).relevant


def test_in_a_long_list_everyday_words_count_less() -> None:
    many = tuple(f"侨{a}{b}" for a in "甲乙丙丁戊己庚辛壬癸" for b in "子丑寅卯辰巳午未申酉戌")
    page = PageText("城南学校举行揭牌仪式", LONG)
    short, long = (listed(words=(*words, "学校")) for words in (many[:4], many))
    assert BlendScorer(short).judge(page).relevant
    assert not BlendScorer(long).judge(page).relevant
    assert BlendScorer(long).judge(PageText(f"城南{many[0]}举行仪式", LONG)).relevant


@pytest.mark.parametrize("given", [-0.1, 1.1, float("nan")])
def test_a_wrong_share_is_refused(given: float) -> None:
    with pytest.raises(ConfigError, match="single_word"):
        BlendScorer(listed(), single_word=given)
