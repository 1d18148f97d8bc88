"""``scrapy settings``, ``fetch``, ``shell``: Scrapy's own tools work in a project of ours."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from crawl_starter import run_started
from crawling import Answer, article, local_server

_ROOT = Path(__file__).resolve().parents[2]
_TITLE = "侨胞回乡办学"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["settings", "--get", "BOT_NAME"], "qiaocrawl"),
        (["fetch", "{page}", "--nolog"], f"<h1>{_TITLE}</h1>"),
        (["shell", "{page}", "--nolog", "-c", "response.css('title::text').get()"], _TITLE),
    ],
    ids=["settings", "fetch", "shell"],
)
def test_a_tool_of_scrapy_works(command: list[str], shown: str, tmp_path: Path) -> None:
    with local_server(lambda host, path: Answer(article(_TITLE))) as server:
        # A page of a private network: the guard of a crawl holds here, too.
        allowed = {"QIAO_ALLOW_ADDRESSES": server.origin}
        page = f"http://{server.origin}/1.html"
        done = _scrapy([word.format(page=page) for word in command], tmp_path, allowed)
        refused = _scrapy(["fetch", page], tmp_path, {}) if command[0] == "fetch" else None
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout
    if refused is not None:
        assert _TITLE not in refused.stdout
        assert "which is no public address" in refused.stderr


def _scrapy(
    command: list[str], folder: Path, options: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    ours = {"SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings", "PYTHONPATH": str(_ROOT),
            "QIAO_DATABASE_URL": f"sqlite:///{folder / 'q.db'}"}  # fmt: skip
    given = {**os.environ, **ours, **options}
    return run_started("scrapy", *command, environment=given, folder=folder)
