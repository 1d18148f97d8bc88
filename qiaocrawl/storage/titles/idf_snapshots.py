"""IDF snapshots: how common words were among the stored titles at one moment, by version."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Select, func, select

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.pages.articles import MAX_TERM_CHARS
from qiaocrawl.storage.schema import idf_snapshot, idf_term, verdict
from qiaocrawl.storage.sql import Statement
from qiaocrawl.storage.titles import title_log
from qiaocrawl.storage.values import clean_word, epoch_time, from_time
from qiaocrawl.vsm import IdfSnapshot

_TERMS = Statement("SELECT term, df FROM idf_term WHERE version = :version")
_ADD_TERM = Statement("INSERT INTO idf_term (version, term, df) VALUES (:version, :term, :df)")
_ADD = Statement(
    "INSERT INTO idf_snapshot (version, created_at, documents, note)"
    " VALUES (:version, :created_at, :documents, :note)"
)
_TERMS_AT_A_TIME = 5_000


@dataclass(frozen=True, slots=True)
class SnapshotLine:
    """A snapshot as a list shows it. ``verdicts`` are those made with it that still stand."""

    version: int
    created_at: datetime | None
    documents: int
    terms: int
    note: str
    is_used: bool
    verdicts: int


def list_snapshots(c: Connection) -> list[SnapshotLine]:
    """All snapshots by version, the shipped one first."""
    used = title_log.idf_version(c)
    terms = _counts(c, select(idf_term.c.version, func.count()).group_by(idf_term.c.version))
    judged = _counts(c, select(verdict.c.snapshot, func.count()).group_by(verdict.c.snapshot))
    # The shipped snapshot has no rows here, but verdicts were made with it.
    lines = [SnapshotLine(0, None, 0, 0, "shipped with the program", used == 0, judged[0])]
    statement = select(idf_snapshot).order_by(idf_snapshot.c.version)
    for row in c.execute(statement):
        lines.append(
            SnapshotLine(
                row.version,
                from_time(row.created_at),
                row.documents,
                terms[row.version],
                row.note,
                row.version == used,
                judged[row.version],
            )
        )
    return lines


def _counts(c: Connection, query: Select[int, int]) -> Counter[int]:
    return Counter({row[0]: row[1] for row in c.execute(query)})


def load_snapshot(c: Connection, version: int) -> IdfSnapshot:
    """The snapshot of *version*.

    Raises:
        ConfigError: there is none.
    """
    if version == 0:
        return IdfSnapshot()
    query = select(idf_snapshot.c.documents).where(idf_snapshot.c.version == version)
    documents = c.execute(query).scalar_one_or_none()
    if documents is None:
        raise ConfigError(
            _(
                "there is no IDF snapshot {version}; `qiaocrawl dedup snapshot list` shows those "
                "there are",
                version=version,
            )
        )
    terms = dict(_TERMS.run(c, {"version": version}).fetchall())
    return IdfSnapshot(version, documents, terms)


def next_version(c: Connection) -> int:
    """The version a new snapshot is to have: one more than the highest."""
    highest = c.execute(select(func.max(idf_snapshot.c.version))).scalar_one()
    return (highest or 0) + 1


def save_snapshot(c: Connection, snapshot: IdfSnapshot, *, note: str, now: float) -> None:
    """Store a new *snapshot*; it is not in use until :func:`title_log.set_idf_version`.

    Raises:
        DriverError: its version is there already.
    """
    _ADD.run(
        c,
        {
            "version": snapshot.version,
            "created_at": epoch_time(now),
            "documents": snapshot.documents,
            "note": clean_word(note, 200),
        },
    )
    # Cut to the column's length, two long terms may become one: their counts add up.
    terms: Counter[str] = Counter()
    for term, df in snapshot.frequencies.items():
        terms[clean_word(term, MAX_TERM_CHARS)] += df
    rows = [
        {"version": snapshot.version, "term": term, "df": df}
        for term, df in sorted(terms.items())
        if term
    ]
    for start in range(0, len(rows), _TERMS_AT_A_TIME):
        _ADD_TERM.run_many(c, rows[start : start + _TERMS_AT_A_TIME])
