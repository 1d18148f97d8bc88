"""Log in, log out, choose a password; language and look."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import back, field
from qiaocrawl.console.page import (
    ADMINISTRATOR,
    ANYBODY,
    READER,
    Area,
    Page,
    actor_of,
    console_of,
    hashing,
    link,
    read,
    take_wanted,
    user_of,
    visit_of,
    write,
)
from qiaocrawl.console.pages import own_pushes
from qiaocrawl.console.render import THEMES, render
from qiaocrawl.console.security import credentials
from qiaocrawl.console.security.credentials import local_path
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import LANGUAGES, N_, _
from qiaocrawl.storage import people
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.topics.topics import list_topics

_MAX_PASSWORD_FIELD = 1000


async def log_in(request: Request) -> Response:
    """The form."""
    home = link(request, "today.show")
    if visit_of(request).user is not None:
        return RedirectResponse(home, 303)
    target = local_path(request.query_params.get("next"), home)
    return log_in_page(request, target, has_left="left" in request.query_params)


def log_in_page(
    request: Request,
    target: str,
    message: str = "",
    status: int = 200,
    *,
    name: str = "",
    has_left: bool = False,
) -> Response:
    """The form, with why a log-in did not succeed.

    Args:
        has_left: somebody has just logged out here, who may be signed in at the provider still.
    """
    return render(
        request,
        "account/log_in.html",
        status,
        target=target,
        message=message,
        name=name,
        provider=console_of(request).provider,
        has_left=has_left,
    )


async def do_log_in(request: Request) -> Response:
    """Check name and password, and begin a session."""
    name = await field(request, "name", people.MAX_NAME_CHARS)
    password = await field(request, "password", _MAX_PASSWORD_FIELD)
    target = local_path(await field(request, "next", 4000), link(request, "today.show"))
    message, status = _("Too many tries. Wait a quarter of an hour."), 429
    user = await read(request, people.find_user, name)
    counted = _attempt_key(request, user)
    if await _may_try(request, name, counted):
        stored = user.password if user is not None and user.disabled_at is None else None
        if await hashing(request, credentials.is_right, stored, password) and user is not None:
            return await begin_session(request, user, target)
        await write(request, people.record_failure, name, visit_of(request).address, counted)
        message, status = _("Name or password is wrong."), 403
    return log_in_page(request, target, message, status, name=name)


def _attempt_key(request: Request, user: people.User | None) -> str:
    """What tries are counted by: the browser, where *user* logged in with it before."""
    browser = people.counted_browser(user, credentials.own_cookie(request, credentials.BROWSER))
    return browser or people.counted_address(visit_of(request).address)


async def _may_try(request: Request, name: str, address: str) -> bool:
    """Count a try, and whether its password may be looked at."""
    # Many tries in vain must not take the lock that writing takes.
    if await read(request, people.is_throttled, name, address):
        return False
    if not await write(request, people.note_try, name, address):
        return False
    return not await read(request, people.is_throttled, name, address, own=1)


async def begin_session(request: Request, user: people.User, target: str) -> Response:
    """Log *user* in, in this browser, and go on to *target*."""
    # A new secret: one that somebody slipped in before the log-in is worth nothing.
    cookie, visit, settings = (
        credentials.new_secret(),
        visit_of(request),
        console_of(request).settings,
    )

    def begin(c: Connection) -> None:
        people.drop_old(
            c, idle_seconds=settings.idle_seconds, total_seconds=settings.session_seconds
        )
        people.forget_failures(c, user.name, _attempt_key(request, user))
        people.open_session(c, user.id, cookie, visit.address)
        record(c, Actor(user.name, visit.address), "session.begin", user.name, None, None)

    await write(request, begin)
    response = RedirectResponse(target, 303)
    credentials.set_secret(request, response, credentials.SESSION, cookie)
    credentials.set_choice(request, response, credentials.BROWSER, people.browser_mark(user))
    credentials.forget(request, response, credentials.VISITOR)
    return response


async def log_out(request: Request) -> Response:
    """End the session, here and in the database."""
    cookie = credentials.own_cookie(request, credentials.SESSION)
    await write(request, people.close_session, actor_of(request), cookie)
    left = "?left=1" if console_of(request).provider is not None else ""
    response = RedirectResponse(f"{link(request, 'account.log_in')}{left}", 303)
    credentials.forget(request, response, credentials.SESSION)
    return response


async def password(request: Request) -> Response:
    """The form for a new password."""
    return _password_form(request, "")


def _password_form(request: Request, message: str) -> Response:
    return render(
        request,
        "account/password.html",
        400 if message else 200,
        message=message,
        least_chars=credentials.MIN_PASSWORD_CHARS,
    )


async def save_password(request: Request) -> Response:
    """Change one's own password; all other sessions end, and all tokens."""
    user = user_of(request)
    old, new = [await field(request, name, _MAX_PASSWORD_FIELD) for name in ("old", "new")]
    message = ""
    if not await hashing(request, credentials.is_right, user.password, old):
        message = _("The present password is wrong.")
    elif new != await field(request, "again", _MAX_PASSWORD_FIELD):
        message = _("The new passwords differ.")
    elif new == old:
        message = _("The new password is the old one.")
    else:
        try:
            stored = await hashing(request, credentials.hash_password, new)
        except ConfigError as error:
            message = str(error)
    if message:
        return _password_form(request, message)
    await write(request, people.set_password, actor_of(request), user, stored, by_self=True)
    target = local_path(take_wanted(request), link(request, "today.show"))
    if user.must_change and user.may(ADMINISTRATOR) and not await read(request, list_topics):
        target = link(request, "first_run.office")
    return await begin_session(request, replace(user, password=stored), target)


