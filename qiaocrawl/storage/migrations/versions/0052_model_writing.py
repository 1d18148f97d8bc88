"""What a language model was asked, and what it wrote of events."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import event_text, model_call

revision = "0052_model_writing"
down_revision = "0050_person_push"


def upgrade() -> None:
    """Add their tables; a new database got them with the others."""
    for own in (model_call, event_text):
        own.create(op.get_bind(), checkfirst=True)
