"""Every command in the shell blocks of README and manuals is run here, or by a test named here.

The commands of a page are run in their order, in a project folder of its own, on a small database:
its topic, seven articles, their stories, a briefing, a warning. What only stands for something on
a page (TOPIC, a number, a file at hand) is replaced by what is there; nothing else is.
"""

from __future__ import annotations

import io
import re
import shlex
import shutil
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from openpyxl import Workbook

from console_articles import add_stories
from fresh_schema import make_tables
from qiaocrawl.cli import main
from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.items import Queue
from qiaocrawl.news.warnings.channels import keep_channel, seal_address
from qiaocrawl.news.warnings.office_rules import add_rule
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import Database
from qiaocrawl.storage.search import ledger
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.text.zones import SHANGHAI
from storage_samples import candidate, enqueue
from title_samples import runtime_on
from told_stories import keep_a_briefing, store_on_topic, tell_stories, warn_of_stories

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("README*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/zh/*.md")])
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"(?:^|[ (;&/])qiaocrawl ([a-z][^`\n]*)", re.MULTILINE)
INDENTED = re.compile(r"^ {4,}(?=qiaocrawl ).*$", re.MULTILINE)

NOT_RUN = {
    "serves until Ctrl-C": {
        "console": "tests/console/test_console_payloads.py",
        "demo": "tests/crawl/test_whole_job.py",
    },
    "asks at a terminal": {
        "init": "tests/cli/test_project_commands.py",
        "lexicon review": "tests/cli/test_cli_lexicon.py",
        "topic new wenhua$": "tests/cli/test_topic_new_command.py",
    },
    "crawls, or asks servers": {
        "crawl": "tests/cli/test_project_commands.py",
        "engines check": "tests/cli/test_cli_engines.py",
        "extract https://": "tests/cli/test_extract_command.py",
        "lexicon yield": "tests/cli/test_cli_lexicon.py",
        "model check": "tests/cli/test_model_command.py",
        "nodes": "tests/scrapyd/test_scrapyd_nodes.py",
        "reprocess --stage extract --scheduler": "tests/runs/test_reprocess_on_dask.py",
        "run": "tests/cli/test_project_commands.py",
        "session": "tests/cli/test_cli_session.py",
    },
    "makes a project of its own": {"startproject": "tests/cli/test_project_commands.py"},
    "learns from a collection of marked texts": {
        "extractors train": "tests/cli/test_cli_extractors.py",
        "report entities train": "tests/news/names/test_entities.py",
        "report tone train": "tests/news/tone/test_tone.py",
    },
    "needs the models that those learn": {
        "report entities show article.txt --model": "tests/news/names/test_entities.py",
        "report entities show 文章.txt --model": "tests/news/names/test_entities.py",
        "report tone show article.txt --model": "tests/news/tone/test_tone.py",
        "report tone show 文章.txt --model": "tests/news/tone/test_tone.py",
    },
    "needs a wordnet": {"ontology install": "tests/ontology/test_reading.py"},
}
"""What is not run here and why, by how it begins, with the test that runs it."""
_ELSEWHERE = {own: test for group in NOT_RUN.values() for own, test in group.items()}

FINDS_FAULTS = ("health",)
"""These may end with 1: they tell what is wrong with the small database."""

