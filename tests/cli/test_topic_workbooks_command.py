"""``qiaocrawl topic import WORKBOOK`` and ``topic template``, as a person runs them."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import openpyxl
import pytest
from typer.testing import CliRunner

from command_runs import Run
from qiaocrawl.cli import app
from qiaocrawl.options import Options
from qiaocrawl.runtime.catalogue import Catalogue
from qiaocrawl.storage import Database, Reader
from qiaocrawl.storage.topics.topics import load_pack

# What officers see.
pytestmark = pytest.mark.usefixtures("chinese")

TERMS = (("侨情关键词",), ("序号", "关键词", "类别", "重要程度"), (1, "华侨", "核心词", "重要"),
         (2, "唐人街", "行业", "一般"))  # fmt: skip
SITES = (("序号", "网站", "网址"), (1, "侨网", "www.a.cn"), (2, "侨办", "b.gov.cn/news/"))


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    monkeypatch.setenv("QIAO_DATABASE_URL", url)
    monkeypatch.setenv("COLUMNS", "80")
    return url


def _book(path: Path, *extra: tuple[object, ...]) -> str:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for title, rows in (("关键词", (*TERMS, *extra)), ("名单", SITES)):
        sheet = workbook.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    workbook["关键词"].merge_cells("A1:D1")
    workbook.save(path)
    return str(path)


def test_a_workbook_becomes_a_topic_whose_next_step_works(
    url: str, run: Run, tmp_path: Path
) -> None:
    code, out, err = run("topic", "import", _book(tmp_path / "侨情监测.xlsx"), "--into", "qiao")
    assert (code, err) == (0, "")
    with Database.open(url) as database, database.engine.connect() as c:
        pack = load_pack(c, "qiao")
    assert pack.title == "侨情监测"
    assert [(t.text, t.kind, t.weight) for t in pack.terms] == [
        ("华侨", "core", 2.0), ("唐人街", "other", 1.0),
    ]  # fmt: skip
    assert "没有“角色”列，全部按“权威”整站采集" in out
    step = re.search(r"下一步：(.*)", out)
    assert step is not None
    assert step[1] == "qiaocrawl crawl site -a topic=qiao"
    with Database.open(url) as database, contextlib.closing(Reader(database)) as reader:
        sites = Catalogue(reader, Options.from_environment()).deep_sites("qiao")
    assert [site.start_url or site.host for site in sites] == ["www.a.cn", "http://b.gov.cn/news/"]


def test_a_preview_shows_what_is_taken_and_writes_the_faults_back(
    url: str, run: Run, tmp_path: Path
) -> None:
    book = _book(tmp_path / "t.xlsx", (3, "侨商", None, "特急"), (4, "侨领", None, "急"))
    marked = tmp_path / "marked.xlsx"
    code, out, _ = run("topic", "import", book, "--preview", "--faults-to", str(marked))
    assert code == 0
    assert "华侨" in out
    assert re.search(r"错 +关键词：第 5、6 行：权重看不懂.*“特急”、“急”", out)
    assert not (tmp_path / "q.db").exists()
    assert "权重看不懂" in openpyxl.load_workbook(marked)["关键词"]["D5"].comment.text


def test_faulty_rows_stop_the_import_unless_they_are_skipped(
    url: str, run: Run, tmp_path: Path
) -> None:
    book = _book(tmp_path / "t.xlsx", (3, "侨商", None, "特急"))
    code, _, err = run("topic", "import", book, "--into", "qiao")
    assert code == 1
    assert "1 行有错；--skip-faulty 跳过这些行，--faults-to" in err
    assert run("topic", "import", book, "--into", "qiao", "--skip-faulty")[0] == 0


def test_strict_guesses_nothing(url: str, run: Run, tmp_path: Path) -> None:
    code, _, err = run("topic", "import", _book(tmp_path / "t.xlsx"), "--into", "qiao", "--strict")
    assert (code, "--strict 不作任何猜测" in err) == (1, True)


def test_what_is_not_clear_is_asked_in_a_line(url: str, tmp_path: Path) -> None:
    arguments = ["topic", "import", _book(tmp_path / "t.xlsx"), "--into", "qiao", "--ask"]
    result = CliRunner().invoke(app, arguments, input="99\n经贸\n")
    assert result.exit_code == 0, result.output
    assert "类别“行业”算哪一类？" in result.output
    assert "请写 1 到 13" in result.output
    with Database.open(url) as database, database.engine.connect() as c:
        assert [term.kind for term in load_pack(c, "qiao").terms] == ["core", "business"]


def test_sheets_are_named_where_nobody_is_asked(url: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("华侨\n侨眷\n")
    code, _, err = run("topic", "import", str(path), "--into", "qiao")
    assert code == 1
    assert "看不出是词表还是站点表：t；请用 --sheet 表名=terms" in err
    assert run("topic", "import", str(path), "--into", "qiao", "--sheet", "t=terms")[0] == 0
    for wrong in ("t=words", "terms", "u=terms"):
        assert run("topic", "import", str(path), "--into", "q", "--sheet", wrong)[0] == 1


def test_a_form_is_written_and_never_over_a_file(url: str, run: Run, tmp_path: Path) -> None:
    form = tmp_path / "表.xlsx"
    assert run("topic", "template", "--out", str(form))[0] == 0
    code, _, err = run("topic", "template", "--out", str(form))
    assert (code, "已存在" in err) == (1, True)
    assert run("topic", "template", "--out", str(tmp_path / "x.csv"))[0] == 1
    code, _, err = run("topic", "import", str(form), "--into", "qiao")
    assert (code, "没有可导入的词或网站" in err) == (1, True)


def test_a_topic_of_words_says_what_comes_first(
    url: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "词.csv"
    path.write_text("词\n华侨\n")
    _, out, _ = run("topic", "import", str(path), "--into", "qiao")
    assert "下一步：qiaocrawl engines list" in out
    monkeypatch.setenv("QIAO_ENGINES", "bing")
    _, out, _ = run("topic", "import", str(path), "--into", "qiao")
    assert "下一步：qiaocrawl crawl search -a topic=qiao" in out


def test_faults_of_strict_tables_are_told_once_a_kind(url: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("词,权重\n甲,高\n乙,1\n丙,很高\n丙,1\n")
    code, _, err = run("topic", "import", "--terms", str(path), "--into", "qiao")
    assert code == 1
    assert "t.csv 第 2、4 行：权重须为大于 0、不超过 10 的数" in err
    assert err.count("权重须为") == 1
    assert "'高'、'很高'" in err
    assert "t.csv 第 5 行：'丙' 与第 4 行重复" in err
