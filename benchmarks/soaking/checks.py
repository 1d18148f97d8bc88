"""What the soak asks the database: pages lost, false finishes, rows left over, growth."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from benchmarks.soaking.world import ASKED, Article, World
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.raw_pages import load_page
from qiaocrawl.storage.schema import metadata

_TRIES = 60
_EXCEPTION = re.compile(r"^([A-Za-z_.]+(?:Error|Exception|Failure|Interrupt))\b(.{0,120})", re.M)
_ERROR_LINE = re.compile(r"\[([\w.]+)\] (ERROR|CRITICAL): (.{0,160})")
_LISTS = text(
    "SELECT id, url FROM url WHERE state = 3"
    " AND (url LIKE 'http://www.s%.test/' OR url LIKE '%/news/%')"
)
_ARTICLE_LINK = re.compile(r'href="(/2026/\d+\.html)"')


@dataclass
class Checks:
    """Compares the database with the farm.

    Args:
        url: of the database.
        world: what the farm shows.
    """

    url: str
    world: World
    frozen_at: float | None = None
    early: list[str] = field(default_factory=list)
    """Crawls of the sites that said "finished" while pages were missing, or rows open."""
    tables: list[dict[str, int]] = field(default_factory=list)
    tracebacks: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    _site_began: float | None = None
    _missing_by_spider: list[str] = field(default_factory=list)

    def turn_begins(self, spider: str) -> None:
        """A turn of *spider* begins; a crawl of the sites may go on over several."""
        if spider == "site" and self._site_began is None:
            self._site_began = time.time() - self.world.began

    def turn_ended(self, spider: str, *, finished: bool, exact: bool) -> None:
        """All workers of a turn are gone. *exact*: their clocks went right."""
        if not finished:
            return
        waiting = self._open(spider)
        if waiting and spider != "watch":
            self.early.append(f"{spider}: finished, and {waiting} rows open")
        if spider == "site":
            began, self._site_began = self._site_began, None
            missing = self._missing_of_sites(began or 0.0) if exact else []
            linked = self._linked() if missing else set()
            # What watching has taken over is watching's to fetch.
            missing = [
                one for one in missing if one.url in linked and not self._is_watched(one.url)
            ]
            if missing and self.frozen_at is None:
                self.early.append(
                    f"site: finished, and {len(missing)} pages missing, such as {missing[0].url} "
                    f"({self._story(missing[0].url)})"
                )

    def remember_missing(self, spider: str) -> None:
        """How much was missing after each spider of the last round."""
        self._missing_by_spider.append(f"{spider}: {len(self._lost())}")

    def note_tables(self) -> None:
        """Rows of every table now."""
        names = sorted(metadata.tables)
        counts = {name: int(self._rows(f"SELECT COUNT(*) FROM {name}")[0][0]) for name in names}
        self.tables.append(counts)

    def read_log(self, log: Path) -> None:
        """Count tracebacks and errors of one worker's log."""
        log_text = log.read_text("utf-8", "replace")
        for part in log_text.split("Traceback (most recent call last):")[1:]:
            found = _EXCEPTION.search(part)
            self.tracebacks[found.group(0)[:120] if found else "?"] += 1
        for name, _, message in _ERROR_LINE.findall(log_text):
            self.errors[f"{name}: {re.sub(r'[0-9]+', '9', message)[:90]}"] += 1

    def counts(self) -> dict[str, int]:
        """Pages stored, and rows that wait or are in hand."""
        return {
            "pages": int(self._rows("SELECT COUNT(DISTINCT url_id) FROM page_source")[0][0]),
            "open": sum(map(self._open, ("site", "pages", "search", "watch"))),
        }

    def result(self) -> dict[str, object]:
        """All that was found."""
        lost = self._lost() if self.frozen_at is not None else []
        return {
            "pages_stored": self.counts()["pages"],
            "pages_expected": len(self._expected(self._at(), self._at())),
            "pages_lost": len(lost),
            # Their lists were not read since they came out: those that a crawl took for no list.
            "not_found_yet": len(self._not_stored()) - len(lost),
            "farm_began": self.world.began,
            "farm_frozen_at": self.frozen_at,
            "lost": [f"{one.url}: {self._story(one.url)}" for one in lost[:40]],
            "missing_of_misbehaving_hosts": len(self._missing(self._misbehaving())),
            "missing_after": self._missing_by_spider,
            "false_finishes": len(self.early),
            "early": self.early,
            "rows_left_over": dict(self._left_over()),
            "twice": self._twice(),
            "not_taken_for_articles": self._no_articles(),
            "tables": self.tables,
            "tracebacks": dict(self.tracebacks.most_common(30)),
            "errors": dict(self.errors.most_common(30)),
            "outcomes": {
                str(a): int(b)
                for a, b in self._rows("SELECT outcome, COUNT(*) FROM url GROUP BY outcome")
            },
        }

    # --- what ought to be there -----------------------------------------------------------------

    def _at(self) -> float:
        return self.frozen_at if self.frozen_at is not None else time.time() - self.world.began

    def _expected(self, since: float, now: float) -> list[Article]:
        """Articles of hosts that never fail, there from *since* until *now*."""
        return [
            one
            for host in self.world.hosts
            if self.world.is_reachable(host)
            for one in self.world.there(host, now)
            if one.is_there(since)
            and (not self.world.is_found_by_search(host) or any(w in one.title for w in ASKED))
        ]

    def _misbehaving(self) -> list[Article]:
        return [
            one
            for host in self.world.hosts
            if not self.world.is_reachable(host) and not self.world.is_found_by_search(host)
            for one in self.world.there(host, self._at())
        ]

    def _missing(self, expected: list[Article]) -> list[Article]:
        stored = {
            row[0]
            for row in self._rows(
                "SELECT url FROM url WHERE id IN (SELECT url_id FROM page_source)"
            )
        }
        return [one for one in expected if one.url not in stored]

    def _missing_of_sites(self, began: float) -> list[Article]:
        now = self._at()
        return self._missing(
            [
                one
                for one in self._expected(began, now)
                if not self.world.is_found_by_search(one.host)
            ]
        )

    def _lost(self) -> list[Article]:
        """Missing pages that a stored list page links to, or that the engine knows."""
        linked = self._linked()
        return [
            one
            for one in self._not_stored()
            if one.url in linked or self.world.is_found_by_search(one.host)
        ]

    def _not_stored(self) -> list[Article]:
        at = self._at()
        return self._missing(self._expected(at, at))

    def _linked(self) -> set[str]:
        """The articles that list pages link to, as they were read last and are done."""
        urls = set()
        with Database.open(self.url) as database, database.engine.connect() as c:
            for url_id, address in c.execute(_LISTS).all():
                page = load_page(c, url_id)
                if page is not None:
                    host = address.split("/")[2]
                    paths = _ARTICLE_LINK.findall(page.body.decode("utf-8", "replace"))
                    urls |= {f"http://{host}{path}" for path in paths}
        return urls

    def _is_watched(self, address: str) -> bool:
        return bool(
            self._rows(
                "SELECT 1 FROM url WHERE url = :url AND queue = 'watch' AND state IN (0, 1, 2)",
                url=address,
            )
        )

    def _story(self, address: str) -> str:
        """What the row of *address* says, or the list's that should have brought it."""
        rows = self._rows(
            "SELECT state, outcome, reason, attempts, failures, crashes, not_before FROM url "
            "WHERE url = :url",
            url=address,
        )
        if not rows:
            return "no row: never proposed"
        names = ("state", "outcome", "reason", "attempts", "failures", "crashes", "not_before")
        return ", ".join(f"{n} {v}" for n, v in zip(names, rows[0], strict=True))

    # --- the tables -------------------------------------------------------------------------------

    def _open(self, spider: str) -> int:
        return int(
            self._rows(
                "SELECT COUNT(*) FROM url WHERE queue = :queue AND state IN (0, 1, 2)",
                queue=spider,
            )[0][0]
        )

    def _left_over(self) -> list[tuple[str, int]]:
        return [
            (f"{queue} state {state}", int(number))
            for queue, state, number in self._rows(
                "SELECT queue, state, COUNT(*) FROM url WHERE state IN (1, 2) GROUP BY queue, state"
            )
        ]

    def _twice(self) -> int:
        """Articles stored under more than one address."""
        rows = self._rows(
            "SELECT url.url FROM article JOIN url ON url.id = article.url_id "
            "WHERE url.url LIKE '%/2026/%'"
        )
        places = Counter(str(row[0]).partition("?")[0].rstrip("/") for row in rows)
        return sum(number - 1 for number in places.values())

    def _no_articles(self) -> int:
        return int(
            self._rows(
                "SELECT COUNT(*) FROM url WHERE url LIKE '%/2026/%' AND state = 3 "
                "AND outcome NOT IN ('article', 'dead', 'blocked')"
            )[0][0]
        )

    def _rows(self, query: str, **values: object) -> list[tuple[Any, ...]]:
        for _ in range(_TRIES):
            try:
                with Database.open(self.url) as database, database.engine.connect() as c:
                    return [tuple(row) for row in c.execute(text(query), values)]
            except OperationalError:
                time.sleep(1)
        raise TimeoutError("the database does not come back")
