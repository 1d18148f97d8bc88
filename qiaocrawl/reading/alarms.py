"""What an operator must know: `qiaocrawl health` reports it, also from a cron job."""

from __future__ import annotations

import shutil
import socket
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, case, exists, func, select

from qiaocrawl.errors import ConfigError, PageStoreError
from qiaocrawl.fetch.sessions.accounts import AccountState
from qiaocrawl.items import Outcome, Queue
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.options import Options
from qiaocrawl.options.project import command_here
from qiaocrawl.reading.outcome_names import end_name
from qiaocrawl.reading.silence import silence_alarms
from qiaocrawl.reading.summary import held_hosts, held_words, more_held
from qiaocrawl.search.query import WHOLE
from qiaocrawl.storage.engine import sqlite_path
from qiaocrawl.storage.frontier.workers import is_run_alive
from qiaocrawl.storage.keepers import KEEPER_NAMES, stored_keepers
from qiaocrawl.storage.locking import lives
from qiaocrawl.storage.page_store.packing import enough_for, waiting_rows
from qiaocrawl.storage.page_store.reading import files_at
from qiaocrawl.storage.page_store.stores import DATABASE, FileState
from qiaocrawl.storage.run_log import SUCCESSFUL_ENDS
from qiaocrawl.storage.schedules import AWAY_AFTER_SECONDS
from qiaocrawl.storage.schema import (
    State,
    account,
    article,
    host,
    node,
    page_file,
    page_record,
    page_store,
    proxy,
    query,
    query_answer,
    run,
    topic,
    url,
    warning_channel,
    warning_message,
)
from qiaocrawl.storage.values import to_stored_time

