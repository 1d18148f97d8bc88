"""What an office has beside its crawls, so that the console over a demo shows it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, select

from qiaocrawl.fetch.sessions.vault import new_key
from qiaocrawl.storage import schedules
from qiaocrawl.storage.jobs import JobRequest
from qiaocrawl.storage.schedules import Timing, WhenMissed
from qiaocrawl.storage.schema import article, url
from qiaocrawl.storage.sites import watched
from qiaocrawl.storage.sites.accounts import add_account, list_accounts
from qiaocrawl.storage.values import from_time

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


def look_again(c: Connection, topic: str, urls: Sequence[str], now: datetime) -> int:
    """Let the stored articles at *urls* be due to be looked at; how many there are."""
    rows = c.execute(
        select(url.c.id, article.c.published_at)
        .join(article, article.c.url_id == url.c.id)
        .where(url.c.url.in_(urls))
    ).all()
    for row in rows:
        published = from_time(row.published_at) or now
        watched.put_article(
            c, topic, row.id, published=published.timestamp(), next_at=now.timestamp()
        )
    return len(rows)
