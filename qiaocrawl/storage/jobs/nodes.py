"""Nodes: the scrapyd servers of an office, and what each may run.

Whoever reaches a scrapyd runs any code there, so its user and password are in the environment of
those who may; a row only names the variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from qiaocrawl.storage.converters import clean_word, epoch_time, from_time, to_stored_time
from qiaocrawl.storage.raw_sql import upsert
from qiaocrawl.storage.schema import node

AWAY_AFTER_SECONDS = 60.0
"""The jobs of a node that does not answer for so long go elsewhere."""

_SEED = upsert(
    "node",
    {
        "name": ":name", "address": ":address", "login_env": ":login_env", "weight": "1",
        "spiders": "''", "topics": "''", "is_draining": "0", "version": "''",
        "added_at": ":added_at",
    },
    key="name",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NodeTerms:
    """What an operator says of a node.

    Attributes:
        address: of its scrapyd, without user and password, ending in a slash.
        login_env: the environment variable with USER:PASSWORD; "" for none.
        weight: how much it can do beside the others.
        spiders, topics: what it may run; empty for all.
    """

    address: str
    login_env: str = ""
    weight: float = 1.0
    spiders: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """A node as its row has it.

    Attributes:
        name: host:port, by which jobs name it.
        is_draining: nothing is started on it.
        version: of the egg it was sent last; "" for none.
        away_since: epoch seconds since when it does not answer; None while it does.
    """

    name: str
    terms: NodeTerms
    is_draining: bool
    version: str
    deployed_at: datetime | None
    away_since: float | None

    def may_run(self, spider: str, topic: str) -> bool:
        """Whether the operator lets it run *spider* for *topic*, and it is not being drained."""
        terms = self.terms
        allows = (not terms.spiders or spider in terms.spiders) and (
            not terms.topics or topic in terms.topics
        )
        return allows and not self.is_draining


def save_node(c: Connection, name: str, terms: NodeTerms, now: datetime) -> bool:
    """Add a node, or change the terms of the one of this *name*; returns whether it is new."""
    values = {
        "address": terms.address,
        "login_env": terms.login_env,
        "weight": terms.weight,
        "spiders": clean_word(",".join(terms.spiders), 200),
        "topics": clean_word(",".join(terms.topics), 500),
    }
    if c.execute(update(node).where(node.c.name == name).values(values)).rowcount:
        return False
    c.execute(insert(node).values(
        name=name, is_draining=False, version="", added_at=to_stored_time(now), **values
    ))  # fmt: skip
    return True


def seed_nodes(c: Connection, addresses: Mapping[str, str], login_env: str, now: float) -> None:
    """Add the nodes (addresses by name) that are not there; those that are stay as they are."""
    _SEED.run_many(c, [
        {"name": name, "address": address, "login_env": login_env,
         "added_at": epoch_time(now)}
        for name, address in addresses.items()
    ])  # fmt: skip


def list_nodes(c: Connection) -> list[Node]:
    """All nodes by name."""
    return [_node(row) for row in c.execute(select(node).order_by(node.c.name))]


def remove_node(c: Connection, name: str) -> bool:
    """Forget a node; returns whether it was there."""
    return c.execute(delete(node).where(node.c.name == name)).rowcount == 1


def rename_topic_of_nodes(c: Connection, old: str, new: str) -> None:
    """Let nodes that may run the topic *old* run *new*, as it is called now."""
    for one in list_nodes(c):
        topics = tuple(new if topic == old else topic for topic in one.terms.topics)
        if topics != one.terms.topics:
            values = {"topics": clean_word(",".join(topics), 500)}
            c.execute(update(node).where(node.c.name == one.name).values(values))


def set_draining(c: Connection, name: str, is_draining: bool) -> None:
    """Let nothing be started on a node, or let it again."""
    c.execute(update(node).where(node.c.name == name).values(is_draining=is_draining))


def set_version(c: Connection, name: str, version: str, now: datetime) -> None:
    """A node was sent the egg *version*."""
    values = {"version": clean_word(version, 64), "deployed_at": to_stored_time(now)}
    c.execute(update(node).where(node.c.name == name).values(values))


def set_away(c: Connection, name: str, since: float | None) -> None:
    """A node does not answer since epoch second *since*, or answers (None)."""
    c.execute(update(node).where(node.c.name == name).values(away_since=since))


def _node(row: Any) -> Node:
    def words(text: str) -> tuple[str, ...]:
        return tuple(filter(None, text.split(",")))

    terms = NodeTerms(row.address, row.login_env, row.weight, words(row.spiders), words(row.topics))
    return Node(
        row.name, terms, bool(row.is_draining), row.version, from_time(row.deployed_at),
        row.away_since,
    )  # fmt: skip
