"""Keys and buttons of lists and articles in Chromium: for readers, on a phone, from end to end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select, update

from console_articles import add_stories
from console_browser import chromium, new_context, served
from fresh_schema import make_tables
from qiaocrawl.console.security import credentials
from qiaocrawl.reading.marks import Marks, marks_of
from qiaocrawl.storage import Database, people
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.pages.articles import packed_html
from qiaocrawl.storage.schema import article

pytestmark = pytest.mark.chromium

PHONE = {"width": 390, "height": 844}
_ERRORS: list[str] = []


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A database with a few articles; the text of each begins with a link of a stranger."""
    address = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(address) as database:
        make_tables(database)
        add_stories(database)
        with database.engine.begin() as c:
            markup = '<p><a href="http://stranger.test/">更多</a>各地代表讨论。</p>'
            for number, said in c.execute(select(article.c.id, article.c.text)).all():
                html = packed_html(markup, said)
                c.execute(update(article).where(article.c.id == number).values(html=html))
    return address


def _page(browser: Browser, base: str, url: str, role: str) -> Page:
    """A window of somebody of *role*, on a phone."""
    secret = credentials.new_secret()
    with Database.open(url) as database, database.engine.begin() as c:
        user = people.add_user(c, Actor("test"), role, "-", role)
        c.exec_driver_sql("UPDATE console_user SET must_change = 0")
        people.open_session(c, user, secret, "")
    context = new_context(browser, locale="en", viewport=PHONE)
    context.add_cookies([{"name": credentials.SESSION, "value": secret, "url": base}])
    page = context.new_page()
    page.on("pageerror", lambda error: _ERRORS.append(str(error)))
    return page


def _press(page: Page, *keys: str) -> None:
    page.wait_for_load_state()  # before, no key is listened to
    for key in keys:
        page.keyboard.press(key)


def test_keys_and_buttons(url: str) -> None:
    with served(url) as base, chromium() as browser:
        _a_reader_opens_what_the_console_has(_page(browser, base, url, "reader"), base)
        page = _page(browser, base, url, "editor")
        _an_editor_marks_on_a_phone(page, base)
        _an_editor_reads_on_by_key(page, base)
    assert _ERRORS == []
    with Database.open(url) as database, database.engine.connect() as c:
        assert marks_of(c, [3]).get(3, Marks()) == Marks()


def _a_reader_opens_what_the_console_has(page: Page, base: str) -> None:
    """Never what the captured page links to."""
    evidence = re.compile(r"/articles/3/evidence\?place=0$")
    page.goto(f"{base}/articles")
    _press(page, "j", "e")
    expect(page).to_have_url(evidence)
    page.goto(f"{base}/articles")
    _press(page, "j", "o")
    expect(page).to_have_url(re.compile(r"/articles/3\?place=0$"))
    _press(page, "o", "r", "e")
    expect(page).to_have_url(evidence)
    page.goto(f"{base}/articles/3")
    page.locator("[data-keys]").click()
    expect(page.locator("#keys")).to_be_visible()


def _an_editor_marks_on_a_phone(page: Page, base: str) -> None:
    page.goto(f"{base}/articles")
    page.wait_for_load_state()
    row = page.locator("#article-3")
    for act in ("relevant", "star"):
        button, shown = row.locator(f"[data-act={act}]"), row.locator(f"[data-shown={act}]")
        box = button.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 32
        button.click()
        expect(shown).to_be_visible()
        expect(button).to_have_attribute("aria-pressed", "true")
    expect(row.locator("[data-shown=relevant]")).to_contain_text("侨情")
    row.locator("[data-act=relevant]").click()
    expect(row.locator("[data-shown=relevant]")).to_be_hidden()


def _an_editor_reads_on_by_key(page: Page, base: str) -> None:
    page.goto(f"{base}/articles/3?relevance=any&copies=1&place=1")
    star, shown = page.locator("[data-act=star]"), page.locator("[data-shown=star]")
    expect(star).to_have_attribute("aria-pressed", "true")
    _press(page, "s")
    expect(shown).to_be_hidden()
    # What the button does follows the key: it stars again, and then takes it back.
    star.click()
    expect(shown).to_be_visible()
    star.click()
    expect(shown).to_be_hidden()
    _press(page, "j")
    expect(page).to_have_url(re.compile(r"/articles/2\?.*place=2$"))
    _press(page, "k")
    expect(page).to_have_url(re.compile(r"/articles/3\?.*place=1$"))
    page.wait_for_load_state()
    page.locator("[data-back]").click()
    expect(page.locator("#article-3.console-here")).to_be_visible()
