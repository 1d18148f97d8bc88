"""One article with all that speaks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from sqlalchemy import Connection, select
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.forms import whole_number
from qiaocrawl.console.page import read
from qiaocrawl.console.pages.listed_articles import (
    MOST_PLACES,
    PLACE,
    ArticleFilter,
    matches_of,
    place_of,
)
from qiaocrawl.console.pages.reading import require_article
from qiaocrawl.console.pages.translations import shown_translation
from qiaocrawl.console.render import Comparison, Difference, marked_text, render, shown_html
from qiaocrawl.dedup.labels import verdict_name
from qiaocrawl.language import N_
from qiaocrawl.news.stories.hot import HotStory, story_by_number
from qiaocrawl.news.stories.texts import stories_with
from qiaocrawl.news.writing.translation import fault_words
from qiaocrawl.reading.evidence import ArticleEvidence, Presence, evidence_of, presence_of
from qiaocrawl.reading.marks import Marks, best_topics, marks_of
from qiaocrawl.reading.pages_of_a_list import MOST_COUNTED, topic_titles
from qiaocrawl.reading.records import ArticleRecord, iter_articles
from qiaocrawl.storage.pages.revisions import REVISED, Revision, revisions_of
from qiaocrawl.storage.schema import article as article_table
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.titles.groups import Member, chain
from qiaocrawl.storage.topics.changes import bases_of
from qiaocrawl.storage.topics.classes import StoredClass, classes_of, topic_classes
from qiaocrawl.storage.topics.judgements import OPERATOR
from qiaocrawl.storage.url_history import Judgement, url_history
from qiaocrawl.urls import url_key

REVISION_NAMES = {
    "revised": N_("changed"),
    "deleted": N_("gone"),
    "restored": N_("back again"),
    "withdrawn": N_("no article after all"),
}
_MARKED_WORDS = 40
_WORDS_NAMED = 8
_MOST_CHANGES = 30


@dataclass(frozen=True, slots=True)
class Change:
    """A revision with what differs from the text after it."""

    revision: Revision
    title: Difference
    text: Difference


@dataclass(frozen=True, slots=True)
class ShownArticle:
    """What the page of an article shows.

    Attributes:
        topics: what the imported ones are called, by name.
        topic: the one it is judged for, unless another is chosen.
        classes: what it is about, by topic.
        all_classes: those there are.
        bases: what makes the scorer's judgements less sure, by topic.
        event: the story that it is in, where others are in it too.
    """

    evidence: ArticleEvidence
    record: ArticleRecord
    group: list[Member]
    revisions: list[Revision]
    presence: Presence | None
    marks: Marks
    topics: dict[str, str]
    topic: str
    classes: dict[str, StoredClass]
    all_classes: tuple[str, ...]
    bases: dict[str, str]
    event: HotStory | None


@dataclass(frozen=True, slots=True)
class _Texts:
    """The parts of the page that are made of the article's own words."""

    title: Markup
    body: Markup
    changes: list[Change]


async def show(request: Request) -> Response:
    """Text, fields, judgements, reprint group, revisions, and where it stands in its list."""
    article_id = request.path_params["article_id"]
    choice = ArticleFilter.of(request.query_params.multi_items())
    article = await read(request, _load_article, article_id, choice.topic)
    place = whole_number(request, PLACE, -1, 0, MOST_PLACES)
    in_list = None
    if place >= 0:
        matches, _notice = await matches_of(request, choice)
        in_list = await read(request, place_of, choice, matches, article_id, place)
    # What strangers wrote may take a while: in no transaction, and not where all others wait.
    texts = await run_in_threadpool(_texts, article, choice.words)
    translation = await shown_translation(request, article_id, article.record)
    return render(
        request,
        "articles/detail.html",
        article=article,
        texts=texts,
        translation=translation,
        translation_fault=fault_words,
        choice=choice,
        place=place,
        in_list=in_list,
        most_counted=MOST_COUNTED,
        verdict_name=verdict_name,
        revision_names=REVISION_NAMES,
        words_for=_words_for,
        by_operator=OPERATOR,
        more_changes=len(article.revisions) - len(texts.changes),
    )


def _load_article(c: Connection, article_id: int, topic: str) -> ShownArticle:
    require_article(c, article_id)
    evidence = evidence_of(c, article_id)
    (record,) = iter_articles(c, Selection(article_ids=(article_id,)))
    history = url_history(c, url_key(record.url))
    revisions = revisions_of(c, history.id) if history is not None else []
    topics = topic_titles(c)
    return ShownArticle(
        evidence,
        record,
        chain(c, article_id),
        revisions,
        presence_of(c, history, revisions) if history is not None else None,
        marks_of(c, [article_id]).get(article_id, Marks()),
        topics,
        topic if topic in topics else best_topics(c, [article_id])[article_id],
        {own.topic: own for own in classes_of(c, article_id)},
        topic_classes(c),
        bases_of(c, evidence.judgements),
        _event(c, article_id),
    )


def _event(c: Connection, article_id: int) -> HotStory | None:
    url_id = c.execute(
        select(article_table.c.url_id).where(article_table.c.id == article_id)
    ).scalar_one()
    number = stories_with(c, [url_id]).get(url_id)
    event = story_by_number(c, number) if number is not None else None
    return event if event is not None and event.articles > 1 else None


@dataclass(frozen=True, slots=True)
class WordsFor:
    """Words of a topic that an article has: those in its title, and the others."""

    in_title: tuple[str, ...]
    elsewhere: tuple[str, ...]


def _words_for(judgement: Judgement) -> WordsFor:
    """What spoke for the topic, the most first."""
    title: list[str] = []
    elsewhere: list[str] = []
    for term in judgement.terms[:_WORDS_NAMED]:
        is_in_title = len(term) > 2 and "title" in str(term[2]).split()
        (title if is_in_title else elsewhere).append(str(term[0]))
    return WordsFor(tuple(title), tuple(elsewhere))


def _texts(article: ShownArticle, searched: Sequence[str]) -> _Texts:
    record = article.record
    words = _words(article.evidence, searched)
    body = shown_html(record.html, words) if record.html else _paragraphs(record.text, words)
    return _Texts(marked_text(record.title, words), body, _changes(article.revisions, record))


def _words(evidence: ArticleEvidence, searched: Sequence[str]) -> list[str]:
    """What is marked: what was searched for, and what spoke for the topics."""
    terms = [str(term[0]) for judgement in evidence.judgements for term in judgement.terms if term]
    return [*searched[:_MARKED_WORDS], *terms[:_MARKED_WORDS]]


def _paragraphs(text: str, words: Sequence[str]) -> Markup:
    lines = (line.strip() for line in text.split("\n"))
    return Markup("").join(
        Markup("<p>{}</p>").format(marked_text(line, words)) for line in lines if line
    )


def _changes(revisions: Sequence[Revision], record: ArticleRecord) -> list[Change]:
    """Each revision beside what the article said next, the newest first."""
    title, text, changes, nothing = record.title, record.text, [], Difference(Markup(""))
    comparison = Comparison()
    for revision in revisions[: -_MOST_CHANGES - 1 : -1]:
        if revision.kind == REVISED:
            changes.append(
                Change(
                    revision,
                    comparison.difference(revision.title, title),
                    comparison.difference(revision.text, text),
                )
            )
            title, text = revision.title, revision.text
        else:
            changes.append(Change(revision, nothing, nothing))
    return changes
