"""``qiaocrawl init``, ``startproject``, ``schedule``, ``units``: a folder to crawl from, daily."""

from __future__ import annotations

import keyword
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Annotated

import typer
from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from qiaocrawl.cli.database import connection_to
from qiaocrawl.cli.options import budget_seconds
from qiaocrawl.cli.output import echo, join_with_commas, say_written
from qiaocrawl.cli.topic_report import pack_folders, topics_dir
from qiaocrawl.errors import ConfigError, QiaoError, StorageError
from qiaocrawl.fetch.sessions.vault import new_key
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
from qiaocrawl.options.project import CONFIG_FILE, ENV_FILE, use_project, user_units_folder
from qiaocrawl.search.definition import load_definitions
from qiaocrawl.storage import Database
from qiaocrawl.storage.engine import display_url, sqlite_path
from qiaocrawl.storage.topics.topics import find_topic_id, list_topics, save_pack
from qiaocrawl.topic.check import pack_name_reason
from qiaocrawl.topic.folder import find_pack_folder, load_pack

# --- ``qiaocrawl startproject``: a small Scrapy project over this package -------------------------

_NO_SECRETS, _ALL = 0o600, 0o644
PLAIN = re.compile(r"[\w@%+=:,./-]+")
"""What neither systemd nor a reader of ``.env`` takes for a quote, a variable or a comment."""
_ENV_DEFAULTS = {
    "database_url": "sqlite:///data/qiaocrawl.db",
    "database_mark": "#",
    "contact": "",
    "contact_mark": "#",
    "engines": "",
    "engines_mark": "#",
    "secret_key": "",
    "secret_key_mark": "#",
}
_KEY_LINE = re.compile(r"^QIAO_SECRET_KEY=(\S+)$", re.MULTILINE)


def startproject(
    folder: Annotated[Path, typer.Argument(help="Folder to make, or an empty one.")],
    name: Annotated[
        str, typer.Option(help="Name of its Python package; by default the folder's.")
    ] = "",
    examples: Annotated[
        bool,
        typer.Option(
            "--examples",
            help="Also a middleware, an engine, a template and a plug-in, to be changed.",
        ),
    ] = False,
) -> None:
    """Write a Scrapy project: settings over ours, folders for spiders and pipelines."""
    write_project(folder, package_name(folder, name), examples=examples)
    echo(
        _(
            "\nnext: fill in QIAO_CONTACT in {file}, then\n  cd {folder} && qiaocrawl topic "
            "import qiaoqing && qiaocrawl run qiaoqing",
            file=folder / ENV_FILE,
            folder=folder,
        )
    )


def package_name(folder: Path, name: str = "") -> str:
    """The name of a project's package: *name*, or made of the folder's.

    Raises:
        ConfigError: *name* is no name of a package, or taken by another.
    """
    chosen = name or re.sub(r"\W+", "_", folder.resolve().name.lower()).strip("_")
    if not name and (not chosen.isidentifier() or not chosen.isascii() or _is_taken(chosen)):
        return "project"
    if not chosen.isidentifier() or keyword.iskeyword(chosen):
        raise ConfigError(
            _("--name {name!r} is no name of a Python package: letters, digits and _", name=name)
        )
    if _is_taken(chosen):
        raise ConfigError(_("--name {name!r}: there is a package of that name already", name=name))
    return chosen


def _is_taken(name: str) -> bool:
    return find_spec(name) is not None


