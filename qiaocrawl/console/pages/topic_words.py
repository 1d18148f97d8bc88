"""Words proposed for a topic, a key each, and its threshold."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from dataclasses import field as dataclass_field
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.crawl_scorer import (
    MOVED,
    Stale,
    crawl_scorer,
    is_stale,
    move_line,
    threshold_of,
    wanted_threshold,
)
from qiaocrawl.console.forms import field, topic_of_path, whole_number
from qiaocrawl.console.page import (
    EDITOR,
    Page,
    actor_of,
    console_of,
    link,
    read,
    read_heavy,
    user_of,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.errors import ConfigError
from qiaocrawl.jobs.requests import JUDGE, checked_request
from qiaocrawl.language import _
from qiaocrawl.lexicon.build import Candidate, LexiconBuilder, candidates
from qiaocrawl.lexicon.decisions import ACTIONS, Decision, action_of
from qiaocrawl.lexicon.expansion import expansion
from qiaocrawl.lexicon.terms import Document
from qiaocrawl.ontology.sources import current_ontology
from qiaocrawl.options import Options
from qiaocrawl.storage.audit_log import last_entry, record
from qiaocrawl.storage.pages.articles import iter_texts
from qiaocrawl.storage.topics.changes import basis_of, few_on_topic, threshold_view
from qiaocrawl.storage.topics.judgements import judged_pack
from qiaocrawl.storage.topics.lexicon_decisions import decide, list_decisions, rejected_words, undo
from qiaocrawl.storage.topics.topics import load_pack, load_pack_to_change
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import TERM_KINDS, TopicPack

MOST_TEXTS, MOST_WORDS = 1_000, 100
_HISTORY_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Review:
    """The words proposed for a topic, best first, and sentences that say them."""

    words: Sequence[Candidate]
    examples: Mapping[str, Sequence[str]]


@dataclass(slots=True)
class _Reviews:
    """The last review of each topic: making one reads up to a thousand texts."""

    by_topic: dict[str, Review] = dataclass_field(default_factory=dict)
    lock: threading.Lock = dataclass_field(default_factory=threading.Lock)


def _reviews(request: Request) -> _Reviews:
    """The reviews of the console *request* is for."""
    state = request.app.state
    if not hasattr(state, "reviews"):
        state.reviews = _Reviews()
    reviews: _Reviews = state.reviews
    return reviews


async def words(request: Request) -> Response:
    """The next word to decide about; before the first, a button that looks for words."""
    name = await topic_of_path(request)
    review = _reviews(request).by_topic.get(name)
    open_words = [] if review is None else await read(request, _undecided_words, name, review)
    word = open_words[0] if open_words else None
    examples = review.examples.get(fold(word.text), ()) if review and word else ()
    return render(
        request,
        "topics/words.html",
        name=name,
        word=word,
        left=len(open_words),
        is_made=review is not None,
        examples=examples,
        kinds=TERM_KINDS,
        actions=ACTIONS,
        most_texts=MOST_TEXTS,
        history=await read(request, list_decisions, name, _HISTORY_SHOWN),
    )


def _undecided_words(c: Connection, topic: str, review: Review) -> list[Candidate]:
    known = {fold(term.text) for term in load_pack(c, topic).terms} | rejected_words(c, topic)
    return [word for word in review.words if fold(word.text) not in known]


async def collect(request: Request) -> Response:
    """Look for words in the texts on topic, and beside the topic's terms."""
    name = await topic_of_path(request)
    reviews = _reviews(request)
    reviews.by_topic[name] = await read_heavy(request, _review_words, name, reviews.lock)
    return _back(request, name)


def _review_words(c: Connection, topic: str, lock: threading.Lock) -> Review:
    pack = load_pack(c, topic)
    builder = LexiconBuilder([term.text for term in pack.terms])
    # One at a time: it takes a processor for some seconds.
    with lock:
        for text in islice(iter_texts(c, topic, None), MOST_TEXTS):
            builder.add(Document(text.title, text.text, text.site, "", text.url))
        lexicon = builder.lexicon()
        proposals = expansion(
            pack.terms,
            ontology=current_ontology(),
            neighbours=builder.neighbours(),
            stated=lexicon.aliases,
        )
        known = {fold(term.text) for term in pack.terms} | rejected_words(c, topic)
        best = candidates(lexicon, proposals, known=known, count=MOST_WORDS)
        return Review(best, builder.examples([fold(word.text) for word in best]))


async def decide_word(request: Request) -> Response:
    """Accept, reject or merge a word, or put it off."""
    name = await topic_of_path(request)
    action, text = await field(request, "action"), await field(request, "word", 100)
    if action == "skip":
        _put_off(_reviews(request), name, text)
        return _back(request, name)
    decision = Decision(
        text,
        action_of(action),
        _weight(await field(request, "weight")),
        await field(request, "kind") or None,
        await field(request, "synonym_of", 100),
        await field(request, "note", 2_000),
    )
    await take_decision(request, name, decision)
    return _back(request, name)


