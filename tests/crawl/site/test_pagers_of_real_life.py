"""Archives behind the pagers of real life are fetched whole."""

from __future__ import annotations

from pathlib import Path

from crawling import crawl, import_pack, outcomes, pack
from pager_web import KINDS, pages_of, start_of, stories_of
from recording import write_collection


def test_every_story_behind_a_pager_is_fetched(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack())
    pages = {where: body for name in KINDS for where, body in pages_of(name).items()}
    recorded = write_collection(tmp_path / "web", pages)
    starts = ",".join(start_of(name) for name in KINDS)
    done = crawl(
        "site",
        url,
        "topic=qiaoqing",
        f"start={starts}",
        "strategy=bfs",
        "-s",
        "QIAO_TRAPS=on",
        folder=tmp_path,
        QIAO_REPLAY=str(recorded),
    )
    assert done.returncode == 0, done.log
    assert "(finished)" in done.log
    found = outcomes(url)
    lost = {
        name: sorted(one for one in stories_of(name) if found.get(one) != "article")
        for name in KINDS
    }
    assert not {name: urls for name, urls in lost.items() if urls}, done.log[-3000:]
    lists = {where for where in pages if "/story/" not in where}
    assert {found[where] for where in lists} == {"list"}, "the pagers are read as such"
