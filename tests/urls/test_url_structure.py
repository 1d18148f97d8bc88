"""URLs taken apart, likened and weighed (U1-U3)."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.kernels import ints
from qiaocrawl.urls import structure_kernels as kernels
from qiaocrawl.urls import structure_layout as layout
from qiaocrawl.urls.structure import (
    DIGITAL,
    MIX,
    STRING,
    Directory,
    Examples,
    UrlStructures,
    initial_weights,
    url_vector,
)


def test_a_url_is_taken_apart() -> None:
    vector = url_vector("http://news.example.com.cn/gn/2014/06/06/c_12.shtml?from=a")
    assert vector.host == ("news", "example", "news.example.com.cn")
    # The date is one directory; its digits and those of the file are written 0.
    assert vector.directories == (Directory("gn", STRING), Directory("0000/00/00", DIGITAL))
    assert vector.depth == 2
    assert vector.file == ("c_00", "shtml", True, "c_00.shtml", MIX, True)


def test_the_main_domain_has_no_suffix() -> None:
    assert url_vector("http://edition.cnn.com//2014/06/06/sport/index.html?hpt=isp_c2").host == (
        "edition", "cnn", "edition.cnn.com"
    )  # fmt: skip
    assert url_vector("http://192.0.2.7/a").host == ("", "192.0.2.7", "192.0.2.7")
    assert url_vector("http://localhost/a").host == ("", "localhost", "localhost")


def test_a_file_without_a_dot_has_neither_stem_nor_suffix() -> None:
    assert url_vector("http://x.test/a/show?id=3").file == ("0", "0", False, "show", STRING, True)
    assert url_vector("http://x.test/a/2014?").file == ("0", "0", False, "0000", DIGITAL, False)
    assert url_vector("http://x.test").file == ("0", "0", False, "", STRING, False)


@pytest.mark.parametrize(
    ("path", "directories"),
    [("/2014/6/a", [("0000/0", DIGITAL)]), ("/20140606/a", [("00000000", DIGITAL)]),
     ("/2014-06/15/a", [("0000-00/00", DIGITAL)]), ("/2014/99/a", [("0000", DIGITAL),
                                                               ("99", DIGITAL)]),
     ("/n1/2014/0606/a", [("n1", MIX), ("0000/0000", DIGITAL)]), ("//x//a", [("x", STRING)]),
     ("/2014年/a", [("2014年", MIX)])],
)  # fmt: skip
def test_a_date_run_is_one_directory(path: str, directories: list[tuple[str, int]]) -> None:
    assert list(url_vector(f"http://x.test{path}").directories) == directories


@given(st.text(max_size=80) | st.from_regex(r"https?://[a-z.\[\]:]{0,9}[/?#%0-9a-z一-三]{0,40}"))
def test_any_text_can_be_taken_apart_and_compared_with_itself(url: str) -> None:
    structures, examples = UrlStructures(), Examples(2)
    number = structures.add(url)
    assert structures.add(url) == number
    examples.add(structures, number)
    best, parts = structures.nearest(np.array([number]), examples)
    assert best == pytest.approx([1.0])
    assert parts.sum() == pytest.approx(1.0)


def test_edit_distances_are_those_of_the_textbook() -> None:
    def by_table(one: list[int], other: list[int]) -> int:
        row = list(range(len(other) + 1))
        for place, letter in enumerate(one, 1):
            above, row[0] = row[0], place
            for at, wanted in enumerate(other, 1):
                costs = min(row[at] + 1, row[at - 1] + 1, above + (letter != wanted))
                above, row[at] = row[at], costs
        return row[-1]

    chance = random.Random(3)
    masks = ints(np.zeros(layout.CHARACTERS, np.uint64))
    for length in [0, 1, 5, 63, 64, *chance.choices(range(65), k=60)]:
        one = chance.choices(range(97, 101), k=length)
        other = chance.choices(range(97, 101), k=chance.randrange(65))
        kernels.fill_masks(ints(np.array(one, np.uint8)), 0, length, masks, 0)
        codes = ints(np.array(other, np.uint8))
        distance = kernels.edit_distance(masks, 0, length, codes, 0, len(other))
        assert distance == by_table(one, other)


def similarity(one: str, other: str, weights: list[float] | None = None) -> float:
    structures, examples = UrlStructures(), Examples(1)
    if weights:
        structures.weights = np.array(weights)
    examples.add(structures, structures.add(one))
    return float(structures.nearest(np.array([structures.add(other)]), examples)[0][0])


HOST = [1.0, *[0.0] * 10]
FIRST = [0.0, 1.0, *[0.0] * 9]
TWO = [0.0, 0.75, 0.25, *[0.0] * 8]
FILE = [*[0.0] * 9, 1.0, 0.0]
LAYOUT = [*[0.0] * 9, 0.5, 0.5]


@pytest.mark.parametrize(
    ("one", "other", "weights", "by_hand"),
    [
        # bbs | a.com | bbs.a.com against "" | a.com | a.com: 0, 1 and 1 - 4/9.
        ("http://bbs.a.com/", "http://a.com/", HOST, (0 + 1 + 5 / 9) / 3),
        # news and nows: 1 - 1/4, the same type: 1.
        ("http://a.com/news/", "http://a.com/nows/", FIRST, (0.75 + 1) / 2),
        # news and 7: nothing alike, string and digital.
        ("http://a.com/news/", "http://a.com/7/", FIRST, 0.0),
        # The second directory is missing on one side: .75·1 of .75 + .25.
        ("http://a.com/news/b/", "http://a.com/news/", TWO, 0.75),
        # Neither has a second one: the first alone counts.
        ("http://a.com/news/", "http://a.com/news/x", TWO, 1.0),
        # Stem list 1 - 1/4, suffix html 1, dot 1, name 1 - 1/9, type 1, parameters 0.
        ("http://a.com/list.html", "http://a.com/lost.html?p=1", FILE, (3.75 + 8 / 9) / 6),
        # The same file at another depth.
        ("http://a.com/a.html", "http://a.com/b/a.html", LAYOUT, 0.5),
    ],
)
def test_similarity_by_hand(one: str, other: str, weights: list[float], by_hand: float) -> None:
    assert similarity(one, other, weights) == pytest.approx(by_hand)
    assert similarity(other, one, weights) == pytest.approx(by_hand)


def test_weights_start_halving_and_sum_to_one() -> None:
    weights = initial_weights()
    assert weights.sum() == pytest.approx(1.0)
    # File and depth have .2, host and directories halve over the other .8: 256 + … + 1 = 511.
    assert weights[0] == pytest.approx(0.8 * 256 / 511)
    assert weights[:8] / weights[1:9] == pytest.approx([2.0] * 8)
    assert weights[9:] == pytest.approx([0.15, 0.05])


def test_positions_with_fewer_values_become_heavier() -> None:
    structures = UrlStructures()
    structures.learn_weights(0.01)
    assert structures.weights == pytest.approx(initial_weights())
    for url in ("news/1.html", "news/2.html", "blog/3.html", "blog/4.html"):
        structures.add(f"http://a.com/{url}")
    structures.learn_weights(0.01)
    # One host: 4/(1·4) = 1. Two first directories: 4/(2·4) = .5. File .15 and depth .05 as set.
    # Together 1.7.
    by_hand = np.array([1, 0.5, *[0] * 7, 0.15, 0.05])
    assert structures.weights == pytest.approx(by_hand / 1.7)
    # Above a share of .6 no directory is frequent any more.
    structures.learn_weights(0.6)
    assert structures.weights == pytest.approx(np.array([1, *[0] * 8, 0.15, 0.05]) / 1.2)
    # Without any frequent value the weights stay.
    structures.learn_weights(1.0)
    assert structures.weights == pytest.approx(np.array([1, *[0] * 8, 0.15, 0.05]) / 1.2)


def test_equal_structures_are_one() -> None:
    structures = UrlStructures()
    same = {structures.add(f"http://a.com/2014/06/1{day}/{day}.html") for day in range(1, 9)}
    assert len(same) == len(structures) == 1
    examples = Examples(3)
    assert examples.add(structures, 0)
    assert not examples.add(structures, 0)
    assert len(examples) == 1
    for name in "abcd":
        examples.add(structures, structures.add(f"http://a.com/{name}"))
    assert len(examples) == 3
    assert examples.ever == 5
