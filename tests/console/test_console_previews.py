"""What a form would give is shown by itself, a moment after a field was changed, in Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from console_articles import add_stories
from console_browser import chromium, new_context, served
from fresh_schema import make_tables
from qiaocrawl.console.security import credentials
from qiaocrawl.storage import Database, people
from qiaocrawl.storage.audit_log import Actor
from told_stories import make_stories

pytestmark = pytest.mark.chromium


def test_previews_follow_what_is_typed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
        add_stories(database)
    make_stories(url)
    secret = credentials.new_secret()
    with Database.open(url) as database, database.engine.begin() as c:
        user_id = people.add_user(c, Actor("test"), "editor", "-", "editor")
        c.exec_driver_sql("UPDATE console_user SET must_change = 0")
        people.open_session(c, user_id, secret, "")
    with served(url) as base, chromium() as browser:
        context = new_context(browser)
        context.add_cookies([{"name": credentials.SESSION, "value": secret, "url": base}])
        page = context.new_page()
        page.goto(f"{base}/start/topic")
        page.locator("#words").fill("侨务 球赛")
        expect(page.locator("#preview")).to_contain_text("would be on topic")
        assert page.url == f"{base}/start/topic"
        page.goto(f"{base}/warnings/rules/new")
        page.locator("#name").fill("火情")
        page.locator("#any_of").fill("马德里")
        expect(page.locator("#preview")).to_contain_text("in the last 30 days")
        # What is typed stays, and nothing is said of a field that is half written.
        page.locator("#within_hours").fill("x")
        expect(page.locator("#preview")).not_to_have_attribute("aria-busy", "true")
        assert page.locator("#within_hours").input_value() == "x"
        expect(page.locator("#preview")).to_contain_text("in the last 30 days")
