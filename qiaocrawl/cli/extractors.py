"""``qiaocrawl extractors …``: the extraction methods there are, and training those that learn."""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sqlalchemy import Connection

from qiaocrawl.cli.database import DatabaseUrl, connection_to, opened_database
from qiaocrawl.cli.output import check_output, echo, folding_table, say_written, table_console
from qiaocrawl.demo.web import build_web
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.extract.base import Configurable, extractors
from qiaocrawl.extract.kind_features import why_not_html
from qiaocrawl.extract.methods.block_training import (
    LabelledPage,
    Recipe,
    gold_bodies,
    label_page,
)
from qiaocrawl.extract.methods.block_training import (
    train as train_network,
)
from qiaocrawl.extract.published.cluster import IncrementalClusters, Training
from qiaocrawl.extract.published.cluster_model import ClusterModel, candidates_of, read_model
from qiaocrawl.extract.sites.site_template import START, WHOLE, name_of
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
from qiaocrawl.page.page import parse_page
from qiaocrawl.storage import Database, Reader
from qiaocrawl.storage.backup import growing_file
from qiaocrawl.storage.frontier.url_aliases import stored_host_votes
from qiaocrawl.storage.pages.node_clusters import load_clusters
from qiaocrawl.storage.pages.raw_pages import iter_pages
from qiaocrawl.storage.pages.reprocessing import count_pages
from qiaocrawl.storage.pages.site_templates import StoredTemplate, stored_templates
from qiaocrawl.text.visible import Terminal
from qiaocrawl.text.zones import china_time
from qiaocrawl.urls.aliases import MAX_HOSTS, AliasRule, AliasRules

# --- ``qiaocrawl extractors train blend``: the default extractor, from pages with known bodies ----


def blend(
    gold: Annotated[
        Path, typer.Option(help="Folder with gold.jsonl and pages/ (see docs/extraction.md).")
    ],
    output: Annotated[Path, typer.Option(help="The network file to write (.npz).")],
    epochs: Annotated[
        int, typer.Option(min=1, max=500, help="Passes over the pages.")
    ] = Recipe().epochs,
    voters: Annotated[
        int, typer.Option(min=1, max=20, help="Networks that vote.")
    ] = Recipe().voters,
) -> None:
    """Train blend on pages whose body is known; takes a few minutes for 800 pages."""
    check_output(output, "--output")
    recipe = Recipe(epochs=epochs, voters=voters)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Terminal(stderr=True)) as progress:
        bodies = list(progress.track(gold_bodies(gold), description=_("reading")))
        pages: list[LabelledPage] = []
        for gold_body in progress.track(bodies, description=_("labelling")):
            page = label_page(
                parse_page(gold_body.body, url=gold_body.url),
                gold_body.text,
                chinese=gold_body.chinese,
            )
            if page is not None:
                pages.append(page)
        if not pages:
            raise ConfigError(_("{gold}: no page with a body and any text", gold=gold))
        steps = progress.add_task(_("training"), total=recipe.epochs * recipe.voters)
        network = train_network(pages, recipe, lambda: progress.advance(steps))
    network.save(output)
    blocks = sum(len(page.labels) for page in pages)
    say_written(
        output, _("trained on {count} pages, {blocks} blocks", count=len(pages), blocks=blocks)
    )


# --- ``qiaocrawl extractors sites``: what was learnt of the sites ---------------------------------


def sites(
    host: Annotated[str, typer.Argument(help="Show all that is known of this host.")] = "",
    database: DatabaseUrl = "",
    aliases: Annotated[
        bool, typer.Option("--aliases", help="Show what addresses are other names of its pages.")
    ] = False,
) -> None:
    """Show what crawls learnt of sites: what their pages repeat, and where articles stand."""
    with connection_to(database) as c:
        templates = stored_templates(c, host)
        rules = _alias_rules(c, host) if aliases else []
    if host and not (rules if aliases else templates):
        raise ConfigError(
            _("nothing is known of {host!r}; it takes some articles of one host", host=host)
        )
    if aliases:
        _list_aliases(rules)
    elif host:
        _show(templates[0])
    else:
        _list(templates)


def _alias_rules(c: Connection, host: str) -> list[AliasRule]:
    # All hosts, since with and without "www." look at each other.
    rules = AliasRules()
    for stored in stored_host_votes(c, limit=MAX_HOSTS):
        rules.restore(stored)
    return [rule for rule in rules.rules() if host in ("", rule.host)]