def write_project(
    folder: Path,
    name: str,
    env: Mapping[str, str] | None = None,
    *,
    replace_env: bool = False,
    examples: bool = False,
) -> None:
    """Write the files of a project; a file that is there already is an error.

    Args:
        env: what ``.env`` says; None writes it with everything commented out or as by default.
        replace_env: a ``.env`` that is there is written anew.
        examples: with one of each kind of part that one may add.

    Raises:
        ConfigError: a file is there, or the folder cannot be written to.
    """
    package = folder / name
    contents = {
        folder / CONFIG_FILE: "scrapy.cfg",
        package / "settings.py": "settings.py",
        package / "pipelines" / "webhook.py": "webhook.py",
    }
    empty = [package / part / "__init__.py" for part in ("", "spiders", "pipelines")]
    if examples:
        contents |= {
            package / "middlewares" / "sender.py": "examples/sender.py",
            package / "extractor.py": "examples/extractor.py",
            folder / "engines" / "own_search.toml": "examples/own_search.toml",
            folder / "site_templates.toml": "examples/site_templates.toml",
            folder / "pyproject.toml": "examples/pyproject.toml",
        }
        empty.append(package / "middlewares" / "__init__.py")
    made = [*contents, *empty]
    refused = made if replace_env else [*made, folder / ENV_FILE]
    if there := next((path for path in refused if path.exists()), None):
        raise ConfigError(_("{there} is there already: nothing was written", there=there))
    for path in made:
        source = contents.get(path)
        text = fill_template(source, {"name": name}) if source else ""
        if examples and source == "settings.py":
            text += fill_template("examples/settings.py", {"name": name})
        _write_start(path, text, _ALL)
    write_env(folder, env or {}, replace=replace_env)


def env_value(value: str) -> str:
    """*value* as all readers of ``.env`` take it: quoted where one of them would change it.

    Raises:
        ConfigError: no form says the same to all of them.
    """
    if PLAIN.fullmatch(value) or not value:
        return value
    if "'" not in value:
        return f"'{value}'"
    if value[0] == "'" or any(mark in value for mark in '"\\$#'):
        raise ConfigError(_("an answer has a ' beside one of \" \\ $ #: .env cannot hold both"))
    return value


def write_env(folder: Path, values: Mapping[str, str], *, replace: bool) -> None:
    """Write ``.env`` there, for its owner only; what is not in *values* stays a comment."""
    given = {key: value for key, value in values.items() if value}
    marks = {f"{key.removesuffix('_url')}_mark": "" for key in given}
    written = {key: env_value(value) for key, value in given.items()}
    text = fill_template("env", {**_ENV_DEFAULTS, **written, **marks})
    _write_start(folder / ENV_FILE, text, _NO_SECRETS, replace=replace)


def fill_template(source: str, values: Mapping[str, str]) -> str:
    """The template of that name with *values* in it."""
    template = files("qiaocrawl.cli") / "files" / f"{source}.txt"
    return Template(template.read_text("utf-8")).substitute(values)


def _write_start(path: Path, text: str, mode: int, *, replace: bool = False) -> None:
    # What is replaced stays until the new file is whole.
    part = path.with_name(f"{path.name}.part") if replace else path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if replace:
            part.unlink(missing_ok=True)
        # Never over something that is there, and never readable for others even for a moment.
        part.touch(mode, exist_ok=False)
        part.write_text(text, "utf-8")
        part.replace(path)
    except OSError as error:
        raise ConfigError(
            _("cannot write {path}: {strerror}", path=path, strerror=error.strerror)
        ) from error
    if text:
        say_written(path)


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
            _(
                "missing: --topic (shipped: {shipped}, or a name of your own)",
                shipped=_shipped_names(),
            )
        )
    given = {"topic": topic, "contact": contact, "database": database, "engines": engines}
    for question in _QUESTIONS:
        if given[question.name]:
            given[question.name] = question.check(given[question.name])
    if not yes:
        asked = _ask_missing(given)
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
    values = {
        "database_url": answers.database,
        "contact": answers.contact,
        "engines": answers.engines,
        "secret_key": _secret_key(folder),
    }
    if (folder / CONFIG_FILE).exists():
        write_env(folder, values, replace=True)
    else:
        # Asked before: one that is there may only be replaced.
        write_project(folder, package_name(folder), values, replace_env=True)


def _secret_key(folder: Path) -> str:
    """The key of the ``.env`` that is there, else a new one; "" where the environment has one.

    Another key would open nothing that is stored.
    """
    file = folder / ENV_FILE
    if file.exists() and (found := _KEY_LINE.search(file.read_text("utf-8", "replace"))):
        return found[1].strip("'")
    return "" if os.environ.get("QIAO_SECRET_KEY") else new_key()


def _ask_missing(given: Mapping[str, str]) -> dict[str, str]:
    """*given*, the rest asked for; a wrong answer is asked for again at once."""
    echo(_("Enter takes what is in brackets.\n"))
    return {question.name: given[question.name] or _answer(question) for question in _QUESTIONS}


