"""Marks in the log of titles, by which a file knows the log it was made of.

A mark is 16 random bytes, put in while the log is locked, with the number of the newest entry. It
is committed after all entries up to there, and none of these changes later: what changes gets a
new number. So a database that has the mark has the log up to there, entry for entry, but for
those that were written again behind it. A backup of before, another database at the same address,
or one that went another way since then does not have it.
"""

from __future__ import annotations

from sqlalchemy import Connection

from qiaocrawl.storage.raw_sql import Statement
from qiaocrawl.storage.titles import title_log

_ADD = Statement("INSERT INTO title_mark (mark, seq) VALUES (:mark, :seq)")
_ALL = Statement("SELECT mark, seq FROM title_mark ORDER BY seq DESC, mark")
_DELETE = Statement("DELETE FROM title_mark WHERE mark = :mark")
# Each machine and user of a database has files of its own.
_MOST_MARKS = 64


def add(c: Connection, mark: bytes, seq: int) -> None:
    """Put *mark* into the log behind *seq*, its newest entry; the oldest of many marks go."""
    title_log.lock(c)
    _ADD.run(c, {"mark": mark, "seq": seq})
    _DELETE.run_many(c, [{"mark": old} for old in list(marks(c))[_MOST_MARKS:]])


def marks(c: Connection) -> dict[bytes, int]:
    """All marks with their places in the log, the newest first."""
    return {bytes(mark): seq for mark, seq in _ALL.run(c).fetchall()}
