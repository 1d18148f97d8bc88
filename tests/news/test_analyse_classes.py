"""Classes of stored articles: judged once, again when people said more, and theirs for ever."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from dated_stories import TEXTS, put_dated
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.news.classes import count_waiting, judge_classes, topic_models
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.schema import article
from qiaocrawl.storage.selection import Selection, article_conditions
from qiaocrawl.storage.topics import classes
from storage_samples import PACK
from title_samples import made, runtime_on

NOW = datetime(2026, 8, 22, tzinfo=UTC)


def judged(runtime: Runtime) -> int:
    return judge_classes(runtime, topic_models(runtime), lambda _count: True)


def waiting(runtime: Runtime) -> int:
    models = topic_models(runtime)
    return runtime.reader.run(lambda c: count_waiting(c, models))


def ids_of(runtime: Runtime, *names: str) -> list[int]:
    chosen = Selection(topic=PACK.name, classes=names)
    return runtime.reader.run(lambda c: sorted(c.execute(
        select(article.c.id).where(*article_conditions(c, chosen))
    ).scalars()))  # fmt: skip


def mark(runtime: Runtime, article_id: int, name: str) -> classes.ClassMark:
    return runtime.write_now(
        lambda c: classes.mark_class(c, article_id, PACK.name, name, by="王", now=NOW)
    )


def test_articles_are_judged_once_and_a_person_s_word_stays(database_url: str) -> None:
    made(database_url)
    with runtime_on(database_url) as runtime:
        put_dated(runtime)
        assert waiting(runtime) == len(TEXTS)
        assert judged(runtime) == len(TEXTS)
        assert judged(runtime) == waiting(runtime) == 0
        everything = ids_of(runtime, "")
        assert len(everything) == len(TEXTS), "none is sure"
        first, second = everything[:2]
        assert mark(runtime, first, "安全").before == ""
        assert ids_of(runtime, "安全") == [first]
        assert judged(runtime) == len(TEXTS) - 1, "an example: the others are judged again"
        assert judged(runtime) == 0
        assert second in ids_of(runtime, "安全"), "its copy is like it"
        assert mark(runtime, first, "火灾").before == "安全"
        judged(runtime)
        assert first in ids_of(runtime, "火灾")
        (own,) = runtime.reader.run(lambda c: classes.classes_of(c, first))
        assert own == (PACK.name, "火灾", 1.0, (), "王")
        urls = runtime.reader.run(lambda c: list(c.execute(select(article.c.url_id)).scalars()))
        counts = runtime.reader.run(lambda c: classes.count_classes(c, PACK.name, urls))
        assert sum(counts.values()) == len(TEXTS)
        assert runtime.reader.run(lambda c: classes.topic_classes(c, PACK.name)) == (
            "policy", "火灾",
        )  # fmt: skip
        assert mark(runtime, first, "").before == "火灾"
        assert judged(runtime) == len(TEXTS)
        assert ids_of(runtime, "火灾") == []


def test_wrong_marks_are_refused(database_url: str) -> None:
    made(database_url)
    with runtime_on(database_url) as runtime:
        put_dated(runtime)
        with pytest.raises(ConfigError, match="99999"):
            mark(runtime, 99_999, "安全")
        with pytest.raises(ConfigError, match="32"):
            mark(runtime, 1, "安" * 33)
        with pytest.raises(StorageError, match="nothing"):
            runtime.write_now(
                lambda c: classes.mark_class(c, 1, "nothing", "安全", by="王", now=NOW)
            )


def test_it_stops_when_asked_and_goes_on(database_url: str) -> None:
    made(database_url)
    with runtime_on(database_url) as runtime:
        put_dated(runtime)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("qiaocrawl.news.classes._AT_A_TIME", 1)
            assert judge_classes(runtime, topic_models(runtime), lambda _count: False) == 1
        assert judged(runtime) == len(TEXTS) - 1
