"""The manual and the options are at hand wherever the command runs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from command_runs import Run


def test_all_pages_are_listed_and_each_can_be_read(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = run("docs")
    assert code == 0
    for page in ("running", "zh/quick-start", "options"):
        assert page in out
    code, out, _ = run("docs", "running.md")
    assert (code, out[:2]) == (0, "# ")
    # A Chinese page goes by its bare name where Chinese is read.
    monkeypatch.setenv("QIAO_LANG", "zh_CN")
    code, out, _ = run("docs", "quick-start")
    assert (code, out[:2]) == (0, "# ")


def test_a_page_that_is_not_there_is_named_with_its_nearest(run: Run) -> None:
    code, _, error = run("docs", "relevence")
    assert code == 1
    assert "'relevence'" in error
    assert "relevance" in error


def test_an_option_is_shown_with_its_value_and_who_set_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # What .env sets is taken back afterwards.
    monkeypatch.setattr(os, "environ", os.environ.copy())
    for name in [name for name in os.environ if name.startswith("QIAO_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    assert "Nobody set an option" in run("options", "--changed")[1]
    (tmp_path / ".env").write_text("QIAO_MAX_DEPTH=7\n")
    monkeypatch.setenv("QIAO_DATABASE_URL", "mysql+pymysql://u:hunter2@127.0.0.1/x")
    code, out, _ = run("options", "--changed", "--json")
    # What .env says is now in this process's environment.
    monkeypatch.delenv("QIAO_MAX_DEPTH")
    found = {option["name"]: option for option in json.loads(out)}
    assert code == 0
    assert found["QIAO_MAX_DEPTH"]["value"] == "7"
    assert found["QIAO_MAX_DEPTH"]["set_by"] == "environment or .env"
    assert "hunter2" not in out, "a secret is not shown"
    assert found.keys() == {"QIAO_MAX_DEPTH", "QIAO_DATABASE_URL"}


def test_a_word_that_no_option_has_is_said(run: Run) -> None:
    code, _, error = run("options", "nonesuch")
    assert code == 1
    assert "'nonesuch'" in error


@pytest.mark.usefixtures("chinese")
def test_meanings_are_chinese_where_one_reads_chinese(run: Run) -> None:
    code, out, _ = run("options", "代理")
    assert code == 0
    assert "QIAO_PROXY_POOL" in out
    assert "代理从哪里来" in "".join(out.split())
    # A word of the English meaning finds it too, as pages in English have it.
    assert "QIAO_PROXY_POOL" in run("options", "provider")[1]
