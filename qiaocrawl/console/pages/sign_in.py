"""Log-in by the office's own provider (OpenID Connect), beside own passwords."""

from __future__ import annotations

import logging

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.page import (
    ANYBODY,
    Area,
    Page,
    console_of,
    hashing,
    link,
    origin_of,
    visit_of,
    write,
)
from qiaocrawl.console.pages.account import begin_session, log_in_page
from qiaocrawl.console.security import credentials
from qiaocrawl.console.security.credentials import local_path
from qiaocrawl.console.security.oidc import Begun, Identity, Provider
from qiaocrawl.errors import ConfigError, SignInError
from qiaocrawl.language import _
from qiaocrawl.storage import people
from qiaocrawl.storage.audit_log import Actor, record

logger = logging.getLogger(__name__)


async def begin(request: Request) -> Response:
    """Send the browser to the provider."""
    provider = _provider(request)
    target = local_path(request.query_params.get("next"), link(request, "today.show"))
    try:
        url, begun = await provider.begin(_return_to(request), target)
    except SignInError as error:
        return _refused(request, target, error)
    response = RedirectResponse(url, 303)
    credentials.set_secret(request, response, credentials.SIGN_IN, begun.written())
    return response


async def finish(request: Request) -> Response:
    """Take back who comes from the provider, and log them in."""
    provider = _provider(request)
    begun = Begun.read(credentials.own_cookie(request, credentials.SIGN_IN))
    home = link(request, "today.show")
    target = local_path(begun.target, home) if begun is not None else home
    try:
        who = await provider.finish(request.query_params, begun, _return_to(request))
        # Made up in case it is needed: of a user who has no password of their own, nobody has one.
        password = await hashing(request, credentials.hash_password, credentials.new_secret())
        user = await _user(request, provider, who, password)
        response = await begin_session(request, user, target)
    except SignInError as error:
        if provider.may_note():
            await write(request, _note_failure, visit_of(request).address, str(error))
        else:
            logger.warning("a sign-in failed, as many did before: %s", error)
        response = _refused(request, target, error)
    # Used, whatever became of it: a code is good for one try.
    credentials.forget(request, response, credentials.SIGN_IN)
    return response


async def leave(request: Request) -> Response:
    """Send the browser to the page where the provider logs it out, if it has one."""
    home = link(request, "account.log_in")
    try:
        url = await _provider(request).leave_url(f"{origin_of(request)}{home}")
    except SignInError as error:
        return _refused(request, link(request, "today.show"), error)
    return RedirectResponse(url or home, 303)


def _provider(request: Request) -> Provider:
    provider = console_of(request).provider
    if provider is None:
        raise HTTPException(404, _("There is no such page."))
    return provider


def _return_to(request: Request) -> str:
    """The address that the office enters at the provider."""
    return f"{origin_of(request)}{link(request, 'sign_in.finish')}"


def _refused(request: Request, target: str, error: SignInError) -> Response:
    words = str(error)
    if error.is_away:
        words = _("{error}. Log in with name and password meanwhile.", error=words.rstrip("."))
    return log_in_page(request, target, words, 503 if error.is_away else 403)


def _note_failure(c: Connection, address: str, why: str) -> None:
    record(c, Actor("", address), "session.fail", "", None, {"sign_in": why})


async def _user(request: Request, provider: Provider, who: Identity, password: str) -> people.User:
    """The user that *who* is, found, connected or made.

    Raises:
        SignInError: they are none.
    """
    address = visit_of(request).address
    may_make = provider.settings.makes_users
    try:
        user = await write(request, _find, who, password, address, may_make=may_make)
    except IntegrityError:
        # Two tabs at once: the other one has just made or connected them.
        user = await write(request, _find, who, password, address, may_make=may_make)
    if who.role and who.role != user.role:
        try:
            return await write(request, _with_role, user, who.role, address)
        except ConfigError as error:
            # The last administrator: better one too many than a console nobody can look after.
            logger.warning("the role of %s stays %s: %s", user.name, user.role, error)
    return user


def _find(
    c: Connection, who: Identity, password: str, address: str, *, may_make: bool
) -> people.User:
    user = people.user_of_identity(c, who.issuer, who.subject)
    if user is None:
        user = _connected(c, who, password, address, may_make=may_make)
    if user.disabled_at is not None:
        raise SignInError(_("{name} may not log in to this console any more.", name=user.name))
    if user.must_change:
        # Whoever made that password knows it still; now nobody does, and it need not be changed.
        actor = Actor(user.name, address)
        people.set_password(c, actor, user, password, by_self=True)
        user = people.user_by_id(c, user.id) or user
    return user


def _connected(
    c: Connection, who: Identity, password: str, address: str, *, may_make: bool
) -> people.User:
    """The user of the name that the provider says, connected with it for good."""
    if not who.name:
        raise SignInError(
            _("The sign-in does not say who you are here (no verified name). Ask an administrator.")
        )
    user = people.find_user(c, who.name) or people.find_user(c, who.name.lower())
    if user is None and may_make:
        try:
            row = people.add_user(
                c,
                Actor(who.name[: people.MAX_NAME_CHARS], address),
                who.name,
                password,
                who.role or people.ROLES[0],
                must_change=False,
            )
        except ConfigError as error:
            raise SignInError(str(error)) from error
        user = people.user_by_id(c, row)
    if user is None:
        raise SignInError(
            _("{name} is no user of this console. Ask an administrator.", name=who.name)
        )
    if user.disabled_at is None:
        people.connect_identity(c, Actor(user.name, address), user, who.issuer, who.subject)
    return user


def _with_role(c: Connection, user: people.User, role: str, address: str) -> people.User:
    people.set_role(c, Actor(user.name, address), user, role)
    return people.user_by_id(c, user.id) or user


AREA = Area(
    "",
    "user",
    (
        Page("/log-in/office", "sign_in.begin", begin, ANYBODY),
        Page("/log-in/office/return", "sign_in.finish", finish, ANYBODY),
        Page("/log-in/office/leave", "sign_in.leave", leave, ANYBODY),
    ),
)
