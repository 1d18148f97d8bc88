"""``qiaocrawl topic evaluate``, ``judge``, ``seeds``: packs measured, pages judged by people."""

from __future__ import annotations

import getpass
import re
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from sqlalchemy import Connection

from qiaocrawl.cli.database import DatabaseUrl, connection_to, transaction_on
from qiaocrawl.cli.output import echo, echo_json, folding_table, not_an_address, table_console
from qiaocrawl.cli.topic_report import find_pack
from qiaocrawl.discovery.navigation import sites_in
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
from qiaocrawl.options.project import command_here
from qiaocrawl.relevance.evaluation import (
    Counts,
    JudgedTitle,
    Rate,
    at_thresholds,
    by_group,
    counts,
    halves,
    wilson,
)
from qiaocrawl.runtime.analyse_page import judge_texts, thresholds
from qiaocrawl.runtime.analysis_setup import AnalysisSetup
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.search.seed_offers import SeedOffer, seed_offers
from qiaocrawl.storage.topics import judgements as stored
from qiaocrawl.storage.topics.changes import basis_of, few_on_topic
from qiaocrawl.storage.topics.topics import load_pack as stored_pack
from qiaocrawl.text.zones import china_time
from qiaocrawl.topic.files import read_limited
from qiaocrawl.topic.folder import load_pack
from qiaocrawl.topic.tree import GOLDEN_FILE, read_golden
from qiaocrawl.topic.workbook.form import answer_of, read_judgements
from qiaocrawl.urls import canonical_url, host_of

_LABELS = {True: N_("yes"), False: N_("no")}
_INTERVALS = N_("In brackets 95 % intervals: F1 by percentile bootstrap, the rest by Wilson.")


def evaluate(
    name: Annotated[str, typer.Argument(help="Pack in QIAO_TOPICS_DIR, or folder of a pack.")],
    method: Annotated[str, typer.Option(help="Page scorer instead of QIAO_RELEVANCE_METHOD.")] = "",
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Score from which a title is on topic, in [0, 1]; instead of "
            "QIAO_RELEVANCE_THRESHOLD. 0 = the method's own."
        ),
    ] = None,
) -> None:
    """Judge the labelled titles of a pack's golden.csv as a crawl would, and say how right it is.

    A title is judged alone, as an article without a body; articles with bodies are judged better.
    """
    folder = find_pack(name)
    setup = _setup(folder, method, threshold)
    titles = _judge_titles(folder / GOLDEN_FILE, setup)
    console = table_console()
    (in_use,) = thresholds(setup)
    console.print(
        _(
            "{name} {title}: {count} titles, method {method}, threshold {threshold}",
            name=setup.topics[0].name,
            title=setup.topics[0].title,
            count=len(titles),
            method=setup.relevance_method,
            threshold="?" if in_use is None else format(in_use, "g"),
        ),
        markup=False,
    )
    console.print(_figures(titles))
    console.print(_groups(titles))
    if in_use is not None:
        console.print(_neighbours(titles, in_use))
    console.print(_(_INTERVALS), markup=False)
    wrong = [title for title in titles if not title.right]
    if not wrong:
        console.print(_("none is judged wrongly"))
    else:
        console.print(_wrong(wrong))


def _setup(folder: Path, method: str, threshold: float | None) -> AnalysisSetup:
    """What a crawl's analysis worker would be told of this pack."""
    options = Options.from_environment()
    if threshold is not None and not 0 <= threshold <= 1:
        raise ConfigError(
            _("--threshold must lie in [0, 1], got {threshold!r}", threshold=threshold)
        )
    own = method in ("", options["QIAO_RELEVANCE_METHOD"])
    return AnalysisSetup(
        method=options["QIAO_EXTRACT_METHOD"],
        max_links=0,
        topics=(load_pack(folder),),
        relevance_method=method or options["QIAO_RELEVANCE_METHOD"],
        threshold=options["QIAO_RELEVANCE_THRESHOLD"] if threshold is None else threshold,
        relevance_options=options["QIAO_RELEVANCE_OPTIONS"] if own else "",
        ontology_dir=options["QIAO_ONTOLOGY_DIR"],
        segmenter=options["QIAO_SEGMENTER"],
    )


def _judge_titles(file: Path, setup: AnalysisSetup) -> list[JudgedTitle]:
    if not file.is_file():
        raise ConfigError(_("the pack has no golden set: {file!r} does not exist", file=str(file)))
    golden = read_golden(file)
    judgements = judge_texts([PageText(row.title, "") for row in golden], setup)
    return [JudgedTitle(row, given[0]) for row, given in zip(golden, judgements, strict=True)]


