"""``qiaocrawl init``: asks for the few things a first crawl needs, and writes them down."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from qiaocrawl.cli.output import joined
from qiaocrawl.cli.project.start import env_value, package_name, write_env, write_project
from qiaocrawl.cli.terminal import echo
from qiaocrawl.cli.topic.places import pack_folders, topics_dir
from qiaocrawl.errors import ConfigError, QiaoError, StorageError
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
from qiaocrawl.options.project import CONFIG_FILE, ENV_FILE, use_project
from qiaocrawl.search.definition import load_definitions
from qiaocrawl.storage import Database
from qiaocrawl.storage.engine import shown, sqlite_path
from qiaocrawl.storage.topics.topics import list_topics, save_pack
from qiaocrawl.topic.check import pack_name_reason
from qiaocrawl.topic.folder import find_pack_folder, load_pack

_SQLITE = "sqlite:///data/qiaocrawl.db"
_CONTACT = N_("a URL or an e-mail address, by which a site's owner finds you")
_CONTACT_FORM = re.compile(r"https?://[^\s/]+\.\S+|[^\s@]+@[^\s@]+")


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
    """Set up the folder you are in: topic, contact, database; then `qiaocrawl run`."""
    folder = Path.cwd()
    if (folder / ENV_FILE).exists() and not force:
        raise ConfigError(_("{file} is there already: edit it, or --force", file=folder / ENV_FILE))
    if yes and not topic:
        raise ConfigError(
            _("missing: --topic (shipped: {shipped}, or a name of your own)", shipped=_shipped())
        )
    given = {"topic": topic, "contact": contact, "database": database, "engines": engines}
    for question in _QUESTIONS:
        if given[question.name]:
            given[question.name] = question.check(given[question.name])
    if not yes:
        asked = _asked(given)
        # Enter is no word for the usual place: .env would win over a settings.py with another.
        is_usual = not given["database"] and asked["database"] == _SQLITE
        given = {**asked, "database": "" if is_usual else asked["database"]}
    answers = _Answers(**given)
    _write(folder, answers)
    use_project()
    _prepare_database(answers)
    _say_next(answers.topic)


def _write(folder: Path, answers: _Answers) -> None:
    """Write ``.env``, and a project around it where there is none."""
    if not answers.contact:
        echo(_("note: no --contact: {contact}", contact=_(_CONTACT)), err=True)
    values = {"database_url": answers.database, "contact": answers.contact,
              "engines": answers.engines}  # fmt: skip
    if (folder / CONFIG_FILE).exists():
        write_env(folder, values, replace=True)
    else:
        # Asked before: one that is there may only be replaced.
        write_project(folder, package_name(folder), values, replace_env=True)


def _asked(given: Mapping[str, str]) -> dict[str, str]:
    """*given*, the rest asked for; a wrong answer is asked for again at once."""
    echo(_("Enter takes what is in brackets.\n"))
    return {question.name: given[question.name] or _answer(question) for question in _QUESTIONS}


def _answer(question: _Question) -> str:
    """A right answer, however often it has to be asked for."""
    while True:
        text = typer.prompt(
            _(question.text).format(shipped=_shipped()), question.default,
            show_default=bool(question.default),
        )  # fmt: skip
        try:
            return question.check(text.strip())
        except QiaoError as error:
            echo(str(error))


def _topic(name: str) -> str:
    if reason := pack_name_reason(name):
        raise ConfigError(_("--topic {topic!r}: {reason}", topic=name, reason=reason))
    return name


def _contact(text: str) -> str:
    if not text.isprintable() or not _CONTACT_FORM.fullmatch(text):
        raise ConfigError(_("--contact {text!r}: {contact}", text=text, contact=_(_CONTACT)))
    env_value(text)
    return text


def _database(text: str) -> str:
    """*text*, when a database can be opened there; a SQLite file is not made yet."""
    if not text.isprintable():
        raise ConfigError(_("--database: a line end or another control character in it"))
    env_value(text)
    url = str(Options({"QIAO_DATABASE_URL": text})["QIAO_DATABASE_URL"])
    if url.startswith("sqlite:"):
        _require_place(sqlite_path(make_url(url)))
        return url
    with Database.open(url) as database:
        try:
            database.engine.connect().close()
        except SQLAlchemyError as error:
            cause = getattr(error, "orig", None) or error
            raise StorageError(
                _(
                    "no connection to {shown_url}: {cause}",
                    shown_url=database.shown_url,
                    cause=cause,
                )
            ) from error
    return url


def _require_place(file: Path) -> None:
    """Refuse a SQLite file that cannot be made."""
    folder = next(path for path in file.absolute().parents if path.exists())
    if file.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise StorageError(_("--database: no file can be written at {file}", file=file))


def _engines(text: str) -> str:
    """*text* with every engine it names known."""
    chosen: tuple[str, ...] = Options({"QIAO_ENGINES": text})["QIAO_ENGINES"]
    names = load_definitions(Options.from_environment()["QIAO_ENGINES_DIR"] or None)
    if wrong := [name for name in chosen if name not in names]:
        raise ConfigError(
            _(
                "--engines: no engine {names} (there are: {all})",
                names=", ".join(map(repr, wrong)),
                all=", ".join(names),
            )
        )
    return ",".join(chosen)


@dataclass(frozen=True)
class _Question:
    """What is asked, and what makes of an answer the value that is written, or refuses it."""

    name: str
    text: str
    default: str | None
    check: Callable[[str], str]


_QUESTIONS = (
    _Question("topic", N_("topic (shipped: {shipped})"), "qiaoqing", _topic),
    _Question("contact", N_("contact, sent along with each request (URL or e-mail)"), None,
              _contact),
    _Question("database", N_("database"), _SQLITE, _database),
    _Question("engines", N_("search engines, comma separated; no search without"), "", _engines),
)  # fmt: skip


def _shipped() -> str:
    return joined(path.name for path in pack_folders())


def _prepare_database(answers: _Answers) -> None:
    """Make the tables, and import the topic where a pack of its name is at hand."""
    # As every command after this one finds it.
    url = str(Options.from_environment()["QIAO_DATABASE_URL"])
    if answers.database and answers.database != url:
        echo(_("note: QIAO_DATABASE_URL of the environment wins over the one in .env"), err=True)
    with Database.open(url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            names = {row.name for row in list_topics(c)}
            pack = find_pack_folder(topics_dir(), answers.topic)
            if answers.topic not in names and pack is not None:
                save_pack(c, load_pack(pack), now=time.time())
                echo(_("topic imported: {topic}", topic=answers.topic))
        echo(_("database is ready: {shown}", shown=shown(database.engine.url)))


def _say_next(topic: str) -> None:
    from qiaocrawl.cli.demo import own_command

    own = own_command(sys.argv[0])
    steps = [(_("crawl for an hour:"), f"{own} run {topic} --hours 1"),
             (_("every day:"), f"{own} schedule {topic} --at 06:00")]  # fmt: skip
    if find_pack_folder(topics_dir(), topic) is None:
        form = _("terms.xlsx")
        steps[:0] = [
            (_("first a form for its terms and sites, or a workbook of your own:"),
             f"{own} topic template --out {form}"),
            (_("take what you filled in:"), f"{own} topic import {form} --into {topic}"),
        ]  # fmt: skip
    echo(_("\nnext:"))
    for purpose, command in steps:
        echo(f"  {purpose}\n    {command}")
