"""A real scrapyd with the configuration that docs/scrapyd.md gives, in a folder of its own."""

from __future__ import annotations

import base64
import configparser
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("qiaocrawl", "spiders", "pipelines", "middlewares")
# Told apart from the tree's own name: what runs must be the code in the egg.
BOT_NAME = "deployed-from-an-egg"
WAIT_SECONDS = 300


@dataclass
class Scrapyd:
    """A scrapyd: its folder, its address, its user, and the environment of its jobs."""

    folder: Path
    url: str
    database: Path
    environment: dict[str, str]
    user: str
    password: str
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, also after it was killed, and wait until it answers."""
        with (self.folder / "output.txt").open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "scrapyd"], cwd=self.folder, env=self.environment,
                stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                self.call("daemonstatus")
            except urllib.error.URLError:
                time.sleep(0.2)
            else:
                return
        pytest.fail(f"scrapyd does not answer:\n{self.output()}")

    def stop(self) -> None:
        """Stop it as systemd does."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait(timeout=30)

    def kill(self) -> None:
        """``kill -9``: its jobs go on without it."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=30)

    def call(self, method: str, **data: str | Sequence[str]) -> dict[str, Any]:
        """One call of its JSON interface; a list gives a name several times."""
        body = None
        if method == "schedule":
            body = urllib.parse.urlencode(data, doseq=True).encode()
        query = "" if body else "?" + urllib.parse.urlencode(data)
        code = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        request = urllib.request.Request(
            f"{self.url}{method}.json{query}", body, {"Authorization": f"Basic {code}"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            answer: dict[str, Any] = json.load(response)
        assert answer["status"] == "ok", answer
        return answer

    def schedule(self, **arguments: str | Sequence[str]) -> str:
        """Schedule a job of the project; returns its id."""
        return str(self.call("schedule", project="qiaocrawl", **arguments)["jobid"])

    def jobs(self, state: str) -> dict[str, dict[str, Any]]:
        """The jobs in *state* (pending, running, finished) by id."""
        listed = self.call("listjobs", project="qiaocrawl")[state]
        return {entry["id"]: entry for entry in listed}

    def finished(self, job: str) -> tuple[dict[str, Any], str]:
        """Wait until *job* is finished; returns its entry and its log."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            if (entry := self.jobs("finished").get(job)) is not None:
                return entry, self.log(job)
            time.sleep(0.3)
        pytest.fail(f"job {job} did not finish in {WAIT_SECONDS} s:\n{self.output()}")

    def run(self, **arguments: str | Sequence[str]) -> tuple[dict[str, Any], str]:
        """Schedule a job and wait until it is finished."""
        return self.finished(self.schedule(**arguments))

    def log(self, job: str) -> str:
        """The log of *job*; scrapyd's own where it wrote none."""
        logs = list((self.folder / "logs").rglob(f"{job}.log"))
        return logs[0].read_text("utf-8") if logs else self.output()

    def output(self) -> str:
        """What scrapyd and its jobs wrote to the terminal."""
        return (self.folder / "output.txt").read_text("utf-8")

    def deploy(self, project: Path) -> None:
        """Send the project to it as an egg, made in the new folder *project*."""
        _copy_project(project, self.url)
        done = subprocess.run(
            [sys.executable, "-m", "scrapyd_client.deploy", "--version", "1"],
            cwd=project, env=self.environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert '"status": "ok"' in done.stdout, done.stdout + done.stderr


def new_scrapyd(folder: Path, **environment: str) -> Scrapyd:
    """A scrapyd in *folder*, not started yet, as docs/scrapyd.md says but for port and paths."""
    _skip_where_a_copy_hides_the_egg(folder)
    port = _free_port()
    text = (ROOT / "docs" / "scrapyd.md").read_text("utf-8")
    found = re.search(r"`/etc/scrapyd/scrapyd.conf`:\n\n```ini\n(.*?)```", text, re.DOTALL)
    assert found is not None
    conf = found[1].replace("/var/lib/qiaocrawl/scrapyd/", "")
    conf = re.sub(r"(?m)^(http_port *=).*", rf"\1 {port}", conf)
    conf = re.sub(r"(?m)^(poll_interval *=).*", r"\1 0.3", conf)
    (folder / "scrapyd.conf").write_text(conf, "utf-8")
    parsed = configparser.ConfigParser()
    parsed.read_string(conf)
    user, password = parsed["scrapyd"]["username"], parsed["scrapyd"]["password"]
    (folder / ".netrc").write_text(
        f'machine 127.0.0.1 login {user} password "{password}"\n', "utf-8"
    )
    (folder / ".netrc").chmod(0o600)
    database = folder / "store" / "qiaocrawl.db"
    database.parent.mkdir()
    return Scrapyd(
        folder, f"http://127.0.0.1:{port}/", database,
        environment_at(folder, QIAO_DATABASE_URL=f"sqlite:///{database}", **environment),
        user, password,
    )  # fmt: skip


def _copy_project(folder: Path, url: str) -> None:
    for name in PACKAGES:
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*")
        )
    (folder / "topics").mkdir()
    for name in ("pyproject.toml", "setup.py", "requirements.txt", "MANIFEST.in", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copy(ROOT / "README.md", folder)
    config = configparser.ConfigParser()
    config.read(ROOT / "scrapy.cfg")
    config["deploy"]["url"] = url.rstrip("/")
    with (folder / "scrapy.cfg").open("w") as file:
        config.write(file)
    with (folder / "qiaocrawl" / "settings.py").open("a") as file:
        file.write(f'\nBOT_NAME = "{BOT_NAME}"\n')


def environment_at(home: Path, **more: str) -> dict[str, str]:
    """Only what a job of scrapyd has to have, and *more*."""
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "PYTHONWARNINGS": "ignore",
        "LANG": "C.UTF-8",
        **more,
    }


def _free_port() -> int:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _skip_where_a_copy_hides_the_egg(folder: Path) -> None:
    """An egg is found after what is installed for good; an editable installation is not."""
    where = subprocess.run(
        [sys.executable, "-c", "import qiaocrawl; print(qiaocrawl.__file__)"],
        cwd=folder, env=environment_at(folder), capture_output=True, text=True, timeout=60,
    ).stdout  # fmt: skip
    if "site-packages" in where:
        pytest.skip("a copy of qiaocrawl installed in this environment hides the egg")
