"""``qiaocrawl lexicon``: build, expand, table, decide, history, undo, and the expert's desk."""

from __future__ import annotations

import csv
import io
import os
import pty
import select
import time
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook
from rich.console import Console
from sqlalchemy import update

from command_runs import Run
from crawl_starter import StartedCrawl
from fresh_schema import make_tables
from qiaocrawl.cli.lexicon_review import Desk
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Relevance
from qiaocrawl.lexicon.build import Candidate
from qiaocrawl.lexicon.decisions import Decision
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.articles import save_relevance
from qiaocrawl.storage.schema import article
from qiaocrawl.storage.search.ledger import Answered, record_answer
from qiaocrawl.storage.topics.topics import load_pack, save_pack, topic_id
from qiaocrawl.topic.pack import Term, TopicPack
from storage_samples import add_article, add_topic, close, take, url_key

# What officers see.
pytestmark = pytest.mark.usefixtures("chinese")

_NEWS = (
    "侨胞在{place}举办座谈会，讨论工作安排。华助中心（全称华人互助中心）参加。",
    "{place}的侨胞向家乡学校捐款，工作人员表示感谢{place}各界。",
    "为侨胞服务的工作在{place}展开，华助中心同日在{place}开放。",
)


@pytest.fixture
def database(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as opened:
        make_tables(opened)
        with opened.engine.begin() as c:
            pack = TopicPack("t", "侨", "", 0.1, (Term("侨联", "organisation", 2.0),), (), ())
            save_pack(c, pack, now=1.0)
    return url


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, place in enumerate(("泉州", "福州", "厦门", "漳州", "广州", "深圳")):
        for step, sentence in enumerate(_NEWS):
            body = f"{place}新闻{number}{step}\n{sentence.format(place=place)}"
            (folder / f"{number}{step}.txt").write_text(body, "utf-8")
    page = "<html><body><h1>侨胞回乡</h1><p>{}</p></body></html>".format("侨胞回到家乡。" * 30)
    (folder / "page.html").write_text(page, "utf-8")
    return folder


def terms(url: str) -> dict[str, Term]:
    with Database.open(url) as opened, opened.engine.connect() as c:
        return {term.text: term for term in load_pack(c, "t").terms}


def test_build_decide_and_undo(run: Run, database: str, texts: Path, tmp_path: Path) -> None:
    out, given = tmp_path / "l.xlsx", ("--topic", "t", "--database", database)
    code, shown, err = run(
        "lexicon", "build", *given, "--from-files", str(texts), "--out", str(out)
    )
    assert code == 0, err
    assert "19 篇" in shown
    assert "侨胞" in shown
    book = load_workbook(out)
    assert book.sheetnames == ["特征词", "新词", "别称"]
    sheet = book["特征词"]
    assert (sheet.freeze_panes, sheet.auto_filter.ref is not None) == ("B2", True)
    header = [cell.value for cell in sheet[1]]
    rows = {row[0].value: row for row in sheet.iter_rows(min_row=2)}
    assert header[:3] == ["词", "决定（收/弃/同义）", "权重"]
    assert isinstance(rows["侨胞"][header.index("次数")].value, int)
    for word, values in (
        ("侨胞", ("收", 3, "群体")),
        ("工作", ("弃",)),
        ("捐款", ("同义", None, None, "侨联")),
    ):
        for place, value in enumerate(values, 1):
            rows[word][place].value = value
    book.save(out)

    code, shown, err = run("lexicon", "decide", *given, "--from", str(out), "--by", "李")
    assert code == 0, err
    assert "收 1、弃 1、同义 1" in shown
    assert terms(database)["侨胞"] == Term("侨胞", "group", 3.0)
    assert terms(database)["捐款"].weight == 2.0
    code, shown, _ = run("lexicon", "history", *given)
    assert code == 0
    assert all(word in shown for word in ("李", "侨胞", "弃", "同义于侨联"))
    assert run("lexicon", "build", *given, "--from-files", str(texts), "--out", str(out))[0] == 0
    words = [row[0].value for row in load_workbook(out)["特征词"].iter_rows(min_row=2)]
    assert "工作" not in words, "a rejected word is not proposed again"
    code, shown, _ = run("lexicon", "undo", *given, "--last", "3")
    assert code == 0
    assert shown.count("已撤销") == 3
    assert set(terms(database)) == {"侨联"}


def test_a_hostile_table_of_decisions_is_refused_and_markup_is_text(
    run: Run, database: str, tmp_path: Path
) -> None:
    given = ("--topic", "t", "--database", database)
    path, book = tmp_path / "l.xlsx", Workbook()
    book.active.append(["词", "决定（收/弃/同义）", "权重", "类别", "同义于", "备注"])
    book.active.append(["侨胞", "收", 2, None, None, "[/b] [red]"])
    book.save(path)
    code, _, err = run("lexicon", "decide", *given, "--from", str(path), "--by", "[/i]")
    assert code == 0, err
    code, shown, _ = run("lexicon", "history", *given)
    assert (code, "[/b] [red]" in shown, "[/i]" in shown) == (0, True, True)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image1.png", b" " * 40_000_000)
    code, _, err = run("lexicon", "decide", *given, "--from", str(path))
    assert (code, "解压后" in err) == (1, True)


def test_expansion_and_weights_are_written(
    run: Run, database: str, texts: Path, tmp_path: Path
) -> None:
    given = ("--topic", "t", "--database", database, "--from-files", str(texts))
    code, shown, err = run("lexicon", "expand", *given, "--out", str(tmp_path / "e.xlsx"))
    assert code == 0, err
    assert "中国侨联" in shown
    code, _, err = run("lexicon", "table", *given, "--out", str(tmp_path / "w.csv"))
    assert code == 0, err
    rows = list(csv.DictReader(io.StringIO((tmp_path / "w.csv").read_text("utf-8-sig"))))
    (row,) = [row for row in rows if row["词"] == "新闻"]
    assert (row["总次数"], row["标题数"]) == ("18", "18")
    assert sum(1 for name in row if "新闻" in name) == 18


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("build", "--topic", "u"), "数据库中没有主题 'u'"),
        (("build", "--topic", "t"), "没有可用的文章"),
        (("build", "--topic", "t", "--from-site", "a.test"), "start=https://a.test/"),
        (("build", "--topic", "t", "--from-files", "nowhere"), "没有这个文件夹"),
        (("build", "--topic", "t", "--from-site", "a.test", "--from-store"), "只能选一个"),
        (("build", "--topic", "t", "--since", "gestern"), "现为 'gestern'"),
        (("build", "--topic", "t", "--from-files", ".", "--since", "7d"), "--since 只限已存的文章"),
        (("build", "--topic", "t", "--out", "l.docx"), "必须以 .xlsx 或 .csv 结尾"),
        (("undo", "--topic", "t"), "请写 --since 日期 或 --last 条数"),
        (("undo", "--topic", "t", "--since", "gestern"), "现为 'gestern'"),
        (("decide", "--topic", "t", "--from", "nowhere.xlsx"), "'nowhere.xlsx' 不存在"),
        (("review", "--topic", "t"), "需要终端"),
    ],
)
def test_what_is_wrong_is_named(
    run: Run, database: str, arguments: tuple[str, ...], said: str
) -> None:
    code, _, err = run("lexicon", *arguments, "--database", database)
    assert code == 1
    assert said in err.replace("\n", " ")


