"""What the states of stories and their changes are called, for the language of who reads."""

from __future__ import annotations

from collections.abc import Mapping

from qiaocrawl.language import N_

STATE_NAMES: Mapping[str, str] = {
    "awake": N_("goes on"), "asleep": N_("rests"), "ended": N_("is over"),
    "merged": N_("is part of another"),
}  # fmt: skip
CHANGE_NAMES: Mapping[str, str] = {
    "opened": N_("began"), "joined": N_("article joined"), "merged": N_("stories became one"),
    "split": N_("was split"), "slept": N_("fell asleep"), "woke": N_("woke up"),
    "ended": N_("ended"),
}  # fmt: skip
