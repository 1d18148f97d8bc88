"""Options that several commands share, and commands with more of them than a function takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qiaocrawl.cli.moments import end_of, start_of
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.topic.pack import MAX_TIER, MIN_TIER

if TYPE_CHECKING:
    from qiaocrawl.storage.selection import Selection


def combined(
    *kinds: Callable[..., Any],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command that takes the options of all *kinds*.

    The function it is made of gets what each of *kinds* returns for its own options.
    """
    options = {kind: inspect.signature(kind, eval_str=True).parameters for kind in kinds}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        def run(**given: Any) -> None:
            command(*(kind(**{name: given[name] for name in options[kind]}) for kind in kinds))

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            # By name only: then one without a default may stand behind one that has one.
            [
                option.replace(kind=inspect.Parameter.KEYWORD_ONLY)
                for kind in kinds
                for option in options[kind].values()
            ]
        )
        return run

    return decorate


def publication_choice(
    since: Annotated[
        str, typer.Option(help="Published since: today, yesterday, 7d, 2026-03-05.")
    ] = "",
    until: Annotated[str, typer.Option(help="Published until, that day too.")] = "",
) -> dict[str, Any]:
    """When articles came out, in China's time; one without a date counts by its fetch."""
    return {"since": start_of(since, "--since"), "before": end_of(until, "--until")}


def outlet_choice(
    site: Annotated[
        list[str] | None, typer.Option(help="Only this host and what is below it.")
    ] = None,
    region: Annotated[
        list[str] | None, typer.Option(help="Only sites of this region of the topic.")
    ] = None,
    tier: Annotated[list[int] | None, typer.Option(help="Only sites of this tier, 1 to 5.")] = None,
) -> dict[str, Any]:
    """Who published them; each may be given several times."""
    wrong = [number for number in tier or () if not MIN_TIER <= number <= MAX_TIER]
    if wrong:
        raise ConfigError(
            _(
                "--tier must be {low} to {high}, got {wrong}",
                low=MIN_TIER,
                high=MAX_TIER,
                wrong=wrong[0],
            )
        )
    return {
        "sites": tuple(site or ()),
        "regions": tuple(region or ()),
        "tiers": tuple(tier or ()),
    }


def topic_choice(
    topic: Annotated[str, typer.Option(help="Only what concerns this topic.")] = "",
    term: Annotated[
        list[str] | None, typer.Option(help="Only where this term of the topic counted.")
    ] = None,
    only_relevant: Annotated[
        bool, typer.Option("--only-relevant", help="Only what is on topic.")
    ] = False,
    class_: Annotated[
        list[str] | None,
        typer.Option("--class", help="Only of this class of the topic (unsure: of none)."),
    ] = None,
) -> dict[str, Any]:
    """What they are about."""
    classes: tuple[str, ...] = ()
    if class_:
        from qiaocrawl.storage.topics.classes import class_named

        classes = tuple(map(class_named, class_))
    return {
        "topic": topic or None, "terms": tuple(term or ()), "only_relevant": only_relevant,
        "classes": classes,
    }  # fmt: skip


def words_choice(
    words: Annotated[str, typer.Option(help="Only with all these words, in either script.")] = "",
) -> dict[str, Any]:
    """What they say."""
    return {"words": tuple(words.split())}


def selection_of(*choices: dict[str, Any], **more: Any) -> Selection:
    """The selection that *choices* and *more* name."""
    from qiaocrawl.storage.selection import Selection

    values = {name: value for choice in (*choices, more) for name, value in choice.items()}
    return Selection(**values)
