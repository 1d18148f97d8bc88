"""What a run came to, in a few lines for people; start pages from an operator's file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Outcome
from qiaocrawl.language import _
from qiaocrawl.options.project import command_here
from qiaocrawl.reading.outcome_names import end_name, outcome_name
from qiaocrawl.reading.summary import MISSED, HeldHost, held_words, more_held
from qiaocrawl.runtime.run_end import START_REFUSED, end_reason
from qiaocrawl.search.query import WITH_HITS, AnswerState
from qiaocrawl.storage.run_log import KNOWN_ARTICLES, NEW_ARTICLES, ON_TOPIC
from qiaocrawl.storage.search.ledger import NO_ANSWER
from qiaocrawl.storage.topics.changes import FewOnTopic

_MOST_HELD = 5
"""More are in `qiaocrawl report missed`."""


def article_numbers(stored: Collection[tuple[bool, frozenset[str]]], topic: str) -> dict[str, int]:
    """Statistics about the articles of a run: whether each is new, and the topics it is on."""
    new = sum(is_new for is_new, _ in stored)
    on_topic = sum(topic in topics for _, topics in stored)
    return {NEW_ARTICLES: new, KNOWN_ARTICLES: len(stored) - new, ON_TOPIC: on_topic}


def summary_lines(
    spider: str, topic: str, stats: Mapping[str, Any], held: Sequence[HeldHost] = ()
) -> Iterator[tuple[str, str]]:
    """Name and words of each line about a run of *spider* with these statistics.

    Args:
        held: hosts with URLs of the topic that wait because they refuse or are silent.
    """
    reason = end_reason(stats)
    yield _("ended"), end_name(reason)
    yield _("took"), _duration(stats.get("elapsed_time_seconds", 0.0))
    if spider == "search":
        yield from _search_lines(stats)
    else:
        yield from _page_lines(stats)
    waiting = _count(stats, "frontier/remaining")
    if waiting:
        yield _("waiting"), _("{count:,} URLs", count=waiting)
    for host in held[:_MOST_HELD]:
        yield host.host, held_words(host)
    if (more := len(held) - _MOST_HELD) > 0:
        yield "…", more_held(more)


def next_steps(
    spider: str, topic: str, stats: Mapping[str, Any], held: Sequence[HeldHost] = ()
) -> Iterator[str]:
    """What to do now: commands that work as they are, the most useful first.

    Args:
        held: as :func:`summary_lines` has them.
    """
    if _count(stats, "frontier/remaining"):
        yield _("the same command goes on")
    if spider == "search":
        yield command_here(f"qiaocrawl crawl pages -a topic={topic}")
        if _count_unanswered(stats):
            yield command_here(f"qiaocrawl report coverage {topic}")
        return
    if spider == "pages" and not _count(stats, "pages"):
        # Only a search brings pages to it.
        yield command_here(f"qiaocrawl run {topic}")
        return
    yield command_here(f"qiaocrawl article list --topic {topic} --only-relevant")
    yield command_here(f"qiaocrawl export --topic {topic} --only-relevant --format xlsx")
    is_refused = end_reason(stats) == START_REFUSED
    if _missed_outcomes(stats) or held or is_refused or _count(stats, "links/far_entries"):
        yield command_here(f"qiaocrawl report missed {topic}")


def few_lines(few: FewOnTopic) -> Iterator[str]:
    """Why hardly an article of a topic is on it, and what one step would do."""
    yield _("Few or none on topic. {why}", why=few.why)
    if few.remedy:
        yield few.remedy


def few_steps(few: FewOnTopic) -> Iterator[str]:
    """The commands that do it, the most useful first."""
    if few.line is None:
        yield command_here(f"qiaocrawl topic show {few.topic} --all")
        return
    lower = command_here(f"qiaocrawl topic threshold {few.topic} --line {few.line:.2f}")
    yield f"{lower} && {command_here('qiaocrawl reprocess --stage relevance --yes')}"


def _search_lines(stats: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    answers = {state: _count(stats, f"search/{state}") for state in AnswerState}
    hits = sum(answers[state] for state in WITH_HITS)
    yield (
        _("queries"),
        _("{count:,} asked, {hits:,} with hits", count=sum(answers.values()), hits=hits),
    )
    yield _("new URLs"), f"{_count(stats, 'search/new_urls'):,}"
    yield _("known"), _("{count:,} URLs", count=_count(stats, "search/known_urls"))
    missed = _count_unanswered(stats)
    if missed:
        yield _("no answer"), _("{count:,} queries", count=missed)


def _page_lines(stats: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    known = int(stats.get(KNOWN_ARTICLES, 0))
    yield _("pages"), f"{_count(stats, 'pages'):,}"
    yield _("new articles"), f"{int(stats.get(NEW_ARTICLES, 0)):,}"
    if known:
        yield _("known"), _("{count:,} articles, read again", count=known)
    yield _("on topic"), _("{count:,} articles", count=int(stats.get(ON_TOPIC, 0)))
    yield _("reprints"), _("{count:,} articles", count=_count(stats, "dedup/reprint"))
    missed = _missed_outcomes(stats)
    listed = _(", ").join(
        f"{outcome_name(outcome)} {number:,}" for outcome, number in missed.items()
    )
    if far := _count(stats, "links/far_entries"):
        words = _("{count:,} on hosts beyond this crawl: -a across=on follows them", count=far)
        yield _("entries left"), words
    if missed:
        yield _("missed"), _("{count:,} pages: {listed}", count=sum(missed.values()), listed=listed)


def _missed_outcomes(stats: Mapping[str, Any]) -> dict[Outcome, int]:
    """What hid pages in this run, the most first."""
    counts = {outcome: _count(stats, f"outcome/{outcome}") for outcome in MISSED}
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    return {outcome: count for outcome, count in ordered if count}


def _count_unanswered(stats: Mapping[str, Any]) -> int:
    return sum(_count(stats, f"search/{state}") for state in NO_ANSWER)


def _count(stats: Mapping[str, Any], name: str) -> int:
    return int(stats.get(f"qiaocrawl/{name}", 0))


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return _("{hours} h {minutes} min", hours=hours, minutes=minutes)
    if minutes:
        return _("{minutes} min {seconds} s", minutes=minutes, seconds=rest)
    return _("{seconds} s", seconds=rest)


# --- Start pages from a file that an operator has picked or written (T2) --------------------------


def read_seeds(file: str) -> list[str]:
    """The addresses in *file*, one a line; a ``#`` at the start of a line or after a space ends it.

    Raises:
        ConfigError: the file cannot be read as UTF-8, or holds no address.
    """
    try:
        text = Path(file).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            _("seeds={file}: the file cannot be read: {error}", file=file, error=error)
        ) from error
    # A fragment follows its address without a space: it is no comment.
    lines = (f" {line}".partition(" #")[0].strip() for line in text.splitlines())
    addresses = [line for line in lines if line]
    if not addresses:
        raise ConfigError(
            _("seeds={file}: no line is picked, all are empty or begin with #", file=file)
        )
    return addresses
