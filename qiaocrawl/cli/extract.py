"""``qiaocrawl extract``: the article of one page from a file, a pipe or the network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer
from rich.console import Console
from rich.text import Text

from qiaocrawl.cli.explain import MARK, explain_as_html
from qiaocrawl.cli.output import check_output, echo, folding_table, say_written, table_console
from qiaocrawl.errors import ConfigError, QiaoError
from qiaocrawl.extract.api import LIMITS, examine
from qiaocrawl.extract.base import extractor_for
from qiaocrawl.extract.extraction import Extraction
from qiaocrawl.extract.field_words import FIELD_LABELS, KIND_LABELS, field_text
from qiaocrawl.fetch.failure_policy import judge_fetch
from qiaocrawl.items import FetchedPage
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.options import Options
from qiaocrawl.storage import Database
from qiaocrawl.text.visible import visible, visible_json
from qiaocrawl.urls import canonical_url

# --- Where a page for ``qiaocrawl extract`` comes from: a file, standard input, or the network ----

MAX_FILE_BYTES = 10 * 1024 * 1024 + 1
"""One more than extraction reads, so that it can tell that a file went on."""
STANDARD_INPUT = "-"
# robots.txt, the page and five redirects, each within the crawl's own time limit, end sooner.
_FETCH_SECONDS = 120


class PageSourceError(QiaoError):
    """The page asked for cannot be had."""


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page to extract from, and what is known about it; "" where nothing is."""

    body: bytes
    url: str = ""
    content_type: str = ""


def page_from(source: str, allow: str = "") -> SourcePage:
    """The page that *source* names: a URL, a file, or ``-`` for standard input.

    Args:
        source: ``http://`` and ``https://`` go to the network, as politely as a crawl.
        allow: origins inside private networks that may be fetched, comma separated.

    Raises:
        PageSourceError: there is no such file, or the page cannot be fetched.
        ConfigError: a wrong option.
    """
    if source == STANDARD_INPUT:
        return SourcePage(sys.stdin.buffer.read(MAX_FILE_BYTES))
    scheme, mark, _rest = source.partition("://")
    if mark and scheme.isalpha():
        return _fetch(source, allow)
    path = Path(source)
    try:
        with path.open("rb") as file:
            return SourcePage(file.read(MAX_FILE_BYTES))
    except FileNotFoundError:
        raise PageSourceError(
            _("{source!r}: no such file (a URL begins with http:// or https://)", source=source)
        ) from None
    except OSError as error:
        raise PageSourceError(f"{source!r}: {error.strerror or error}") from None


def _fetch(url: str, allow: str) -> SourcePage:
    if urlsplit(url).scheme.lower() not in ("http", "https") or canonical_url(url) is None:
        raise PageSourceError(_("{url!r} is no http or https URL", url=url))
    named = ",".join(filter(None, (os.environ.get("QIAO_ALLOW_ADDRESSES", ""), allow)))
    with tempfile.TemporaryDirectory(prefix="qiaocrawl-extract-") as name:
        folder = Path(name)
        # The means of a crawl expect a store; nothing is kept in this one.
        database = f"sqlite:///{folder / 'fetch.db'}"
        given = {"QIAO_DATABASE_URL": database, "QIAO_ALLOW_ADDRESSES": named}
        Options.from_environment(given)
        with Database.open(database) as opened:
            opened.upgrade()
        _run_fetch(url, folder, {**os.environ, **given})
        page = _page_in(folder)
    decision = judge_fetch(page, longest_park_seconds=0)
    if decision is not None:
        raise PageSourceError(f"{page.url}: {shown_reason(decision.reason)}")
    return SourcePage(page.body, page.url, page.header("content-type"))


def _run_fetch(url: str, folder: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "qiaocrawl.crawl.single_page", url, str(folder)]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, timeout=_FETCH_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise PageSourceError(
            _("{url}: no page within {seconds} s", url=url, seconds=_FETCH_SECONDS)
        ) from None
    if (folder / "error").is_file():
        reason = shown_reason((folder / "error").read_text("utf-8"))
        raise PageSourceError(f"{url}: {reason}")
    if done.returncode or not (folder / "page.json").is_file():
        last_line = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise PageSourceError(f"{url}: {last_line or _('nothing came')}")


def _page_in(folder: Path) -> FetchedPage:
    record = json.loads((folder / "page.json").read_text("utf-8"))
    record["fetched_at"] = datetime.fromisoformat(record["fetched_at"])
    return FetchedPage(**{**record, "body": (folder / "body").read_bytes()})


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
    """
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
            target.write_text(explain_as_html(extracted, extraction, shown), encoding="utf-8")
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
        for name in (
            "title",
            "text",
            "html",
            "markdown",
            "published_at",
            "authors",
            "source",
            "page_kind",
            "confidence",
            "method",
            "engagement",
        )
    }
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
        style="dim",
        markup=False,
    )
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
