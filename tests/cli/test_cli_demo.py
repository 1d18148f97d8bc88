"""What ``qiaocrawl demo`` tells at its end."""

from __future__ import annotations

import os
import shlex
import socket
from pathlib import Path

import pytest

from fresh_schema import make_tables
from qiaocrawl.cli.demo import DemoError, next_steps, own_command, serve
from qiaocrawl.items import Verdict, VerdictKind
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import articles
from storage_samples import PACK, add_article, add_topic, analysed


@pytest.mark.parametrize(
    ("called", "command"),
    [("qiaocrawl", "qiaocrawl"), (os.path.abspath("bin/qiaocrawl"), "bin/qiaocrawl"),
     (os.path.abspath("qiaocrawl/__main__.py"), "qiaocrawl")],
)  # fmt: skip
def test_the_next_command_can_be_called(called: str, command: str) -> None:
    assert own_command(called) == command


def test_a_command_that_the_shell_finds_is_told_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in an activated environment, from any folder."""
    program = tmp_path / "bin" / "qiaocrawl"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    assert own_command(str(program)) == "bin/qiaocrawl"
    monkeypatch.setenv("PATH", str(program.parent))
    assert own_command(str(program)) == "qiaocrawl"


def test_next_steps_are_words_of_a_shell_whatever_folder_and_url_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "my demo"
    with Database.open(f"sqlite:///{tmp_path / 'q.db'}") as database:
        make_tables(database)
        topics = {PACK.name: add_topic(database)}
        with database.engine.begin() as c:
            number = add_article(c, "show.asp?id=1&page=2")
            articles.save_relevance(c, number, topics, analysed().relevance)
            articles.save_verdict(c, number, Verdict(VerdictKind.DISTINCT), method="vsm")
        steps = [shlex.split(command) for _purpose, command in next_steps(database, folder)]
    export, why = steps[0], steps[1]
    assert export[-1] == f"{folder}/articles.xlsx"
    assert why[3:] == ["--database", "sqlite:///my demo/demo.db",
                       "http://a.example/show.asp?id=1&page=2"]  # fmt: skip


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DemoError, match=f"cannot listen on port {port}"):
            serve(port)
