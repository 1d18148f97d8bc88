"""What experts decided of a topic's words: who, when, why, and how it was before."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from qiaocrawl.lexicon.decisions import Decision, decided_terms
from qiaocrawl.storage.schema import lexicon_decision
from qiaocrawl.storage.topics.topics import load_pack_to_change, save_pack, topic_id
from qiaocrawl.storage.values import clean_text, clean_word, from_time, to_stored_time
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import Term, TopicPack

_MAX_WORD_CHARS = 100
_MAX_NOTE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A decision as it was taken; ``undone_at`` is None while it stands. Times are UTC."""

    id: int
    decision: Decision
    decided_by: str
    decided_at: datetime
    undone_at: datetime | None


def decide(
    c: Connection, topic: str, decisions: Iterable[Decision], *, by: str, now: datetime
) -> TopicPack:
    """Take *decisions* and change the topic's terms by them; all or none.

    Returns:
        The topic as it is afterwards.

    Raises:
        StorageError: the topic was never imported.
        ConfigError: one of them is wrong.
    """
    row_id, pack = topic_id(c, topic), load_pack_to_change(c, topic)
    rows = []
    for decision in decisions:
        key = fold(decision.text)
        before = next((term for term in pack.terms if fold(term.text) == key), None)
        pack = replace(pack, terms=decided_terms(pack.terms, decision))
        rows.append(_row(row_id, decision, before, by, now))
    if rows:
        c.execute(insert(lexicon_decision), rows)
        save_pack(c, pack, now=now.timestamp())
    return pack


def list_decisions(c: Connection, topic: str, limit: int = 1_000_000) -> list[StoredDecision]:
    """The newest *limit* decisions of a topic, newest first.

    Raises:
        StorageError: the topic was never imported.
    """
    table = lexicon_decision
    statement = select(table).where(table.c.topic_id == topic_id(c, topic))
    return [
        _decision_of_row(row)
        for row in c.execute(statement.order_by(table.c.id.desc()).limit(limit))
    ]


def rejected_words(c: Connection, topic: str) -> frozenset[str]:
    """The folded words whose last standing decision is to reject them.

    Raises:
        StorageError: the topic was never imported.
    """
    last: dict[str, str] = {}
    for stored in reversed(list_decisions(c, topic)):
        if stored.undone_at is None:
            last[fold(stored.decision.text)] = stored.decision.action
    return frozenset(word for word, action in last.items() if action == "reject")


def under_decisions(c: Connection, pack: TopicPack) -> TopicPack:
    """*pack* as an import may store it: words that were rejected stay away.

    Raises:
        StorageError: the topic was never imported.
    """
    rejected = rejected_words(c, pack.name)
    return replace(pack, terms=tuple(t for t in pack.terms if fold(t.text) not in rejected))


def undo(
    c: Connection, topic: str, *, since: datetime | None, last: int | None, now: datetime
) -> list[StoredDecision]:
    """Take back decisions, the newest first: those *since* a moment, or the *last* so many.

    Each term is again what it was before the first decision that is taken back.

    Returns:
        Those taken back, newest first.

    Raises:
        StorageError: the topic was never imported.
    """
    # First: who takes back at the same time must find that it is taken back already.
    pack = load_pack_to_change(c, topic)
    table = lexicon_decision
    chosen = select(table).where(
        table.c.topic_id == topic_id(c, topic), table.c.undone_at.is_(None)
    )
    if since is not None:
        chosen = chosen.where(table.c.decided_at >= to_stored_time(since))
    rows = c.execute(chosen.order_by(table.c.id.desc()).limit(last)).all()
    if not rows:
        return []
    terms = list(pack.terms)
    for row in rows:
        terms = _restore_term(
            terms, row.text, None if row.earlier is None else json.loads(row.earlier)
        )
    save_pack(c, replace(pack, terms=tuple(terms)), now=now.timestamp())
    ids = [row.id for row in rows]
    c.execute(update(table).where(table.c.id.in_(ids)).values(undone_at=to_stored_time(now)))
    return [_decision_of_row(row) for row in rows]


def _restore_term(terms: list[Term], text: str, earlier: dict[str, Any] | None) -> list[Term]:
    """*terms* with the term of *text* as it was; None took it away."""
    key = fold(text)
    place = next((n for n, term in enumerate(terms) if fold(term.text) == key), None)
    if earlier is None:
        return [term for term in terms if fold(term.text) != key]
    term = Term(**earlier)
    if place is None:
        return [*terms, term]
    return [*terms[:place], term, *terms[place + 1 :]]


def _row(
    topic: int, decision: Decision, before: Term | None, by: str, now: datetime
) -> dict[str, Any]:
    return {
        "topic_id": topic,
        "text": clean_word(decision.text, _MAX_WORD_CHARS),
        "action": decision.action,
        "weight": decision.weight,
        "kind": decision.kind or "",
        "synonym_of": clean_word(decision.synonym_of, _MAX_WORD_CHARS),
        "note": clean_text(decision.note, _MAX_NOTE_CHARS),
        "decided_by": clean_word(by, _MAX_WORD_CHARS),
        "decided_at": to_stored_time(now),
        "earlier": None if before is None else json.dumps(asdict(before), ensure_ascii=False),
        "undone_at": None,
    }


def _decision_of_row(row: Any) -> StoredDecision:
    decision = Decision(
        row.text, row.action, row.weight, row.kind or None, row.synonym_of, row.note
    )
    decided_at = from_time(row.decided_at)
    assert decided_at is not None
    return StoredDecision(row.id, decision, row.decided_by, decided_at, from_time(row.undone_at))
