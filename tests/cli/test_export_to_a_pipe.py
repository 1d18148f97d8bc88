"""``qiaocrawl export --out -``: the file alone on standard output, all words about it on stderr."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from crawl_starter import run_piped
from fresh_schema import make_tables
from qiaocrawl.storage import Database
from storage_samples import add_topic, put_article


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with two articles."""
    url = f"sqlite:///{tmp_path_factory.mktemp('db') / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            for number, title in enumerate(("侨乡博物馆开幕", "归侨联谊会举行")):
                put_article(c, str(number), title=title, body="归侨侨眷来了。")
    return url


def export(url: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """What the command writes to its pipes."""
    return run_piped("qiaocrawl", "export", "--database", url, *arguments, folder=folder)


@pytest.mark.parametrize("out", ["-", "/dev/stdout"])
def test_a_pipe_gets_the_records_alone(url: str, out: str, tmp_path: Path) -> None:
    done = export(url, "--format", "jsonl", "--out", out, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    titles = [json.loads(line)["title"] for line in done.stdout.splitlines()]
    assert titles == ["侨乡博物馆开幕", "归侨联谊会举行"]
    assert b"ok: 2 records" in done.stderr
    assert list(tmp_path.iterdir()) == [], "and no file of that name"


@pytest.mark.parametrize("format_", ["csv", "html", "xlsx", "docx"])
def test_every_format_of_one_file_can(url: str, format_: str, tmp_path: Path) -> None:
    done = export(url, "--format", format_, "--out", "-", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    if format_ in ("xlsx", "docx"):
        assert ZipFile(io.BytesIO(done.stdout)).testzip() is None
    else:
        assert "归侨联谊会举行" in done.stdout.decode("utf-8-sig")
    if format_ != "csv":
        assert b"without the stored pages" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_to_which_the_shell_appends_is_not_cut(url: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("first\n")
    with log.open("ab") as out:
        done = run_piped("qiaocrawl", "export", "--database", url, "--format", "jsonl",
                         "--out", "-", stdout=out.fileno())  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [line[:6] for line in log.read_text("utf-8").splitlines()] == [
        "first",
        '{"id":',
        '{"id":',
    ]


@pytest.mark.parametrize("format_", ["markdown", "files"])
def test_a_folder_cannot(url: str, format_: str, tmp_path: Path) -> None:
    done = export(url, "--format", format_, "--out", "-", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"--out must name a folder" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_neither_does_a_terminal_show_a_workbook(url: str, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    done = run_piped("qiaocrawl", "export", "--database", url, "--format", "xlsx", "--out", "-",
                     stdout=theirs)  # fmt: skip
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 1
    assert b"no text for a terminal" in done.stderr


def test_a_reader_that_has_gone_is_an_error_in_one_line(url: str, tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = run_piped("qiaocrawl", "export", "--database", url, "--out", "-", stdout=theirs)
    os.close(theirs)
    assert done.returncode == 1
    assert b"cannot write standard output" in done.stderr
    assert b"Traceback" not in done.stderr


def test_other_commands_make_no_file_of_that_name(url: str, tmp_path: Path) -> None:
    done = run_piped("qiaocrawl", "db", "backup", "-", "--database", url, folder=tmp_path)
    assert done.returncode == 1
    assert b"name a file" in done.stderr
    assert list(tmp_path.iterdir()) == []
