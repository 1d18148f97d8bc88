"""Paged articles: parts come in any order, and what is stored depends on the parts alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import Connection, text

from fresh_schema import make_tables
from qiaocrawl.dedup.fingerprints import body_digest
from qiaocrawl.extract.paging import join_parts
from qiaocrawl.extract.structure.html import paragraphs
from qiaocrawl.items import Lease, Outcome, PageAnalysis, Relevance
from qiaocrawl.items.article import ArticlePart
from qiaocrawl.options import Options
from qiaocrawl.reading.records import iter_articles, iter_pages
from qiaocrawl.runtime.analysis_setup import JoinedText
from qiaocrawl.runtime.articles import (
    AssembledArticle,
    add_part,
    assembled_of,
    head_alone,
)
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database, frontier, upkeep
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.pages import article_parts
from qiaocrawl.storage.pages.articles import MAX_TITLE_CHARS
from qiaocrawl.storage.pages.raw_pages import store_page
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.titles import title_log
from qiaocrawl.urls import url_key as real_key
from storage_samples import (
    FETCHED_AT,
    NOW,
    PACK,
    SITE,
    add_topic,
    analysed,
    candidate,
    close,
    counts,
    enqueue,
    fetched,
    scalar,
    take,
    url_key,
)

URLS = ("http://a.example/n/1.html", "http://a.example/n/1_2.html", "http://a.example/n/1_3.html")
TEXTS = ("侨胞回乡办厂。", "厂房建在老街边。", "乡亲们都来上工。")
TITLE = "侨胞回乡办厂"


@pytest.fixture
def runtime(database_url: str) -> Iterator[Runtime]:
    with Database.open(database_url) as database:
        make_tables(database)
        add_topic(database)
    opened = Runtime(Options.from_environment({"QIAO_DATABASE_URL": database_url}))
    yield opened
    opened.close()


def part(
    number: int, *, alone: bool = True, text: str = "", urls: Sequence[str] = URLS
) -> PageAnalysis:
    """The analysis of part *number* as a worker makes it."""
    page = analysed(
        URLS[number - 1],
        f"{TITLE}（{number}）" if number > 1 else TITLE,
        text or TEXTS[number - 1],
        author=f"作者{number}",
        html=f"<h2>{number}</h2>\n{paragraphs(text or TEXTS[number - 1])}",
        published_at=datetime(2026, 5, number, tzinfo=UTC),
        modified_at=datetime(2026, 6, number, tzinfo=UTC),
    )
    return replace(
        page, outcome=Outcome.ARTICLE if number == 1 else Outcome.PART,
        part=ArticlePart(number, tuple(urls), alone),
    )  # fmt: skip


def lease_of(c: Connection, number: int) -> Lease:
    """Offer, lease and fetch the page of part *number*."""
    enqueue(c, [candidate(URLS[number - 1].removeprefix("http://a.example/"))])
    (lease,) = take(c)
    store_page(c, lease, fetched(lease), now=NOW)
    return lease


def whole(group: article_parts.PartGroup | None) -> AssembledArticle:
    """What the pool would make of *group*."""
    assert group is not None
    if not group.is_article:
        return AssembledArticle(group, None)
    text = join_parts([part.text for part in group.texts])
    html = join_parts([part.html for part in group.texts])
    judged = Relevance(PACK.name, len(text) / 100, True, "vsm")
    return assembled_of(group, JoinedText(text, html, body_digest(text), (judged,)))


def bring(runtime: Runtime, number: int, analysis: PageAnalysis | None = None) -> None:
    """One part all the way: stored, joined with the others, closed."""
    analysis = analysis or part(number)
    with runtime.database.engine.begin() as c:
        lease = lease_of(c, number)
    with runtime.database.engine.begin() as c:
        group = add_part(c, lease, analysis)
    found = whole(group)
    for _ in range(2):  # a replayed transaction writes the same
        with runtime.database.engine.begin() as c:
            assert article_parts.is_current(c, found.group)
            outcome = found.group.outcome(number)
            assert frontier.complete(
                c,
                lease,
                outcome=outcome,
                reason=analysis.reason,
                http_status=200,
                redirect_key=None,
                now=NOW,
            )
            runtime.articles.save_assembled(c, found, own_url_id=lease.url_id)


def stored(runtime: Runtime) -> list[tuple[object, ...]]:
    """URL, title, author, text and relevance of every article."""
    with runtime.database.engine.connect() as c:
        rows = c.execute(
            text(
                "SELECT u.url, a.title, a.author, a.text, r.score, v.kind FROM article a"
                " JOIN url u ON u.id = a.url_id LEFT JOIN relevance r ON r.article_id = a.id"
                " LEFT JOIN verdict v ON v.article_id = a.id ORDER BY u.url"
            )
        )
        return [(*row[:3], unpack_text(row[3]), *row[4:]) for row in rows]


def told(runtime: Runtime) -> list[tuple[object, ...]]:
    """Outcome and reason of every URL, by URL."""
    with runtime.database.engine.connect() as c:
        rows = c.execute(text("SELECT outcome, reason FROM url ORDER BY url"))
        return [tuple(row) for row in rows]


@pytest.mark.parametrize(
    ("database_url", "order"),
    [
        *(("sqlite", order) for order in itertools.permutations((1, 2, 3))),
        *(pytest.param("mariadb", order, marks=pytest.mark.mariadb)
          for order in ((1, 2, 3), (2, 3, 1), (3, 1, 2))),
    ],
    indirect=["database_url"],
)  # fmt: skip
def test_any_order_gives_the_same_article(runtime: Runtime, order: tuple[int, ...]) -> None:
    for number in order:
        bring(runtime, number)
    text_of_all = "\n".join(TEXTS)
    with runtime.database.engine.connect() as c:
        (record,) = iter_articles(c, Selection())
    assert record.modified_at == datetime(2026, 6, 1, tzinfo=UTC)
    assert record.markdown == "\n\n".join(f"## {n}\n\n{TEXTS[n - 1]}" for n in (1, 2, 3))
    assert stored(runtime) == [
        (URLS[0], TITLE, "作者1", text_of_all, len(text_of_all) / 100, "distinct")
    ]
    assert told(runtime) == [
        ("article", None), ("part", f"part 2 of 3 of {URLS[0]}"),
        ("part", f"part 3 of 3 of {URLS[0]}"),
    ]  # fmt: skip
    with runtime.database.engine.connect() as c:
        digest = c.execute(text("SELECT body_digest FROM article")).scalar_one()
        assert bytes(digest) == body_digest(text_of_all)


def test_without_its_first_page_an_article_stands_at_its_lowest(runtime: Runtime) -> None:
    bring(runtime, 3)
    assert [row[0] for row in stored(runtime)] == [URLS[2]]
    bring(runtime, 2)
    assert stored(runtime) == [
        (URLS[1], f"{TITLE}（2）", "作者2", "\n".join(TEXTS[1:]), 0.17, "distinct")
    ]
    assert told(runtime)[0] == (
        "part",
        (
            f"part 2 of 3 of {URLS[0]}; the article stands here,"
            " since its first part did not come; "
            "not here: part 1"
        ),
    )
    with runtime.database.engine.connect() as c:
        (entry,) = (one for one in title_log.entries_since(c, 0, 10) if one.counts)
        assert entry.record.key == real_key(URLS[1])
        before = scalar(c, "SELECT id FROM article")
    bring(runtime, 1)
    with runtime.database.engine.connect() as c:
        assert scalar(c, "SELECT id FROM article") == before, "the article moves, it is no other"
        assert {one.record.key: one.article_id for one in title_log.entries_since(c, 0, 10)} == {
            **dict.fromkeys(map(real_key, URLS[1:])), real_key(URLS[0]): before,
        }  # fmt: skip
    assert len(runtime.articles.titles) == 1


def test_a_missing_part_is_told(runtime: Runtime) -> None:
    bring(runtime, 1)
    assert told(runtime) == [("article", "not here: part 2, 3")]
    bring(runtime, 3)
    assert told(runtime)[0] == ("article", "not here: part 2")


def test_a_short_last_part_belongs_to_it_and_alone_is_no_article(runtime: Runtime) -> None:
    short = replace(part(3, alone=False, text="（完）"), reason="no body: body has 3 characters")
    bring(runtime, 3, short)
    assert stored(runtime) == []
    assert told(runtime)[0][0] == "not_article"
    bring(runtime, 1)
    assert stored(runtime)[0][3] == f"{TEXTS[0]}\n（完）"
    assert told(runtime)[1] == ("part", f"no body: body has 3 characters; part 3 of 3 of {URLS[0]}")


def test_what_was_joined_from_older_parts_is_out_of_date(runtime: Runtime) -> None:
    with runtime.database.engine.begin() as c:
        first = lease_of(c, 1)
        second = lease_of(c, 2)
        early = add_part(c, first, part(1))
        late = add_part(c, second, part(2))
        assert early is not None
        assert late is not None
        assert not article_parts.is_current(c, early)
        assert article_parts.is_current(c, late)
        # The same part read anew, with another text.
        add_part(c, first, part(1, text="侨胞又回乡。"))
        assert not article_parts.is_current(c, late)


def test_a_lost_lease_stores_nothing(runtime: Runtime) -> None:
    with runtime.database.engine.begin() as c:
        lease = lease_of(c, 2)
        frontier.recover(c, SITE, now=NOW + 90, all_dead=True)
        take(c, token=2, now=NOW + 91)
        assert add_part(c, lease, part(2)) is None
        assert counts(c)["article_part"] == 0


def test_pages_stored_as_articles_before_become_one(runtime: Runtime) -> None:
    with runtime.database.engine.begin() as c:
        for number in (1, 2):
            lease = lease_of(c, number)
            runtime.articles.save(c, lease.url_id, analysed(lease.url), anchor="")
            assert close(c, lease)
            article_parts.save_part(c, lease.url_id, part(number))
        group = article_parts.load_group(c, real_key(URLS[0]))
        runtime.articles.save_assembled(c, whole(group))
    assert [row[0] for row in stored(runtime)] == [URLS[0]]
    assert [outcome for outcome, _ in told(runtime)] == ["article", "part"]


def test_a_part_may_leave_its_group(runtime: Runtime) -> None:
    bring(runtime, 1)
    bring(runtime, 2)
    with runtime.database.engine.begin() as c:
        url_id = scalar(c, "SELECT url_id FROM article_part WHERE number = 1")
        key = real_key(URLS[0])
        assert article_parts.drop_part(c, url_id) == key
        assert article_parts.drop_part(c, url_id) is None
        group = article_parts.load_group(c, key)
        assert group is not None
        assert group.head.number == 2
        other = ("http://a.example/m/9.html", URLS[1])
        assert article_parts.save_part(c, group.head.url_id, part(2, urls=other)) == key
        assert article_parts.load_group(c, key) is None
        assert article_parts.load_group(c, real_key(other[0])) is not None


def test_of_two_pages_with_one_number_one_counts(runtime: Runtime) -> None:
    with runtime.database.engine.begin() as c:
        enqueue(c, [candidate("n/1.html"), candidate("n/1.html?from=x")])
        for lease in take(c):
            add_part(c, lease, part(1, text=lease.url))
        group = article_parts.load_group(c, real_key(URLS[0]))
        assert group is not None
        assert len(group.state) == 2
        first = min((URLS[0], f"{URLS[0]}?from=x"), key=url_key)
        assert [part.text for part in group.texts] == [first]


def test_what_cannot_be_joined_keeps_the_heads_text(runtime: Runtime) -> None:
    bring(runtime, 1)
    with runtime.database.engine.begin() as c:
        group = article_parts.load_group(c, real_key(URLS[0]))
        assert group is not None
        runtime.articles.save_assembled(c, head_alone(group, None))
    assert [row[3] for row in stored(runtime)] == [TEXTS[0]]


def test_pages_of_parts_are_evidence_and_exported(runtime: Runtime) -> None:
    for number in (1, 2):
        bring(runtime, number)
    with runtime.database.engine.begin() as c:
        assert upkeep.prune(c, FETCHED_AT.replace(year=2030), dry_run=True).pages == 0
        judged = Selection(topic=PACK.name, only_relevant=True)
        assert sorted(page.url for page in iter_pages(c, judged)) == list(URLS[:2])


def test_hostile_fields_are_stored_cut(runtime: Runtime) -> None:
    page = part(1)
    assert page.article is not None
    huge = replace(
        page, article=replace(page.article, title="侨\0" * 9_000, keywords="词\ud800" * 90_000),
        title_tokens=("侨",) * 50_000,
    )  # fmt: skip
    bring(runtime, 1, huge)
    assert len(str(stored(runtime)[0][1])) == MAX_TITLE_CHARS
