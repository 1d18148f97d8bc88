"""The terminal: all that commands print goes through here, so that no page can steer it."""

from __future__ import annotations

import json
from typing import Any

import typer

from qiaocrawl.text.visible import Terminal, visible, visible_json

__all__ = ["Terminal", "echo", "echo_json"]


def echo(text: str = "", *, err: bool = False) -> None:
    """Print *text* as a line, on stderr if *err*."""
    typer.echo(visible(text), err=err)


def echo_json(value: Any) -> None:
    """Print *value* as JSON for programs; what JSON has no form for as text."""
    typer.echo(visible_json(json.dumps(value, ensure_ascii=False, indent=2, default=str)))
