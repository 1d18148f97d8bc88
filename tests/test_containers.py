"""Dockerfile and compose.yaml name only what is there: files, commands, options.

Nothing is built here: `make test-image` does that, which takes a network and root.
"""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from qiaocrawl.cli import COMMANDS, load
from qiaocrawl.options import OPTIONS
from qiaocrawl.storage.migrate import MIN_MARIADB, MIN_PACKET_BYTES
from wheel_fixtures import PACKAGES

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
COMPOSE = (ROOT / "compose.yaml").read_text("utf-8")
NAMES = {entry.name for entry in COMMANDS}


def test_the_image_gets_all_an_installation_needs() -> None:
    copied = {
        name.strip("./")
        for line in re.findall(r"^COPY (.+)$", DOCKERFILE, re.M)
        for name in line.split()[:-1]
    }
    let_through = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.M)
    assert copied == set(let_through)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    needed = {*PACKAGES, "docs", *project["project"]["license-files"], project["project"]["readme"],
              "setup.py", "requirements.txt"}  # fmt: skip
    assert needed <= copied
    assert all((ROOT / name).exists() for name in copied)


def test_the_image_calls_commands_that_exist() -> None:
    assert re.search(r'^ENTRYPOINT \["qiaocrawl"\]$', DOCKERFILE, re.M)
    assert not re.findall(r"&& qiaocrawl (\w+)", DOCKERFILE)
    (started,) = re.findall(r'^CMD \["(\w+)"', DOCKERFILE, re.M)
    assert started in NAMES
    lowest = re.search(r'requires-python = ">=(.+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    image = re.search(r"^FROM python:([\d.]+)-", DOCKERFILE, re.M)
    assert lowest
    assert image
    assert image[1] == lowest[1], "the version the pins are tested with"


def test_compose_names_what_is_there() -> None:
    options = set(re.findall(r"\bQIAO_\w+", COMPOSE))
    assert options <= {option.name for option in OPTIONS}
    mounted = re.findall(r"- (\./\S+?):", COMPOSE)
    assert mounted
    assert all((ROOT / path).is_file() for path in mounted)
    commands = re.findall(r'^    command: \["(\w+)"', COMPOSE, re.M)
    commands += re.findall(r"run --rm console (\w+)", COMPOSE)
    assert commands
    assert set(commands) <= NAMES


def test_compose_is_yaml_whose_commands_take_what_they_are_given() -> None:
    services = yaml.safe_load(COMPOSE)["services"]
    assert {"console", "metrics", "database", "searxng"} <= services.keys()
    alone = {name for name, service in services.items() if "profiles" not in service}
    assert alone == {"console", "database"}, "what `docker compose up` starts"
    ours = [one["command"] for one in services.values() if one.get("image") == "qiaocrawl"]
    assert len(ours) >= 2
    # Whichever of them is asked for first: no registry has the image.
    assert all(one.get("build") for one in services.values() if one.get("image") == "qiaocrawl")
    for name, *arguments in ours:
        (entry,) = [entry for entry in COMMANDS if entry.name == name]
        known = {option for parameter in load(entry).params for option in parameter.opts}
        assert {one for one in arguments if one.startswith("--")} <= known, name
    ports = {option.name: option.default for option in OPTIONS}
    for service, name in (("metrics", "QIAO_METRICS_PORT"), ("console", "QIAO_CONSOLE_PORT")):
        port = ports[name]
        assert services[service]["ports"] == [f"127.0.0.1:{port}:{port}"], "to nobody else"
    assert f":{ports['QIAO_CONSOLE_PORT']}/log-in" in services["console"]["healthcheck"]["test"][-1]


def test_no_image_moves_and_no_secret_is_known_to_all() -> None:
    services = yaml.safe_load(COMPOSE)["services"]
    foreign = {one["image"] for one in services.values() if not one.get("build")}
    assert all(re.search(r":\d", image) for image in foreign), "a version, not `latest`"
    for service in services.values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|KEY", name):
                assert re.fullmatch(r"\$\{\w+(:\?[^}]+|:-)?\}|1", value), (
                    f"{name}: a default secret"
                )


def test_what_tries_the_image_reads_these_files() -> None:
    spec = importlib.util.spec_from_file_location("image", ROOT / "scripts" / "image.py")
    assert spec is not None
    assert spec.loader is not None
    image = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(image)
    assert f"FROM {image.base_image()}\n" in DOCKERFILE
    url = yaml.safe_load(COMPOSE)["services"]["console"]["environment"]["QIAO_DATABASE_URL"]
    with pytest.raises(image.ImageError, match="MARIADB_PASSWORD: set it in .env"):
        image.substituted(url, {})
    assert "qiaocrawl:x1@database" in image.substituted(url, {"MARIADB_PASSWORD": "x1"})
    assert image.substituted("${SEARXNG_SECRET:-}", {}) == ""


def test_the_database_of_compose_passes_our_own_check() -> None:
    version = re.search(r"image: mariadb:([\d.]+)", COMPOSE)
    packet = re.search(r"--max-allowed-packet=(\d+)M", COMPOSE)
    assert version
    assert packet
    assert tuple(map(int, version[1].split("."))) >= MIN_MARIADB
    assert int(packet[1]) * 1024 * 1024 >= MIN_PACKET_BYTES
    assert "--character-set-server=utf8mb4" in COMPOSE
    assert "--innodb-flush-log-at-trx-commit=1" in COMPOSE
