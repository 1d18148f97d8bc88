"""Traps amid a real section: cut early, the section read whole (faults F-T1)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from crawling import Crawl, crawl, import_pack, local_server, pack, rows
from qiaocrawl.storage import Database
from qiaocrawl.storage.frontier.postponed import left_out
from trap_web import HOST, TrapWeb, trap_of

_REAL = 100
# A tenth of all fetches with a section of 500 pages: traps cost the same however large it is.
_MOST_OF_ALL = 55
_MOST_OF_ONE = 40


def test_traps_are_cut_and_the_section_is_read(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    import_pack(url, pack(HOST))
    with local_server(TrapWeb(_REAL).respond) as server:
        done = run(url, tmp_path, server.origin, "strategy=adaptive", "-s", "QIAO_MAX_PAGES=600")
        check_what_was_read(done, server.paths())
    check_reasons(url)


def test_what_was_learnt_survives_and_the_operator_wins_over_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    import_pack(url, pack(HOST))
    with local_server(TrapWeb(_REAL).respond) as server:
        done = run(url, tmp_path, server.origin, "strategy=bfs", "-s", "QIAO_MAX_PAGES=600")
        read = server.paths()
        check_what_was_read(done, read)
        check_reasons(url)
        maze = ("strategy=bfs", f"start=http://{HOST}/maze/in")
        run(url, tmp_path, server.origin, *maze)
        assert server.paths() == [*read, "/maze/in"], "the start page alone is asked again"
        allowed = run(
            url,
            tmp_path,
            server.origin,
            *maze,
            "-s",
            "QIAO_MAX_PAGES=10",
            QIAO_TRAPS_ALLOWED=f"{HOST}/maze/*",
        )
    assert "(limit_pages)" in allowed.log, allowed.log


def test_a_maze_of_dated_stories_is_cut_listed_and_tried(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    import_pack(url, pack(HOST))
    with local_server(TrapWeb(_REAL, tales=True).respond) as server:
        done = run(url, tmp_path, server.origin, "strategy=bfs", "-s", "QIAO_MAX_PAGES=600")
    assert "(finished)" in done.log, "an endless site was not read to its end"
    paths = server.paths()
    real = {path for path in paths if path.startswith("/news/")}
    tales = [path for path in paths if trap_of(path) == "tale"]
    assert len(real) == _REAL
    # What the texts need to be judged, what was in hand then, a tenth of the rest.
    assert 32 <= len(tales) <= 60, len(tales)
    assert "made-up texts" in done.log
    assert "URLs that were put off are taken up" in done.log
    assert "no trap after all" not in done.log
    with Database.open(url) as database, database.engine.connect() as c:
        (group,) = left_out(c, most=9)
    assert group.outcome == "trap"
    assert group.guess.startswith(f"trap: {HOST}/tale/… (")
    assert group.urls > 100
    assert "made-up texts" in group.guess


def run(url: str, folder: Path, origin: str, *arguments: str, **options: str) -> Crawl:
    done = crawl(
        "site",
        url,
        "topic=qiaoqing",
        *arguments,
        "-s",
        "DOWNLOAD_DELAY=0",
        "-s",
        "CONCURRENT_REQUESTS_PER_DOMAIN=1",
        folder=folder,
        QIAO_DEMO=origin,
        **options,
    )
    assert done.returncode == 0, done.log
    return done


def check_what_was_read(done: Crawl, paths: list[str]) -> None:
    assert "(finished)" in done.log, "an endless site was not read to its end"
    traps = Counter(trap_of(path) for path in paths)
    real = {path for path in paths if path.startswith("/news/") and "?" not in path}
    assert len(real) == _REAL
    del traps[""]
    assert set(traps) == {"maze", "shop", "cal", "session"}
    assert traps.total() <= _MOST_OF_ALL, traps
    assert max(traps.values()) <= _MOST_OF_ONE, traps


def check_reasons(url: str) -> None:
    told = rows(url, "SELECT reason FROM url WHERE outcome = 'trap'")
    assert told
    assert all(str(reason).startswith("trap: ") for (reason,) in told)
