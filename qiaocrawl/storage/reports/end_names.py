"""What the ends of runs are called, the same on every screen."""

from __future__ import annotations

from qiaocrawl.language import N_, _

_ENDS = {
    "finished": N_("finished"),
    "limit_pages": N_("as many pages as allowed"),
    "limit_pages_per_host": N_("as many pages of each site as allowed"),
    "limit_seconds": N_("as long as allowed"),
    "below_threshold": N_("what is left is off topic"),
    "hosts_given_up": N_("the hosts that are left refuse or are silent"),
    "shutdown": N_("stopped by the operator"),
    "memusage_exceeded": N_("out of memory"),
    "storage_error": N_("the database failed"),
    "schema_changed": N_("the database was upgraded for another version"),
    "internal_error": N_("an error of the crawler"),
    "nobody_answered": N_("no host answered"),
    "start_page_refused": N_("a start page may not be fetched"),
    "feed_error": N_("a feed could not be written"),
    "start_page_set_aside": N_("a start page could not be read"),
}


def end_name(reason: str) -> str:
    """Why a run ended, as its record has it, in the operator's language."""
    return _(_ENDS.get(reason, reason or N_("not at its end")))
