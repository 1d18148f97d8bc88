"""``qiaocrawl topic judge`` and ``topic judgements``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
from openpyxl.cell.cell import MergedCell

from fresh_schema import make_tables
from qiaocrawl.items import PageText
from qiaocrawl.relevance.scorer import make_scorer
from qiaocrawl.storage import Database, audit_log
from qiaocrawl.storage.pages.articles import save_relevance
from qiaocrawl.storage.topics.judgements import list_judgements, save_judgement
from qiaocrawl.storage.topics.topics import load_pack as load_stored
from qiaocrawl.storage.topics.topics import save_pack, topic_id
from qiaocrawl.topic.folder import load_pack
from qiaocrawl.topic.pack import Term, TopicPack
from storage_samples import PACK, add_article, add_topic

# What officers see.
pytestmark = pytest.mark.usefixtures("chinese")

Run = Callable[..., tuple[int, str, str]]


def test_pages_are_judged_and_listed(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
        with database.engine.begin() as c:
            save_pack(c, TopicPack("t", "题", "", 0.1, (Term("侨", "core"),), (), ()), now=1.0)
    given = ("--database", url)
    code, out, _ = run("topic", "judge", "t", "HTTP://A.test:80/x#y", "是", "--note", "乡情",
                       *given)  # fmt: skip
    assert code == 0
    assert out == ("http://a.test/x: 是\n库中还没有这个网址的文章；"
                   "采到以后，这个判断才生效\n")  # fmt: skip
    assert run("topic", "judge", "t", "http://a.test/x", "no", *given)[0] == 0
    code, out, _ = run("topic", "judgements", "t", *given)
    assert code == 0
    (row,) = [line for line in out.splitlines() if "a.test" in line]
    assert [cell.strip() for cell in row.split("│")[2:-1]] == [
        "否", "http://a.test/x", "（还没有）", "",
    ]  # fmt: skip
    assert run("topic", "export", "t", str(tmp_path / "t"), "--judgements", *given)[0] == 0
    assert load_pack(tmp_path / "t").samples == ()


def test_a_judgement_of_a_clock_that_was_ahead_is_not_taken_for_the_last(
    run: Run, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            add_article(c, "1")
            save_judgement(c, PACK.name, "http://b.test/", relevant=True, note="", now=4e9)
    address = "http://a.example/1"
    code, out, _ = run("topic", "judge", PACK.name, address, "yes", "--database", url)
    assert (code, out) == (0, f"{address}: 是\n")


def test_what_is_no_answer_no_address_and_no_topic_is_named(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
    for arguments, said in (
        (("t", "http://a.test/", "maybe"), "判断须为 是 或 否，现为 'maybe'"),
        (("t", "mailto:a@a.test", "yes"), "'mailto:a@a.test' 不是网址"),
        (("t", "http://a.test/", "yes"), "数据库中没有主题 't'"),
        (("\udcff", "http://a.test/", "yes"), "数据库中没有主题"),
    ):
        code, _, err = run("topic", "judge", *arguments, "--database", url)
        assert code == 1
        assert said in err


def _topic_with_articles(url: str, paths: Sequence[str]) -> None:
    with Database.open(url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            for path in paths:
                add_article(c, path, title=f"第 {path} 篇")


def test_an_exported_table_comes_back_with_its_judgements(
    run: Run, database_url: str, tmp_path: Path
) -> None:
    _topic_with_articles(database_url, ("a", "b", "c"))
    given = ("--database", database_url)
    assert run("topic", "judge", PACK.name, "http://a.example/a", "no", *given)[0] == 0
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "报道"
    for row in (("标题", "网址", "判断（是/否）"), ("甲", "http://a.example/a", "是"),
                ("乙", "http://a.example/b", " No "), ("丙", "http://a.example/c", None),
                ("丁", "原文", "否"), ("甲", "http://a.example/a", "YES")):  # fmt: skip
        sheet.append(row)
    sheet["B5"].hyperlink = "http://a.example/never"
    workbook.save(tmp_path / "t.xlsx")
    arguments = ("topic", "judge", PACK.name, "--from", str(tmp_path / "t.xlsx"), *given)
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert "已写入 3 条判断（是 1，否 2，改判 1）；1 行没有判断" in out
    assert "1 个网址库中还没有文章" in out
    assert "  http://a.example/never\n" in out
    with Database.open(database_url) as database, database.engine.connect() as c:
        judged = {row.url: row.relevant for row in list_judgements(c, PACK.name, 9)}
        verdicts = c.exec_driver_sql("SELECT relevant, method FROM relevance ORDER BY article_id")
        assert [tuple(row) for row in verdicts] == [(1, "operator"), (0, "operator")]
    assert judged == {"http://a.example/a": True, "http://a.example/b": False,
                      "http://a.example/never": False}  # fmt: skip


def test_a_table_with_any_fault_judges_nothing(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    _topic_with_articles(url, ("a",))
    path = tmp_path / "t.csv"
    given = ("topic", "judge", PACK.name, "--from", str(path), "--database", url)
    for rows, words in (
        ("http://a.example/a,是\nhttp://a.example/b,不知道\nhttp://a.example/c,再看",
         "t.csv 第 3、4 行：判断须为 是 或 否"),
        ("不详,是", "t.csv 第 2 行：不是网址"),
        ("http://a.example/a,是\nHTTP://a.example:80/a,否", "与第 2 行矛盾"),
    ):  # fmt: skip
        path.write_bytes(f"网址,判断\n{rows}\n".encode("gb18030"))
        code, _, err = run(*given)
        assert code == 1
        assert words in err
    path.write_text("网址,标题\nhttp://a.example/a,甲\n")
    code, _, err = run(*given)
    assert (code, "没有“判断（是/否）”和“网址”两列" in err) == (1, True)
    with Database.open(url) as database, database.engine.connect() as c:
        assert list_judgements(c, PACK.name, 9) == []
    assert run("topic", "judge", PACK.name, "--database", url)[0] == 1


def test_the_workbook_that_export_writes_comes_back(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    _topic_with_articles(url, ("a", "b"))
    given = ("--database", url)
    for path in ("a", "b"):
        assert run("topic", "judge", PACK.name, f"http://a.example/{path}", "yes", *given)[0] == 0
    book = tmp_path / "out.xlsx"
    assert run("export", "--topic", PACK.name, "--out", str(book), *given)[0] == 0
    workbook = openpyxl.load_workbook(book)
    for sheet in workbook.worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value == "判断（是/否）" and sheet.max_row > cell.row:
                    below = sheet.cell(cell.row + 1, cell.column)
                    if below.value is None and not isinstance(below, MergedCell):
                        below.value = "否"
    workbook.save(book)
    code, out, err = run("topic", "judge", PACK.name, "--from", str(book), *given)
    assert (code, err) == (0, "")
    assert "已写入 1 条判断（是 0，否 1，改判 1）" in out


def test_the_threshold_is_shown_and_set_with_a_note_of_who_did(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    pack = replace(PACK, samples=(), threshold=0.1)
    body = "会议在当地召开，讨论了唐人街的工程。" + "会后参观。" * 20
    with Database.open(url) as database:
        make_tables(database)
        add_topic(database, pack)
        judged = make_scorer("blend", pack).judge(PageText("会议", body))
        with database.engine.begin() as c:
            ids = {pack.name: topic_id(c, pack.name)}
            for number in range(12):
                row = add_article(c, f"{number}", title="会议", body=body)
                save_relevance(c, row, ids, [judged])
    given = ("--database", url)
    code, out, _ = run("topic", "threshold", pack.name, *given)
    assert (code, "12 篇文章中切题 0 篇" in out, "只凭 3 个词" in out) == (0, True, True)
    line = f"{judged.score - 0.02:.2f}"
    code, out, _ = run("topic", "threshold", pack.name, "--line", line, "--by", "zhang", *given)
    assert (code, "多 12 篇切题" in out) == (0, True)
    assert "qiaocrawl reprocess --stage relevance --yes" in out
    with Database.open(url) as database, database.engine.connect() as c:
        assert load_stored(c, pack.name).threshold < pack.threshold
        (entry,) = audit_log.entries(c)
    assert (entry.action, entry.user_name) == ("topic.threshold", "zhang")
    # Scores of another topic tell nothing: a second line only after they are judged anew.
    code, _, err = run("topic", "threshold", pack.name, "--line", "0.9", *given)
    assert (code, "qiaocrawl reprocess --stage relevance" in err) == (1, True)


def test_an_import_shows_what_it_changes_and_keeps_it_on_wish(run: Run, tmp_path: Path) -> None:
    given = ("--into", "t", "--database", f"sqlite:///{tmp_path / 'q.db'}")
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("词,类别,权重,备注\n侨批,文化,6,家书\n")
    second.write_text("词,类别,权重\n侨批,其他,1\n侨商,经贸,2\n")
    assert run("topic", "import", str(first), *given)[0] == 0
    code, out, _ = run("topic", "import", str(second), "--keep", *given)
    assert code == 0
    assert "侨批" not in out
    code, out, _ = run("topic", "import", str(second), *given)
    assert code == 0
    assert "侨批: 文化、6、家书 → 其他、1" in out
    assert "--keep" in out
