"""How far a job is, stage by stage, as the terminal shows it: out of rows that its crawls write.

A round is a command that starts one spider after the other; each spider has the record of its run.
What the round itself does besides, the analysis, is under way when all its spiders are over.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from qiaocrawl.items import Queue
from qiaocrawl.jobs.requests import JUDGE, REREAD, ROUND
from qiaocrawl.language import N_, _, ngettext
from qiaocrawl.news.overview import engines_that_refused
from qiaocrawl.reading.outcome_names import end_name
from qiaocrawl.reading.summary import held_hosts, held_words, more_held
from qiaocrawl.storage.jobs import ACTIVE, CrawlProgress, Job, JobState, crawl_progress
from qiaocrawl.storage.run_log import NEW_ARTICLES, ON_TOPIC, PAGES, SUCCESSFUL_ENDS
from qiaocrawl.storage.schema import article, query, relevance, run, site, visit
from qiaocrawl.storage.topics.topics import find_topic_id
from qiaocrawl.storage.values import from_time, to_stored_time

WAITING, RUNNING, DONE, FAILED, SKIPPED = "waiting", "running", "done", "failed", "skipped"
_ANALYSE = "analyse"
_TITLES = {
    Queue.WATCH: N_("Revisit watched pages"),
    Queue.SEARCH: N_("Ask search engines"),
    Queue.PAGES: N_("Fetch pages"),
    Queue.SITE: N_("Crawl sites"),
    _ANALYSE: N_("Put into events"),
    JUDGE: N_("Judge stored articles"),
    REREAD: N_("Read stored pages anew"),
}
_ROUND = (Queue.WATCH, Queue.SEARCH, Queue.PAGES, Queue.SITE, _ANALYSE)
"""In the order in which `qiaocrawl run` does them."""
_TITLES_SHOWN = 6
_HOSTS_SHOWN = 4
_MOST_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: ``done`` of ``total`` while it is known, and what to say of it."""

    name: str
    title: str
    state: str
    done: int
    total: int
    words: str

    @property
    def share(self) -> float:
        """How much of it is done, in [0, 1]."""
        if self.state == DONE:
            return 1.0
        return min(self.done / self.total, 1.0) if self.total else 0.0


class NewArticle(NamedTuple):
    """An article on topic that the job brought."""

    id: int
    title: str
    outlet: str
    fetched_at: datetime | None


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as somebody watches it.

    Attributes:
        seconds: since it started, or that it took.
        seconds_left: of the stage that runs; None where nobody can say.
        pages, new, on_topic: so far.
        newest: articles on topic, the last first.
        troubles: hosts that rest and engines that do not answer, in words.
    """

    stages: tuple[Stage, ...]
    seconds: float
    seconds_left: float | None
    pages: int
    new: int
    on_topic: int
    newest: tuple[NewArticle, ...]
    troubles: tuple[str, ...]

    @property
    def place(self) -> int:
        """Which stage it is at, from 1; 0 before the first."""
        states = [stage.state for stage in self.stages]
        started = [
            place for place, state in enumerate(states, 1) if state not in (WAITING, SKIPPED)
        ]
        return max(started, default=0)


def view_job(c: Connection, job: Job, now: float) -> JobView:
    """How far *job* is at *now* (epoch seconds)."""
    moment = datetime.fromtimestamp(now, UTC)
    topic = find_topic_id(c, job.request.topic)
    if topic is None or job.started_at is None:
        names = _names(job)
        stages = tuple(Stage(name, _(_TITLES[name]), WAITING, 0, 0, "") for name in names)
        return JobView(stages, 0.0, None, 0, 0, 0, (), ())
    runs = _runs(c, job, topic)
    stages, left = _stages(c, job, topic, runs, now)
    stats = [json.loads(row.stats) if row.stats else {} for row in runs.values()]
    counted, newest = _on_topic(c, job, topic)
    ended = job.ended_at or moment
    return JobView(
        stages,
        max((ended - job.started_at).total_seconds(), 0.0),
        left,
        _visits(c, job, topic, ()),
        sum(int(own.get(NEW_ARTICLES, 0)) for own in stats),
        max(counted, sum(int(own.get(ON_TOPIC, 0)) for own in stats)),
        newest,
        _troubles(c, job) if job.state in ACTIVE else (),
    )


def _names(job: Job) -> Sequence[str]:
    spider = job.request.spider
    if spider == ROUND:
        return _ROUND
    return (spider,) if spider in _TITLES else (JUDGE,)


def _runs(c: Connection, job: Job, topic: int) -> dict[str, Any]:
    """The last run of each spider since the job began; a round's spiders bear no token of it."""
    assert job.started_at is not None
    until = to_stored_time(job.ended_at or datetime.now(UTC))
    rows = c.execute(
        select(run.c.spider, run.c.started_at, run.c.finished_at, run.c.reason, run.c.stats)
        .where(
            run.c.topic_id == topic,
            run.c.started_at >= to_stored_time(job.started_at),
            run.c.started_at <= until,
        )
        .order_by(run.c.id)
    )
    return {row.spider: row for row in rows}


