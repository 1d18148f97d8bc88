"""A real scrapyd for a module's tests, the project deployed on it as an egg."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawling import article, import_pack, pack
from recording import Recorded, write_warc
from scrapyd_server import SITE, TITLES, Scrapyd, new_scrapyd


def _recorded_site(folder: Path) -> Path:
    paths = [f"/news/{number}.html" for number in range(len(TITLES))]
    links = "".join(f'<li><a href="{path}">{path}</a></li>\n' for path in paths)
    home = f"<html><title>侨务新闻</title><body><ul>\n{links}</ul></body></html>".encode()
    answers = [Recorded(f"{SITE}/", home)]
    answers += [
        Recorded(SITE + path, article(title)) for path, title in zip(paths, TITLES, strict=True)
    ]
    return write_warc(folder / "site.warc.gz", answers)


@pytest.fixture(scope="module")
def scrapyd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrapyd]:
    folder = tmp_path_factory.mktemp("scrapyd")
    # A worker begins cold in an egg: a busy machine is not what is tested.
    running = new_scrapyd(
        folder, QIAO_REPLAY=str(_recorded_site(folder)), QIAO_EXTRACT_SECONDS="60"
    )
    running.start()
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def deployed(scrapyd: Scrapyd, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's folder after ``scrapyd-deploy``; the topic is in the database."""
    project = tmp_path_factory.mktemp("project")
    scrapyd.deploy(project)
    import_pack(scrapyd.environment["QIAO_DATABASE_URL"], pack("news.example.cn"))
    return project
