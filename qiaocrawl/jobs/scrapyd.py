"""What is asked of a scrapyd server: list, start, cancel, log; by an operator also: send an egg.

Whoever reaches a scrapyd can run any code there, so the servers are the operator's alone to name
(``qiaocrawl nodes add``, ``QIAO_SCRAPYD_SERVERS``), with their passwords, which are shown nowhere.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote
from zipfile import BadZipFile, ZipFile

import httpx

from qiaocrawl.errors import ConfigError, JobError, ServerAwayError
from qiaocrawl.language import _

PROJECT = "qiaocrawl"
"""The project's name on every server, as `scrapyd-deploy` sends it."""
VERSION_FORM = re.compile("[A-Za-z0-9_-]+")
"""Names of versions that scrapyd keeps as they are; it writes others as one of these."""
_TIMEOUT_SECONDS = 10.0
# A proxy's word for a scrapyd that does not answer.
_AWAY_STATUSES = (502, 503, 504)
# An egg is unpacked and its spiders are listed before the answer comes.
_DEPLOY_SECONDS = 120.0
_MAX_LOG_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class ServerJobs:
    """Ids of the project's jobs on a server."""

    pending: frozenset[str]
    running: frozenset[str]
    finished: frozenset[str]


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What a server says of itself: jobs of all projects, and versions of ours, oldest first."""

    pending: int
    running: int
    versions: tuple[str, ...]


def server_address(url: str) -> tuple[str, str]:
    """Name (host:port) and address of a server without user and password; ends in a slash."""
    parsed = httpx.URL(url.rstrip("/") + "/")
    return parsed.netloc.decode("ascii"), str(parsed.copy_with(username=None, password=None))


class ScrapydServer:
    """One server.

    Args:
        url: its address with user and password, ending in a slash.
    """

    def __init__(self, url: str) -> None:
        parsed = httpx.URL(url)
        self.name = server_address(url)[0]
        """host:port, which tells servers apart and may be shown."""
        auth = (parsed.username, parsed.password) if parsed.username else None
        self._client = httpx.Client(
            base_url=parsed.copy_with(username=None, password=None),
            auth=auth,
            timeout=_TIMEOUT_SECONDS,
            trust_env=False,
            follow_redirects=False,
        )

    @staticmethod
    def url_with_login(address: str, user: str, password: str) -> str:
        """*address* with *user* and *password*, whatever characters these have."""
        # Quoted before: httpx leaves %41 as it is, so that it would become an A.
        login = {"username": quote(user, safe=""), "password": quote(password, safe="")}
        return str(httpx.URL(address).copy_with(**login))

    def status(self) -> ServerStatus:
        """How it does, and which versions of the project it has.

        Raises:
            ServerAwayError, JobError: as :meth:`jobs`.
        """
        daemon = self._call("GET", "daemonstatus.json")
        return ServerStatus(daemon["pending"], daemon["running"], self._versions())

    def _versions(self) -> tuple[str, ...]:
        """Versions of the project as scrapyd orders them; jobs run the last."""
        answer = self._call("GET", "listversions.json", params={"project": PROJECT})
        return tuple(answer["versions"])

    def deploy(self, egg: bytes, version: str) -> int:
        """Send the project; jobs that start from now on run it. Returns how many spiders it has.

        Args:
            version: a new one, as :data:`VERSION_FORM` has it.

        Raises:
            ServerAwayError: as :meth:`jobs`.
            JobError: it refuses, has that version already, or would go on running another one. It
                has and runs then what it had before.
        """
        # scrapyd would write over it, and what it then refuses would take the good one along.
        if version in self._versions():
            raise JobError(
                _(
                    "{node} has a version {version!r}, which stays: give --version another name, "
                    "or none",
                    node=self.name,
                    version=version,
                )
            )
        spiders = self._send(egg, version)
        runs = self._versions()[-1]
        if runs != version:
            self._take_back(version)
            raise JobError(
                _(
                    "{node} would go on running {runs!r}: scrapyd takes the greatest name, and "
                    "{version!r} comes before it; give --version one that comes behind",
                    node=self.name,
                    runs=runs,
                    version=version,
                )
            )
        return spiders

    def _send(self, egg: bytes, version: str) -> int:
        named = {"project": PROJECT, "version": version}
        try:
            answer = self._call(
                "POST",
                "addversion.json",
                data=named,
                files={"egg": ("project.egg", egg)},
                timeout=_DEPLOY_SECONDS,
            )
        except ServerAwayError:
            raise
        except JobError:
            # scrapyd keeps an egg whose spiders it could not list, and would run it from now on.
            self._take_back(version)
            raise
        return int(answer["spiders"])

    def _take_back(self, version: str) -> None:
        with suppress(JobError):
            self._call("POST", "delversion.json", data={"project": PROJECT, "version": version})

    def jobs(self) -> ServerJobs:
        """The project's jobs.

        Raises:
            ServerAwayError: it does not answer.
            JobError: it refuses, such as for a wrong password.
        """
        answer = self._call("GET", "listjobs.json", params={"project": PROJECT})
        states = ("pending", "running", "finished")
        try:
            ids = [frozenset(entry["id"] for entry in answer[name]) for name in states]
        except (KeyError, TypeError):
            raise JobError(_("{server}: its answer is none of scrapyd", server=self.name)) from None
        return ServerJobs(*ids)

    def start(
        self, spider: str, token: str, arguments: Mapping[str, str], settings: Mapping[str, str]
    ) -> None:
        """Start *spider* as the job *token*.

        Raises:
            ServerAwayError: it does not answer; whether the job was taken is not known.
            JobError: it refuses.
        """
        data: dict[str, str | Sequence[str]] = {
            **arguments,
            "project": PROJECT,
            "spider": spider,
            "jobid": token,
            "setting": [f"{name}={value}" for name, value in settings.items()],
        }
        self._call("POST", "schedule.json", data=data)

    def cancel(self, token: str) -> None:
        """Let the job *token* end in order, as Ctrl-C does; nothing where it is over.

        Raises:
            ServerAwayError, JobError: as :meth:`jobs`.
        """
        self._call("POST", "cancel.json", data={"project": PROJECT, "job": token})

    def log_end(self, spider: str, token: str) -> str:
        """The last part of a job's log; "" where there is none.

        Raises:
            ServerAwayError: it does not answer.
        """
        address = _log_address(spider, token)
        try:
            size = int(self._client.head(address).headers.get("Content-Length", 0))
            # From its begin: scrapyd answers a range of more bytes than there are with a fault.
            first = max(0, size - _MAX_LOG_BYTES)
            answer = self._client.get(
                address, headers={"Range": f"bytes={first}-"} if first else {}
            )
        except httpx.HTTPError as error:
            raise self._away(_error_words(error)) from error
        return answer.content.decode("utf-8", "replace") if answer.is_success else ""

    def save_log(self, spider: str, token: str, file: Path) -> bool:
        """Write a job's whole log to *file*; False where there is none.

        Raises:
            ServerAwayError: it does not answer.
        """
        try:
            with self._client.stream("GET", _log_address(spider, token)) as answer:
                if not answer.is_success:
                    return False
                with file.open("wb") as out:
                    out.writelines(answer.iter_bytes())
        except httpx.HTTPError as error:
            raise self._away(_error_words(error)) from error
        return True

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def _call(self, method: str, path: str, **content: Any) -> dict[str, Any]:
        try:
            answer = self._client.request(method, path, **content)
        except httpx.HTTPError as error:
            raise self._away(_error_words(error)) from error
        if answer.status_code in _AWAY_STATUSES:
            raise self._away(f"HTTP {answer.status_code}")
        try:
            body = answer.json()
        except ValueError:
            body = None
        if not isinstance(body, dict) or body.get("status") != "ok":
            said = _reason(body.get("message", "")) if isinstance(body, dict) else ""
            if not said and answer.status_code == HTTPStatus.UNAUTHORIZED:
                said = _("its user and password are others (--login-env)")
            raise JobError(
                _(
                    "scrapyd {name} refuses: {reason}",
                    name=self.name,
                    reason=said or f"HTTP {answer.status_code}",
                )
            )
        return body

    def _away(self, error: str) -> ServerAwayError:
        return ServerAwayError(
            _("scrapyd {name} does not answer: {error}", name=self.name, error=error)
        )


def _reason(message: str) -> str:
    """What scrapyd says is wrong; of all that a job's process has printed, what counts."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("qiaocrawl: ")]
    return (ours or lines or [""])[-1]


