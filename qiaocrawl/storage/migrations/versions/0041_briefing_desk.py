"""Briefings at the desk, the office's paper, hand-overs between colleagues."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import (
    briefing_draft,
    briefing_item,
    briefing_receipt,
    briefing_version,
    briefing_version_file,
    event_link,
    handover,
    office_paper,
)

revision = "0041_briefing_desk"
down_revision = "0040_office_and_channels"
_TABLES = (
    briefing_draft,
    briefing_item,
    briefing_version,
    briefing_version_file,
    briefing_receipt,
    office_paper,
    handover,
    event_link,
)


def upgrade() -> None:
    """Create the tables, empty; a new database got them with the others."""
    for own in _TABLES:
        own.create(op.get_bind(), checkfirst=True)
