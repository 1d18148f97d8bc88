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
from qiaocrawl.errors import ConfigError
from qiaocrawl.options.project import CONFIG_FILE, ENV_FILE

_NO_SECRETS, _ALL = 0o600, 0o644
_ENV_DEFAULTS = {
    "database_url": "sqlite:///data/qiaocrawl.db",
    "contact": "", "contact_mark": "#", "engines": "", "engines_mark": "#",
}  # fmt: skip


def startproject(
    folder: Annotated[Path, typer.Argument(help="Folder to make, or an empty one.")],
    name: Annotated[
        str, typer.Option(help="Name of its Python package; by default the folder's.")
    ] = "",
) -> None:
    """Write a Scrapy project: settings over ours, folders for spiders and pipelines. 新建项目"""
    write_project(folder, package_name(folder, name))
    typer.echo(
        f"\n下一步 next:  在 {folder / ENV_FILE} 里填上联系方式 fill in QIAO_CONTACT, then\n"
        f"  cd {folder} && qiaocrawl topic import qiaoqing && qiaocrawl run qiaoqing"
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
        raise ConfigError(f"--name {name!r} is no name of a Python package: letters, digits and _")
    if _is_taken(chosen):
        raise ConfigError(f"--name {name!r}: there is a package of that name already")
    return chosen


def _is_taken(name: str) -> bool:
    return find_spec(name) is not None


def write_project(folder: Path, name: str, env: Mapping[str, str] | None = None) -> None:
    """Write the files of a project; a file that is there already is an error.

    Args:
        env: what ``.env`` says; None writes it with everything commented out or as by default.

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
    if there := next((path for path in made if path.exists()), None):
        raise ConfigError(f"{there} is there already: nothing was written")
    for path in made:
        source = contents.get(path)
        _write(path, filled(source, {"name": name}) if source else "", _ALL)
    write_env(folder, env or {})


def write_env(folder: Path, values: Mapping[str, str], *, replace: bool = False) -> None:
    """Write ``.env`` there, for its owner only; what is not in *values* stays a comment."""
    path = folder / ENV_FILE
    if replace:
        path.unlink(missing_ok=True)
    marks = {f"{key}_mark": "" for key, value in values.items() if value}
    _write(path, filled("env", {**_ENV_DEFAULTS, **values, **marks}), _NO_SECRETS)


def filled(source: str, values: Mapping[str, str]) -> str:
    """The template of that name with *values* in it."""
    template = files("qiaocrawl.cli.project") / "files" / f"{source}.txt"
    return Template(template.read_text("utf-8")).substitute(values)


def _write(path: Path, text: str, mode: int) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Never over something that is there, and never readable for others even for a moment.
        path.touch(mode, exist_ok=False)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error
    if text:
        say_written(path)
