"""The tone of texts: by judging words, by a model of one's own, towards a target, in shares."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from qiaocrawl.cli import app
from qiaocrawl.errors import ConfigError
from qiaocrawl.news.tone import Tone, judgements, polarity_words, tone_shares
from qiaocrawl.news.tone_model import Document, read_tone_model, tone_of, tone_towards
from qiaocrawl.news.tone_training import MarkedTone, read_marked_tones, train_tone

GOOD = (
    "侨胞对新政策表示满意",
    "学校获得好评，家长高兴",
    "合作成功，双方赢得荣誉",
    "服务热情周到，点赞",
)
BAD = ("商店遭抢劫，店主受伤", "侨胞投诉中介欺骗", "公司亏损严重，员工失望", "火灾造成重大损失")


def test_judging_words_decide_without_a_model() -> None:
    assert tone_of("侨胞称赞警方", "大家表示感谢，对治安改善感到满意。").label == "positive"
    bad = tone_of("华商店铺遭抢劫", "店主受伤，损失严重，侨胞担心。")
    assert bad.label == "negative"
    assert {"抢劫", "受伤"} <= {word for word, _ in bad.words}
    assert tone_of("", "会议定于三月五日在礼堂举行。").label == "neutral"


def test_negations_turn_words_round_within_a_clause() -> None:
    assert judgements(["不", "好"]) == [0, -1]
    assert judgements(["不", "，", "好"]) == [0, 0, 1]
    assert judgements(["非常", "好"])[1] > judgements(["好"])[0]


def test_no_word_judges_both_ways() -> None:
    words = polarity_words()
    assert words.positive & words.negative == frozenset()
    assert words.negations & (words.positive | words.negative) == frozenset()


def test_towards_a_body_only_what_names_it_counts() -> None:
    text = "店主受伤，损失严重。警方迅速破案，获得称赞。"
    assert tone_towards(["警方", "警察"], "", text).label == "positive"
    absent = tone_towards(["使馆"], "", text)
    assert (absent.label, absent.certainty) == ("unsure", 0)


def test_below_the_threshold_it_is_not_sure() -> None:
    text = "有人称赞，有人投诉。"
    assert tone_of("", text, sure_from=0.99).label == "unsure"
    assert tone_of("", text, sure_from=0.0).label != "unsure"


def test_shares_have_their_range() -> None:
    tones = [Tone("negative", (0.9, 0.1, 0.0))] * 3 + [Tone("unsure", (0.4, 0.4, 0.2))]
    negative, positive, _, unsure = tone_shares(tones)
    assert (negative.share, unsure.count) == (0.75, 1)
    # Wilson's range of 3 of 4, and of 0 of 4.
    assert (negative.low, negative.high) == (
        pytest.approx(0.3006, abs=1e-3),
        pytest.approx(0.9544, abs=1e-3),
    )
    assert positive.low == 0 < positive.high
    assert [(share.low, share.high) for share in tone_shares([])] == [(0, 1)] * 4


def _marked() -> list[MarkedTone]:
    return [
        MarkedTone(Document(f"{text}{number}"), label)
        for texts, label in ((GOOD, "positive"), (BAD, "negative"))
        for text in texts
        for number in "甲乙丙丁"
    ]  # type: ignore[misc]


def test_an_office_trains_its_own(tmp_path: Path) -> None:
    first, second = (train_tone(_marked()) for _ in range(2))
    assert (first.weights == second.weights).all()
    first.write(tmp_path / "tone")
    model = read_tone_model(tmp_path / "tone")
    documents = [Document("家长高兴，学校好评"), Document("中介欺骗，店主受伤")]
    assert np.allclose(model.probabilities(documents), first.probabilities(documents), atol=0.01)
    assert [model.tone(one).label for one in documents] == ["positive", "negative"]
    # A tone no text had is never given.
    assert model.probabilities(documents)[:, 2] == pytest.approx(0)


def test_towards_targets_the_same_text_may_judge_either_way() -> None:
    marked = [
        MarkedTone(Document(f"我支持{good}，反对{bad}。", target), label)
        for good, bad in (("骑车", "抽烟"), ("读书", "赌博"), ("植树", "打猎"), ("步行", "酒驾"))
        for target, label in ((f"支持{good}", "positive"), (f"支持{bad}", "negative"))
    ]  # type: ignore[misc]
    model = train_tone(marked * 3, towards_target=True)
    text = "我支持唱歌，反对吵架。"
    assert tone_towards(["支持唱歌"], "", text, model, 0.0).label == "positive"


def test_errors_name_the_line(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "好", "label": "pos"}\n{"text": "好", "label": "great"}\n', "utf-8")
    with pytest.raises(ConfigError, match="line 2"):
        read_marked_tones(file)
    with pytest.raises(ConfigError, match="does not exist"):
        read_marked_tones(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="no tone model"):
        read_tone_model(file)
    with pytest.raises(ConfigError, match="two labels"):
        train_tone(_marked()[:4])


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIAO_LANG", "en")
    rows = [json.dumps({"text": one.document.text, "label": one.label}) for one in _marked()]
    (tmp_path / "own.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "text.txt").write_text("店主受伤\n损失严重，侨胞投诉中介欺骗。", encoding="utf-8")
    runner, model = CliRunner(), str(tmp_path / "model")
    train = ["report", "tone", "train", str(tmp_path / "own.jsonl"), "--out", model]
    trained = runner.invoke(app, train)
    assert trained.exit_code == 0, trained.output
    for more in ([], ["--model", model], ["--towards", "中介"]):
        shown = runner.invoke(app, ["report", "tone", "show", str(tmp_path / "text.txt"), *more])
        assert shown.exit_code == 0, shown.output
        assert shown.output.startswith("negative")
