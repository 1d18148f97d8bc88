"""Which language messages are in, and how values get into them."""

from __future__ import annotations

import pytest

from qiaocrawl.language import _, language, ngettext
from qiaocrawl.options import Options


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"QIAO_LANG": "en", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"QIAO_LANG": "zh_CN", "LC_ALL": "en_US.UTF-8"}, "zh_CN"),
        ({"LANG": "zh_TW.UTF-8"}, "zh_CN"),
        ({"LANG": "en_GB.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LC_ALL": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_MESSAGES": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh_CN"),
        # cron, systemd and containers name no language.
        ({}, "zh_CN"),
        ({"LANG": "C.UTF-8"}, "zh_CN"),
        ({"LC_ALL": "POSIX"}, "zh_CN"),
    ],
)
def test_the_option_decides_then_the_locale(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("QIAO_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language() == expected


def test_a_language_nobody_has_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIAO_LANG", "fr")
    with pytest.raises(Exception, match=r"QIAO_LANG .*zh_CN, en.*'fr'"):
        Options.from_environment()


def test_values_stand_in_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "--tier must be {low} to {high}, got {wrong}"
    assert _(text, low=1, high=5, wrong=9) == "--tier must be 1 to 5, got 9"
    assert ngettext("{count} article", "{count} articles", 1) == "1 article"
    assert ngettext("{count} article", "{count} articles", 2) == "2 articles"
    monkeypatch.setenv("QIAO_LANG", "zh_CN")
    assert _(text, low=1, high=5, wrong=9) == "--tier 须为 1 到 5，现为 9"
    assert ngettext("{count} article", "{count} articles", 1) == "共 1 篇"
    assert _("") == ""
    assert _("what no catalogue has") == "what no catalogue has"
