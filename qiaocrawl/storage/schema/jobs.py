"""Spiders that were asked for, and when they are asked for by themselves."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, SmallInteger

from qiaocrawl.storage.column_types import code_type, name_type, seconds_type, text_type, time_type
from qiaocrawl.storage.schema.base import id_column, table

job_schedule = table(
    "job_schedule",
    id_column(),
    Column("spider", code_type(), nullable=False),
    Column("topic", name_type(64), nullable=False),
    # JSON: arguments and settings of the spider, as NAME: VALUE.
    Column("arguments", text_type(), nullable=False),
    Column("settings", text_type(), nullable=False),
    # host:port of a scrapyd; "" for processes of the machine the console runs on.
    Column("server", name_type(100), nullable=False),
    # Times of day or cron fields, see jobs/timetable.py, in this zone.
    Column("times", name_type(200), nullable=False),
    Column("zone", code_type(64), nullable=False),
    Column("is_on", Boolean, nullable=False),
    # What becomes of a time at which no console ran: run or skip.
    Column("when_missed", code_type(8), nullable=False),
    # Epoch seconds.
    Column("next_at", seconds_type(), nullable=False, index=True),
    Column("last_at", seconds_type()),
    # started, overlap or missed.
    Column("last_result", code_type(), nullable=False),
    Column("created_by", name_type(100), nullable=False),
    Column("created_at", time_type(), nullable=False),
    # Epoch seconds since when it has these times and is on; NULL of an older version.
    Column("since_at", seconds_type()),
)

job = table(
    "job",
    id_column(),
    Column("schedule_id", ForeignKey("job_schedule.id"), index=True),
    Column("spider", code_type(), nullable=False),
    Column("topic", name_type(64), nullable=False),
    Column("arguments", text_type(), nullable=False),
    Column("settings", text_type(), nullable=False),
    Column("server", name_type(100), nullable=False),
    # The machine whose console starts it, where the server is "".
    Column("machine", name_type(255), nullable=False),
    Column("state", code_type(16), nullable=False),
    # Of one attempt: scrapyd's job id, and what the run's record says it was for.
    Column("token", code_type(), nullable=False),
    Column("attempts", SmallInteger, nullable=False),
    Column("pid", Integer),
    # As a command wrote it itself when it ended (spiders write their run); NULL: it did not.
    Column("exit_code", Integer),
    Column("log", name_type(500), nullable=False),
    # In words: why it waits, or how it ended.
    Column("message", name_type(500), nullable=False),
    Column("requested_by", name_type(100), nullable=False),
    Column("created_at", time_type(), nullable=False),
    Column("started_at", time_type()),
    Column("ended_at", time_type()),
    # Epoch seconds since when its server does not know it, though it answers.
    Column("missing_since", seconds_type()),
    Index(None, "state"),
)

# Threads and processes that look after something all the time: of jobs, search index, metrics.
keeper = table(
    "keeper",
    Column("name", code_type(32), primary_key=True),
    Column("machine", name_type(255), primary_key=True),
    # Epoch seconds of the last look that came to its end.
    Column("looked_at", seconds_type(), nullable=False),
    # What keeps it from looking, or what it cannot do; "" for nothing.
    Column("trouble", name_type(500), nullable=False),
)