def _stages(
    c: Connection, job: Job, topic: int, runs: dict[str, Any], now: float
) -> tuple[tuple[Stage, ...], float | None]:
    """All stages, and how long the one that runs will take."""
    names, left = _names(job), None
    last = max((place for place, name in enumerate(names) if name in runs), default=-1)
    stages = []
    for place, name in enumerate(names):
        title = _(_TITLES[name])
        if name in runs and runs[name].finished_at is not None:
            stages.append(_over(name, title, runs[name]))
        elif name in runs and job.state in ACTIVE:
            progress = crawl_progress(c, job.request.topic, (Queue(name),), now)
            begun = from_time(runs[name].started_at)
            assert begun is not None
            stages.append(_under_way(c, job, topic, name, begun, progress))
            left = _seconds_left(name, stages[-1], progress)
        elif name in runs:
            stages.append(Stage(name, title, FAILED, 0, 0, _("broken off")))
        elif place < last:
            stages.append(Stage(name, title, SKIPPED, 0, 0, _("nothing to do")))
        else:
            stages.append(_without_run(job, name, title, runs))
    return tuple(stages), left


def _over(name: str, title: str, row: Any) -> Stage:
    if row.reason not in SUCCESSFUL_ENDS:
        return Stage(name, title, FAILED, 0, 0, end_name(row.reason) if row.reason else "")
    stats = json.loads(row.stats) if row.stats else {}
    pages, new = int(stats.get(PAGES, 0)), int(stats.get(NEW_ARTICLES, 0))
    if name == Queue.SEARCH:
        words = ngettext("{count:,} question asked", "{count:,} questions asked", pages)
        return Stage(name, title, DONE, pages, pages, words)
    words = ngettext("{count:,} page", "{count:,} pages", pages)
    return Stage(name, title, DONE, pages, pages, _("{pages}, {new} new", pages=words, new=new))


def _under_way(
    c: Connection, job: Job, topic: int, name: str, begun: datetime, progress: CrawlProgress
) -> Stage:
    left = progress.waiting + progress.in_hand
    if name == Queue.SEARCH:
        done = int(
            c.scalar(
                select(func.count()).where(
                    query.c.topic_id == topic, query.c.asked_at >= to_stored_time(begun)
                )
            )
            or 0
        )
        words = _("{done} of {total} questions", done=f"{done:,}", total=f"{done + left:,}")
    else:
        done = _visits(c, job, topic, (name,), begun)
        words = _("{done} of {total} pages", done=f"{done:,}", total=f"{done + left:,}")
    return Stage(name, _(_TITLES[name]), RUNNING, done, done + left, words)


def _seconds_left(name: str, stage: Stage, progress: CrawlProgress) -> float | None:
    # The pages of sites lead to more: what is known says little of what is to come.
    if progress.per_minute <= 0 or stage.total <= stage.done or name == Queue.SITE:
        return None
    return 60.0 * (stage.total - stage.done) / progress.per_minute


