"""A day at the console in Chromium: a list, a crawl on a real scrapyd, what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import openpyxl
import pytest
from playwright.sync_api import Page, expect

from console_browser import chromium, served
from fresh_schema import make_tables
from qiaocrawl.console.app import FIRST_NAME, first_administrator
from qiaocrawl.demo.engines import build_engines
from qiaocrawl.demo.server import DemoServer
from qiaocrawl.demo.web import build_web
from qiaocrawl.reading.marks import marks_of
from qiaocrawl.storage import Database
from scrapyd_server import Scrapyd, new_forking_scrapyd

# Two servers, a browser and two crawls.
pytestmark = [pytest.mark.chromium, pytest.mark.timeout(1_500)]
WAIT_MS = 240_000
HOST = "www.yuehaiqiao.test"


@pytest.fixture
def scrapyd(tmp_path: Path) -> Iterator[Scrapyd]:
    """A scrapyd whose jobs crawl the demo web; the project is on it."""
    web = build_web(scale=0.1)
    web.add_engines(build_engines(web))
    with DemoServer(web) as server:
        folder = tmp_path / "scrapyd"
        folder.mkdir()
        running = new_forking_scrapyd(
            folder, QIAO_DEMO=server.address, QIAO_ENGINES="demo_sou", QIAO_EXTRACT_SECONDS="60",
            QIAO_SEARCH_PARK_AFTER="0",
        )  # fmt: skip
        running.hold_version()
        running.start()
        try:
            yield running
        finally:
            running.stop()


def test_from_a_list_to_what_it_found(
    scrapyd: Scrapyd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = scrapyd.password.replace(" ", "%20")
    address = scrapyd.url.replace("//", f"//{scrapyd.user}:{password}@", 1)
    monkeypatch.setenv("QIAO_SCRAPYD_SERVERS", address)
    monkeypatch.chdir(tmp_path)
    url = scrapyd.environment["QIAO_DATABASE_URL"]
    errors: list[str] = []
    with Database.open(url) as database:
        make_tables(database)
        first_password = first_administrator(database)
    with served(url) as base, chromium() as browser:
        page = browser.new_context(locale="zh-CN").new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: errors.append(str(error)))
        _log_in(page, base, first_password)
        _import(page, base, _list_with_three_bad_rows(tmp_path))
        for spider in ("site", "search"):
            _run(page, base, spider)
        article = _read_and_mark(page, base)
        page.goto(f"{base}/coverage?topic=office")
        expect(page.locator(".console-map td a").first).to_be_visible()
        page.goto(f"{base}/articles?relevance=any")
        page.click("[data-bs-toggle=dropdown]")
        with page.expect_download() as download:
            page.click("text=Excel")
        assert download.value.suggested_filename.endswith(".xlsx")
        book = openpyxl.load_workbook(BytesIO(Path(download.value.path()).read_bytes()))
        assert book.worksheets[0].max_row > 1
    assert errors == []
    with Database.open(url) as database, database.engine.connect() as c:
        assert marks_of(c, [article])[article].judged == (("office", True),)


def _log_in(page: Page, base: str, password: str) -> None:
    page.goto(base)
    page.fill("#name", FIRST_NAME)
    page.fill("#password", password)
    page.click(".card button")
    for field, value in (("old", password), ("new", "新口令 987654"), ("again", "新口令 987654")):
        page.fill(f"#{field}", value)
    page.click(".card button")
    # Nothing is there yet: four pages lead from here to a first run, and from the first page too.
    expect(page).to_have_url(f"{base}/start")
    page.goto(base)
    expect(page.locator("a.btn-primary[href='/start']")).to_be_visible()


def _list_with_three_bad_rows(folder: Path) -> Path:
    book = openpyxl.Workbook()
    words = book.active
    words.title = "词表"
    bad = (["侨乡", "地域", "很多"], ["华" * 50, "其他", 1], ["归侨", "群体", 99])
    for row in (["词", "类别", "权重"], ["侨务", "核心", 3], ["寻根", "文化", 2], *bad):
        words.append(row)
    sites = book.create_sheet("网站")
    for row in (["网站名称", "网址"], ["粤海侨", f"http://{HOST}/"]):
        sites.append(row)
    book.save(folder / "list.xlsx")
    return folder / "list.xlsx"


def _import(page: Page, base: str, file: Path) -> None:
    page.goto(f"{base}/topics")
    page.set_input_files("#file", file)
    page.fill("#into", "office")
    page.click("form[enctype] button")
    expect(page.locator(".table-danger")).to_have_count(3)
    page.check("[name=skip_faulty]")
    page.click("form:has([name=skip_faulty]) button")
    expect(page.locator("tbody [name=old]")).to_have_count(2)


def _run(page: Page, base: str, spider: str) -> None:
    """Start a job on the scrapyd and watch it: nobody loads the page again."""
    page.goto(f"{base}/jobs")
    page.select_option("#spider", spider)
    page.click("form:has(#spider) summary")
    page.select_option("#server", index=1)
    page.click("form:has(#spider) button")
    state = page.locator("[data-field=state_name]")
    expect(state).to_have_class(re.compile("job-running|job-finished"), timeout=WAIT_MS)
    said = page.locator(".desk-stages .desk-facts").first
    expect(said).to_have_text(re.compile("[1-9]"), timeout=WAIT_MS)
    expect(state).to_have_class(re.compile("job-finished"), timeout=WAIT_MS)
    expect(page.locator("[data-field=log]")).to_contain_text("finish_reason")


def _read_and_mark(page: Page, base: str) -> int:
    """Search, open the first article, mark it, look at its evidence; returns its number."""
    page.goto(f"{base}/articles?relevance=any&topic=office")
    page.fill("#search", "侨务")
    page.press("#search", "Enter")
    page.locator(".console-row a").first.click()
    expect(page.locator("mark").first).to_have_text("侨务")
    article = int(page.url.partition("?")[0].rpartition("/")[2])
    page.wait_for_load_state()  # before, no key is listened to
    page.keyboard.press("r")
    expect(page.locator("[data-shown=relevant]")).to_be_visible()
    page.keyboard.press("e")
    frame = page.frame_locator("iframe.console-evidence").frame_locator("iframe")
    expect(frame.locator("body")).to_contain_text("侨务")
    return article
