"""Stored pages and what was read from them."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, SmallInteger, UniqueConstraint

from qiaocrawl.storage.column_types import (
    MAX_HOST_CHARS,
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
from qiaocrawl.storage.schema.base import KEYED_TABLE_OPTIONS, id_column, table

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
