"""``qiaocrawl startproject``: a small Scrapy project over this package."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from qiaocrawl.cli.output import say_written
from qiaocrawl.cli.terminal import echo
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.options.project import CONFIG_FILE, ENV_FILE

_NO_SECRETS, _ALL = 0o600, 0o644
PLAIN = re.compile(r"[\w@%+=:,./-]+")
"""What neither systemd nor a reader of ``.env`` takes for a quote, a variable or a comment."""
_ENV_DEFAULTS = {
    "database_url": "sqlite:///data/qiaocrawl.db", "database_mark": "#",
    "contact": "", "contact_mark": "#", "engines": "", "engines_mark": "#",
}  # fmt: skip


def startproject(
    folder: Annotated[Path, typer.Argument(help="Folder to make, or an empty one.")],
    name: Annotated[
        str, typer.Option(help="Name of its Python package; by default the folder's.")
    ] = "",
) -> None:
    """Write a Scrapy project: settings over ours, folders for spiders and pipelines."""
    write_project(folder, package_name(folder, name))
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
    folder: Path, name: str, env: Mapping[str, str] | None = None, *, replace_env: bool = False
) -> None:
    """Write the files of a project; a file that is there already is an error.

    Args:
        env: what ``.env`` says; None writes it with everything commented out or as by default.
        replace_env: a ``.env`` that is there is written anew.

    Raises:
        ConfigError: a file is there, or the folder cannot be written to.
    """
    package = folder / name
    contents = {
        folder / CONFIG_FILE: "scrapy.cfg",
        package / "settings.py": "settings.py",
        package / "pipelines" / "webhook.py": "webhook.py",
    }
    made = [*contents, package / "__init__.py", package / "spiders" / "__init__.py",
            package / "pipelines" / "__init__.py"]  # fmt: skip
    refused = made if replace_env else [*made, folder / ENV_FILE]
    if there := next((path for path in refused if path.exists()), None):
        raise ConfigError(_("{there} is there already: nothing was written", there=there))
    for path in made:
        source = contents.get(path)
        _write(path, filled(source, {"name": name}) if source else "", _ALL)
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
    text = filled("env", {**_ENV_DEFAULTS, **written, **marks})
    _write(folder / ENV_FILE, text, _NO_SECRETS, replace=replace)


def filled(source: str, values: Mapping[str, str]) -> str:
    """The template of that name with *values* in it."""
    template = files("qiaocrawl.cli.project") / "files" / f"{source}.txt"
    return Template(template.read_text("utf-8")).substitute(values)


def _write(path: Path, text: str, mode: int, *, replace: bool = False) -> None:
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
