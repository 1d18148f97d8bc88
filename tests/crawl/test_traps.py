"""Traps amid a real section: cut early, the section read whole (faults F-T1)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from crawling import crawl, import_pack, local_server, pack, rows
from trap_web import HOST, TrapWeb, trap_of

_REAL = 100
# A tenth of all fetches with a section of 500 pages: traps cost the same however large it is.
_MOST_OF_ALL = 55
_MOST_OF_ONE = 40


@pytest.mark.parametrize("strategy", ["adaptive", "bfs"])
def test_traps_are_cut_and_the_section_is_read(tmp_path: Path, strategy: str) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    import_pack(url, pack(HOST))
    with local_server(TrapWeb(_REAL).respond) as server:
        done = crawl("site", url, "topic=qiaoqing", f"strategy={strategy}",
                     "-s", "DOWNLOAD_DELAY=0", "-s", "QIAO_MAX_PAGES=600",
                     "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1", folder=tmp_path,
                     QIAO_DEMO=server.origin)
        assert done.returncode == 0, done.log
        assert "(finished)" in done.log, "an endless site was not read to its end"
        traps = Counter(trap_of(path) for path in server.paths())
        real = {path for path in server.paths() if path.startswith("/news/") and "?" not in path}
        assert len(real) == _REAL
        del traps[""]
        assert set(traps) == {"maze", "shop", "cal", "session"}
        assert traps.total() <= _MOST_OF_ALL, traps
        assert max(traps.values()) <= _MOST_OF_ONE, traps
        told = rows(url, "SELECT reason FROM url WHERE outcome = 'trap'")
        assert told
        assert all(str(reason).startswith("trap: ") for (reason,) in told)


def test_what_was_learnt_survives_and_the_operator_wins_over_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    import_pack(url, pack(HOST))
    start = ("topic=qiaoqing", f"start=http://{HOST}/maze/in", "strategy=bfs",
             "-s", "DOWNLOAD_DELAY=0", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1")
    with local_server(TrapWeb(0).respond) as server:
        first = crawl("site", url, *start, folder=tmp_path, QIAO_DEMO=server.origin)
        assert first.returncode == 0, first.log
        assert "(finished)" in first.log
        read = len(server.paths())
        assert read <= 200
        again = crawl("site", url, *start, folder=tmp_path, QIAO_DEMO=server.origin)
        assert again.returncode == 0, again.log
        assert len(server.paths()) == read + 1, "the start page alone is asked again"
        allowed = crawl("site", url, *start, "-s", "QIAO_MAX_PAGES=10", folder=tmp_path,
                        QIAO_DEMO=server.origin, QIAO_TRAPS_ALLOWED=f"{HOST}/maze/*")
    assert "(limit_pages)" in allowed.log, allowed.log
