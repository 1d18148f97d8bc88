"""URLs, their hosts, and what a crawl knows of both."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, SmallInteger, UniqueConstraint

from qiaocrawl.storage.schema.base import KEYED_TABLE_OPTIONS, LOG_TABLE_OPTIONS, id_column, table
from qiaocrawl.storage.values import (
    MAX_HOST_CHARS,
    blob_type,
    code_type,
    id_type,
    key_type,
    name_type,
    seconds_type,
    short_bytes_type,
    text_type,
    time_type,
)

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


# --- What search engines were asked and what they answered ----------------------------------------

query = table(
    "query",
    id_column(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    # Hash of topic, engine, term, site, page and, where there is one, period.
    Column("key", key_type(), nullable=False, unique=True),
    Column("engine", name_type(64), nullable=False),
    Column("term", name_type(200), nullable=False),
    Column("site", code_type(MAX_HOST_CHARS), nullable=False),
    Column("page", Integer, nullable=False),
    Column("state", code_type(), nullable=False),
    Column("hits", Integer, nullable=False),
    Column("new_urls", Integer, nullable=False),
    Column("message", text_type(), nullable=False),
    Column("planned_at", time_type(), nullable=False),
    Column("asked_at", time_type()),
    Column("period", code_type(), nullable=False, server_default=""),
    # Synonyms asked with the term, one a line.
    Column("also", name_type(500), nullable=False, server_default=""),
    Column("tries", Integer, nullable=False, server_default="0"),
    # Answers in a row that were none or not whole (partial).
    Column("bad_in_a_row", Integer, nullable=False, server_default="0"),
    # Not to be asked again before; NULL: when the operator's interval is over.
    Column("due_at", time_type()),
    # Results the engine says there are; NULL where it does not say.
    Column("total", id_type()),
    # Requests and new URLs, older ones counting less: see storage/search/ledger.py.
    Column("asked_weight", seconds_type(), nullable=False, server_default="0"),
    Column("new_weight", seconds_type(), nullable=False, server_default="0"),
    # Of the frontier row that asked it last, which is the parent of the URLs it brought.
    Column("url_key", key_type(), index=True),
    Index(None, "topic_id", "engine", "state"),
)

query_answer = table(
    "query_answer",
    Column("query_id", ForeignKey("query.id"), primary_key=True),
    # The number of the try modulo the answers that are kept: the newest takes the oldest's place.
    Column("slot", SmallInteger, primary_key=True),
    Column("asked_at", time_type(), nullable=False),
    Column("state", code_type(), nullable=False),
    Column("hits", Integer, nullable=False),
    Column("new_urls", Integer, nullable=False),
    Column("message", name_type(300), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

query_hit = table(
    "query_hit",
    Column("query_id", ForeignKey("query.id"), primary_key=True),
    # Of the URL as the engine gave it; it may lead elsewhere.
    Column("key", key_type(), primary_key=True),
    **KEYED_TABLE_OPTIONS,
)

engine_day = table(
    "engine_day",
    Column("engine", name_type(64), primary_key=True),
    # By Beijing time, as 2026-03-05.
    Column("day", code_type(10), primary_key=True),
    Column("asked", Integer, nullable=False),
    **KEYED_TABLE_OPTIONS,
)


# --- Proxies, accounts, and what is watched -------------------------------------------------------

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
    # Hours between its last changes, the newest last, 4 bytes each; NULL before there are any.
    Column("gaps", short_bytes_type(120)),
    Index(None, "topic_id", "next_at"),
    **KEYED_TABLE_OPTIONS,
)

board = table(
    "board",
    # Topics watch it as a page of the kind board.
    Column("url_id", ForeignKey("url.id"), primary_key=True, autoincrement=False),
    Column("name", name_type(200), nullable=False),
    # JSON: where its entries stand; "" for the form of newsnow.
    Column("form", text_type(), nullable=False),
    # Epoch seconds: when a list was read last, and how many entries it had.
    Column("seen_at", seconds_type()),
    Column("entries", Integer, nullable=False),
    # Why the last answer was no list; "" where it was one.
    Column("fault", name_type(500), nullable=False),
)

board_entry = table(
    "board_entry",
    id_column(),
    Column("board_id", ForeignKey("board.url_id"), nullable=False),
    # Of the folded title.
    Column("key", key_type(), nullable=False),
    Column("title", name_type(200), nullable=False),
    Column("address", text_type(), nullable=False),
    Column("heat", name_type(40), nullable=False),
    # Epoch seconds; on_seconds are those between looks that both found it there.
    Column("first_at", seconds_type(), nullable=False),
    Column("last_at", seconds_type(), nullable=False, index=True),
    Column("on_seconds", seconds_type(), nullable=False),
    Column("last_rank", SmallInteger, nullable=False),
    Column("best_rank", SmallInteger, nullable=False),
    Column("best_at", seconds_type(), nullable=False),
    Index(None, "board_id", "key", unique=True),
)

board_rank = table(
    "board_rank",
    Column("entry_id", ForeignKey("board_entry.id"), primary_key=True, autoincrement=False),
    # Epoch seconds: a row where the place is another than before, or the entry came back.
    Column("at", seconds_type(), primary_key=True, autoincrement=False),
    Column("place", SmallInteger, nullable=False),
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
