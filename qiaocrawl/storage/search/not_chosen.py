"""Queries of engines that nobody chose: those of others, for engines that could be asked too.

No row stands for them: a plan has a hundred thousand queries, and ten engines may be left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

from sqlalchemy import Connection, func, select

from qiaocrawl.search.query import EVERYWHERE, AnswerState
from qiaocrawl.search.records import EngineDefinition
from qiaocrawl.storage import schema
from qiaocrawl.storage.converters import from_time
from qiaocrawl.storage.search.coverage import Chosen, LedgerRow, chosen_words, ledger_rows
from qiaocrawl.storage.topics.topic_ids import topic_id

# No row has it.
_NO_ROW = 0


def with_not_chosen(
    c: Connection, topic: str, chosen: Chosen,
    engines: Iterable[EngineDefinition], in_use: Collection[str],
) -> list[LedgerRow]:  # fmt: skip
    """As :func:`ledger_rows`; behind them what engines nobody chose were not asked.

    That is each term and site some engine was asked, by every scraped engine that has no such
    query. Interfaces meant for programs are no gap where they are not used.

    Args:
        engines: all that are defined.
        in_use: the names of those the operator chose (QIAO_ENGINES); where that is not known
            here, all that have a query of *topic* were chosen.

    Raises:
        StorageError: *topic* was never imported.
    """
    rows = ledger_rows(c, topic, chosen)
    if chosen.state not in (None, AnswerState.ROBOTS) or chosen.since is not None:
        return rows
    in_use = in_use or _engines_with_queries(c, topic)
    # Names that never lead to a real host are the demo's: no gap in anybody's coverage.
    others = [
        engine for engine in engines
        if engine.kind == "scraped" and engine.name not in in_use
        and not engine.host.endswith(".test") and chosen.engine in ("", engine.name)
    ]  # fmt: skip
    return rows + list(_left_out(c, topic, chosen, others)) if others else rows


def _engines_with_queries(c: Connection, topic: str) -> set[str]:
    query = schema.query
    own = query.c.topic_id == topic_id(c, topic)
    return set(c.execute(select(query.c.engine).where(own).distinct()).scalars())


def _left_out(
    c: Connection, topic: str, chosen: Chosen, engines: Sequence[EngineDefinition]
) -> Iterator[LedgerRow]:
    query = schema.query
    own = (query.c.topic_id == topic_id(c, topic), *chosen_words(chosen))
    names = [engine.name for engine in engines]
    rows = select(query.c.term, query.c.site, query.c.engine).where(*own, query.c.engine.in_(names))
    there = {(term, site, engine) for term, site, engine in c.execute(rows.distinct())}
    asked = c.execute(
        select(query.c.term, query.c.site, func.min(query.c.planned_at))
        .where(*own, query.c.tries > 0)
        .group_by(query.c.term, query.c.site)
        .order_by(func.min(query.c.id))
    )
    for term, site, planned_at in asked:
        moment = from_time(planned_at)
        assert moment is not None, "the column is never NULL"
        for engine in engines:
            can_ask = site == EVERYWHERE or engine.supports_site
            if can_ask and (term, site, engine.name) not in there:
                yield _row(term, site, engine.name, moment)


def _row(term: str, site: str, engine: str, planned_at: datetime) -> LedgerRow:
    return LedgerRow(
        _NO_ROW, term, site, engine, "", 1, AnswerState.ROBOTS, 0, 0, "", 0, planned_at, None, None
    )
