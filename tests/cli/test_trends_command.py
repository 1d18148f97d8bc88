"""``qiaocrawl report trends``: over the store, for people, Excel and pictures."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from openpyxl import load_workbook

from command_runs import Run
from fresh_schema import make_tables
from qiaocrawl.items import Relevance
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import articles
from qiaocrawl.text.zones import SHANGHAI
from storage_samples import PACK, add_topic, put_article

pytestmark = pytest.mark.usefixtures("chinese")

# The 28th of February is a Saturday that is worked.
FIRST = datetime(2026, 1, 19, 9, 30, tzinfo=SHANGHAI)
DAYS = 44
_WITHOUT_HOUR = 5


@pytest.fixture
def url(database_url: str) -> str:
    """Four texts a day, one of them on topic, and eight more on topic on the last day of all."""
    with Database.open(database_url) as database:
        make_tables(database)
        ids = {PACK.name: add_topic(database)}
        with database.engine.begin() as c:
            for day in range(DAYS):
                for n in range(12 if day == DAYS - 1 else 4):
                    at = FIRST + timedelta(days=day, minutes=n)
                    if n == _WITHOUT_HOUR:
                        at = at.replace(hour=0, minute=0)
                    saved = put_article(c, f"{day}-{n}", title=f"侨务消息{day}{n}", published_at=at,
                                        host=f"h{n}.example")  # fmt: skip
                    judged = Relevance(PACK.name, 0.7, n not in (1, 2, 3), "vsm", ())
                    articles.save_relevance(c, saved.id, ids, [judged])
    return database_url


def test_trends_of_days(run: Run, url: str, tmp_path: Path) -> None:
    book, picture = tmp_path / "t.xlsx", tmp_path / "t.svg"
    code, out, error = run(
        "report", "trends", PACK.name, "--since", "2026-02-26", "--until", "2026-03-03",
        "--base-days", "35", "--out", str(book), "--picture", str(picture), "--database", url,
    )  # fmt: skip
    assert (code, error) == (0, "")
    assert "高于平常" in out
    assert "爆发" in out
    assert "预测 2026-03-04" in out
    rows = list(load_workbook(book)["趋势"].iter_rows(values_only=True))
    assert [row[:2] for row in rows[1:]] == [
        ("2026-02-26", 1), ("2026-02-27", 1), ("2026-02-28", 1), ("2026-03-01", 1),
        ("2026-03-02", 1), ("2026-03-03", 9),
    ]  # fmt: skip
    assert rows[-1][4] == "是"
    assert rows[-1][3] > 3
    assert len(list(load_workbook(book)["预测"].iter_rows())) == 8
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")
    assert "预测" in picture.read_text("utf-8")


def test_trends_of_hours_leave_out_what_names_a_day_only(run: Run, url: str) -> None:
    code, out, error = run("report", "trends", PACK.name, "--since", "2026-03-03",
                           "--until", "2026-03-03", "--per", "hour", "--ahead", "0",
                           "--database", url)  # fmt: skip
    assert (code, error) == (0, "")
    assert "1 篇只写日期" in out
    assert "2026-03-03 09:00" in out


def test_holidays_of_an_operator(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "h.toml"
    file.write_text('[2026.off]\n"馆庆" = [2026-03-03, 2026-03-03]\n', "utf-8")
    monkeypatch.setenv("QIAO_HOLIDAYS", str(file))
    given = (PACK.name, "--since", "2026-03-01", "--until", "2026-03-03", "--database", url)
    code, out, error = run("report", "trends", *given)
    assert (code, error) == (0, "")
    assert "馆庆" in out
    file.write_text("[2026]\nrest = 1\n", "utf-8")
    code, _out, error = run("report", "trends", *given)
    assert code == 1
    assert "[2026]" in error


def test_what_is_wrong_with_trends_is_said(run: Run, url: str) -> None:
    code, out, _error = run("report", "trends", PACK.name, "--word", "无此词", "--database", url)
    assert code == 0
    assert "article list" in out
    for arguments, message in (
        ((PACK.name, "--since", "2026-03-05", "--until", "2026-03-01"), "--since"),
        ((PACK.name, "--since", "2020-01-01", "--per", "hour"), "--per"),
        ((PACK.name, "--picture", "x.png"), ".svg"),
        (("nobody",), "nobody"),
    ):
        code, _out, error = run("report", "trends", *arguments, "--database", url)
        assert code == 1
        assert message in error
