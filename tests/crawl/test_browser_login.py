"""A login by QR code in Chromium: the picture, the wait, the cookies; all against loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawling import PROJECT
from login_sites import LoginWeb, Reply, Seen, serving
from qiaocrawl.sessions import SavedSession, Vault, new_key
from qiaocrawl.storage import Database
from qiaocrawl.storage.accounts import add_account, require_account

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed"),
]
KEY = new_key()


class QrWeb(LoginWeb):
    """Shows a code; asks whether it was scanned; then sets the cookie and goes home."""

    def __init__(self) -> None:
        super().__init__()
        self.scanned = threading.Event()

    def answer(self, seen: Seen) -> Reply:
        self.requests.append(seen)
        if seen.path == "/signin":
            script = (
                "localStorage.setItem('device', 'd1'); setInterval(() => fetch('/poll').then("
                "r => r.text()).then(t => { if (t === 'in') location = '/home'; }), 300)"
            )
            return Reply(f'<html><body><canvas id="qr" width="60" height="60"></canvas><script>'
                         f"{script}</script></body></html>".encode())  # fmt: skip
        if seen.path == "/poll" and self.scanned.is_set():
            return Reply(b"in", cookies=("SUB=secret1; HttpOnly; Max-Age=900",))
        return Reply(b"<html><body>home</body></html>" if seen.path == "/home" else b"no")


def login(tmp_path: Path, origin: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    folder = tmp_path / "logins"
    folder.mkdir(exist_ok=True)
    (folder / "qr.test.toml").write_text(f"""
name = "qr.test"
way = "browser"
hosts = ["{origin}"]
[browser]
page = "http://{origin}/signin"
qr = "#qr"
[browser.done]
cookie = ["SUB"]
""")
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            add_account(c, "qr.test", "me", b"", now=datetime.now(UTC))
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment |= {
        "QIAO_DATABASE_URL": url, "PYTHONPATH": str(PROJECT), "QIAO_SECRET_KEY": KEY,
        "QIAO_LOGINS_DIR": str(folder), "QIAO_ALLOW_ADDRESSES": origin,
        "QIAO_CHROMIUM": str(shutil.which("chromium")),
    }  # fmt: skip
    command = [sys.executable, "-m", "qiaocrawl", "session", "login", "qr.test", "me", *arguments]
    return subprocess.run(command, env=environment, cwd=tmp_path, text=True, capture_output=True,
                          timeout=150, check=False)  # fmt: skip


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
        done = login(tmp_path, origin, "--qr", str(picture), "--seconds", "120")
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
