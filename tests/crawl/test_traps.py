"""Traps amid a real section: cut early, the section read whole (faults F-T1)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from crawling import crawl, import_pack, local_server, pack, rows
from trap_web import HOST, TrapWeb, trap_of

_REAL = 100
# What an hour of a 500-page section would allow at a tenth: traps cost the same however large
# the section is.
_MOST_OF_ALL = 55
_MOST_OF_ONE = 40


@pytest.mark.parametrize("strategy", ["adaptive", "bfs"])
def test_traps_are_cut_and_the_section_is_read(tmp_path: Path, strategy: str) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    import_pack(url, pack(HOST))
    with local_server(TrapWeb(_REAL).respond) as server:
        done = crawl("site", url, "topic=qiaoqing", f"strategy={strategy}",
                     "-s", "DOWNLOAD_DELAY=0", "-s", "QIAO_MAX_PAGES=600", folder=tmp_path,
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

        # What was learnt is there after a restart, and an operator's word wins over it.
        before = len(server.paths())
        again = crawl("site", url, "topic=qiaoqing", f"strategy={strategy}",
                      "start=http://www.qiao.test/maze/in", "-s", "DOWNLOAD_DELAY=0",
                      folder=tmp_path, QIAO_DEMO=server.origin)
        assert again.returncode == 0, again.log
        assert len(server.paths()) - before <= 2
        allowed = crawl("site", url, "topic=qiaoqing", f"strategy={strategy}",
                        "start=http://www.qiao.test/maze/in", "-s", "DOWNLOAD_DELAY=0",
                        "-s", "QIAO_MAX_PAGES=10", folder=tmp_path, QIAO_DEMO=server.origin,
                        QIAO_TRAPS_ALLOWED=f"{HOST}/maze/*", QIAO_REVISIT_HOURS="0")
        assert "limit_pages" in allowed.log, allowed.log
