"""The console: who works at it, what they marked, and what they changed."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, SmallInteger, UniqueConstraint

from qiaocrawl.storage.schema.base import KEYED_TABLE_OPTIONS, id_column, table
from qiaocrawl.storage.values import (
    blob_type,
    code_type,
    digest_type,
    id_type,
    key_type,
    long_text_type,
    name_type,
    seconds_type,
    text_type,
    time_type,
)

office = table(
    "office",
    # 1: there is one row, or none.
    id_column(),
    Column("name", name_type(100), nullable=False),
    # A small picture, and its type; b"" and "" for none.
    Column("mark", blob_type(), nullable=False),
    Column("mark_type", code_type(), nullable=False),
    Column("changed_at", time_type(), nullable=False),
)

console_user = table(
    "console_user",
    id_column(),
    Column("name", name_type(64), nullable=False, unique=True),
    # Argon2id, with its parameters and salt.
    Column("password", code_type(200), nullable=False),
    Column("role", code_type(), nullable=False),
    # A password that somebody else chose: the first thing its owner does is to change it.
    Column("must_change", Boolean, nullable=False),
    Column("created_at", time_type(), nullable=False),
    # NULL: may log in.
    Column("disabled_at", time_type()),
)

console_identity = table(
    "console_identity",
    # Of issuer and subject: a provider's own name for a person, which never changes.
    Column("digest", digest_type(), primary_key=True),
    Column("user_id", ForeignKey("console_user.id"), nullable=False, index=True),
    Column("issuer", name_type(255), nullable=False),
    Column("subject", name_type(255), nullable=False),
    Column("connected_at", time_type(), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

console_session = table(
    "console_session",
    # Of the cookie: who reads the database cannot log in with it.
    Column("digest", digest_type(), primary_key=True),
    Column("user_id", ForeignKey("console_user.id"), nullable=False, index=True),
    Column("created_at", time_type(), nullable=False),
    Column("last_seen_at", time_type(), nullable=False),
    Column("address", code_type(64), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

login_failure = table(
    "login_failure",
    id_column(),
    # Of the name that was given, which may be nobody's, or somebody's password by mistake.
    Column("name_key", key_type(), nullable=False),
    Column("address", code_type(64), nullable=False),
    Column("failed_at", time_type(), nullable=False, index=True),
)

audit_entry = table(
    "audit_entry",
    id_column(),
    Column("at", time_type(), nullable=False, index=True),
    # By name, not by row: an entry outlives its user.
    Column("user_name", name_type(64), nullable=False),
    Column("address", code_type(64), nullable=False),
    Column("action", code_type(64), nullable=False),
    Column("target", name_type(500), nullable=False),
    # JSON; NULL before for what is new, after for what is gone.
    Column("before", long_text_type()),
    Column("after", long_text_type()),
)

api_token = table(
    "api_token",
    id_column(),
    Column("digest", digest_type(), nullable=False, unique=True),
    Column("user_id", ForeignKey("console_user.id"), nullable=False, index=True),
    Column("name", name_type(100), nullable=False),
    Column("created_at", time_type(), nullable=False),
    Column("last_used_at", time_type()),
)

saved_search = table(
    "saved_search",
    id_column(),
    Column("user_id", ForeignKey("console_user.id"), nullable=False),
    Column("name", name_type(100), nullable=False),
    # As it stands behind the ? of a list's address.
    Column("query", text_type(), nullable=False),
    Column("created_at", time_type(), nullable=False),
    UniqueConstraint("user_id", "name"),
)

article_mark = table(
    "article_mark",
    # By URL: an article that is read anew keeps its mark.
    Column("url_id", ForeignKey("url.id"), primary_key=True),
    Column("starred", Boolean, nullable=False),
    Column("note", text_type(), nullable=False),
    Column("marked_by", name_type(64), nullable=False),
    Column("marked_at", time_type(), nullable=False),
    Index(None, "starred", "marked_at"),
)

article_tag = table(
    "article_tag",
    Column("url_id", ForeignKey("url.id"), primary_key=True),
    Column("tag", name_type(50), primary_key=True, index=True),
    **KEYED_TABLE_OPTIONS,
)


# --- Spiders that were asked for, and when they are asked for by themselves -----------------------

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


# --- Machines that run spiders, the workers on them, and which of them has which hosts ------------

node = table(
    "node",
    id_column(),
    # host:port, by which jobs name it.
    Column("name", name_type(100), nullable=False, unique=True),
    # Of its scrapyd, without user and password, ending in a slash.
    Column("address", name_type(300), nullable=False),
    # The environment variable with USER:PASSWORD, which are stored nowhere; "" for none.
    Column("login_env", code_type(100), nullable=False),
    Column("weight", seconds_type(), nullable=False),
    # What it may run, comma separated; "" for all.
    Column("spiders", name_type(200), nullable=False),
    Column("topics", name_type(500), nullable=False),
    # Nothing is started on it.
    Column("is_draining", Boolean, nullable=False),
    # Of the egg it was sent last.
    Column("version", name_type(64), nullable=False),
    Column("deployed_at", time_type()),
    Column("added_at", time_type(), nullable=False),
    # Epoch seconds since when it does not answer.
    Column("away_since", seconds_type()),
)

# No foreign keys: rows of a collector come and go with its process, and are no evidence.
collector = table(
    "collector",
    # Of its leases.
    Column("token", id_type(), primary_key=True, autoincrement=False),
    # A hash of queue, topic and sites: those of one crawl share its hosts.
    Column("crawl", id_type(), nullable=False, index=True),
    Column("run_id", id_type(), index=True),
    Column("weight", seconds_type(), nullable=False),
    # Mean of its fetches; 0 while none was measured.
    Column("fetch_seconds", seconds_type(), nullable=False),
    Column("pages", Integer, nullable=False),
    Column("pages_per_minute", seconds_type(), nullable=False),
    # Its place in the round of the policy.
    Column("turns", seconds_type(), nullable=False),
    # Epoch seconds by the database's clock.
    Column("started_at", seconds_type(), nullable=False),
    Column("seen_at", seconds_type(), nullable=False),
)

host_round = table(
    "host_round",
    # Written by whoever deals out the hosts of a crawl: one at a time, on a cluster too, where
    # row locks do not travel and the second writer is refused at its commit.
    Column("crawl", id_type(), primary_key=True, autoincrement=False),
    Column("at", seconds_type(), nullable=False),
)

host_owner = table(
    "host_owner",
    Column("crawl", id_type(), primary_key=True, autoincrement=False),
    Column("host_id", id_type(), primary_key=True, autoincrement=False),
    # Of its collector.
    Column("token", id_type(), nullable=False),
    Index(None, "crawl", "token"),
    **KEYED_TABLE_OPTIONS,
)
