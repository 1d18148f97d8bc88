"""``qiaocrawl topic evaluate``: a pack measured by its golden set of labelled titles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from qiaocrawl.cli.output import folding_table, table_console
from qiaocrawl.cli.topic.places import find_pack
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
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
from qiaocrawl.topic.folder import load_pack
from qiaocrawl.topic.tree import GOLDEN_FILE, read_golden

_LABELS = {True: N_("yes"), False: N_("no")}
_INTERVALS = N_("In brackets 95 % intervals: F1 by percentile bootstrap, the rest by Wilson.")


def evaluate(
    name: Annotated[str, typer.Argument(help="Pack in QIAO_TOPICS_DIR, or folder of a pack.")],
    method: Annotated[
        str, typer.Option(help="Page scorer instead of QIAO_RELEVANCE_METHOD.")
    ] = "",
    threshold: Annotated[
        float | None,
        typer.Option(help="Score from which a title is on topic, in [0, 1]; instead of "
                     "QIAO_RELEVANCE_THRESHOLD. 0 = the method's own."),
    ] = None,
) -> None:  # fmt: skip
    """Judge the labelled titles of a pack's golden.csv as a crawl would, and say how right it is.

    A title is judged alone, as an article without a body; articles with bodies are judged better.
    """
    folder = find_pack(name)
    setup = _setup(folder, method, threshold)
    titles = _judged(folder / GOLDEN_FILE, setup)
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
    )


def _judged(file: Path, setup: AnalysisSetup) -> list[JudgedTitle]:
    if not file.is_file():
        raise ConfigError(_("the pack has no golden set: {file!r} does not exist", file=str(file)))
    golden = read_golden(file)
    judgements = judge_texts([PageText(row.title, "") for row in golden], setup)
    return [JudgedTitle(row, given[0]) for row, given in zip(golden, judgements, strict=True)]


def _figures(titles: Sequence[JudgedTitle]) -> Table:
    table = _table(_("titles"), _("count"), _("precision"), _("recall"), "F1", right=(1, 2, 3, 4))
    tuned, held_out = halves(titles)
    for what, part in (
        (_("all"), titles), (_("for tuning"), tuned), (_("held out"), held_out),
    ):  # fmt: skip
        cells = counts(part)
        table.add_row(what, str(cells.total), *map(_shown, _rates(cells)))
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
            escape(group or _("(none)")), labels, f"{right}/{len(members)}",
            _shown(wilson(right, len(members))),
        )  # fmt: skip
    return table


def _neighbours(titles: Sequence[JudgedTitle], in_use: float) -> Table:
    table = _table(_("threshold"), _("precision"), _("recall"), "F1", right=(1, 2, 3))
    for limit, cells in at_thresholds(titles, in_use):
        mark = _(" ← in use") if limit == in_use else ""
        table.add_row(f"{limit:.3g}{mark}", *(f"{rate.value:.3f}" for rate in _rates(cells)))
    return table


def _wrong(titles: Sequence[JudgedTitle]) -> Table:
    """The titles that are judged wrongly, the worst first."""
    table = _table(_("wrongly judged"), _("should be"), _("score"), _("group"), _("because of"),
                   right=(2,))  # fmt: skip
    for title in sorted(titles, key=_wrongness, reverse=True):
        golden, judgement = title.golden, title.judgement
        words = " ".join(word for word, _ in judgement.terms[:3])
        note = f" ({golden.note})" if golden.note else ""
        table.add_row(
            escape(golden.title + note), _(_LABELS[golden.relevant]), f"{judgement.score:.3f}",
            escape(golden.group), escape(words),
        )  # fmt: skip
    return table


def _wrongness(title: JudgedTitle) -> tuple[bool, float]:
    """False hits first; then how far the score is off."""
    score = title.judgement.score
    return (not title.golden.relevant, -score if title.golden.relevant else score)


def _rates(cells: Counts) -> tuple[Rate, Rate, Rate]:
    return cells.precision, cells.recall, cells.f1


def _shown(rate: Rate) -> str:
    return f"{rate.value:.3f} ({rate.low:.2f}–{rate.high:.2f})"


def _table(*names: str, right: tuple[int, ...]) -> Table:
    table = folding_table(*names)
    for column in right:
        table.columns[column].justify = "right"
    return table
