"""Compiled loops: made at the first call, said so, and also where nothing can be kept on disk."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numba
import pytest

from qiaocrawl.vsm import compiled


@compiled.compiled
def _twice(n):  # type: ignore[no-untyped-def]
    return 2 * n


@compiled.compiled
def _four_times(n):  # type: ignore[no-untyped-def]
    return _twice(_twice(n))


def test_compiled_code_calls_compiled_code() -> None:
    assert _four_times(4) == 16
    assert _twice(4) == 8
    assert _four_times.__name__ == "_four_times"


def test_compiling_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    compiled.say_compiling.cache_clear()
    # Of no file, so that none is on disk from the last time.
    functions = [compiled.compiled(eval(f"lambda n: {by} * n")) for by in (3, 5)]
    with caplog.at_level(logging.INFO):
        assert [function(4) for function in functions] == [12, 20]
    assert sum("first use on this machine: compiling" in line for line in caplog.messages) == 1


def test_a_place_that_cannot_be_written_to_costs_time_only(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    njit = numba.njit

    def refusing(*functions: Callable[..., Any], **options: bool) -> Any:
        if options.get("cache"):
            # What numba does for an account without a home.
            raise RuntimeError("cannot cache function: no locator available")
        return njit(*functions)

    monkeypatch.setattr(numba, "njit", refusing)
    compiled._warn_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        doubled = [compiled.compiled(function) for function in (lambda n: 2 * n, lambda n: n + n)]
        assert [function(4) for function in doubled] == [8, 8]
    (message,) = caplog.messages
    assert "NUMBA_CACHE_DIR" in message