def _list(templates: list[StoredTemplate]) -> None:
    table = folding_table(
        _("host"), _("articles"), _("repeated"), _("body in"), _("redesigns"), _("updated")
    )
    for column in (1, 2, 4):
        table.columns[column].justify = "right"
    for row in templates:
        template = row.template
        table.add_row(
            template.host,
            str(template.pages),
            str(len(template.repeated_blocks[0])),
            escape(next(iter(template.body_places), "?")),
            str(template.redesigns),
            china_time(row.updated_at),
        )
    table_console().print(table)


_STEPS = {
    "https": "http → https",
    "host": N_("host → {}"),
    "first": N_("without the first segment {}/"),
    "last": N_("without the last segment /{}"),
    "suffix": N_("without {} at the end of the file name"),
    "parameter": N_("without the parameter {}"),
}


def _list_aliases(rules: list[AliasRule]) -> None:
    table = folding_table(
        _("host"), _("other address → preferred"), _("agreed"), _("against"), _("in force")
    )
    for column in (2, 3):
        table.columns[column].justify = "right"
    for rule in rules:
        step = _(_STEPS[rule.step.kind]).format(rule.step.word)
        in_use = _("yes") if rule.active else _("no")
        table.add_row(rule.host, escape(step), str(rule.agreed), str(rule.against), in_use)
    table_console().print(table)


def _show(row: StoredTemplate) -> None:
    template = row.template
    names = {text for text, _ in template.names if name_of(text) in template.site_names}
    places = {START: _("before titles"), WHOLE: _("whole titles")}
    table = folding_table(_("what"), _("where"), _("articles"))
    table.columns[2].justify = "right"
    for place, count in template.places:
        kind = _("body") if place in template.body_places else _("at times")
        table.add_row(kind, escape(place), str(count))
    for text, count in template.names:
        where = places.get(text[:1], _("after titles"))
        table.add_row(where if text in names else f"({where})", escape(name_of(text)), str(count))
    console = table_console()
    console.print(
        _(
            "{host}: {pages} articles, {blocks} blocks repeat, {redesigns} redesigns, "
            "{disagreements} pages disagreed, {updated_at}",
            host=template.host,
            pages=template.pages,
            blocks=len(template.repeated_blocks[0]),
            redesigns=template.redesigns,
            disagreements=template.disagreements,
            updated_at=china_time(row.updated_at),
        ),
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    console.print(table)


app = typer.Typer(help="Extraction methods: list, train, what sites taught.", no_args_is_help=True)
train = typer.Typer(help="Train a method that learns from pages.", no_args_is_help=True)
app.add_typer(train, name="train")
app.command()(sites)
train.command()(blend)

MAX_PAGE_BYTES = 10 * 1024 * 1024
"""As a crawl: longer files are read up to here."""
_ENDINGS = (".html", ".htm", ".shtml", ".html.gz", ".htm.gz")
_PAGES_AT_A_TIME = 64
# The code of a published source in a docstring means nothing to readers of the list.
_CODE = re.compile(r"\s*\([A-Z]+\d+\)")


class _Source(NamedTuple):
    """The pages of a training: how many there are, and (body, content type, URL) of each."""

    total: int
    pages: Iterator[tuple[bytes, str, str]]


@app.command("list")
def list_() -> None:
    """Print the registered methods, a line each; * marks the one a crawl would use."""
    chosen = Options.from_environment()["QIAO_EXTRACT_METHOD"]
    extractors.get(chosen)  # a wrong name is an error, not a list without a mark
    names = extractors.names()
    width = max(map(len, names))
    for name in names:
        extractor = extractors.get(name)
        options = extractor.option_names if isinstance(extractor, Configurable) else ()
        read = f" [{' '.join(options)}]" if options else ""
        mark = "*" if name == chosen else " "
        echo(f"{mark} {name:{width}}  {describe(extractor, name)}{read}")


def describe(extractor: object, name: str) -> str:
    """One line about *extractor*: its own summary, or the first of a docstring.

    That of its module when it is about *name*, else that of its class.
    """
    kind = type(extractor)
    summary: str = getattr(extractor, "summary", "")
    if summary:
        return summary
    module = sys.modules[kind.__module__].__doc__ or ""
    own, _, line = module.partition("\n")[0].partition("``: ")
    if own != f"``{name}":
        line = (kind.__doc__ or "").partition("\n")[0]
    return _CODE.sub("", line).rstrip(".")


@train.command()
def cluster(
    output: Annotated[Path, typer.Option(help="The model file to write (JSON).")],
    database: DatabaseUrl = "",
    pages: Annotated[
        Path | None, typer.Option(help="A folder of saved pages (.html, .html.gz) instead.")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="The demo web's pages instead.")] = False,
    learnt: Annotated[
        bool,
        typer.Option("--learnt", help="What its crawls learnt (QIAO_CLUSTER_LEARNING)."),
    ] = False,
    limit: Annotated[
        int, typer.Option(help="Pages used at most; about 2 KB of memory each.", min=1)
    ] = 20_000,
    least_k: Annotated[int, typer.Option(help="Fewest clusters tried.", min=2)] = 4,
    most_k: Annotated[int, typer.Option(help="Most clusters tried.", min=2)] = 8,
) -> None:
    """Train the method `cluster` from stored pages; use the file with QIAO_CLUSTER_MODEL."""
    if demo + (pages is not None) + bool(database) > 1:
        raise ConfigError(_("give one of --database, --pages and --demo"))
    if learnt and (demo or pages is not None):
        raise ConfigError(_("--learnt is of a database: give it without --pages and --demo"))
    check_output(output, "--output")
    training = Training(least_k=least_k, most_k=most_k)
    if pages is not None:
        model = _train(_saved_pages(pages), limit, training)
    elif demo:
        model = _train(_demo_pages(), limit, training)
    else:
        with opened_database(database) as opened:
            opened.require_current()
            model = _learnt(opened) if learnt else _train(_stored_pages(opened), limit, training)
    with growing_file(output) as part:
        part.write_text(model.to_json(), encoding="utf-8")
    _tell(model, output)


