"""What every registered export format must do, whatever it writes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection

from fresh_schema import make_tables
from qiaocrawl.errors import StorageError
from qiaocrawl.export.base import Exporter, exporters
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.raw_pages import store_page
from qiaocrawl.storage.selection import Selection
from storage_samples import NOW, PACK, add_article, add_topic, candidate, enqueue, fetched, take

_ALL = Selection()
_FILES = [name for name in exporters.names() if exporters.get(name).suffix]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Three articles with their pages; nothing is written after that."""
    with Database.open(f"sqlite:///{tmp_path_factory.mktemp('exports')}/q.db") as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [candidate(str(number)) for number in range(3)])
            for lease in take(c):
                store_page(c, lease, fetched(lease), now=NOW)
            for number in range(3):
                add_article(c, str(number), title=f"第{number}篇侨情", body=f"正文{number}。",
                            published_at=datetime(2026, 3, 1 + number, tzinfo=UTC))  # fmt: skip
        with database.engine.connect() as c:
            yield c


@pytest.fixture(params=exporters.names())
def exporter(request: pytest.FixtureRequest) -> Exporter:
    """Each format."""
    found: Exporter = exporters.get(request.param)
    return found


def write(c: Connection, exporter: Exporter, out: Path, selection: Selection = _ALL) -> list[int]:
    """What the progress said."""
    progress: list[int] = []
    exporter.write(c, selection, out, progress.append)
    return progress


def content(out: Path) -> dict[str, bytes]:
    """The files below *out*, by name."""
    files = [out] if out.is_file() else sorted(file for file in out.rglob("*") if file.is_file())
    return {str(file.relative_to(out.parent)): file.read_bytes() for file in files}


def test_a_format_is_a_file_with_a_suffix_or_a_folder(exporter: Exporter, tmp_path: Path,
                                                      stored: Connection) -> None:  # fmt: skip
    write(stored, exporter, tmp_path / "out")
    assert (tmp_path / "out").is_file() is bool(exporter.suffix)
    assert exporter.suffix == "" or exporter.suffix.startswith(".")
    assert exporter.suffix == exporter.suffix.lower().strip()


def test_a_part_of_the_articles_is_a_part_of_the_records(
    exporter: Exporter, stored: Connection, tmp_path: Path
) -> None:
    chosen = Selection(
        since=datetime(2026, 3, 2, tzinfo=UTC), before=datetime(2026, 3, 3, tzinfo=UTC)
    )
    assert sum(write(stored, exporter, tmp_path / "one", chosen)) == 1
    assert exporter.count(stored, chosen) == 1
    assert exporter.count(stored, Selection(PACK.name, only_relevant=True)) == 0
    assert all(step > 0 for step in write(stored, exporter, tmp_path / "all"))


def test_nothing_is_left_beside_what_was_asked_for(
    exporter: Exporter, stored: Connection, tmp_path: Path
) -> None:
    write(stored, exporter, tmp_path / "out", Selection(with_copies=False))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_place_that_cannot_be_written_is_named(
    exporter: Exporter, stored: Connection, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StorageError, match="file"):
        write(stored, exporter, tmp_path / "file" / "out")
    assert (tmp_path / "file").read_text() == "no folder"


@pytest.mark.parametrize("name", _FILES)
def test_an_export_that_breaks_off_leaves_the_file_that_was_there_before(
    name: str, stored: Connection, tmp_path: Path
) -> None:
    exporter = exporters.get(name)
    out = tmp_path / "out"
    write(stored, exporter, out)
    before = content(out)

    def break_off(written: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exporter.write(stored, _ALL, out, break_off)
    assert content(out) == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("out")
            and not path.name.endswith("-copies")] == ["out"]  # fmt: skip


def test_a_file_is_replaced_and_a_folder_that_holds_something_is_refused(
    exporter: Exporter, stored: Connection, tmp_path: Path
) -> None:
    write(stored, exporter, tmp_path / "out")
    first = set(content(tmp_path / "out"))
    if exporter.suffix:
        assert sum(write(stored, exporter, tmp_path / "out")) == exporter.count(stored, _ALL)
    else:
        with pytest.raises(StorageError, match="is not empty"):
            write(stored, exporter, tmp_path / "out")
    assert set(content(tmp_path / "out")) == first
