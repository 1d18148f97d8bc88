"""A web of sites that want a login, for tests: form, single sign-on, traps; all on loopback.

Hosts: ``www.club.test`` (form with a hidden token), ``passport.one.test`` and ``www.one.test``
(single sign-on over two hosts), ``evil.test`` (must never see a secret). Every request is kept.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from crawling import article

CLUB, PASSPORT, ONE, EVIL = "www.club.test", "passport.one.test", "www.one.test", "evil.test"

FORM = (
    '<html><head><meta charset="utf-8"><title>会员登录</title></head><body>'
    '<form method="post" action="{action}"><p>请先登录</p>'
    '<input type="hidden" name="token" value="{token}">'
    '<input type="hidden" name="next" value="/">'
    '<input name="username"><input type="password" name="password">'
    '<input type="submit" value="登录"></form></body></html>'
)

CLUB_RECIPE = """
name = "club.test"
way = "form"
hosts = ["www.club.test"]
pause_seconds = {pause}
{target}
[form]
page = "http://www.club.test/login"
[success]
words = ["欢迎", "侨乡新闻"]
[failure]
words = ["密码错误"]
"""

ONE_RECIPE = """
name = "one.test"
way = "sso"
hosts = ["www.one.test"]
target = "http://www.one.test/my"
pause_seconds = 0
[form]
page = "http://passport.one.test/signin?service=one"
[sso]
hosts = ["passport.one.test"]
[success]
words = ["我的主页"]
[failure]
words = ["密码错误"]
"""


@dataclass(frozen=True)
class Seen:
    """One request as the server got it."""

    host: str
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    cookies: dict[str, str] = field(default_factory=dict)


@dataclass
class Reply:
    """What goes back; ``cookies`` are whole Set-Cookie values."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cookies: tuple[str, ...] = ()


def page(title: str, text: str) -> bytes:
    """A small page."""
    return (f'<html><head><meta charset="utf-8"><title>{title}</title></head><body>'
            f"<h1>{title}</h1><p>{text}</p></body></html>").encode()  # fmt: skip


