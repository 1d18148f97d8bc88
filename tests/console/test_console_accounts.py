"""Accounts of sites at the console: a QR code to scan, cookies to paste, a log-out."""

from __future__ import annotations

import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console_client import Desk
from login_sites import QR_RECIPE, QrWeb, serving
from qiaocrawl.fetch.sessions.accounts import AccountState, Credentials, SavedSession
from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.storage import audit_log
from qiaocrawl.storage.sites.accounts import add_account, require_account

KEY = new_key()
WAIT_SECONDS = 150
PAGE = "/sites/accounts/1"


def _set_up(
    desk: Desk, folder: Path, recipe: str, monkeypatch: pytest.MonkeyPatch, origin: str = ""
) -> None:
    name = recipe.split('"')[1]
    (folder / f"{name}.toml").write_text(recipe)
    values = {
        "QIAO_LOGINS_DIR": str(folder), "QIAO_SECRET_KEY": KEY, "QIAO_ALLOW_ADDRESSES": origin,
        "QIAO_CHROMIUM": shutil.which("chromium") or "",
    }  # fmt: skip
    for option, value in values.items():
        monkeypatch.setenv(option, value)
    with desk.database.engine.begin() as c:
        add_account(c, name, "me", b"", now=datetime.now(UTC))
    desk.log_in_as("editor")


@pytest.mark.chromium
@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_the_code_to_scan_is_in_the_page(
    sqlite_desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    web = QrWeb()
    with serving(web) as origin:
        _set_up(sqlite_desk, tmp_path, QR_RECIPE.format(origin=origin), monkeypatch, origin)
        assert "QR code" in sqlite_desk.get(PAGE).text
        assert sqlite_desk.get(f"{PAGE}/code.png").status_code == 404
        assert sqlite_desk.post(f"{PAGE}/log-in", do="login").status_code == 303
        assert sqlite_desk.post(f"{PAGE}/log-in", do="login").status_code == 400, "one is under way"
        assert "data-login" in sqlite_desk.get(PAGE).text
        _wait(sqlite_desk, "code")
        picture = sqlite_desk.get(f"{PAGE}/code.png")
        assert picture.content.startswith(b"\x89PNG")
        assert picture.headers["cache-control"] == "no-store"
        sqlite_desk.log_in_as("reader")
        assert sqlite_desk.get(f"{PAGE}/code.png").status_code == 403
        sqlite_desk.log_in_as("editor")
        web.scanned.set()
        _wait(sqlite_desk, "is_over")
    assert sqlite_desk.get(f"{PAGE}/code.png").status_code == 404
    with sqlite_desk.database.engine.connect() as c:
        account = require_account(c, "qr.test", "me")
        actions = [entry.action for entry in audit_log.entries(c)]
    assert account.state is AccountState.ACTIVE, sqlite_desk.get(PAGE).text
    assert [cookie.value for cookie in SavedSession.open(Vault([KEY]), account).cookies] == [
        "secret1"
    ]
    assert "account.login" in actions


def _wait(desk: Desk, name: str) -> None:
    """Look at the log-in until *name* is there."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        told = desk.get(f"{PAGE}/progress").json()
        if told[name]:
            return
        assert not told["is_over"], told["words"]
        time.sleep(0.2)
    pytest.fail(f"no {name}: {told}")


def test_cookies_are_kept_sealed_and_forgotten(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = 'name = "club.test"\nway = "cookies"\nhosts = ["www.club.test"]\n'
    _set_up(desk, tmp_path, recipe, monkeypatch)
    assert desk.post(f"{PAGE}/log-in", do="login").status_code == 400
    assert desk.post(f"{PAGE}/cookies", cookies="nothing of use").status_code == 400
    assert desk.post(f"{PAGE}/cookies", cookies="sid=hidden1; a=b").status_code == 303
    with desk.database.engine.connect() as c:
        account = require_account(c, "club.test", "me")
        changes = str(audit_log.entries(c))
    assert account.state is AccountState.ACTIVE
    assert {cookie.value for cookie in SavedSession.open(Vault([KEY]), account).cookies} == {
        "hidden1", "b",
    }  # fmt: skip
    assert "hidden1" not in changes + desk.get(PAGE).text + repr(account.session)
    assert desk.post(f"{PAGE}/log-out").status_code == 303
    with desk.database.engine.connect() as c:
        account = require_account(c, "club.test", "me")
    assert (account.state, account.session) == (AccountState.OUT, b"")
    assert "logged out" in desk.get(PAGE).text
    assert desk.get("/sites/accounts/2").status_code == 404


def test_an_account_is_added_and_its_password_shown_to_nobody(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "form.test.toml").write_text(
        'name = "form.test"\nway = "http"\nhosts = ["www.form.test"]\n'
        '[http]\norigins = ["https://www.form.test"]\n'
    )
    monkeypatch.setenv("QIAO_LOGINS_DIR", str(tmp_path))
    monkeypatch.setenv("QIAO_SECRET_KEY", "")
    desk.log_in_as("editor")
    form = "/sites/accounts/new"
    assert "QIAO_SECRET_KEY" in desk.get(form).text
    monkeypatch.setenv("QIAO_SECRET_KEY", KEY)
    assert 'value="form.test"' in desk.get(form).text
    secret = " pass wört "
    wanted = {"site": "form.test", "name": "编辑部", "user": "desk@form.test", "password": secret}
    for wrong in ({"site": "none.test"}, {"name": ""}, {"name": "x" * 101}, {"password": "  "}):
        refused = desk.post(form, **{**wanted, **wrong})
        assert refused.status_code == 400, wrong
        assert "wört" not in refused.text
    for _time in range(2):
        answer = desk.post(form, **wanted)
        assert (answer.status_code, answer.headers["location"]) == (303, PAGE)
    assert desk.post(form, site="weibo.com", name="微博").status_code == 303
    with desk.database.engine.connect() as c:
        account = require_account(c, "form.test", "编辑部")
        without = require_account(c, "weibo.com", "微博")
        changes = audit_log.entries(c)
    opened = Credentials.open(Vault([KEY]), account)
    assert opened == Credentials("desk@form.test", secret)
    assert without.secret == b""
    assert [entry.before for entry in changes if entry.target == account.owner] == [
        '{"state": "new"}', "",
    ]  # fmt: skip
    shown = desk.get(PAGE).text + desk.get("/sites").text
    assert "wört" not in str(changes) + shown + repr(account.secret)
    desk.log_in_as("reader")
    assert desk.post(form, **wanted).status_code == 403
