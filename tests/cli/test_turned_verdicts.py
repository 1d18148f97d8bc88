"""Before a judgement is taken over: the ten verdicts nearest to the border, of either kind."""

from __future__ import annotations

import pytest

from qiaocrawl.cli.reprocess import _print_turned, _shown_result
from qiaocrawl.runs.reprocess import TurnedVerdict


@pytest.mark.parametrize(
    ("on", "off", "shown"), [(0, 13, (0, 10)), (2, 13, (2, 8)), (9, 9, (5, 5))]
)
def test_ten_are_shown_and_the_rest_is_counted(
    on: int, off: int, shown: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    turned = [TurnedVerdict("t", True, 0.5 + n / 100, f"新{n}", "http://a/") for n in range(on)]
    turned += [TurnedVerdict("t", False, 0.5 - n / 100, f"旧{n}", "http://b/") for n in range(off)]
    _print_turned(turned)
    out = capsys.readouterr().out
    assert (out.count("新"), out.count("旧")) == shown
    assert f"… {on + off - sum(shown)} more rows" in out


@pytest.mark.parametrize(
    ("result", "english", "chinese"),
    [
        ("list, read again", "list, read again", "列表页 (list)，重读"),
        ("article -> list", "article -> list", "文章 (article) -> 列表页 (list)"),
        ("qiaoqing: on topic", "qiaoqing: on topic", "qiaoqing: 切题"),
    ],
)
def test_results_are_shown_in_the_language_of_the_operator(
    result: str, english: str, chinese: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _shown_result(result) == english
    monkeypatch.setenv("QIAO_LANG", "zh_CN")
    assert _shown_result(result) == chinese
