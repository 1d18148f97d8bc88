"""Logging in: passwords, sessions, throttling, where it leads, what is noted."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from console_client import Desk, desk_at
from fresh_schema import make_tables
from qiaocrawl.console.app import FIRST_NAME, first_administrator
from qiaocrawl.console.security import credentials
from qiaocrawl.storage import Database, audit_log, people

_NEW = "新的口令 12345"


def _log_in(desk: Desk, password: str, name: str = FIRST_NAME, target: str = ""):  # type: ignore[no-untyped-def]
    desk.get("/log-in")
    return desk.post("/log-in", name=name, password=password, next=target)


def test_the_first_start_makes_an_administrator_who_chooses_a_password(desk: Desk) -> None:
    password = first_administrator(desk.database)
    assert len(password) > 20
    assert first_administrator(desk.database) == ""
    assert desk.get("/people?x=1").headers["location"] == "/log-in?next=%2Fpeople%3Fx%3D1"

    answer = _log_in(desk, password, target="/people?x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/people?x=1")
    assert desk.get("/people").headers["location"] == "/password"
    old = desk.client.cookies[credentials.SESSION]
    desk._cookie = old
    for fields, reason in (
        ({"old": "x", "new": _NEW, "again": _NEW}, "present password is wrong"),
        ({"old": password, "new": _NEW, "again": "other"}, "differ"),
        ({"old": password, "new": "short", "again": "short"}, "10 to 200 characters"),
        ({"old": password, "new": password, "again": password}, "is the old one"),
    ):
        answer = desk.post("/password", **fields)
        assert (answer.status_code, reason in answer.text) == (400, True), reason
    answer = desk.post("/password", old=password, new=_NEW, again=_NEW)
    assert answer.status_code == 303
    assert desk.client.cookies[credentials.SESSION] != old
    assert desk.get("/people").status_code == 200
    # The session of before is over, also on the server.
    desk.client.cookies.set(credentials.SESSION, old, domain="console.test")
    desk.client.cookies.clear()
    desk.client.cookies.set(credentials.SESSION, old)
    assert desk.get("/people").status_code == 303
    with desk.database.engine.connect() as c:
        entries = audit_log.entries(c)
    assert [entry.action for entry in entries] == [
        "session.begin", "user.password", "session.begin", "user.add",
    ]  # fmt: skip
    assert not any(password in str(entry) or _NEW in str(entry) for entry in entries)


def test_a_session_ends_by_log_out_by_rest_and_by_age(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    for ends in ("log out", "UPDATE console_session SET last_seen_at = '2020-01-01'",
                 "UPDATE console_session SET created_at = '2020-01-01'",
                 "UPDATE console_user SET disabled_at = '2020-01-01'"):  # fmt: skip
        desk.log_in_as("reader")
        assert desk.get("/").status_code == 200
        cookie = desk.client.cookies[credentials.SESSION]
        if ends == "log out":
            assert desk.post("/log-out").status_code == 303
            desk.client.cookies.set(credentials.SESSION, cookie)
        else:
            with desk.database.engine.begin() as c:
                c.exec_driver_sql(ends)
        assert desk.get("/").status_code == 303, ends


def test_cookies_are_out_of_reach(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
        password = first_administrator(database)
    with desk_at(url, root_path="/desk") as desk:
        desk.client.base_url = "https://console.test"
        assert 'action="/desk/log-in"' in desk.get("/desk/log-in").text
        fields = {"name": FIRST_NAME, "password": password, "csrf_token": desk.token}
        answer = desk.client.post("/desk/log-in", data=fields)
        assert answer.headers["location"] == "/desk/"
        (cookie,) = (
            value for value in answer.headers.get_list("set-cookie")
            if value.startswith(credentials.SESSION)
        )  # fmt: skip
        assert {"HttpOnly", "SameSite=lax", "Secure", "Path=/desk"} <= set(cookie.split("; "))
        with desk.database.engine.connect() as c:
            (stored,) = c.exec_driver_sql("SELECT digest FROM console_session").one()
        assert cookie.split("=")[1].split(";")[0].encode() not in bytes(stored)


@pytest.mark.parametrize(
    "target",
    ["//evil.test", "/\\evil.test", "https://evil.test", "/\t/evil.test", "\\\\evil.test",
     "javascript:alert(1)", "/%0d%0aset-cookie:x=1\r\nx", " //evil.test", "", "evil.test",
     "/x\n//evil.test", "///evil.test"],
)  # fmt: skip
def test_a_log_in_leads_to_no_other_site(target: str) -> None:
    from qiaocrawl.console.security.credentials import local_path

    assert local_path(target, "/home") == "/home"
    assert local_path("/articles?words=侨务&page=2", "/home") == "/articles?words=侨务&page=2"


def test_wrong_passwords_are_throttled(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with desk.database.engine.begin() as c:
        actor = audit_log.Actor("test")
        people.add_user(c, actor, "alice", credentials.hash_password("right password"), "reader")
    # What a hash costs is not what is tried here.
    monkeypatch.setattr(credentials, "is_right", lambda stored, given: given == "right password")
    codes = [_log_in(desk, str(number), "alice").status_code for number in range(50)]
    assert codes[: people.MAX_FAILURES_OF_PAIR] == [403] * people.MAX_FAILURES_OF_PAIR
    assert set(codes[people.MAX_FAILURES_OF_PAIR :]) == {429}
    assert _log_in(desk, "right password", "alice").status_code == 429
    with desk.database.engine.begin() as c:
        c.exec_driver_sql("UPDATE login_failure SET failed_at = '2020-01-01'")
    assert _log_in(desk, "right password", "alice").status_code == 303
    # Of one address, whatever the names.
    desk.client.cookies.clear()
    codes = [_log_in(desk, "x", f"user{number}").status_code for number in range(40)]
    assert codes.count(429) == 10


def test_a_wrong_name_takes_as_long_as_a_wrong_password() -> None:
    stored = credentials.hash_password("right password")
    credentials.is_right(None, "warm")

    def cost(which: str | None) -> float:
        before = time.process_time()
        assert not credentials.is_right(which, "wrong password")
        return time.process_time() - before

    # In turns, and the least of each: what other processes cost falls on both, and goes away.
    costs = [(cost(None), cost(stored)) for _ in range(5)]
    of_nobody, of_somebody = (min(each) for each in zip(*costs, strict=True))
    assert of_nobody > of_somebody / 3


def test_consoles_on_one_host_do_not_log_each_other_out(tmp_path: Path) -> None:
    """A browser gives its cookies to all ports of a host."""
    desks = []
    with ExitStack() as stack:
        for port in (8901, 8902):
            url = f"sqlite:///{tmp_path / str(port)}.db"
            with Database.open(url) as database:
                make_tables(database)
            desk = stack.enter_context(desk_at(url, port=port))
            password = first_administrator(desk.database)
            if desks:
                desk.client.cookies = desks[0].client.cookies
            page = desk.get("/log-in").text
            token = re.search(r'name="csrf_token" value="(\w+)"', page)
            assert token
            fields = {"name": "admin", "password": password, "csrf_token": token[1]}
            assert desk.client.post("/log-in", data=fields).status_code == 303
            desks.append(desk)
        for desk in desks:
            assert desk.get("/").headers["location"].startswith("/password"), "logged in"