_URL = "http://www.a-qiao.cn/0"
CITIES = ("古晋", "槟城", "泗水", "仰光", "曼谷", "清迈", "万象", "河内", "金边", "怡保", "宿务")
SHOW = "{}博物馆展出文物，戏曲演员登台，非遗传承人教孩子剪纸。文化馆请老艺人讲皮影戏的来历。"
SCHOOL = "华文教育已有百年，中文学校的学生学汉语，华校的教师来自侨乡，也教古镇的非遗。" * 3
PACK_FILES = {
    "topics/wenlv/topic.toml": 'title = "文旅"\n',
    "topics/wenlv/terms.csv": "词,类别,权重\n非遗,文化,2\n古镇,地域,1.5\n",
    "topics/wenlv/sites.csv": "网址,名称,角色,级别\nwww.mct.gov.cn,文化和旅游部,权威,1\n",
}
"""The pack of docs/topics.md."""
_STANDS_FOR = {
    **dict.fromkeys(("TOPIC", "专题", "主题"), "qiaoqing"),
    **dict.fromkeys(("URL", "网址", "http://www.a.cn/1.html", "4711"), _URL),
    **dict.fromkeys(("https://www.example.com/news/17.html",
                     "https://www.example.com/a/1.html", "http://www.example.com/a.html",
                     "http://news.nanyang.test/finance/20250529/462153/"), _URL),
    **dict.fromkeys(("URL-OF-AN-EMPTY-DATABASE", "空库的地址"), "sqlite:///empty.db"),
    **dict.fromkeys(("FOLDER", "样本文件夹"), "samples"),
    "FILE": f"qiaoqing-expansion-{datetime.now(SHANGHAI):%Y%m%d}.xlsx",
    "/etc/systemd/system": "units",
}  # fmt: skip
"""Words of a page, and what is meant by them here."""
_NUMBERS = {
    "article ": {"17": "1", "18": "1"},
    "briefing show": {"7": "1"},
    "report spread": {"12": "1"},
    "story ": {"12": "1", "15": "4", "17": "1", "44": "3"},
    "warnings mute": {"12": "1"},
}
"""Articles, stories and briefings, by the commands that name them."""
_REACHING_OUT = {"--install", "--search"}
"""Options that start timers of this machine or ask engines: the rest of the command is run."""


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The small database, and the key of its secrets."""
    file = tmp_path_factory.mktemp("prepared") / "q.db"
    url, now, key = f"sqlite:///{file}", datetime.now(UTC), new_key()
    rule = Rule(
        "涉侨安全",
        "urgent",
        any_of=("失火",),
        least_outlets=2,
        within_hours=24,
        channels=("值班群",),
    )
    with Database.open(url) as database:
        make_tables(database)
        add_stories(database)
        tell_stories(url)
        with runtime_on(url) as runtime:
            store_on_topic(runtime, "school", [
                ("c.example", now, f"{name}华文学校开学", f"{name}华文学校开学。" + SCHOOL)
                for name in CITIES[:6]
            ])  # fmt: skip
        keep_a_briefing(url)
        warn_of_stories(url, rule)
        with database.engine.begin() as c:
            add_rule(c, rule, "editor", now)
            address = seal_address(Vault.from_option(key), "值班群", "json://127.0.0.1:9")
            keep_channel(c, "值班群", "webhook", address, "chief", now)
            query = Query("qiaoqing", "侨务", "", "demo", 1)
            ledger.plan_queries(c, topic_id(c, "qiaoqing"), [query], time.time())
            hits = [candidate(f"hit-{at}", topic="qiaoqing", queue=Queue.PAGES) for at in range(5)]
            enqueue(c, hits)
            keys = tuple(own.key for own in hits)
            answer = ledger.Answered(AnswerState.HIT, 5, hit_keys=keys)
            ledger.record_answer(c, query, answer, time.time())
    _write(file.parent, PACK_FILES)
    with pytest.MonkeyPatch.context() as patch:
        # Verdicts as a crawl leaves them.
        for line in ("topic import topics/wenlv", "reprocess --stage relevance --yes"):
            patch.chdir(file.parent)
            assert _run(patch, [*line.split(), "--database", url]) == 0
    return file, key


def _run(patch: pytest.MonkeyPatch, words: list[str]) -> int:
    """The exit code of a command, all of whose questions are answered by yes."""
    patch.setattr(sys, "argv", ["qiaocrawl", *words])
    patch.setattr(sys, "stdin", io.StringIO("y\n" * 9))
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _write(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


@pytest.fixture
def desk(prepared: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder with a copy of the small database and what a reader has at hand."""
    file, key = prepared
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "QIAO_DATABASE_URL": f"sqlite:///{tmp_path / 'q.db'}", "QIAO_SECRET_KEY": key,
        "QIAO_LANG": "en",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("webbrowser.open", lambda _address: True)
    shutil.copy(file, tmp_path / "q.db")
    text = "马德里华人仓库失火\n西班牙马德里一处华人仓库失火，两名侨胞受伤送医。大使到场慰问。\n"
    page = f"<html><h1>侨务工作会议</h1><p>{text * 9}</p></html>"
    links = "".join(f'<p><a href="http://www.{name}.cn/">{name}网</a></p>' for name in "abcdef")
    texts = {
        "article.txt": text, "文章.txt": text, "saved.html": page, "page.html": page,
        "hao.html": links, "bookmarks.html": links, "data/x": "",
        "list.opml": '<opml version="2.0"><body><outline type="rss" text="侨乡报"'
                     ' xmlUrl="http://www.a-qiao.cn/feed.xml"/></body></opml>',
        "lists.toml": '[[board]]\nurl = "http://boards.test/s"\nname = "微博"\n',
    }  # fmt: skip
    texts |= {f"samples/{name}.txt": f"{name}办非遗展\n" + SHOW.format(name) * 3 for name in CITIES}
    _write(tmp_path, PACK_FILES | texts)
    (tmp_path / "srv").mkdir()
    (tmp_path / "mnt" / "restored").mkdir(parents=True)
    groups = (("组", "词", "用法"), ("火灾", "失火、起火", "任一"))
    words = (("词", "类别", "权重"), ("非遗", "文化", 2), ("古镇", "地域", "很多"))
    judged = (("网址", "判断（是/否）"), (_URL, "是"))
    for name, rows in {"groups": groups, "词组": groups, "关键词": words, "侨情": judged,
                       "待判": judged}.items():  # fmt: skip
        book = Workbook()
        assert book.active is not None
        for row in rows:
            book.active.append(row)
        book.save(tmp_path / f"{name}.xlsx")
    return tmp_path


