"""Storage: schema, migrations and the operations on them, over SQLAlchemy Core.

SQLite is the default, MySQL and MariaDB are reached by URL. Every operation is a plain
function whose first argument is an open connection, so that a caller can put several into one
transaction; :class:`~qiaocrawl.storage.writer.Writer` runs such transactions on its own thread.
"""

from __future__ import annotations

from qiaocrawl.storage.database import Database
from qiaocrawl.storage.writer import Reader, Writer

__all__ = ["Database", "Reader", "Writer"]