def test_a_wrong_cell_is_named_and_nothing_is_taken(
    run: Run, database: str, texts: Path, tmp_path: Path
) -> None:
    out, given = tmp_path / "l.xlsx", ("--topic", "t", "--database", database)
    assert run("lexicon", "build", *given, "--from-files", str(texts), "--out", str(out))[0] == 0
    book = load_workbook(out)
    book["特征词"]["B2"].value, book["特征词"]["B3"].value = "收", "也许"
    book.save(out)
    code, _, err = run("lexicon", "decide", *given, "--from", str(out))
    assert code == 1
    assert "工作表 特征词 第 3 行: '也许' 须为 收" in err.replace("\n", " ")
    assert set(terms(database)) == {"侨联"}


def test_yields_are_shown_and_written(run: Run, database: str, tmp_path: Path) -> None:
    given = ("--topic", "t", "--database", database)
    code, _, err = run("lexicon", "yield", *given)
    assert code == 1
    assert "尚未检索" in err
    key = url_key("http://a.example/1")
    with Database.open(database) as opened:
        add_topic(opened)
        with opened.engine.begin() as c:
            row = add_article(c, "1")
            save_relevance(c, row, {"t": topic_id(c, "t")}, [Relevance("t", 0.9, True, "vsm")])
            close(c, take(c)[0])
            for term, hits in (("侨", (key, b"2" * 16)), ("侨胞", (key,)), ("乔", (b"2" * 16,))):
                entry = Answered(AnswerState.HIT, len(hits), hit_keys=hits)
                record_answer(c, Query("t", term, "", "sogou"), entry, 1.7e9)
    out = tmp_path / "y.xlsx"
    code, shown, err = run("lexicon", "yield", *given, "--out", str(out))
    assert code == 0, err
    assert "没有切题产出的词" in shown
    book = load_workbook(out)
    rows = [[cell.value for cell in row] for row in book["词的产出"].iter_rows()]
    assert [(row[0], *row[6:]) for row in rows[1:]] == [
        ("侨", None, 1, 2, 1, 1, 1, 0), ("侨胞", "可省", 1, 1, 1, 1, 1, 0),
        ("乔", "无切题产出", 1, 1, 0, 0, 0, 0),
    ]  # fmt: skip
    # Removal is a decision like any other.
    book["词的产出"]["B2"].value = "弃"
    book.save(out)
    code, shown, err = run("lexicon", "decide", *given, "--from", str(out))
    assert (code, "弃 1" in shown, "未填 2" in shown) == (0, True, True), (shown, err)


