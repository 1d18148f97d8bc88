"""Crawls with accounts: jars that never mix, sessions that run out, logins that fail."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from crawling import Crawl, crawl, import_pack, outcomes, pack, rows
from login_sites import CLUB, ONE, PASSPORT, LoginWeb, recipes_folder, serving
from qiaocrawl.sessions import Credentials, SavedSession, Vault, new_key, owner_name
from qiaocrawl.storage import Database
from qiaocrawl.storage.accounts import add_account, list_accounts

KEY = new_key()


def keep_accounts(url: str, site: str, web: LoginWeb, **wrong: str) -> None:
    vault = Vault.from_option(KEY)
    with Database.open(url) as database, database.engine.begin() as c:
        for user, password in {**web.passwords, **wrong}.items():
            sealed = Credentials(user, password).seal(vault, owner_name(site, user))
            add_account(c, site, user, sealed, now=datetime.now(UTC))


def run(
    tmp_path: Path, web: LoginWeb, host: str = CLUB, site: str = "club.test",
    wrong: dict[str, str] | None = None, target: str = "", **options: str,
) -> tuple[str, Crawl]:  # fmt: skip
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(host))
    keep_accounts(url, site, web, **(wrong or {}))
    settings = {
        "QIAO_SESSIONS": site, "QIAO_SECRET_KEY": KEY, "QIAO_FRONTIER_RETRY_SECONDS": "0.1",
        "QIAO_LOGINS_DIR": recipes_folder(tmp_path, target=target), **options,
    }
    with serving(web) as origin:
        done = crawl("site", url, "topic=qiaoqing", "strategy=bfs", "-s",
                     "CONCURRENT_REQUESTS_PER_DOMAIN=8", folder=tmp_path, QIAO_DEMO=origin,
                     **settings)  # fmt: skip
    assert done.returncode == 0, done.log
    return url, done


def sessions_used(web: LoginWeb) -> Counter[str]:
    return Counter(seen.cookies["sid"].partition(".")[0]
                   for seen in web.requests if "sid" in seen.cookies)  # fmt: skip


def test_accounts_take_turns_never_mix_and_log_in_again_in_time(tmp_path: Path) -> None:
    """F-C6 and F-C10: redirects, retries, ends of sessions and walls among 200 requests."""
    web = LoginWeb(users=5, pages=200, lasts=30)
    web.walled = {"/a/4", "/a/8"}
    url, done = run(tmp_path, web, wrong={"user9": "wrong"}, target=f"http://{CLUB}/member")
    assert web.mixed == []
    used = sessions_used(web)
    assert len(used) == 5
    assert sum(used.values()) > 200
    assert min(used.values()) > 20
    # One login an end of a session; a wrong password is tried once.
    for user, asked in used.items():
        assert web.logins[user, True] <= asked // 30 + 1
        assert web.logins[user, False] == 0
    assert web.logins["user9", False] == 1
    # No page is lost, and none of them is a login page.
    found = outcomes(url)
    not_for_accounts = {*web.walled, "/logout", "/login?next=%2F"}
    assert {path for path in found if found[path] == "login"} == {
        f"http://{CLUB}{path}" for path in not_for_accounts
    }, done.log
    assert not [seen for seen in web.requests if seen.path == "/logout"]
    ended = Counter(found.values())
    assert ended["article"] + ended["list"] + ended["redirect"] >= 199
    assert ended["0"] == ended["unreachable"] == 0
    assert not rows(url, "SELECT 1 FROM article WHERE title LIKE '%登录%'")
    assert not rows(url, "SELECT 1 FROM page_source WHERE http_status = 200 AND body_bytes < 700")
    _check_what_is_kept(url)


def _check_what_is_kept(url: str) -> None:
    """Cookies are kept sealed, open again, and stand nowhere else."""
    with Database.open(url) as database, database.engine.connect() as c:
        for account in list_accounts(c):
            good = account.name != "user9"
            assert account.state == ("active" if good else "resting")
            assert b"user" not in account.session + account.secret
            kept = SavedSession.open(Vault.from_option(KEY), account)
            names = {cookie.name for cookie in kept.cookies}
            assert names == ({"sid", "last", "visitor"} if good else set())
    assert not rows(url, "SELECT 1 FROM page_source WHERE headers LIKE '%sid=%'")


def test_a_wrong_password_is_tried_once_and_the_urls_wait(tmp_path: Path) -> None:
    web = LoginWeb(pages=10)
    web.passwords.clear()
    url, done = run(tmp_path, web, wrong={"user1": "wrong"})
    assert web.logins == {("user1", False): 1}
    assert "hosts_given_up" in done.log
    assert set(outcomes(url).values()) == {"0"}
    ((state, reason, until),) = rows(url, "SELECT state, reason, rests_until FROM account")
    assert state == "resting"
    assert "密码错误" in str(reason)
    assert until is not None
    # Until its rest is over the next run leaves it alone as well; with another key nothing opens.
    for key, word in ((KEY, "hosts_given_up"), (new_key(), "QIAO_SECRET_KEY is not the key")):
        with serving(web) as origin:
            done = crawl("site", url, "topic=qiaoqing", "strategy=bfs", folder=tmp_path,
                         QIAO_DEMO=origin, QIAO_SESSIONS="club.test", QIAO_SECRET_KEY=key,
                         QIAO_LOGINS_DIR=recipes_folder(tmp_path))  # fmt: skip
        assert word in done.log
        assert web.logins == {("user1", False): 1}
        assert set(outcomes(url).values()) == {"0"}


def test_single_sign_on_hands_over_to_the_site(tmp_path: Path) -> None:
    web = LoginWeb(lasts=20, pages=30)
    url, done = run(tmp_path, web, host=ONE, site="one.test")
    ended = Counter(outcomes(url).values())
    assert ended["article"] + ended["list"] == 31, done.log
    secrets_at = {seen.host for seen in web.requests if b"password=" in seen.body}
    assert secrets_at == {PASSPORT}
    assert "ST-" not in done.log
    assert web.logins["user1", True] <= 3
