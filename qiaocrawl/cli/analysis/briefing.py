"""``qiaocrawl briefing TOPIC``: what happened, on one page, each sentence with its sources."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qiaocrawl.cli.analysis.trends import calendar
from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.moments import end_of, start_of
from qiaocrawl.cli.output import check_output, say_written
from qiaocrawl.cli.terminal import Terminal
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

if TYPE_CHECKING:
    from qiaocrawl.analysis.briefing import Briefing

_ENDINGS = (".docx", ".html", ".md")


def briefing(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    since: Annotated[
        str, typer.Option(help="Published since: today, yesterday, 12h, 7d, 2026-03-05.")
    ] = "24h",
    until: Annotated[str, typer.Option(help="Published until; now without it.")] = "",
    stories: Annotated[int, typer.Option(min=1, max=50, help="Stories told in full.")] = 8,
    out: Annotated[
        list[Path] | None, typer.Option("--out", help="File (.docx, .html, .md); again for more.")
    ] = None,
    database: DatabaseUrl = "",
) -> None:
    """Write what happened on one page: stories, figures, warnings, gaps; each sentence cited.

    Without --out it is printed as Markdown. Run `qiaocrawl analyse` before.
    """
    from qiaocrawl.analyse.briefing import make_briefing
    from qiaocrawl.storage.export.briefing.markdown import to_markdown

    for file in out or ():
        if file.suffix.lower() not in _ENDINGS:
            raise ConfigError(_("--out must end in {endings}, got {file!r}",
                                endings=_(", ").join(_ENDINGS), file=str(file)))  # fmt: skip
        check_output(file, "--out")
    start = start_of(since, "--since")
    end = end_of(until, "--until") or datetime.now(UTC)
    if start is None or start >= end:
        raise ConfigError(_("--since {since!r} is not before --until", since=since))
    with connection_to(database) as c:
        made = make_briefing(c, topic, (start, end), calendar(), stories)
    for file in out or ():
        _write(made, file)
    if not out:
        Terminal(soft_wrap=True, highlight=False).print(to_markdown(made), markup=False)


def _write(made: Briefing, file: Path) -> None:
    from qiaocrawl.storage.export.briefing.html import to_html
    from qiaocrawl.storage.export.briefing.markdown import to_markdown
    from qiaocrawl.storage.export.briefing.word import to_docx
    from qiaocrawl.storage.outfile import growing_file

    ending = file.suffix.lower()
    if ending == ".docx":
        content = to_docx(made)
    else:
        content = (to_html(made) if ending == ".html" else to_markdown(made)).encode()
    with growing_file(file) as part:
        part.write_bytes(content)
    say_written(file)