def _figures(titles: Sequence[JudgedTitle]) -> Table:
    table = _table(_("titles"), _("count"), _("precision"), _("recall"), "F1", right=(1, 2, 3, 4))
    tuned, held_out = halves(titles)
    for what, part in ((_("all"), titles), (_("for tuning"), tuned), (_("held out"), held_out)):
        cells = counts(part)
        table.add_row(what, str(cells.total), *map(_rate_text, _rates(cells)))
    return table


def _groups(titles: Sequence[JudgedTitle]) -> Table:
    table = _table(_("group"), _("on topic"), _("right"), _("share right"), right=(2, 3))
    for group, members in by_group(titles).items():
        labels = " ".join(
            _(_LABELS[label])
            for label in (True, False)
            if any(title.golden.relevant is label for title in members)
        )
        right = sum(title.right for title in members)
        table.add_row(
            escape(group or _("(none)")),
            labels,
            f"{right}/{len(members)}",
            _rate_text(wilson(right, len(members))),
        )
    return table


def _neighbours(titles: Sequence[JudgedTitle], in_use: float) -> Table:
    table = _table(_("threshold"), _("precision"), _("recall"), "F1", right=(1, 2, 3))
    for limit, cells in at_thresholds(titles, in_use):
        mark = _(" ← in use") if limit == in_use else ""
        table.add_row(f"{limit:.3g}{mark}", *(f"{rate.value:.3f}" for rate in _rates(cells)))
    return table


def _wrong(titles: Sequence[JudgedTitle]) -> Table:
    """The titles that are judged wrongly, the worst first."""
    table = _table(
        _("wrongly judged"), _("should be"), _("score"), _("group"), _("because of"), right=(2,)
    )
    for title in sorted(titles, key=_wrongness, reverse=True):
        golden, judgement = title.golden, title.judgement
        words = " ".join(word for word, _ in judgement.terms[:3])
        note = f" ({golden.note})" if golden.note else ""
        table.add_row(
            escape(golden.title + note),
            _(_LABELS[golden.relevant]),
            f"{judgement.score:.3f}",
            escape(golden.group),
            escape(words),
        )
    return table


def _wrongness(title: JudgedTitle) -> tuple[bool, float]:
    """False hits first; then how far the score is off."""
    score = title.judgement.score
    return (not title.golden.relevant, -score if title.golden.relevant else score)


def _rates(cells: Counts) -> tuple[Rate, Rate, Rate]:
    return cells.precision, cells.recall, cells.f1


def _rate_text(rate: Rate) -> str:
    return f"{rate.value:.3f} ({rate.low:.2f}–{rate.high:.2f})"


def _table(*names: str, right: tuple[int, ...]) -> Table:
    table = folding_table(*names)
    for column in right:
        table.columns[column].justify = "right"
    return table


# --- ``qiaocrawl topic judge`` and ``topic judgements``: what operators say of pages --------------

_URLS_SHOWN = 20
# More than anybody judges.
_ALL = 1_000_000

TopicName = Annotated[str, typer.Argument(help="Name of an imported topic.")]


def judge(
    topic: TopicName,
    url: Annotated[str, typer.Argument(help="Address of the page.")] = "",
    answer: Annotated[str, typer.Argument(help="Whether it is on topic: yes or no.")] = "",
    table: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Table (.xlsx, .csv) with addresses and judgements: an exported one, its column "
            "filled in.",
        ),
    ] = None,
    note: Annotated[str, typer.Option(help="Why, for those who read it later.")] = "",
    database: DatabaseUrl = "",
) -> None:
    """Say whether a page is on topic: that is its verdict from now on.

    Its article becomes a sample of the topic, which running crawls take over; `qiaocrawl reprocess
    --stage relevance` judges what is stored anew. The last judgement of a page counts.
    Many at once: an exported Excel, its column filled in, comes back by --from.
    """
    if table is not None:
        if url or answer:
            raise ConfigError(_("give a page and an answer, or --from FILE, not both"))
        _judge_table(topic, table, note, database)
        return
    if not (url and answer):
        raise ConfigError(_("give a page and yes or no, or --from FILE"))
    relevant = answer_of(answer)
    if relevant is None:
        raise ConfigError(_("a page is on topic, yes or no, got {answer!r}", answer=answer))
    address = canonical_url(url)
    if address is None:
        raise ConfigError(not_an_address(url))
    with transaction_on(database) as c:
        has_article = stored.save_judgement(
            c, topic, address, relevant=relevant, note=note, now=time.time()
        )
    echo(f"{address}: {_shown_judgement(relevant)}")
    if not has_article:
        echo(_("there is no article at this address yet; the judgement counts once there is"))


