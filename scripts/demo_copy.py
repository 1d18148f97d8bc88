"""A copy of what a demo found, with a few marks, for pictures and pages of the documentation."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from qiaocrawl.reading import marks
from qiaocrawl.storage import Database
from qiaocrawl.storage.audit_log import Actor

TOPIC = "qiaoqing"


def marked_copy(source: Path, folder: Path, name: str) -> tuple[str, int]:
    """The URL of a copy in *folder*, marked by *name*, and an article to show: one with reprints.

    Args:
        source: a demo's database, which is left as it is.
    """
    file = folder / "demo.db"
    with closing(sqlite3.connect(source)) as database, closing(sqlite3.connect(file)) as copy:
        database.backup(copy)
    url = f"sqlite:///{file}"
    with Database.open(url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            articles = list(c.exec_driver_sql(
                "SELECT v.group_id FROM verdict v JOIN relevance r ON r.article_id = v.group_id"
                " AND r.relevant GROUP BY v.group_id ORDER BY count(*) DESC, 1 LIMIT 3"
            ).scalars())  # fmt: skip
            actor = Actor(name, "127.0.0.1")
            marks.set_star(c, actor, articles[0], starred=True)
            marks.set_tags(c, actor, articles[0], ["要闻", "上报"])
            marks.set_note(c, actor, articles[0], "周一例会用")
            marks.judge(c, actor, articles[1], TOPIC, relevant=True)
    return url, articles[0]
