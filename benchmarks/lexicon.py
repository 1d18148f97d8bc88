"""The lexicon: keyphrases of texts, key terms of a category, new words.

    python benchmarks/lexicon.py --data DIR [--task keywords,key_terms,new_words,new_topics,loop]
        [--train] [--json FILE]

DIR holds ``analysis/keywords/csl.jsonl.gz`` (texts with their authors' keywords) and ``focus/``
(collections of pages with the tags of their editors). What is not there is skipped and said so.
Keyphrases: weights were fitted on the half of the texts whose digest is even (``--train`` prints
them anew), figures are of the other half. Key terms: a category's texts are halved by URL; the
lexicon reads one half, and is asked for the tags of the other. New words: a fifth of the
dictionary's words of two to four letters is withheld from the segmenter; precision is a floor.
New topics: packs that ``topic new`` makes of 30 pages of a category, beside the category's query
and a support vector machine (scikit-learn's where it is installed) on the same samples;
counter-examples are those of the topic tree. Loop: four rounds of words, search and what it brought
(``lexicons/loop.py``), beside five words that stay.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table

from benchmarks.lexicons import key_terms, keywords, loop, new_topics, withheld_words
from benchmarks.rows import write_rows

Row = dict[str, object]


def keyword_rows(data: Path) -> Iterator[Row]:
    """F at 5 and 10 of keyphrases."""
    if not (data / keywords.FILE).is_file():
        _skip("keywords", data / keywords.FILE)
        return
    for method, figures in keywords.scores(keywords.read_abstracts(data)).items():
        for metric, value in figures.items():
            yield _row("keywords", keywords.SET, method, metric, value)


def key_term_rows(data: Path) -> Iterator[Row]:
    """Share of the withheld tags among the first 100 and 300 terms, by category and as a mean."""
    if not (data / "focus").is_dir():
        _skip("key_terms", data / "focus")
        return
    sums: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for category in key_terms.categories(data):
        for method, rank in key_terms.methods().items():
            terms = rank(category)
            for depth in key_terms.DEPTHS:
                share = key_terms.share_found(category, terms, depth)
                sums[category.collection, method, f"recall_at_{depth}"].append(share)
    for (collection, method, metric), shares in sums.items():
        yield _row("key_terms", collection, method, metric, sum(shares) / len(shares))


def new_word_rows(data: Path) -> Iterator[Row]:
    """Precision of new words, and megabytes a second of the pass that counts bonds."""
    if not (data / "focus").is_dir():
        _skip("new_words", data / "focus")
        return
    for task in withheld_words.tasks(data):
        ranked, speed = withheld_words.rankings(task)
        for method, words in ranked.items():
            for depth in withheld_words.DEPTHS:
                value = withheld_words.precision(task, words, depth)
                yield _row("new_words", task.collection, method, f"p_at_{depth}", value)
        rate = speed.megabytes / speed.seconds
        yield _row("new_words", task.collection, "ours", "megabytes_per_second", rate)


def new_topic_rows(data: Path) -> Iterator[Row]:
    """F1, precision and recall of packs made of 30 samples, by category."""
    if not (data / "focus").is_dir():
        _skip("new_topics", data / "focus")
        return
    for task in new_topics.new_topics(data):
        for method, judge in new_topics.methods().items():
            for metric, value in new_topics.scores(task, judge(task)).items():
                yield _row("new_topics", f"{task.collection} {task.topic}", method, metric, value)


def loop_rows(data: Path) -> Iterator[Row]:
    """Coverage of the pages on topic after each round of ten queries, from five words."""
    if not (data / "focus").is_dir():
        _skip("loop", data / "focus")
        return
    for web in loop.webs(data):
        for method, run in loop.METHODS.items():
            for number, coverage in enumerate(run(web), 1):
                yield _row("loop", web.name, method, f"coverage_{number}", coverage)


TASKS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "keywords": keyword_rows,
    "key_terms": key_term_rows,
    "new_words": new_word_rows,
    "new_topics": new_topic_rows,
    "loop": loop_rows,
}


def main() -> None:
    """Run the tasks and print a table each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of test data")
    parser.add_argument("--task", default=",".join(TASKS), help="names, comma separated")
    parser.add_argument("--train", action="store_true", help="fit the weights of keyphrases anew")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    chosen = [name for name in arguments.task.split(",") if name]
    if unknown := [name for name in chosen if name not in TASKS]:
        sys.exit(f"lexicon.py: --task {unknown[0]!r} must be of {', '.join(TASKS)}")
    if arguments.train:
        weights = keywords.fitted(keywords.read_abstracts(arguments.data))
        print("weights:", ", ".join(f"{weight:.2f}" for weight in weights))
    rows = [row for name in chosen for row in TASKS[name](arguments.data)]
    for name in chosen:
        if own := [row for row in rows if row["task"] == name]:
            Console().print(_table(name, own))
    if arguments.json:
        write_rows(arguments.json, rows)


def _table(name: str, rows: list[Row]) -> Table:
    metrics = list(dict.fromkeys(str(row["metric"]) for row in rows))
    table = Table("set", "method", *metrics, title=name)
    for place in dict.fromkeys((str(row["set"]), str(row["method"])) for row in rows):
        own = {row["metric"]: row["value"] for row in rows if (row["set"], row["method"]) == place}
        table.add_row(*place, *(f"{own[key]:.3f}" if key in own else "" for key in metrics))
    return table


def _row(task: str, set_: str, method: str, metric: str, value: float) -> Row:
    return {"task": task, "set": set_, "method": method, "metric": metric, "value": value}


def _skip(task: str, path: Path) -> None:
    print(f"{task}: skipped, there is no {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
