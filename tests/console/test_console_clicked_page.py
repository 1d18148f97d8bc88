"""A template made by clicking in Chromium: nothing of the page acts, and each click answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from console_browser import chromium, new_context, served
from fresh_schema import make_tables
from qiaocrawl.console.security import credentials
from qiaocrawl.storage import Database, people
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.sites.templates import templates_in_force
from shown_site import HOST, TITLES, add_site

pytestmark = pytest.mark.chromium


def _log_in(context: BrowserContext, base: str, url: str) -> None:
    secret = credentials.new_secret()
    with Database.open(url) as database, database.engine.begin() as c:
        user_id = people.add_user(c, Actor("test"), "editor", "-", "editor")
        c.exec_driver_sql("UPDATE console_user SET must_change = 0")
        people.open_session(c, user_id, secret, "")
    context.add_cookies([
        {"name": credentials.SESSION, "value": secret, "url": base},
        {"name": credentials.LANGUAGE, "value": "zh_CN", "url": base},
    ])  # fmt: skip


def _click(page: Page, what: str, selector: str) -> None:
    page.get_by_role("radio", name=what, exact=True).check()
    page.frame_locator("#stored").locator(selector).first.click()


def test_a_template_is_made_by_clicks(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
        add_site(database)
    with served(url) as base, chromium() as browser:
        context = new_context(browser, viewport={"width": 1440, "height": 900})
        _log_in(context, base, url)
        asked: list[str] = []
        refused: list[str | None] = []
        context.on("requestfinished", lambda request: asked.append(request.url))
        context.on("requestfailed", lambda request: refused.append(request.failure))
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{base}/sites/template?host={HOST}")
        frame = page.frame_locator("#stored")
        for what, selector, found in (
            ("标题", ".biaoti", TITLES[-1]),
            ("日期", ".riqi", "2026-03-05"),
            ("正文", ".neirong p", "第1段"),
            ("来源", ".xinxi", "侨乡报"),
        ):
            _click(page, what, selector)
            expect(page.locator("#taken")).to_contain_text(found)
        expect(page.locator("#chosen")).to_contain_text("另外 4 个网页里，4 个也有这个位置")
        # What was chosen is marked on the page, and a link leads nowhere.
        assert frame.locator(".biaoti").evaluate(
            "node => getComputedStyle(node).outlineStyle"
        ) == "dashed"  # fmt: skip
        _click(page, "不要的部分", ".fenxiang")
        expect(page.locator("#taken")).to_contain_text("1 处")
        page.frame_locator("#stored").locator(".top a").click()
        assert page.url.startswith(base)
        assert page.evaluate("document.getElementById('stored').contentWindow.ran") is None
        page.get_by_role("button", name="在已存的").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("试")
        page.get_by_role("button", name="保存").click()
        expect(page.get_by_role("status").first).to_contain_text("已保存")
        assert not [one for one in asked if not one.startswith((base, "data:"))]
        # The page's own style names another: the policy has kept the browser from asking.
        assert set(refused) <= {"csp"}
        assert not errors
    with Database.open(url) as database, database.reading() as c:
        (version,) = templates_in_force(c)
    assert version.content is not None
    assert version.content["title"] == ["div.biaoti"]
    assert version.content["body"] == ["div.neirong"]
    assert version.by == "editor"
