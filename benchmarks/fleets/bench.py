"""Real crawls of one web on one database or cluster, each with what it came to."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.fleets.crew import Crew, Terms, crew, page_hits
from benchmarks.fleets.figures import coverage, crossings, false_finishes, politeness
from benchmarks.fleets.galera import Galera
from benchmarks.fleets.harm import Harm
from benchmarks.fleets.network import NoNetworkError, cluster_network
from benchmarks.fleets.web import FleetWeb, Hit, serving
from benchmarks.mariadb_server import MariaDB
from benchmarks.process_samples import Samples
from qiaocrawl.frontier.host_policies import SHARED, LinkMode
from qiaocrawl.storage.schema import State

_DATABASE = "CREATE DATABASE {} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
_ENTERED_SECONDS = 300.0
# What servers count of conflicts: of row locks, and of commits that another member came before.
_CONFLICTS = ("Innodb_row_lock_waits", "Innodb_deadlocks", "wsrep_local_cert_failures",
              "wsrep_local_bf_aborts")  # fmt: skip
_CORES = 2


@dataclass
class Bench:
    """The database that all runs use, and the folder of their logs.

    Attributes:
        members: the servers of the database; the first collector talks to the first, and so on.
        cluster: what they are together; None where there is one.
    """

    web: FleetWeb
    members: list[MariaDB]
    folder: Path
    cluster: Galera | None = None
    startup_cpu_seconds: float = 0.0
    _runs: int = 0

    def measure_start(self) -> None:
        """Let one collector crawl five pages: what that takes is its start."""
        web, self.web = self.web, FleetWeb(1, 3, 0.0)
        row = self.run(1, Terms(SHARED, LinkMode.EXCHANGE.value))
        self.startup_cpu_seconds = float(str(row["cpu_seconds"]))
        self.web = web

    def run(
        self, count: int, terms: Terms, harm: Harm | None = None, harm_after: float = 0.25
    ) -> dict[str, object]:
        """One crawl of the web by *count* collectors.

        Args:
            harm: what happens when the share *harm_after* of the pages has been asked for.
        """
        name, row = self._new_database(count, terms)
        before = self._database_seconds()
        folder = self.folder / name
        # What is lost must be missed by others: they are all there before the web opens.
        with serving(self.web, is_open=harm is None) as served, crew(
            served, self._urls(name, count), terms, folder
        ) as ours:  # fmt: skip
            if harm is not None:
                self._wait_for_workers(name, count)
                served.open()
                ours.watch(pages=int(self.web.pages * harm_after))
                harm.happen(ours)
            hits = ours.watch()
            survivors = ours.collectors if harm is None else harm.survivors(ours)
            row["ended_badly"] = sum(not one.ends_well() for one in survivors)
            row |= harm.figures(hits) if harm is not None else self._cost(ours, before)
            row |= self._outcome(name, ours, hits)
        return row

    def race(self, count: int) -> dict[str, object]:
        """One crawl whose pages wait until all collectors are there; its rate and cost."""
        terms = Terms(SHARED, LinkMode.EXCHANGE.value)
        name, row = self._new_database(count, terms)
        folder = self.folder / name
        with serving(self.web, is_open=False) as served, crew(
            served, self._urls(name, count), terms, folder
        ) as ours:  # fmt: skip
            self._wait_for_workers(name, count)
            cpu, in_database = ours.cpu_seconds_so_far(), self._database_seconds()
            conflicts = self._conflicts()
            opened_at = time.monotonic()
            served.open()
            hits = ours.watch()
            row["ended_badly"] = sum(not one.ends_well() for one in ours.collectors)
            seconds = hits[-1].at - opened_at
            cpu = ours.cpu_seconds() - cpu
            in_database = self._database_seconds() - in_database
            row |= self._outcome(name, ours, hits)
        conflicts = {key: now - conflicts[key] for key, now in self._conflicts().items()}
        pages = self.web.pages
        return row | {
            "pages_per_second": round(pages / seconds, 1),
            "cpu_ms_per_page": round(1000 * cpu / pages, 1),
            "database_ms_per_page": round(1000 * in_database / pages, 1),
            "machine_busy_percent": round(100 * (cpu + in_database) / (_CORES * seconds)),
            "conflicts_per_page": round(sum(conflicts.values()) / pages, 2),
            **conflicts,
        }

    def _new_database(self, count: int, terms: Terms) -> tuple[str, dict[str, object]]:
        self._runs += 1
        name = f"run{self._runs}"
        self.members[0].execute(_DATABASE.format(name))
        return name, {"collectors": count, "members": len(self.members),
                      "policy": terms.policy, "mode": terms.mode}  # fmt: skip

    def _urls(self, name: str, count: int) -> list[str]:
        return [self.members[number % len(self.members)].url(name) for number in range(count)]

    def _outcome(self, name: str, ours: Crew, hits: list[Hit]) -> dict[str, object]:
        times = [hit.at for hit in page_hits(hits)]
        if not times:
            raise RuntimeError(f"no page was asked for:\n{ours.collectors[0].last_words()}")
        finished = [at for one in ours.collectors if (at := one.finished_at()) is not None]
        row: dict[str, object] = {
            "pages_per_second": round(len(times) / max(times[-1] - times[0], 1.0), 1),
            "shared_hosts": crossings(hits),
            "false_finishes": false_finishes(hits, finished),
            "refused_by_fencing": sum(one.refused() for one in ours.collectors),
            "rows_left": self._number(
                f"SELECT COUNT(*) FROM {name}.url WHERE state <> {State.DONE}"
            ),
        }
        if self.cluster is not None:
            row["members_differ"] = len(self.cluster.differing_tables(name))
        return row | coverage(self.web, hits) | politeness(self.web, hits)

    def _wait_for_workers(self, name: str, count: int) -> None:
        """Until all have said that they live.

        Raises:
            TimeoutError: one does not.
        """
        deadline = time.monotonic() + _ENTERED_SECONDS
        while self._number(f"SELECT COUNT(*) FROM {name}.collector") < count:
            if time.monotonic() > deadline:
                raise TimeoutError(f"not all of {count} collectors have started")
            time.sleep(0.2)

    def _cost(self, ours: Crew, database_before: float) -> dict[str, object]:
        # A collector that runs for days takes no notice of how long it takes to start.
        seconds = ours.cpu_seconds() - len(ours.collectors) * self.startup_cpu_seconds
        in_database = self._database_seconds() - database_before
        return {
            "cpu_seconds": round(seconds, 1),
            "pages_per_cpu_second": round(self.web.pages / max(seconds, 0.01), 1),
            "database_ms_per_page": round(1000 * in_database / self.web.pages, 1),
        }

    def _database_seconds(self) -> float:
        samples = Samples()
        for member in self.members:
            samples.take("mariadbd", member.pid)
        return samples.cpu_seconds()

    def _number(self, sql: str) -> int:
        with self.members[0].connect() as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            row = cursor.fetchone()
        return int(row[0])

    def _conflicts(self) -> dict[str, int]:
        counts = dict.fromkeys(_CONFLICTS, 0)
        for member in self.members:
            with member.connect() as connection, connection.cursor() as cursor:
                cursor.execute("SHOW GLOBAL STATUS")
                said = dict(cursor.fetchall())
            for name in counts:
                counts[name] += int(said.get(name, 0))
        return counts


@contextmanager
def bench(web: FleetWeb, members: int, keep: Path | None) -> Iterator[Bench]:
    """A database of *members* servers for the time of the block.

    Args:
        keep: new folder for database and logs; a temporary one if not given.

    Raises:
        NoServerError: MariaDB or Galera is not installed.
    """
    with ExitStack() as stack:
        if keep is not None:
            keep.mkdir(parents=True)
        folder = keep or Path(stack.enter_context(TemporaryDirectory(prefix="fleet-")))
        folder = folder.resolve()
        if members == 1:
            server = MariaDB(folder)
            server.install()
            stack.callback(server.stop)
            server.start()
            yield Bench(web, [server], folder)
            return
        try:
            network = stack.enter_context(cluster_network(members))
        except NoNetworkError as error:
            print(f"members share the loopback network, a split is only told to Galera: {error}")
            network = None
        cluster = Galera(folder, members, network)
        stack.callback(cluster.stop)
        cluster.start()
        yield Bench(web, cluster.members, folder, cluster)
