"""What ``qiaocrawl demo`` tells at its end."""

from __future__ import annotations

import os
import socket

import pytest

from qiaocrawl.cli.demo import DemoError, own_command, serve


@pytest.mark.parametrize(
    ("called", "command"),
    [("qiaocrawl", "qiaocrawl"), (os.path.abspath("bin/qiaocrawl"), "bin/qiaocrawl"),
     (os.path.abspath("qiaocrawl/__main__.py"), "qiaocrawl")],
)  # fmt: skip
def test_the_next_command_can_be_called(called: str, command: str) -> None:
    assert own_command(called) == command


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DemoError, match=f"cannot listen on port {port}"):
            serve(port)
