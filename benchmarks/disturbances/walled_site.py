"""A local site that shows its pages to those who have logged in, and a form to all others."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from benchmarks.local_site import HOST, LocalSite, Request, reply

USER, PASSWORD = "reader", "pässwörd"
LOGIN = "POST /login"
"""How a login is counted among the hits."""

RECIPE = f"""
name = "durability"
way = "form"
hosts = ["{HOST}"]
pause_seconds = 0
[form]
page = "http://{HOST}/login"
[success]
words = ["欢迎", "频道"]
[failure]
words = ["密码错误"]
"""

_FORM = (
    '<html><head><meta charset="utf-8"><title>会员登录</title></head><body>'
    '<form method="post" action="/login"><p>请先登录</p><input name="username">'
    '<input type="password" name="password"><input type="submit" value="登录"></form></body></html>'
).encode()
_REFUSAL = "<html><head><meta charset=utf-8></head><body>密码错误</body></html>".encode()


@dataclass(frozen=True)
class WalledSite(LocalSite):
    """The pages of a site, for members only."""

    sessions: set[str] = field(default_factory=set)

    def answer(self, request: Request) -> bytes:
        """A page for a member, else the login form."""
        if request.path == "/robots.txt":
            return reply(b"404 Not Found")
        if request.path == "/login":
            return self._login(request) if request.method == "POST" else reply(b"200 OK", _FORM)
        sent = request.headers.get("cookie", "").split(";")
        cookies = dict(pair.strip().split("=", 1) for pair in sent if "=" in pair)
        if cookies.get("sid") in self.sessions:
            return super().answer(request)
        return reply(b"200 OK", _FORM)

    def _login(self, request: Request) -> bytes:
        fields = parse_qs(request.body)
        if fields.get("username") != [USER] or fields.get("password") != [PASSWORD]:
            return reply(b"200 OK", _REFUSAL)
        sid = secrets.token_hex(8)
        self.sessions.add(sid)
        return reply(b"303 See Other", b"", "Location: /", f"Set-Cookie: sid={sid}; Path=/")
