"""Labels, training and the file of the network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from qiaocrawl.demo.model import Kind
from qiaocrawl.demo.web import build_web
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.methods.blend import BlendExtractor
from qiaocrawl.extract.methods.block_network import BlockNetwork, load_network
from qiaocrawl.extract.methods.block_training import (
    Recipe,
    gold_bodies,
    label_page,
    labels_of,
    train,
)
from qiaocrawl.page.page import parse_page


def test_labels_say_how_much_of_a_block_is_body() -> None:
    body = "侨胞昨天回到了阔别多年的故乡。\n全村人都来迎接他们。"
    texts = ["首页 新闻 图片", "侨胞昨天回到了阔别多年的故乡。", "全村人都来迎接他们。", "版权所有"]
    assert labels_of(texts, body, chinese=True).tolist() == [0, 1, 1, 0]


def test_short_blocks_follow_their_neighbours() -> None:
    body = "侨胞昨天回到了阔别多年的故乡。图全村人都来迎接他们。"
    texts = ["图", "侨胞昨天回到了阔别多年的故乡。", "图", "全村人都来迎接他们。", "图"]
    assert labels_of(texts, body, chinese=True).tolist() == [0, 1, 1, 1, 0]


def test_words_are_the_grams_of_english() -> None:
    body = "The harvest festival opened in the old harbour town on Friday."
    texts = ["Home News Sport Weather Travel", body, "The harvest festival opened, they say"]
    first, second, third = labels_of(texts, body, chinese=False).tolist()
    assert (first, second) == (0, 1)
    assert 0 < third < 1


@pytest.fixture(scope="module")
def trained() -> BlockNetwork:
    pages = []
    for page in build_web(scale=0.2).pages.values():
        gold = page.gold
        if gold is not None and gold.kind in (Kind.ARTICLE, Kind.BRIEF):
            known = label_page(parse_page(page.body, url=gold.url), gold.body, chinese=True)
            pages += [known] if known is not None else []
    return train(pages, Recipe(hidden=(8,), epochs=12, voters=2))


def test_training_tells_body_from_the_rest(trained: BlockNetwork) -> None:
    html = (
        "<title>侨乡的早晨</title><ul>" + "<li><a href=/x>更多新闻请点击这里</a></li>" * 20
        + "</ul><div class=content><h1>侨乡的早晨</h1>"
        + "<p>清晨的侨乡还笼罩在薄雾里，老人们已经在榕树下喝茶，谈论着海外亲人的来信。</p>" * 6
        + "</div><p>版权所有 某某网</p>"
    )  # fmt: skip
    body = BlendExtractor(network=trained).body(parse_page(html.encode(), "text/html;charset=utf8"))
    assert "榕树" in body.text
    assert "更多新闻" not in body.text


def test_a_network_survives_its_file(trained: BlockNetwork, tmp_path: Path) -> None:
    path = tmp_path / "n.npz"
    trained.save(path)
    values = np.random.default_rng(1).random((5, len(trained.mean)), dtype=np.float32)
    again = load_network(path)
    assert np.allclose(again.judge(values), trained.judge(values), atol=0.01)


def test_wrong_files_are_named(trained: BlockNetwork, tmp_path: Path) -> None:
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"nothing of the kind")
    with pytest.raises(ConfigError, match=r"broken\.npz"):
        load_network(broken)
    with pytest.raises(ConfigError, match="absent"):
        load_network(tmp_path / "absent.npz")
    arrays = {"format": np.array(2), "mean": np.zeros(3), "scale": np.ones(3)}
    odd = tmp_path / "odd.npz"
    np.savez(odd, allow_pickle=False, **arrays, weight_0=np.zeros((1, 4, 1)),
             bias_0=np.zeros((1, 1, 1)))  # fmt: skip
    with pytest.raises(ConfigError, match="do not fit 3 features"):
        load_network(odd)
    old = tmp_path / "old.npz"
    np.savez(old, allow_pickle=False, format=np.array(1))
    with pytest.raises(ConfigError, match="format is 1"):
        load_network(old)
    for name, written in {
        "words": {"format": np.array("abc")},
        "nothing": {"format": np.array(2), "mean": np.zeros(3), "scale": np.ones(3)},
        "nan": {"format": np.array(2), "mean": np.full(3, np.nan), "scale": np.ones(3),
                "weight_0": np.zeros((1, 3, 1)), "bias_0": np.zeros((1, 1, 1))},
        "pickle": {"format": np.array(2), "mean": np.array([{}], dtype=object)},
    }.items():  # fmt: skip
        np.savez(tmp_path / f"{name}.npz", **written)
        with pytest.raises(ConfigError, match=name):
            load_network(tmp_path / f"{name}.npz")
    np.save(tmp_path / "bare.npy", np.zeros(3))
    with pytest.raises(ConfigError, match="bare"):
        load_network(tmp_path / "bare.npy")


def test_a_network_of_other_features_is_refused(trained: BlockNetwork) -> None:
    with pytest.raises(ConfigError, match="train it again"):
        trained.judge(np.zeros((2, 3), dtype=np.float32))


def test_gold_folders_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gold\.jsonl"):
        list(gold_bodies(tmp_path))
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "lang": "zh"}\n')
    with pytest.raises(ConfigError, match="line 1"):
        list(gold_bodies(tmp_path))
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "lang": "zh", "text": "正文"}\n')
    with pytest.raises(ConfigError, match="'a' cannot be read"):
        list(gold_bodies(tmp_path))
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<p>正文</p>")
    assert [page.body for page in gold_bodies(tmp_path)] == ["<p>正文</p>".encode()]
    # JSON leaves U+2028 as it is; it ends no line of the file.
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "lang": "zh", "text": "正\u2028文"}\n')
    assert [page.text for page in gold_bodies(tmp_path)] == ["正\u2028文"]
