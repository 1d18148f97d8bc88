"""What an office has beside its crawls, so that the console over a demo shows it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection

from qiaocrawl.sessions.vault import new_key
from qiaocrawl.storage.jobs import schedules
from qiaocrawl.storage.jobs.jobs import JobRequest
from qiaocrawl.storage.jobs.schedules import Timing, WhenMissed
from qiaocrawl.storage.sites.accounts import add_account, list_accounts

LOGIN = "qiaoxiang.demo"
"""The login recipe of the demo: of a site that wants cookies."""
_RECIPE = f"""name = "{LOGIN}"
title = "演示：需登录的网站"
way = "cookies"
hosts = ["{{host}}"]
"""
_BY = "demo"


def environment(folder: Path, host: str) -> dict[str, str]:
    """Variables for accounts of the demo: its recipe and its key, made in *folder*.

    Args:
        host: the site of the demo web that wants a login.
    """
    logins, key = folder / "logins", folder / "secret.key"
    logins.mkdir(parents=True, exist_ok=True)
    (logins / f"{LOGIN}.toml").write_text(_RECIPE.format(host=host), "utf-8")
    if not key.exists():
        # Readable by its owner alone from the first byte on.
        with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(new_key())
    return {"QIAO_LOGINS_DIR": str(logins.resolve()), "QIAO_SECRET_KEY": key.read_text("ascii")}


def furnish(c: Connection, topic: str, now: datetime) -> None:
    """Add an account and a schedule, switched off, where there is none."""
    if not list_accounts(c):
        add_account(c, LOGIN, "编辑部", b"", now=now)
    if not schedules.schedules(c):
        next_at = now.astimezone(UTC).timestamp()
        timing = Timing("mon-fri 8:00", "Asia/Shanghai", next_at, WhenMissed.SKIP)
        row_id = schedules.add_schedule(c, JobRequest("watch", topic), timing, by=_BY, now=now)
        schedules.switch(c, row_id, False, next_at)
