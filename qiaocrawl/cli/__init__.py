"""The ``qiaocrawl`` command: the table of its commands, each imported when it is called."""

from __future__ import annotations

import io
import logging
import sys

import typer

from qiaocrawl import __version__
from qiaocrawl.cli.lazy import CommandEntry, lazy_group
from qiaocrawl.errors import QiaoError, TopicError

_FAULTS_SHOWN = 100

_DAILY = "Every day 日常"
_RESULTS, _TOPICS = "Results 结果", "Topics and sources 主题与来源"
_PARTS, _CARE = "Methods 方法", "Running it 运行与维护"

# A row: name, where it is, its panel, and how its own help begins (tests compare).
# fmt: off
_TABLE = (
    ("init", "project.init:init", _DAILY,
     "Set up the folder you are in: topic, contact, database; then `qiaocrawl run`. 初次设置"),
    ("run", "project.run:run", _DAILY,
     "Watch, search, fetch and crawl TOPIC in one go, then say what came of it. 一次采完一轮"),
    ("schedule", "project.schedule:schedule", _DAILY,
     "Print (or --install) a systemd user timer that runs TOPIC every day, in this folder. 定时"),
    ("crawl", "project.crawl:crawl", _DAILY,
     "Run a spider as `scrapy crawl` does, with its -a and -s: from any folder. 运行爬虫"),
    ("article", "article:app", _RESULTS,
     "Articles: list, search, read, open. 文章"),
    ("export", "export:export", _RESULTS,
     "Write articles as Excel, Word, HTML, CSV, JSON Lines or Markdown, or raw pages. 导出"),
    ("coverage", "coverage.command:coverage", _RESULTS,
     "Show what was searched, what it brought, what was missed, and why. 查了、得了、漏了什么"),
    ("missed", "missed:missed", _RESULTS,
     "List pages of sites that were found but not got: which, why, and what to do. 漏采的网页"),
    ("why", "why:why", _RESULTS,
     "Show why a URL was fetched, left out or waits: score and parts, path, what came of it."),
    ("dedup", "dedup:app", _RESULTS,
     "Reprint groups 转载组: look at them, correct them."),
    ("watch", "watch:app", _RESULTS,
     "Pages that are looked at again and again, and what articles said before. 监测"),
    ("topic", "topic.command:app", _TOPICS,
     "Topic packs: terms, sites and samples. 主题包"),
    ("lexicon", "lexicon.command:app", _TOPICS,
     "Words of a topic: from texts, beside known ones, decided, as tables. 词表"),
    ("engines", "engines:app", _TOPICS,
     "Search engines: which there are, and whether they still answer. 搜索引擎"),
    ("session", "session:app", _TOPICS,
     "Accounts of sites that want a login. 登录"),
    ("proxies", "proxies:app", _TOPICS,
     "The proxies of QIAO_PROXY_POOL=database."),
    ("extract", "extract:extract", _PARTS,
     "Print title, date, author, source and text of a page. 抽取"),
    ("extractors", "extractors:app", _PARTS,
     "Extraction methods: list, train, what sites taught. 抽取方法"),
    ("ontology", "ontology:app", _PARTS,
     "Ontologies 本体: wordnets in one space of Chinese and English concepts."),
    ("reprocess", "reprocess:reprocess", _PARTS,
     "Run a stage again over stored pages, and say what changed. No crawl may run meanwhile."),
    ("startproject", "project.start:startproject", _CARE,
     "Write a Scrapy project: settings over ours, folders for spiders and pipelines. 新建项目"),
    ("compile", "compile:compile_", _CARE,
     "Compile the inner loops now (once a machine), so that no crawl waits for it. 预编译"),
    ("demo", "demo:app", _CARE,
     "The built-in demo web, and the main job on it."),
    ("url", "url:app", _CARE,
     "Single URLs of a crawl. 网址"),
    ("db", "db:app", _CARE,
     "The database: schema, health, size, backup. 数据库"),
    ("health", "health:health", _CARE,
     "Name what is wrong; exit code 1 if anything is: for cron, and for a look at the last runs."),
)
# fmt: on
COMMANDS = tuple(
    CommandEntry(name, f"qiaocrawl.cli.{home}", panel, text) for name, home, panel, text in _TABLE
)

app = typer.Typer(cls=lazy_group(COMMANDS), no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def qiaocrawl() -> None:
    """A focused crawler for Chinese-language topic news.

    中文专题新闻采集：先 `qiaocrawl init`，再 `qiaocrawl run 主题`。
    """
    # What Scrapy reads in this folder (settings module, .env) holds for every command.
    from qiaocrawl.project import use_project

    use_project()


@app.command(rich_help_panel=_CARE)
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


class _CompilingNotice(logging.Handler):
    """Says at the terminal why a command seems to stand still."""

    def emit(self, record: logging.LogRecord) -> None:
        """The one line."""
        if record.levelno == logging.INFO and sys.stderr.isatty():
            typer.echo("首次使用，正在编译，约需半分钟 compiling for the first use …", err=True)


# One for the process, however often `main` is called.
_COMPILING_NOTICE = _CompilingNotice()


def main() -> None:
    """Run the command; an error of ours is one clear line on stderr and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # An argument may be bytes of no charset, and a terminal may not know a character.
            stream.reconfigure(errors="backslashreplace")
    logging.getLogger("qiaocrawl.vsm.compiled").addHandler(_COMPILING_NOTICE)
    try:
        app()
    except QiaoError as error:
        _print_error(error)
        sys.exit(1)


def _print_error(error: QiaoError) -> None:
    from rich.console import Console

    console = Console(stderr=True, soft_wrap=True, highlight=False)
    console.print(f"qiaocrawl: {error}", markup=False)
    if isinstance(error, TopicError):
        from qiaocrawl.topic.fault_report import fault_lines

        lines = fault_lines(error.faults)
        for line in lines[:_FAULTS_SHOWN]:
            console.print(f"  {line}", markup=False)
        if len(lines) > _FAULTS_SHOWN:
            console.print(f"  … and {len(lines) - _FAULTS_SHOWN} more")
