"""Early warning: rules an officer writes, one warning a story, told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.analysis.warnings.machine import Moment, muted, noted, step, unmuted
    from qiaocrawl.analysis.warnings.rules import QuietHours, Rule, RuleBook, read_rules
    from qiaocrawl.analysis.warnings.signals import First, StoryArticle, StorySignal, rule_hit
    from qiaocrawl.analysis.warnings.state import Message, StoryWarning
    from qiaocrawl.analysis.warnings.wording import message_text, message_title

__all__ = [
    "First",
    "Message",
    "Moment",
    "QuietHours",
    "Rule",
    "RuleBook",
    "StoryArticle",
    "StorySignal",
    "StoryWarning",
    "message_text",
    "message_title",
    "muted",
    "noted",
    "read_rules",
    "rule_hit",
    "step",
    "unmuted",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "machine": ("Moment", "muted", "noted", "step", "unmuted"),
        "rules": ("QuietHours", "Rule", "RuleBook", "read_rules"),
        "signals": ("First", "StoryArticle", "StorySignal", "rule_hit"),
        "state": ("Message", "StoryWarning"),
        "wording": ("message_text", "message_title"),
    },
)