def threshold(
    topic: TopicName,
    line: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Score from which articles are to be on topic; only shown when 0."
        ),
    ] = 0.0,
    by: Annotated[str, typer.Option(help="Who says so; the user of this machine when empty.")] = "",
    database: DatabaseUrl = "",
) -> None:
    """Show what another threshold would change, or set it.

    Scores are those of the stored articles, as `qiaocrawl article list` shows them. Crawls judge by
    a new threshold within a minute; `qiaocrawl reprocess --stage relevance` judges anew what is
    stored.
    """
    from qiaocrawl.console.crawl_scorer import Stale, crawl_scorer, move_line, threshold_of

    if not line:
        with connection_to(database) as c:
            present = threshold_of(crawl_scorer(stored.judged_pack(c, topic)))
            few, basis = few_on_topic(c, topic), basis_of(c, topic)
        echo(_("{topic}: on topic from a score of {present:.3f}", topic=topic, present=present))
        for text in (few.why, few.remedy) if few is not None else (basis.note,):
            if text:
                echo(text)
        return
    anew = command_here("qiaocrawl reprocess --stage relevance --yes")
    with transaction_on(database) as c:
        try:
            new, view = move_line(c, Actor(by or getpass.getuser()), topic, line)
        except Stale as error:
            raise ConfigError(f"{error}: {anew}") from None
    echo(
        _(
            "{topic}: the threshold is {new:.3g} now; {to_on} stored articles more will be on "
            "topic, {to_off} no longer, once they are judged anew:",
            topic=topic,
            new=new,
            to_on=view.to_on,
            to_off=view.to_off,
        )
    )
    echo(f"  {anew}")


def _judge_table(topic: str, table: Path, note: str, database: str) -> None:
    """Save all judgements of a table, or none."""
    judged = read_judgements(table)
    now = time.time()
    with transaction_on(database) as c:
        before = {row.url: row.relevant for row in stored.list_judgements(c, topic, _ALL)}
        unknown = [
            row.url
            for row in judged.rows
            if not stored.save_judgement(
                c, topic, row.url, relevant=row.relevant, note=row.note or note, now=now
            )
        ]
    yes = sum(row.relevant for row in judged.rows)
    changed = sum(before.get(row.url, row.relevant) != row.relevant for row in judged.rows)
    echo(
        _(
            "{count} judged (yes {yes}, no {no}, {changed} otherwise than before); {blank} rows "
            "without",
            count=len(judged.rows),
            yes=yes,
            no=len(judged.rows) - yes,
            changed=changed,
            blank=judged.blank,
        )
    )
    _print_unknown(unknown)
    if judged.rows:
        command = command_here("qiaocrawl reprocess --stage relevance --dry-run")
        echo(_("next: {command}", command=command))


def _print_unknown(urls: Sequence[str]) -> None:
    if not urls:
        return
    echo(_("{count} addresses have no article yet; they count when there is one:", count=len(urls)))
    for url in urls[:_URLS_SHOWN]:
        echo(f"  {url}")
    if len(urls) > _URLS_SHOWN:
        echo(_("  … {more} more", more=len(urls) - _URLS_SHOWN))


def judgements(
    topic: TopicName,
    limit: Annotated[int, typer.Option(min=1, help="Newest judgements shown.")] = 100,
    database: DatabaseUrl = "",
) -> None:
    """List what operators said of pages, the newest first."""
    with connection_to(database) as c:
        judged = stored.list_judgements(c, topic, limit)
    table = folding_table(_("judged at"), _("on topic"), _("URL"), _("article"), _("note"))
    for row in judged:
        title = _("(none yet)") if row.title is None else row.title
        table.add_row(
            china_time(row.judged_at),
            _shown_judgement(row.relevant),
            escape(row.url),
            escape(title),
            escape(row.note),
        )
    table_console().print(table)


def _shown_judgement(relevant: bool) -> str:
    return _("yes") if relevant else _("no")


# --- ``qiaocrawl topic seeds``: pages that searches found, for an operator to begin crawls at
# (T2)

