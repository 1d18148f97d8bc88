"""``qiaocrawl session …`` as an operator uses it; logins against real servers on loopback."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from crawling import PROJECT, rows
from forking_python import forking_python
from fresh_schema import make_tables
from login_sites import CLUB, EVIL, LoginWeb, recipes_folder, serving
from qiaocrawl.fetch.sessions.accounts import SavedSession
from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.storage import Database
from qiaocrawl.storage.sites.accounts import require_account

CANARY = "canary-51c0"


Run = Callable[..., tuple[int, str, str]]


class Operator:
    """Runs commands with one database and one key."""

    def __init__(self, folder: Path, run: Run, patch: pytest.MonkeyPatch) -> None:
        self.url = f"sqlite:///{folder / 'q.db'}"
        self.folder = folder
        self.key = new_key()
        self._run, self._patch = run, patch
        recipes = recipes_folder(folder, target=f"http://{CLUB}/member")
        for name, value in {
            "QIAO_LOGINS_DIR": recipes,
            "QIAO_DATABASE_URL": self.url,
            "PYTHONPATH": str(PROJECT),
        }.items():
            patch.setenv(name, value)  # fmt: skip
        # A log-in is a spider of its own.
        patch.setattr(sys, "executable", forking_python(folder))
        with Database.open(self.url) as database:
            make_tables(database)

    def session(self, *arguments: str, typed: str = "", **options: str) -> tuple[int, str, str]:
        for name, value in {"QIAO_SECRET_KEY": self.key, **options}.items():
            self._patch.setenv(name, value)
        self._patch.setattr(sys, "stdin", io.StringIO(typed))
        return self._run("session", *arguments)

    def said(self, *arguments: str, typed: str = "", **options: str) -> str:
        code, out, error = self.session(*arguments, typed=typed, **options)
        assert code == 0, error
        return out

    def refused(self, *arguments: str, typed: str = "", **options: str) -> str:
        code, out, error = self.session(*arguments, typed=typed, **options)
        assert code == 1, out + error
        return error


@pytest.fixture
def operator(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Operator:
    return Operator(tmp_path, run, monkeypatch)


def test_an_account_is_kept_logged_in_checked_and_removed(operator: Operator) -> None:
    web = LoginWeb()
    password = web.passwords["user1"]
    assert "club.test" in operator.said("sites")
    assert len(operator.said("key", "new").strip()) == 44
    operator.said("add", "club.test", "user1", "--stdin", typed=f"{password}\n")
    with serving(web) as origin:
        said = operator.said("login", "club.test", "user1", QIAO_DEMO=origin)
        assert "account user1 is logged in" in said
        assert "is logged in" in operator.said("check", "club.test", "user1", QIAO_DEMO=origin)
        assert web.logins == {("user1", True): 1}
        web.lasts, web._sessions = 0, {}
        said = operator.refused("check", "club.test", "user1", QIAO_DEMO=origin)
        assert "is not logged in" in said
        web.submit_status = 307
        said = operator.refused("login", "club.test", "user1", QIAO_DEMO=origin)
        assert "ALERT" in said
    assert not [seen for seen in web.requests if seen.host == EVIL]
    assert "resting" in operator.said("list")
    operator.said("logout", "club.test", "user1")
    assert "logged out" in operator.said("list")
    operator.said("remove", "club.test", "user1")
    assert rows(operator.url, "SELECT 1 FROM account") == []


def test_cookies_come_from_a_private_file_a_variable_or_standard_input(operator: Operator) -> None:
    operator.said("add", "weibo.com", "me")
    file = operator.folder / "cookies.txt"
    file.write_text(f".weibo.com\tTRUE\t/\tTRUE\t1999999999\tSUB\t{CANARY}\n")
    file.chmod(0o644)
    said = operator.refused("login", "weibo.com", "me", "--cookies", str(file))
    assert "chmod 600" in said
    file.chmod(0o600)
    state = json.dumps(
        {
            "cookies": [
                {"name": "SUB", "value": CANARY, "domain": ".weibo.com"},
                {"name": "x", "value": "1", "domain": ".other.test"},
            ]
        }
    )
    for arguments, typed, extra in (
        (str(file), "", {}), ("-", f"SUB={CANARY}", {}), ("env:PASTED", "", {"PASTED": state}),
    ):  # fmt: skip
        said = operator.said("login", "weibo.com", "me", "--cookies", arguments, typed=typed,
                             **extra)  # fmt: skip
        assert "cookies kept for account me" in said
        with Database.open(operator.url) as database, database.engine.connect() as c:
            account = require_account(c, "weibo.com", "me")
            kept = SavedSession.open(Vault([operator.key]), account).cookies
        assert {one.value for one in kept} == {CANARY}
    assert "left out: 1 of another site" in said
    # F-C9: what was written is the owner's alone.
    for path in operator.folder.glob("q.db*"):
        assert path.stat().st_mode & 0o077 == 0, path
        assert CANARY.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "typed", "options", "said"),
    [
        (("add", "club.test", "a", "--stdin"), "x", {"QIAO_SECRET_KEY": ""},
         "QIAO_SECRET_KEY is not set; `qiaocrawl session key new` makes one"),
        (("add", "club.test", "a", "--stdin"), "x", {"QIAO_SECRET_KEY": CANARY}, "(not shown)"),
        (("add", "club.test", "a", "--stdin"), "\n", {}, "standard input is empty"),
        (("add", "club.test", "a", "--env", "NO_SUCH"), "", {}, "NO_SUCH is not set"),
        (("add", "nowhere", "a"), "", {}, "no login recipe 'nowhere'"),
        (("login", "club.test", "a"), "", {}, "has no account 'a' (there are: none)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_line(
    operator: Operator, arguments: tuple[str, ...], typed: str, options: dict[str, str], said: str
) -> None:
    told = operator.refused(*arguments, typed=typed, **options)
    assert said in " ".join(told.split())
    assert CANARY not in told


def test_a_key_is_changed_without_losing_an_account(operator: Operator) -> None:
    operator.said("add", "club.test", "a", "--env", "PW", PW=CANARY)
    newer = new_key()
    said = operator.said("key", "rotate", QIAO_SECRET_KEY=f"{newer},{operator.key}")
    assert "1 accounts are encrypted with the first key" in said
    assert "is not the key" in operator.refused("key", "rotate")
    assert "1 accounts" in operator.said("key", "rotate", QIAO_SECRET_KEY=newer)
