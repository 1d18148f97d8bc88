"""Tables on their way into a topic: what it would be, and what that changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.topics.lexicon_decisions import under_decisions
from qiaocrawl.storage.topics.topic_ids import find_topic_id
from qiaocrawl.storage.topics.topics import load_pack
from qiaocrawl.topic.check import merge_packs, pack_name_reason, require_valid
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, Site, Term, TopicPack


def with_tables(
    c: Connection, name: str, title: str, terms: Sequence[Term], sites: Sequence[Site]
) -> tuple[TopicPack | None, TopicPack]:
    """The topic called *name* as it is (None: a new one), and with *terms* and *sites* over it.

    Nothing is written. Words that an expert rejected stay away.

    Args:
        title: of a new topic.

    Raises:
        ConfigError: *name* can be no topic's.
        TopicError: the rows make no valid topic.
    """
    if reason := pack_name_reason(name):
        raise ConfigError(_("topic {topic!r}: {reason}", topic=name, reason=reason))
    given = TopicPack(name, title or name, "", DEFAULT_THRESHOLD, tuple(terms), tuple(sites), ())
    if find_topic_id(c, name) is None:
        require_valid(given)
        return None, given
    before = load_pack(c, name)
    rows = replace(before, terms=given.terms, sites=given.sites, samples=())
    after = under_decisions(c, merge_packs(before, rows))
    require_valid(after)
    return before, after
