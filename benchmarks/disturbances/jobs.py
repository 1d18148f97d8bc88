"""What the durability campaigns crawl: one site for each spider, and what must be true after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy import text

from benchmarks.disturbances.walled_site import LOGIN, PASSWORD, RECIPE, USER, WalledSite
from benchmarks.local_site import HOST, WRITTEN, LocalSite
from qiaocrawl.fetch.sessions.accounts import Credentials, owner_name
from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.storage import Database
from qiaocrawl.storage.sites.accounts import add_account
from qiaocrawl.topic.pack import Site, Term, TopicPack

TOPIC = "durability"
Judgement = tuple[list[str], dict[str, int]]
"""What is wrong, and figures to report."""


def _nothing(database: Database) -> None:
    """Prepare nothing."""


def _judge(database: Database, hits: Mapping[str, int]) -> Judgement:
    """What must be true of every crawl."""
    wrong = []
    if left := _number(database, "SELECT COUNT(*) FROM url WHERE state IN (0, 1, 2)"):
        wrong.append(f"{left} rows are left over")
    twice = _number(database, "SELECT COUNT(*) - COUNT(DISTINCT url_id) FROM visit")
    return wrong, {"visits logged twice": twice}


@dataclass(frozen=True)
class Job:
    """A site, the spider that crawls it and how.

    Attributes:
        arguments: of `scrapy crawl SPIDER`.
        prepare: done once the tables are there.
        judge: what is wrong in the database of a crawl that is over; hits by path.
    """

    spider: str
    site: LocalSite
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    renders: bool = False
    prepare: Callable[[Database], None] = _nothing
    judge: Callable[[Database, Mapping[str, int]], Judgement] = _judge

    @property
    def pack(self) -> TopicPack:
        """The topic with its one site."""
        return TopicPack(
            name=TOPIC, title="基准", description="", threshold=0.1,
            terms=(Term("侨胞", "core"),), samples=(),
            sites=(Site(HOST, "基准网", "authoritative", 1, "境内", "news",
                        render=self.renders),),
        )  # fmt: skip


def site_job(pages: int, folder: Path, strategy: str) -> Job:
    """The deep crawl of a tree of pages."""
    return Job("site", LocalSite.build(pages), (
        "-a", f"start=http://{HOST}/", "-a", f"strategy={strategy}",
        "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8"))  # fmt: skip


def watch_job(pages: int, folder: Path, strategy: str) -> Job:
    """Watching a newsroom: home page, lists and what they bring."""
    return Job(
        "watch",
        LocalSite.newsroom(pages),
        ("-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8"),
        environment={"QIAO_WATCH_ARTICLE_HOURS": "1,8000"},
        judge=_judge_watch,
    )


def _judge_watch(database: Database, hits: Mapping[str, int]) -> Judgement:
    """Every list is watched and was visited, every article is; every visit was counted."""
    wrong, figures = _judge(database, hits)
    lists = sum(path.startswith("/list/") for path in hits) + 1
    visited = _number(database, "SELECT COUNT(*) FROM watched_page WHERE visits > 0")
    if visited != lists:
        wrong.append(f"{visited} of {lists} lists were visited, by the schedule")
    articles = _number(database, "SELECT COUNT(*) FROM article")
    watched = _number(database, "SELECT COUNT(*) FROM watched_article")
    if watched != articles:
        wrong.append(f"{watched} of {articles} articles are looked at again")
    counted = _number(database, "SELECT SUM(pages) + SUM(articles) + SUM(looks) FROM watch_day")
    fetched = sum(number for path, number in hits.items() if path != "/robots.txt")
    stored = _number(database, "SELECT COUNT(*) FROM visit")
    if not stored <= counted <= fetched:
        wrong.append(f"{counted} visits counted, of {stored} stored and {fetched} made")
    return wrong, {**figures, "visits counted": counted, "visits made": fetched}


def render_job(pages: int, folder: Path, strategy: str) -> Job:
    """The deep crawl of a site that its scripts write, in a browser."""
    return Job(
        "site",
        LocalSite.scripted(pages),
        ("-a", f"strategy={strategy}"),
        environment={"QIAO_RENDER": "sites", "QIAO_EXTRACT_SECONDS": "30"},
        renders=True,
        judge=partial(_judge_rendered, pages - 1),
    )


def _judge_rendered(articles: int, database: Database, hits: Mapping[str, int]) -> Judgement:
    """Every article says what its script wrote."""
    wrong, figures = _judge(database, hits)
    rendered = _number(database, f"SELECT COUNT(*) FROM article WHERE text LIKE '%{WRITTEN}%'")
    if rendered != articles:
        wrong.append(f"{rendered} of {articles} articles were rendered")
    return wrong, figures


def login_job(pages: int, folder: Path, strategy: str) -> Job:
    """The deep crawl of a site for members, with one account."""
    recipes = folder / "recipes"
    recipes.mkdir(exist_ok=True)
    (recipes / "durability.toml").write_text(RECIPE, "utf-8")
    key = new_key()
    return Job(
        "site", WalledSite(LocalSite.newsroom(pages).pages),
        ("-a", f"strategy={strategy}", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8"),
        environment={"QIAO_SESSIONS": "durability", "QIAO_SECRET_KEY": key,
                     "QIAO_LOGINS_DIR": str(recipes)},
        prepare=partial(_keep_account, Vault.from_option(key)), judge=_judge_logins,
    )  # fmt: skip


def _keep_account(vault: Vault, database: Database) -> None:
    secret = Credentials(USER, PASSWORD).seal(vault, owner_name("durability", USER))
    with database.engine.begin() as c:
        add_account(c, "durability", USER, secret, now=datetime.now(UTC))


def _judge_logins(database: Database, hits: Mapping[str, int]) -> Judgement:
    """The session is kept, and no page was taken for the login form."""
    wrong, figures = _judge(database, hits)
    if not _number(
        database, "SELECT COUNT(*) FROM account WHERE state = 'active' AND LENGTH(session) > 0"
    ):
        wrong.append("the session was lost")
    if walled := _number(
        database, "SELECT COUNT(*) FROM url WHERE outcome = 'login' AND url NOT LIKE '%/login'"
    ):
        wrong.append(f"{walled} pages ended as a login form")
    return wrong, {**figures, "logins": hits.get(LOGIN, 0)}


JOBS: dict[str, Callable[[int, Path, str], Job]] = {
    "site": site_job,
    "watch": watch_job,
    "render": render_job,
    "login": login_job,
}
"""By the name of what is under fire."""


def _number(database: Database, query: str) -> int:
    with database.engine.connect() as c:
        return int(c.execute(text(query)).scalar_one() or 0)
