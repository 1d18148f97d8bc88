"""`make test-image`: the Dockerfile built as it stands, and compose.yaml's services run from it.

    python scripts/image.py [--debian]

Needs root and Debian's buildah and debootstrap, which are installed where that is possible. Each
line of the Dockerfile is run by buildah. What cannot be fetched here is stood in for, and said so:

* the base image by the same Debian, made by debootstrap, with its own Python (``--debian``: without
  trying a registry first);
* compose.yaml's MariaDB by the one that is installed here, started with compose.yaml's own options.

The services run in a network of their own (``unshare --net``), in which nothing else is. Asked of
them: they run as a user without rights, there is no secret in the image, they come to be healthy by
compose.yaml's own check, tell their figures, end in order on SIGTERM, and find all again.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "image"
IMAGE = "localhost/qiaocrawl"
_INSIDE = "--inside"
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_PULL_SECONDS = 120
_START_SECONDS = 180
_END_SECONDS = 120


_FIRST = "password, to be changed at the first log-in"
_FIGURES = (
    "import urllib.request as r; "
    "assert b'qiaocrawl_' in r.urlopen('http://127.0.0.1:9808/metrics').read()"
)


class ImageError(Exception):
    """Why the image is not as it must be."""


def _step(text: str) -> None:
    print(f"== {text}", flush=True)


def _buildah(*arguments: str | Path) -> list[str]:
    # A store of its own; `vfs` would copy the whole of it for every line of the Dockerfile.
    store = ("--root", FOLDER / "store", "--runroot", FOLDER / "run", "--storage-driver", "overlay")
    return ["buildah", *map(str, (*store, *arguments))]


def _said(command: Sequence[str | Path], seconds: float | None = None) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise ImageError(f"{command[0]} took more than {seconds} s") from None
    if done.returncode:
        shown = " ".join(map(str, command[:12]))
        raise ImageError(
            f"{shown} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}"
        )
    return done.stdout


def require_programs() -> None:
    """Root, and the programs; installed where that is possible."""
    if os.geteuid() != 0:
        raise ImageError("this needs root: sudo make test-image")
    programs = {"buildah": "buildah", "debootstrap": "debootstrap", "unshare": "util-linux",
                "ip": "iproute2", "mariadbd": "mariadb-server-core",
                "mariadb": "mariadb-client-core"}  # fmt: skip
    missing = [package for program, package in programs.items() if not _found(program)]
    if missing and subprocess.run([ROOT / "scripts/apt-install.sh", *missing]).returncode:
        raise ImageError(f"not to be had here: {' '.join(missing)}")


def _found(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


# --- The image ------------------------------------------------------------------------------------


def base_image() -> str:
    """What the Dockerfile begins with."""
    found = re.search(r"^FROM (\S+)$", (ROOT / "Dockerfile").read_text("utf-8"), re.M)
    if found is None:
        raise ImageError("Dockerfile: no line FROM")
    return found[1]


def prepare_base(*, is_debian: bool) -> str:
    """Have the base image at hand; what it is, in words."""
    name = base_image()
    if not is_debian:
        try:
            _said(_buildah("pull", "--quiet", f"docker.io/library/{name}"), _PULL_SECONDS)
        except ImageError as error:
            print(f"{name} cannot be fetched: {str(error).strip().splitlines()[-1][:200]}")
        else:
            return name
    suite = name.rpartition("-")[2]
    root = FOLDER / suite
    if not (root / "complete").is_file():
        _step(f"debootstrap {suite}")
        shutil.rmtree(root, ignore_errors=True)
        root.parent.mkdir(parents=True, exist_ok=True)
        _said(["debootstrap", "--variant=minbase",
               "--include=python3,python3-pip,python3-venv,ca-certificates",
               suite, root, "http://deb.debian.org/debian"])  # fmt: skip
        # In the image that it stands in for, pip installs beside the system's Python, too.
        for marker in root.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
            marker.unlink()
        (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
        (root / "complete").touch()
    container = _said(_buildah("from", "scratch")).strip()
    _said(_buildah("add", "--quiet", container, root, "/"))
    paths = "PATH=/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin"
    _said(_buildah("config", "--env", paths, container))
    _said(_buildah("commit", "--quiet", "--rm", container, f"docker.io/library/{name}"))
    python = _said(["chroot", root, "python3", "--version"]).strip()
    return f"Debian {suite} made by debootstrap, {python}, in place of {name}"


def build() -> None:
    """Run the Dockerfile, line by line; its words are shown."""
    _step("Dockerfile")
    # Programs of the build ask through what this machine asks through.
    through = [f"--volume={_CERTIFICATES}:{_CERTIFICATES}:ro"] if _CERTIFICATES.is_file() else []
    command = _buildah("build", "--isolation=chroot", "--pull-never", "--layers", *through,
                       "--tag", IMAGE, ROOT)  # fmt: skip
    if subprocess.run(command, check=False).returncode:
        raise ImageError("the Dockerfile does not build")


def inspect() -> dict[str, Any]:
    """What the image says of itself; refused where a secret could be in it."""
    config: dict[str, Any] = json.loads(_said(_buildah("inspect", "--type=image", IMAGE)))
    docker: dict[str, Any] = config["Docker"]["config"]
    # Of ours: the official image of Python names the key that its Python is signed with.
    ours = re.compile(r"(QIAO|MARIADB|SEARXNG)_\w*(PASSWORD|SECRET|KEY|URL|SERVERS)\w*=")
    given = [one for one in docker["Env"] if ours.match(one)]
    if given:
        raise ImageError(f"a secret in the image: {given}")
    if docker["User"] in ("", "root", "0"):
        raise ImageError(f"the image runs as {docker['User'] or 'root'!r}")
    return docker


# --- Its services ---------------------------------------------------------------------------------


def substituted(value: str, environment: dict[str, str]) -> str:
    """*value* of compose.yaml with what it takes from `.env`.

    Raises:
        ImageError: it must be set, and is not.
    """

    def one(match: re.Match[str]) -> str:
        name, kind, other = match[1], match[2] or "", match[3] or ""
        if environment.get(name):
            return environment[name]
        if kind == ":?":
            raise ImageError(f"compose.yaml: {name}: {other}")
        return other

    return re.sub(r"\$\{(\w+)(?:(:\?|:-)([^}]*))?\}", one, value)


@contextmanager
def _service(name: str, service: dict[str, Any], env: dict[str, str], work: Path) -> Iterator[Any]:
    """The *service* of compose.yaml as a process; what the block leaves is ended by SIGTERM."""
    container = _said(_buildah("from", "--pull-never", "--isolation=chroot", IMAGE)).strip()
    docker = inspect()
    given = {key: substituted(str(value), env) for key, value in service["environment"].items()}
    # Compose gives services the names of each other.
    given["QIAO_DATABASE_URL"] = given["QIAO_DATABASE_URL"].replace("@database/", "@127.0.0.1/")
    variables = [f"--env={key}={value}" for key, value in {**given, **env}.items()
                 if key != "MARIADB_PASSWORD"]  # fmt: skip
    options = ("run", "--isolation=chroot", "--network=host", f"--volume={work}:/work", *variables)
    command = [*docker["Entrypoint"], *service["command"]]
    with (FOLDER / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            _buildah(*options, container, "--", *command), stdout=log, stderr=log
        )

        def run(*words: str) -> subprocess.CompletedProcess[str]:
            inside = _buildah(*options, container, "--", *words)
            return subprocess.run(inside, capture_output=True, text=True, check=False, timeout=120)

        try:
            yield process, run
        finally:
            if process.poll() is None:
                _terminate(process)
            _said(_buildah("rm", container))


def _terminate(process: subprocess.Popen[bytes]) -> int:
    """SIGTERM to the first process of the container, as `docker stop` sends it; its exit code."""
    ours = [pid for pid in _below(process.pid) if _is_ours(pid)]
    if not ours:
        raise ImageError("the service is not to be found among the processes")
    os.kill(ours[0], signal.SIGTERM)
    return process.wait(timeout=_END_SECONDS)


def _below(pid: int) -> Iterator[int]:
    """Processes started by *pid*, and by those, the first of them first."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text("utf-8").split()):
            yield child
            yield from _below(child)