async def preferences(request: Request) -> Response:
    """Remember language and look in the browser."""
    response = await back(request, "today.show")
    for name, cookie, allowed in (
        ("language", credentials.LANGUAGE, LANGUAGES),
        ("theme", credentials.THEME, THEMES),
    ):
        value = await field(request, name)
        if value in allowed:
            credentials.set_choice(request, response, cookie, value)
    return response


async def tokens(request: Request) -> Response:
    """One's own tokens for programs."""
    own = await read(request, people.list_tokens, user_of(request))
    return render(request, "account/tokens.html", tokens=own, new_token="")


async def add_token(request: Request) -> Response:
    """Make a token; it is shown this once."""
    user, token = user_of(request), credentials.new_secret()
    name = await field(request, "name", 100)
    await write(request, people.add_token, actor_of(request), user, name, token)
    own = await read(request, people.list_tokens, user)
    return render(request, "account/tokens.html", tokens=own, new_token=token)


async def remove_token(request: Request) -> Response:
    """Take one of one's own tokens away."""
    token_id = request.path_params["token_id"]
    await write(request, people.remove_token, actor_of(request), token_id, user_of(request))
    return await back(request, "account.tokens")


AREA = Area(
    "",
    "user",
    (
        Page("/log-in", "account.log_in", log_in, ANYBODY),
        Page("/log-in", "account.do_log_in", do_log_in, ANYBODY, "POST"),
        Page("/log-out", "account.log_out", log_out, READER, "POST"),
        Page("/password", "account.password", password),
        Page("/password", "account.save_password", save_password, READER, "POST"),
        Page("/preferences", "account.preferences", preferences, ANYBODY, "POST"),
        *own_pushes.PAGES,
        Page("/tokens", "account.tokens", tokens),
        Page("/tokens", "account.add_token", add_token, READER, "POST"),
        Page("/tokens/{token_id:int}/remove", "account.remove_token", remove_token, READER, "POST"),
    ),
)
ROLE_NAMES = {
    people.ROLES[0]: N_("Reader"),
    people.ROLES[1]: N_("Editor"),
    people.ROLES[2]: N_("Administrator"),
}
"""What roles are called."""
