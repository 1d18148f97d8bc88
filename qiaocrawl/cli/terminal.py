"""The terminal: all that commands print goes through here, so that no page can steer it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from qiaocrawl.text.visible import visible, visible_json


class Terminal(Console):
    """A console that shows text without its control characters."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As Rich has it; Rich's own commands to the terminal are segments of another kind."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else visible(segment.text)
            yield segment if text == segment.text else segment._replace(text=text)


def echo(text: str = "", *, err: bool = False) -> None:
    """Print *text* as a line, on stderr if *err*."""
    typer.echo(visible(text), err=err)


def echo_json(value: Any) -> None:
    """Print *value* as JSON for programs; what JSON has no form for as text."""
    typer.echo(visible_json(json.dumps(value, ensure_ascii=False, indent=2, default=str)))
