"""Proxies, accounts, and what is watched."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, SmallInteger, UniqueConstraint

from qiaocrawl.storage.column_types import (
    MAX_HOST_CHARS,
    blob_type,
    code_type,
    id_type,
    key_type,
    name_type,
    seconds_type,
    short_bytes_type,
    time_type,
)
from qiaocrawl.storage.schema.base import KEYED_TABLE_OPTIONS, LOG_TABLE_OPTIONS, table

proxy = table(
    "proxy",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("scheme", code_type(8), nullable=False),
    Column("host", code_type(MAX_HOST_CHARS), nullable=False),
    Column("port", Integer, nullable=False),
    Column("login", name_type(100), nullable=False),
    # The environment variable that holds the password, which is stored nowhere.
    Column("password_env", code_type(100), nullable=False),
    Column("note", name_type(200), nullable=False),
    Column("added_at", time_type(), nullable=False),
    # Decayed counts and mean: see fetch/proxy_pool.py.
    Column("successes", seconds_type(), nullable=False),
    Column("failures", seconds_type(), nullable=False),
    Column("latency_seconds", seconds_type(), nullable=False),
    Column("failures_in_row", Integer, nullable=False),
    # Epoch seconds; 0 for one that does not rest.
    Column("resting_until", seconds_type(), nullable=False),
    UniqueConstraint("scheme", "host", "port", "login"),
)

account = table(
    "account",
    # Never given twice: the jars of a run, and messages, go by it.
    Column("id", id_type(), primary_key=True, autoincrement=True),
    # Name of the login recipe.
    Column("site", code_type(64), nullable=False),
    Column("name", name_type(100), nullable=False),
    Column("state", code_type(16), nullable=False),
    # In words, why it rests.
    Column("reason", name_type(500), nullable=False),
    # Both encrypted with QIAO_SECRET_KEY: user name and password; cookies. Empty = none.
    Column("secret", blob_type(), nullable=False),
    Column("session", blob_type(), nullable=False),
    Column("logged_in_at", time_type()),
    Column("rests_until", time_type()),
    Column("updated_at", time_type(), nullable=False),
    UniqueConstraint("site", "name"),
    **LOG_TABLE_OPTIONS,
)

watched_page = table(
    "watched_page",
    Column("topic_id", ForeignKey("topic.id"), primary_key=True, autoincrement=False),
    Column("url_id", ForeignKey("url.id"), primary_key=True, autoincrement=False, index=True),
    # home, rolling, channel, list or feed.
    Column("kind", code_type(16), nullable=False),
    # What its site calls it: the channel of articles found on it.
    Column("name", name_type(200), nullable=False),
    Column("weight", seconds_type(), nullable=False),
    Column("since", seconds_type(), nullable=False),
    # Epoch seconds.
    Column("next_at", seconds_type(), nullable=False),
    Column("last_at", seconds_type()),
    Column("changed_at", seconds_type()),
    # New links an hour, as estimated, and the hours between visits, as planned.
    Column("rate", seconds_type(), nullable=False),
    Column("wait_hours", seconds_type(), nullable=False),
    Column("visits", Integer, nullable=False),
    Column("changes", Integer, nullable=False),
    Column("news", Integer, nullable=False),
    # Visits in a row that brought no page.
    Column("failures", Integer, nullable=False),
    Column("etag", name_type(500), nullable=False),
    Column("modified", name_type(64), nullable=False),
    # Of the links into the site, sorted.
    Column("digest", key_type()),
    # See revisit.VisitHistory.
    Column("memory", short_bytes_type(250), nullable=False),
    Index(None, "topic_id", "next_at"),
    **KEYED_TABLE_OPTIONS,
)

watched_article = table(
    "watched_article",
    Column("url_id", ForeignKey("url.id"), primary_key=True, autoincrement=False),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    # Epoch seconds: when it came out, or was first seen; when it is looked at next.
    Column("published", seconds_type(), nullable=False),
    Column("next_at", seconds_type(), nullable=False),
    Column("etag", name_type(500), nullable=False),
    Column("modified", name_type(64), nullable=False),
    Index(None, "topic_id", "next_at"),
    **KEYED_TABLE_OPTIONS,
)

watch_hour = table(
    "watch_hour",
    Column("host_id", ForeignKey("host.id"), primary_key=True, autoincrement=False),
    # Of the week, 0 being Thursday 00:00 UTC, as the epoch began.
    Column("hour", SmallInteger, primary_key=True, autoincrement=False),
    Column("articles", seconds_type(), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

watch_day = table(
    "watch_day",
    Column("topic_id", ForeignKey("topic.id"), primary_key=True, autoincrement=False),
    # Days since the epoch, by China's midnight.
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("host_id", ForeignKey("host.id"), primary_key=True, autoincrement=False),
    # Requests for listing pages, for new articles, for articles again.
    Column("pages", Integer, nullable=False),
    Column("articles", Integer, nullable=False),
    Column("looks", Integer, nullable=False),
    **KEYED_TABLE_OPTIONS,
)
