"""Evidence packages of the console: a file for whoever asks, and what the log keeps of it."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest

from console_articles import add_stories
from console_client import Desk, visible
from held_ports import held_port
from qiaocrawl.storage import audit_log
from time_stamping import served_authority


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it makes is tested with the command."""
    monkeypatch.setenv("QIAO_CHROMIUM", "/nowhere/chromium")


def _manifest(content: bytes) -> dict[str, object]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found: dict[str, object] = json.loads(archive.read("manifest.json"))
        return found


def test_the_log_keeps_the_digest_of_the_file_that_was_sent(
    sqlite_desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_stories(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    assert "/articles/1/evidence.zip" in sqlite_desk.get("/articles/1").text
    assert "/articles/1/evidence.zip" in sqlite_desk.get("/articles/1/evidence").text
    with served_authority(tmp_path) as authority:
        monkeypatch.setenv("QIAO_STAMP_URL", authority.url)
        monkeypatch.setenv("QIAO_STAMP_CA", str(authority.root))
        answer = sqlite_desk.post("/articles/1/evidence.zip")
    assert answer.status_code == 200
    assert "evidence-article-1.zip" in answer.headers["content-disposition"]
    manifest = _manifest(answer.content)
    assert manifest["made_by"] == "editor"
    with sqlite_desk.database.engine.connect() as c:
        entry = audit_log.entries(c, limit=1)[0]
    after = json.loads(entry.after)
    assert (entry.action, entry.target) == ("evidence.make", "侨务工作会议召开")
    assert after["sha256"] == hashlib.sha256(answer.content).hexdigest()
    assert after["time_stamp"].startswith("20")
    assert after["gaps"] == ["articles/1/picture.png", "report.pdf"]
    assert "Stamped 20" in visible(sqlite_desk.get("/articles/1").text)


def test_an_authority_that_is_away_is_told_and_costs_no_package(
    sqlite_desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_stories(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    with served_authority(tmp_path) as authority:
        monkeypatch.setenv("QIAO_STAMP_CA", str(authority.root))
    monkeypatch.setenv("QIAO_STAMP_URL", f"http://127.0.0.1:{held_port()}/")
    answer = sqlite_desk.post("/articles/2/evidence.zip")
    assert answer.status_code == 200
    assert "does not answer" in str(_manifest(answer.content)["time_stamp"])
    assert "It has no time stamp: the time-stamping authority does not answer" in visible(
        sqlite_desk.get("/articles/2").text
    )


def test_who_may_not_and_what_is_not_there(sqlite_desk: Desk) -> None:
    add_stories(sqlite_desk.database)
    sqlite_desk.log_in_as("reader")
    assert "evidence.zip" not in sqlite_desk.get("/articles/1").text
    assert sqlite_desk.post("/articles/1/evidence.zip").status_code == 403
    sqlite_desk.log_in_as("editor")
    assert sqlite_desk.post("/articles/99/evidence.zip").status_code == 404
    assert sqlite_desk.post("/stories/99/evidence.zip").status_code == 404


def test_options_that_are_not_whole_are_said_before_any_work(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_stories(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    monkeypatch.setenv("QIAO_STAMP_URL", "http://127.0.0.1:9/")
    answer = sqlite_desk.post("/articles/1/evidence.zip")
    assert answer.status_code == 400
    assert "QIAO_STAMP_CA" in visible(answer.text)
