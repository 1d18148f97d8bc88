"""Compiled loops also run where nothing can be kept on disk."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numba
import pytest

from qiaocrawl.vsm import compiled


def test_a_place_that_cannot_be_written_to_costs_time_only(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refusing(*functions: Callable[..., Any], **options: bool) -> Any:
        if options.get("cache"):
            # What numba does for an account without a home.
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(*functions)

    monkeypatch.setattr(compiled, "njit", refusing)
    compiled._say_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        doubled = [compiled.compiled(function) for function in (lambda n: 2 * n, lambda n: n + n)]
    assert [function(4) for function in doubled] == [8, 8]
    (said,) = caplog.messages
    assert "NUMBA_CACHE_DIR" in said