def _error_words(error: httpx.HTTPError) -> str:
    """What kept a server from answering, in a few words."""
    if isinstance(error, httpx.TimeoutException):
        return _("it takes too long")
    # Such as "[Errno 111] Connection refused".
    return re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__


def _log_address(spider: str, token: str) -> str:
    return f"logs/{PROJECT}/{spider}/{token}.log"


# --- The project as an egg, as scrapyd takes it ---------------------------------------------------

_BUILD_SECONDS = 300.0
_DIGEST_DIGITS = 10


def egg_digest(egg: bytes) -> str:
    """What tells the code of two eggs apart: nothing of when and where they were built.

    Raises:
        ConfigError: it is no egg.
    """
    digest = sha256()
    try:
        with ZipFile(BytesIO(egg)) as files:
            for name in sorted(files.namelist()):
                # Compiled modules have the time of their sources in them, or their compiler.
                if not name.startswith("EGG-INFO/") and not name.endswith((".pyc", ".so")):
                    digest.update(f"{name}\0".encode() + sha256(files.read(name)).digest())
    except BadZipFile:
        raise ConfigError(_("this is no egg")) from None
    return digest.hexdigest()[:_DIGEST_DIGITS]


def version_of(egg: bytes, now: float) -> str:
    """What scrapyd calls *egg*: the time, since it runs the greatest, and what is in it."""
    return f"{now:.0f}-{egg_digest(egg)}"


def code_of(version: str) -> str:
    """What two versions have in common that are the same code; a name of another make as it is."""
    seconds, _dash, digest = version.partition("-")
    return digest if seconds.isdigit() and len(digest) == _DIGEST_DIGITS else version


def build_egg(project: Path) -> bytes:
    """Build the egg of the clone in the folder *project*, which stays as it is.

    Raises:
        ConfigError: there is no project.
        JobError: it cannot be built.
    """
    if not (project / "setup.py").is_file():
        raise ConfigError(
            _("{folder}: no setup.py; go to a clone of the project, or give --egg", folder=project)
        )
    with TemporaryDirectory(prefix="qiao-egg-") as name:
        out = Path(name)
        # Everything it writes goes there: a build folder in the clone would carry deleted files
        # into the next egg.
        words = [
            sys.executable,
            "setup.py",
            "-q",
            "egg_info",
            "--egg-base",
            name,
            "build",
            "--build-base",
            str(out / "build"),
            "bdist_egg",
            "--bdist-dir",
            str(out / "bdist"),
            "--dist-dir",
            str(out / "dist"),
        ]
        built = subprocess.run(
            words, cwd=project, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False
        )
        eggs = list((out / "dist").glob("*.egg"))
        if built.returncode or len(eggs) != 1:
            last = (built.stderr.strip().splitlines() or [f"exit code {built.returncode}"])[-1]
            raise JobError(_("the egg cannot be built: {error}", error=last))
        return eggs[0].read_bytes()
