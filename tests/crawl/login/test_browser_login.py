"""A login by QR code in Chromium: the picture, the wait, the cookies; all against loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawl_starter import run_started
from crawling import PROJECT, crawl, import_pack, pack, rows
from fresh_schema import make_tables
from login_sites import QR_RECIPE, LoginWeb, QrWeb, Reply, Seen, serving
from qiaocrawl.fetch.sessions.accounts import SavedSession
from qiaocrawl.fetch.sessions.cookies import StoredCookie
from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.storage import Database
from qiaocrawl.storage.sites.accounts import add_account, require_account, save_session
from qiaocrawl.topic.pack import Site

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed"),
]
KEY = new_key()


def login(tmp_path: Path, origin: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    folder = tmp_path / "logins"
    folder.mkdir(exist_ok=True)
    (folder / "qr.test.toml").write_text(QR_RECIPE.format(origin=origin))
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
        with database.engine.begin() as c:
            add_account(c, "qr.test", "me", b"", now=datetime.now(UTC))
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment |= {
        "QIAO_DATABASE_URL": url, "PYTHONPATH": str(PROJECT), "QIAO_SECRET_KEY": KEY,
        "QIAO_LOGINS_DIR": str(folder), "QIAO_ALLOW_ADDRESSES": origin,
        "QIAO_CHROMIUM": str(shutil.which("chromium")),
    }  # fmt: skip
    return run_started("qiaocrawl", "session", "login", "qr.test", "me", *arguments,
                       environment=environment, folder=tmp_path, seconds=400)  # fmt: skip


def scan_when_there(picture: Path, web: QrWeb, over: threading.Event) -> None:
    while not over.wait(0.2):
        if picture.exists() and picture.stat().st_size > 60:
            web.scanned.set()
            return


def test_the_code_is_saved_scanned_and_the_session_kept(tmp_path: Path) -> None:
    web, picture, over = QrWeb(), tmp_path / "code.png", threading.Event()
    with serving(web) as origin:
        phone = threading.Thread(target=scan_when_there, args=(picture, web, over))
        phone.start()
        done = login(tmp_path, origin, "--qr", str(picture), "--seconds", "300")
        over.set()
        phone.join()
    assert done.returncode == 0, done.stderr
    assert "account me is logged in" in done.stdout
    assert "QR code saved" in done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_mode & 0o077 == 0
    with Database.open(f"sqlite:///{tmp_path / 'q.db'}") as database, \
            database.engine.connect() as c:  # fmt: skip
        kept = SavedSession.open(Vault([KEY]), require_account(c, "qr.test", "me"))
    (cookie,) = kept.cookies
    assert (cookie.name, cookie.value, cookie.http_only) == ("SUB", "secret1", True)
    assert kept.origins[0]["localStorage"] == [{"name": "device", "value": "d1"}]
    assert "secret1" not in done.stdout + done.stderr


def test_without_a_screen_it_says_what_helps(tmp_path: Path) -> None:
    done = login(tmp_path, "127.0.0.1:9")
    assert done.returncode == 1
    assert "--qr FILE.png saves the QR" in done.stderr


class ScriptedWeb(LoginWeb):
    """Its text comes by a script, with a cookie that only the browser gets."""

    def answer(self, seen: Seen) -> Reply:
        self.requests.append(seen)
        if seen.path == "/data":
            return Reply(TEXT.encode(), cookies=(f"own={seen.cookies.get('SUB', 'nobody')}",))
        if seen.path.startswith("/p"):
            links = "".join(f'<a href="/p{n}">page {n}</a>' for n in range(1, 5))
            script = "fetch('/data').then(r => r.text()).then(t => document.body.append(t))"
            return Reply(f"<title>侨乡相聚{seen.path}</title><body><h1>侨乡相聚</h1>{links}"
                         f"<script>{script}</script>".encode())  # fmt: skip
        return Reply(b"", 404)


TEXT = "海外侨胞和归侨侨眷在侨乡相聚，共同商议华侨农场的侨务工作和华文教育的未来发展。" * 8


def test_rendered_pages_keep_accounts_apart(tmp_path: Path) -> None:
    web, url = ScriptedWeb(), f"sqlite:///{tmp_path / 'q.db'}"
    with serving(web) as origin:
        folder = tmp_path / "logins"
        folder.mkdir()
        (folder / "scripted.toml").write_text(
            f'name = "scripted"\nway = "cookies"\nhosts = ["{origin}"]\npause_seconds = 0\n'
        )
        start = f"http://{origin}/p0"
        site = Site(origin, "侨乡", "authoritative", 1, "境内", "news", start_url=start,
                    render=True)  # fmt: skip
        import_pack(url, pack(sites=(site,)))
        with Database.open(url) as database, database.engine.begin() as c:
            for name in ("one", "two"):
                number = add_account(c, "scripted", name, b"", now=datetime.now(UTC))
                session = SavedSession((StoredCookie("SUB", name, "127.0.0.1"),))
                save_session(c, number, session.seal(Vault([KEY]), f"scripted/{name}"),
                             now=datetime.now(UTC), logged_in=True)  # fmt: skip
        done = crawl("site", url, "topic=qiaoqing", "strategy=bfs", "-s", "DOWNLOAD_DELAY=0",
                     folder=tmp_path, QIAO_RENDER="1", QIAO_ALLOW_ADDRESSES=origin,
                     QIAO_CHROMIUM=str(shutil.which("chromium")), QIAO_SESSIONS="scripted",
                     QIAO_SECRET_KEY=KEY, QIAO_LOGINS_DIR=str(folder))  # fmt: skip
    assert done.returncode == 0, done.log
    assert rows(url, "SELECT count(*) FROM article") == [(5,)], done.log
    asked = [seen.cookies for seen in web.requests if seen.path != "/robots.txt"]
    assert {cookies["SUB"] for cookies in asked} == {"one", "two"}
    assert all(cookies.get("own", cookies["SUB"]) == cookies["SUB"] for cookies in asked)
