"""The first hour of an information officer, command by command, on the demo web.

Once as it is installed, in an empty folder with SQLite, and once from the tree with MariaDB.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook

from crawling import PROJECT
from forking_python import forking_python
from qiaocrawl.demo.server import DemoServer
from qiaocrawl.demo.web import build_web

# Twenty commands, three crawls among them, one after the other.
pytestmark = pytest.mark.timeout(1_800)
HOSTS = ("www.yuehaiqiao.test", "news.jiangbei.test", "blog.shanhai.test")
# As `make demo` does: the demo web is ours, and needs no pauses. These hosts have some 60 pages.
AT_ONCE = ("-s", "DOWNLOAD_DELAY=0", "-s", "AUTOTHROTTLE_ENABLED=False", "-s", "QIAO_MAX_PAGES=80")
CHOICE = ("--topic", "office", "--only-relevant")
JUDGEMENT, URL = "判断（是/否）", "网址"
Say = Callable[..., str]


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    """The address of the smallest demo web."""
    with DemoServer(build_web(scale=0.1)) as server:
        yield server.address


def office_workbook(path: Path) -> None:
    """What an office has at hand: a title above the header, numbers, remarks, two sheets."""
    book = Workbook()
    words = book.active
    assert words is not None
    words.title = "关键词"
    words.append(["侨务信息监测关键词（2026年）"])
    words.merge_cells("A1:D1")
    words.append(["序号", "关键词", "重要程度", "性质"])
    rows = (("侨胞", "★★★", "核心词"), ("侨务", "非常重要", "核心词"), ("侨联", "3", "机构"),
            ("华文教育", "一般", "教育"), ("侨胞", "★★★", "核心词"), ("归侨侨眷", 2, "群体"),
            ("侨团", "重要", "机构"), ("侨乡", 2, "地域"), ("华侨", "★★★", "核心词"),
            ("侨商", "重要", "商业"), ("华人", 2, "核心词"), ("侨刊", "一般", "文化"))  # fmt: skip
    for number, row in enumerate(rows, 1):
        words.append([number, *row])
    words.append(["备注：每季度更新"])
    sites = book.create_sheet("网站")
    sites.append(["序号", "网站名称", "网址", "性质"])
    for number, host in enumerate(HOSTS, 1):
        sites.append([number, f"网站{number}", f"http://{host}/", "新闻"])
    book.save(path)


@pytest.fixture(params=[
    "installed", pytest.param("tree", marks=[pytest.mark.mariadb, pytest.mark.thorough]),
])  # fmt: skip
def say(
    request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory,
    web: str,
) -> Say:  # fmt: skip
    """Runs a command in an empty folder; returns what it said, or fails with it."""
    environment = {
        **{name: value for name, value in os.environ.items()
           if not name.startswith(("QIAO_", "PYTHON", "SCRAPY_"))},
        "QIAO_DEMO": web, "QIAO_SOFT_404_PROBE": "off", "COLUMNS": "100", "QIAO_LANG": "zh_CN",
    }  # fmt: skip
    if request.param == "installed":
        programs: Path = request.getfixturevalue("installed")
        script = [str(programs / "qiaocrawl")]
        # Only the first command loads everything for itself.
        python = forking_python(tmp_path_factory.mktemp("bin"), str(programs / "python"))
        environment["FORKING_PYTHON"] = python
        program = [python, "-m", "qiaocrawl"]
        database = f"sqlite:///{tmp_path / 'news.db'}"
        # A fresh environment has nothing compiled, and that takes longer than some 60 titles.
        environment["NUMBA_DISABLE_JIT"] = "1"
    else:
        script = program = [sys.executable, "-m", "qiaocrawl"]
        database = request.getfixturevalue("mariadb_url")
        environment["PYTHONPATH"] = str(PROJECT)

    def run(*words: str, by: list[str] = program) -> str:
        done = subprocess.run([*by, *words], cwd=tmp_path, env=environment,
                              capture_output=True, text=True, timeout=500)  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    run("init", "--yes", "--topic", "office", "--contact", "a@office.test", "--database", database,
        by=script)  # fmt: skip
    return run


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of the first sheet of a workbook by header."""
    header, *rows = load_workbook(path).worksheets[0].iter_rows(values_only=True)
    return [dict(zip(map(str, header), row, strict=True)) for row in rows]


def judge(path: Path, answers: dict[str, str]) -> None:
    """Fill in the column for judgements, as a reader does."""
    book = load_workbook(path)
    sheet = book.worksheets[0]
    header = [cell.value for cell in sheet[1]]
    for row in sheet.iter_rows(min_row=2):
        row[header.index(JUDGEMENT)].value = answers.get(row[header.index(URL)].value)
    book.save(path)


def test_from_a_messy_workbook_to_the_next_day(say: Say, tmp_path: Path) -> None:
    def exported(name: str, *more: str) -> list[dict[str, Any]]:
        say("export", *CHOICE, *more, "--out", name)
        return rows_of(tmp_path / name)

    office_workbook(tmp_path / "侨情.xlsx")
    preview = say("topic", "import", "侨情.xlsx", "--into", "office", "--preview", "--no-ask")
    assert "华文教育" in preview
    imported = say("topic", "import", "侨情.xlsx", "--into", "office", "--no-ask")
    crawl = shlex.split(imported.split("下一步：")[1])[1:]
    assert "切题" in say(*crawl, *AT_ONCE), "a crawl ends with a summary"
    assert "没有漏采" in (missed := say("report", "missed", "office")) or "怎么办" in missed

    week = exported("week.xlsx")
    assert len(week) >= 4
    wrong, right = week[0], week[1]
    judge(tmp_path / "week.xlsx", {wrong[URL]: "否", right[URL]: "是"})
    assert "已写入 2 条判断" in say("topic", "judge", "office", "--from", "week.xlsx")
    assert "会改变的判定" in say("reprocess", "--stage", "relevance", "--dry-run")
    urls = {row[URL] for row in exported("again.xlsx")}
    assert wrong[URL] not in urls
    assert right[URL] in urls

    stories = exported("stories.xlsx", "--by", "group")
    assert 0 < len(stories) <= len(urls)
    assert wrong["标题"] not in {row["标题"] for row in stories}
    assert f"共 {len(stories)} 个转载组" in say("article", "list", *CHOICE, "--groups")
    say("export", *CHOICE, "--out", "digest.html")
    say("export", *CHOICE, "--out", "digest.docx")
    assert right["标题"] in (tmp_path / "digest.html").read_text("utf-8")
    assert right["标题"][:6] in say("article", "search", right["标题"][:6], "--topic", "office")

    say(*crawl, *AT_ONCE)  # the next day
    assert wrong[URL] not in {row[URL] for row in exported("later.xlsx")}