class LoginWeb:
    """The sites; tests set its attributes before a crawl and read them after.

    Attributes:
        passwords: user -> password.
        lasts: requests a session is good for.
        pages: articles of the club and of the one site.
        walled: paths that show the login form to everybody.
        submit_status: 307 or 308 make the login form's target ask to post on to evil.test.
        mixed: requests whose cookies are of two accounts.
        logins: accepted and refused logins by user.
    """

    def __init__(self, *, users: int = 1, lasts: int = 10**9, pages: int = 20) -> None:
        self.passwords = {f"user{n}": f"pässwörd-{n}" for n in range(1, users + 1)}
        self.lasts, self.pages = lasts, pages
        self.walled: set[str] = set()
        self.submit_status = 303
        self.requests: list[Seen] = []
        self.mixed: list[Seen] = []
        self.logins: Counter[tuple[str, bool]] = Counter()
        self.shown_logins = 0
        self._tokens: set[str] = set()
        self._sessions: dict[str, tuple[str, int]] = {}
        self._tickets: dict[str, str] = {}
        self._struggled: set[str] = set()
        self._lock = threading.Lock()

    def answer(self, seen: Seen) -> Reply:
        """The answer to one request."""
        with self._lock:
            self.requests.append(seen)
            if seen.path == "/robots.txt":
                return Reply(b"", 404)
            kind = {CLUB: self._club, PASSPORT: self._passport, ONE: self._one}.get(seen.host)
            return kind(seen) if kind else Reply(page("其他", "别的网站"))

    # --- the club: a form with a token, sessions that run out ----------------------------------

    def _club(self, seen: Seen) -> Reply:
        path = urlsplit(seen.path).path
        if path == "/login":
            return self._login_page("/login") if seen.method == "GET" else self._club_login(seen)
        if path == "/member":
            user = self._user(seen)
            return Reply(page("会员", f"欢迎 {user}")) if user else self._login_page("/login")
        user = self._user(seen)
        if user is None or path in self.walled:
            return self._login_page("/login")
        stamp = (f"last={user}; Path=/",)
        if path.startswith("/r/"):
            return Reply(b"", 302, {"Location": path.replace("/r/", "/a/")}, stamp)
        if path.startswith("/e/") and path not in self._struggled:
            self._struggled.add(path)
            return Reply(b"busy", 500, {}, stamp)
        return Reply(self._article(path), 200, {}, stamp)

    def _article(self, path: str) -> bytes:
        links = ()
        if path == "/":
            kinds = ("a", "r", "e", "a")
            links = tuple(f"/{kinds[n % 4]}/{n}" for n in range(self.pages))
            links = ("/logout", "/login?next=%2F", *links)
        return article(f"侨乡新闻{path}", links=links)

    def _login_page(self, action: str) -> Reply:
        self.shown_logins += 1
        token = secrets.token_hex(8)
        self._tokens.add(token)
        return Reply(FORM.format(action=action, token=token).encode(), cookies=("visitor=1",))

    def _club_login(self, seen: Seen) -> Reply:
        if self.submit_status != 303:
            return Reply(b"", self.submit_status, {"Location": f"http://{EVIL}/steal"})
        user = self._accepted(seen)
        if user is None:
            return Reply(page("登录", "密码错误"))
        return Reply(b"", 303, {"Location": "/"}, self._new_session(user))

    # --- single sign-on: passport -> ticket -> meta refresh -> the site -------------------------

    def _passport(self, seen: Seen) -> Reply:
        if seen.method == "GET":
            return self._login_page("/signin")
        user = self._accepted(seen)
        if user is None:
            return Reply(page("登录", "密码错误"))
        ticket = f"ST-{secrets.token_hex(8)}"
        self._tickets[ticket] = user
        target = f"http://{ONE}/sso?ticket={quote(ticket)}&sid=kept"
        body = f'<html><head><meta http-equiv="refresh" content="0; url={target}"></head></html>'
        return Reply(body.encode(), cookies=(f"TGC={ticket}; HttpOnly",))

    def _one(self, seen: Seen) -> Reply:
        parts = urlsplit(seen.path)
        if parts.path == "/sso":
            user = self._tickets.pop(parse_qs(parts.query).get("ticket", [""])[0], None)
            if user is None:
                return Reply(page("错误", "票据无效"), 403)
            return Reply(b"", 302, {"Location": "/"}, self._new_session(user))
        user = self._user(seen)
        if user is None:
            return Reply(b"", 302, {"Location": f"http://{PASSPORT}/signin?service=one"})
        if parts.path == "/my":
            return Reply(page("我的主页", user))
        links = tuple(f"/s/{n}" for n in range(self.pages)) if parts.path == "/" else ()
        return Reply(article(f"检索结果{parts.path}", links=links))

    # --- sessions ---------------------------------------------------------------------------------

    def _accepted(self, seen: Seen) -> str | None:
        fields = {k: v[0] for k, v in parse_qs(seen.body.decode()).items()}
        user = fields.get("username", "")
        known = fields.get("token", "") in self._tokens
        right = known and self.passwords.get(user) == fields.get("password")
        self._tokens.discard(fields.get("token", ""))
        self.logins[user, right] += 1
        return user if right else None

    def _new_session(self, user: str) -> tuple[str, ...]:
        sid = f"{user}.{secrets.token_hex(8)}"
        self._sessions[sid] = (user, self.lasts)
        return (f"sid={sid}; Path=/; HttpOnly", f"last={user}; Path=/")

    def _user(self, seen: Seen) -> str | None:
        sid, last = seen.cookies.get("sid", ""), seen.cookies.get("last", "")
        if sid and last and sid.partition(".")[0] != last:
            self.mixed.append(seen)
        user, left = self._sessions.get(sid, ("", 0))
        if left <= 0:
            return None
        self._sessions[sid] = (user, left - 1)
        return user


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, web: LoginWeb) -> None:
        self.web = web
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._reply()

    def do_POST(self) -> None:
        self._reply()

    def _reply(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        pairs = (pair.strip().partition("=") for pair in self.headers.get("Cookie", "").split(";"))
        cookies = {name: value for name, _, value in pairs if name}
        host = self.headers.get("Host", "").partition(":")[0]
        reply = self.server.web.answer(
            Seen(host, self.command, self.path, dict(self.headers), body, cookies)
        )
        self.send_response(reply.status)
        for name, value in {"Content-Type": "text/html; charset=utf-8", **reply.headers}.items():
            self.send_header(name, value)
        for cookie in reply.cookies:
            self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *args: object) -> None:
        """Quiet."""


@contextmanager
def serving(web: LoginWeb) -> Iterator[str]:
    """Serve *web*; gives host:port for QIAO_DEMO."""
    server = _Server(web)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def recipes_folder(tmp_path: Path, *, target: str = "", pause: float = 0.0) -> str:
    """A folder with the recipes of these sites."""
    folder = tmp_path / "logins"
    folder.mkdir(exist_ok=True)
    line = f'target = "{target}"' if target else ""
    (folder / "club.test.toml").write_text(CLUB_RECIPE.format(target=line, pause=pause))
    (folder / "one.test.toml").write_text(ONE_RECIPE)
    return str(folder)
