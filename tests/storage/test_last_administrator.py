"""Somebody can administer, also where all take each other's rights away at the same moment."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.storage import Database
from qiaocrawl.storage import people as users
from qiaocrawl.storage.audit_log import Actor

ACTOR, ADMINISTRATORS = Actor("test"), 3


def test_one_administrator_is_left(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with database.engine.begin() as c:
        for number in range(ADMINISTRATORS):
            users.add_user(c, ACTOR, f"a{number}", "-", users.ROLES[-1])
        everybody = users.list_users(c)
    # After the change and before its end: all others look meanwhile.
    monkeypatch.setattr(users, "record", lambda *_what: time.sleep(1.0))
    together = threading.Barrier(ADMINISTRATORS)

    def take_away(user: users.User) -> bool:
        together.wait()
        try:
            with database.engine.begin() as c:
                if user.id % 2:
                    users.set_role(c, ACTOR, user, users.ROLES[0])
                else:
                    users.set_disabled(c, ACTOR, user, disabled=True)
        except ConfigError:
            return False
        return True

    with ThreadPoolExecutor(ADMINISTRATORS) as pool:
        done = list(pool.map(take_away, everybody))
    with database.engine.connect() as c:
        left = [user for user in users.list_users(c)
                if user.role == users.ROLES[-1] and user.disabled_at is None]  # fmt: skip
    assert (done.count(False), len(left)) == (1, 1)
