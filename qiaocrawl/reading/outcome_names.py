"""What outcomes of URLs are called, the same on every screen; and what to do about misses."""

from __future__ import annotations

from typing import NamedTuple

from qiaocrawl.items import Outcome
from qiaocrawl.language import ENGLISH, N_, _, language
from qiaocrawl.storage.schema import State

OUTCOME_NAMES: dict[Outcome | str, str] = {
    Outcome.ARTICLE: N_("articles"),
    Outcome.PART: N_("later parts of articles"),
    Outcome.LIST: N_("list pages"),
    Outcome.REDIRECT: N_("redirects"),
    Outcome.ALIAS: N_("other addresses of pages"),
    Outcome.DEAD: N_("dead"),
    Outcome.SOFT_404: N_("soft 404"),
    Outcome.UNREACHABLE: N_("unreachable"),
    Outcome.NOT_ARTICLE: N_("no article"),
    Outcome.SCANNED: N_("scanned document"),
    Outcome.NOT_HTML: N_("not HTML"),
    Outcome.NEEDS_RENDERING: N_("needs rendering"),
    Outcome.LOGIN: N_("login wall"),
    Outcome.ROBOTS: N_("refused by robots.txt"),
    Outcome.BLOCKED: N_("forbidden"),
    Outcome.TOO_LARGE: N_("too large"),
    Outcome.REFUSED: N_("refused"),
    Outcome.POISON: N_("set aside"),
    Outcome.SITEMAP: N_("sitemaps"),
    Outcome.FEED: N_("feeds"),
    Outcome.NOT_MODIFIED: N_("not modified"),
    Outcome.TRAP: N_("left as traps"),
    Outcome.PRUNED: N_("left out by the crawl order"),
    Outcome.POSTPONED: N_("postponed by a guess"),
    "waiting": N_("waiting"),
}
"""In the order they are shown."""


class Advice(NamedTuple):
    """What an operator can do about pages that were missed; ``command`` works as it is."""

    words: str
    """A message."""
    command: str = ""


def _retry(outcome: Outcome) -> str:
    return f"qiaocrawl url retry --outcome {outcome}"


ADVICE = {
    Outcome.NEEDS_RENDERING: Advice(
        N_(
            "install Chromium and scrapy-playwright, let them wait again,"
            " crawl with QIAO_RENDER=auto"
        ),
        _retry(Outcome.NEEDS_RENDERING),
    ),
    Outcome.LOGIN: Advice(
        N_("log in with an account (qiaocrawl session add), let them wait again"),
        _retry(Outcome.LOGIN),
    ),
    Outcome.ROBOTS: Advice(N_("the site forbids robots: ask it, or read them by hand")),
    Outcome.BLOCKED: Advice(
        N_("let them wait again, crawl slower (-s DOWNLOAD_DELAY=5) or by a proxy"),
        _retry(Outcome.BLOCKED),
    ),
    Outcome.UNREACHABLE: Advice(
        N_("look at network and address, let them wait again"), _retry(Outcome.UNREACHABLE)
    ),
    Outcome.REFUSED: Advice(
        N_(
            "a start page at an address nobody allowed: correct it, or name it in"
            " QIAO_ALLOW_ADDRESSES"
        )
    ),
    Outcome.DEAD: Advice(N_("a start page that is gone: give the site another")),
    Outcome.REDIRECT: Advice(
        N_("a start page that leads to another host: start there, or follow it with -a across=on")
    ),
    Outcome.TOO_LARGE: Advice(
        N_("raise DOWNLOAD_MAXSIZE, let them wait again"), _retry(Outcome.TOO_LARGE)
    ),
    Outcome.SCANNED: Advice(N_("pictures of pages: read them by hand")),
    Outcome.POISON: Advice(N_("read them once more"), "qiaocrawl reprocess --stage extract"),
    Outcome.TRAP: Advice(N_("if that is wrong, allow them by QIAO_TRAPS_ALLOWED=HOST/PATH/*")),
}


STATE_NAMES = {
    State.PENDING: N_("waiting"),
    State.LEASED: N_("being fetched"),
    State.FETCHED: N_("fetched, waits for analysis"),
    State.DONE: N_("was fetched"),
    State.FAILED: N_("given up"),
    State.SET_ASIDE: N_("set aside"),
}
"""Where a URL stands."""


def outcome_name(outcome: Outcome | str) -> str:
    """What *outcome* is called in the operator's language."""
    return _(OUTCOME_NAMES.get(outcome, outcome))


def outcome_with_code(outcome: Outcome | str) -> str:
    """The same with the word that options take; in English that word stands alone."""
    return str(outcome) if language() == ENGLISH else f"{outcome_name(outcome)} ({outcome})"


# --- What the ends of runs are called, the same on every screen -----------------------------------

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
