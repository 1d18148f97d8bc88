"""What ``qiaocrawl demo`` tells at its end."""

from __future__ import annotations

import os

import pytest

from qiaocrawl.cli.demo import own_command


@pytest.mark.parametrize(
    ("called", "command"),
    [("qiaocrawl", "qiaocrawl"), (os.path.abspath("bin/qiaocrawl"), "bin/qiaocrawl"),
     (os.path.abspath("qiaocrawl/__main__.py"), "qiaocrawl")],
)  # fmt: skip
def test_the_next_command_can_be_called(called: str, command: str) -> None:
    assert own_command(called) == command
