"""Why two articles are of one story, or are not: all that is weighed, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, select

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.news.stories import stored
from qiaocrawl.news.stories.desk import StoryDesk
from qiaocrawl.news.stories.evidence import KINDS, agreement, missing_names
from qiaocrawl.news.stories.linking import DAY_SECONDS, Pairs, pause_days, product_of, score_of
from qiaocrawl.news.stories.lists import StoryEvent, changes_of, one_story
from qiaocrawl.news.stories.story import Item, Story, Voice, story_of
from qiaocrawl.news.stories.terms import SCALE, Terms
from qiaocrawl.storage.schema import article, story_article, url
from qiaocrawl.storage.topics.topics import list_topics, load_pack

KIND_NAMES: Mapping[str, str] = {
    "place": N_("places"),
    "person": N_("persons"),
    "name": N_("names of other things"),
    "number": N_("figures"),
}
_MOST_WORDS = 12


@dataclass(frozen=True, slots=True)
class Weighed:
    """One of the two articles."""

    url: str
    title: str
    story: int | None
    is_round_up: bool


@dataclass(frozen=True, slots=True)
class Why:
    """What speaks for two articles telling one happening, and what against it.

    Args:
        is_reprint: one has the text of the other: nothing else is asked.
        likeness: of their words alone.
        words: those both say, with the share of the likeness that each makes.
        shared: of each kind what both name.
        conflicts: of each kind what either names, where nothing is the same.
        missing: the names of either headline that the other text does not have.
        left: what is left of the likeness.
        gap_days: between their publications; None where one is unknown.
        pause_days: after so many days what is left counts half.
        score: what comes of it.
        threshold: from this score on two texts are of one story.
        story_score: of their two stories as they stand; None where they are in one, or one is over.
        changes: how their story came about, or their stories.
    """

    first: Weighed
    second: Weighed
    is_reprint: bool
    likeness: float
    words: tuple[tuple[str, float], ...]
    shared: Mapping[str, tuple[str, ...]]
    conflicts: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    missing: tuple[tuple[str, ...], tuple[str, ...]]
    left: float
    gap_days: float | None
    pause_days: float
    score: float
    threshold: float
    story_score: float | None
    changes: tuple[StoryEvent, ...]


def explain(c: Connection, first: int, second: int) -> Why:
    """Why the articles *first* and *second* (row ids) are of one story, or are not.

    Words are weighed by how common they are now, which may differ a little from when they came.

    Raises:
        ConfigError: there is no such article, or both are the same.
    """
    if first == second:
        raise ConfigError(_("an article cannot be compared with itself: {number}", number=first))
    read = stored.read_items(c, [first, second])
    statement = (
        select(
            article.c.id,
            url.c.url,
            story_article.c.story_id,
            story_article.c.voice_url_id,
        )
        .join(url, url.c.id == article.c.url_id)
        .outerjoin(story_article, story_article.c.url_id == url.c.id)
        .where(article.c.id.in_([first, second]))
    )
    rows = {row.id: row for row in c.execute(statement)}
    for number in (first, second):
        if number not in rows:
            raise ConfigError(_("no article has the number {number}", number=number))
    own, other = read[first], read[second]
    packs = (load_pack(c, topic.name) for topic in list_topics(c))
    words = sorted({term.text for pack in packs for term in pack.terms})
    desk = StoryDesk(background=stored.load_background(c), words=words)
    desk.restore(stored.read_clock(c).desk, ())
    terms = desk.voices.terms(own), desk.voices.terms(other)
    voices = desk.voices.voice(own, terms[0]), desk.voices.voice(other, terms[1])
    numbers = rows[first].story_id, rows[second].story_id
    return _weigh(
        desk,
        (own, other),
        terms,
        voices,
        (
            Weighed(rows[first].url, own.title, numbers[0], voices[0].is_round_up),
            Weighed(rows[second].url, other.title, numbers[1], voices[1].is_round_up),
        ),
        is_reprint=other.key in own.reprints
        or (rows[first].voice_url_id or 0) == rows[second].voice_url_id,
        story_score=_story_score(c, desk, numbers),
        changes=_changes(c, numbers),
    )


def _weigh(
    desk: StoryDesk,
    items: tuple[Item, Item],
    terms: tuple[Terms, Terms],
    voices: tuple[Voice, Voice],
    told: tuple[Weighed, Weighed],
    *,
    is_reprint: bool,
    story_score: float | None,
    changes: tuple[StoryEvent, ...],
) -> Why:
    one, other = voices
    stories = story_of(1, one, 0), story_of(2, other, 0)
    pairs = Pairs()
    product = product_of(*stories, pairs)
    plain = pairs.multiplier.products(one.vector, [other.vector])[0]
    agreed = agreement(one, other)
    words = terms[1].words | terms[0].words
    kinds = dict(zip(KINDS, zip(one.marks.kinds, other.marks.kinds, strict=True), strict=True))
    published = items[0].published, items[1].published
    gap = (
        None
        if published[0] is None or published[1] is None
        else abs(published[0] - published[1]) / DAY_SECONDS
    )
    is_kept_out = one.is_round_up or other.is_round_up
    return Why(
        *told,
        is_reprint=is_reprint,
        likeness=plain / SCALE**2,
        words=_shared_words(one, other, words, plain),
        shared={kind: _said(kinds[kind][0] & kinds[kind][1], words) for kind in agreed.shared},
        conflicts={
            kind: (_said(kinds[kind][0], words), _said(kinds[kind][1], words))
            for kind in agreed.conflicts
        },
        missing=(
            _said(missing_names(one, other), words),
            _said(missing_names(other, one), words),
        ),
        left=product / plain if plain else 1.0,
        gap_days=gap,
        pause_days=pause_days(1, 0.0, desk.settings),
        score=0.0 if is_kept_out else score_of(*stories, product, desk.settings),
        threshold=desk.threshold,
        story_score=story_score,
        changes=changes,
    )


def _shared_words(
    one: Voice, other: Voice, words: Mapping[int, str], product: int
) -> tuple[tuple[str, float], ...]:
    ids, at, its = np.intersect1d(
        one.vector.ids, other.vector.ids, assume_unique=True, return_indices=True
    )
    parts = one.vector.values[at] * other.vector.values[its]
    told = sorted(
        (
            (words[number], part / product)
            for number, part in zip(ids.tolist(), parts.tolist(), strict=True)
            if number in words
        ),
        key=lambda word: (-word[1], word[0]),
    )
    return tuple(told[:_MOST_WORDS])


def _said(numbers: frozenset[int], words: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(sorted(words[number] for number in numbers if number in words))


def _story_score(
    c: Connection, desk: StoryDesk, numbers: tuple[int | None, int | None]
) -> float | None:
    """How alike the two stories are as they stand; None where there are not two that go on."""
    one, other = numbers
    if one is None or other is None or one == other:
        return None
    # Of a story that is over no vectors are kept.
    if any(one_story(c, number).state == "ended" for number in (one, other)):
        return None
    stories: list[Story] = [stored.load_story(c, number) for number in (one, other)]
    if any(story.is_round_up for story in stories):
        return 0.0
    product = product_of(stories[0], stories[1], Pairs())
    return score_of(stories[0], stories[1], product, desk.settings)


def _changes(c: Connection, numbers: tuple[int | None, int | None]) -> tuple[StoryEvent, ...]:
    found: dict[StoryEvent, None] = {}
    for number in dict.fromkeys(number for number in numbers if number is not None):
        found |= dict.fromkeys(changes_of(c, number))
    return tuple(sorted(found, key=lambda change: change.at))


# --- In words -------------------------------------------------------------------------------------


def _joined(parts: Iterable[str]) -> str:
    return _(", ").join(parts)


def why_lines(why: Why) -> Iterator[str]:
    """What :func:`explain` found, a fact a line; what became of the stories follows these."""
    for one in (why.first, why.second):
        number = _("in no story yet") if one.story is None else _("story {n}", n=one.story)
        yield f"{number}  {one.title}  {one.url}"
        if one.is_round_up:
            yield _("  a round-up of several happenings: it is in the story of none of them")
    if why.is_reprint:
        yield _("One has the text of the other: they are always of one story.")
    yield _("Likeness of words: {likeness}", likeness=f"{why.likeness:.2f}")
    words = [f"{word} {share:.0%}" for word, share in why.words]
    yield _("  both say: {words}", words=_joined(words) or _("nothing"))
    yield from _evidence_lines(why)
    yield _("  of the likeness is left: {left}", left=f"{why.left:.0%}")
    if why.gap_days is None:
        yield _("Time: one has no date, so time does not count")
    else:
        yield _(
            "Time: {days} days apart; after {pause} days it counts half",
            days=f"{why.gap_days:.1f}",
            pause=f"{why.pause_days:.1f}",
        )
    score, threshold = f"{why.score:.2f}", f"{why.threshold:.2f}"
    if why.score >= why.threshold:
        yield _("Score {score}: {threshold} is enough", score=score, threshold=threshold)
    else:
        yield _("Score {score}: {threshold} is needed", score=score, threshold=threshold)
    if why.story_score is not None:
        yield _("Their stories as a whole: {score}", score=f"{why.story_score:.2f}")
    elif why.first.story == why.second.story is not None and why.score < why.threshold:
        yield _("They are of one story by the other texts of it, or by a correction:")


def _evidence_lines(why: Why) -> Iterator[str]:
    for kind, names in why.shared.items():
        yield _(
            "  for it: both have the same {kind}: {names}",
            kind=_(KIND_NAMES[kind]),
            names=_joined(names),
        )
    for kind, (own, others) in why.conflicts.items():
        yield _(
            "  against it: other {kind}: {own} / {others}",
            kind=_(KIND_NAMES[kind]),
            own=_joined(own),
            others=_joined(others),
        )
    if all(why.missing):
        own, others = why.missing
        yield _(
            "  against it: each headline names what the other text does not: {own} / {others}",
            own=_joined(own),
            others=_joined(others),
        )
