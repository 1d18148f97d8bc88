"""Help and usage errors in the operator's language, in one place.

Docstrings of commands, ``help=`` of their options and Typer's own words stand in English where
they are written; they are translated here, when a command is built or its error is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import typer
from typer.exceptions import TyperException

from qiaocrawl.cli.output import echo
from qiaocrawl.language import N_, _

# Typer's own words, by the name its module has for them.
_TYPER_WORDS = {
    "ARGUMENTS_PANEL_TITLE": N_("Arguments"),
    "OPTIONS_PANEL_TITLE": N_("Options"),
    "COMMANDS_PANEL_TITLE": N_("Commands"),
    "ERRORS_PANEL_TITLE": N_("Error"),
    "DEFAULT_STRING": N_("[default: {}]"),
    "REQUIRED_LONG_STRING": N_("[required]"),
    "RICH_HELP": N_("Try [blue]'{command_path} {help_option}'[/] for help."),
}
_USAGE, _THIS_HELP = N_("Usage: "), N_("Show this message and exit.")
_METAVARS = {"options_metavar": N_("[OPTIONS]"), "subcommand_metavar": N_("COMMAND [ARGS]...")}
# What is wrong with a command line, as Typer and pydantic say it; the first that fits counts.
_USAGE_ERRORS = (
    N_("Missing command."),
    N_("Missing argument {name}."),
    N_("Missing option {name}."),
    N_("No such option: {name} (Possible options: {names})"),
    N_("No such option: {name}"),
    N_("No such command {name}. Did you mean {names}?"),
    N_("No such command {name}."),
    N_("Got unexpected extra argument(s) ({names})"),
    N_("Option {name} does not take a value."),
    N_("Option {name} requires an argument."),
    N_("Invalid value for {name}: {reason}"),
    N_("Input should be a valid integer, unable to parse string as an integer"),
    N_("Input should be a valid number, unable to parse string as a number"),
    N_("Input should be greater than or equal to {value}"),
    N_("Input should be less than or equal to {value}"),
    N_("Value error, {value} is not one of {names}."),
)
_PLACE = re.compile(r"\\\{(\w+)\\\}")


def localise(command: Any) -> Any:
    """*command* and all below it with help in the operator's language."""
    # A group localises what it holds, and is itself part of one that does.
    if getattr(command, "is_localised", False):
        return command
    command.is_localised = True
    for name in ("help", "short_help", "rich_help_panel"):
        _translate(command, name)
    for name in _METAVARS:
        _translate(command, name)
    localise_parameters(command)
    for part in getattr(command, "commands", {}).values():
        localise(part)
    command.get_usage = partial(_usage, command.get_usage)
    command.get_help_option = partial(_help_option, command.get_help_option)
    return command


def localise_parameters(command: Any) -> None:
    """Help of the options and arguments of *command* in the operator's language."""
    for parameter in command.params:
        _translate(parameter, "help")
        _hide_type_of_flag(parameter)


def _hide_type_of_flag(option: Any) -> None:
    """Let the help of a flag, which takes no value, name no type; Typer says ``<bool>``."""
    if getattr(option, "is_flag", False):
        option.display_type_rich = lambda ctx: None  # noqa: ARG005 (called with its name)


def _translate(part: Any, name: str) -> None:
    text = getattr(part, name, None)
    # Typer has a placeholder of its own where no panel was named.
    if isinstance(text, str):
        setattr(part, name, _(text))


def _usage(usage: Callable[[Any], str], context: Any) -> str:
    """The line above every help and every usage error: the first Typer asks for."""
    import typer.rich_utils

    import qiaocrawl.cli.output  # noqa: F401 (lets rich break lines between Chinese characters)

    for name, text in _TYPER_WORDS.items():
        setattr(typer.rich_utils, name, _(text))
    return _(_USAGE) + usage(context).removeprefix(_USAGE)


def _help_option(help_option: Callable[[Any], Any], context: Any) -> Any:
    option = help_option(context)
    if option is not None:
        option.help = _(_THIS_HELP)
        _hide_type_of_flag(option)
    return option


@contextmanager
def localised_errors() -> Iterator[None]:
    """Errors about the command line that leave the block say it in the operator's language."""
    try:
        yield
    except typer.Abort:
        echo(_("Aborted."), err=True)
        raise typer.Exit(1) from None
    except TyperException as error:
        text = usage_error(error.format_message()) + _what_was_given(error)
        error.format_message = lambda: text  # type: ignore[method-assign]
        raise


def _what_was_given(error: TyperException) -> str:
    """The wrong value, where Typer only says what it should be."""
    # Of pydantic's error, which Typer does not hide.
    faults: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()
    given = repr(faults[0]["input"]) if faults else ""
    is_said = not given or given in error.format_message()
    return "" if is_said else _(", got {value}", value=given)


def usage_error(text: str) -> str:
    """*text*, which Typer says in English, in the operator's language; as it is if unknown."""
    for template in _USAGE_ERRORS:
        match = re.fullmatch(_PLACE.sub(r"(?P<\1>.+?)", re.escape(template)), text, re.DOTALL)
        if match is not None:
            values = {name: usage_error(value) for name, value in match.groupdict().items()}
            return _(template, **values)
    return text
