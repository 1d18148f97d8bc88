"""What a rule asks for, in the language of who reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from qiaocrawl.analysis.warnings.rule_tables import clock
from qiaocrawl.language import N_, _

if TYPE_CHECKING:
    from qiaocrawl.analysis.warnings.rules import FirstKind, QuietHours, Rule

FIRST_NAMES: Mapping[FirstKind, str] = {
    "place": N_("a place"), "body": N_("a body"), "outlet": N_("an outlet"),
}  # fmt: skip


def rule_conditions(rule: Rule) -> list[str]:
    """Its conditions, all of which must hold; one that says so where it has none."""
    return [*_of_articles(rule), *_of_story(rule)] or [_("every story")]


def quiet_text(quiet: QuietHours) -> str:
    """When it is quiet."""
    parts = []
    if quiet.begin != quiet.end:
        parts.append(_("{begin} to {end}", begin=clock(quiet.begin), end=clock(quiet.end)))
    if quiet.days_off:
        parts.append(_("days off"))
    return _(", ").join(parts) or _("never")


def _of_articles(rule: Rule) -> Iterator[str]:
    if rule.topic:
        yield _("topic {name}", name=rule.topic)
    for text, words in ((N_("any of: {words}"), rule.any_of), (N_("all of: {words}"), rule.all_of),
                        (N_("none of: {words}"), rule.none_of)):  # fmt: skip
        if words:
            yield _(text, words=_(", ").join(words))
    if rule.most_tier is not None:
        yield _("sites of tier {tier} or better", tier=rule.most_tier)
    if rule.least_articles > 1:
        yield _("articles: {least} at least", least=rule.least_articles)
    if rule.least_outlets > 1:
        yield _("outlets: {least} at least", least=rule.least_outlets)
    if rule.within_hours:
        yield _("within {hours:g} h", hours=rule.within_hours)


def _of_story(rule: Rule) -> Iterator[str]:
    if rule.least_negative is not None:
        yield _("negative: {percent:g} % at least", percent=round(100 * rule.least_negative, 2))
    if rule.least_deviation is not None:
        yield _("{value:g} standard deviations above the usual at least",
                value=rule.least_deviation)  # fmt: skip
    if rule.in_burst:
        yield _("it bursts")
    if rule.first:
        kinds = _(", ").join(_(FIRST_NAMES[kind]) for kind in rule.first)
        yield _("told of for the first time: {kinds}", kinds=kinds)