def _commands(page: Path) -> list[str]:
    """What stands behind ``qiaocrawl`` in the shell blocks of *page*, in its order."""
    text = page.read_text("utf-8")
    blocks = [block for _kind, block in BLOCK.findall(text)]
    blocks += INDENTED.findall(BLOCK.sub("", text))
    found = COMMAND.findall("\n".join(blocks))
    return [re.split(r"#| &&|;|>| \|", line)[0].strip() for line in found]


def _test_of(command: str) -> str:
    """The test that runs *command* elsewhere, or ""."""
    for own, test in _ELSEWHERE.items():
        if command == own.rstrip("$") or command.startswith(own if own[-1] in "/$" else f"{own} "):
            return test
    return ""


def _as_meant(command: str, folder: Path) -> list[str]:
    """The words of *command*, with what they stand for in *folder*."""
    today = datetime.now(SHANGHAI)
    command = command.replace("$(date +\\%F)", "today").replace("20261123", f"{today:%Y%m%d}")
    command = command.replace("file:///srv/", f"{folder.as_uri()}/srv/")
    command = command.replace("file:///mnt/", f"{folder.as_uri()}/mnt/")
    if command == "reprocess --stage relevance":
        # Of so few articles more than a tenth change.
        command += " --yes"
    if command.startswith("topic new "):
        # A page shows several ways to make one topic.
        command += " --force"
    words = [word for word in shlex.split(command) if word not in _REACHING_OUT]
    numbers = next((own for kind, own in _NUMBERS.items() if command.startswith(kind)), {})
    return [_STANDS_FOR.get(word, numbers.get(word, word)) for word in words]


def test_what_is_not_run_is_in_the_manuals_and_run_by_its_test() -> None:
    commands = {command for page in PAGES for command in _commands(page)}
    for own, test in _ELSEWHERE.items():
        assert any(_test_of(command) == test for command in commands), own
        text = (ROOT / test).read_text("utf-8")
        assert re.search(rf"[\"\s]{own.split()[:2][-1].strip('-:/$')}", text), (own, test)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_is_run(
    page: Path, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = []
    for command in _commands(page):
        if _test_of(command):
            continue
        words = _as_meant(command, desk)
        assert not any(word.startswith("/") for word in words), f"{command}: outside the folder"
        if command.startswith("pages relocate"):
            shutil.copytree(desk / "srv" / "pages", desk / "mnt" / "restored" / "pages")
        # Each list of these is the first that is picked from.
        (desk / "seeds.txt").unlink(missing_ok=True)
        code = _run(monkeypatch, words)
        said = capsys.readouterr().err.strip().splitlines()
        if code > (command.split()[0] in FINDS_FAULTS):
            wrong.append(f"{command}: {code} {said[-1:]}")
    assert not wrong, "\n".join(wrong)
