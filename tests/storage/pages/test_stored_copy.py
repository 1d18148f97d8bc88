"""What a browser makes of a stored page that is opened from disk: nothing runs or is loaded."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from qiaocrawl.export.pages import sandbox_page
from qiaocrawl.items import FetchedPage
from storage_samples import FETCHED_AT

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed"),
]

_PAGE = """<html><head><base href="{o}/"><link rel="stylesheet" href="{o}/style.css">
<LINK/rel="preconnect" href="{o}/">
<meta http-equiv="refresh" content="0; url={o}/refresh"><style>body{{background:url({o}/bg)}}
</style><script>new Image().src="{o}/script"</script></head>
<body onload="new Image().src='{o}/onload'"><img src="{o}/picture"><iframe src="{o}/frame">
</iframe><object data="{o}/object"></object><form action="{o}/form" id="f"></form>
<svg onload="fetch('{o}/svg')"></svg>"></iframe><script>new Image().src="{o}/out"</script></body>"""


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and every connection to it and what it was asked for."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def setup(self) -> None:
            paths.append("a connection")
            super().setup()

        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", paths
    server.shutdown()
    server.server_close()


def _opened(file: Path, folder: Path) -> str:
    options = "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"
    patience = "--virtual-time-budget=1000"
    command = ["chromium", *options, patience, f"--user-data-dir={folder}", file.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


def test_a_browser_loads_and_runs_nothing_of_it(
    asked: tuple[str, list[str]], tmp_path: Path
) -> None:
    origin, paths = asked
    markup = _PAGE.format(o=origin)
    plain, copy = tmp_path / "plain.html", tmp_path / "copy.html"
    plain.write_text(markup, "utf-8")
    page = FetchedPage('http://a.example/"><script>', "", 200, (), b"", FETCHED_AT)
    copy.write_text(sandbox_page(page, "<script>", markup), "utf-8")
    assert "存档副本" in _opened(copy, tmp_path / "profile")
    assert paths == []
    # The page itself does ask.
    _opened(plain, tmp_path / "profile")
    assert "/picture" in paths
