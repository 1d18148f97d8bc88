"""Page relevance on labelled pages: how right are judgements, and how honest their scores?

    python benchmarks/relevance.py --data DIR [--quick] [--seeds 2] [--method blend,vsm]
        [--collection NAME,...] [--json FILE] [--picture FILE.svg] [--corrections] [--samples]

DIR holds collections as ``crawl_orders/data.py`` reads them. A task is a topic of a collection with
one draw of samples (``crawl_orders/tasks.py``): the pack has the words of the topic's query and the
samples; every other page of the collection is judged. The demo web's own articles come last,
judged by the pack ``qiaoqing`` as it is shipped. Beside our methods stand those of
``judgements/peers.py``.

F1, precision and recall are those of the verdicts, each method with its own threshold; AP is
average precision by score, Brier and ECE say how honest the scores are as probabilities (those
of most published methods are none).

With --corrections an operator corrects the list of each task (``judgements/corrections.py``), of
the pack as it is and of its words alone: F1 after 0 to 50 judgements; "least" is the lowest of
these less the first. It needs no scikit-learn.

With --samples each method (blend and svm by default) learns from 10, 30 and 100 samples of each
pack, a third of them relevant, or from as many as there are: mean F1 of each.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.crawl_orders.data import find_collections, load_collection
from benchmarks.crawl_orders.tasks import make_task
from benchmarks.judgements.corrections import STEPS, corrections
from benchmarks.judgements.peers import PEERS, judge
from benchmarks.judgements.picture import draw
from benchmarks.judgements.score import Bin, Figures, figures, reliability
from benchmarks.rows import write_rows
from qiaocrawl.demo.model import ARTICLE_KINDS
from qiaocrawl.demo.web import build_web
from qiaocrawl.errors import QiaoError
from qiaocrawl.items import PageText
from qiaocrawl.relevance import page_scorers
from qiaocrawl.topic.folder import load_pack
from qiaocrawl.topic.pack import TopicPack

QUICK_PAGES = 300
"""With --quick at most so many pages of a collection are judged."""
SHOWN = ("blend", "vsm_breadth", "LinearSVC", "TF-IDF cosine")
"""Methods in the picture."""
DEMO = "demo"
SAMPLES = (10, 30, 100)
_COLUMNS = ("f1", "precision", "recall", "average_precision", "brier", "ece")


@dataclass(frozen=True, slots=True)
class Question:
    """Pages to judge for one topic, and what is true of them."""

    collection: str
    topic: str
    seed: int
    pack: TopicPack
    pages: Sequence[PageText]
    truth: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method made of a question."""

    method: str
    question: Question
    scores: NDArray[np.float64]
    figures: Figures


def questions(
    data: Path, wanted: Sequence[str], seeds: int, most_pages: int | None
) -> Iterator[Question]:
    """All tasks of the collections in *data*, and the demo's; *wanted* () takes all."""
    for folder in find_collections(data):
        if wanted and folder.name not in wanted:
            continue
        collection = load_collection(folder)
        for topic in collection.queries:
            for seed in range(seeds):
                task = make_task(collection, topic, seed)
                numbers = [n for n in range(len(collection.pages)) if n not in task.neutral]
                numbers = _thinned(numbers, most_pages)
                pages = [collection.pages[number].words for number in numbers]
                truth = np.array([topic in collection.labels[number] for number in numbers])
                yield Question(folder.name, topic, seed, task.pack, pages, truth)
    if not wanted or DEMO in wanted:
        yield demo_question(most_pages)


def demo_question(most_pages: int | None) -> Question:
    """The demo web's articles with their gold bodies."""
    gold = [one for one in build_web().gold() if one.kind in ARTICLE_KINDS]
    gold = [gold[number] for number in _thinned(list(range(len(gold))), most_pages)]
    pack = load_pack(PROJECT / "topics" / "qiaoqing")
    pages = [PageText(one.title, one.body, url=one.url) for one in gold]
    return Question(DEMO, pack.name, 0, pack, pages, np.array([one.on_topic for one in gold]))


