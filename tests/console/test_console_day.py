"""A day at the desk in Chromium: log in, search, mark by key, evidence, export."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from console_articles import add_stories
from console_browser import chromium, new_context, served
from forking_python import forking_python
from fresh_schema import make_tables
from qiaocrawl.console.app import FIRST_NAME, first_administrator
from qiaocrawl.reading.marks import marks_of
from qiaocrawl.storage import Database

pytestmark = pytest.mark.chromium


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A database with a few articles."""
    address = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(address) as database:
        make_tables(database)
        add_stories(database)
    return address


def _log_in(page: Page, base: str, url: str) -> None:
    """With the password of the first start, which has to be changed."""
    with Database.open(url) as database:
        password = first_administrator(database)
    page.goto(f"{base}/articles")
    page.fill("#name", FIRST_NAME)
    page.fill("#password", password)
    page.click(".card button")
    expect(page).to_have_url(f"{base}/password")
    for field, value in (("old", password), ("new", "新口令 987654"), ("again", "新口令 987654")):
        page.fill(f"#{field}", value)
    page.click(".card button")
    # Where it was wanted to go before the password stood in the way.
    expect(page).to_have_url(f"{base}/articles")


def test_a_day_at_the_desk(url: str) -> None:
    with served(url) as base, chromium() as browser:
        page = new_context(browser, locale="zh-CN").new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        _log_in(page, base, url)
        page.click("aside a[href='/articles']")
        page.fill("#search", "侨务")
        page.press("#search", "Enter")
        expect(page.locator(".console-row")).to_have_count(1)
        # The first j chooses the first article; keys in a field are letters.
        page.wait_for_load_state()  # before, no key is listened to
        page.locator("h1").click()
        for key in "jsr":
            page.keyboard.press(key)
        expect(page.locator("[data-shown=star]")).to_be_visible()
        expect(page.locator("[data-shown=relevant]")).to_be_visible()
        page.keyboard.press("t")
        page.fill("#ask-value", "要闻，上报")
        page.click("#ask button[value=save]")
        expect(page.locator("[data-shown=tags] .badge")).to_have_text(["上报", "要闻"])
        page.keyboard.press("?")
        expect(page.locator("#keys")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("o")
        # The list marks the word too: it is the article that has to be there.
        expect(page).to_have_url(re.compile(r"/articles/1\b"))
        expect(page.locator("mark").first).to_have_text("侨务")
        page.wait_for_load_state()
        page.keyboard.press("e")
        frame = page.frame_locator("iframe.console-evidence").frame_locator("iframe")
        expect(frame.locator("h1")).to_have_text("侨务工作会议召开")
        page.goto(f"{base}/articles?q=侨务")
        page.click("[data-bs-toggle=dropdown]")
        with page.expect_download() as download:
            page.click("text=Excel")
        assert download.value.suggested_filename.endswith(".xlsx")
        assert Path(download.value.path()).read_bytes()[:2] == b"PK"
        assert errors == []
    with Database.open(url) as database, database.engine.connect() as c:
        marks = marks_of(c, [1])[1]
    assert (marks.starred, marks.tags, marks.judged) == (
        True, ("上报", "要闻"), (("qiaoqing", True),),
    )  # fmt: skip


@pytest.mark.parametrize("when", ["as it begins", "as it serves"])
def test_it_ends_when_it_is_asked_to(tmp_path: Path, when: str) -> None:
    # Once with all that is loaded at its start.
    python = sys.executable if when == "as it begins" else forking_python(tmp_path)
    command = [python, "-m", "qiaocrawl", "console", "--port", "0", "--database",
               f"sqlite:///{tmp_path / 'new.db'}"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline() for _line in range(3)]
        assert re.search(r"([a-z2-9]{5}-){3}[a-z2-9]{5}", lines[1])
        address = re.search(r"http://127\.0\.0\.1:\d+/", lines[2])
        assert address
        if when == "as it serves":
            with urllib.request.urlopen(f"{address[0]}log-in", timeout=120) as answer:
                assert answer.status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        assert "has ended" in process.stdout.read()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
