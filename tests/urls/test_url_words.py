"""The words of URLs."""

from __future__ import annotations

import pytest

from qiaocrawl.urls.hosts import url_words


@pytest.mark.parametrize(
    ("url", "words"),
    [("http://www.example.com/news/big-storm_2.html", "example news big storm 2"),
     ("http://x.test/%E7%81%AF%E5%A1%94", "x test 灯塔"),
     # The same in GB 18030, and cut in the middle of a character.
     ("http://x.test/%B5%C6%CB%FE", "x test 灯塔"),
     ("http://x.test/machineLearning", "x test machineLearning machine Learning"),
     ("http://x.test/AIClub", "x test AIClub AI Club"),
     ("http://x.test/course410", "x test course410 course"),
     ("http://x.test/5g?tag=ai&q=%e4%be%a8", "x test 5g tag ai q 侨"),
     ("", ""), ("http://", ""), ("灯塔/更多", "灯塔 更多")],
)  # fmt: skip
def test_words(url: str, words: str) -> None:
    assert url_words(url) == words


@pytest.mark.parametrize(
    "url", ["http://x.test/%", "%E7%81", "\ud800%41", "http://[::1%", "%" * 999]
)
def test_any_text_is_read(url: str) -> None:
    assert isinstance(url_words(url), str)
    assert len(url_words("http://x.test/" + "ab/" * 5000)) < 700
