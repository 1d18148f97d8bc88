"""The demo's articles against the demo web's own truth.

    python benchmarks/demo_score.py [--database data/demo/demo.db] [--json FILE]

Without a database the demo is run first, in a temporary folder. Beside our row stand the same
articles judged by the naive way: everything between the tags as the body, and every page on
topic.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table
from sqlalchemy import select

from benchmarks.demo_scores import Score, ScoredArticle, score
from benchmarks.rows import write_rows
from qiaocrawl.cli.demo import run_demo
from qiaocrawl.demo.web import DemoWeb, build_web
from qiaocrawl.page.page import parse_page
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.raw_pages import load_page
from qiaocrawl.storage.schema import article, relevance, url, verdict

_ARTICLES = (
    select(
        url.c.id,
        url.c.url,
        article.c.title,
        article.c.text,
        article.c.published_at,
        article.c.author,
        article.c.source,
        relevance.c.relevant,
        verdict.c.group_id,
    )
    .join(url, url.c.id == article.c.url_id)
    .outerjoin(relevance, relevance.c.article_id == article.c.id)
    .outerjoin(verdict, verdict.c.article_id == article.c.id)
)


def stored_articles(database: Database) -> list[ScoredArticle]:
    """The stored articles as the scorer takes them."""
    with database.engine.connect() as c:
        return [
            ScoredArticle(
                address, title, body, _utc(published), author, source, bool(relevant), group
            )
            for _, address, title, body, published, author, source, relevant, group in c.execute(
                _ARTICLES
            )
        ]


def _utc(stored: datetime | None) -> datetime | None:
    return None if stored is None else stored.replace(tzinfo=UTC)


def naive_articles(database: Database) -> list[ScoredArticle]:
    """The same pages with all their visible text as the body, all on topic, no groups."""
    articles = []
    with database.engine.connect() as c:
        for row in c.execute(_ARTICLES).all():
            stored = load_page(c, row.id)
            assert stored is not None
            page = parse_page(stored.body, stored.header("content-type"), stored.url)
            articles.append(
                ScoredArticle(
                    row.url, page.title, "\n".join(page.texts), None, "", "", True, row.id
                )
            )
    return articles


def _rows(web: DemoWeb, database: Database) -> list[dict[str, object]]:
    return [
        {"method": "qiaocrawl", **_row(score(web, stored_articles(database)))},
        {"method": "all text", **_row(score(web, naive_articles(database)))},
    ]


def _row(found: Score) -> dict[str, object]:
    """The score flat: ``topic_precision``, ``topic_recall`` … for the nested rates."""
    flat: dict[str, object] = {}
    for name, value in asdict(found).items():
        parts = value.items() if isinstance(value, dict) else [("", value)]
        flat |= {f"{name}_{part}".rstrip("_"): number for part, number in parts}
    return flat


def main() -> None:
    """Score a demo database and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--database", type=Path, help="SQLite file of a finished demo")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as name:
        file: Path | None = arguments.database
        if file is None:
            run_demo(Path(name), console)
            file = Path(name) / "demo.db"
        database = Database.open(f"sqlite:///{file}")
        database.require_current()
        rows = _rows(build_web(), database)
        database.close()
    table = Table("", *(str(row["method"]) for row in rows))
    for key in rows[0]:
        if key != "method":
            table.add_row(
                key,
                *(
                    f"{row[key]:.3f}" if isinstance(row[key], float) else str(row[key])
                    for row in rows
                ),
            )
    console.print(table)
    if arguments.json:
        write_rows(arguments.json, rows)


if __name__ == "__main__":
    main()
