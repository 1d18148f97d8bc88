"""What forms and addresses bring, read and checked: fields, topics, files in and out."""

from __future__ import annotations

import re
import secrets
import tempfile
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from shutil import rmtree

from sqlalchemy import Connection
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from qiaocrawl.console.page import link, read, read_heavy
from qiaocrawl.console.security import credentials
from qiaocrawl.console.security.credentials import local_path
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.topics.topics import find_topic_id, list_topics


async def field(request: Request, name: str, most_chars: int = 1000) -> str:
    """A field of the form that was sent, without white space around it; "" for none.

    Raises:
        ConfigError: it is longer than *most_chars*.
    """
    value = (await credentials.form_of(request)).get(name)
    text = value.strip() if isinstance(value, str) else ""
    if len(text) > most_chars:
        raise ConfigError(_("{name} has more than {most} characters", name=name, most=most_chars))
    return text


def whole_number(request: Request, name: str, otherwise: int, least: int, most: int) -> int:
    """A number of the address, within bounds; *otherwise* for none or no number.

    For choices of a list, where nobody is told; :func:`wanted_number` is for all else.
    """
    given = request.query_params.get(name, "")
    is_number = given.isascii() and given.isdigit() and len(given) < 19
    return min(max(int(given), least), most) if is_number else otherwise


def wanted_number(name: str, text: str, least: int, most: int) -> int:
    """*text*, which somebody gave for *name*, as a whole number.

    Raises:
        ConfigError: it is none, or not within bounds; the message names it and what is allowed.
    """
    is_number = text.isascii() and text.isdigit() and len(text) < 20
    if not is_number or not least <= int(text) <= most:
        raise ConfigError(
            _(
                "{name} {value!r} must be a whole number from {least} to {most}",
                name=name,
                value=text,
                least=least,
                most=most,
            )
        )
    return int(text)


FLOW, FIRST = "flow", "first"
"""The field of a form, and its value, on the way from an empty console to its first articles."""


async def is_first_run(request: Request) -> bool:
    """Whether the form belongs to that way."""
    return await field(request, FLOW, 20) == FIRST


async def back(request: Request, name: str, **parameters: object) -> Response:
    """Back to the page a form names in ``next``, else to the page called *name*."""
    otherwise = link(request, name, **parameters)
    return RedirectResponse(local_path(await field(request, "next", 4000), otherwise), 303)


_CHINESE = re.compile("[\u3400-\u9fff]")


def topic_called(c: Connection, given: str) -> tuple[str, str]:
    """The topic that people call *given*: its name, and the title of one that is to be made.

    Who writes Chinese for a new one gets a name made for it.
    """
    known = {topic.name: topic.title for topic in list_topics(c)}
    if given in known or not _CHINESE.search(given):
        return given, ""
    for name, title in known.items():
        if title == given:
            return name, ""
    return free_topic_name(known), given


def free_topic_name(known: Container[str]) -> str:
    """A name that no topic has: who works in Chinese need not think of one."""
    return next(name for name in map("t{}".format, count(1)) if name not in known)


# --- Files that somebody sent and has not decided about yet: kept for half an hour, in memory -----

_KEPT_SECONDS = 1800.0
MOST_KEPT = 40
"""Of all users."""
MOST_OF_USER = 4


@dataclass(frozen=True, slots=True)
class Upload:
    """A file, by whom it was sent, and what it is for: a topic, and its title if it is new.

    Attributes:
        is_first: it was sent on the way from an empty console to its first articles.
    """

    name: str
    data: bytes
    user: str
    topic: str
    kept_at: float
    title: str = ""
    is_first: bool = False


class Uploads:
    """The files of one console; of each user the oldest goes when there are too many of theirs."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[str, Upload] = OrderedDict()

    def keep(
        self,
        name: str,
        data: bytes,
        user: str,
        topic: str,
        title: str = "",
        *,
        is_first: bool = False,
    ) -> str:
        """Keep a file; returns the key it is found by.

        Raises:
            ConfigError: others have so many here that no more is taken.
        """
        self._drop_old()
        own = [key for key, other in self._by_key.items() if other.user == user]
        for key in own[: max(0, len(own) + 1 - MOST_OF_USER)]:
            del self._by_key[key]
        if len(self._by_key) >= MOST_KEPT:
            raise ConfigError(_("too many files wait here to be decided about; try again later"))
        key = secrets.token_urlsafe(16)
        kept = Upload(name, data, user, topic, time.monotonic(), title, is_first)
        self._by_key[key] = kept
        return key

    def _drop_old(self) -> None:
        too_old = time.monotonic() - _KEPT_SECONDS
        for key in [key for key, upload in self._by_key.items() if upload.kept_at <= too_old]:
            del self._by_key[key]

    def find(self, key: str, user: str) -> Upload | None:
        """The file of *key*, if *user* sent it within the last half hour."""
        upload = self._by_key.get(key)
        if upload is None or upload.user != user:
            return None
        return upload if time.monotonic() - upload.kept_at < _KEPT_SECONDS else None

    def drop(self, key: str) -> None:
        """Let a file go."""
        self._by_key.pop(key, None)


# --- Files made for one reader, gone when they are sent -------------------------------------------


async def download(
    request: Request, name: str, write: Callable[[Connection, Path], object]
) -> Response:
    """The file called *name* that *write* makes at a path out of what the database has."""
    return await sent_file(name, lambda file: read_heavy(request, write, file))


async def sent_file(name: str, make: Callable[[Path], Awaitable[object]]) -> Response:
    """The file called *name* that *make* makes at a path."""
    folder = Path(tempfile.mkdtemp(prefix="qiaocrawl-export-"))
    try:
        await make(folder / name)
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise
    gone = BackgroundTask(rmtree, folder, ignore_errors=True)
    return FileResponse(folder / name, filename=name, background=gone)


# --- The topic an address or a form names ---------------------------------------------------------


async def topic_of_path(request: Request) -> str:
    """The topic that the address names, see :func:`known_topic`."""
    return await known_topic(request, str(request.path_params["topic"]))


async def known_topic(request: Request, name: str) -> str:
    """*name*, which is an imported topic's.

    Raises:
        HTTPException: 404, it is none's.
    """
    if await read(request, find_topic_id, name) is None:
        raise HTTPException(404, _("There is no such topic."))
    return name