_HEAD = N_(
    "# Seeds: one address a line; lines with # are not crawled. Remove a # to pick, add your own."
)
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def seeds(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    top: Annotated[int, typer.Option(min=1, max=1000, help="How many are offered.")] = 50,
    pick: Annotated[
        str, typer.Option(help="Numbers of those you take, such as 1,3-5; all for all of them.")
    ] = "",
    add: Annotated[list[str] | None, typer.Option(help="An address of your own.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write; -a seeds=FILE begins a crawl there.")
    ] = None,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Offer the sites this file names instead: a saved navigation page, bookmarks of a "
            "browser, or OPML.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Offer the best pages of a topic's searches as start pages of a crawl; keep your choice.

    With --from the sites of a navigation page, of bookmarks or of OPML, but for those of the topic.
    """
    with connection_to(database) as c:
        is_cut = False
        if from_ is None:
            offers = seed_offers(c, topic, top)
        else:
            offers, is_cut = _named_offers(c, topic, from_)
    own = [_canonical(address) for address in add or ()]
    picked = picked_numbers(pick, len(offers))
    if is_cut:
        echo(
            _(
                "{file} has more links than are read at once: the others are not offered",
                file=from_,
            ),
            err=True,
        )
    if out is not None:
        write_seeds(out, offers, picked, own)
    if as_json:
        echo_json([asdict(offer) for offer in offers])
        return
    _show(offers, picked, _("answers") if from_ is None else _("links"))
    if from_ is not None and not offers:
        echo(_("{file} names no site that the topic has not", file=from_))
    elif not offers:
        echo(
            _("no search has found anything yet, run first:")
            + f"\n  qiaocrawl crawl search -a topic={topic}"
        )
    elif out is not None:
        echo(
            _("written: {file}, {count} start pages", file=out, count=len(picked) + len(own))
            + f"\n  qiaocrawl crawl site -a topic={topic} -a seeds={out} -a across=on"
        )
    else:
        echo(_("to take some:  --pick 1,3-5 --out seeds.txt"))


def _named_offers(c: Connection, topic: str, file: Path) -> tuple[list[SeedOffer], bool]:
    """The sites that *file* names and the topic has not; those that most links lead to first.

    And whether it has more links than were read.
    """
    known = {site.host for site in stored_pack(c, topic).sites}
    named = sites_in(read_limited(file))
    found = [one for one in named.sites if host_of(one.url) not in known]
    found.sort(key=lambda one: -one.links)
    return [SeedOffer(one.url, one.name, one.links) for one in found], named.is_cut


def picked_numbers(text: str, most: int) -> set[int]:
    """The numbers in *text*, such as ``1,3-5``; ``all`` is every one up to *most*.

    Raises:
        ConfigError: it is something else, or a number is not among those offered.
    """
    if text.strip().lower() == "all":
        return set(range(1, most + 1))
    picked: set[int] = set()
    for piece in filter(None, map(str.strip, text.split(","))):
        match = _RANGE.fullmatch(piece)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last <= most:
            raise ConfigError(
                _(
                    "--pick takes numbers from 1 to {most}, such as 1,3-5; got {piece!r}",
                    most=most,
                    piece=piece,
                )
            )
        picked.update(range(first, last + 1))
    return picked


def write_seeds(file: Path, offers: list[SeedOffer], picked: set[int], own: list[str]) -> None:
    """Write all *offers* to *file*, those not *picked* behind a ``#``, and the *own* addresses.

    Raises:
        ConfigError: the file is there already, since it may hold somebody's choice, or it
            cannot be written.
    """
    lines = [
        f"{'' if number in picked else '# '}{offer.url}  # {' '.join(offer.title.split())}\n"
        for number, offer in enumerate(offers, 1)
    ]
    try:
        with open(file, "x", encoding="utf-8") as written:
            written.writelines([_(_HEAD) + "\n", *lines, *(f"{address}\n" for address in own)])
    except FileExistsError:
        raise ConfigError(
            _("{file!r} exists; edit it, or give another name", file=str(file))
        ) from None
    except OSError as error:
        raise ConfigError(
            _("{file!r} cannot be written: {reason}", file=str(file), reason=error.strerror)
        ) from error


def _canonical(address: str) -> str:
    canonical = canonical_url(address.strip())
    if canonical is None:
        raise ConfigError(_("--add {address!r} is no http or https address", address=address))
    return canonical


def _show(offers: list[SeedOffer], picked: set[int], counted: str) -> None:
    table = folding_table(_("no."), _("picked"), _("title and address"), counted)
    for column in (0, 3):
        table.columns[column].justify = "right"
    for number, offer in enumerate(offers, 1):
        mark = _("yes") if number in picked else ""
        shown = f"{escape(offer.title)}\n{escape(offer.url)}"
        table.add_row(str(number), mark, shown, str(offer.answers))
    if offers:
        table_console().print(table)
