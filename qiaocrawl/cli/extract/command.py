"""``qiaocrawl extract``: the article of one page, for people or as JSON, and why it is that."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from qiaocrawl.cli.extract.explain import MARK, explained
from qiaocrawl.cli.extract.page_source import STANDARD_INPUT, PageSourceError, page_from
from qiaocrawl.cli.output import check_output, folding_table, say_written, table_console
from qiaocrawl.cli.terminal import echo
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.api import LIMITS, examine
from qiaocrawl.extract.base import extractor_for
from qiaocrawl.extract.extraction import Extraction
from qiaocrawl.extract.field_words import FIELD_LABELS, KIND_LABELS, field_text
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.text.visible import visible, visible_json

_VALUE_CHARS = 400
_ENDING = ".explained.html"
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


Source = Annotated[
    str,
    typer.Argument(help="A file, an http(s) URL, or - for standard input.", metavar="FILE-or-URL"),
]
ExplainFile = Annotated[
    Path | None,
    typer.Argument(
        help="With --explain: the file to write; made up when not given.",
        metavar="[FILE.html]",
        show_default=False,
    ),
]
Method = Annotated[
    str,
    typer.Option(
        help="Name of the body extractor; QIAO_EXTRACT_METHOD when not given.", show_default=False
    ),
]
Allow = Annotated[
    str,
    typer.Option(
        help="http://host:port or host[:port], comma separated: private origins that may be "
        "fetched, beside QIAO_ALLOW_ADDRESSES."
    ),
]


def extract(
    source: Source,
    explain_file: ExplainFile = None,
    method: Method = "",
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Write a page that shows which blocks were taken, and why."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    url: Annotated[str, typer.Option(help="Where a FILE was fetched; a witness of its date.")] = "",
    allow: Allow = "",
) -> None:
    """Print title, date, author, source and text of a page.

    A URL is fetched as a crawl does it: robots.txt is obeyed, private addresses are refused.
    """  # fmt: skip
    options = Options.from_environment()
    method = method or options["QIAO_EXTRACT_METHOD"]
    extractor = extractor_for(method, options)
    if explain_file is not None and not explain:
        raise ConfigError(
            _("{explain_file!r}: a second file is for --explain", explain_file=str(explain_file))
        )
    target = (explain_file or _made_up(source)) if explain else None
    if target is not None:
        _check_target(target)
    page = page_from(source, allow)
    extracted, extraction = examine(
        page.body, page.url or url, page.content_type, method, extractor
    )
    # Written before anything is printed: `| head` may end the command while it prints.
    if target is not None:
        shown = visible(page.url or source)
        try:
            target.write_text(explained(extracted, extraction, shown), encoding="utf-8")
        except OSError as error:
            raise PageSourceError(f"{str(target)!r}: {error.strerror or error}") from None
        say_written(target, err=True)
    if as_json:
        echo(as_json_text(extraction))
    else:
        _print(extraction, table_console())


def as_json_text(extraction: Extraction) -> str:
    """*extraction* as one JSON object; times in ISO 8601, fields as value, origin, confidence."""
    record = {
        name: getattr(extraction, name)
        for name in ("title", "text", "html", "markdown", "published_at", "authors", "source",
                     "page_kind", "confidence", "method", "engagement")
    }  # fmt: skip
    record["comments"] = [comment._asdict() for comment in extraction.comments]
    record["fields"] = {name: field._asdict() for name, field in extraction.fields.items()}
    return visible_json(json.dumps(record, ensure_ascii=False, indent=2, default=_plain))


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _print(extraction: Extraction, console: Console) -> None:
    # Text, not markup: a page may write [red] or worse.
    console.print(Text(extraction.title or _("(no title)"), style="bold"))
    console.print(
        _(
            "{kind} · method {method} · confidence {confidence:.2f} · {count} characters",
            kind=_(KIND_LABELS[extraction.page_kind]),
            method=extraction.method,
            confidence=extraction.confidence,
            count=len(extraction.text),
        ),
        style="dim", markup=False,
    )  # fmt: skip
    table = folding_table(_("field"), _("value"), _("origin"), _("confidence"))
    for name, (value, origin, confidence) in extraction.fields.items():
        label = _(FIELD_LABELS.get(name, name))
        style = "yellow" if name == LIMITS else ""
        shown = Text(field_text(value)[:_VALUE_CHARS], style)
        table.add_row(Text(label), shown, Text(field_text(origin), "dim"), f"{confidence:.2f}")
    console.print(table)
    console.print()
    text = extraction.text or _("(no text)")
    console.print(Text(text.replace("\n", "\n\n")), soft_wrap=not console.is_terminal)


def _made_up(source: str) -> Path:
    """A file here, named after the page: ``news.html`` gives ``news.explained.html``."""
    if source == STANDARD_INPUT:
        return Path(f"page{_ENDING}")
    tail = source.rstrip("/").rpartition("/")[2].partition("?")[0]
    name = _NOT_IN_NAMES.sub("-", tail).strip("-.")[:80]
    return Path(f"{name.rpartition('.')[0] or name or 'page'}{_ENDING}")


def _check_target(target: Path) -> None:
    """Refuse what cannot be written, and to write over anything but an earlier page.

    Raises:
        ConfigError: its folder does not exist, or it is a folder.
        PageSourceError: it is another file.
    """
    check_output(target, "--explain")
    if not target.exists():
        return
    if target.is_file():
        with target.open("rb") as file:
            if MARK.encode() in file.read(200):
                return
    raise PageSourceError(
        _("{target!r} exists already and is no earlier --explain page", target=str(target))
    )
