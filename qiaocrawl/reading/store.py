"""What is stored, for programs and notebooks.

::

    with qiaocrawl.open("sqlite:///data/qiaocrawl.db") as store:
        frame = store.articles(topic="qiaoqing", since="2026-11-01").to_pandas()
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.reading.records import ArticleRecord, count_articles, iter_articles
from qiaocrawl.storage import Database
from qiaocrawl.storage.backup import growing_file
from qiaocrawl.storage.selection import ORDERS, Selection
from qiaocrawl.storage.sql import unreachable
from qiaocrawl.text.zones import SHANGHAI

if TYPE_CHECKING:
    import pandas
    import pyarrow

Moment = datetime | date | str | None
"""A moment, a day, or either as ISO 8601 writes it; without a zone it is Beijing's."""

# Bodies have up to 10 MiB.
_ROWS_AT_A_TIME = 500


class Store:
    """The articles of one database, read only; a context manager that closes it."""

    def __init__(self, url: str = "") -> None:
        """Open the database at *url*, else that of QIAO_DATABASE_URL (``.env`` is read).

        Raises:
            ConfigError: a wrong URL.
            StorageError: it cannot be opened, or is of another version of the program.
        """
        given = {"QIAO_DATABASE_URL": url} if url else None
        self._database = Database.open(
            Options.from_environment(given)["QIAO_DATABASE_URL"], must_exist=True
        )
        self._database.require_current()

    def articles(
        self,
        topic: str | None = None,
        *,
        since: Moment = None,
        before: Moment = None,
        only_relevant: bool = True,
        sites: Sequence[str] = (),
        words: Sequence[str] = (),
        order: str = "",
    ) -> Articles:
        """Articles to iterate over, as often as wanted; nothing is read before.

        Args:
            topic: a name as `qiaocrawl topic list` shows it; None for all.
            since, before: of publication, from the first moment on and before the second.
            only_relevant: leaves out what the topic (None: every topic) did not find on topic.
            sites: hosts, each with all below it.
            words: each must stand in title or text, in simplified or traditional characters.
            order: one of ``newest`` (found), ``published`` (lately), ``score``; "" as they were
                stored, which alone takes constant memory.

        Raises:
            ConfigError: a moment or an order that is none. A topic that is not there raises
                StorageError at the first iteration.
        """
        selection = Selection(
            topic=topic,
            since=_moment("since", since),
            before=_moment("before", before),
            only_relevant=only_relevant,
            sites=tuple(sites),
            words=tuple(words),
            order=_known_order(order),
        )
        return Articles(self._database, selection)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Articles:
    """A choice of articles. Each iteration reads them anew, in constant memory.

    On SQLite no crawl waits for it, however long it takes.
    """

    database: Database
    selection: Selection

    def __iter__(self) -> Iterator[ArticleRecord]:
        with _connection(self.database) as c:
            yield from iter_articles(c, self.selection)

    def __len__(self) -> int:
        """How many there are now."""
        with _connection(self.database) as c:
            return count_articles(c, self.selection)

    def to_pandas(self) -> pandas.DataFrame:
        """A row an article, a column an attribute of :class:`ArticleRecord`; times are UTC.

        Raises:
            ConfigError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ConfigError(_not_installed("pandas")) from None
        names = [field.name for field in fields(ArticleRecord)]
        frame = pandas.DataFrame((_plain(record) for record in self), columns=names)
        for name in _MOMENTS:
            # Else a column without a moment has no type.
            frame[name] = pandas.to_datetime(frame[name], utc=True)
        return frame

    def to_parquet(self, path: str | Path) -> int:
        """Write them as one Parquet file, some hundred rows in memory; says how many.

        Raises:
            ConfigError: pyarrow is not installed.
            StorageError: the path cannot be written.
        """
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            raise ConfigError(_not_installed("pyarrow")) from None
        schema, rows, written = _schema(pyarrow), (_plain(record) for record in self), 0
        with growing_file(Path(path)) as part, parquet.ParquetWriter(part, schema) as file:
            while some := list(islice(rows, _ROWS_AT_A_TIME)):
                file.write_table(pyarrow.Table.from_pylist(some, schema=schema))
                written += len(some)
        return written


_MOMENTS = ("published_at", "modified_at", "fetched_at")


@contextmanager
def _connection(database: Database) -> Iterator[Connection]:
    try:
        with database.reading() as c:
            yield c
    except SQLAlchemyError as error:
        raise unreachable(error, database.shown_url) from error


def _plain(record: ArticleRecord) -> dict[str, Any]:
    """Values that tables take: mappings become pairs, comments mappings."""
    return {
        **asdict(record),
        "engagement": dict(record.engagement),
        "comments": [comment._asdict() for comment in record.comments],
    }


def _schema(pyarrow: Any) -> pyarrow.Schema:
    """The types of all columns: of rows without a value they cannot be told."""
    text, moment = pyarrow.string(), pyarrow.timestamp("us", tz="UTC")
    own = {
        "id": pyarrow.int64(),
        "score": pyarrow.float64(),
        "similarity": pyarrow.float64(),
        "relevant": pyarrow.bool_(),
        "engagement": pyarrow.map_(text, pyarrow.int64()),
        "comments": pyarrow.list_(
            pyarrow.struct([("author", text), ("published_at", moment), ("text", text)])
        ),
        **dict.fromkeys(_MOMENTS, moment),
    }
    return pyarrow.schema(
        [(field.name, own.get(field.name, text)) for field in fields(ArticleRecord)]
    )


def _moment(name: str, given: Moment) -> datetime | None:
    """The first moment of *given*, aware."""
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given)
        except ValueError:
            raise ConfigError(
                _(
                    "{name}={given!r} is no moment; write one such as 2026-11-01 or "
                    "2026-11-01T08:00+08:00",
                    name=name,
                    given=given,
                )
            ) from None
    if given is None:
        return None
    if not isinstance(given, datetime):
        given = datetime.combine(given, time())
    return given if given.tzinfo is not None else given.replace(tzinfo=SHANGHAI)


def _known_order(order: str) -> str:
    if order not in ("", *ORDERS):
        raise ConfigError(
            _("order={order!r}: there are {names}", order=order, names=", ".join(ORDERS))
        )
    return order


def _not_installed(package: str) -> str:
    return _("{package} is not installed: pip install {package}", package=package)
