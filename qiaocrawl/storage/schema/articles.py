"""Stored pages and what was read from them."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, SmallInteger, UniqueConstraint

from qiaocrawl.storage.schema.base import KEYED_TABLE_OPTIONS, LOG_TABLE_OPTIONS, id_column, table
from qiaocrawl.storage.values import (
    MAX_HOST_CHARS,
    MAX_SKETCH_BYTES,
    PackedText,
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

page_source = table(
    "page_source",
    id_column(),
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
    # zstd, perhaps with a dictionary of its site (page_dictionary). Behind all but the next, so
    # that reading the columns before it does not walk through it.
    # Empty: it is the payload of this record in a file.
    Column("body", blob_type(), nullable=False),
    Column("record_id", ForeignKey("page_record.id"), index=True),
    UniqueConstraint("url_id", "digest"),
)

page_dictionary = table(
    "page_dictionary",
    # zstd's number of it, which stands in each frame that needs it.
    Column("id", id_type(), primary_key=True, autoincrement=False),
    Column("host_id", ForeignKey("host.id"), nullable=False, index=True),
    # Of the host, when it was learnt: that of the most is in use, the others may be needed.
    Column("pages", id_type(), nullable=False),
    Column("learnt_at", time_type(), nullable=False),
    # zstd.
    Column("content", blob_type(), nullable=False),
)

page_picture = table(
    "page_picture",
    # Goes with its page, whoever deletes that.
    Column(
        "page_source_id",
        ForeignKey("page_source.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("media_type", code_type(), nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    # Some of the page's height is not in it.
    Column("cut", Boolean, nullable=False),
    Column("taken_at", time_type(), nullable=False),
    # Empty: it is the payload of this record in a file.
    Column("picture", blob_type(), nullable=False),
    Column("record_id", ForeignKey("page_record.id"), index=True),
)

article = table(
    "article",
    id_column(),
    Column("url_id", ForeignKey("url.id"), nullable=False, unique=True),
    Column("page_source_id", ForeignKey("page_source.id"), index=True),
    Column("site", code_type(MAX_HOST_CHARS), nullable=False),
    Column("title", text_type(), nullable=False),
    Column("published_at", time_type()),
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
    Column("fetched_at", time_type(), nullable=False),
    # Indexed: the full text index reads what changed behind its watermark.
    Column("updated_at", time_type(), nullable=False, index=True),
    Column("text", PackedText(), nullable=False),
    # The text with its structure, packed against it. NULL: stored before there was such a thing.
    Column("html", blob_type()),
    # JSON: counts by name, {"reads": 12000}; what readers said, [[author, time, text], ...].
    Column("engagement", text_type()),
    Column("comments", long_text_type()),
    # What it was published as: article, or document (PDF, Word, Excel).
    Column("kind", code_type(), nullable=False, server_default="article"),
    # Lists walk through these: with what they are most often narrowed by, no row is read in vain.
    Index("ix_article_fetched_at_published_at", "fetched_at", "published_at", "site"),
    Index("ix_article_published_at_fetched_at", "published_at", "fetched_at", "site"),
    Index("ix_article_site_fetched_at", "site", "fetched_at", "published_at"),
)

article_change = table(
    "article_change",
    # Its place in the log of articles whose lists may be others now. Numbers come in order, rows
    # may be committed in another.
    Column("seq", id_type(), primary_key=True, autoincrement=True),
    # Which may be gone by now.
    Column("article_id", id_type(), nullable=False),
    **LOG_TABLE_OPTIONS,
)

article_part = table(
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
    Column("text", PackedText(), nullable=False),
    # As in article.
    Column("html", blob_type()),
    Index(None, "first_key", "number"),
)

relevance = table(
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

excerpt = table(
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

site_template = table(
    "site_template",
    # By name, not by row of host: a page may stand on a host that no URL of ours names.
    Column("host", code_type(MAX_HOST_CHARS), primary_key=True),
    Column("pages", Integer, nullable=False),
    Column("redesigns", Integer, nullable=False),
    Column("updated_at", time_type(), nullable=False),
    # JSON, at most some 20 KB.
    Column("template", long_text_type(), nullable=False),
)

node_clusters = table(
    "node_clusters",
    # One row: who adds to it holds it locked.
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    # The text of a model's file, some KB; "" before the first clustering.
    Column("model", long_text_type(), nullable=False),
    Column("pages", id_type(), nullable=False),
    Column("clusterings", Integer, nullable=False),
    # Nodes of pages, five numbers each, as zstd: of clusters, and in the buffer.
    Column("joined", blob_type(), nullable=False),
    Column("waiting", blob_type(), nullable=False),
    Column("updated_at", time_type(), nullable=False),
)

outlet_medium = table(
    "outlet_medium",
    # With all below it; what an operator said of it goes before what topics have.
    Column("host", code_type(MAX_HOST_CHARS), primary_key=True),
    Column("medium", code_type(16), nullable=False),
    Column("said_by", name_type(100), nullable=False),
    Column("said_at", time_type(), nullable=False),
)

template_version = table(
    "template_version",
    id_column(),
    Column("host", code_type(MAX_HOST_CHARS), nullable=False),
    Column("path", name_type(500), nullable=False),
    # JSON, as a table of a template file; "" where the template was taken away.
    Column("content", text_type(), nullable=False),
    Column("made_by", name_type(100), nullable=False),
    Column("made_at", time_type(), nullable=False),
    Column("note", name_type(500), nullable=False),
    Index(None, "host", "id"),
    **LOG_TABLE_OPTIONS,
)

missing_page = table(
    "missing_page",
    Column("host", code_type(MAX_HOST_CHARS), primary_key=True),
    Column("title", name_type(500), nullable=False),
    Column("digest", key_type(), nullable=False),
    Column("simhash", short_bytes_type(8), nullable=False),
    Column("updated_at", seconds_type(), nullable=False),
)

revision = table(
    "revision",
    id_column(),
    Column("url_id", ForeignKey("url.id"), nullable=False, index=True),
    # revised: what follows is what the article said before; deleted, restored: a fact about it.
    Column("kind", code_type(16), nullable=False),
    Column("at", time_type(), nullable=False),
    Column("page_source_id", ForeignKey("page_source.id"), index=True),
    Column("note", name_type(500), nullable=False),
    Column("title", text_type(), nullable=False),
    Column("published_at", time_type()),
    Column("body_digest", digest_type(), nullable=False),
    Column("text", PackedText(), nullable=False),
)


# --- The log of titles, their terms, and reprint groups -------------------------------------------

title_term = table(
    "title_term",
    Column("article_id", ForeignKey("article.id"), primary_key=True),
    Column("term", name_type(100), primary_key=True, index=True),
    Column("count", Integer, nullable=False),
    # tf · ln(N/df) (Q6); 0 until the weights are rebuilt.
    Column("weight", seconds_type(), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

term_weight = table(
    "term_weight",
    Column("term", name_type(100), primary_key=True),
    Column("df", Integer, nullable=False),
    Column("weight", seconds_type(), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

verdict = table(
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

title_clock = table(
    "title_clock",
    # One row, 1: its lock is the right to write title_entry, and so to judge titles.
    Column("id", Integer, primary_key=True, autoincrement=False),
    # The version of the IDF snapshot in use.
    Column("snapshot", Integer, nullable=False),
)

title_entry = table(
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

title_mark = table(
    "title_mark",
    # Random: where it is found again, the log up to its place is the one it was put into.
    Column("mark", key_type(), primary_key=True),
    # The newest entry of the log at that time.
    Column("seq", id_type(), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

idf_snapshot = table(
    "idf_snapshot",
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("created_at", time_type(), nullable=False),
    # Titles that were counted.
    Column("documents", id_type(), nullable=False),
    Column("note", name_type(200), nullable=False),
)

idf_term = table(
    "idf_term",
    Column("version", ForeignKey("idf_snapshot.version"), primary_key=True),
    Column("term", name_type(100), primary_key=True),
    Column("df", Integer, nullable=False),
    **KEYED_TABLE_OPTIONS,
)


# --- Where raw pages and pictures stand that are not kept in the database itself ------------------

page_store = table(
    "page_store",
    id_column(),
    # Without credentials: those are in the environment of whoever reads it.
    Column("address", name_type(400), nullable=False, unique=True),
    # Stands in a file of the store too: an empty mount point, or a store of another database, is
    # told by it.
    Column("mark", code_type(), nullable=False),
    # Who writes, moves or prunes its files now ("" nobody), and until when unless it says more.
    Column("holder", name_type(200), nullable=False),
    Column("held_until", seconds_type(), nullable=False),
)

page_file = table(
    "page_file",
    id_column(),
    Column("store_id", ForeignKey("page_store.id"), nullable=False),
    Column("name", code_type(100), nullable=False, unique=True),
    # FileState of storage.page_store.files_table.
    Column("state", SmallInteger, nullable=False),
    Column("file_bytes", id_type(), nullable=False),
    Column("created_at", time_type(), nullable=False),
    # When its last record went; it is deleted some days later.
    Column("retired_at", time_type()),
    Index("ix_page_file_state", "store_id", "state"),
)

page_record = table(
    "page_record",
    id_column(),
    # SHA-256 of what is stored: the body of a page, or a picture.
    Column("digest", digest_type(), nullable=False, unique=True),
    Column("file_id", ForeignKey("page_file.id"), nullable=False),
    Column("offset_bytes", id_type(), nullable=False),
    Column("length_bytes", Integer, nullable=False),
    # What was wrong with it when it was last verified; "" nothing.
    Column("fault", name_type(200), nullable=False),
    # The order in which a file is read.
    Index("ix_page_record_place", "file_id", "offset_bytes"),
)


# --- Topics, their words and sites, and what people decided of them -------------------------------

topic = table(
    "topic",
    id_column(),
    Column("name", name_type(64), nullable=False, unique=True),
    Column("title", name_type(200), nullable=False),
    Column("description", text_type(), nullable=False),
    Column("language", code_type(16), nullable=False),
    Column("threshold", seconds_type(), nullable=False),
    Column("created_at", time_type(), nullable=False),
    Column("updated_at", time_type(), nullable=False),
)

term = table(
    "term",
    id_column(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    Column("text", name_type(100), nullable=False),
    Column("kind", name_type(32), nullable=False),
    Column("weight", seconds_type(), nullable=False),
    Column("note", text_type(), nullable=False),
    Column("position", Integer, nullable=False),
    UniqueConstraint("topic_id", "text"),
)

site = table(
    "site",
    id_column(),
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

sample = table(
    "sample",
    id_column(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    Column("name", name_type(200), nullable=False),
    Column("title", text_type(), nullable=False),
    Column("text", long_text_type(), nullable=False),
    Column("relevant", Boolean, nullable=False),
    Column("position", Integer, nullable=False),
    UniqueConstraint("topic_id", "name"),
)

word_group = table(
    "word_group",
    id_column(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    Column("name", name_type(100), nullable=False),
    # JSON: {"any": [...], "all": [...], "none": [...], "near": [[...], ...], "within": 0}.
    Column("words", long_text_type(), nullable=False),
    # Of the words: another after every change, and never given twice.
    Column("version", id_type(), nullable=False, server_default="0"),
    # Articles stored before that version are marked up to this row id; NULL: all are.
    Column("marked_to", id_type()),
    UniqueConstraint("topic_id", "name"),
)

word_group_clock = table(
    "word_group_clock",
    # One row, 1: the newest version. Who stores articles reads it locked, so that each is marked
    # with the groups as they are when it is committed.
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("version", id_type(), nullable=False),
)

word_group_hit = table(
    "word_group_hit",
    # Not of the row of the group: what the group touched before it changed goes bit by bit.
    Column("version", id_type(), primary_key=True, autoincrement=False),
    Column("article_id", ForeignKey("article.id"), primary_key=True, index=True),
    **KEYED_TABLE_OPTIONS,
)

judgement = table(
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

lexicon_decision = table(
    "lexicon_decision",
    id_column(),
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

run = table(
    "run",
    id_column(),
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
