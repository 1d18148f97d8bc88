"""What the console is started with."""

from __future__ import annotations

from dataclasses import dataclass

from qiaocrawl.options import Options

MAX_BODY_BYTES = 20 * 1024 * 1024
"""Of a request with files: a workbook of a hundred thousand rows has a tenth of that."""
MAX_FORM_BYTES = 2 * 1024 * 1024
"""Of any other form; a sample is the longest."""
MAX_STRANGER_BYTES = 16 * 1024
"""Of a form that is read before anybody is known: of the log-in, of language and look."""


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
