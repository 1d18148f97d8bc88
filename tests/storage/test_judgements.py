"""What operators say of pages, and the samples that follow from it."""

from __future__ import annotations

import contextlib

import pytest

from qiaocrawl.errors import StorageError
from qiaocrawl.options import Options
from qiaocrawl.runtime.catalogue import Catalogue
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.judgements import (
    judged_pack,
    judged_samples,
    list_judgements,
    save_judgement,
)
from qiaocrawl.storage.topics.topics import load_pack, save_pack
from qiaocrawl.storage.writer import Reader
from qiaocrawl.topic.check import pack_faults
from qiaocrawl.topic.pack import Sample
from qiaocrawl.urls import url_key
from storage_samples import NOW, PACK, add_article, add_topic


def judge(database: Database, url: str, relevant: bool, at: float = 0.0, note: str = "") -> None:
    with database.engine.begin() as c:
        save_judgement(c, PACK.name, url, relevant=relevant, note=note, now=NOW + at)


def test_the_last_judgement_counts_and_newest_come_first(database: Database) -> None:
    add_topic(database)
    judge(database, "http://a.example/1", True)
    judge(database, "http://a.example/2", False, 1.0, "体育")
    judge(database, "http://a.example/1", False, 2.0)
    with database.engine.connect() as c:
        found = list_judgements(c, PACK.name, 10)
        assert [(one.url, one.relevant, one.note, one.title) for one in found] == [
            ("http://a.example/1", False, "", None), ("http://a.example/2", False, "体育", None),
        ]  # fmt: skip
        assert found[0].judged_at.timestamp() == NOW + 2
        assert len(list_judgements(c, PACK.name, 1)) == 1


def test_a_running_crawl_takes_over_a_judgement(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        add_article(c, "1", title="第1篇", body="正文1。")
        c.exec_driver_sql(*_rekey(database, "http://a.example/1"))
    with contextlib.closing(Reader(database)) as reader:
        catalogue = Catalogue(reader, Options.from_environment({}))
        assert catalogue.pack(PACK.name).samples == PACK.samples
    with database.engine.connect() as c:
        assert catalogue.changed_topics(c) is None
    judge(database, "http://a.example/1", True, 5.0)
    with database.engine.connect() as c:
        changed = catalogue.changed_topics(c)
    assert changed is not None
    assert changed.packs[PACK.name].samples[-1].title == "第1篇"


def test_judged_articles_are_samples_of_the_pack(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        # The samples of the storage tests have keys of their own.
        for path, url in (("1", "http://a.example/1"), ("2", "http://a.example/2")):
            add_article(c, path, title=f"第{path}篇", body=f"正文{path}。")
            c.exec_driver_sql(*_rekey(database, url))
    for n, url in enumerate(("http://a.example/2", "http://a.example/1", "http://a.example/none")):
        judge(database, url, n == 0, float(n))
    with database.engine.connect() as c:
        two, one = judged_samples(c, PACK.name)
        assert (two.title, two.text, two.relevant) == ("第2篇", "正文2。", True)
        assert (one.title, one.relevant) == ("第1篇", False)
        assert judged_samples(c, PACK.name, limit=1) == (one,)
        pack = judged_pack(c, PACK.name)
        assert pack.samples == (*PACK.samples, two, one)
        assert pack_faults(pack) == ()
        assert load_pack(c, PACK.name).samples == PACK.samples
    with database.engine.begin() as c:  # exported with them, and imported again
        save_pack(c, pack, now=NOW)
    judge(database, "http://a.example/2", False, 9.0)
    with database.engine.connect() as c:
        assert [sample.name for sample in judged_pack(c, PACK.name).samples] == [
            "s1", "s2", one.name, two.name,
        ]  # fmt: skip
        assert isinstance(judged_pack(c, PACK.name).samples[-1], Sample)
        assert judged_pack(c, PACK.name).samples[-1].relevant is False


def _rekey(database: Database, url: str) -> tuple[str, tuple[object, ...]]:
    mark = "?" if database.engine.dialect.name == "sqlite" else "%s"
    return f"UPDATE url SET `key` = {mark} WHERE url = {mark}", (url_key(url), url)


def test_a_topic_that_was_never_imported_is_named(database: Database) -> None:
    with pytest.raises(StorageError, match="'qiaoqing'"):
        judge(database, "http://a.example/1", True)
