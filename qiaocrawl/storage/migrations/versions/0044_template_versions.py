"""Templates of sites that are made at the console, with every version."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import template_version

revision = "0044_template_versions"
down_revision = "0043_desk_lists"


def upgrade() -> None:
    """Add their table; a new database got it with the others."""
    template_version.create(op.get_bind(), checkfirst=True)
