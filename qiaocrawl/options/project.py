"""The operator's project folder: `.env` and the settings module that Scrapy reads there.

``scrapy`` and ``qiaocrawl`` are to see the same options: both read the settings module named by
``SCRAPY_SETTINGS_MODULE`` or the nearest ``scrapy.cfg``, and ``.env`` beside that.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import sys
from configparser import ConfigParser
from configparser import Error as ConfigParserError
from contextvars import ContextVar
from importlib.machinery import PathFinder
from pathlib import Path

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.options.values import PREFIX, use_settings_file

SETTINGS_VARIABLE = "SCRAPY_SETTINGS_MODULE"
OWN_SETTINGS = "qiaocrawl.settings"
CONFIG_FILE, ENV_FILE = "scrapy.cfg", ".env"


def project_folder() -> Path | None:
    """The nearest folder, from here upwards, with a ``scrapy.cfg``; None without any."""
    here = Path.cwd()
    folders = (folder for folder in (here, *here.parents) if (folder / CONFIG_FILE).is_file())
    return next(folders, None)


def settings_module() -> str:
    """The settings module Scrapy would read here; ours where nothing names another.

    Raises:
        ConfigError: ``scrapy.cfg`` cannot be read.
    """
    if named := os.environ.get(SETTINGS_VARIABLE):
        return named
    if (folder := project_folder()) is None:
        return OWN_SETTINGS
    parser = ConfigParser()
    try:
        parser.read(folder / CONFIG_FILE, encoding="utf-8")
    except (ConfigParserError, UnicodeDecodeError) as error:
        first_line = str(error).partition("\n")[0]
        raise ConfigError(
            _(
                "{file} cannot be read: {first_line}",
                file=folder / CONFIG_FILE,
                first_line=first_line,
            )
        ) from error
    project = os.environ.get("SCRAPY_PROJECT", "default")
    return parser.get("settings", project, fallback=OWN_SETTINGS)


def use_project() -> None:
    """Let all options of this process be read as Scrapy reads them here.

    Raises:
        ConfigError: the settings module cannot be imported, or ``.env`` has a wrong line.
    """
    read_env_file()
    name = settings_module()
    folder = project_folder()
    if folder is not None and str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        where = f" ({CONFIG_FILE} in {folder})" if folder is not None else ""
        raise ConfigError(
            _(
                "settings module {name!r}{where} cannot be imported: {error}",
                name=name,
                where=where,
                error=error,
            )
        ) from error
    use_settings_file({key: value for key, value in vars(module).items() if key.startswith(PREFIX)})


def read_env_file() -> None:
    """Take the ``QIAO_*`` variables of ``.env`` that the environment does not have itself.

    The form is what systemd and Docker Compose read too: NAME=VALUE, comments with ``#``.

    Raises:
        ConfigError: it cannot be read, or a line is neither; the message names file and line,
            never the value.
    """
    file = (project_folder() or Path.cwd()) / ENV_FILE
    if not file.is_file():
        return
    try:
        # Editors of Windows begin it with a byte order mark.
        content = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        # The error may show a part of a line.
        reason = error.strerror if isinstance(error, OSError) else _("it is no text in UTF-8")
        raise ConfigError(_("{file} cannot be read: {reason}", file=file, reason=reason)) from None
    for number, line in enumerate(content.splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals or not name.strip().isidentifier():
            raise ConfigError(
                _(
                    "{file}, line {number}: neither NAME=VALUE nor a # comment",
                    file=file,
                    number=number,
                )
            )
        if name.strip().startswith(PREFIX):
            os.environ.setdefault(name.strip(), _strip_quotes(value.strip()))


def _strip_quotes(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value


def require_one_copy() -> None:
    """Make sure that no other copy of the project stands beside an egg of it on the path.

    scrapyd adds an egg where an installed copy may come first, and would silently run that.

    Raises:
        ConfigError: there is an egg, and another copy.
    """
    ours = Path(__file__).parents[1]
    for entry in sys.path:
        spec = PathFinder.find_spec(ours.name, [entry or os.getcwd()])
        if spec is None or spec.origin is None:
            continue
        other = Path(spec.origin).parent
        # An egg is a file: compared as text.
        if os.path.realpath(other) == os.path.realpath(ours):
            continue
        if any(part.endswith(".egg") for part in (*other.parts, *ours.parts)):
            raise ConfigError(
                _(
                    "an egg and another copy of the project: {other} and {ours}. scrapyd runs "
                    "in an environment and a folder of its own, see docs/fleet.md",
                    other=other,
                    ours=ours,
                )
            )


# --- The folders of a user's account for what programs keep there, by the XDG specification -------


def user_cache_folder() -> Path:
    """``qiaocrawl`` in the user's cache folder: what can be made again.

    Raises:
        RuntimeError: the account has no home.
    """
    return _folder("XDG_CACHE_HOME", "~/.cache") / "qiaocrawl"


def user_data_folder() -> Path:
    """``qiaocrawl`` in the user's data folder: what was installed.

    Raises:
        RuntimeError: the account has no home.
    """
    return _folder("XDG_DATA_HOME", "~/.local/share") / "qiaocrawl"


def user_units_folder() -> Path:
    """Where systemd looks for units of the user.

    Raises:
        RuntimeError: the account has no home.
    """
    return _folder("XDG_CONFIG_HOME", "~/.config") / "systemd" / "user"


def _folder(variable: str, otherwise: str) -> Path:
    named = os.environ.get(variable, "")
    # As the specification says, a relative path is ignored.
    return Path(named) if os.path.isabs(named) else Path(otherwise).expanduser()


# --- Commands that messages advise: to be typed as they are printed -------------------------------

_PASSWORD = re.compile(r"(?<=://)([^:/@]*):[^@]*(?=@)")
_given_url: ContextVar[str] = ContextVar("given_database_url", default="")


def note_database(url: str) -> None:
    """Remember the database that a command was given by option; "" for none."""
    _given_url.set(url)


def command_here(command: str) -> str:
    """*command* (``qiaocrawl …``) on the database that this one was given by option.

    A password is not printed again: three asterisks stand where it belongs.
    """
    url = _given_url.get()
    if not url:
        return command
    option = "-s QIAO_DATABASE_URL=" if command.startswith("qiaocrawl crawl ") else "--database "
    shown = _PASSWORD.sub(r"\1:***", url)
    return f"{command} {option}{shlex.quote(shown)}"
