"""Log records as lines for people, or as JSON for machines (``QIAO_LOG_FORMAT``)."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime

from qiaocrawl.text.visible import VisibleRecord, visible_json

JSON = "json"
"""``QIAO_LOG_FORMAT`` for lines of JSON."""
PLAIN_LINE = "%(message)s"
"""The format of handlers where the record is a whole line by itself."""

_context: dict[str, str | int] = {}


def note_context(**values: str | int) -> None:
    """Put *values* (spider, topic, run) into all JSON lines of this process from now on."""
    _context.update({name: value for name, value in values.items() if value != ""})


class JsonRecord(VisibleRecord):
    """A record whose message is the whole line: one JSON object, its traceback inside."""

    def getMessage(self) -> str:  # noqa: N802 (logging's own name for it)
        """The line."""
        line: dict[str, str | int] = {
            "time": _moment(self.created),
            "level": self.levelname,
            "logger": self.name,
            "message": _message(self),
            **_context,
        }
        if self.exc_info and self.exc_info[1] is not None:
            line["traceback"] = "".join(traceback.format_exception(*self.exc_info)).rstrip()
        text = visible_json(json.dumps(line, ensure_ascii=False))
        # Half a pair of a broken page has no bytes; its escape is what JSON has for it.
        return text.encode("utf-8", "backslashreplace").decode("utf-8")

    # A formatter would put both below the line.
    @property
    def exc_text(self) -> str | None:
        """Nothing: the traceback is in the line."""
        return None

    @exc_text.setter
    def exc_text(self, text: str | None) -> None:
        pass

    @property
    def stack_info(self) -> str | None:
        """Nothing, for the same reason."""
        return None

    @stack_info.setter
    def stack_info(self, text: str | None) -> None:
        pass


def _message(record: logging.LogRecord) -> str:
    # As it was said: visible() would drop what JSON escapes.
    try:
        return logging.LogRecord.getMessage(record)
    except (TypeError, ValueError):
        # Arguments that do not fit their format must not lose the line.
        return f"{record.msg} {record.args!r}"


def _moment(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def use_json_records() -> None:
    """Let all log lines of this process be JSON; handlers have the format :data:`PLAIN_LINE`."""
    logging.setLogRecordFactory(JsonRecord)


def is_json_log() -> bool:
    """Whether log lines of this process are JSON."""
    return logging.getLogRecordFactory() is JsonRecord


def use_visible_records() -> None:
    """Let all log lines of this process be without control characters, if they are not JSON."""
    if not is_json_log():
        logging.setLogRecordFactory(VisibleRecord)