async def take_decision(request: Request, name: str, decision: Decision) -> None:
    """Let *decision* hold for the topic called *name*, and note it."""
    actor, by, text = actor_of(request), user_of(request).name, decision.text

    def take(c: Connection) -> None:
        before = _state(load_pack_to_change(c, name), text)
        pack = decide(c, name, [decision], by=by, now=datetime.now(UTC))
        after = _state(pack, text)
        if decision.action == "merge":
            after = {**(after or {}), "synonym_of": decision.synonym_of}
        record(c, actor, f"word.{decision.action}", f"{name}: {text}", before, after)

    await write(request, take)


def _state(pack: TopicPack, word: str) -> dict[str, Any] | None:
    """What the topic has under *word*, for the log of changes; None for nothing."""
    key = fold(word)
    return next((asdict(term) for term in pack.terms if fold(term.text) == key), None)


def _put_off(reviews: _Reviews, topic: str, text: str) -> None:
    """Let a word come last."""
    review = reviews.by_topic.get(topic)
    if review is not None:
        later = [word for word in review.words if word.text == text]
        rest = [word for word in review.words if word.text != text]
        reviews.by_topic[topic] = Review([*rest, *later], review.examples)


def _weight(text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise ConfigError(_("weight {weight!r} must be a number", weight=text)) from None


async def undo_last(request: Request) -> Response:
    """Take the last decision back."""
    name, actor = await topic_of_path(request), actor_of(request)

    def take_back(c: Connection) -> None:
        before = load_pack_to_change(c, name)
        for entry in undo(c, name, since=None, last=1, now=datetime.now(UTC)):
            word = entry.decision.text
            states = _state(before, word), _state(load_pack(c, name), word)
            record(c, actor, "word.undo", f"{name}: {word}", *states)

    await write(request, take_back)
    return _back(request, name)


def _back(request: Request, name: str) -> Response:
    return RedirectResponse(link(request, "topics.words", topic=name), 303)


PAGES = (
    Page("/topics/{topic}/words", "topics.words", words),
    Page("/topics/{topic}/words", "topics.decide", decide_word, EDITOR, "POST"),
    Page("/topics/{topic}/words/collect", "topics.collect", collect, EDITOR, "POST"),
    Page("/topics/{topic}/words/undo", "topics.undo", undo_last, EDITOR, "POST"),
)


# --- The threshold of a topic: the articles next to it, what another would turn, and setting it

_AROUND_THRESHOLD = 10


async def show_threshold(request: Request) -> Response:
    """The articles next to a score, and what it would turn if it were the threshold."""
    topic = await topic_of_path(request)
    pack = await read(request, judged_pack, topic)
    scorer = await run_in_threadpool(crawl_scorer, pack)
    present = threshold_of(scorer)
    percent = whole_number(request, "percent", round(100 * present), 1, 100)
    last = await read(request, last_entry, MOVED, topic)
    view = await read(request, threshold_view, topic, percent / 100, _AROUND_THRESHOLD)
    basis = await read(request, basis_of, topic)
    return render(
        request,
        "topics/threshold.html",
        pack=pack,
        percent=percent,
        present=present,
        view=view,
        is_stale=await read(request, is_stale, scorer, view),
        basis=basis,
        few=await read(request, few_on_topic, topic),
        method=Options.from_environment()["QIAO_RELEVANCE_METHOD"],
        is_moved=percent != round(100 * present),
        judge=JUDGE,
        moved=json.loads(last.after) if last and "moved" in request.query_params else None,
        wanted=wanted_threshold(scorer, percent / 100),
    )


async def move(request: Request) -> Response:
    """Give the topic the threshold that puts the line at a score; crawls judge by it at once.

    With ``judge`` the stored articles are judged anew by it, too.
    """
    topic, actor = await topic_of_path(request), actor_of(request)
    score, judges = _score(await field(request, "percent")), await field(request, "judge") == "yes"
    page = link(request, "topics.threshold", topic=topic)
    try:
        await write(request, move_line, actor, topic, score)
    except Stale:
        if not judges:
            raise
        # The page says so, and has the button that judges them anew.
        return RedirectResponse(f"{page}?percent={round(100 * score)}", 303)
    if not judges:
        return RedirectResponse(f"{page}?moved=1", 303)
    wanted = await read(request, lambda c: checked_request(c, {}, spider=JUDGE, topic=topic))
    job_id = await run_in_threadpool(console_of(request).jobs.desk.request, wanted, actor.name)
    await write(
        request, record, actor, "job.start", f"{job_id}", None, {"spider": JUDGE, "topic": topic}
    )
    return RedirectResponse(link(request, "jobs.job", job_id=job_id), 303)


def _score(percent: str) -> float:
    is_number = percent.isascii() and percent.isdigit() and len(percent) <= 3
    if not is_number or not 1 <= int(percent) <= 100:
        raise ConfigError(
            _("threshold {value!r} must be a whole number from 1 to 100", value=percent)
        )
    return int(percent) / 100


THRESHOLD = (
    Page("/topics/{topic}/threshold", "topics.threshold", show_threshold),
    Page("/topics/{topic}/threshold", "topics.move_threshold", move, EDITOR, "POST"),
)
