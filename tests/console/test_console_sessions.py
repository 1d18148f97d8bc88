"""Log-ins at the same time, sessions nobody uses, and what of them is in the log of changes."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from console_client import Desk
from qiaocrawl.console.security import credentials
from qiaocrawl.storage import audit_log, people

NAME, RIGHT = "alice", "right password"
TRIES = 12


@pytest.fixture
def guarded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A console where one user can log in, by a password that costs nothing to look at."""
    with desk.database.engine.begin() as c:
        people.add_user(c, audit_log.Actor("test"), NAME, "-", "reader")
        c.exec_driver_sql("UPDATE console_user SET must_change = 0")
    monkeypatch.setattr(credentials, "is_right", lambda stored, given: given == RIGHT)
    desk.get("/log-in")
    return desk


def _actions(desk: Desk) -> list[tuple[str, str]]:
    with desk.database.engine.connect() as c:
        return [(entry.action, entry.target) for entry in reversed(audit_log.entries(c))][1:]


def test_tries_at_the_same_time_are_counted_too(
    guarded: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []

    def slow(_stored: str | None, given: str) -> bool:
        looked_at.append(given)
        time.sleep(0.1)
        return False

    monkeypatch.setattr(credentials, "is_right", slow)
    together = threading.Barrier(TRIES)

    def attempt(number: int) -> int:
        together.wait()
        return int(guarded.post("/log-in", name=NAME, password=f"{number}").status_code)

    with ThreadPoolExecutor(TRIES) as pool:
        codes = list(pool.map(attempt, range(TRIES)))
    assert set(codes) <= {403, 429}
    assert len(looked_at) == codes.count(403) <= people.MAX_FAILURES_OF_PAIR
    assert guarded.post("/log-in", name=NAME, password="late").status_code == 429


def test_pages_are_shown_while_a_password_is_looked_at(
    guarded: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_asked, may_end = threading.Event(), threading.Event()

    def held(_stored: str | None, _given: str) -> bool:
        is_asked.set()
        return may_end.wait(60)

    monkeypatch.setattr(credentials, "is_right", held)
    with ThreadPoolExecutor(2) as pool:
        log_in = pool.submit(guarded.post, "/log-in", name=NAME, password=RIGHT)
        assert is_asked.wait(60)
        shown = pool.submit(guarded.get, "/log-in")
        try:
            assert shown.result(60).status_code == 200
            assert not log_in.done()
        finally:
            may_end.set()
        assert log_in.result(60).status_code == 303


def test_the_log_has_log_ins_and_no_password(guarded: Desk) -> None:
    for name, password in [(NAME, "wrong 1"), ("my secret password", "x"), (NAME, RIGHT)]:
        guarded.post("/log-in", name=name, password=password)
    guarded._cookie = guarded.client.cookies["qiao_session"]
    assert guarded.post("/log-out").status_code == 303
    guarded._cookie = ""
    guarded.get("/log-in")
    for _try in range(people.MAX_FAILURES_OF_PAIR + 3):
        guarded.post("/log-in", name=NAME, password="wrong 2")
    failed, throttled = ("session.fail", NAME), ("session.throttle", NAME)
    assert _actions(guarded) == [
        failed, ("session.fail", ""), ("session.begin", NAME), ("session.end", NAME),
        *[failed] * people.MAX_FAILURES_OF_PAIR, throttled,
    ]  # fmt: skip
    with guarded.database.engine.connect() as c:
        stored = str(audit_log.entries(c))
    assert "secret" not in stored
    assert "wrong" not in stored
    guarded.log_in_as("administrator")
    page = guarded.get("/people/changes").text
    for words in ("logged out", "failed to log in", "may try no log-in"):
        assert words in page


@pytest.mark.parametrize(
    ("path", "keeps"),
    [("/jobs", True), ("/jobs/events", False), ("/jobs?unattended=1", False)],
)
def test_an_open_page_keeps_nobody_logged_in(sqlite_desk: Desk, path: str, keeps: bool) -> None:
    desk = sqlite_desk
    desk.log_in_as("editor")

    def seen(change: str = "") -> str:
        with desk.database.engine.begin() as c:
            if change:
                c.exec_driver_sql("UPDATE console_session SET last_seen_at = ?", (change,))
            (value,) = c.exec_driver_sql("SELECT last_seen_at FROM console_session").one()
        return str(value)

    past = time.strftime("%Y-%m-%d %H:%M:%S.000000", time.gmtime(time.time() - 300))
    before = seen(past)
    assert desk.get(path).status_code == 200
    assert (seen() != before) == keeps
