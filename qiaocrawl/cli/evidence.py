"""``qiaocrawl evidence``: an article or an event as a package that proves itself; its check."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qiaocrawl.cli.article import article_id_of
from qiaocrawl.cli.database import DatabaseUrl, opened_database
from qiaocrawl.cli.output import (
    check_output,
    echo,
    print_line,
    require_free,
    say_written,
    shown_pass,
    stopping,
)
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _, ngettext
from qiaocrawl.options import Options
from qiaocrawl.text.visible import Terminal
from qiaocrawl.text.zones import china_time

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qiaocrawl.export.evidence import Made, Subject
    from qiaocrawl.export.time_stamps import Stamp


def evidence(
    which: Annotated[
        str, typer.Argument(help="Address or number of an article; with --story of an event.")
    ] = "",
    story: Annotated[
        bool, typer.Option("--story", help="WHICH is the number of an event: all its articles.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", help="New file; .zip.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    check: Annotated[
        Path | None, typer.Option("--check", help="A package: is it as it was made?")
    ] = None,
    ca: Annotated[
        Path | None,
        typer.Option(
            help="With --check: certificates (PEM) of the authority that you trust, instead of "
            "QIAO_STAMP_CA."
        ),
    ] = None,
    database: DatabaseUrl = "",
) -> None:
    """Write an article or an event as one package that proves itself, or --check one.

    Page as it came, headers, WARC, picture, reprints, a report as PDF, digests of all, and a time
    stamp where QIAO_STAMP_URL names an authority. Exit code 1 where a page or the stamp is missing.
    """
    if check is not None:
        if which or out is not None or force:
            raise ConfigError(_("--check looks at a package: it goes with --ca alone"))
        _check(check, ca)
        return
    if not which or out is None:
        raise ConfigError(_("name an article (or an event and --story) and --out FILE.zip"))
    if out.suffix.lower() != ".zip":
        raise ConfigError(
            _("{option} must end in .zip, got {file!r}", option="--out", file=str(out))
        )
    if ca is not None:
        raise ConfigError(_("--ca goes with --check; a new package is stamped by QIAO_STAMP_URL"))
    check_output(out, "--out")
    require_free(out, force=force)
    _make(which, is_story=story, out=out, database=database)


def _make(which: str, *, is_story: bool, out: Path, database: str) -> None:
    from qiaocrawl.export.evidence import StoppedError, Terms, make_package, note_package
    from qiaocrawl.storage.audit_log import Actor

    terms = Terms.from_options(Options.from_environment(), getpass.getuser())
    with opened_database(database) as opened:
        opened.require_current()
        with opened.reading() as c:
            subject = _subject(c, which, is_story=is_story)
        with (
            stopping() as stopped,
            shown_pass(
                _("evidence"), len(subject.articles), Terminal(stderr=True), stopped
            ) as shown,
        ):
            try:
                made = make_package(opened, subject, terms, out, shown.advance)
            except StoppedError:
                made = None
        if made is None:
            shown.leave(Terminal(stderr=True))
        with opened.engine.begin() as c:
            note_package(c, Actor(terms.made_by), subject, made)
    say_written(out, ngettext("{count} file", "{count} files", made.files))
    _tell(made)
    if not made.is_whole:
        raise typer.Exit(1)


def _subject(c: Connection, which: str, *, is_story: bool) -> Subject:
    from qiaocrawl.export.evidence import article_subject, event_subject

    if not is_story:
        return article_subject(c, article_id_of(c, which))
    if not which.isascii() or not which.isdecimal():
        raise ConfigError(_("--story needs the number of a story, got {group!r}", group=which))
    return event_subject(c, int(which))


def _tell(made: Made) -> None:
    """Its digest, what is missing, and whether it is stamped."""
    echo(_("SHA-256 of the package: {digest} (in the record of changes)", digest=made.sha256))
    for gap in made.gaps:
        echo(_("missing: {path}: {why}", path=gap.path, why=gap.why), err=True)
    if made.stamp is not None:
        echo(_stamp_words(made.stamp))
    elif made.stamp_fault:
        echo(_("no time stamp: {why}", why=made.stamp_fault), err=True)
    else:
        echo(_("no outside time stamp: no authority is named (QIAO_STAMP_URL)"))


def _stamp_words(stamp: Stamp) -> str:
    return _(
        "time stamp: {when}, number {number}, {signer}",
        when=china_time(stamp.at, "%Y-%m-%d %H:%M:%S"),
        number=stamp.number,
        signer=stamp.signer or _("signer not named"),
    )


def _check(file: Path, ca: Path | None) -> None:
    from qiaocrawl.export.evidence_check import check_package
    from qiaocrawl.export.time_stamps import trusted_certificates

    named = str(ca) if ca is not None else Options.from_environment()["QIAO_STAMP_CA"]
    checked = check_package(file, trusted_certificates(named) if named else None)
    maker = {"when": china_time(checked.made_at), "name": checked.made_by}
    print_line(_("{title}: made {when} by {name}", title=checked.title, **maker))
    for note in checked.notes:
        print_line(_("it says itself: {note}", note=note))
    if checked.stamp is not None:
        print_line(_stamp_words(checked.stamp))
    print_line(_("SHA-256 of the package: {digest}", digest=checked.sha256))
    for fault in checked.faults:
        echo(_("wrong: {fault}", fault=fault), err=True)
    if checked.faults:
        raise typer.Exit(1)
    print_line(
        ngettext(
            "{count} file is as the manifest says",
            "{count} files are as the manifest says",
            checked.files,
        )
    )
    if checked.stamp is None:
        print_line(
            _(
                "This proves no origin: without a time stamp, whoever holds the package can write "
                "files and manifest anew together. Only its SHA-256 does, where the record of "
                "changes has the same."
            )
        )
