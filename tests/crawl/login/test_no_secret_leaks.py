"""No secret shows up where people look (faults F-C8): logs at DEBUG, records, files, arguments.

Every secret holds a canary. One crawl goes right and wrong in as many ways as one crawl can;
three more fail as a whole.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawling import crawl, import_pack, outcomes, pack, rows, start_spider
from login_sites import CLUB, LoginWeb, Reply, Seen, page, recipes_folder, serving
from qiaocrawl.cli import main
from qiaocrawl.fetch.sessions.accounts import Credentials, SavedSession, owner_name
from qiaocrawl.fetch.sessions.cookies import StoredCookie
from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.storage import Database
from qiaocrawl.storage.sites import accounts

VAULT = "www.vault.test"
KEY = new_key()
PASSWORD, WRONG, PASTED, BASIC, SET, PROXY, DATABASE, TICKET = (
    f"canary{name}" for name in ("-Pass", "Wrong", "Paste", "Basic", "Set", "Proxy", "Base", "Tick")
)  # fmt: skip
CANARIES = (KEY, PASSWORD, WRONG, PASTED, BASIC, SET, PROXY, DATABASE, TICKET)
VAULT_RECIPE = f"""
name = "vault.test"
way = "http"
hosts = ["{VAULT}"]
pause_seconds = 0
[http]
origins = ["http://{VAULT}"]
"""
PASTE_RECIPE = """
name = "paste.test"
way = "cookies"
hosts = ["www.paste.test"]
pause_seconds = 0
[expired]
url = ["/login"]
"""


class FailingWeb(LoginWeb):
    """Fails in many ways, and gives back what it was told wherever it can."""

    def answer(self, seen: Seen) -> Reply:
        path = seen.path.partition("?")[0]
        if path == "/robots.txt":
            return Reply(b"", 404)
        if seen.host == VAULT:
            self.requests.append(seen)
            return Reply(page("401", "no"), 401, {"WWW-Authenticate": f'Basic realm="{SET}"'})
        if seen.host == "www.paste.test":
            self.requests.append(seen)
            return Reply(
                b"", 302, {"Location": f"/login?ticket={TICKET}"}, (f"x={SET}; Domain=co.uk",)
            )
        if seen.host == CLUB and path.startswith("/bad/"):
            return self._bad(path)
        reply = super().answer(seen)
        return Reply(
            reply.body,
            reply.status,
            reply.headers,
            (*reply.cookies, f"big={SET}", f"\x01odd={SET};;;=;"),
        )

    def _article(self, path: str) -> bytes:
        body = super()._article(path)
        links = "".join(f'<a href="/bad/{n}">bad {n}</a>' for n in range(6)) if path == "/" else ""
        return body.replace(b"</body>", links.encode() + b"</body>")

    def _bad(self, path: str) -> Reply:
        inside = "http://127.0.0.1:1/"
        return {
            "/bad/0": Reply(b"", 500), "/bad/1": Reply(b"", 302, {"Location": inside}),
            "/bad/2": Reply(b"", 302, {"Location": "http://["}),
            "/bad/3": Reply(b"x" * 50, 200, {"Content-Encoding": "gzip"}),
            "/bad/4": Reply(b"", 429, {"Retry-After": "0"}), "/bad/5": Reply(b"", 999),
        }[path]  # fmt: skip


def keep_accounts(url: str) -> None:
    vault, now = Vault([KEY]), datetime.now(UTC)
    kept = (("club.test", "user1", PASSWORD), ("club.test", "user9", WRONG),
            ("vault.test", "h", BASIC))  # fmt: skip
    with Database.open(url) as database, database.engine.begin() as c:
        for site, user, password in kept:
            sealed = Credentials(user, password).seal(vault, owner_name(site, user))
            accounts.add_account(c, site, user, sealed, now=now)
        number = accounts.add_account(c, "paste.test", "p", b"", now=now)
        session = SavedSession((StoredCookie("p", PASTED, ".paste.test"),))
        accounts.save_session(c, number, session.seal(vault, owner_name("paste.test", "p")),
                              now=now, logged_in=True)  # fmt: skip


LOUD = ("topic=qiaoqing", "strategy=bfs", "-s", "LOG_LEVEL=DEBUG", "-s", "COOKIES_DEBUG=1")


def settings(folder: Path, **options: str) -> dict[str, str]:
    return {"QIAO_SECRET_KEY": KEY, "QIAO_SESSIONS": "club.test,vault.test,paste.test",
            "QIAO_LOGINS_DIR": recipes_folder(folder), "QIAO_FRONTIER_RETRY_SECONDS": "0.1",
            **options}  # fmt: skip


def running_log(url: str, folder: Path, **options: str) -> tuple[str, str]:
    """Output of a crawl, and the arguments of all processes of this machine meanwhile."""
    log = folder / "log.txt"
    process = start_spider("site", url, *LOUD, "-s", f"LOG_FILE={log}", folder=folder,
                           **settings(folder, **options))  # fmt: skip
    arguments = set()
    while process.poll() is None:
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                arguments.add(file.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
            except OSError:
                continue
        time.sleep(0.3)
    said, _ = process.communicate()
    return said + (log.read_text() if log.exists() else ""), "\n".join(arguments)


def assert_clean(what: str, text: str) -> None:
    found = [canary for canary in CANARIES if canary in text]
    assert not found, f"{what}: {found} in {text[text.index(found[0]) - 300 :][:600]}"


def test_no_secret_shows_up_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(CLUB, VAULT, "www.paste.test"))
    keep_accounts(url)
    (Path(recipes_folder(tmp_path)) / "vault.test.toml").write_text(VAULT_RECIPE)
    (Path(recipes_folder(tmp_path)) / "paste.test.toml").write_text(PASTE_RECIPE)
    web = FailingWeb(lasts=10, pages=12)
    web.passwords = {"user1": PASSWORD}
    with serving(web) as origin:
        said, arguments = running_log(url, tmp_path, QIAO_DEMO=origin)
    # It went as it was meant to: pages and failures of all kinds.
    assert "Closing spider (hosts_given_up)" in said, said[-3000:]
    ended = set(outcomes(url).values())
    assert {"article", "redirect", "unreachable", "dead", "0"} <= ended, ended
    assert web.logins["user1", True] >= 2
    assert web.logins["user9", False] == 1
    authorised = [seen for seen in web.requests if "Authorization" in seen.headers]
    assert {(seen.host, seen.path) for seen in authorised} == {(VAULT, "/")}
    assert any(PASTED in seen.cookies.values() for seen in web.requests)
    assert_clean("log", said)
    assert_clean("arguments", arguments)
    assert "scrapy crawl site" in arguments
    _check_what_is_stored(url, tmp_path)
    monkeypatch.setenv("QIAO_DATABASE_URL", url)
    for name in ("out.jsonl", "out.warc"):
        monkeypatch.setattr(sys, "argv", ["qiaocrawl", "export", "--out", str(tmp_path / name)])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
        written = (tmp_path / name).read_bytes().decode("latin-1")
        assert written
        assert_clean(name, "".join(capfd.readouterr()) + written)


def _check_what_is_stored(url: str, folder: Path) -> None:
    for file in folder.glob("q.db*"):
        assert_clean(file.name, file.read_bytes().decode("latin-1"))
    for arguments, stats, reason in rows(url, "SELECT arguments, stats, reason FROM run"):
        assert_clean("run", f"{arguments} {stats} {reason}")


def test_crawls_that_fail_as_a_whole_are_silent_too(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(CLUB))
    keep_accounts(url)

    def said(where: str, **options: str) -> str:
        return crawl("site", where, *LOUD, folder=tmp_path,
                     **settings(tmp_path, QIAO_SESSIONS="club.test", **options)).log  # fmt: skip

    log = said(url, http_proxy=f"http://me:{PROXY}@127.0.0.1:9", QIAO_DEMO="127.0.0.1:1")
    assert "robots.txt of www.club.test cannot be had" in log
    assert_clean("dead proxy", log)
    log = said(url, QIAO_SECRET_KEY=f"{PASSWORD},{KEY}")
    assert "QIAO_SECRET_KEY must be keys that" in log
    assert_clean("malformed key", log)
    log = said(f"mysql+pymysql://me:{DATABASE}@127.0.0.1:1/none", QIAO_STORAGE_OUTAGE_SECONDS="0")
    assert "qiaocrawl: " in log
    assert_clean("no database", log)
