"""The folder docs/examples/own-search, run as its page says, against such a site on loopback."""

from __future__ import annotations

import os
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from crawl_starter import run_started
from crawling import PROJECT, article, import_pack, outcomes, pack, rows
from login_sites import LoginWeb, Reply, Seen, page, serving
from qiaocrawl.fetch.sessions.vault import new_key
from qiaocrawl.news.pushes import Push, keep_push, queue_due
from qiaocrawl.news.today import LIMITS
from qiaocrawl.news.trends.usual import default_calendar
from qiaocrawl.reading.alarms import alarms
from qiaocrawl.storage import Database

EXAMPLE = PROJECT / "docs" / "examples" / "own-search"
SITE, PASSPORT = "www.members.test", "passport.members.test"
FORM = (
    '<html><head><meta charset="utf-8"><title>登录</title></head><body><form method="post" '
    'action="/signin"><input type="hidden" name="token" value="{token}">'
    '<input name="username"><input type="password" name="password"><input type="submit"></form>'
    "</body></html>"
)


class MembersWeb(LoginWeb):
    """A site whose pages and search are for members, behind a single sign-on."""

    def answer(self, seen: Seen) -> Reply:
        with self._lock:
            self.requests.append(seen)
            parts = urlsplit(seen.path)
            if parts.path == "/robots.txt":
                return Reply(b"", 404)
            return self._passport(seen) if seen.host == PASSPORT else self._site(seen)

    def _passport(self, seen: Seen) -> Reply:
        if seen.method == "GET":
            token = f"t{len(self._tokens)}"
            self._tokens.add(token)
            return Reply(FORM.format(token=token).encode())
        user = self._accepted(seen)
        if user is None:
            return Reply(page("登录", "用户名或密码错误"))
        ticket = f"ST-{len(self._tickets)}"
        self._tickets[ticket] = user
        return Reply(b"", 302, {"Location": f"http://{SITE}/sso?ticket={ticket}"})

    def _site(self, seen: Seen) -> Reply:
        parts = urlsplit(seen.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/sso":
            user = self._tickets.pop(query.get("ticket", ""), None)
            if user is None:
                return Reply(page("错误", "票据无效"), 403)
            return Reply(b"", 302, {"Location": "/my"}, self._new_session(user))
        if self._user(seen) is None:
            return Reply(b"", 302, {"Location": f"http://{PASSPORT}/signin?service=www"})
        if parts.path == "/my":
            return Reply(page("会员", "我的收藏"))
        if parts.path == "/search":
            return Reply(self._results(query["q"], int(query["page"])))
        return Reply(article(f"会员内参{parts.path}"))

    def _results(self, words: str, number: int) -> bytes:
        if number > 1:
            return page("检索", "没有找到")
        hits = "".join(
            f'<div class="result"><h3><a href="/a/{at}">{words}：会员内参{at}</a></h3>'
            f'<p class="abstract">{words}的摘要</p></div>'
            for at in range(3)
        )
        return f'<html><head><meta charset="utf-8"></head><body>{hits}</body></html>'.encode()


def _run(folder: Path, origin: str, *command: str, **more: str) -> tuple[int, str, str]:
    environment = {name: value for name, value in os.environ.items() if "QIAO_" not in name}
    environment |= {
        "PYTHONPATH": str(PROJECT), "QIAO_DEMO": origin, "QIAO_LANG": "en",
        "QIAO_DATABASE_URL": f"sqlite:///{folder / 'q.db'}",
        "QIAO_FRONTIER_RETRY_SECONDS": "0.1", **more,
    }  # fmt: skip
    done = run_started("qiaocrawl", *command, environment=environment, folder=folder, seconds=400)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example, copied and filled in."""
    copied = tmp_path / "desk"
    shutil.copytree(EXAMPLE, copied)
    text = (copied / "example.env").read_text("utf-8")
    text = text.replace("QIAO_SECRET_KEY=\n", f"QIAO_SECRET_KEY={new_key()}\n")
    (copied / ".env").write_text(text, "utf-8")
    (copied / ".env").chmod(0o600)
    recipe = copied / "logins" / "members.test.toml"
    waits = recipe.read_text("utf-8").replace("pause_seconds = 2", "pause_seconds = 0")
    recipe.write_text(waits, "utf-8")
    return copied


def test_the_example_finds_and_reads_what_only_members_see(folder: Path) -> None:
    web, url = MembersWeb(), f"sqlite:///{folder / 'q.db'}"
    import_pack(url, pack(SITE))
    with serving(web) as origin:
        account = ("members.test", "user1")
        code, _out, err = _run(folder, origin, "session", "add", *account, "--env", "PW",
                               PW=web.passwords["user1"])  # fmt: skip
        assert code == 0, err
        for step in ("login", "check"):
            code, out, err = _run(folder, origin, "session", step, *account)
            assert code == 0, err
            # One line, the one that matters.
            assert out == "ok: members.test: account user1 is logged in\n"
            assert err == ""
        # As over night: what the site gave is worth nothing any more.
        web._sessions.clear()
        code, _out, err = _run(folder, origin, "crawl", "search", "-a", "topic=qiaoqing",
                               "-a", "engine=members", "-a", "terms=1")  # fmt: skip
        assert code == 0, err
        code, _out, err = _run(folder, origin, "crawl", "pages", "-a", "topic=qiaoqing")
        assert code == 0, err
    found = {path for path, outcome in outcomes(url).items() if outcome == "article"}
    assert found >= {f"http://{SITE}/a/{at}" for at in range(3)}, outcomes(url)
    assert web.logins["user1", True] >= 2
    assert web.logins["user1", False] == 0
    assert {seen.host for seen in web.requests if b"password=" in seen.body} == {PASSPORT}
    assert rows(url, "SELECT 1 FROM query_hit")


def test_a_log_in_that_ran_out_is_one_line_and_a_push(folder: Path) -> None:
    web, url = MembersWeb(), f"sqlite:///{folder / 'q.db'}"
    import_pack(url, pack(SITE))
    account = ("members.test", "user1")
    with serving(web) as origin:
        _run(folder, origin, "session", "add", *account, "--env", "PW", PW="long changed")
        code, out, err = _run(folder, origin, "session", "login", *account)
        assert (code, out) == (1, "")
        assert len(err.strip().splitlines()) == 1
        assert re.match(r"qiaocrawl: members.test: account user1 is not logged in: .+", err)
        code, _out, err = _run(folder, origin, "session", "login", *account, "--verbose")
        assert len(err.strip().splitlines()) > 5
    now = datetime.now(UTC)
    with Database.open(url) as database:
        with database.engine.begin() as c:
            keep_push(c, Push("desk", with_alarms=True))
        with database.reading() as c:
            (told,) = [text for text in alarms(c, LIMITS, now=now.timestamp()) if "user1" in text]
        assert told.startswith("members.test: account user1 rests: ")
        queue_due(database, now, default_calendar())
        ((body,),) = rows(url, "SELECT body FROM warning_message WHERE channel = 'desk'")
    assert told in body


def test_the_page_names_every_step() -> None:
    text = (PROJECT / "docs" / "engines.md").read_text("utf-8")
    for words in ("examples/own-search", "session login members.test", "crawl search",
                  "crawl pages"):  # fmt: skip
        assert words in text
