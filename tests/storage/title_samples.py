"""Titles for the tests of shared titles: stories with copies, stored through a runtime."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, text
from storage_samples import add_topic, put_article

from qiaocrawl.items import Verdict
from qiaocrawl.options import Options
from qiaocrawl.runtime import Runtime
from qiaocrawl.storage import Database

_LETTERS = (
    "侨乡老人归国华文教育博物馆开幕旅行东南亚港口船队粮食丰收茶叶出口春节灯会舞狮剪纸书画展览"
    "篮球决赛冠军医院义诊桥梁通车铁路隧道风电渔港台风救援图书捐赠奖学金留学生实验室卫星月球"
)
_FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
HOSTS = ("www.a-qiao.cn", "www.b-news.cn", "c.example", "d.example")


@dataclass(frozen=True)
class Sample:
    """A title to store; copies of one story differ in marks only."""

    number: int
    story: int
    title: str

    @property
    def host(self) -> str:
        """One of four sites, two of which a topic knows."""
        return HOSTS[self.number % len(HOSTS)]

    @property
    def published_at(self) -> datetime | None:
        """Some copies have none, some the same."""
        return None if self.number % 7 == 3 else _FIRST_DAY + timedelta(days=self.number % 5)


def samples(count: int, stories: int) -> list[Sample]:
    """*count* titles of *stories* stories, shuffled, always the same."""
    rng = random.Random(20260101)
    titles = ["".join(rng.sample(_LETTERS, 14)) for _ in range(stories)]
    found = []
    for number in range(count):
        story = number % stories
        head = titles[story]
        title = (head, f"{head}！", f"“{head}”", f" {head} ")[number // stories % 4]
        found.append(Sample(number, story, title))
    rng.shuffle(found)
    return found


def made(database_url: str) -> None:
    """The tables and a topic."""
    with Database.open(database_url) as database:
        database.upgrade()
        add_topic(database)


@contextmanager
def runtime_on(database_url: str, **given: object) -> Iterator[Runtime]:
    """One process's runtime."""
    options = Options.from_environment({"QIAO_DATABASE_URL": database_url, **given})
    opened = Runtime(options, crawling=False)
    try:
        yield opened
    finally:
        opened.close()


def judge(runtime: Runtime, c: Connection, path: str, **fields: object) -> Verdict:
    """Store an article, its body unlike all others, and its verdict in *c*'s transaction."""
    values = {"body": f"第{path}篇正文：{fields.get('title')}。", **fields}
    return runtime.titles.judge(c, put_article(c, path, **values))  # type: ignore[arg-type]


def store(runtime: Runtime, chosen: Sequence[Sample]) -> list[Verdict]:
    """Store *chosen* as a crawl does: all queued, many to a transaction."""
    futures = [
        runtime.writer.submit(
            lambda c, one=one: judge(  # type: ignore[misc]
                runtime, c, str(one.number), host=one.host, title=one.title,
                published_at=one.published_at,
            ), runtime.titles.lock,
        )
        for one in chosen
    ]  # fmt: skip
    return [future.result(60) for future in futures]


def groups(runtime: Runtime) -> dict[str, frozenset[str]]:
    """The URLs of each group's articles by the URL that represents it."""
    found: dict[str, set[str]] = defaultdict(set)
    rows = runtime.reader.run(lambda c: c.execute(text(
        "SELECT h.url, u.url FROM verdict v JOIN article a ON a.id = v.article_id"
        " JOIN url u ON u.id = a.url_id JOIN article g ON g.id = v.group_id"
        " JOIN url h ON h.id = g.url_id"
    )).all())
    for head, url in rows:
        found[head].add(url)
    return {head: frozenset(urls) for head, urls in found.items()}


def by_story(chosen: Sequence[Sample]) -> set[frozenset[str]]:
    """The URLs of each story's samples."""
    found: dict[int, set[str]] = defaultdict(set)
    for one in chosen:
        found[one.story].add(f"http://{one.host}/{one.number}")
    return {frozenset(urls) for urls in found.values()}
