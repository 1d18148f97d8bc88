"""``qiaocrawl report words``: over the store, for people, Excel and programs."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from openpyxl import load_workbook

from command_runs import Run
from fresh_schema import make_tables
from qiaocrawl.items import Relevance
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import articles
from storage_samples import PACK, add_topic, put_article

pytestmark = pytest.mark.usefixtures("chinese")

NOW = datetime.now(UTC) - timedelta(hours=1)


@pytest.fixture
def url(database_url: str) -> str:
    """Twelve texts of last month, six of yesterday of which one is not on topic, one undated."""
    with Database.open(database_url) as database:
        make_tables(database)
        ids = {PACK.name: add_topic(database)}
        with database.engine.begin() as c:
            for n in range(19):
                is_now = n >= 12
                body = f"第{n}次侨务座谈会在{n}号礼堂举行。"
                if is_now:
                    body = f"第{n}家唐人街商铺失火，“归心计划”为{n}号灾民募捐。"
                saved = put_article(
                    c, str(n), host=f"h{n % 3}.example", title=f"消息{n}", body=body,
                    published_at=NOW - timedelta(days=1 if is_now else 20) if n < 18 else None,
                )  # fmt: skip
                judged = Relevance(PACK.name, 0.75, n != 17, "vsm", ())
                articles.save_relevance(c, saved.id, ids, [judged])
    return database_url


def test_hot_new_and_cloud(run: Run, url: str, tmp_path: Path) -> None:
    given = (PACK.name, "--since", "2d", "--until", "today", "--database", url)
    book = tmp_path / "w.xlsx"
    code, out, error = run("report", "words", "hot", *given, "--out", str(book))
    assert (code, error) == (0, "")
    assert "5 篇" in out
    assert "12 篇相比" in out
    assert "唐人街" in out
    rows = list(load_workbook(book)["热词"].iter_rows(values_only=True))
    assert rows[0][:4] == ("词", "篇数", "站数", "此前篇数")
    assert any("唐人街" in str(row[0]) and row[1:4] == (5, 3, 0) for row in rows)
    code, out, error = run("report", "words", "new", *given, "--out", str(book))
    assert (code, error) == (0, "")
    assert "归心计划" in out
    assert "引号内" in out
    picture, data = tmp_path / "c.svg", tmp_path / "c.json"
    code, out, error = run("report", "words", "cloud", *given, "--picture", str(picture),
                           "--json", str(data),
                           "--out", str(tmp_path / "w.csv"))  # fmt: skip
    assert (code, error) == (0, "")
    assert "唐人街" in picture.read_text("utf-8")
    words = {word["text"]: word for word in json.loads(data.read_text("utf-8"))["words"]}
    fire = next(word for text, word in words.items() if "唐人街" in text)
    assert (fire["trend"], len(fire["articles"])) == ("new", 5)


def test_hits_of_groups(run: Run, url: str, tmp_path: Path) -> None:
    groups, book = tmp_path / "g.csv", tmp_path / "h.xlsx"
    groups.write_text("组,词,用法\n安全,失火、抢劫,\n会务,座谈会,\n", "utf-8")
    code, out, error = run("report", "words", "hits", PACK.name, "--since", "30d", "--groups",
                           str(groups),
                           "--out", str(book), "--database", url)  # fmt: skip
    assert (code, error) == (0, "")
    assert "安全" in out
    sheets = load_workbook(book)
    rows = list(sheets["专题命中"].iter_rows(values_only=True))
    assert [row[:2] for row in rows[1:]] == [("安全", 5), ("会务", 12)]
    assert sheets["命中文章"].max_row == 18


def test_groups_are_kept_marked_and_choose_what_is_exported(
    run: Run, url: str, tmp_path: Path
) -> None:
    groups, given = tmp_path / "g.csv", ("--database", url)
    groups.write_text(
        "组,词,用法,距离\n募捐,唐人街、灾民,相近,\n远,唐人街、灾民,相近,3字\n会务,座谈会,,\n",
        "utf-8",
    )
    code, out, _ = run("report", "words", "keep", PACK.name, str(groups), *given)
    assert code == 0
    assert "words mark" in out
    chosen = ("export", "--format", "csv", "--topic", PACK.name, "--group")
    # Nothing is marked yet, and the file says so.
    code, out, error = run(*chosen, "募捐", "--out", str(tmp_path / "0.csv"), *given)
    assert code == 0
    assert "words mark" in out + error
    code, out, _ = run("report", "words", "mark", *given)
    assert code == 0
    assert "19 篇" in out
    for name, count in (("募捐", 7), ("远", 0), ("会务", 12)):
        file = tmp_path / f"{name}.csv"
        code, out, error = run(*chosen, name, "--out", str(file), *given)
        assert code == 0
        assert "words mark" not in out + error
        assert len(file.read_text("utf-8-sig").strip().splitlines()) == count + 1
    code, out, _ = run("article", "list", "--group", "募捐", "--group", "会务", *given)
    assert "19" in out
    code, _, error = run(*chosen, "无此组", "--out", str(tmp_path / "x.csv"), *given)
    assert code == 1
    assert "会务" in error
    for row, fault in (("募捐,唐人街,相近,", "两个以上"), ("募捐,甲、乙,相近,远", "字")):
        groups.write_text(f"组,词,用法,距离\n{row}\n", "utf-8")
        code, _, error = run("report", "words", "keep", PACK.name, str(groups), *given)
        assert code == 1
        assert fault in error


def test_what_is_wrong_is_said(run: Run, url: str, tmp_path: Path) -> None:
    code, out, _ = run("report", "words", "hot", PACK.name, "--since", "2020-01-01", "--until",
                       "2020-01-02",
                       "--database", url)  # fmt: skip
    assert code == 0
    assert "0 篇" in out
    for arguments, message in (
        (("hot", PACK.name, "--since", "2026-03-05", "--until", "2026-03-01"), "--since"),
        (("hot", "nobody"), "nobody"),
        (("cloud", PACK.name, "--picture", str(tmp_path / "x.png")), ".svg"),
        (("hits", PACK.name, "--groups", str(tmp_path / "none.xlsx")), "none.xlsx"),
    ):
        code, _, error = run("report", "words", *arguments, "--database", url)
        assert code == 1
        assert message in error
