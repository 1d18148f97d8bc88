"""What stored articles mean together: stories, and how they came about."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, SmallInteger

from qiaocrawl.storage.schema.base import id_column, table
from qiaocrawl.storage.values import (
    blob_type,
    code_type,
    id_type,
    long_text_type,
    name_type,
    seconds_type,
    short_bytes_type,
    text_type,
    time_type,
)

story_clock = table(
    "story_clock",
    # One row, 1. Who writes results raises its version; a worker whose version is not this one
    # begins anew with what is stored.
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("version", id_type(), nullable=False),
    # All entries of title_entry up to here are in stories.
    Column("title_seq", id_type(), nullable=False),
    # The state of the desk, see analysis/stories/desk.py.
    Column("next_id", id_type(), nullable=False),
    Column("minute", Integer, nullable=False),
    Column("day", Integer, nullable=False),
    Column("learnt", Integer, nullable=False),
)

story = table(
    "story",
    # Given by the desk.
    Column("id", id_type(), primary_key=True, autoincrement=False),
    # Of the text that is most like all others.
    Column("title", name_type(500), nullable=False),
    Column("head_url_id", ForeignKey("url.id"), index=True),
    # awake, asleep, ended, merged.
    Column("state", code_type(16), nullable=False),
    Column("merged_into", id_type()),
    # Minutes since the epoch.
    Column("opened", Integer, nullable=False),
    Column("touched", Integer, nullable=False),
    Column("first_published", time_type()),
    Column("last_published", time_type()),
    Column("articles", Integer, nullable=False),
    Column("voices", Integer, nullable=False),
    Column("likeness", id_type(), nullable=False),
    Column("checked", Integer, nullable=False),
    Column("by_hand", Boolean, nullable=False),
    # JSON: numbers of stories that a person said are others; its heaviest words.
    Column("apart", text_type(), nullable=False),
    Column("words", text_type(), nullable=False),
    # Numbers of terms by which it is found while it sleeps, 4 bytes each.
    Column("signature", short_bytes_type(64), nullable=False),
    Index(None, "state", "touched"),
    Index(None, "last_published"),
)

story_article = table(
    "story_article",
    # By URL: the article may go, its place in the story stays.
    Column("url_id", ForeignKey("url.id"), primary_key=True),
    # NULL: taken out for a rebuild that has not come to it yet.
    Column("story_id", ForeignKey("story.id"), index=True),
    # The article whose text it has; itself for most.
    Column("voice_url_id", ForeignKey("url.id"), nullable=False, index=True),
    # The minute it was taken for: a rebuild takes it for the same.
    Column("minute", Integer, nullable=False),
    # Epoch seconds, as the desk was told.
    Column("published", seconds_type()),
    # JSON: its heaviest words. zstd: its term vector; NULL for reprints, and once its story has
    # ended.
    Column("words", text_type(), nullable=False),
    Column("term_weights", blob_type()),
)

story_change = table(
    "story_change",
    id_column(),
    Column("minute", Integer, nullable=False, index=True),
    # No foreign key: a story that began and was merged before it was written has no row.
    Column("story_id", id_type(), nullable=False, index=True),
    # opened, joined, merged, split, slept, woke, ended.
    Column("kind", code_type(16), nullable=False),
    Column("other_id", id_type()),
    # JSON: row ids of the URLs it is about.
    Column("url_ids", long_text_type(), nullable=False),
    Column("score", seconds_type(), nullable=False),
    # JSON: what they share.
    Column("words", text_type(), nullable=False),
    Column("by_hand", Boolean, nullable=False),
)

story_correction = table(
    "story_correction",
    id_column(),
    # merge, split.
    Column("kind", code_type(16), nullable=False),
    # JSON: row ids of URLs.
    Column("url_ids", long_text_type(), nullable=False),
    Column("other_url_ids", long_text_type(), nullable=False),
    Column("corrected_by", name_type(100), nullable=False),
    Column("corrected_at", time_type(), nullable=False),
    # The minute it was done in; NULL: not yet.
    Column("minute", Integer, index=True),
)

story_follow = table(
    "story_follow",
    # A story is followed by one of its articles, so that it stays so whatever becomes of it.
    Column("url_id", ForeignKey("url.id"), primary_key=True),
    Column("followed_by", name_type(100), nullable=False),
    Column("followed_at", time_type(), nullable=False),
)

story_background = table(
    "story_background",
    id_column(),
    # NULL for a part of the last whole count; else what one minute brought since.
    Column("minute", Integer),
    Column("articles", Integer, nullable=False),
    # zstd.
    Column("data", blob_type(), nullable=False),
)

article_name = table(
    "article_name",
    # Whom and what an article in a story names; one row without a name where it names nothing.
    Column("url_id", ForeignKey("url.id"), primary_key=True),
    # person, place, organisation; "" for nothing.
    Column("kind", code_type(16), primary_key=True),
    # The normal form.
    Column("name", name_type(100), primary_key=True),
    Column("mentions", Integer, nullable=False),
    Index(None, "kind", "name"),
)

article_class = table(
    "article_class",
    # What an article on a topic is about; it stays when the article goes.
    Column("url_id", ForeignKey("url.id"), primary_key=True),
    Column("topic_id", ForeignKey("topic.id"), primary_key=True),
    # "" where none is sure.
    Column("name", name_type(32), nullable=False),
    Column("certainty", seconds_type(), nullable=False),
    # JSON: what spoke for it.
    Column("words", text_type(), nullable=False),
    # What it was judged by; "" where a person said it: that is never judged again.
    Column("model", code_type(16), nullable=False),
    Column("marked_by", name_type(100), nullable=False),
    Column("marked_at", time_type()),
    Index(None, "topic_id", "name"),
    Index(None, "model", "name"),
)


# --- Warnings of stories, the rules they follow, and what channels were told or are to be told ----

story_warning = table(
    "story_warning",
    id_column(),
    # The story it was opened for, and what that is called now.
    Column("opened_for", code_type(64), nullable=False, unique=True),
    Column("story", code_type(64), nullable=False, unique=True),
    Column("severity", code_type(16), nullable=False),
    Column("status", code_type(16), nullable=False),
    Column("changed_at", time_type(), nullable=False, index=True),
    # JSON: all of it, see analysis/warnings/state.py.
    Column("record", long_text_type(), nullable=False),
)

warning_message = table(
    "warning_message",
    id_column(),
    # Of what it tells: made again, it is the same row.
    Column("message_id", code_type(32), nullable=False, unique=True),
    Column("channel", name_type(64), nullable=False),
    Column("severity", code_type(16), nullable=False),
    Column("title", text_type(), nullable=False),
    Column("body", long_text_type(), nullable=False),
    Column("created_at", time_type(), nullable=False),
    # waiting, sent or given_up.
    Column("state", code_type(16), nullable=False),
    Column("attempts", SmallInteger, nullable=False),
    # Epoch seconds: nobody tries before.
    Column("next_at", seconds_type(), nullable=False),
    Column("sent_at", time_type()),
    # So many characters of the body have arrived, where it is sent in parts.
    Column("sent_chars", Integer, nullable=False, server_default="0"),
    # Why the last attempt failed.
    Column("error", name_type(500), nullable=False),
    Index(None, "state", "next_at"),
)

warning_notice = table(
    "warning_notice",
    Column("message_id", ForeignKey("warning_message.id"), primary_key=True),
    # The warning's own name: its row is another one after each change.
    Column("opened_for", code_type(64), primary_key=True, index=True),
)

warning_rule = table(
    "warning_rule",
    id_column(),
    Column("name", name_type(100), nullable=False, unique=True),
    # JSON: the table a file would have of it.
    Column("record", long_text_type(), nullable=False),
    # Counts changes: who saves an older one is told so.
    Column("revision", Integer, nullable=False),
    Column("changed_by", name_type(100), nullable=False),
    Column("changed_at", time_type(), nullable=False),
)

warning_channel = table(
    "warning_channel",
    id_column(),
    Column("name", name_type(64), nullable=False, unique=True),
    # What it is: a key of news.warnings.channels.KINDS.
    Column("kind", code_type(16), nullable=False),
    # Its address, encrypted with QIAO_SECRET_KEY.
    Column("secret", blob_type(), nullable=False),
    Column("changed_by", name_type(100), nullable=False),
    Column("changed_at", time_type(), nullable=False),
)

warning_push = table(
    "warning_push",
    id_column(),
    Column("channel", name_type(64), nullable=False, unique=True),
    # Minute of the day, in China's time; NULL for no digest.
    Column("digest_minute", SmallInteger),
    Column("topic", name_type(100), nullable=False),
    Column("only_workdays", Boolean, nullable=False),
    Column("with_alarms", Boolean, nullable=False),
    Column("begun_at", time_type(), nullable=False),
    # JSON: alarms that were told and still hold, without their numbers.
    Column("told", long_text_type(), nullable=False),
    Column("told_at", time_type()),
)

warning_hook = table(
    "warning_hook",
    id_column(),
    Column("channel", name_type(64), nullable=False, unique=True),
    # "" for all topics.
    Column("topic", name_type(100), nullable=False),
    Column("with_articles", Boolean, nullable=False),
    # Events are told once so many outlets have them; 0 for no events.
    Column("event_outlets", SmallInteger, nullable=False),
    Column("begun_at", time_type(), nullable=False),
    # Articles with higher row ids are new.
    Column("from_article", id_type(), nullable=False),
    # What was stored until then was looked at.
    Column("looked_to", time_type(), nullable=False),
    # Why it is told nothing until somebody looks; "" while it is.
    Column("stopped", name_type(500), nullable=False),
)

person_push = table(
    "person_push",
    Column("user_id", ForeignKey("console_user.id"), primary_key=True),
    # mail, or a key of news.warnings.channels.KINDS.
    Column("kind", code_type(16), nullable=False),
    # The office's channel by which mail goes.
    Column("carrier", name_type(64), nullable=False),
    # The person's address, encrypted with QIAO_SECRET_KEY.
    Column("secret", blob_type(), nullable=False),
    # JSON: what of.
    Column("record", text_type(), nullable=False),
    Column("begun_at", time_type(), nullable=False),
)

quiet_hours = table(
    "quiet_hours",
    # 1: there is one row, or none.
    id_column(),
    Column("record", long_text_type(), nullable=False),
    Column("changed_by", name_type(100), nullable=False),
    Column("changed_at", time_type(), nullable=False),
)


# --- Briefings as they were made: read again, compared with, never changed ------------------------

briefing = table(
    "briefing",
    id_column(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    Column("since_at", time_type(), nullable=False),
    Column("before_at", time_type(), nullable=False),
    Column("made_at", time_type(), nullable=False),
    Column("articles", Integer, nullable=False),
    # JSON: [number, title, articles] of each story of the stretch, told or only named.
    Column("stories", long_text_type(), nullable=False),
    Index(None, "topic_id", "before_at"),
)

briefing_file = table(
    "briefing_file",
    Column("briefing_id", ForeignKey("briefing.id"), primary_key=True),
    # html, md, docx.
    Column("ending", code_type(8), primary_key=True),
    # One zstd frame.
    Column("data", blob_type(), nullable=False),
)
