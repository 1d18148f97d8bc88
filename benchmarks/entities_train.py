"""Trains the tagger that comes along, of sentences this project wrote.

    python benchmarks/entities_train.py [--sentences 12000] [--out FILE]

The sentences are in ``named/sentences.txt`` and in the demo's stories; their names come from
jieba's dictionary (MIT) and our gazetteers. No collection of others' texts is read: see
docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from benchmarks.named.sources import written_texts
from qiaocrawl.news.names.training import TrainingPlan, train_tagger

OUT = PROJECT / "qiaocrawl" / "analysis" / "entities" / "data" / "tagger.npz.xz"
_PLAN = TrainingPlan(rounds=4, least_count=4)


def main() -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sentences", type=int, default=12_000, help="how many to fill")
    parser.add_argument("--out", type=Path, default=OUT, help="the model's file")
    arguments = parser.parse_args()
    model = train_tagger(
        written_texts(arguments.sentences),
        learnt_from="sentences of this project, names of jieba's dictionary",
        plan=_PLAN,
        report=lambda number, loss: print(f"round {number}: loss {loss:.3f}", flush=True),
    )
    model.write(arguments.out)
    print(
        f"{arguments.out}: {len(model.hashes):,} features, {arguments.out.stat().st_size:,} bytes"
    )


if __name__ == "__main__":
    main()