def _without_run(job: Job, name: str, title: str, runs: dict[str, Any]) -> Stage:
    """A stage that no spider has begun: to come, or one that is none of a spider."""
    by_itself = name in (_ANALYSE, JUDGE, REREAD)
    all_over = all(row.finished_at is not None for row in runs.values())
    if job.state is JobState.FINISHED:
        state, words = (DONE, _("done")) if by_itself else (SKIPPED, _("nothing to do"))
        return Stage(name, title, state, 0, 0, words)
    is_begun = name in (JUDGE, REREAD) or (bool(runs) and Queue.SITE in runs and all_over)
    if job.state is JobState.FAILED and by_itself and is_begun:
        return Stage(name, title, FAILED, 0, 0, "")
    if by_itself and is_begun and job.state in ACTIVE and job.state is not JobState.WAITING:
        return Stage(name, title, RUNNING, 0, 0, _("under way"))
    return Stage(name, title, WAITING, 0, 0, _("waits") if job.state in ACTIVE else "")


def _visits(
    c: Connection, job: Job, topic: int, queues: Sequence[str], since: datetime | None = None
) -> int:
    """Pages fetched since the job, or the stage, began; at most ten thousand are counted."""
    begun = since or job.started_at
    assert begun is not None
    own = [visit.c.topic_id == topic, visit.c.at >= begun.timestamp()]
    own.append(visit.c.queue.in_(queues or [queue.value for queue in Queue]))
    if job.ended_at is not None:
        own.append(visit.c.at <= job.ended_at.timestamp())
    newest = select(visit.c.seq).where(*own).order_by(visit.c.seq.desc()).limit(_MOST_COUNTED)
    return int(c.scalar(select(func.count()).select_from(newest.subquery())) or 0)


def _on_topic(c: Connection, job: Job, topic: int) -> tuple[int, tuple[NewArticle, ...]]:
    """How many articles on topic came meanwhile, and the last of them."""
    assert job.started_at is not None
    own = [
        article.c.fetched_at >= to_stored_time(job.started_at),
        relevance.c.topic_id == topic,
        relevance.c.relevant,
    ]
    if job.ended_at is not None:
        own.append(article.c.fetched_at <= to_stored_time(job.ended_at))
    joined = article.join(relevance, relevance.c.article_id == article.c.id)
    found = select(article.c.id).select_from(joined).where(*own).limit(_MOST_COUNTED)
    count = int(c.scalar(select(func.count()).select_from(found.subquery())) or 0)
    rows = c.execute(
        select(article.c.id, article.c.title, article.c.site, article.c.fetched_at)
        .select_from(joined)
        .where(*own)
        .order_by(article.c.fetched_at.desc())
        .limit(_TITLES_SHOWN)
    ).all()
    hosts = {row.site for row in rows}
    named = select(site.c.host, site.c.name).where(site.c.topic_id == topic, site.c.host.in_(hosts))
    names = {row.host: row.name for row in c.execute(named) if row.name}
    return count, tuple(
        NewArticle(row.id, row.title, names.get(row.site, row.site), from_time(row.fetched_at))
        for row in rows
    )


def _troubles(c: Connection, job: Job) -> tuple[str, ...]:
    """What keeps the job from pages: hosts that rest, engines that do not answer."""
    assert job.started_at is not None
    held = held_hosts(c, job.request.topic)
    words = [f"{one.host}{_(': ')}{held_words(one)}" for one in held[:_HOSTS_SHOWN]]
    if (more := len(held) - _HOSTS_SHOWN) > 0:
        words.append(more_held(more))
    engines = engines_that_refused(c, job.started_at)
    if engines:
        words.append(_("search engines that do not answer: {names}", names=_(", ").join(engines)))
    return tuple(words)


def shown_seconds(seconds: float) -> str:
    """A time as people say it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return _("{hours} h {minutes} min", hours=hours, minutes=minutes)
    if minutes:
        return _("{minutes} min {seconds} s", minutes=minutes, seconds=rest)
    return _("{seconds} s", seconds=rest)
