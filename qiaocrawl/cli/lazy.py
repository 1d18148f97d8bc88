"""Commands that are imported when they are called, so that help costs nothing."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from qiaocrawl.cli.help_language import localise_parameters, localised, localised_errors


class CommandEntry(NamedTuple):
    """One row of the table of commands."""

    name: str
    home: str
    """``module:attribute`` of a function, or of a ``typer.Typer`` with commands of its own."""
    panel: str
    """The heading it is listed under."""
    help: str
    """The line in the list of commands, as the command's own help begins."""

    @property
    def passes_on(self) -> bool:
        """Whether it hands options it does not know on to another program."""
        return self.home.endswith(":crawl")


class Unloaded(TyperCommand):
    """Stands in the list of commands for one that is not imported yet."""

    def __init__(self, entry: CommandEntry) -> None:
        super().__init__(entry.name, help=entry.help, rich_help_panel=entry.panel)
        self.entry = entry


class _LazyGroup(TyperGroup):
    """Loads a command of its table when it is called."""

    table: tuple[CommandEntry, ...] = ()

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # In the order of the table; what was registered as usual comes last.
        self.commands = {entry.name: Unloaded(entry) for entry in self.table} | dict(self.commands)
        localised(self)

    def make_context(self, *args: Any, **settings: Any) -> Any:
        """As Typer has it; what is wrong is said in the operator's language."""
        # Typer adds options of its own to the group it has made.
        localise_parameters(self)
        with localised_errors():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: Any) -> Any:
        """As Typer has it; what is wrong is said in the operator's language."""
        with localised_errors():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command itself, where the list has a stand-in."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(command.entry) if isinstance(command, Unloaded) else command, rest


def lazy_group(entries: Iterable[CommandEntry]) -> type[TyperGroup]:
    """The class of a group with the commands of *entries*, for ``typer.Typer(cls=…)``."""
    return type("LazyGroup", (_LazyGroup,), {"table": tuple(entries)})


def load(entry: CommandEntry) -> Any:
    """Import the command of *entry*."""
    module, _, attribute = entry.home.partition(":")
    target = getattr(import_module(module), attribute)
    if isinstance(target, typer.Typer):
        return localised(get_group(target))
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    # A spider's own -a and -s are Scrapy's matter.
    passes_on = {"allow_extra_args": True, "ignore_unknown_options": True}
    single.command(entry.name, context_settings=passes_on if entry.passes_on else None)(target)
    return localised(get_command(single))
