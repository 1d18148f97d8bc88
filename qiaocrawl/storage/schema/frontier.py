"""URLs, their hosts, and what a crawl knows of both."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, SmallInteger, UniqueConstraint

from qiaocrawl.storage.column_types import (
    MAX_HOST_CHARS,
    blob_type,
    code_type,
    id_type,
    key_type,
    name_type,
    seconds_type,
    text_type,
    time_type,
)
from qiaocrawl.storage.schema.base import KEYED_TABLE_OPTIONS, LOG_TABLE_OPTIONS, id_column, table

host = table(
    "host",
    # A hash of the name: see converters.host_id.
    Column("id", id_type(), primary_key=True, autoincrement=False),
    Column("name", code_type(MAX_HOST_CHARS), nullable=False, unique=True),
)

url = table(
    "url",
    id_column(),
    Column("key", key_type(), nullable=False, unique=True),
    Column("url", text_type(), nullable=False),
    Column("host_id", ForeignKey("host.id"), nullable=False),
    Column("queue", code_type(16), nullable=False),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    Column("state", SmallInteger, nullable=False),
    Column("outcome", code_type()),
    Column("reason", name_type(500)),
    Column("score", seconds_type(), nullable=False),
    Column("depth", Integer, nullable=False),
    Column("parent_key", key_type()),
    Column("anchor", text_type(), nullable=False),
    Column("context", text_type(), nullable=False),
    Column("payload", text_type(), nullable=False),
    Column("discovered_at", time_type(), nullable=False),
    Column("run_id", ForeignKey("run.id")),
    # Lease: the worker's token is kept when the row is closed, so that a replayed close is
    # recognised. Times in epoch seconds, since they are compared with the clock.
    Column("lease_token", id_type()),
    Column("lease_until", seconds_type()),
    Column("not_before", seconds_type(), nullable=False, default=0),
    Column("attempts", Integer, nullable=False, default=0),
    Column("failures", Integer, nullable=False, default=0),
    # What deaths of workers say about it: see storage/frontier/deaths.py.
    Column("crashes", Integer, nullable=False, default=0),
    Column("fetched_at", time_type()),
    Column("done_at", time_type()),
    Column("http_status", SmallInteger),
    Column("redirect_key", key_type()),
)

# Leasing takes the best rows of one host straight from this index.
Index(
    "ix_url_frontier",
    url.c.queue,
    url.c.topic_id,
    url.c.state,
    url.c.host_id,
    url.c.score.desc(),
    url.c.id,
)

# Pages that are gone, by the time it was noticed. Elsewhere than on SQLite all closed rows.
Index(
    "ix_url_outcome_done_at",
    url.c.outcome,
    url.c.done_at,
    sqlite_where=url.c.outcome == "dead",
)

url_alias = table(
    "url_alias",
    # By name, as site_template.
    Column("host", code_type(MAX_HOST_CHARS), primary_key=True),
    # How many rules hold now.
    Column("rules", SmallInteger, nullable=False),
    Column("updated_at", time_type(), nullable=False),
    # JSON, at most some 8 KB.
    Column("votes", text_type(), nullable=False),
)

host_turn = table(
    "host_turn",
    # By name: whatever is asked, also what no URL of ours names. Times in epoch seconds.
    Column("host", code_type(MAX_HOST_CHARS), primary_key=True),
    Column("last_at", seconds_type(), nullable=False),
    # The Crawl-delay of its robots.txt, in seconds.
    Column("delay", seconds_type(), nullable=False),
    Column("parked_until", seconds_type(), nullable=False),
    # Refusals (429, 503) in a row.
    Column("busy", Integer, nullable=False),
    **KEYED_TABLE_OPTIONS,
)

host_rest = table(
    "host_rest",
    # A host that refuses, or is silent: nobody asks it before until_at. Times in epoch seconds.
    Column("host_id", ForeignKey("host.id"), primary_key=True, autoincrement=False),
    # The first refusal since it last gave a page, and the last one.
    Column("since", seconds_type(), nullable=False),
    Column("last_at", seconds_type(), nullable=False),
    # 0: the run that met it has given it up, the next one asks it again.
    Column("until_at", seconds_type(), nullable=False),
    Column("reason", name_type(500), nullable=False),
)

aliased_url = table(
    "aliased_url",
    # Until it is known whether the preferred version brings the page.
    Column("url_id", ForeignKey("url.id"), primary_key=True, autoincrement=False),
    Column("preferred_key", key_type(), nullable=False, index=True),
)

rendering = table(
    "rendering",
    # Of host and form of the URL.
    Column("key", key_type(), primary_key=True),
    Column("host", code_type(MAX_HOST_CHARS), nullable=False),
    Column("form", name_type(200), nullable=False),
    # Pages the browser made readable, pages it did not, pages readable without it.
    Column("gained", Integer, nullable=False),
    Column("in_vain", Integer, nullable=False),
    Column("plain", Integer, nullable=False),
    Column("voted_at", seconds_type(), nullable=False, index=True),
)

visit = table(
    "visit",
    # Its place in the log. Workers commit in another order, so readers look back a while.
    Column("seq", id_type(), primary_key=True, autoincrement=True),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    Column("queue", code_type(16), nullable=False),
    Column("url_id", ForeignKey("url.id"), nullable=False),
    # Of the lease that brought it: the same visit is not noted twice, and a worker knows its own.
    Column("token", id_type(), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("depth", Integer, nullable=False),
    # By the page scorer the crawl's strategy named, in [0, 1], and its verdict.
    Column("relevance", seconds_type(), nullable=False),
    Column("relevant", Boolean, nullable=False),
    Column("at", seconds_type(), nullable=False),
    # The links within the bounds of the crawl; see storage.frontier.visit_log.
    Column("links", blob_type(), nullable=False),
    UniqueConstraint("url_id", "token", "attempt"),
    Index(None, "topic_id", "queue", "seq", "token"),
    **LOG_TABLE_OPTIONS,
)

decision = table(
    "decision",
    Column("url_id", ForeignKey("url.id"), primary_key=True, autoincrement=False),
    Column("strategy", name_type(64), nullable=False),
    Column("score", seconds_type(), nullable=False),
    # It was the place-th of so many waiting URLs, from 1; NULL where nobody counted.
    Column("place", Integer),
    Column("waiting", Integer),
    # JSON: the parts of the score by name.
    Column("parts", text_type(), nullable=False),
    Column("at", seconds_type(), nullable=False),
)

order_model = table(
    "order_model",
    Column("version", id_type(), primary_key=True, autoincrement=True),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    # The one site it was learnt on; "" for a crawl of several.
    Column("host", code_type(MAX_HOST_CHARS), nullable=False),
    Column("strategy", name_type(64), nullable=False),
    # Of the row, not of what the strategy wrote.
    Column("format", SmallInteger, nullable=False),
    Column("pages", id_type(), nullable=False),
    # Place in the log of visits up to which it has learnt.
    Column("upto", id_type(), nullable=False),
    Column("created_at", time_type(), nullable=False),
    # Of the model as the strategy wrote it; what is stored is zstd.
    Column("digest", key_type(), nullable=False),
    Column("model", blob_type(), nullable=False),
    Index(None, "topic_id", "strategy", "host", "version"),
    **LOG_TABLE_OPTIONS,
)

url_form = table(
    "url_form",
    # Of the group's name, which tells the host too.
    Column("key", key_type(), primary_key=True),
    Column("host", code_type(MAX_HOST_CHARS), nullable=False),
    Column("form", name_type(400), nullable=False),
    # At 0 or below nothing more of the group is fetched.
    Column("credit", seconds_type(), nullable=False),
    Column("fetched", Integer, nullable=False),
    Column("stories", Integer, nullable=False),
    # Pages that led to new URLs of the group and hardly to known ones.
    Column("trees", Integer, nullable=False),
    # URLs of the group that stand on lists elsewhere, about.
    Column("listed", Integer, nullable=False, server_default="0"),
    # What it was cut for beside its cost, in words.
    Column("cut", name_type(200), nullable=False, server_default=""),
    Column("updated_at", seconds_type(), nullable=False, index=True),
    **KEYED_TABLE_OPTIONS,
)