# So long after its lease nobody works on a row: a living worker renews or takes over leases.
_ABANDONED_SECONDS = 600.0
# A crawl that begins compiles its loops and reads its titles before it shows a sign of life.
_START_SECONDS = 600.0
# Fewer answers than this prove nothing.
_LEAST_ANSWERS = 3
_ANSWER_HOURS = 24.0
# Hosts that give nothing are an operator's matter by so many pages, or where a crawl starts there.
_MANY_PAGES = 5
# While a crawl goes on, a shorter rest is its own matter.
_LONG_REST_SECONDS = 600.0
# What nobody has asked for so long is of no crawl any more.
_STALE_DAYS = 30
_HOSTS_NAMED = 10
# Fewer pages of a site may be those that are not for everybody.
_LEAST_PAGES = 5
_PAGE_DAYS = 7
_SITES_TOLD = 10
_WALLS = (Outcome.BLOCKED, Outcome.LOGIN, Outcome.NEEDS_RENDERING)
# `qiaocrawl warnings send` is to run every few minutes.
_UNSENT_SECONDS = 6 * 3_600.0
# A message that did not arrive is told of for so long.
_TOLD = timedelta(days=7)
_RUNS_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Limits:
    """What is still healthy.

    Attributes:
        article_hours: age of the newest article; 0 = any.
        free_bytes: room on the disk of a SQLite file; 0 = any.
    """

    article_hours: float
    free_bytes: int


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run as its record tells it; ``ended`` is None for one that goes on or died.

    Attributes:
        is_dead: it has no end, and no process of this machine is it; on another machine: its
            worker has shown no sign of life for long, where workers show them.
        remaining: URLs of its scope that still waited at its end.
    """

    id: int
    spider: str
    topic: str
    started: datetime
    ended: datetime | None
    reason: str
    remaining: int | None
    is_dead: bool


def last_runs(c: Connection, count: int) -> list[RunLine]:
    """The newest *count* runs, the newest first."""
    rows = c.execute(
        select(run, topic.c.name.label("topic"))
        .outerjoin(topic, topic.c.id == run.c.topic_id)
        .order_by(run.c.id.desc())
        # The newest first: the first line of a spider and topic decides.
        .limit(count)
    ).all()
    return [
        RunLine(
            row.id,
            row.spider,
            row.topic or "",
            _aware(row.started_at),
            _aware(row.finished_at) if row.finished_at else None,
            row.reason,
            row.remaining,
            row.finished_at is None and _is_dead(c, row),
        )
        for row in rows
    ]


def _is_dead(c: Connection, row: Any) -> bool:
    """Whether a run without an end goes on no more, as far as can be told from here."""
    if row.machine == socket.gethostname():
        return not lives(row.pid)
    # Another machine's processes cannot be looked at. On SQLite workers show no signs of life.
    started = time.time() - _aware(row.started_at).timestamp()
    is_told = c.dialect.name != "sqlite" and started > _START_SECONDS
    return is_told and not is_run_alive(c, row.id)


def alarms(c: Connection, limits: Limits, *, now: float) -> list[str]:
    """Everything an operator should look at, in words; [] is healthy."""
    return [
        *_bad_runs(c, now),
        *_abandoned_alarms(c, now),
        *_no_articles(c, limits, now),
        *_refusing_engines(c, now),
        *_refusing_sites(c, now),
        *_lost_sessions(c),
        *_dead_proxies(c, now),
        *_full_disk(c, limits),
        *_silent_nodes(c, now),
        *_held_hosts(c, now),
        *_silent_keepers(c, now),
        *_undelivered_alarms(c, now),
        *silence_alarms(c),
    ]


def _bad_runs(c: Connection, now: float) -> list[str]:
    """Runs that died or failed, where none of the same spider and topic has gone on since."""
    bad_runs, mended = [], set()
    for line in last_runs(c, 200):
        what = (line.spider, line.topic)
        is_bad = line.is_dead or (line.ended is not None and line.reason not in SUCCESSFUL_ENDS)
        if what not in mended and is_bad:
            mended.add(what)
            bad_runs.append(_bad_run(line, now))
        else:
            # One that is under way took up what the dead one left; it may be its very job.
            mended.add(what)
    return bad_runs


def _abandoned_alarms(c: Connection, now: float) -> list[str]:
    # All queues and topics there are: the index begins with them.
    topics = c.execute(select(topic.c.id)).scalars().all()
    statement = (
        select(url.c.queue, func.count())
        .where(
            url.c.queue.in_(list(Queue)),
            url.c.topic_id.in_(topics),
            url.c.state.in_((State.LEASED, State.FETCHED)),
            url.c.lease_until < now - _ABANDONED_SECONDS,
        )
        .group_by(url.c.queue)
    )
    for dialect in ("mysql", "mariadb"):
        statement = statement.with_hint(url, "FORCE INDEX (ix_url_frontier)", dialect)
    rows = c.execute(statement)
    return [
        _(
            "{queue}: {count} URLs are nobody's; `qiaocrawl crawl {queue}` goes on with them",
            queue=queue,
            count=number,
        )
        for queue, number in rows
    ]


def _no_articles(c: Connection, limits: Limits, now: float) -> list[str]:
    if not limits.article_hours:
        return []
    newest = c.execute(select(func.max(article.c.fetched_at))).scalar_one()
    if newest is None:
        return [_("no article is stored")]
    since = _aware(newest).timestamp()
    if now - since <= 3600 * limits.article_hours:
        return []
    return [_("the newest article was stored {ago}", ago=_ago(since, now))]


def _refusing_engines(c: Connection, now: float) -> list[str]:
    """Engines that were asked and gave no good answer."""
    since = datetime.fromtimestamp(now, UTC) - timedelta(hours=_ANSWER_HOURS)
    # COUNT skips NULL, which CASE gives for every other state.
    good = func.count(case((query_answer.c.state.in_(WHOLE), 1)))
    rows = c.execute(
        select(query.c.engine, func.count(), good)
        .join(query, query.c.id == query_answer.c.query_id)
        .where(query_answer.c.asked_at >= since.replace(tzinfo=None))
        .group_by(query.c.engine)
    )
    text = _("{engine}: {count} answers in {hours:.0f} h, none of them good")
    return [
        text.format(engine=engine, count=number, hours=_ANSWER_HOURS)
        for engine, number, good in rows
        if number >= _LEAST_ANSWERS and not good
    ]


def _refusing_sites(c: Connection, now: float) -> list[str]:
    """Sites whose pages were asked for, and that gave none: walls of firewalls and logins."""
    since = datetime.fromtimestamp(now, UTC) - timedelta(days=_PAGE_DAYS)
    came = func.count(case((url.c.outcome == Outcome.ARTICLE, 1)))
    missed = func.count() - came
    rows = c.execute(
        select(host.c.name, missed)
        .join(host, host.c.id == url.c.host_id)
        .where(
            url.c.outcome.in_((*_WALLS, Outcome.ARTICLE)),
            url.c.done_at >= since.replace(tzinfo=None),
            url.c.queue != Queue.SEARCH,
        )
        .group_by(host.c.name)
        .having(and_(came == 0, missed >= _LEAST_PAGES))
        .order_by(missed.desc(), host.c.name)
    ).all()
    text = _(
        "{host}: {count} pages refused in {days} days, no article; "
        "`qiaocrawl report missed` says why"
    )
    told = [
        text.format(host=name, count=number, days=_PAGE_DAYS) for name, number in rows[:_SITES_TOLD]
    ]
    if len(rows) > _SITES_TOLD:
        told.append(_("{more} more sites refuse their pages", more=len(rows) - _SITES_TOLD))
    return told


def _lost_sessions(c: Connection) -> list[str]:
    """Sites all of whose accounts rest."""
    other = account.alias()
    usable = exists().where(
        other.c.site == account.c.site,
        other.c.state.in_((AccountState.ACTIVE, AccountState.NEW)),
    )
    rows = c.execute(
        select(account.c.site, account.c.name, account.c.reason)
        .where(account.c.state == AccountState.RESTING, ~usable)
        .order_by(account.c.site)
    )
    text = _("{site}: account {name} rests: {reason}")
    return [
        text.format(site=site, name=name, reason=shown_reason(reason))
        for site, name, reason in rows
    ]


def _dead_proxies(c: Connection, now: float) -> list[str]:
    number, resting = c.execute(
        select(func.count(), func.count(case((proxy.c.resting_until > now, 1)))).select_from(proxy)
    ).one()
    # One working proxy is enough: the pool goes on with it.
    if not number or number != resting:
        return []
    return [_("none of the {count} proxies works", count=number)]


def _full_disk(c: Connection, limits: Limits) -> list[str]:
    if c.dialect.name != "sqlite" or not limits.free_bytes:
        return []
    free = shutil.disk_usage(sqlite_path(c.engine.url).parent).free
    if free >= limits.free_bytes:
        return []
    return [_("the disk is nearly full: {free} MiB free", free=free >> 20)]


def _silent_nodes(c: Connection, now: float) -> list[str]:
    """Nodes whose scrapyd does not answer, as whoever asked them last has written."""
    rows = c.execute(
        select(node.c.name, node.c.away_since)
        .where(node.c.away_since < now - AWAY_AFTER_SECONDS)
        .order_by(node.c.name)
    )
    text = _("node {name} does not answer, first noticed {ago}")
    return [text.format(name=name, ago=_ago(since, now)) for name, since in rows]


def _held_hosts(c: Connection, now: float) -> list[str]:
    """Sites that refuse or are silent."""
    moment = datetime.fromtimestamp(now, UTC)
    # Until the end of a run that goes on, a host may well answer again.
    goes_on = any(run.ended is None and not run.is_dead for run in last_runs(c, _RUNS_LOOKED_AT))
    least = timedelta(seconds=_LONG_REST_SECONDS if goes_on else 0.0)
    held = [
        one
        for one in held_hosts(c, now=now)
        if (one.is_start or one.waiting + one.lost >= _MANY_PAGES)
        and moment - one.last < timedelta(days=_STALE_DAYS)
        and (one.until is None or moment - one.since >= least)
    ]
    lines = [f"{one.host}{_(': ')}{held_words(one)}" for one in held[:_HOSTS_NAMED]]
    if more := len(held) - len(lines):
        lines.append(more_held(more))
    return lines


def _silent_keepers(c: Connection, now: float) -> list[str]:
    """What does not look after jobs, search index or metrics, though it has not ended in order."""
    lines = []
    for one in stored_keepers(c):
        named = {
            "keeper": _(KEEPER_NAMES[one.name]) if one.name in KEEPER_NAMES else one.name,
            "machine": one.machine,
            "ago": _ago(one.looked_at, now),
        }
        if one.is_silent(now) and one.trouble:
            lines.append(
                _(
                    "{keeper} on {machine}: last looked after {ago}; now: {trouble}",
                    **named,
                    trouble=one.trouble,
                )
            )
        elif one.is_silent(now):
            lines.append(
                _(
                    "{keeper} on {machine}: last looked after {ago}; its process was "
                    "killed or hangs: start it again",
                    **named,
                )
            )
        elif one.trouble:
            lines.append(_("{keeper} on {machine}: {trouble}", **named, trouble=one.trouble))
    return lines


def _undelivered_alarms(c: Connection, now: float) -> list[str]:
    """Channels that did not take their last messages, and messages nobody sends."""
    columns = warning_message.c
    sent: dict[str, int] = {
        row[0]: row[1]
        for row in c.execute(
            select(columns.channel, func.max(columns.id))
            .where(columns.state == "sent")
            .group_by(columns.channel)
        )
    }
    failed = (
        select(columns.channel, columns.id, columns.error)
        .where(
            columns.state.in_(("waiting", "given_up")),
            columns.error != "",
            columns.created_at >= to_stored_time(datetime.fromtimestamp(now, UTC) - _TOLD),
        )
        .order_by(columns.id)
    )
    counts: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for channel, row_id, error in c.execute(failed):
        if row_id > sent.get(channel, 0):
            counts[channel] += 1
            reasons[channel] = error
    lines = [
        _(
            "channel {channel}: {count} messages did not arrive: {why}; test it in the "
            "console, page Warnings",
            channel=channel,
            count=count,
            why=shown_reason(reasons[channel]),
        )
        for channel, count in sorted(counts.items())
    ]
    forgotten = (
        select(columns.channel, func.count())
        .where(
            columns.state == "waiting",
            columns.attempts == 0,
            columns.next_at < now - _UNSENT_SECONDS,
        )
        .group_by(columns.channel)
        .order_by(columns.channel)
    )
    counted: dict[str, int] = {row[0]: row[1] for row in c.execute(forgotten)}
    lines += [
        _(
            "{count} messages wait for the channel {channel}, which has no address: enter it in "
            "the console, page Warnings",
            channel=channel,
            count=counted.pop(channel),
        )
        for channel in _without_address(c, counted)
    ]
    if unsent := sum(counted.values()):
        lines.append(
            _(
                "{count} messages of warnings wait and nobody sends them: run `qiaocrawl "
                "warnings send` every few minutes",
                count=unsent,
            )
        )
    return lines


def _without_address(c: Connection, channels: Iterable[str]) -> list[str]:
    """Those of *channels* that nobody can send to; [] where a file may have their addresses."""
    if Options.from_environment()["QIAO_WARNING_CHANNELS"]:
        return []
    kept = set(c.execute(select(warning_channel.c.name)).scalars())
    return sorted(set(channels) - kept)


def _aware(stored: datetime) -> datetime:
    return stored.replace(tzinfo=UTC)


def _ago(since: float, now: float | None = None) -> str:
    hours = ((time.time() if now is None else now) - since) / 3600
    if hours >= 1:
        return _("{hours:.0f} h ago", hours=hours)
    return _("{minutes:.0f} min ago", minutes=60 * hours)


def _bad_run(line: RunLine, now: float) -> str:
    how = _("ended: {reason}", reason=end_name(line.reason)) if line.ended else _("died")
    return _(
        "{spider} {topic}: run {id} {how}, started {ago}",
        spider=line.spider,
        topic=line.topic,
        id=line.id,
        how=how,
        ago=_ago(line.started.timestamp(), now),
    )


# --- What stands where: figures of stores for people and alarms -----------------------------------


@dataclass(frozen=True, slots=True)
class StoreFigures:
    """One store: its whole files, their bytes and records; files that only wait to be deleted.

    ``unread`` are records that could not be read when they were verified last.
    """

    address: str
    files: int
    file_bytes: int
    records: int
    unread: int
    retired_files: int
    retired_bytes: int


@dataclass(frozen=True, slots=True)
class PlaceFigures:
    """Where pages and pictures are: ``in_database`` of them in rows, the others in stores."""

    in_database: int
    stores: tuple[StoreFigures, ...]


def place_figures(c: Connection) -> PlaceFigures:
    """Counted over the indexes, without reading a page."""
    return PlaceFigures(waiting_rows(c), tuple(store_figures(c)))


def store_figures(c: Connection) -> list[StoreFigures]:
    """Every store this database has had, the first one first."""

    def sum_where(state: FileState, what: Any) -> Any:
        return func.coalesce(func.sum(case((page_file.c.state == state, what), else_=0)), 0)

    files = c.execute(
        select(
            page_store.c.id,
            page_store.c.address,
            sum_where(FileState.COMPLETE, 1),
            sum_where(FileState.COMPLETE, page_file.c.file_bytes),
            sum_where(FileState.RETIRED, 1),
            sum_where(FileState.RETIRED, page_file.c.file_bytes),
        )
        .outerjoin(page_file, page_file.c.store_id == page_store.c.id)
        .group_by(page_store.c.id, page_store.c.address)
        .order_by(page_store.c.id)
    ).all()
    records = {
        row[0]: (row[1], int(row[2]))
        for row in c.execute(
            select(
                page_file.c.store_id,
                func.count(),
                func.sum(case((page_record.c.fault != "", 1), else_=0)),
            )
            .join(page_record, page_record.c.file_id == page_file.c.id)
            .group_by(page_file.c.store_id)
        )
    }
    figures = []
    for store_id, address, whole, size, retired, retired_size in files:
        count, unread = records.get(store_id, (0, 0))
        figures.append(
            StoreFigures(
                address, int(whole), int(size), count, unread, int(retired), int(retired_size)
            )
        )
    return figures


# So many files' worth of pages in the database: the store takes none.
_FILES_WAITING = 3


class StoreInUse(NamedTuple):
    """What the options say of raw pages: where they go, in files of how many bytes."""

    address: str
    file_bytes: int

    @classmethod
    def of(cls, options: Options) -> StoreInUse:
        """As QIAO_PAGE_STORE and QIAO_PAGE_STORE_FILE_MB have it."""
        return cls(options["QIAO_PAGE_STORE"], options["QIAO_PAGE_STORE_FILE_MB"] * 10**6)


def store_alarms(
    c: Connection, store: StoreInUse, figures: Sequence[StoreFigures], *, ask: bool = True
) -> list[str]:
    """What is wrong with stored pages: unreadable ones, a store that is away or takes none.

    Args:
        figures: of all stores, as :func:`store_figures` has them.
        ask: whether the store answers; that may take a minute where it does not.
    """
    problems = [
        _(
            "{address}: {count} stored pages cannot be read; `{command}` names them",
            address=one.address,
            count=one.unread,
            command=command_here("qiaocrawl pages verify"),
        )
        for one in figures
        if one.unread
    ]
    if store.address == DATABASE:
        return problems
    if ask:
        try:
            files_at(store.address).mark()
        except (ConfigError, PageStoreError) as error:
            problems.append(_("the page store does not answer: {error}", error=error))
    if enough_for(c, _FILES_WAITING * store.file_bytes):
        problems.append(
            _(
                "pages wait in the database for {address}; `{command}` says why",
                address=store.address,
                command=command_here(f"qiaocrawl pages move --to {store.address}"),
            )
        )
    return problems