def _answer(question: _Question) -> str:
    """A right answer, however often it has to be asked for."""
    while True:
        text = typer.prompt(
            _(question.text).format(shipped=_shipped_names()),
            question.default,
            show_default=bool(question.default),
        )
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
    _Question(
        "contact", N_("contact, sent along with each request (URL or e-mail)"), None, _contact
    ),
    _Question("database", N_("database"), _SQLITE, _database),
    _Question("engines", N_("search engines, comma separated; no search without"), "", _engines),
)


def _shipped_names() -> str:
    return join_with_commas(path.name for path in pack_folders())


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
        echo(_("database is ready: {shown}", shown=display_url(database.engine.url)))


def _say_next(topic: str) -> None:
    from qiaocrawl.cli.demo import own_command

    own = own_command(sys.argv[0])
    steps = [
        (_("crawl for an hour:"), f"{own} run {topic} --hours 1"),
        (_("every day:"), f"{own} schedule {topic} --at 06:00"),
    ]
    if find_pack_folder(topics_dir(), topic) is None:
        form = _("terms.xlsx")
        steps[:0] = [
            (
                _("first a form for its terms and sites, or a workbook of your own:"),
                f"{own} topic template --out {form}",
            ),
            (_("take what you filled in:"), f"{own} topic import {form} --into {topic}"),
        ]
    echo(_("\nnext:"))
    for purpose, command in steps:
        echo(f"  {purpose}\n    {command}")


# --- ``qiaocrawl schedule``: a systemd timer that runs a topic every day --------------------------

_COMMA = re.compile("[,，]")
_TIME = re.compile(r"([01]?\d|2[0-3])[:：]([0-5]\d)")


def schedule(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    at: Annotated[str, typer.Option(help="Times of day, comma separated, 24 h: 06:00,18:00.")] = (
        "06:00"
    ),
    hours: Annotated[float, typer.Option(min=0.1, help="Time budget of one run.")] = 3.0,
    install: Annotated[
        bool, typer.Option("--install", help="Write the units and switch the timer on.")
    ] = False,
) -> None:
    """Print (or --install) a systemd user timer that runs TOPIC every day, in this folder."""
    if reason := pack_name_reason(topic):
        raise ConfigError(_("topic {topic!r}: {reason}", topic=topic, reason=reason))
    _warn_of_missing(topic)
    units = units_for(topic, at, hours, Path.cwd())
    if not install:
        for name, text in units.items():
            echo(f"# ~/.config/systemd/user/{name}\n{text}")
        echo(_("# --install writes them and switches the timer on"))
        return
    _install(units)


def _warn_of_missing(topic: str) -> None:
    """Say on stderr what the timer's runs would stop at: units may be for another machine."""
    try:
        with connection_to("") as c:
            known = find_topic_id(c, topic) is not None
    except QiaoError:
        known = False
    if not known:
        echo(
            _("note: topic {topic} is not imported: qiaocrawl topic import {topic}", topic=topic),
            err=True,
        )


def units_for(topic: str, at: str, hours: float, folder: Path) -> dict[str, str]:
    """Name and text of the service and of the timer.

    Raises:
        ConfigError: *at* is no list of times, *hours* no time, or a unit cannot name a path.
    """
    times = [_time_of_day(time.strip()) for time in _COMMA.split(at)]
    python = quote_program(Path(sys.executable))
    values = {
        "topic": topic,
        "folder": escape_path(folder),
        "command": f"{python} -m qiaocrawl run {topic} --hours {hours:g}",
        "times": "\n".join(f"OnCalendar=*-*-* {time}:00" for time in times),
        # Time for the last stage to end in order, then the system ends it.
        "limit": f"{budget_seconds(hours) + 900:.0f}",
    }
    name = f"qiaocrawl-{topic}"
    return {
        f"{name}.service": fill_template("service", values),
        f"{name}.timer": fill_template("timer", values),
    }


