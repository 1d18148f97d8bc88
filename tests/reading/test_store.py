"""The library's door to what is stored: iterated, counted, as a data frame and as Parquet."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import pandas
import pytest
from pyarrow import parquet

import qiaocrawl
from console_articles import add_stories
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.storage import Database


@pytest.fixture
def url(database: Database, database_url: str) -> str:
    add_stories(database)
    return database_url


def test_articles_are_read_anew_each_time_and_choices_hold(url: str) -> None:
    with qiaocrawl.open(url) as store:
        relevant = store.articles("qiaoqing")
        assert len(relevant) == 3
        assert [one.title for one in relevant] == [one.title for one in relevant]
        assert all("讨论华侨农场" in one.text for one in relevant), "plain text"
        assert len(store.articles(only_relevant=False)) == 4
        assert [one.site for one in store.articles(sites=["www.a-qiao.cn"])] == ["www.a-qiao.cn"]
        assert len(store.articles(words=["华侨农场"], order="published")) == 3
        first = min(one.published_at for one in relevant if one.published_at)
        for since in (first, first.isoformat(), first.astimezone(UTC).replace(tzinfo=UTC)):
            assert first in {one.published_at for one in store.articles(since=since)}
        assert len(store.articles(before=date(2000, 1, 1))) == 0


def test_a_data_frame_and_a_parquet_file_say_the_same(url: str, tmp_path: Path) -> None:
    with qiaocrawl.open(url) as store:
        chosen = store.articles(only_relevant=False)
        frame = chosen.to_pandas()
        assert chosen.to_parquet(tmp_path / "articles.parquet") == 4
        assert list(frame["title"]) == [one.title for one in chosen]
    assert str(frame["published_at"].dt.tz) == "UTC"
    table = parquet.read_table(tmp_path / "articles.parquet")
    assert table.column("title").to_pylist() == list(frame["title"])
    moments = [moment.to_pydatetime() if not pandas.isna(moment) else None
               for moment in frame["published_at"]]  # fmt: skip
    assert table.column("published_at").to_pylist() == moments
    assert any(isinstance(moment, datetime) for moment in moments)


def test_no_article_gives_tables_with_all_columns(url: str, tmp_path: Path) -> None:
    with qiaocrawl.open(url) as store:
        none = store.articles(since="2100-01-01")
        assert none.to_parquet(tmp_path / "none.parquet") == 0
        frame = none.to_pandas()
    assert len(frame) == 0
    assert list(frame.columns) == parquet.read_table(tmp_path / "none.parquet").column_names


def test_what_is_wrong_is_named(url: str, tmp_path: Path) -> None:
    with qiaocrawl.open(url) as store:
        with pytest.raises(ConfigError, match="yesterday"):
            store.articles(since="yesterday")
        with pytest.raises(ConfigError, match="best"):
            store.articles(order="best")
        with pytest.raises(StorageError, match="nosuch"):
            list(store.articles("nosuch"))
        with pytest.raises(StorageError):
            store.articles().to_parquet(tmp_path)
    with pytest.raises(StorageError):
        qiaocrawl.open(f"sqlite:///{tmp_path / 'none.db'}")


def test_without_pandas_it_says_what_to_install(url: str) -> None:
    program = (
        "import sys; sys.modules['pandas'] = None\n"
        "import qiaocrawl\n"
        f"with qiaocrawl.open({url!r}) as store:\n"
        "    store.articles().to_pandas()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={"QIAO_LANG": "en"}, timeout=120)  # fmt: skip
    assert "pip install pandas" in done.stderr
