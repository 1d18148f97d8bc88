"""Entities of an article with the tagger that comes along, and a tagger of one's own."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from qiaocrawl.cli import app
from qiaocrawl.errors import ConfigError
from qiaocrawl.news.names.entity import Entity, default_gazetteers, gazetteers_of
from qiaocrawl.news.names.places import resolve_place
from qiaocrawl.news.names.recognition import entities_of
from qiaocrawl.news.names.tagger import Tagger, TaggerModel, read_model, sentences
from qiaocrawl.news.names.training import read_marked_texts, train_tagger
from qiaocrawl.topic.pack import Term, TopicPack

TITLE = "国侨办主任许又声会见新加坡客人"
TEXT = (
    "国务院侨务办公室主任许又声2日在北京会见新加坡中华总商会会长黄山忠一行。许主任说，"
    "泉州市的侨务工作成绩显著。张小明在场边看热闹。"
)


def _named(entities: tuple[Entity, ...]) -> set[tuple[str, str]]:
    return {(entity.kind, entity.normal_form) for entity in entities}


def test_positions_are_those_of_title_and_text() -> None:
    entities = entities_of(TITLE, TEXT)
    whole = f"{TITLE}\n{TEXT}"
    assert [whole[one.start : one.end] for one in entities] == [one.text for one in entities]
    assert all(0 < one.certainty <= 1 for one in entities)
    ends = [one.end for one in entities]
    assert all(one.start >= end for one, end in zip(entities[1:], ends, strict=False))


def test_short_names_go_by_the_full_one() -> None:
    entities = entities_of(TITLE, TEXT)
    spellings = {one.text for one in entities if one.normal_form == "国务院侨务办公室"}
    assert spellings == {"国侨办", "国务院侨务办公室"}
    assert {("place", "泉州"), ("place", "北京")} <= _named(entities)


def test_traditional_characters_give_the_same_names() -> None:
    title, text = (
        "國僑辦主任許又聲會見新加坡客人",
        "國務院僑務辦公室主任許又聲2日在北京會見華僑，隨後訪問廣東江門。",
    )
    entities = entities_of(title, text)
    whole = f"{title}\n{text}"
    assert [whole[one.start : one.end] for one in entities] == [one.text for one in entities]
    assert {
        ("organisation", "国务院侨务办公室"),
        ("person", "许又声"),
        ("place", "广东"),
    } <= _named(entities)


def test_those_who_live_in_a_place_are_no_place() -> None:
    text = "总领馆与法国华人妇女联谊会在马赛合办讲座，法国华人踊跃参加。"
    places = {name for kind, name in _named(entities_of("", text)) if kind == "place"}
    assert "马赛" in places
    assert not any(name.endswith("华人") for name in places)


def test_a_text_may_say_itself_what_a_short_name_stands_for() -> None:
    text = "晋江华侨联谊总会（以下简称“晋江侨总”）昨日成立。侨胞说，晋江侨总是大家的家。"
    names = _named(entities_of("", text))
    assert ("organisation", "晋江华侨联谊总会") in names


def test_persons_are_named_for_their_office_only() -> None:
    names = _named(entities_of(TITLE, TEXT))
    assert ("person", "许又声") in names
    assert not any("张小明" in name for _, name in names)
    everybody = _named(entities_of(TITLE, TEXT, all_persons=True))
    assert ("person", "张小明") in everybody


def test_surname_and_title_go_by_the_full_name() -> None:
    mentions = [one.text for one in entities_of(TITLE, TEXT) if one.normal_form == "许又声"]
    assert mentions == ["许又声", "许又声", "许"]


def test_terms_of_a_pack_are_known() -> None:
    terms = (Term("归心会馆", "organisation"), Term("侨务", "core"))
    pack = TopicPack("t", "t", "", 0.1, terms, (), ())
    gazetteers = gazetteers_of(pack, {"归心会馆": ["归会"]})
    assert gazetteers.get("归会") == ("organisation", "归心会馆")
    assert gazetteers.get("侨务") is None
    assert ("organisation", "归心会馆") in _named(entities_of("", "归心会馆今天开放。", gazetteers))


@pytest.mark.parametrize("text", ["", " \n\n", "\ud800坏字", "a" * 3000, "。。。", "𠮷野家"])
def test_no_text_is_too_odd(text: str) -> None:
    entities_of(text, text)


@pytest.mark.parametrize(
    ("name", "country", "province"),
    [
        ("福建省", "中国", "福建"),
        ("泉州市", "中国", "福建"),
        ("福建省泉州市丰泽区", "中国", "福建"),
        ("廣東省江門市", "中国", "广东"),
        ("印尼", "印度尼西亚", ""),
        ("吉隆坡", "马来西亚", ""),
        ("香港特别行政区", "中国", "香港"),
    ],
)
def test_places_lie_somewhere(name: str, country: str, province: str) -> None:
    place = resolve_place(name)
    assert place is not None
    assert (place.country, place.province) == (country, province)


def test_unknown_places_lie_nowhere() -> None:
    assert resolve_place("桃花源") is None


def test_every_name_of_the_gazetteer_is_one_place_or_body() -> None:
    gazetteers = default_gazetteers()
    assert len(gazetteers) > 1000
    places = {name: resolve_place(name) for name in gazetteers.of_kind("place")}
    assert [name for name, place in places.items() if place is None] == []


def test_sentences_leave_nothing_out() -> None:
    text = "一。二！\n三" + "长" * 1200
    pieces = sentences(text)
    assert "".join(text[start:end] for start, end in pieces) == text


def _write_marked(path: Path) -> None:
    rows = []
    for name in ("张三丰", "李四光", "王五岳", "赵六合"):
        for place in ("云水村", "青山镇", "白沙乡"):
            text = f"{name}昨天到了{place}。"
            spans = [[0, 3, "PER"], [6, 9, "place"], [0, 1, "MISC"]]
            rows.append(json.dumps({"text": text, "spans": spans}, ensure_ascii=False))
    path.write_bytes(gzip.compress("\n".join(rows).encode()))


def test_an_office_trains_its_own(tmp_path: Path) -> None:
    _write_marked(tmp_path / "own.jsonl.gz")
    texts = read_marked_texts(tmp_path / "own.jsonl.gz")
    first, second = (train_tagger(texts) for _ in range(2))
    assert (first.weights == second.weights).all()
    first.write(tmp_path / "model")
    tagger = Tagger(read_model((tmp_path / "model").read_bytes(), "model"))
    assert [(one.start, one.end, one.kind) for one in tagger.tag("孙七步昨天到了黄土村。")] == [
        (0, 3, "person"), (6, 9, "place"),
    ]  # fmt: skip


def test_what_is_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="mine: no model of the tagger"):
        read_model(b"nonsense", "mine")
    labels = 13
    misfit = TaggerModel(
        np.arange(2, dtype=np.uint32),
        np.ones((2, labels), np.float32),
        np.zeros((labels, labels)),  # one row and column too few
    )
    misfit.write(tmp_path / "misfit")
    with pytest.raises(ConfigError, match=r"misfit: no model of the tagger .*\(14, 14\)"):
        read_model((tmp_path / "misfit").read_bytes(), "misfit")
    (tmp_path / "a.jsonl").write_text('{"text": "x", "spans": [[0, 9, "PER"]]}\n')
    with pytest.raises(ConfigError, match="line 1"):
        read_marked_texts(tmp_path / "a.jsonl")


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIAO_LANG", "en")
    _write_marked(tmp_path / "own.jsonl.gz")
    (tmp_path / "text.txt").write_text(f"{TITLE}\n{TEXT}", encoding="utf-8")
    runner = CliRunner()
    shown = runner.invoke(app, ["entities", "show", str(tmp_path / "text.txt")])
    assert shown.exit_code == 0
    assert "国务院侨务办公室" in shown.output
    assert "中国 福建" in shown.output
    model = tmp_path / "own.npz.xz"
    trained = runner.invoke(app, ["entities", "train", str(tmp_path), "--out", str(model)])
    assert trained.exit_code == 0, trained.output
    assert model.stat().st_size > 0