def test_only_fresh_articles_are_read(run: Run, database: str, tmp_path: Path) -> None:
    out, given = tmp_path / "l.xlsx", ("--topic", "t", "--database", database)
    with Database.open(database) as opened:
        add_topic(opened)
        with opened.engine.begin() as c:
            for number, (day, word) in enumerate(
                ((1, "侨批"), (1, "侨批"), (8, "侨校"), (8, "侨校"))
            ):
                body = f"{word}第{number}件来自海外。" * 3
                row = add_article(c, str(number), title=f"第{number}篇", body=body)
                c.execute(update(article).where(article.c.id == row).values(
                    fetched_at=datetime(2026, 3, day)
                ))  # fmt: skip
    read = ("--from-site", "a.example", "--out", str(out), "--since")
    assert run("lexicon", "build", *given, *read, "2026-03-08")[0] == 0
    words = {row[0].value for row in load_workbook(out)["特征词"].iter_rows(min_row=2)}
    assert ("侨校" in words, "侨批" in words) == (True, False)


class _Notebook:
    def __init__(self) -> None:
        self.taken: list[Decision] = []

    def take(self, decision: Decision) -> None:
        if decision.weight is not None and decision.weight > 10:
            raise ConfigError("weight must be at most 10")
        self.taken.append(decision)

    def undo_last(self) -> str:
        return self.taken.pop().text if self.taken else ""


def at_the_desk(keys: str, *answers: str) -> tuple[list[Decision], str]:
    words = [Candidate("华助中心", "新词", "34 次"), Candidate("工作", "特征词", "90 次"),
             Candidate("侨总", "别称", "3 次", "侨联")]  # fmt: skip
    book, shown = _Notebook(), io.StringIO()
    console = Console(file=shown, width=80)
    pressed, lines = iter(keys), iter(answers)
    examples = {"华助中心": ["华助中心揭牌。", "走进华助中心。"]}
    Desk(words, examples, book, console, lambda: next(pressed), lambda _: next(lines)).run()
    return book.taken, shown.getvalue()


def test_a_key_is_a_decision() -> None:
    taken, shown = at_the_desk("wknarm", "2.5", "机构", "领馆常用", "")
    assert taken == [
        Decision("华助中心", "accept", 2.5, "organisation", note="领馆常用"),
        Decision("工作", "reject"),
        Decision("侨总", "merge", synonym_of="侨联"),
    ]
    assert "走进华助中心" in shown
    assert "收 2，弃 1，未看 0" in shown


def test_undo_shows_the_word_again_and_leaving_keeps_what_was_decided() -> None:
    taken, shown = at_the_desk("aua q")
    assert [one.text for one in taken] == ["华助中心"]
    assert "已撤销：华助中心" in shown
    assert "收 1，弃 0，未看 1" in shown


def test_a_word_is_merged_with_a_named_term_only() -> None:
    taken, shown = at_the_desk("mq", "")
    assert taken == []
    assert "没有写出词" in shown


def test_a_wrong_answer_at_the_desk_is_said_and_the_word_stays() -> None:
    taken, shown = at_the_desk("wkwaxq", "viel", "别的", "99")
    assert taken == []
    for said in ("'viel' 须为", "类别 '别的' 须为", "at most 10", "没有这个键：'x'"):
        assert said in shown
    assert "未看 3" in shown


def _until(terminal: int, wanted: str, seconds: float = 100.0) -> str:
    """What the terminal shows until *wanted* is there."""
    end, shown = time.monotonic() + seconds, ""
    while wanted not in shown:
        assert time.monotonic() < end, shown
        if select.select([terminal], [], [], 0.5)[0]:
            shown += os.read(terminal, 65_536).decode("utf-8", "replace")
    return shown


def test_words_are_decided_in_a_real_terminal(database: str, texts: Path) -> None:
    terminal, other = pty.openpty()
    command = ["qiaocrawl", "lexicon", "review", "--topic", "t",
               "--from-files", str(texts), "--count", "5", "--database", database]  # fmt: skip
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    process = StartedCrawl(
        command, environment, Path.cwd(), stdin=other, stdout=other, stderr=other
    )
    os.close(other)
    try:
        assert "1/5" in _until(terminal, "结束")
        os.write(terminal, b"aaw")  # typed ahead, while the next words are drawn
        assert "3/5" in _until(terminal, "权重（0")
        os.write(terminal, b"4\n")
        _until(terminal, "权重 4")
        os.write(terminal, b"aq")
        assert "收 3" in _until(terminal, "未看 2")
        assert process.wait(100) == 0
    finally:
        process.kill()
        process.close()
        os.close(terminal)
    decided = [term for text, term in terms(database).items() if text != "侨联"]
    assert [term.weight for term in decided] == [3.0, 3.0, 4.0]
