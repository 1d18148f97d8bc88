"""Feeds and sites that give nothing any more, each told by its own rhythm, in words."""

from __future__ import annotations

from sqlalchemy import Connection

from qiaocrawl.language import _, ngettext
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.storage.sites.boards import BoardState, board_states
from qiaocrawl.storage.sites.sources import FeedSource, SilentSite, feed_sources, silent_sites
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.text.zones import china_time_at

_NAMED = 5
# A single failure mends itself more often than not.
_FAILURES_TOLD = 3


def state_words(one: FeedSource) -> str:
    """How a feed does, in the operator's language."""
    if one.state == "waiting":
        return _("not visited yet")
    if one.state == "moved":
        return _("moved; its new place is a feed of the topic now")
    if one.state == "no_feed":
        return _("answers with a page, which is no feed")
    if one.state == "failing":
        count = ngettext("the last visit failed", "{count} visits in a row failed", one.failures)
        return count + (_(": ") + shown_reason(one.reason) if one.reason else "")
    if one.state == "silent":
        return _silent_words(one)
    return _("well")


def board_words(one: BoardState) -> str:
    """How a hot list does."""
    if not one.fault:
        return state_words(one.source)
    count = ngettext("the last visit failed", "{count} visits in a row failed", one.source.failures)
    return count + _(": ") + shown_reason(one.fault)


def silence_alarms(c: Connection) -> list[str]:
    """A line a topic for feeds that need a hand, one for hot lists, and one for silent sites."""
    lines = []
    for topic in list_topics(c):
        name = topic.title or topic.name
        ill = [
            f"{one.name or one.url} ({state_words(one)})"
            for one in feed_sources(c, topic.name)
            if one.state in ("no_feed", "silent")
            or (one.state == "failing" and one.failures >= _FAILURES_TOLD)
        ]
        if ill:
            lines.append(
                _(
                    "{topic}: {count} feeds give nothing: {named}",
                    topic=name,
                    count=len(ill),
                    named=_some(ill),
                )
            )
        lists = [
            f"{one.source.name or one.source.url} ({board_words(one)})"
            for one in board_states(c, topic.name)
            if one.fault
            or one.source.state in ("no_feed", "silent")
            or (one.source.state == "failing" and one.source.failures >= _FAILURES_TOLD)
        ]
        if lists:
            lines.append(
                _(
                    "{topic}: {count} hot lists give nothing: {named}",
                    topic=name,
                    count=len(lists),
                    named=_some(lists),
                )
            )
        silent = [f"{one.host} ({_silent_words(one)})" for one in silent_sites(c, topic.name)]
        if silent:
            lines.append(
                _(
                    "{topic}: {count} sites became silent: {named}",
                    topic=name,
                    count=len(silent),
                    named=_some(silent),
                )
            )
    return lines


def _silent_words(one: FeedSource | SilentSite) -> str:
    usual = (
        _("{hours:.0f} hours", hours=max(one.every_hours, 1.0))
        if one.every_hours < 48
        else _("{days:.0f} days", days=one.every_hours / 24)
    )
    return _(
        "nothing new since {since}, usually every {usual}",
        since=china_time_at(one.changed_at),
        usual=usual,
    )


def _some(named: list[str]) -> str:
    more = len(named) - _NAMED
    shown = _("; ").join(named[:_NAMED])
    return shown + (ngettext("; and {count} more", "; and {count} more", more) if more > 0 else "")
