"""The nodes of the database as servers that can be asked.

The table is the one list of them; servers of ``QIAO_SCRAPYD_SERVERS`` are put into it when they
are not there yet. What a row lets a node do is for the operator to change.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import TypeVar

from qiaocrawl.errors import JobError, NoLoginError, ServerAwayError
from qiaocrawl.jobs.scrapyd import ScrapydServer, ServerJobs, ServerStatus, server_address
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.storage import Database, schedules
from qiaocrawl.storage.engine import latest_due
from qiaocrawl.storage.jobs import Job, JobRequest
from qiaocrawl.storage.schedules import AWAY_AFTER_SECONDS, Node

SEED = "QIAO_SCRAPYD_SERVERS"
# One that does not answer takes its whole time-out: it must not keep the others waiting.
_ASKED_AT_ONCE = 16
_AGAIN_SECONDS = 15.0
T = TypeVar("T")


def no_node_yet() -> str:
    """What to do where the list is empty."""
    return _("no node; `qiaocrawl nodes add` adds one")


def _asked_together(ask: Callable[[str], T], names: Collection[str]) -> dict[str, T]:
    """What *ask* says of each node; none waits for another that is slow."""
    with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
        return dict(zip(names, pool.map(ask, names), strict=True))


class NodeServers:
    """The servers of a database's nodes.

    Args:
        options: QIAO_SCRAPYD_SERVERS is used, with the passwords in it.
    """

    def __init__(self, database: Database, options: Options) -> None:
        self._database = database
        self._seeds = dict(map(server_address, options[SEED]))
        self._logins: dict[str, str] = {server_address(url)[0]: url for url in options[SEED]}
        self._open: dict[str, tuple[str, ScrapydServer]] = {}
        self._asked_at: dict[str, float] = {}
        self._unfit: frozenset[str] = frozenset()
        self._lock = Lock()
        self.nodes: Mapping[str, Node] = {}

    def refresh(self) -> Mapping[str, Node]:
        """Read the nodes anew, by name; the servers of the option are among them."""
        if missing := self._seeds.keys() - self._read().keys():
            seeds = {name: self._seeds[name] for name in missing}
            with self._database.engine.begin() as c:
                schedules.seed_nodes(c, seeds, SEED, time.time())
            self._read()
        return self.nodes

    def _read(self) -> Mapping[str, Node]:
        with self._database.reading() as c:
            self.nodes = {node.name: node for node in schedules.list_nodes(c)}
        return self.nodes

    def server(self, name: str) -> ScrapydServer:
        """The server of the node *name*.

        Raises:
            JobError: there is none of that name, or its user and password are not here.
        """
        if name not in self.nodes and name not in self.refresh():
            raise JobError(_("{server}: no such node; see `qiaocrawl nodes list`", server=name))
        url = self._url(self.nodes[name])
        with self._lock:
            opened = self._open.get(name)
            if opened is None or opened[0] != url:
                if opened is not None:
                    opened[1].close()
                self._open[name] = opened = (url, ScrapydServer(url))
            return opened[1]

    def _url(self, node: Node) -> str:
        """The address of *node* with user and password."""
        variable = node.terms.login_env
        if not variable:
            return node.terms.address
        if variable == SEED and node.name in self._logins:
            return self._logins[node.name]
        user, colon, password = os.environ.get(variable, "").partition(":")
        if variable == SEED or not colon:
            raise NoLoginError(
                _(
                    "{server}: {variable} has no USER:PASSWORD for it here",
                    server=node.name,
                    variable=variable,
                )
            )
        return ScrapydServer.url_with_login(node.terms.address, user, password)

    def lists(self, now: float) -> dict[str, ServerJobs | JobError]:
        """The jobs of every node, or why they are not known; all are asked at the same time.

        A node that did not answer is asked again after a while only.
        """
        names = list(self.nodes)
        answers = _asked_together(lambda name: self._list_jobs(name, now), names)
        self._unfit = frozenset(n for n in names if isinstance(answers[n], JobError))
        self._note_who_is_away(answers, now)
        return answers

    def statuses(self, now: float) -> dict[str, ServerStatus | JobError]:
        """How every node is, or why it is not known; all are asked at the same time."""
        answers = _asked_together(self._status, list(self.nodes))
        self._note_who_is_away(answers, now)
        return answers

    def _status(self, name: str) -> ServerStatus | JobError:
        try:
            return self.server(name).status()
        except JobError as error:
            return error

    def _note_who_is_away(self, answers: Mapping[str, object], now: float) -> None:
        """Write which nodes answered and which did not, where that is news."""
        # Of those that were not asked another console may know that they are away.
        asked = [n for n in answers if not isinstance(answers[n], NoLoginError)]
        is_away = {name: isinstance(answers[name], ServerAwayError) for name in asked}
        changed = []
        for name in asked:
            since = self.nodes[name].away_since
            # Away since the future, by a clock that was ahead, it would not be away for long.
            is_late = since is not None and since > latest_due(now, 0.0)
            if is_away[name] != (since is not None) or (is_away[name] and is_late):
                changed.append(name)
        if changed:
            with self._database.engine.begin() as c:
                for name in changed:
                    schedules.set_away(c, name, now if is_away[name] else None)
            self._read()

    def _list_jobs(self, name: str, now: float) -> ServerJobs | JobError:
        away_since = self.nodes[name].away_since
        if away_since is not None and 0 <= now - self._asked_at.get(name, 0.0) < _AGAIN_SECONDS:
            return ServerAwayError(_("scrapyd {name} does not answer", name=name))
        self._asked_at[name] = now
        try:
            return self.server(name).jobs()
        except JobError as error:
            return error

    def is_away(self, name: str, now: float) -> bool:
        """Whether the node has not answered for so long that its jobs go elsewhere."""
        node = self.nodes.get(name)
        since = None if node is None else node.away_since
        return since is not None and now - since >= AWAY_AFTER_SECONDS

    def is_draining(self, name: str) -> bool:
        """Whether nothing is to be started on the node."""
        return name in self.nodes and self.nodes[name].is_draining

    def choose(
        self, spider: str, topic: str, jobs: Mapping[str, int], but: Collection[str] = ()
    ) -> str | None:
        """The node with the fewest jobs for its weight that may run *spider* for *topic*.

        Args:
            jobs: how many each node has; one that is not named has none.
            but: nodes that are not to have it.
        """
        fit = [
            node
            for name, node in self.nodes.items()
            if name not in but
            and name not in self._unfit
            and node.away_since is None
            and node.may_run(spider, topic)
        ]
        best = min(
            fit, key=lambda n: ((jobs.get(n.name, 0) + 1) / n.terms.weight, n.name), default=None
        )
        return None if best is None else best.name

    def why_not(self, wanted: JobRequest, active: Iterable[Job]) -> dict[str, str]:
        """Why nodes do not take *wanted* now, by node; those that take it are not named."""
        running = {
            job.request.server: job.id
            for job in active
            if (job.request.spider, job.request.topic) == (wanted.spider, wanted.topic)
        }
        reasons = {}
        for name, node in self.nodes.items():
            if name in running:
                reasons[name] = _("runs it already (job {job})", job=running[name])
            elif node.is_draining:
                reasons[name] = _("is being drained")
            elif not node.may_run(wanted.spider, wanted.topic):
                reasons[name] = _("is not to run it (nodes add --spider, --topic)")
            elif node.away_since is not None:
                reasons[name] = _("does not answer")
            elif name in self._unfit:
                reasons[name] = _("refuses, or its password is not here")
        return reasons

    def free_for(
        self, wanted: JobRequest, active: Iterable[Job], but: Collection[str] = ()
    ) -> str | None:
        """The node that :meth:`choose` gives, of those that run nothing like *wanted*.

        Args:
            active: all jobs that are not over.
        """
        jobs: Counter[str] = Counter()
        same: set[str] = set()
        for request in (job.request for job in active):
            jobs[request.server] += 1
            if (request.spider, request.topic) == (wanted.spider, wanted.topic):
                same.add(request.server)
        return self.choose(wanted.spider, wanted.topic, jobs, but={*same, *but})

    def close(self) -> None:
        """Close the connections; what runs goes on."""
        for _url, server in self._open.values():
            server.close()
        self._open.clear()


# --- All that a job said, as a file ---------------------------------------------------------------


def whole_log(nodes: NodeServers, job: Job, file: Path) -> None:
    """Write the whole log of *job*, which may still grow, to *file*.

    Raises:
        JobError: its server does not answer, or there is no log, or not on this machine.
    """
    if job.request.server:
        server = nodes.server(job.request.server)
        is_there = bool(job.token) and server.save_log(job.request.spider, job.token, file)
    else:
        is_there = _copy_file(job.log, file)
    if not is_there:
        raise JobError(_("job {number} has no log here", number=job.id))


def _copy_file(path: str, file: Path) -> bool:
    try:
        shutil.copyfile(path, file)
    except OSError:
        return False
    return True
