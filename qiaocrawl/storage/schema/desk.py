"""What colleagues write and hand on: briefings at the desk, the office's paper, hand-overs."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer

from qiaocrawl.storage.schema.base import id_column, table
from qiaocrawl.storage.values import (
    blob_type,
    code_type,
    digest_type,
    id_type,
    long_text_type,
    name_type,
    text_type,
    time_type,
)

# --- Briefings as people write them: a draft, its locked copies, who got them ---------------------

briefing_draft = table(
    "briefing_draft",
    id_column(),
    # day, week, event, period.
    Column("kind", code_type(16), nullable=False),
    # NULL: of all topics.
    Column("topic_id", ForeignKey("topic.id")),
    Column("title", name_type(200), nullable=False),
    # The office's number of the issue; NULL: none.
    Column("issue", Integer),
    Column("since_at", time_type(), nullable=False),
    Column("before_at", time_type(), nullable=False),
    # draft, review, approved, sent.
    Column("state", code_type(16), nullable=False),
    # simplified, traditional: all of it.
    Column("script", code_type(16), nullable=False),
    # The editor's note above the items.
    Column("note", text_type(), nullable=False),
    # Of the copy that is written now; those before it are locked.
    Column("version", Integer, nullable=False),
    Column("made_by", name_type(64), nullable=False),
    Column("made_at", time_type(), nullable=False),
    Column("changed_by", name_type(64), nullable=False),
    Column("changed_at", time_type(), nullable=False),
    # Why it came back from whoever was to approve it; "" where it did not.
    Column("returned", text_type(), nullable=False),
    Index(None, "state", "changed_at"),
    Index(None, "made_at"),
)

briefing_item = table(
    "briefing_item",
    id_column(),
    Column("draft_id", ForeignKey("briefing_draft.id"), nullable=False, index=True),
    Column("place", Integer, nullable=False),
    # story, article, line (the editor's own).
    Column("kind", code_type(16), nullable=False),
    # Number of the story, row of the article's URL; they may go, what is told of them stays.
    Column("about_id", id_type()),
    # JSON: heading, sentences and sources, see news/drafts/paper.py.
    Column("record", long_text_type(), nullable=False),
    # Counts changes: who saves an older one is told so.
    Column("revision", Integer, nullable=False),
)

briefing_version = table(
    "briefing_version",
    id_column(),
    Column("draft_id", ForeignKey("briefing_draft.id"), nullable=False, index=True),
    Column("number", Integer, nullable=False),
    # JSON: the whole draft, as it was approved.
    Column("record", long_text_type(), nullable=False),
    # SHA-256 of the record.
    Column("digest", digest_type(), nullable=False),
    Column("approved_by", name_type(64), nullable=False),
    Column("approved_at", time_type(), nullable=False),
    Index(None, "draft_id", "number", unique=True),
)

briefing_version_file = table(
    "briefing_version_file",
    Column("version_id", ForeignKey("briefing_version.id"), primary_key=True),
    # html, docx.
    Column("ending", code_type(8), primary_key=True),
    # SHA-256 of the file; one zstd frame of it.
    Column("digest", digest_type(), nullable=False),
    Column("data", blob_type(), nullable=False),
)

briefing_receipt = table(
    "briefing_receipt",
    id_column(),
    Column("version_id", ForeignKey("briefing_version.id"), nullable=False, index=True),
    # A channel's name, or a receiver somebody wrote down: on paper, by another system.
    Column("receiver", name_type(100), nullable=False),
    # channel, hand.
    Column("way", code_type(16), nullable=False),
    Column("sent_by", name_type(64), nullable=False),
    Column("sent_at", time_type(), nullable=False),
    # Why it did not arrive; "" where it did.
    Column("refusal", name_type(500), nullable=False),
)

office_paper = table(
    "office_paper",
    # 1: there is one row, or none.
    id_column(),
    # JSON, see news/drafts/office.py.
    Column("record", long_text_type(), nullable=False),
    Column("changed_by", name_type(64), nullable=False),
    Column("changed_at", time_type(), nullable=False),
)


# --- What one colleague hands to another, and what strangers may read for a while -----------------

handover = table(
    "handover",
    id_column(),
    # article, event, warning.
    Column("kind", code_type(16), nullable=False),
    # Row of the article's URL, or of a URL of the event; the warning's own name.
    Column("target", code_type(64), nullable=False),
    Column("title", name_type(500), nullable=False),
    Column("from_user_id", ForeignKey("console_user.id"), nullable=False, index=True),
    Column("to_user_id", ForeignKey("console_user.id"), nullable=False),
    # In China, as 2026-03-05; "" for no day.
    Column("due", code_type(10), nullable=False),
    Column("note", text_type(), nullable=False),
    Column("made_at", time_type(), nullable=False),
    # NULL: it is still to be done.
    Column("done_at", time_type()),
    # What was answered last, and who by.
    Column("answer", text_type(), nullable=False),
    Column("answered_by", name_type(64), nullable=False),
    Column("answered_at", time_type()),
    Index(None, "to_user_id", "done_at"),
)

event_link = table(
    "event_link",
    id_column(),
    # Of what stands in the address: who reads the database cannot open it.
    Column("digest", digest_type(), nullable=False, unique=True),
    # An article of the event, by which it is found whatever becomes of it.
    Column("url_id", ForeignKey("url.id"), nullable=False, index=True),
    Column("title", name_type(500), nullable=False),
    # For whom, as its maker says.
    Column("receiver", name_type(100), nullable=False),
    Column("made_by", name_type(64), nullable=False),
    Column("made_at", time_type(), nullable=False),
    Column("ends_at", time_type(), nullable=False, index=True),
    Column("revoked_at", time_type()),
    Column("opened", Integer, nullable=False),
    Column("opened_at", time_type()),
)


# --- What a language model was asked, and what it wrote -------------------------------------------

model_call = table(
    "model_call",
    id_column(),
    Column("at", time_type(), nullable=False, index=True),
    # event, lead, check, article, titles.
    Column("purpose", code_type(16), nullable=False),
    # Scheme, host and port; the model's name.
    Column("address", name_type(200), nullable=False),
    Column("model", name_type(100), nullable=False),
    # Until it answers, what it may come to at most.
    Column("tokens", Integer, nullable=False),
    Column("cost", Float, nullable=False),
    # asked, answered, or why not; see news/writing/address.py.
    Column("outcome", code_type(16), nullable=False),
    # Sentences of its answers that were kept, and that were dropped.
    Column("kept", Integer, nullable=False),
    Column("dropped", Integer, nullable=False),
    Column("asked_by", name_type(64), nullable=False),
)

event_text = table(
    "event_text",
    id_column(),
    # An article of the event, by which it is found whatever becomes of it.
    Column("url_id", ForeignKey("url.id"), nullable=False, index=True),
    # JSON: sentences with what they cite, and what was dropped; see news/writing/stored.py.
    Column("record", long_text_type(), nullable=False),
    # Counts changes: who saves an older one is told so.
    Column("revision", Integer, nullable=False),
    Column("model", name_type(100), nullable=False),
    Column("made_by", name_type(64), nullable=False),
    Column("made_at", time_type(), nullable=False),
    Column("changed_by", name_type(64), nullable=False),
    Column("changed_at", time_type(), nullable=False),
)

translation = table(
    "translation",
    id_column(),
    # An article has one; a new one takes its place.
    Column("url_id", ForeignKey("url.id"), nullable=False, unique=True),
    # The title in Chinese, which lists show; "" where it was not asked for or did not stand.
    Column("title", text_type(), nullable=False),
    # JSON: lines with their Chinese or why none stands; see news/writing/kept_translations.py.
    Column("record", long_text_type(), nullable=False),
    Column("model", name_type(100), nullable=False),
    Column("made_by", name_type(64), nullable=False),
    Column("made_at", time_type(), nullable=False),
)