def _thinned(numbers: list[int], most: int | None) -> list[int]:
    """At most *most* of them, spread evenly."""
    return numbers if most is None else numbers[:: max(1, -(-len(numbers) // most))]


def answer(method: str, question: Question) -> Answer:
    """What one of our methods or of the peers says."""
    if method in PEERS:
        scores = judge(method, question.pack, question.pages)
        verdicts = scores >= 0.5
    else:
        scorer = page_scorers.get(method)(question.pack)
        judged = [scorer.judge(page) for page in question.pages]
        scores = np.array([one.score for one in judged])
        verdicts = np.array([one.relevant for one in judged])
    return Answer(method, question, scores, figures(scores, verdicts, question.truth))


def rows_of(answers: Iterable[Answer]) -> list[dict[str, object]]:
    """A row an answer, with its reliability table as ``bins``."""
    return [
        {
            "method": one.method, "collection": one.question.collection,
            "topic": one.question.topic, "seed": one.question.seed,
            "pages": len(one.question.pages), "relevant": int(one.question.truth.sum()),
            **asdict(one.figures),
        }
        for one in answers
    ]  # fmt: skip


def by_collection(answers: Iterable[Answer]) -> dict[str, dict[str, list[Answer]]]:
    """The answers by collection and method."""
    answers_by_method: dict[str, dict[str, list[Answer]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers:
        answers_by_method[answer.question.collection][answer.method].append(answer)
    return answers_by_method


def tables(answers: Iterable[Answer]) -> Iterator[Table]:
    """A table a collection: means over topics and draws, and the ECE of all of them together."""
    for name, methods in by_collection(answers).items():
        some = next(iter(methods.values()))
        tasks = len({(one.question.topic, one.question.seed) for one in some})
        table = Table("method", "F1", "precision", "recall", "AP", "Brier", "ECE", "ECE of all",
                      title=f"{name}: mean of {tasks} tasks")  # fmt: skip
        for column in table.columns[1:]:
            column.justify = "right"
        for method, given in methods.items():
            means = (np.mean([getattr(one.figures, key) for one in given]) for key in _COLUMNS)
            table.add_row(method, *(f"{mean:.3f}" for mean in means), f"{_joint_ece(given):.3f}")
        yield table


def reliability_table(answers: Sequence[Answer], method: str) -> Table:
    """How many pages score how much with *method*, all collections together."""
    own = [one for one in answers if one.method == method]
    bins = _pooled(own)
    table = Table("mean score", "share on topic", "pages", title=f"{method}: reliability")
    for one in bins:
        table.add_row(f"{one.score:.3f}", f"{one.share:.3f}", f"{one.pages:,}")
    return table


def _joint_ece(answers: Sequence[Answer]) -> float:
    """The expected calibration error over the pages of all *answers*, whatever their topic."""
    bins = _pooled(answers)
    pages = max(sum(one.pages for one in bins), 1)
    return sum(abs(one.score - one.share) * one.pages for one in bins) / pages


def panels(answers: Iterable[Answer]) -> Mapping[str, Mapping[str, tuple[Bin, ...]]]:
    """The reliability of the methods in the picture by collection."""
    return {
        name: {method: _pooled(methods[method]) for method in SHOWN if method in methods}
        for name, methods in by_collection(answers).items()
    }


def _pooled(answers: Sequence[Answer]) -> tuple[Bin, ...]:
    if not answers:
        return ()
    scores = np.concatenate([one.scores for one in answers])
    return reliability(scores, np.concatenate([one.question.truth for one in answers]))


def corrected(asked: Sequence[Question], method: str) -> Iterator[dict[str, object]]:
    """A row for each task, kind of pack and number of judgements."""
    todo = [(question, kind) for question in asked for kind in ("samples", "words")]
    shown = track(todo, "correcting", console=Console(stderr=True), transient=True)
    for question, kind in shown:
        pack = question.pack if kind == "samples" else replace(question.pack, samples=())
        for step in corrections(
            pack, question.pages, question.truth, seed=question.seed, method=method
        ):
            yield {"collection": question.collection, "topic": question.topic,
                   "seed": question.seed, "pack": kind, **asdict(step)}  # fmt: skip


def with_samples(pack: TopicPack, most: int) -> TopicPack:
    """*pack* with its first *most* samples, a third of them relevant, or as many as it has."""
    kinds = {yes: [one for one in pack.samples if one.relevant is yes] for yes in (True, False)}
    relevant = kinds[True][: max(1, most // 3)]
    return replace(pack, samples=(*relevant, *kinds[False][: most - len(relevant)]))


def samples_table(asked: Sequence[Question], methods: Sequence[str]) -> Table:
    """Mean F1 of *methods* by collection and number of samples."""
    columns = [f"{method} {most}" for most in SAMPLES for method in methods]
    table = Table("collection", *columns, title="F1 by number of samples", box=None,
                  padding=(0, 1, 0, 0), title_justify="left")  # fmt: skip
    figures_of: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for question in track(asked, "learning", console=Console(stderr=True), transient=True):
        for most in SAMPLES:
            fewer = replace(question, pack=with_samples(question.pack, most))
            for method in methods:
                f1 = answer(method, fewer).figures.f1
                figures_of[question.collection][f"{method} {most}"].append(f1)
    for collection, by_column in figures_of.items():
        means = (f"{np.mean(by_column[column]):.3f}" for column in columns)
        table.add_row(collection, *means)
    return table


def corrections_table(rows: Sequence[Mapping[str, object]], figure: str, title: str) -> Table:
    """The mean *figure* of each collection and kind of pack by number of judgements."""
    # No frame: ten columns fit 80 cells, and nothing is cut.
    table = Table("collection", "pack", *map(str, STEPS), "least", title=title, box=None,
                  padding=(0, 1, 0, 0), title_justify="left")  # fmt: skip
    for column in table.columns[2:]:
        column.justify = "right"
    groups: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        group = groups[str(row["collection"]), str(row["pack"])]
        group[cast(int, row["judged"])].append(cast(float, row[figure]))
    for (collection, kind), by_step in groups.items():
        means = [float(np.mean(by_step[step])) for step in STEPS]
        least = min(mean - means[0] for mean in means)
        table.add_row(collection, kind, *(f"{mean:.3f}" for mean in means), f"{least:+.3f}")
    return table


def main() -> None:
    """Judge everything and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of collections")
    parser.add_argument("--seeds", type=int, default=2, help="draws of samples a topic")
    parser.add_argument("--method", default="", help="names, comma separated; all when empty")
    parser.add_argument("--collection", default="", help=f"names, comma separated; {DEMO} too")
    parser.add_argument("--quick", action="store_true", help="one draw, 300 pages a collection")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", type=Path, help="reliability as .svg or .png")
    parser.add_argument("--corrections", action="store_true", help="F1 after judgements")
    parser.add_argument("--samples", action="store_true", help="F1 from 10, 30, 100 samples")
    arguments = parser.parse_args()
    console = Console()
    try:
        methods = _methods(arguments.method)
        wanted = [name for name in arguments.collection.split(",") if name]
        seeds, most = (1, QUICK_PAGES) if arguments.quick else (arguments.seeds, None)
        asked = list(questions(arguments.data, wanted, seeds, most))
    except QiaoError as error:
        sys.exit(f"relevance.py: {error}")
    if arguments.samples:
        console.print(samples_table(asked, methods if arguments.method else ("blend", "svm")))
        return
    if arguments.corrections:
        steps = list(_kept(corrected(asked, methods[0]), arguments.json))
        console.print(corrections_table(steps, "f1", "F1 after judgements, judged pages decided"))
        console.print(corrections_table(steps, "f1_held_out", "F1 of pages nobody reads"))
        return
    todo = [(method, question) for question in asked for method in methods]
    shown = track(todo, "judging", console=Console(stderr=True), transient=True)
    answers = [answer(method, question) for method, question in shown]
    for table in tables(answers):
        console.print(table)
    console.print(reliability_table(answers, methods[0]))
    if arguments.json:
        write_rows(arguments.json, rows_of(answers))
    if arguments.picture:
        draw(panels(answers), arguments.picture)


def _kept(rows: Iterable[dict[str, object]], file: Path | None) -> Iterator[dict[str, object]]:
    """*rows*, written to *file* as they come: minutes of work outlast an interruption."""
    if file is not None:
        file.write_text("", encoding="utf-8")
    for row in rows:
        if file is not None:
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
        yield row


def _methods(names: str) -> list[str]:
    """The methods asked for, by default all with ours first.

    Raises:
        ConfigError: nobody is called that.
    """
    chosen = [name for name in names.split(",") if name]
    for name in chosen:
        if name not in PEERS:
            page_scorers.get(name)
    ours = sorted(page_scorers.names(), key=lambda name: (name != "blend", name))
    return chosen or [*ours, *PEERS]


if __name__ == "__main__":
    main()
