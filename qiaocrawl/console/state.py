"""What a request knows: the console it is for, who asks, in which language."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.requests import Request

from qiaocrawl.console.heavy_work import HeavyWork
from qiaocrawl.console.kept import Kept
from qiaocrawl.console.settings import ConsoleSettings
from qiaocrawl.storage import Database
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.people import User

if TYPE_CHECKING:
    from qiaocrawl.console.job_keeper import JobKeeper
    from qiaocrawl.console.search.keeper import SearchKeeper

_HASHED_AT_ONCE = 2


@dataclass(slots=True)
class Console:
    """What all requests of one process share.

    Attributes:
        kept: what takes long to count, for all who look.
        hashing: held while a password is looked at, which takes 64 MiB.
        heavy: the queue for what takes many seconds.
        outage_told_at: when the log was last told that the database is away; monotonic.
    """

    settings: ConsoleSettings
    database: Database
    search: SearchKeeper
    jobs: JobKeeper
    kept: Kept = field(default_factory=Kept)
    hashing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_HASHED_AT_ONCE))
    heavy: HeavyWork = field(default_factory=HeavyWork)
    outage_told_at: float = -math.inf


@dataclass(slots=True)
class Visit:
    """Who asks: ``user`` is None before the log-in; ``token`` protects forms (see csrf)."""

    user: User | None
    token: str
    address: str


def console_of(request: Request) -> Console:
    """The console that *request* is for."""
    console: Console = request.app.state.console
    return console


def visit_of(request: Request) -> Visit:
    """Who asks. Every page may rely on it: the gate made it."""
    visit: Visit = request.state.visit
    return visit


def user_of(request: Request) -> User:
    """The user who asks, of a page that needs a log-in."""
    user = visit_of(request).user
    assert user is not None
    return user


def actor_of(request: Request) -> Actor:
    """The same for the log of changes."""
    visit = visit_of(request)
    return Actor(visit.user.name if visit.user else "", visit.address)


def origin_of(request: Request) -> str:
    """Scheme and host by which *request* came, which links for other programs begin with."""
    return f"{request.url.scheme}://{request.url.netloc}"


def link(request: Request, name: str, **parameters: Any) -> str:
    """The path of the page called *name*, below the path a reverse proxy shows us under."""
    root: str = request.scope.get("app_root_path", request.scope.get("root_path", ""))
    return root.rstrip("/") + str(request.app.url_path_for(name, **parameters))
