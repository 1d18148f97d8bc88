"""The table of accounts: sealed in, sealed out, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fresh_schema import make_tables
from qiaocrawl.errors import ConfigError, SecretKeyError
from qiaocrawl.fetch.sessions.accounts import AccountState, Credentials, SavedSession, owner_name
from qiaocrawl.fetch.sessions.cookies import StoredCookie
from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.storage import Database
from qiaocrawl.storage.sites import accounts

NOW = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
COOKIE = StoredCookie("sid", "机密", ".club.test", expires=2e9, secure=True)


def test_an_account_from_its_making_to_its_end(database: Database) -> None:
    make_tables(database)
    vault = Vault([new_key()])
    sealed = Credentials("张三", "pässwörd").seal(vault, owner_name("club.test", "张三"))
    with database.engine.begin() as c:
        number = accounts.add_account(c, "club.test", "张三", sealed, now=NOW)
        accounts.add_account(c, "club.test", "li", b"", now=NOW)
    with database.engine.begin() as c:
        account = accounts.require_account(c, "club.test", "张三")
        assert (account.id, account.state) == (number, AccountState.NEW)
        secret = Credentials.open(vault, account)
        assert secret == Credentials("张三", "pässwörd")
        assert "pässwörd" not in repr(secret) + repr(account)
        session = SavedSession((COOKIE,), ({"origin": "https://club.test"},))
        accounts.save_session(c, number, session.seal(vault, account.owner), now=NOW,
                              logged_in=True)  # fmt: skip
        found = accounts.load_account(c, number)
        assert found is not None
        assert (found.state, found.logged_in_at) == (AccountState.ACTIVE, NOW)
        assert SavedSession.open(vault, found) == session
        until = NOW + timedelta(hours=6)
        accounts.save_state(c, number, AccountState.RESTING, "密码错误", now=NOW, rests_until=until)
        found = accounts.require_account(c, "club.test", "张三")
        assert (found.state, found.reason, found.rests_until) == ("resting", "密码错误", until)
        accounts.save_state(c, number, AccountState.OUT, "", now=NOW)
        assert accounts.require_account(c, "club.test", "张三").session == b""
        accounts.remove_account(c, number)
        assert [one.name for one in accounts.list_accounts(c, "club.test")] == ["li"]
        with pytest.raises(ConfigError, match=r"has no account '张三' \(there are: li\)"):
            accounts.require_account(c, "club.test", "张三")


def test_a_new_key_takes_over_and_rows_cannot_be_swapped(database: Database) -> None:
    make_tables(database)
    old, new = new_key(), new_key()
    first = Vault([old])
    with database.engine.begin() as c:
        for name in ("a", "b"):
            secret = Credentials(name, f"pw-{name}").seal(first, owner_name("s", name))
            accounts.add_account(c, "s", name, secret, now=NOW)
        both = Vault([new, old])
        done = accounts.reseal_all(c, lambda owner, text: both.seal(owner, both.open(owner, text)))
        assert done == 2
        one, other = accounts.list_accounts(c, "s")
        assert Credentials.open(Vault([new]), one) == Credentials("a", "pw-a")
        with pytest.raises(SecretKeyError, match="is not the key"):
            Credentials.open(first, one)
        with pytest.raises(SecretKeyError, match="belongs to another account"):
            Vault([new]).open(one.owner, other.secret)
