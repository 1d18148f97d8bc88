"""Runs the migrations on the connection it was handed; see qiaocrawl.storage.migrate."""

from __future__ import annotations

from alembic import context

from qiaocrawl.storage.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite rolls table changes back; Alembic assumes it does not.
    transactional_ddl=context.config.attributes["connection"].dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()
