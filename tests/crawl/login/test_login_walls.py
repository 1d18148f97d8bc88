"""Articles behind a login end as ``login``, whatever stands between, and can be asked for again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawling import Answer, article, crawl, import_pack, local_server, outcomes, pack, rows
from qiaocrawl.fetch.sessions.accounts import SavedSession
from qiaocrawl.fetch.sessions.cookies import StoredCookie
from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.items import Outcome
from qiaocrawl.storage import Database
from qiaocrawl.storage.frontier.postponed import Choice, failed_urls, wait_again
from qiaocrawl.storage.sites.accounts import add_account, save_session

HOST, BASE = "www.wall.test", "http://www.wall.test"
FORM = b"<form action=/in method=post><input name=u><input type=password name=p></form>"
BEHIND = ("/address", "/form", "/form2", "/away", "/script", "/words", "/two-hops")
WALLS = {
    "/address": Answer(b"", 302, {"Location": "/login?back=%2Faddress"}),
    # The address says nothing; two pages share it.
    "/form": Answer(b"", 302, {"Location": "/member/in.php"}),
    "/form2": Answer(b"", 302, {"Location": "/member/in.php"}),
    "/two-hops": Answer(b"", 301, {"Location": "/hop"}),
    "/hop": Answer(b"", 302, {"Location": "/member/in.php"}),
    # Outside of the sites of the crawl, so nobody will see what is there.
    "/away": Answer(b"", 302, {"Location": "https://passport.elsewhere.test/x"}),
    "/script": Answer("<script>alert('请先登录');location.href='/login.asp'</script>".encode()),
    "/words": Answer("<title>提示</title><p>对不起，请先登录后查看</p>".encode()),
    "/member/in.php": Answer(b"<title>in</title>" + FORM),
}


def test_the_outcome_is_that_of_the_page_behind_the_login(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    is_open = False

    def respond(host: str, path: str) -> Answer | None:
        if path == "/":
            return Answer(article("首页", links=(*BEHIND, "/plain", "/moved")))
        if path == "/moved":
            return Answer(b"", 301, {"Location": "/plain"})
        if path in BEHIND and is_open:
            return Answer(article(f"侨乡新闻{path}"))
        return WALLS.get(path) or (Answer(article("侨乡新闻")) if path == "/plain" else None)

    with local_server(respond) as server:
        for _ in range(2):
            done = crawl("site", url, "topic=qiaoqing", "-s", "DOWNLOAD_DELAY=0",
                         folder=tmp_path, QIAO_DEMO=server.origin)  # fmt: skip
            assert done.returncode == 0, done.log
            if is_open:
                break
            found = outcomes(url)
            assert {path: found[BASE + path] for path in BEHIND} == dict.fromkeys(BEHIND, "login")
            assert (found[f"{BASE}/moved"], found[f"{BASE}/plain"]) == ("redirect", "article")
            # A login that is known by its address is not asked for.
            assert "/login?back=%2Faddress" not in server.paths()
            why = dict(rows(url, "SELECT url, reason FROM url"))
            assert why[f"{BASE}/form"] == f"redirects to the login page {BASE}/member/in.php"
            with Database.open(url) as database, database.engine.begin() as c:
                wait_again(c, failed_urls(c, Choice((Outcome.LOGIN,))))
            is_open = True
    found = outcomes(url)
    assert {path: found[BASE + path] for path in BEHIND} == dict.fromkeys(BEHIND, "article")


@pytest.mark.parametrize(("sid", "state"), [("live", "active"), ("dead", "resting")])
def test_a_check_follows_the_target_where_a_cookie_is_the_sign(
    tmp_path: Path, sid: str, state: str
) -> None:
    """The site forgot the session; its cookie is still in the jar."""
    url, key = f"sqlite:///{tmp_path / 'q.db'}", new_key()
    import_pack(url, pack(HOST))

    def respond(host: str, path: str) -> Answer | None:
        if path == "/login":
            return Answer("<title>登录</title><img id=qr>".encode())
        if path == "/my/" and server.asked.headers.get("Cookie") != "SID=live":
            return Answer(b"", 302, {"Location": "/login"})
        return Answer(article("我的主页"))

    with local_server(respond) as server:
        (tmp_path / "logins").mkdir()
        (tmp_path / "logins" / "qr.toml").write_text(
            f'name = "qr"\nway = "cookies"\nhosts = ["{server.origin}"]\n'
            f'target = "http://{server.origin}/my/"\n[success]\ncookie = ["SID"]\n'
        )
        session = SavedSession((StoredCookie("SID", sid, "127.0.0.1"),))
        with Database.open(url) as database, database.engine.begin() as c:
            number = add_account(c, "qr", "me", b"", now=datetime.now(UTC))
            save_session(c, number, session.seal(Vault([key]), "qr/me"), now=datetime.now(UTC),
                         logged_in=True)  # fmt: skip
        done = crawl("login", url, f"account={number}", "do=check", folder=tmp_path,
                     QIAO_ALLOW_ADDRESSES=server.origin, QIAO_SECRET_KEY=key,
                     QIAO_LOGINS_DIR=str(tmp_path / "logins"))  # fmt: skip
    ((found, reason),) = rows(url, "SELECT state, reason FROM account")
    assert found == state, done.log
    assert ("leads to the login" in str(reason)) == (sid == "dead")
