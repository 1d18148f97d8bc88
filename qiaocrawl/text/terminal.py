"""A terminal that no page can steer."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from qiaocrawl.text.visible import visible


class Terminal(Console):
    """A console that shows text without its control characters."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As Rich has it; Rich's own commands to the terminal are segments of another kind."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else visible(segment.text)
            yield segment if text == segment.text else segment._replace(text=text)
