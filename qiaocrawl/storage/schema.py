"""The tables. URL, page and article are global; relevance is per topic; reprint groups are global.

::

    topic ─┬─ term, site, sample            the topic pack
           ├─ judgement                     which pages operators say are on topic
           ├─ lexicon_decision              what experts decided of its words
           ├─ query ── query_answer         the coverage ledger: keyword x site x engine x
           │        └─ query_hit            period x page, the last answers to each, all its hits
           ├─ url ─┬─ page_source           raw bytes, one row a version of the body
           │  │    ├─ article_part          one page of a paged article, by itself
           │  │    ├─ excerpt               blocks of an article below links to other pages
           │  │    └─ article ─┬─ relevance (per topic)
           │  └─ host          ├─ title_term ── term_weight
           └─ run              ├─ title_entry (the log of titles) ── title_clock
                               └─ verdict   (reprint groups)

    idf_snapshot ── idf_term                how common words are, as verdicts take it
    site_template                           what each host repeats
    url_alias                               which addresses of a host are other names of pages
    rendering                               which forms of URLs need a browser
    host_turn                               when workers asked a host last, and its wish to wait
    aliased_url ── url                      URLs whose preferred version is fetched instead
    visit ── url, topic                     the log of fetched pages and where their links led
    decision ── url                         why a URL was fetched when it was
    order_model ── topic                    what crawl orders have learnt
    proxy                                   proxies an operator added, and how they have done
    engine_day                              requests a search engine got a day
    account                                 who logs in to a site, encrypted
    url_form                                what groups of URLs cost and brought: traps are cut
    missing_page                            what hosts show for pages that do not exist
    watched_page, watched_article ── url    what is looked at again, and when
    watch_hour, watch_day ── host           when sites publish; what watching asked of them
    revision ── url                         what articles said before, and deletions

Changing a table means a new file in ``migrations/versions/``; a test compares the two.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    UniqueConstraint,
)

from qiaocrawl.storage.column_types import (
    MAX_HOST_CHARS,
    MAX_SKETCH_BYTES,
    blob_type,
    code_type,
    digest_type,
    id_type,
    key_type,
    long_text_type,
    name_type,
    seconds_type,
    short_bytes_type,
    text_type,
    time_type,
)

# One InnoDB table option set for all; SQLite ignores it.
TABLE_OPTIONS: dict[str, Any] = {
    f"{dialect}_{option}": value
    for dialect in ("mysql", "mariadb")
    for option, value in {
        "engine": "InnoDB",
        "charset": "utf8mb4",
        "collate": "utf8mb4_bin",
        # long_text and blobs of one page are read and written whole, off the row.
        "row_format": "DYNAMIC",
    }.items()
}

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class State(IntEnum):
    """Where a URL stands (``url.state``)."""

    PENDING = 0
    """Waits to be leased, from ``not_before`` on."""
    LEASED = 1
    """A worker fetches it, until ``lease_until``."""
    FETCHED = 2
    """Its page is stored and waits for, or is in, analysis."""
    DONE = 3
    FAILED = 4
    """Given up after too many failures."""
    SET_ASIDE = 5
    """Left alone: it killed its workers, or it can never be fetched."""


# On SQLite a table keyed by words or pairs is its own index then: a fifth less to write.
KEYED_TABLE_OPTIONS = {**TABLE_OPTIONS, "sqlite_with_rowid": False}
# Numbers of a log are never given twice, also where its last row is deleted. InnoDB does so anyway.
LOG_TABLE_OPTIONS = {**TABLE_OPTIONS, "sqlite_autoincrement": True}


def _table(name: str, *parts: Any, **options: Any) -> Table:
    # Tables: a column a line.
    # fmt: off
    return Table(name, metadata, *parts, **(options or TABLE_OPTIONS))


def _id() -> Column[int]:
    return Column("id", id_type(), primary_key=True, autoincrement=True)


topic = _table(
    "topic",
    _id(),
    Column("name", name_type(64), nullable=False, unique=True),
    Column("title", name_type(200), nullable=False),
    Column("description", text_type(), nullable=False),
    Column("language", code_type(16), nullable=False),
    Column("threshold", seconds_type(), nullable=False),
    Column("created_at", time_type(), nullable=False),
    Column("updated_at", time_type(), nullable=False),
)

term = _table(
    "term",
    _id(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    Column("text", name_type(100), nullable=False),
    Column("kind", name_type(32), nullable=False),
    Column("weight", seconds_type(), nullable=False),
    Column("note", text_type(), nullable=False),
    Column("position", Integer, nullable=False),
    UniqueConstraint("topic_id", "text"),
)

site = _table(
    "site",
    _id(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    Column("host", code_type(MAX_HOST_CHARS), nullable=False, index=True),
    Column("name", name_type(200), nullable=False),
    Column("role", name_type(32), nullable=False),
    Column("tier", SmallInteger, nullable=False),
    Column("region", name_type(100), nullable=False),
    Column("kind", name_type(32), nullable=False),
    Column("start_url", text_type(), nullable=False),
    Column("render", Boolean, nullable=False),
    Column("note", text_type(), nullable=False),
    Column("position", Integer, nullable=False),
    UniqueConstraint("topic_id", "host"),
)

sample = _table(
    "sample",
    _id(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    Column("name", name_type(200), nullable=False),
    Column("title", text_type(), nullable=False),
    Column("text", long_text_type(), nullable=False),
    Column("relevant", Boolean, nullable=False),
    Column("position", Integer, nullable=False),
    UniqueConstraint("topic_id", "name"),
)

judgement = _table(
    "judgement",
    Column("topic_id", ForeignKey("topic.id"), primary_key=True),
    # Of the URL, which need not be known: a page may be judged before it is crawled.
    Column("key", key_type(), primary_key=True),
    Column("url", text_type(), nullable=False),
    Column("relevant", Boolean, nullable=False),
    Column("note", name_type(500), nullable=False),
    Column("judged_at", time_type(), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

lexicon_decision = _table(
    "lexicon_decision",
    _id(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False, index=True),
    Column("text", name_type(100), nullable=False),
    Column("action", name_type(16), nullable=False),
    Column("weight", seconds_type()),
    Column("kind", name_type(32), nullable=False),
    Column("synonym_of", name_type(100), nullable=False),
    Column("note", text_type(), nullable=False),
    Column("decided_by", name_type(100), nullable=False),
    Column("decided_at", time_type(), nullable=False),
    # The term as it was before, as JSON; NULL where the topic had none.
    Column("earlier", text_type()),
    Column("undone_at", time_type()),
)

run = _table(
    "run",
    _id(),
    Column("spider", name_type(64), nullable=False),
    Column("topic_id", ForeignKey("topic.id")),
    Column("arguments", text_type(), nullable=False),
    Column("pid", Integer, nullable=False),
    Column("machine", name_type(255), nullable=False),
    Column("started_at", time_type(), nullable=False),
    Column("finished_at", time_type()),
    Column("reason", name_type(200), nullable=False),
    # URLs of its scope that still waited when it ended.
    Column("remaining", id_type()),
    Column("stats", long_text_type(), nullable=False),
)

query = _table(
    "query",
    _id(),
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

query_answer = _table(
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

query_hit = _table(
    "query_hit",
    Column("query_id", ForeignKey("query.id"), primary_key=True),
    # Of the URL as the engine gave it; it may lead elsewhere.
    Column("key", key_type(), primary_key=True),
    **KEYED_TABLE_OPTIONS,
)

engine_day = _table(
    "engine_day",
    Column("engine", name_type(64), primary_key=True),
    # By Beijing time, as 2026-03-05.
    Column("day", code_type(10), primary_key=True),
    Column("asked", Integer, nullable=False),
    **KEYED_TABLE_OPTIONS,
)

host = _table(
    "host",
    # A hash of the name: see converters.host_id.
    Column("id", id_type(), primary_key=True, autoincrement=False),
    Column("name", code_type(MAX_HOST_CHARS), nullable=False, unique=True),
)

url = _table(
    "url",
    _id(),
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

page_source = _table(
    "page_source",
    _id(),
    Column("url_id", ForeignKey("url.id"), nullable=False),
    # Of the whole body, also where what is stored had to be cut.
    Column("digest", key_type(), nullable=False),
    Column("final_url", text_type(), nullable=False),
    Column("http_status", SmallInteger, nullable=False),
    Column("headers", text_type(), nullable=False),
    # As the server declared them; what the page really is in stands in article.charset.
    Column("content_type", name_type(200), nullable=False),
    Column("charset", name_type(64), nullable=False),
    Column("body_bytes", id_type(), nullable=False),
    Column("truncated", Boolean, nullable=False),
    Column("fetched_at", time_type(), nullable=False),
    Column("last_seen_at", time_type(), nullable=False),
    # zstd; last, so that reading the columns before it does not walk through it.
    Column("body", blob_type(), nullable=False),
    UniqueConstraint("url_id", "digest"),
)

article = _table(
    "article",
    _id(),
    Column("url_id", ForeignKey("url.id"), nullable=False, unique=True),
    Column("page_source_id", ForeignKey("page_source.id"), index=True),
    Column("site", code_type(MAX_HOST_CHARS), nullable=False, index=True),
    Column("title", text_type(), nullable=False),
    Column("published_at", time_type(), index=True),
    # When the page says it was last changed; NULL: it does not say, or an older version stored it.
    Column("modified_at", time_type()),
    Column("author", name_type(200), nullable=False),
    Column("source", name_type(200), nullable=False),
    Column("channel", name_type(200), nullable=False),
    Column("keywords", text_type(), nullable=False),
    Column("description", text_type(), nullable=False),
    Column("anchor", text_type(), nullable=False),
    Column("language", code_type(16), nullable=False),
    Column("charset", name_type(64), nullable=False),
    Column("method", name_type(64), nullable=False),
    Column("body_digest", digest_type(), nullable=False),
    Column("title_tokens", text_type(), nullable=False),
    Column("truncated", Boolean, nullable=False),
    Column("fetched_at", time_type(), nullable=False, index=True),
    Column("updated_at", time_type(), nullable=False),
    Column("text", long_text_type(), nullable=False),
    # zstd: the text with its structure. NULL: stored before there was such a thing.
    Column("html", blob_type()),
    # JSON: counts by name, {"reads": 12000}; what readers said, [[author, time, text], ...].
    Column("engagement", text_type()),
    Column("comments", long_text_type()),
    # What it was published as: article, or document (PDF, Word, Excel).
    Column("kind", code_type(), nullable=False, server_default="article"),
)

article_part = _table(
    "article_part",
    Column("url_id", ForeignKey("url.id"), primary_key=True),
    # The key of the URL of part 1, by which the parts of one article find each other; the URL
    # itself may be unknown here, or off limits.
    Column("first_key", key_type(), nullable=False),
    Column("number", SmallInteger, nullable=False),
    # How many parts its pager names.
    Column("parts", SmallInteger, nullable=False),
    Column("reads_alone", Boolean, nullable=False),
    Column("page_source_id", ForeignKey("page_source.id"), index=True),
    # Of all that the joined article takes from this row.
    Column("digest", key_type(), nullable=False),
    Column("note", name_type(500), nullable=False),
    # JSON: the fields of an article but URL and text.
    Column("about", long_text_type(), nullable=False),
    Column("text", long_text_type(), nullable=False),
    # As in article.
    Column("html", blob_type()),
    Index(None, "first_key", "number"),
)

relevance = _table(
    "relevance",
    Column("article_id", ForeignKey("article.id"), primary_key=True),
    Column("topic_id", ForeignKey("topic.id"), primary_key=True),
    Column("score", seconds_type(), nullable=False),
    Column("relevant", Boolean, nullable=False),
    Column("method", name_type(64), nullable=False),
    Column("terms", text_type(), nullable=False),
    Index(None, "topic_id", "relevant", "score"),
    **KEYED_TABLE_OPTIONS,
)

title_term = _table(
    "title_term",
    Column("article_id", ForeignKey("article.id"), primary_key=True),
    Column("term", name_type(100), primary_key=True, index=True),
    Column("count", Integer, nullable=False),
    # tf · ln(N/df) (Q6); 0 until the weights are rebuilt.
    Column("weight", seconds_type(), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

term_weight = _table(
    "term_weight",
    Column("term", name_type(100), primary_key=True),
    Column("df", Integer, nullable=False),
    Column("weight", seconds_type(), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

verdict = _table(
    "verdict",
    Column("article_id", ForeignKey("article.id"), primary_key=True),
    Column("kind", code_type(), nullable=False, index=True),
    Column("of_article_id", ForeignKey("article.id"), index=True),
    # The article that represents the group; itself when it stands alone.
    Column("group_id", ForeignKey("article.id"), nullable=False, index=True),
    Column("similarity", seconds_type(), nullable=False),
    Column("why", name_type(500), nullable=False),
    Column("method", name_type(64), nullable=False),
    # The version of the IDF snapshot it was made with.
    Column("snapshot", Integer, nullable=False, server_default="0"),
)

excerpt = _table(
    "excerpt",
    Column("url_id", ForeignKey("url.id"), primary_key=True),
    Column("number", SmallInteger, primary_key=True, autoincrement=False),
    # Where the heading above it leads; that page need not be known.
    Column("target_key", key_type(), nullable=False, index=True),
    # Its first letters, and its share of the article's text.
    Column("opening", name_type(64), nullable=False),
    Column("share", seconds_type(), nullable=False),
    # Whether it was found on that page.
    Column("stands", Boolean, nullable=False),
)

title_clock = _table(
    "title_clock",
    # One row, 1: its lock is the right to write title_entry, and so to judge titles.
    Column("id", Integer, primary_key=True, autoincrement=False),
    # The version of the IDF snapshot in use.
    Column("snapshot", Integer, nullable=False),
)

title_entry = _table(
    "title_entry",
    # Its place in the log. A row that changes is written anew, so that readers of what is
    # behind a place see it; rows are committed in this order.
    Column("seq", id_type(), primary_key=True, autoincrement=True),
    # Of the URL where the article stands.
    Column("key", key_type(), nullable=False, unique=True),
    # NULL: there is no article at that URL any more.
    Column("article_id", ForeignKey("article.id"), index=True),
    # What was judged; see items.TitleRecord.
    Column("title", text_type(), nullable=False),
    Column("host", code_type(MAX_HOST_CHARS), nullable=False),
    Column("published_at", time_type()),
    Column("source", name_type(200), nullable=False),
    Column("body_digest", digest_type(), nullable=False),
    # 8 bytes, big-endian. NULL: it and the sketch were not computed yet.
    Column("body_simhash", short_bytes_type(8)),
    Column("body_sketch", short_bytes_type(MAX_SKETCH_BYTES), nullable=False),
    # Characters of the text: the longer one represents a group.
    Column("text_chars", Integer, nullable=False),
    # By hand, out of all groups.
    Column("taken_out", Boolean, nullable=False),
    **LOG_TABLE_OPTIONS,
)

idf_snapshot = _table(
    "idf_snapshot",
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("created_at", time_type(), nullable=False),
    # Titles that were counted.
    Column("documents", id_type(), nullable=False),
    Column("note", name_type(200), nullable=False),
)

idf_term = _table(
    "idf_term",
    Column("version", ForeignKey("idf_snapshot.version"), primary_key=True),
    Column("term", name_type(100), primary_key=True),
    Column("df", Integer, nullable=False),
    **KEYED_TABLE_OPTIONS,
)

site_template = _table(
    "site_template",
    # By name, not by row of host: a page may stand on a host that no URL of ours names.
    Column("host", code_type(MAX_HOST_CHARS), primary_key=True),
    Column("pages", Integer, nullable=False),
    Column("redesigns", Integer, nullable=False),
    Column("updated_at", time_type(), nullable=False),
    # JSON, at most some 20 KB.
    Column("template", long_text_type(), nullable=False),
)

url_alias = _table(
    "url_alias",
    # By name, as site_template.
    Column("host", code_type(MAX_HOST_CHARS), primary_key=True),
    # How many rules hold now.
    Column("rules", SmallInteger, nullable=False),
    Column("updated_at", time_type(), nullable=False),
    # JSON, at most some 8 KB.
    Column("votes", text_type(), nullable=False),
)

host_turn = _table(
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

aliased_url = _table(
    "aliased_url",
    # Until it is known whether the preferred version brings the page.
    Column("url_id", ForeignKey("url.id"), primary_key=True, autoincrement=False),
    Column("preferred_key", key_type(), nullable=False, index=True),
)

rendering = _table(
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

visit = _table(
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

decision = _table(
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

order_model = _table(
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

proxy = _table(
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

account = _table(
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

url_form = _table(
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

missing_page = _table(
    "missing_page",
    Column("host", code_type(MAX_HOST_CHARS), primary_key=True),
    Column("title", name_type(500), nullable=False),
    Column("digest", key_type(), nullable=False),
    Column("simhash", short_bytes_type(8), nullable=False),
    Column("updated_at", seconds_type(), nullable=False),
)

watched_page = _table(
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

watched_article = _table(
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

watch_hour = _table(
    "watch_hour",
    Column("host_id", ForeignKey("host.id"), primary_key=True, autoincrement=False),
    # Of the week, 0 being Thursday 00:00 UTC, as the epoch began.
    Column("hour", SmallInteger, primary_key=True, autoincrement=False),
    Column("articles", seconds_type(), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

watch_day = _table(
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

revision = _table(
    "revision",
    _id(),
    Column("url_id", ForeignKey("url.id"), nullable=False, index=True),
    # revised: what follows is what the article said before; deleted, restored: a fact about it.
    Column("kind", code_type(16), nullable=False),
    Column("at", time_type(), nullable=False),
    Column("page_source_id", ForeignKey("page_source.id"), index=True),
    Column("note", name_type(500), nullable=False),
    Column("title", text_type(), nullable=False),
    Column("published_at", time_type()),
    Column("body_digest", digest_type(), nullable=False),
    Column("text", long_text_type(), nullable=False),
)
