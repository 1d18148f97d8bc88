"""``qiaocrawl init``: asks for the few things a first crawl needs, and writes them down."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from qiaocrawl.cli.project.start import package_name, write_env, write_project
from qiaocrawl.errors import ConfigError
from qiaocrawl.options import Options
from qiaocrawl.options.project import CONFIG_FILE, ENV_FILE, use_project
from qiaocrawl.storage import Database
from qiaocrawl.storage.engine import shown
from qiaocrawl.storage.topics.topics import list_topics, save_pack
from qiaocrawl.topic.check import pack_name_reason
from qiaocrawl.topic.folder import find_pack_folder, load_pack, pack_folders

_SQLITE = "sqlite:///data/qiaocrawl.db"


@dataclass(frozen=True)
class _Answers:
    topic: str
    contact: str
    database: str
    engines: str


def init(
    topic: Annotated[str, typer.Option(help="Topic: a shipped pack, or a name of your own.")] = "",
    contact: Annotated[str, typer.Option(help="Whom a site may ask: URL or e-mail.")] = "",
    database: Annotated[
        str, typer.Option(help="Database URL; sqlite:///data/qiaocrawl.db when not given.")
    ] = "",
    engines: Annotated[str, typer.Option(help="Search engines, comma separated.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing; take what is given.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write .env anew.")] = False,
) -> None:
    """Set up the folder you are in: topic, contact, database; then `qiaocrawl run`. 初次设置"""
    folder = Path.cwd()
    if (folder / ENV_FILE).exists() and not force:
        raise ConfigError(f"{folder / ENV_FILE} 已有 is there already: edit it, or --force")
    answers = _Answers(topic, contact, database, engines)
    if not yes:
        answers = _asked(answers)
    answers = _checked(answers)
    values = {"database_url": answers.database, "contact": answers.contact,
              "engines": answers.engines}  # fmt: skip
    if (folder / CONFIG_FILE).exists():
        write_env(folder, values, replace=True)
    else:
        (folder / ENV_FILE).unlink(missing_ok=True)
        write_project(folder, package_name(folder), values)
    use_project()
    _prepare_database(answers)
    _say_next(answers.topic)


def _asked(given: _Answers) -> _Answers:
    """*given*, the rest asked for."""
    names = "、".join(path.name for path in pack_folders(_topics_dir()))
    typer.echo("回车即用方括号里的值 Enter takes what is in brackets.\n")
    return _Answers(
        given.topic or typer.prompt(f"主题 topic（现成的 shipped: {names}）", "qiaoqing"),
        given.contact or typer.prompt(
            "联系方式，写在每次请求里（网址或邮箱） contact, URL or e-mail", "", show_default=False
        ),
        given.database or typer.prompt("数据库 database", _SQLITE),
        given.engines or typer.prompt(
            "搜索引擎，逗号分隔；不填则不搜索 engines, none when empty", "", show_default=False
        ),
    )  # fmt: skip


def _checked(answers: _Answers) -> _Answers:
    """The answers as they are written.

    Raises:
        ConfigError: one is no value of its option, or no name of a topic.
    """
    if reason := pack_name_reason(answers.topic):
        raise ConfigError(f"主题 --topic {answers.topic!r}: {reason}")
    database = answers.database or _SQLITE
    for text in (answers.contact, database, answers.engines):
        if not text.isprintable():
            raise ConfigError("an answer has a line end or another control character in it")
    Options({"QIAO_DATABASE_URL": database, "QIAO_ENGINES": answers.engines,
             "QIAO_CONTACT": answers.contact})  # fmt: skip
    return _Answers(answers.topic, answers.contact.strip(), database, answers.engines.strip())


def _prepare_database(answers: _Answers) -> None:
    """Make the tables, and import the topic where a pack of its name is at hand."""
    with Database.open(answers.database) as database:
        database.upgrade()
        with database.engine.begin() as c:
            names = {row.name for row in list_topics(c)}
            pack = find_pack_folder(_topics_dir(), answers.topic)
            if answers.topic not in names and pack is not None:
                save_pack(c, load_pack(pack), now=time.time())
                typer.echo(f"已导入主题 imported: {answers.topic}")
        typer.echo(f"数据库就绪 database is ready: {shown(database.engine.url)}")


def _topics_dir() -> Path:
    return Path(Options.from_environment()["QIAO_TOPICS_DIR"])


def _say_next(topic: str) -> None:
    from qiaocrawl.cli.demo import own_command

    own = own_command(sys.argv[0])
    steps = [("采一小时 crawl for an hour:", f"{own} run {topic} --hours 1"),
             ("每天自动采 every day:", f"{own} schedule {topic} --at 06:00")]  # fmt: skip
    if find_pack_folder(_topics_dir(), topic) is None:
        steps.insert(0, ("先导入词表与站点表 first its terms and sites:",
                         f"{own} topic import --into {topic} --terms F --sites F"))  # fmt: skip
    typer.echo("\n下一步 next:")
    for purpose, command in steps:
        typer.echo(f"  {purpose}\n    {command}")
