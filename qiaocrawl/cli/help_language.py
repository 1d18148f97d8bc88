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
from rich.table import Column, Table
from rich.text import Text
from typer.core import TyperArgument
from typer.exceptions import TyperException

from qiaocrawl.cli.output import echo, print_hanging
from qiaocrawl.language import N_, _
from qiaocrawl.text.visible import Terminal

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
# What a value is, by Typer's name for its type.
_KINDS = {
    "str": N_("TEXT"),
    "int": N_("NUMBER"),
    "float": N_("NUMBER"),
    "int range": N_("NUMBER"),
    "float range": N_("NUMBER"),
    "path": N_("PATH"),
    "file": N_("FILE"),
    "directory": N_("FOLDER"),
}
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
        _show_value(parameter)


def _show_value(parameter: Any) -> None:
    """Let help say in words what *parameter* takes, where Typer says ``{topic}``, ``<int range>``.

    An argument is called as pages of the manual call it: TOPIC, [TOPIC].
    """
    if getattr(parameter, "has_words_for_values", False):
        return
    parameter.has_words_for_values = True
    is_argument = isinstance(parameter, TyperArgument)
    if is_argument:
        many = "..." if parameter.nargs != 1 else ""
        shown = parameter.metavar or f"{parameter.name.upper()}{many}"
        parameter.metavar = shown
        usage = shown if parameter.required else f"[{shown}]"
        parameter._usage_display_name = lambda: usage
    parameter.display_type_rich = partial(_kind_of_value, parameter, parameter.display_type)
    parameter._get_number_range_help_str = partial(_bounds, parameter)


def _kind_of_value(parameter: Any, display_type: Callable[[Any], str], ctx: Any) -> str | None:
    """What a value of *parameter* is, in a word; None for a flag and for words at their place."""
    if getattr(parameter, "is_flag", False):
        return None
    if parameter.metavar and not isinstance(parameter, TyperArgument):
        return str(parameter.metavar)
    kind = display_type(ctx).strip("<>")
    is_list = kind.startswith("list[")
    kind = kind.removeprefix("list[").rstrip("]") if is_list else kind
    if isinstance(parameter, TyperArgument) and kind == "str":
        return None
    # Those of a choice are given as they are.
    shown = _(_KINDS[kind]) if kind in _KINDS else kind
    return f"{shown} …" if is_list and not isinstance(parameter, TyperArgument) else shown


def _bounds(parameter: Any) -> str | None:
    """From where to where a number may go."""
    low, high = getattr(parameter, "min", None), getattr(parameter, "max", None)
    if low is None and high is None:
        return None
    if high is None:
        return f"≥ {low}"
    return f"≤ {high}" if low is None else f"{low}–{high}"


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
        _show_value(option)
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


def print_command_list(group: Any, context: Any) -> str:
    """The help of *group*: a heading for each panel, a line for each command, nothing hidden.

    Returns:
        Its last line, for who prints the rest of the help, if only a line end.
    """
    console = Terminal(highlight=False)
    for text in (group.get_usage(context), *group.help.split("\n\n")):
        print_hanging(console, " ".join(text.split()))
    shown = [command for command in group.commands.values() if not command.hidden]
    width = max(len(command.name) for command in shown)
    for panel in dict.fromkeys(command.rich_help_panel for command in shown):
        console.print(Text(panel, style="bold"))
        table = Table.grid(Column(width=width + 2, no_wrap=True), Column(), padding=(0, 2, 0, 0))
        for command in shown:
            if command.rich_help_panel == panel:
                table.add_row(
                    Text(f"  {command.name}", style="cyan"),
                    Text(command.help),
                )
        console.print(table)
    return _("{command} COMMAND --help: the options of one.", command=context.command_path)