def _is_ours(pid: int) -> bool:
    words = Path(f"/proc/{pid}/cmdline").read_text("utf-8").split("\0")
    # What buildah starts it with has its words, too.
    return len(words) > 1 and "python" in words[0] and words[1].endswith("/qiaocrawl")


@contextmanager
def _database(service: dict[str, Any], env: dict[str, str], folder: Path) -> Iterator[str]:
    """The MariaDB of this machine, started as compose.yaml starts its own; what it is."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    data, socket = folder / "database", folder / "database.sock"
    _said(["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}",
           "--auth-root-authentication-method=normal"])  # fmt: skip
    server = shutil.which("mariadbd", path=path) or "mariadbd"
    log = (FOLDER / "database.log").open("w")
    process = subprocess.Popen(
        [server, "--no-defaults", "--user=root", f"--datadir={data}", f"--socket={socket}",
         "--bind-address=127.0.0.1", *service["command"]],
        stdout=log, stderr=log,
    )  # fmt: skip
    client = ["mariadb", "--no-defaults", f"--socket={socket}", "--user=root", "--batch"]
    given = {key: substituted(str(value), env) for key, value in service["environment"].items()}
    name, user = given["MARIADB_DATABASE"], given["MARIADB_USER"]
    statements = (
        # Debian's has a user without a name, who would be taken for ours.
        "DELETE FROM mysql.global_priv WHERE User = ''; FLUSH PRIVILEGES; "
        f"CREATE DATABASE {name}; CREATE USER {user} IDENTIFIED BY '{given['MARIADB_PASSWORD']}'; "
        f"GRANT ALL ON {name}.* TO {user}"
    )
    try:
        _until(lambda: subprocess.run([*client, "-e", "SELECT 1"], capture_output=True), process)
        _said([*client, "-e", statements])
        yield _said([*client, "-N", "-e", "SELECT VERSION()"]).strip()
    finally:
        process.terminate()
        process.wait()
        log.close()


def _until(
    ask: Callable[[], subprocess.CompletedProcess[Any]], process: subprocess.Popen[bytes]
) -> float:
    """Ask until the answer is 0; the seconds it took.

    Raises:
        ImageError: *process* has ended, or the time is over.
    """
    start = time.monotonic()
    while (done := ask()).returncode:
        if process.poll() is not None:
            raise ImageError(f"it has ended with {process.returncode}; see {FOLDER}/*.log")
        if time.monotonic() - start > _START_SECONDS:
            raise ImageError(f"no sign of health in {_START_SECONDS} s: {done.stdout}{done.stderr}")
        time.sleep(1)
    return time.monotonic() - start


def _require(is_so: object, what: str) -> None:
    if not is_so:
        raise ImageError(what)
    print(f"ok: {what}", flush=True)


def serve() -> None:
    """Run the services of compose.yaml, and ask of them what they are to do."""
    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    console, metrics = services["console"], services["metrics"]
    try:
        substituted(console["environment"]["QIAO_DATABASE_URL"], {})
    except ImageError as error:
        _require(True, f"without a password nothing starts: {error}")
    else:
        raise ImageError("compose.yaml starts without a password")
    env = {"MARIADB_PASSWORD": secrets.token_hex(16), "QIAO_CONTACT": "me@example.org",
           "QIAO_LANG": "en"}  # fmt: skip
    with tempfile.TemporaryDirectory(dir=FOLDER) as name:
        folder = Path(name)
        work = folder / "work"
        work.mkdir()
        os.chown(work, 1000, 1000)
        with _database(services["database"], env, folder) as version:
            print(f"database: {version}, in place of {services['database']['image']}", flush=True)
            with _service("console", console, env, work) as (process, run):
                check = console["healthcheck"]["test"][1:]
                seconds = _until(lambda: run(*check), process)
                _require(True, f"console healthy by its own check after {seconds:.0f} s")
                _require(run("id", "-u").stdout.strip() == "1000", "runs without rights (1000)")
                _require(run("touch", "/usr/x").returncode, "cannot write into the image")
                done = run("qiaocrawl", "db", "check")
                _require(done.returncode == 0, f"db check: {_last(done)}")
                done = run("qiaocrawl", "topic", "import", "qiaoqing")
                _require(done.returncode == 0, f"a topic imported: {_last(done)}")
                with _service("metrics", metrics, env, work) as (other, _run):
                    _until(lambda: run("python", "-c", _FIGURES), other)
                    _require(True, "metrics tells figures at /metrics")
                _require(_terminate(process) == 0, "SIGTERM ends the console in order")
            _require(_FIRST in _log("console"), "the first log-in is told in its log")
            with _service("console", console, env, work) as (process, run):
                _until(lambda: run(*check), process)
                done = run("qiaocrawl", "topic", "list")
                _require("qiaoqing" in done.stdout, "started again: what was stored is there")
        _require(_FIRST not in _log("console"), "and no other first log-in")


def _last(done: subprocess.CompletedProcess[str]) -> str:
    """The last line it said."""
    return (done.stdout + done.stderr).strip().rpartition("\n")[2]


def _log(name: str) -> str:
    return (FOLDER / f"{name}.log").read_text("utf-8")


def main(arguments: Sequence[str]) -> int:
    """Build the image, run it, and say what stood in for what."""
    try:
        if _INSIDE in arguments:
            serve()
            return 0
        FOLDER.mkdir(parents=True, exist_ok=True)
        require_programs()
        base = prepare_base(is_debian="--debian" in arguments)
        print(f"base: {base}")
        build()
        docker = inspect()
        print(f"image: user {docker['User']}, {docker['Entrypoint']} {docker['Cmd']}")
        _step("compose.yaml, in a network of its own")
        # Nothing of this machine is reached, and its ports are all free.
        inside = [sys.executable, __file__, _INSIDE]
        code = subprocess.run(
            ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *inside],
            check=False,
        ).returncode
        if code:
            return 1
    except ImageError as error:
        print(f"NOT OK: {error}", file=sys.stderr)
        return 1
    print(f"ok. Base: {base}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
