"""``qiaocrawl units``: systemd units for what runs all day, and for backups."""

from __future__ import annotations

import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from qiaocrawl.cli.project.schedule import escaped, quoted, write_units
from qiaocrawl.cli.project.start import PLAIN, filled
from qiaocrawl.cli.terminal import echo
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.options import Options

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
        scrapyd: the program of a node, as docs/scrapyd.md installs it.

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
        "folder": escaped(folder),
        "qiaocrawl": f"{quoted(program)} -m qiaocrawl",
        "scrapyd": quoted(scrapyd),
        "suffix": "db" if database.startswith("sqlite") else "sql.gz",
    }
    sources = files("qiaocrawl.cli.project") / "files" / "units"
    names = sorted(entry.name.removesuffix(".txt") for entry in sources.iterdir())
    return {name: filled(f"units/{name}", values) for name in names}
