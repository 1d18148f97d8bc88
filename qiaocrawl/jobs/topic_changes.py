"""A topic's name and end: what it holds, another name for it, no more schedules, no topic.

Nothing that was captured ever goes with a topic: one for which pages were fetched can be
retired, not deleted. To rename or delete one no job of it may be under way, since running crawls
know topics by their names.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from sqlalchemy import Column, ColumnElement, Connection, Table, delete, func, select, update

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Queue
from qiaocrawl.language import _
from qiaocrawl.news.warnings.office_rules import rename_topic_in_rules
from qiaocrawl.news.warnings.persons import change_topic_of_persons
from qiaocrawl.storage import schema
from qiaocrawl.storage.engine import ConnectionCache
from qiaocrawl.storage.jobs import active_jobs
from qiaocrawl.storage.schedules import rename_topic_of_nodes
from qiaocrawl.storage.topics.topics import find_topic_id, mark_changed, topic_id
from qiaocrawl.storage.topics.word_groups import drop_group, kept_groups
from qiaocrawl.topic.check import pack_name_reason

MOST_COUNTED = 10_000
_QUEUES = [queue.value for queue in Queue]
# In this order: the later ones are named by the earlier ones.
_OWN = (
    schema.article_class,
    schema.relevance,
    schema.judgement,
    schema.lexicon_decision,
    schema.watched_article,
    schema.watched_page,
    schema.watch_day,
    schema.order_model,
    schema.visit,
    schema.query,
    schema.term,
    schema.site,
    schema.sample,
)
"""Tables whose rows of a topic go with it."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """How much there is of a topic; more than ``MOST_COUNTED`` of a kind is one more than that.

    Attributes:
        articles: on which it has a verdict.
        pages: URLs that were found for it.
        schedules: that are on.
        jobs: under way.
    """

    terms: int
    sites: int
    samples: int
    judgements: int
    articles: int
    pages: int
    runs: int
    briefings: int
    schedules: int
    jobs: int

    @property
    def is_used(self) -> bool:
        """Whether something was captured for it, which never goes."""
        return bool(self.pages or self.runs or self.briefings)


def holdings(c: Connection, name: str) -> Holdings:
    """What the topic called *name* holds.

    Raises:
        StorageError: it was never imported.
    """
    whose = topic_id(c, name)

    def count(table: Table, *conditions: ColumnElement[bool]) -> int:
        rows = select(table.c.topic_id).where(table.c.topic_id == whose, *conditions)
        some = rows.limit(MOST_COUNTED + 1).subquery()
        return int(c.execute(select(func.count()).select_from(some)).scalar_one())

    job_schedule = schema.job_schedule
    is_on = job_schedule.c.topic == name, job_schedule.c.is_on
    schedules = c.execute(select(func.count()).select_from(job_schedule).where(*is_on))
    return Holdings(
        terms=count(schema.term),
        sites=count(schema.site),
        samples=count(schema.sample),
        judgements=count(schema.judgement),
        articles=count(schema.relevance),
        # The index of URLs begins with the queue.
        pages=count(schema.url, schema.url.c.queue.in_(_QUEUES)),
        runs=count(schema.run),
        briefings=count(schema.briefing) + count(schema.briefing_draft),
        schedules=int(schedules.scalar_one()),
        jobs=sum(job.request.topic == name for job in active_jobs(c)),
    )


def rename_topic(c: Connection, name: str, new: str) -> None:
    """Call the topic *name* *new*, in all that names it: schedules, jobs, lists, rules, pushes …

    Raises:
        ConfigError: *new* can be no name, or is another topic's; or a job of it is under way.
        StorageError: it was never imported.
    """
    row_id = topic_id(c, name)
    if reason := pack_name_reason(new):
        raise ConfigError(reason)
    if find_topic_id(c, new) is not None:
        raise ConfigError(_("there is a topic {name!r} already", name=new))
    _require_rest(c, name)
    c.execute(update(schema.topic).where(schema.topic.c.id == row_id).values(name=new))
    mark_changed(c, row_id, time.time())
    told = schema.warning_push.c.topic, schema.warning_hook.c.topic
    for column in (schema.job.c.topic, schema.job_schedule.c.topic, *told):
        _replace(c, column, name, new)
    change_topic_of_persons(c, name, new)
    _rename_in_lists(c, name, new)
    rename_topic_in_rules(c, name, new)
    rename_topic_of_nodes(c, name, new)
    ConnectionCache.forget(c)


def _replace(c: Connection, column: Column[str], old: str, new: str) -> None:
    c.execute(update(column.table).where(column == old).values({column.name: new}))


def _rename_in_lists(c: Connection, old: str, new: str) -> None:
    kept = schema.saved_search
    rows = c.execute(select(kept.c.id, kept.c.query).where(kept.c.query.contains("topic=")))
    for row_id, query in rows.all():
        pairs = [
            (key, new if (key, value) == ("topic", old) else value)
            for key, value in parse_qsl(query)
        ]
        c.execute(update(kept).where(kept.c.id == row_id).values(query=urlencode(pairs)))


def retire_topic(c: Connection, name: str) -> int:
    """Switch all schedules of a topic off; returns how many. All it found stays."""
    table = schema.job_schedule
    own = table.c.topic == name, table.c.is_on
    return int(c.execute(update(table).where(*own).values(is_on=False)).rowcount)


def delete_topic(c: Connection, name: str) -> None:
    """Delete a topic for which nothing was captured, with its schedules and verdicts.

    Raises:
        ConfigError: something was captured for it, or a job of it is under way.
        StorageError: it was never imported.
    """
    row_id = topic_id(c, name)
    if holdings(c, name).is_used:
        raise ConfigError(_("pages were found for topic {name!r}: it can be retired", name=name))
    _require_rest(c, name)
    asked = select(schema.query.c.id).where(schema.query.c.topic_id == row_id)
    for table in (schema.query_answer, schema.query_hit):
        c.execute(delete(table).where(table.c.query_id.in_(asked)))
    for group in kept_groups(c, name):
        drop_group(c, name, group.name)
    for table in _OWN:
        c.execute(delete(table).where(table.c.topic_id == row_id))
    scheduled = select(schema.job_schedule.c.id).where(schema.job_schedule.c.topic == name)
    c.execute(
        update(schema.job).where(schema.job.c.schedule_id.in_(scheduled)).values(schedule_id=None)
    )
    c.execute(delete(schema.job_schedule).where(schema.job_schedule.c.topic == name))
    change_topic_of_persons(c, name)
    c.execute(delete(schema.topic).where(schema.topic.c.id == row_id))
    ConnectionCache.forget(c)


def _require_rest(c: Connection, name: str) -> None:
    if any(job.request.topic == name for job in active_jobs(c)):
        raise ConfigError(_("a job of topic {name!r} is under way: stop it first", name=name))