def _time_of_day(text: str) -> str:
    """*text* (6:00) as systemd has it (06:00).

    Raises:
        ConfigError: it is none.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise ConfigError(_("--at {text!r} is no time of day such as 6:00 or 18:30", text=text))
    return f"{int(match[1]):02}:{match[2]}"


def escape_path(path: Path) -> str:
    """*path* in a unit; there is no way to write a line end, or a backslash or blank at its end.

    Raises:
        ConfigError: it has one.
    """
    text = str(path)
    if not text.isprintable() or text.endswith(("\\", " ")):
        raise ConfigError(_("a systemd unit cannot hold the path {text!r}: use cron", text=text))
    return text.replace("%", "%%")


def quote_program(program: Path) -> str:
    """A program's path as systemd reads it (systemd.syntax, "Quoting"), which is not the shell."""
    text = escape_path(program).replace("\\", "\\\\").replace('"', '\\"')
    return text if PLAIN.fullmatch(text) else f'"{text}"'


def write_units(folder: Path, units: dict[str, str]) -> None:
    """Write *units*, by their names, into *folder*, and say so.

    Raises:
        ConfigError: the folder cannot be made or written into.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in units.items():
            (folder / name).write_text(text, "utf-8")
            say_written(folder / name)
    except OSError as error:
        raise ConfigError(
            _("cannot write into {folder}: {strerror}", folder=folder, strerror=error.strerror)
        ) from error


def _install(units: dict[str, str]) -> None:
    try:
        folder = user_units_folder()
    except RuntimeError:
        raise ConfigError(
            _("this account has no home for units of its own: use cron, see the service file")
        ) from None
    write_units(folder, units)
    timer = next(name for name in units if name.endswith(".timer"))
    for arguments in (("daemon-reload",), ("enable", "--now", timer)):
        command = ["systemctl", "--user", *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            raise ConfigError(
                _("there is no systemctl here: use cron, see the service file")
            ) from None
        if done.returncode != 0:
            text = _("`{command}` failed: {reason}")
            raise ConfigError(text.format(command=shlex.join(command), reason=done.stderr.strip()))
    echo(_("on: {timer}; to run when you are logged out too: loginctl enable-linger", timer=timer))


# --- ``qiaocrawl units``: systemd units for what runs all day, and for backups --------------------

SCRAPYD = Path("/opt/qiaocrawl/venv/bin/scrapyd")
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")


def units(
    user: Annotated[str, typer.Option(help="Who they run as.")] = "qiaocrawl",
    out: Annotated[
        Path | None, typer.Option(help="Folder to write them to, such as /etc/systemd/system.")
    ] = None,
    scrapyd: Annotated[
        Path,
        typer.Option(help="Program of the nodes' unit: of an environment without the project."),
    ] = SCRAPYD,
) -> None:
    """Print (or write) systemd units for this folder: console, metrics, scrapyd, backup, health.

    Crawls have theirs from `qiaocrawl schedule`. docs/operations.md tells how they are used.
    """
    if not _USER.fullmatch(user):
        raise ConfigError(_("--user {user!r} is no name of a user", user=user))
    made = all_units(user, Path.cwd(), scrapyd)
    if out is None:
        for name, unit in made.items():
            echo(f"# /etc/systemd/system/{name}\n{unit}")
        echo(_("# --out FOLDER writes them; then: systemctl daemon-reload, systemctl enable --now"))
        return
    write_units(out, made)


def all_units(user: str, folder: Path, scrapyd: Path = SCRAPYD) -> dict[str, str]:
    """Name and text of every unit.

    Args:
        scrapyd: the program of a node, as docs/fleet.md installs it.

    Raises:
        ConfigError: a unit cannot name the folder.
    """
    if not PLAIN.fullmatch(str(folder)):
        # The line of the backup is a shell's too, and what both would take is hard to read.
        raise ConfigError(
            _("units for a path with blanks or quotes, {path!r}: use another", path=str(folder))
        )
    database = Options.from_environment()["QIAO_DATABASE_URL"]
    program = Path(sys.executable)
    values = {
        "user": user,
        "folder": escape_path(folder),
        "qiaocrawl": f"{quote_program(program)} -m qiaocrawl",
        "scrapyd": quote_program(scrapyd),
        "suffix": "db" if database.startswith("sqlite") else "sql.gz",
    }
    sources = files("qiaocrawl.cli") / "files" / "units"
    names = sorted(entry.name.removesuffix(".txt") for entry in sources.iterdir())
    return {name: fill_template(f"units/{name}", values) for name in names}
