"""Machines that run spiders, the workers on them, and which of them has which hosts."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer

from qiaocrawl.storage.column_types import code_type, id_type, name_type, seconds_type, time_type
from qiaocrawl.storage.schema.base import KEYED_TABLE_OPTIONS, id_column, table

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
