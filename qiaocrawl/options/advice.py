"""Commands that messages advise: to be typed as they are printed."""

from __future__ import annotations

import re
import shlex
from contextvars import ContextVar

_PASSWORD = re.compile(r"(?<=://)([^:/@]*):[^@]*(?=@)")
_given_url: ContextVar[str] = ContextVar("given_database_url", default="")


def note_database(url: str) -> None:
    """Remember the database that a command was given by option; "" for none."""
    _given_url.set(url)


def advised(command: str) -> str:
    """*command* (``qiaocrawl …``) on the database that this one was given by option.

    A password is not printed again: three asterisks stand where it belongs.
    """
    url = _given_url.get()
    if not url:
        return command
    option = "-s QIAO_DATABASE_URL=" if command.startswith("qiaocrawl crawl ") else "--database "
    shown = _PASSWORD.sub(r"\1:***", url)
    return f"{command} {option}{shlex.quote(shown)}"
