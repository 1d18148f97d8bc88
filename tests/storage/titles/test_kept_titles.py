"""Titles kept in a file: taken up by the next start, and never by a database they are not of."""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import Connection, text

from crawl_starter import run_started, started_code
from qiaocrawl.errors import StorageError
from qiaocrawl.items import VerdictKind
from qiaocrawl.runs import regrouping
from qiaocrawl.runtime import shared_titles
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.reprocessing import drop_article
from qiaocrawl.storage.titles import title_log
from storage_samples import child_environment, put_article
from title_samples import groups, judge, made, runtime_on, samples, store

FIRST, LATER = samples(120, 30)[:80], samples(120, 30)[80:]

_KILLED = """
import os, sys
import numpy as np
from qiaocrawl.runtime import shared_titles
from title_samples import runtime_on
shared_titles._LEAST_UNKEPT = 0
def half(file, **arrays):
    file.write(b"PK half of it")
    file.flush()
    print("writing", flush=True)
    os.kill(os.getpid(), 9)
np.savez = half
with runtime_on(sys.argv[1]) as runtime:
    runtime.articles.load_titles_now()
"""

_STARTED = """
import sys
from qiaocrawl.runtime import shared_titles
from title_samples import runtime_on
shared_titles._LEAST_UNKEPT = 0
with runtime_on(sys.argv[1]) as runtime:
    runtime.articles.load_titles_now()
    print(len(runtime.articles.titles))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where files are kept; even small stores keep one."""
    monkeypatch.setattr(shared_titles, "_LEAST_UNKEPT", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "qiaocrawl" / "titles"


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """Where it makes no difference which database there is."""
    return f"sqlite:///{tmp_path}/kept.db"


def files(folder: Path) -> list[Path]:
    """The indexes that are kept."""
    return sorted(folder.glob("*.npz"))


def started(runtime: Runtime) -> int:
    """Start as a crawl does; how many entries had to be read from the log."""
    titles, read = runtime.articles.titles, 0

    def load(c: Connection) -> None:
        nonlocal read
        titles.load(c)
        read = titles._unkept

    runtime.reader.run(load)
    runtime.articles.keep_titles()
    return read


def stored(url: str, chosen: list[object] = FIRST) -> None:  # type: ignore[assignment]
    """A database with titles."""
    made(url)
    with runtime_on(url) as runtime:
        store(runtime, chosen)  # type: ignore[arg-type]


def test_the_next_start_reads_only_what_is_new(database_url: str, folder: Path) -> None:
    stored(database_url)
    with runtime_on(database_url) as runtime:
        assert started(runtime) == len(FIRST)
        [kept] = files(folder)
        store(runtime, LATER[:5])
    with runtime_on(database_url) as runtime:
        assert started(runtime) == 5
        assert len(runtime.articles.titles) == len(FIRST) + 5
        # The older one has been replaced.
        assert len(files(folder)) == 1
        assert files(folder) != [kept]
    with runtime_on(database_url) as runtime:
        assert started(runtime) == 0
        assert len(runtime.articles.titles) == len(FIRST) + 5


def test_verdicts_are_those_of_an_index_read_from_the_log(
    database_url: str, tmp_path: Path, folder: Path
) -> None:
    other_url = f"sqlite:///{tmp_path}/other.db"
    stored(database_url)
    stored(other_url)
    with runtime_on(database_url) as runtime:
        started(runtime)
    assert len(files(folder)) == 1
    with runtime_on(database_url) as kept, runtime_on(other_url) as read:
        assert started(kept) == 0
        assert store(kept, LATER) == store(read, LATER)
        assert groups(kept) == groups(read)


def test_what_changed_behind_the_file_counts_as_it_is_now(database_url: str) -> None:
    made(database_url)
    old, new, gone = "侨乡华文教育博物馆今日开幕", "东南亚船队满载茶叶到港", "月球卫星实验室落成"
    with runtime_on(database_url) as runtime:
        runtime.write_now(lambda c: judge(runtime, c, "1", title=old))
        runtime.write_now(lambda c: judge(runtime, c, "2", title=gone))
        runtime.articles.keep_titles()
        runtime.write_now(lambda c: judge(runtime, c, "1", title=new))
        runtime.write_now(lambda c: drop_article(c, put_article(c, "2", title=gone).id))
    with runtime_on(database_url) as runtime:
        assert started(runtime) == 2
        assert len(runtime.articles.titles) == 1
        found = [
            runtime.write_now(lambda c, n=n, title=title: judge(runtime, c, n, title=title))
            for n, title in (("3", old), ("4", gone), ("5", new))
        ]
        assert [verdict.is_same_story for verdict in found] == [False, False, True]


def test_a_title_taken_out_stays_out(sqlite_url: str) -> None:
    made(sqlite_url)
    title = "侨乡华文教育博物馆今日开幕"
    with runtime_on(sqlite_url) as runtime:
        runtime.write_now(lambda c: judge(runtime, c, "1", title=title))
        [entry] = runtime.reader.run(lambda c: title_log.entries_since(c, 0, 9))
        runtime.write_now(lambda c: runtime.articles.titles.take_out(c, entry))
        runtime.articles.keep_titles()
    with runtime_on(sqlite_url) as runtime:
        assert started(runtime) == 0
        found = runtime.write_now(lambda c: judge(runtime, c, "2", title=title))
        assert found.kind is VerdictKind.DISTINCT
        out = runtime.write_now(lambda c: judge(runtime, c, "1", title=title + "！"))
        assert out == shared_titles.TAKEN_OUT


def test_the_first_who_judges_without_a_start_takes_the_file(sqlite_url: str) -> None:
    stored(sqlite_url)
    with runtime_on(sqlite_url) as runtime:
        started(runtime)
    with runtime_on(sqlite_url) as runtime:
        store(runtime, LATER[:1])
        assert runtime.articles.titles._unkept == 1
        assert len(runtime.articles.titles) == len(FIRST) + 1


# --- another log -------------------------------------------------------------------------------


def test_a_backup_of_before_that_went_another_way_is_not_confused(tmp_path: Path) -> None:
    path = tmp_path / "q.db"
    url = f"sqlite:///{path}"
    stored(url, FIRST[:40])  # type: ignore[arg-type]
    shutil.copy(path, tmp_path / "backup.db")
    with runtime_on(url) as runtime:
        store(runtime, FIRST[40:])
        started(runtime)
    shutil.copy(tmp_path / "backup.db", path)
    # As many titles as before, so that the log ends at the same number; but other ones.
    others = [*LATER, *FIRST[:0]]
    with runtime_on(url) as runtime:
        store(runtime, others)
        newest = runtime.reader.run(title_log.newest)
    with runtime_on(url) as runtime:
        assert newest == len(FIRST)
        assert started(runtime) == newest
        known = {key for key in map(_key, others) if key in runtime.articles.titles._index}
        assert len(known) == len(others)


def _key(sample: object) -> bytes:
    from qiaocrawl.urls import url_key

    return url_key(f"http://{sample.host}/{sample.number}")  # type: ignore[attr-defined]


def test_a_backup_of_later_goes_on_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "q.db"
    url = f"sqlite:///{path}"
    stored(url)
    with runtime_on(url) as runtime:
        started(runtime)
    shutil.copy(path, tmp_path / "backup.db")
    with runtime_on(url) as runtime:
        store(runtime, LATER[:9])
    shutil.copy(tmp_path / "backup.db", path)
    with runtime_on(url) as runtime:
        store(runtime, LATER[20:24])
    with runtime_on(url) as runtime:
        assert started(runtime) == 4


def test_another_database_at_the_same_address_is_not_confused(tmp_path: Path) -> None:
    path = tmp_path / "q.db"
    url = f"sqlite:///{path}"
    stored(url)
    with runtime_on(url) as runtime:
        started(runtime)
    path.unlink()
    stored(url, LATER)  # type: ignore[arg-type]
    with runtime_on(url) as runtime:
        assert started(runtime) == len(LATER)
        assert len(runtime.articles.titles) == len(LATER)


def test_a_log_that_lost_its_rows_is_read(sqlite_url: str) -> None:
    stored(sqlite_url)
    with runtime_on(sqlite_url) as runtime:
        started(runtime)
        runtime.write_now(lambda c: c.execute(text("DELETE FROM title_entry")))
    with runtime_on(sqlite_url) as runtime:
        assert started(runtime) == 0
        assert len(runtime.articles.titles) == 0


def test_a_mark_that_was_not_committed_is_not_believed(database_url: str, folder: Path) -> None:
    stored(database_url)

    class Wanted(Exception):
        pass

    with runtime_on(database_url) as runtime:
        titles = runtime.articles.titles

        def marks_and_fails(c: Connection) -> None:
            titles.keep(c, titles.mark(c))
            raise Wanted

        with pytest.raises(Wanted):
            runtime.write_now(marks_and_fails)
        assert len(files(folder)) == 1
    with runtime_on(database_url) as runtime:
        assert started(runtime) == len(FIRST)


def test_what_was_judged_since_the_mark_is_not_kept_under_it(sqlite_url: str, folder: Path) -> None:
    stored(sqlite_url)
    with runtime_on(sqlite_url) as runtime:
        titles = runtime.articles.titles
        mark = runtime.write_now(titles.mark)
        store(runtime, LATER[:1])
        assert not runtime.reader.run(lambda c: titles.keep(c, mark))
        assert files(folder) == []


def test_what_was_rolled_back_after_the_file_is_forgotten(database_url: str) -> None:
    stored(database_url)
    with runtime_on(database_url) as runtime:
        started(runtime)

    class Wanted(Exception):
        pass

    with runtime_on(database_url) as runtime:
        assert started(runtime) == 0

        def fails(c: Connection) -> None:
            judge(runtime, c, "new", title="月球卫星实验室落成")
            raise Wanted

        with pytest.raises(Wanted):
            runtime.write_now(fails)
        found = runtime.write_now(lambda c: judge(runtime, c, "9", title="月球卫星实验室落成"))
        assert found.kind is VerdictKind.DISTINCT
        assert len(runtime.articles.titles) == len(FIRST) + 1


def test_a_title_that_did_not_reach_the_log_is_not_kept(sqlite_url: str, folder: Path) -> None:
    stored(sqlite_url)
    refuse = (
        "CREATE TRIGGER refuse BEFORE INSERT ON title_entry BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    with runtime_on(sqlite_url) as runtime:
        titles = runtime.articles.titles
        mark = runtime.write_now(titles.mark)
        runtime.write_now(lambda c: c.execute(text(refuse)))
        with pytest.raises(StorageError):
            runtime.write_now(lambda c: judge(runtime, c, "new", title="月球卫星实验室落成"))
        assert not runtime.reader.run(lambda c: titles.keep(c, mark))
    assert files(folder) == []


def test_titles_in_doubt_stay_so_where_the_database_fails_again(sqlite_url: str) -> None:
    made(sqlite_url)
    old, new = "侨乡华文教育博物馆今日开幕", "东南亚船队满载茶叶到港"

    class Wanted(Exception):
        pass

    def renames(name: str, other: str) -> None:
        with Database.open(sqlite_url) as database, database.engine.begin() as c:
            c.execute(text(f"ALTER TABLE {name} RENAME TO {other}"))

    with runtime_on(sqlite_url) as runtime:

        def changes_and_fails(c: Connection) -> None:
            judge(runtime, c, "1", title=new)
            raise Wanted

        runtime.write_now(lambda c: judge(runtime, c, "1", title=old))
        with pytest.raises(Wanted):
            runtime.write_now(changes_and_fails)
        renames("title_entry", "away")
        with pytest.raises(StorageError):
            runtime.write_now(lambda c: judge(runtime, c, "2", title=new))
        renames("away", "title_entry")
        found = runtime.write_now(lambda c: judge(runtime, c, "3", title=old))
        assert found.is_same_story


# --- another program ---------------------------------------------------------------------------


def test_other_weights_begin_anew_and_are_kept_for_themselves(
    sqlite_url: str, folder: Path
) -> None:
    stored(sqlite_url)
    with runtime_on(sqlite_url) as runtime:
        started(runtime)
        trial = regrouping.try_snapshot(
            runtime, regrouping.new_snapshot(runtime, lambda _: True), lambda _: True
        )
        regrouping.put_to_use(runtime, trial, "", lambda _: True)
    with runtime_on(sqlite_url) as runtime:
        assert started(runtime) > 0
    with runtime_on(sqlite_url) as runtime:
        assert started(runtime) == 0
    # The other one may still be another program's.
    assert len(files(folder)) == 2


@pytest.mark.parametrize(
    "given", [{"QIAO_DEDUP_METHOD": "vsm"}, {"QIAO_DEDUP_THRESHOLD": "0.5"}], ids=str
)
def test_another_method_is_another_index(
    sqlite_url: str, given: dict[str, str], folder: Path
) -> None:
    stored(sqlite_url)
    with runtime_on(sqlite_url) as runtime:
        started(runtime)
    with runtime_on(sqlite_url, **given) as runtime:
        assert started(runtime) == len(FIRST)
    with runtime_on(sqlite_url, **given) as runtime:
        assert started(runtime) == 0
    with runtime_on(sqlite_url) as runtime:
        assert started(runtime) == 0


def test_other_words_that_stay_whole_are_another_index(sqlite_url: str) -> None:
    stored(sqlite_url)
    with runtime_on(sqlite_url) as runtime:
        started(runtime)
        [first, *_] = runtime.reader.run(lambda c: c.execute(text("SELECT id FROM term")).all())
        runtime.write_now(
            lambda c: c.execute(
                text("UPDATE term SET text = '茶叶出口' WHERE id = :id"), first._asdict()
            )
        )
    with runtime_on(sqlite_url) as runtime:
        assert started(runtime) == len(FIRST)


def test_another_version_of_the_program_is_another_index(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(sqlite_url)
    with runtime_on(sqlite_url) as runtime:
        started(runtime)
    monkeypatch.setattr("qiaocrawl.dedup.title_index._program", lambda: b"changed")
    with runtime_on(sqlite_url) as runtime:
        assert started(runtime) == len(FIRST)


# --- files that are no good --------------------------------------------------------------------


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2000])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x40
    path.write_bytes(content)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _replace(path: Path) -> None:
    path.write_bytes(b"no archive at all" * 100)


def _misname(path: Path) -> None:
    # In the list of names behind all arrays, of one that an index may do without.
    before, behind = path.read_bytes().rsplit(b"titles.host.npy", 1)
    path.write_bytes(before + b"titles.hosT.npy" + behind)


def _unclose(path: Path) -> None:
    # The description of a large array, which numpy reads as Python before it knows the check sum.
    content = path.read_bytes()
    with ZipFile(path) as archive:
        place = max(archive.infolist(), key=lambda member: member.file_size).header_offset
    path.write_bytes(content[:place] + content[place:].replace(b", }", b",  ", 1))


@pytest.mark.parametrize("damage", [_cut, _flip, _empty, _replace, _misname, _unclose])
def test_a_damaged_file_costs_time_only(
    sqlite_url: str, folder: Path, damage: Callable[[Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    stored(sqlite_url)
    with runtime_on(sqlite_url) as runtime:
        started(runtime)
    [path] = files(folder)
    damage(path)
    with caplog.at_level(logging.WARNING), runtime_on(sqlite_url) as runtime:
        assert started(runtime) == len(FIRST)
    assert "is damaged" in caplog.text
    assert not path.exists()
    with runtime_on(sqlite_url) as runtime:
        assert started(runtime) == 0


def test_every_damaged_byte_is_noticed_or_does_not_matter(
    sqlite_url: str, folder: Path, tmp_path: Path
) -> None:
    stored(sqlite_url)
    with runtime_on(sqlite_url) as runtime:
        started(runtime)
    [path] = files(folder)
    whole = path.read_bytes()
    for at in range(0, len(whole), len(whole) // 25):
        content = bytearray(whole)
        content[at] ^= 0xFF
        path.write_bytes(content)
        with runtime_on(sqlite_url) as runtime:
            runtime.reader.run(runtime.articles.titles.load)
            assert len(runtime.articles.titles) == len(FIRST)


def test_a_file_of_another_index_is_left_alone(sqlite_url: str, folder: Path) -> None:
    stored(sqlite_url)
    with runtime_on(sqlite_url) as runtime:
        started(runtime)
        [path] = files(folder)
        other = b"o" * 16
        runtime.write_now(lambda c: title_log.add(c, other, len(FIRST)))
        foreign = folder / f"{other.hex()}.npz"
        path.rename(foreign)
    with runtime_on(sqlite_url) as runtime:
        assert started(runtime) == len(FIRST)
    assert foreign.exists()


def test_a_folder_that_cannot_be_written_costs_time_only(
    sqlite_url: str, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stored(sqlite_url)
    folder.parent.mkdir(parents=True)
    folder.write_text("a file in its place")
    for _ in range(2):
        with runtime_on(sqlite_url) as runtime:
            assert started(runtime) == len(FIRST)
    assert "cannot be kept" in caplog.text


def test_an_account_without_a_home_keeps_nothing(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr("qiaocrawl.runtime.kept_titles.user_cache_folder", homeless)
    stored(sqlite_url)
    for _ in range(2):
        with runtime_on(sqlite_url) as runtime:
            assert started(runtime) == len(FIRST)


# --- several processes -------------------------------------------------------------------------


def test_a_kill_while_it_is_written_costs_time_only(sqlite_url: str, folder: Path) -> None:
    stored(sqlite_url)
    killed = run_started("-c", _KILLED, sqlite_url, environment=child_environment())
    assert killed.stdout == "writing\n"
    assert killed.returncode == -signal.SIGKILL
    assert files(folder) == []
    assert list(folder.glob("*.part"))
    with runtime_on(sqlite_url) as runtime:
        assert started(runtime) == len(FIRST)
    assert len(files(folder)) == 1
    assert list(folder.glob("*.part")) == []


def test_of_two_processes_one_writes(sqlite_url: str, folder: Path) -> None:
    stored(sqlite_url)
    folder.mkdir(parents=True)
    with (folder / "lock").open("ab") as lock, runtime_on(sqlite_url) as runtime:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert started(runtime) == len(FIRST)
        assert files(folder) == []


def test_processes_that_start_at_once_know_the_same_titles(database_url: str, folder: Path) -> None:
    stored(database_url)
    environment = child_environment()
    for _ in range(2):
        with ExitStack() as stack:
            running = [
                stack.enter_context(started_code(_STARTED, database_url, environment=environment))
                for _ in range(2)
            ]
            assert [printed.read() for _, printed in running] == [f"{len(FIRST)}\n"] * 2
    assert files(folder)
    with runtime_on(database_url) as runtime:
        assert started(runtime) == 0


# --- room --------------------------------------------------------------------------------------


def test_few_new_titles_are_not_worth_a_file(
    sqlite_url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_titles, "_LEAST_UNKEPT", len(FIRST))
    stored(sqlite_url)
    with runtime_on(sqlite_url) as runtime:
        assert started(runtime) == len(FIRST)
    assert files(folder) == []


def test_unused_files_and_old_marks_go(database_url: str, folder: Path) -> None:
    stored(database_url)
    folder.mkdir(parents=True)
    old, used = folder / f"{'ab' * 16}.npz", folder / f"{'cd' * 16}.npz"
    for path, days in ((old, 40), (used, 2)):
        path.write_bytes(b"of another database")
        when = path.stat().st_mtime - days * 86400
        os.utime(path, (when, when))
    with runtime_on(database_url) as runtime:
        for number in range(70):
            mark = number.to_bytes(16, "big")
            runtime.write_now(lambda c, m=mark, n=number: title_log.add(c, m, n % 60))
        started(runtime)
        marks = runtime.reader.run(title_log.marks)
    assert len(marks) == 64
    assert next(iter(marks.values())) == len(FIRST)
    assert not old.exists()
    assert used.exists()
