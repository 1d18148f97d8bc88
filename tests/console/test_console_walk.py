"""Every page in every role: who may, who may not, and what each answer carries."""

from __future__ import annotations

import re

import pytest

from console_client import BASE, Desk
from qiaocrawl.console.app import AREAS
from qiaocrawl.console.page import ANYBODY, Page
from qiaocrawl.storage.people import ROLES

PAGES = [page for area in AREAS for page in area.pages]


def path_of(page: Page) -> str:
    """An address of *page*, of things that are not there."""
    path = re.sub(r"\{\w+:int\}", "999999", page.path)
    return re.sub(r"\{\w+(:\w+)?\}", "nothing", path)


def test_names_and_addresses_are_each_there_once() -> None:
    assert len({page.name for page in PAGES}) == len(PAGES)
    assert len({(page.path, page.method) for page in PAGES}) == len(PAGES)
    assert {page.role for page in PAGES} <= {ANYBODY, *ROLES}
    assert {page.method for page in PAGES} <= {"GET", "POST"}


@pytest.mark.parametrize("role", ["", *ROLES[:-1]])
def test_every_page_answers_those_who_may_ask_and_nobody_else(sqlite_desk: Desk, role: str) -> None:
    # Who may is settled before a page asks the database for anything of its own.
    assert walk(sqlite_desk, role) == []


def test_an_administrator_may_ask_for_every_page(desk: Desk) -> None:
    assert walk(desk, ROLES[-1]) == []


def walk(desk: Desk, role: str) -> list[tuple[str, str, int]]:
    """Ask for every page; those that answered as they must not."""
    desk.log_in_as(role)
    wrong = []
    for page in PAGES:
        if page.name == "account.log_out":
            continue
        send = desk.get if page.method == "GET" else desk.post
        if not role and page.method == "POST":
            desk.get("/log-in")
        answer = send(path_of(page))
        may = page.role == ANYBODY or bool(role and ROLES.index(role) >= ROLES.index(page.role))
        refused = answer.status_code in (401, 403) or (
            not role and answer.status_code == 303 and "/log-in?next=" in answer.headers["location"]
        )
        is_log_in = page.name == "account.do_log_in"
        if (may == refused and not is_log_in) or answer.status_code >= 500:
            wrong.append((page.method, page.path, answer.status_code))
        for name in ("content-security-policy", "x-content-type-options", "referrer-policy"):
            assert name in answer.headers, (page.path, name)
    return wrong


def test_no_form_of_another_site_changes_anything(
    sqlite_desk: Desk, request: pytest.FixtureRequest
) -> None:
    """Each page is sent one without a token and one other of these; all of them with --all."""
    desk = sqlite_desk
    desk.log_in_as(ROLES[-1])
    token = {"csrf_token": desk.token}
    elsewhere: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {}),
        ({}, {"csrf_token": "0" * 48}),
        ({"origin": "http://evil.test"}, token),
        ({"origin": "null"}, token),
        ({"origin": "https://console.test"}, token),
        ({"origin": "http://console.test:81"}, token),
        ({"origin": "http://x.console.test"}, token),
        ({"origin": "http://[bad"}, token),
        ({"sec-fetch-site": "cross-site"}, token),
        ({"sec-fetch-site": "same-site"}, token),
    ]
    accepted = []
    is_thorough = request.config.getoption("--all")
    for number, page in enumerate(page for page in PAGES if page.method == "POST"):
        sent = elsewhere if is_thorough else [elsewhere[0], elsewhere[1 + number % 9]]
        for headers, fields in sent:
            answer = desk.client.post(path_of(page), data=fields, headers=headers)
            if answer.status_code != 403:
                accepted.append((page.path, headers, answer.status_code))
        text = {"content-type": "text/plain", "origin": "http://evil.test"}
        answer = desk.client.post(path_of(page), content='{"csrf_token": ""}', headers=text)
        if answer.status_code != 403:
            accepted.append((page.path, text, answer.status_code))
    assert accepted == []
    own = desk.client.post("/preferences", data=token, headers={"origin": BASE})
    assert own.status_code == 303


def test_the_policy_lets_no_script_in_but_ours(sqlite_desk: Desk) -> None:
    first, second = (sqlite_desk.get("/log-in") for _ in range(2))
    policy = first.headers["content-security-policy"]
    (nonce,) = set(re.findall(r"'nonce-([\w-]+)'", policy))
    assert nonce not in second.headers["content-security-policy"]
    assert "unsafe" not in policy
    scripts = re.findall(r"<script\b[^>]*>", first.text)
    assert scripts
    assert all(f'nonce="{nonce}"' in script for script in scripts)
    for page in (first, sqlite_desk.get("/nothing"), sqlite_desk.get("/static/console.css")):
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert not re.search(r"\son\w+=|style=|javascript:", page.text)
