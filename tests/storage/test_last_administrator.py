"""Somebody can administer, also where all take each other's rights away at the same moment."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.storage import Database, people
from qiaocrawl.storage.audit_log import Actor

ACTOR, ADMINISTRATORS = Actor("test"), 3


def test_one_administrator_is_left(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with database.engine.begin() as c:
        for number in range(ADMINISTRATORS):
            people.add_user(c, ACTOR, f"a{number}", "-", people.ROLES[-1])
        everybody = people.list_users(c)
    # After the change and before its end: all others look meanwhile.
    monkeypatch.setattr(people, "record", lambda *_what: time.sleep(1.0))
    together = threading.Barrier(ADMINISTRATORS)

    def take_away(user: people.User) -> bool:
        together.wait()
        try:
            with database.engine.begin() as c:
                if user.id % 2:
                    people.set_role(c, ACTOR, user, people.ROLES[0])
                else:
                    people.set_disabled(c, ACTOR, user, disabled=True)
        except ConfigError:
            return False
        return True

    with ThreadPoolExecutor(ADMINISTRATORS) as pool:
        done = list(pool.map(take_away, everybody))
    with database.engine.connect() as c:
        left = [user for user in people.list_users(c)
                if user.role == people.ROLES[-1] and user.disabled_at is None]  # fmt: skip
    assert (done.count(False), len(left)) == (1, 1)