def _learnt(database: Database) -> ClusterModel:
    with database.engine.connect() as c:
        state = load_clusters(c)
    if not state.model:
        raise ConfigError(
            _(
                "no crawl has learnt a model yet: {pages} pages are read, with "
                "QIAO_CLUSTER_LEARNING=on the first clustering comes after some hundred",
                pages=state.pages,
            )
        )
    return read_model(state.model)


def _train(source: _Source, limit: int, training: Training) -> ClusterModel:
    clusters = IncrementalClusters(training)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Terminal(stderr=True)) as progress:
        task = progress.add_task(_("train cluster"), total=min(source.total, limit))
        for body, content_type, url in islice(source.pages, limit):
            if not why_not_html(body, content_type):
                page = parse_page(body[:MAX_PAGE_BYTES], content_type, url)
                clusters.add(candidates_of(page.blocks).features)
            progress.advance(task)
    return clusters.model()


def _stored_pages(database: Database) -> _Source:
    reader = Reader(database)

    def pages() -> Iterator[tuple[bytes, str, str]]:
        after = 0
        while batch := reader.run(
            partial(iter_pages, topic=None, after_id=after, limit=_PAGES_AT_A_TIME)
        ):
            after = batch[-1].id
            for stored in batch:
                page = stored.page
                yield page.body, page.header("content-type"), page.final_url or page.url

    return _Source(reader.run(count_pages), pages())


def _saved_pages(folder: Path) -> _Source:
    if not folder.is_dir():
        raise ConfigError(_("--pages must be a folder, got {folder!r}", folder=str(folder)))
    files = [file for file in folder.rglob("*") if file.name.lower().endswith(_ENDINGS)]
    files.sort(key=lambda file: _shuffle_key(str(file.relative_to(folder))))

    def pages() -> Iterator[tuple[bytes, str, str]]:
        for file in files:
            try:
                with (gzip.open if file.suffix == ".gz" else open)(file, "rb") as stream:
                    body = stream.read(MAX_PAGE_BYTES)
            except (OSError, EOFError, zlib.error) as error:
                raise StorageError(
                    _("cannot read {file!r}: {error}", file=str(file), error=error)
                ) from error
            yield body, "", ""

    return _Source(len(files), pages())


def _demo_pages() -> _Source:
    sources = []
    for (host, path), page in build_web(happenings=False).pages.items():
        content_type = dict(page.headers).get("Content-Type", "")
        if page.status == 200 and "html" in content_type:
            sources.append((page.body, content_type, f"http://{host}{path}"))
    sources.sort(key=lambda page: _shuffle_key(page[2]))
    return _Source(len(sources), iter(sources))


def _shuffle_key(name: str) -> tuple[int, str]:
    """An order that mixes the sites, and is the same each time: the first pages count most."""
    return zlib.crc32(name.encode("utf-8", "surrogateescape")), name


def _tell(model: ClusterModel, output: Path) -> None:
    table = folding_table(
        _("text"),
        _("paragraphs"),
        _("links"),
        _("images"),
        _("full stops"),
        "r",
        _("nodes"),
        _("body"),
    )
    rows = zip(model.typical(), model.radii, model.counts, strict=True)
    for index, (centre, radius, count) in enumerate(rows):
        shown = [f"{value:.1f}" for value in centre]
        table.add_row(*shown, f"{radius:.2f}", str(count), "✓" if index in model.body else "")
    table_console().print(table)
    made = _(
        "{count} clusters of {samples} nodes in {pages} pages",
        count=len(model.counts),
        samples=model.samples,
        pages=model.pages,
    )
    say_written(output, made)
