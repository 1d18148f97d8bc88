"""The demo web, built once for all tests of its parts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qiaocrawl.demo.server import DemoServer
from qiaocrawl.demo.web import DemoWeb, build_web


@pytest.fixture(scope="session")
def demo_web() -> DemoWeb:
    """The web that users of the demo see."""
    return build_web()


@pytest.fixture
def demo_server() -> Iterator[DemoServer]:
    """A small demo web, served on a free port."""
    with DemoServer(build_web(scale=0.2)) as server:
        yield server
