"""What the console is started with."""

from __future__ import annotations

from dataclasses import dataclass

from qiaocrawl.options import Options

MAX_BODY_BYTES = 20 * 1024 * 1024
"""Of a request: a workbook of a hundred thousand rows has a tenth of that."""


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """Options of the console.

    Attributes:
        root_path: path under which a reverse proxy shows it, "" for none.
        idle_seconds, session_seconds: how long a session lasts without a request, and in all.
        search_dir: folder of the full text index, "" for beside the database.
    """

    database_url: str
    host: str = "127.0.0.1"
    port: int = 8808
    root_path: str = ""
    idle_seconds: float = 1800.0
    session_seconds: float = 43_200.0
    search_dir: str = ""

    @classmethod
    def from_options(cls, options: Options) -> ConsoleSettings:
        """As the operator set them."""
        return cls(
            options["QIAO_DATABASE_URL"],
            options["QIAO_CONSOLE_HOST"],
            options["QIAO_CONSOLE_PORT"],
            options["QIAO_CONSOLE_ROOT_PATH"],
            60 * options["QIAO_CONSOLE_IDLE_MINUTES"],
            3600 * options["QIAO_CONSOLE_SESSION_HOURS"],
            options["QIAO_CONSOLE_SEARCH_DIR"],
        )
