"""Crawls with accounts: jars that never mix, sessions that run out, logins that fail."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from crawling import Crawl, crawl, import_pack, outcomes, pack, rows
from login_sites import CLUB, ONE, PASSPORT, LoginWeb, recipes_folder, serving
from qiaocrawl.fetch.sessions.accounts import Credentials, SavedSession, owner_name
from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.storage import Database
from qiaocrawl.storage.sites.accounts import add_account, list_accounts

KEY = new_key()


def keep_accounts(url: str, site: str, passwords: dict[str, str]) -> None:
    vault = Vault.from_option(KEY)
    with Database.open(url) as database, database.engine.begin() as c:
        for user, password in passwords.items():
            sealed = Credentials(user, password).seal(vault, owner_name(site, user))
            add_account(c, site, user, sealed, now=datetime.now(UTC))


def run(
    url: str, web: LoginWeb, sites: str, *arguments: str, folder: Path, key: str = KEY,
    target: str = "", exit_code: int = 0,
) -> Crawl:  # fmt: skip
    with serving(web) as origin:
        done = crawl("site", url, "topic=qiaoqing", "strategy=bfs", *arguments, "-s",
                     "CONCURRENT_REQUESTS_PER_DOMAIN=8", folder=folder, QIAO_DEMO=origin,
                     QIAO_SESSIONS=sites, QIAO_SECRET_KEY=key, QIAO_FRONTIER_RETRY_SECONDS="0.1",
                     QIAO_LOGINS_DIR=recipes_folder(folder, target=target))  # fmt: skip
    assert done.returncode == exit_code, done.log
    return done


def sessions_used(web: LoginWeb) -> Counter[str]:
    return Counter(seen.cookies["sid"].partition(".")[0]
                   for seen in web.requests if "sid" in seen.cookies)  # fmt: skip


def test_accounts_take_turns_never_mix_and_log_in_again_in_time(tmp_path: Path) -> None:
    """F-C6 and F-C10: redirects, retries, ends of sessions and walls among 200 requests."""
    web = LoginWeb(users=5, pages=200, lasts=30)
    web.walled = {"/a/4", "/a/8"}
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(CLUB))
    keep_accounts(url, "club.test", {**web.passwords, "user9": "wrong"})
    done = run(url, web, "club.test", folder=tmp_path, target=f"http://{CLUB}/member")
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


def test_single_sign_on_beside_a_wrong_password_that_is_tried_once(tmp_path: Path) -> None:
    web, url = LoginWeb(lasts=20, pages=30), f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(CLUB, ONE))
    keep_accounts(url, "one.test", web.passwords)
    keep_accounts(url, "club.test", {"user9": "wrong"})
    done = run(url, web, "club.test,one.test", folder=tmp_path)
    ended = Counter(outcome for path, outcome in outcomes(url).items() if ONE in path)
    assert ended["article"] + ended["list"] == 31, done.log
    told = {
        (seen.host, b"user9" in seen.body) for seen in web.requests if b"password=" in seen.body
    }
    assert told == {(PASSPORT, False), (CLUB, True)}
    assert "ST-" not in done.log
    assert 1 <= web.logins["user1", True] <= 3
    assert "hosts_given_up" in done.log
    _check_that_the_club_waits(url, web)
    ((state, reason, until),) = rows(
        url, "SELECT state, reason, rests_until FROM account WHERE name = 'user9'"
    )
    assert state == "resting"
    assert "密码错误" in str(reason)
    assert until is not None
    # Until its rest is over the next run leaves it alone as well; with another key nothing opens.
    for key, code, word in (
        (KEY, 0, "hosts_given_up"),
        (new_key(), 1, "QIAO_SECRET_KEY is not the key"),
    ):
        done = run(url, web, "club.test", f"site={CLUB}", folder=tmp_path, key=key, exit_code=code)
        assert word in done.log
        _check_that_the_club_waits(url, web)


def _check_that_the_club_waits(url: str, web: LoginWeb) -> None:
    assert {by: count for by, count in web.logins.items() if by[0] == "user9"} == {
        ("user9", False): 1
    }
    assert {outcome for path, outcome in outcomes(url).items() if CLUB in path} == {"0"}
