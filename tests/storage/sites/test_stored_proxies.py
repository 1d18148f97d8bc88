"""Proxies in the database: no password, and what was learnt of them."""

from __future__ import annotations

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.proxies import Proxy, ProxyState
from qiaocrawl.storage import Database
from qiaocrawl.storage.sites.accounts import add_proxy, list_proxies, remove_proxy, save_states
from storage_samples import NOW

ONE, TWO = Proxy("http", "a.test", 1, "me"), Proxy("https", "b.test", 2)


def test_proxies_come_back_with_what_was_learnt(database: Database) -> None:
    with database.engine.begin() as c:
        add_proxy(c, ONE, password_env="PW", note=" 自家 ", now=NOW)
        add_proxy(c, TWO, password_env="", note="", now=NOW)
        learnt = ProxyState(1.5, 0.5, 0.25, 2, NOW + 60)
        save_states(c, [(ONE, learnt), (Proxy("http", "gone.test", 3), learnt)])
    with database.engine.connect() as c:
        first, second = list_proxies(c)
    assert (first.proxy, first.password_env, first.note) == (ONE, "PW", "自家")
    assert first.state == learnt
    assert second.state == ProxyState()
    assert first.with_password({"PW": "secret"}).password == "secret"
    assert second.with_password({}) == TWO
    with pytest.raises(ValueError, match="no environment variable PW"):
        first.with_password({})


def test_a_proxy_is_there_once_and_can_go(database: Database) -> None:
    with database.engine.begin() as c:
        add_proxy(c, ONE, password_env="", note="", now=NOW)
    with pytest.raises(ConfigError, match="already"), database.engine.begin() as c:
        add_proxy(c, ONE, password_env="", note="", now=NOW)
    with database.engine.begin() as c:
        with pytest.raises(ConfigError, match="longer than 100"):
            add_proxy(c, Proxy("http", "a.test", 1, "u" * 101), password_env="", note="", now=NOW)
        assert not remove_proxy(c, TWO)
        assert remove_proxy(c, Proxy("http", "a.test", 1))
        assert list_proxies(c) == []
