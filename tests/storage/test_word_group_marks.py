"""Articles are marked with groups of words: as they are stored, and after groups changed."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, insert, select

from qiaocrawl.errors import TopicError
from qiaocrawl.lexicon.term_groups import TermGroup
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.reprocessing import drop_article
from qiaocrawl.storage.schema import article, word_group, word_group_hit
from qiaocrawl.storage.selection import Selection, article_conditions
from qiaocrawl.storage.topics.word_groups import (
    articles_left,
    drop_group,
    group_states,
    groups_of_articles,
    hit_counts,
    keep_groups,
    kept_groups,
    mark_some,
    newest_hits,
    require_groups,
    sweep_hits,
)
from storage_samples import (
    PACK,
    add_topic,
    analysed,
    candidate,
    enqueue,
    put_article,
    scalar,
)
from title_samples import made, runtime_on

FIRE, SCHOOL = TermGroup("火灾", ("失火", "起火")), TermGroup("学校", ("小学",), none_of=("失火",))
NEAR = TermGroup("受骗", near=(("侨胞", "诈骗"),), within_chars=5)
NUMBERS = "子丑寅卯辰巳午未"
TEXTS = ("仓库失火", "小学开学", "小学失火", "侨胞防范诈骗", "侨胞开会讨论如何防范诈骗", "无关")


@pytest.fixture
def runtime(database_url: str):  # type: ignore[no-untyped-def]
    made(database_url)
    with runtime_on(database_url) as opened:
        yield opened


def keep(runtime: Runtime, *groups: TermGroup) -> list[str]:
    return runtime.write_now(lambda c: keep_groups(c, PACK.name, groups))


def store(runtime: Runtime, *bodies: str) -> None:
    """Articles ``a-0`` and so on, stored as a crawl does."""

    def operation(c: Connection) -> None:
        for number, body in enumerate(bodies):
            one = candidate(f"a-{number}")
            enqueue(c, [one])
            url_id = scalar(c, "SELECT id FROM url WHERE `key` = :key", key=one.key)
            # Other titles, or they were copies of each other.
            analysis = analysed(one.url, f"{number}号{NUMBERS[number] * 4}", body)
            runtime.articles.save(c, url_id, analysis, anchor="")

    runtime.write_now(operation)


def marks(runtime: Runtime) -> dict[str, set[str]]:
    """The texts that each group touches, as they are marked and as a list finds them."""

    def operation(c: Connection) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for state in group_states(c, PACK.name):
            chosen = Selection(groups=(state.group.name,))
            rows = c.execute(select(article.c.id, article.c.text).where(
                *article_conditions(c, chosen)
            )).all()  # fmt: skip
            found[state.group.name] = {row.text for row in rows}
            assert set(newest_hits(c, state.version, [], 100)) == {row.id for row in rows}
            counted = hit_counts(c, [state.version], [])
            assert (counted[state.version].articles if counted else 0) == len(rows)
        return found

    return runtime.reader.run(operation)


def mark_all(runtime: Runtime, most: int = 2) -> int:
    steps = 0
    while runtime.write_now(lambda c: mark_some(c, most)).left:
        steps += 1
    return steps


EXPECTED = {
    "火灾": {"仓库失火", "小学失火"},
    "学校": {"小学开学"},
    "受骗": {"侨胞防范诈骗"},
}


def test_an_article_is_marked_in_the_transaction_that_stores_it(runtime: Runtime) -> None:
    keep(runtime, FIRE, SCHOOL, NEAR)
    assert mark_all(runtime) == 0, "there is nothing to be marked yet"
    store(runtime, *TEXTS)
    assert marks(runtime) == EXPECTED
    # Stored anew with another text, and gone.
    store(runtime, "侨胞谈起火", *TEXTS[1:])
    assert marks(runtime)["火灾"] == {"侨胞谈起火", "小学失火"}

    def drop(c: Connection) -> None:
        url_id = c.execute(
            select(article.c.url_id).where(article.c.title.startswith("2"))
        ).scalar_one()
        drop_article(c, url_id)

    runtime.write_now(drop)
    assert marks(runtime)["火灾"] == {"侨胞谈起火"}


def test_what_was_stored_before_a_group_is_marked_bit_by_bit(runtime: Runtime) -> None:
    store(runtime, *TEXTS)
    keep(runtime, FIRE)

    def left(c: Connection) -> int:
        return require_groups(c, PACK.name, ["火灾"])

    assert marks(runtime) == {"火灾": set()}
    before = runtime.reader.run(left)
    assert before >= len(TEXTS)
    runtime.write_now(lambda c: mark_some(c, 2))
    assert 0 < runtime.reader.run(left) < before
    # Another group begins at the first article; an article is stored in between.
    keep(runtime, SCHOOL, NEAR)
    store(runtime, *TEXTS[:5], "码头失火")
    assert mark_all(runtime) > 2
    assert runtime.reader.run(left) == 0
    assert marks(runtime) == EXPECTED | {"火灾": {*EXPECTED["火灾"], "码头失火"}}
    with pytest.raises(TopicError, match="火灾"):
        runtime.reader.run(lambda c: require_groups(c, PACK.name, ["无此组"]))


def test_a_changed_group_begins_anew_and_an_equal_one_does_not(runtime: Runtime) -> None:
    store(runtime, *TEXTS)
    keep(runtime, FIRE, SCHOOL)
    mark_all(runtime)
    assert keep(runtime, FIRE, TermGroup("学校", ("开学",))) == ["学校", "火灾"]
    states = {one.group.name: one for one in runtime.reader.run(
        lambda c: group_states(c, PACK.name)
    )}  # fmt: skip
    assert states["火灾"].is_marked
    assert not states["学校"].is_marked
    assert marks(runtime) == {"火灾": EXPECTED["火灾"], "学校": set()}
    # What the old words touched goes by and by, and is seen by nobody meanwhile.
    assert runtime.write_now(lambda c: sweep_hits(c, 1)) == 1
    while runtime.write_now(lambda c: sweep_hits(c, 1)):
        pass
    versions = select(word_group_hit.c.version).distinct()
    with_hits = runtime.reader.run(lambda c: set(c.execute(versions).scalars()))
    assert with_hits == {states["火灾"].version}
    # Running crawls know the new words at once: their next article has them.
    store(runtime, *TEXTS, "中学开学")
    mark_all(runtime)
    assert marks(runtime)["学校"] == {"小学开学", "中学开学"}


def test_versions_are_never_given_twice(runtime: Runtime) -> None:
    keep(runtime, FIRE)
    first = runtime.reader.run(lambda c: group_states(c, PACK.name))[0].version
    runtime.write_now(lambda c: drop_group(c, PACK.name, "火灾"))
    assert runtime.reader.run(lambda c: kept_groups(c, PACK.name)) == []
    store(runtime, "仓库失火")
    keep(runtime, FIRE)
    second = runtime.reader.run(lambda c: group_states(c, PACK.name))[0].version
    assert second > first
    assert marks(runtime) == {"火灾": set()}
    mark_all(runtime)
    (row,) = runtime.reader.run(lambda c: c.execute(select(article.c.id)).scalars().all())
    found = runtime.reader.run(lambda c: groups_of_articles(c, [row]))
    assert found == {row: {(PACK.name, "火灾")}}


def test_groups_come_back_as_they_were_kept(runtime: Runtime) -> None:
    keep(runtime, NEAR, SCHOOL)
    assert runtime.reader.run(lambda c: kept_groups(c, PACK.name)) == [NEAR, SCHOOL]


def test_groups_from_before_are_marked_after_an_upgrade(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        put_article(c, "a", body="仓库失火")
        words = {"name": "火灾", "words": '{"any": ["失火"], "all": [], "none": []}'}
        c.execute(insert(word_group).values(topic_id=1, **words))
        c.exec_driver_sql("DELETE FROM word_group_clock")
        c.exec_driver_sql("UPDATE alembic_version SET version_num = '0042_word_groups'")
    database.upgrade()
    with database.engine.begin() as c:
        assert kept_groups(c, PACK.name) == [TermGroup("火灾", ("失火",))]
        assert articles_left(c, None, ["火灾"]) > 0
        while mark_some(c).left:
            pass
        found = select(article.c.text).where(
            *article_conditions(c, Selection(PACK.name, groups=("火灾",)))
        )
        assert c.execute(found).scalars().all() == []  # no topic judged it
        assert articles_left(c, PACK.name, ["火灾"]) == 0
        (state,) = group_states(c, PACK.name)
        assert hit_counts(c, [state.version], [])[state.version] == (1, 1)
