"""Running a stage again over stored pages: the same functions as in a crawl, on all workers.

Each stage reports what changed. Asked to stop, it does so between two transactions and leaves
everything as it is between two pages of a crawl; it may be started again at any time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import Connection

from qiaocrawl.errors import ClusterError, ExtractionError
from qiaocrawl.items import Outcome, PageAnalysis, PageText, Queue, Relevance
from qiaocrawl.runtime.analyse_page import judge_texts
from qiaocrawl.runtime.analysis_setup import JoinedText
from qiaocrawl.runtime.articles import AssembledArticle, assembled_of, head_alone
from qiaocrawl.runtime.bulk import Bulk, JoinParts, Judged, JudgeTexts, LocalBulk, Pending, ReadPage
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.pages import article_parts, articles, reprocessing
from qiaocrawl.storage.pages.raw_pages import StoredPage, iter_pages
from qiaocrawl.storage.pages.reprocessing import StoredText
from qiaocrawl.storage.pages.revisions import is_deleted
from qiaocrawl.urls import url_key

Advance = Callable[[int], bool]
"""Called with the number of pages or articles just done; False asks the stage to stop."""

# One transaction each: a commit costs about as much as two pages' statements.
_PAGES_AT_A_TIME = 64
_BATCHES_AHEAD = 2
_GROUPS_AT_A_TIME = 64
_ARTICLES_AT_A_TIME = 500
# Texts of one task: the way to a worker and back costs less than judging one of them.
_TEXTS_A_TASK = 20


@dataclass
class _Restated:
    """What one batch changed; ``groups`` are the paged articles whose parts it rewrote."""

    changes: Counter[str] = field(default_factory=Counter)
    groups: set[bytes] = field(default_factory=set)


def local_bulk(runtime: Runtime) -> Bulk:
    """The analysis processes of this run, on this machine."""
    return LocalBulk(lambda: runtime.analysis.slots)


def reprocess_extract(
    runtime: Runtime, advance: Advance, bulk: Bulk | None = None, host: str = ""
) -> Counter[str]:
    """Analyse every stored page anew, on all workers of *bulk* (None: this machine's).

    Args:
        host: only pages of this host; "" for all.

    Returns:
        Pages by what happened: ``article, read again``, ``article -> list`` and the like.
    """
    changes: Counter[str] = Counter()
    groups: set[bytes] = set()
    bulk = bulk or local_bulk(runtime)
    runtime.articles.load_titles_now()
    try:
        for batch in _analyse_batches(runtime, bulk, host):
            restated = runtime.write_now(partial(_restate_all, runtime=runtime, batch=batch))
            _learn(runtime, batch)
            changes += restated.changes
            groups |= restated.groups
            # Joined later, since parts of one article may come in different batches.
            if len(groups) >= _GROUPS_AT_A_TIME:
                _join_again(runtime, bulk, groups)
            if not advance(len(batch)):
                break
    except ClusterError:
        # What its pages left to be joined is joined here.
        bulk = local_bulk(runtime)
        raise
    finally:
        _join_again(runtime, bulk, groups)
        if runtime.analysis.learning is not None:
            runtime.write_now(runtime.analysis.learning.saving())
    return changes


def _learn(runtime: Runtime, batch: Sequence[tuple[StoredPage, PageAnalysis]]) -> None:
    """Let the memory of sites have what the pages tell; they are in the order of fetching."""
    learning = runtime.analysis.learning
    if learning is not None:
        for _, analysis in batch:
            learning.observe(analysis)
        operation = learning.due()
        if operation is not None:
            runtime.write_now(operation)


def _analyse_batches(
    runtime: Runtime, bulk: Bulk, host: str
) -> Iterator[list[tuple[StoredPage, PageAnalysis]]]:
    """Stored pages with their analyses, some batches ahead of what is being written.

    No more ahead on a cluster than here: what batches taught of sites goes with later ones, and
    the same pages must have the same with them wherever they are read.
    """
    waiting: deque[tuple[list[StoredPage], Pending[list[PageAnalysis | ExtractionError]]]] = deque()
    for batch in _stored_pages(runtime, host):
        works = [_reading(runtime, stored) for stored in batch]
        waiting.append((batch, bulk.start(works, f"pages-{batch[0].id}-{batch[-1].id}")))
        if len(waiting) > _BATCHES_AHEAD:
            yield _results(*waiting.popleft())
    while waiting:
        yield _results(*waiting.popleft())


def _reading(runtime: Runtime, stored: StoredPage) -> ReadPage:
    learning = runtime.analysis.learning
    template = learning.template_now(stored.page) if learning is not None else None
    drawn = runtime.analysis.drawn.content_now(stored.page)
    # Only crawls teach: here the same pages would count again.
    nodes = runtime.analysis.nodes
    return ReadPage(stored.page, template, drawn, nodes.model_now() if nodes else "")


def _stored_pages(runtime: Runtime, host: str) -> Iterator[list[StoredPage]]:
    after = 0
    while batch := runtime.reader.run(
        partial(iter_pages, topic=None, after_id=after, limit=_PAGES_AT_A_TIME, host=host)
    ):
        after = batch[-1].id
        if pages := [stored for stored in batch if stored.queue != Queue.SEARCH]:
            yield pages


def _results(
    batch: Sequence[StoredPage], pending: Pending[list[PageAnalysis | ExtractionError]]
) -> list[tuple[StoredPage, PageAnalysis]]:
    return list(zip(batch, map(_analysis, pending.result()), strict=True))


def _analysis(result: PageAnalysis | ExtractionError) -> PageAnalysis:
    if isinstance(result, ExtractionError):
        return PageAnalysis(Outcome.POISON, None, (), charset="", reason=str(result))
    return result


def _restate_all(
    c: Connection, runtime: Runtime, batch: Sequence[tuple[StoredPage, PageAnalysis]]
) -> _Restated:
    runtime.articles.titles.lock(c)
    restated = _Restated()
    for stored, analysis in batch:
        before = reprocessing.outcome_of(c, stored.url_id)
        if before is None:
            restated.changes["still open"] += 1
            continue
        outcome, is_index = analysis.outcome, False
        if analysis.part is None:
            is_index = _restate_page(c, runtime, stored, analysis, restated.groups)
            outcome = Outcome.LIST if is_index else outcome
        else:
            if outcome is Outcome.PART and before == Outcome.NOT_ARTICLE:
                # Which of both it is follows from the other parts.
                outcome = Outcome.NOT_ARTICLE
            _restate_part(c, stored, analysis, restated.groups)
        if not is_index:
            reprocessing.set_outcome(c, stored.url_id, outcome, analysis.reason)
        same = before == outcome.value
        restated.changes[f"{before}, read again" if same else f"{before} -> {outcome}"] += 1
    return restated


def _restate_page(
    c: Connection,
    runtime: Runtime,
    stored: StoredPage,
    analysis: PageAnalysis,
    groups: set[bytes],
) -> bool:
    """Returns whether the page is withdrawn as an index; its outcome is written then."""
    left = article_parts.drop_part(c, stored.url_id)
    if left is not None:
        groups.add(left)
    if analysis.article is None:
        # What its site deleted stays an article: its newest page only says that it is gone.
        if not is_deleted(c, stored.url_id):
            reprocessing.drop_article(c, stored.url_id)
        return False
    return runtime.articles.save(c, stored.url_id, analysis, anchor=stored.anchor) is None


def _restate_part(
    c: Connection, stored: StoredPage, analysis: PageAnalysis, groups: set[bytes]
) -> None:
    assert analysis.part is not None
    left = article_parts.save_part(c, stored.url_id, analysis)
    groups.add(url_key(analysis.part.urls[0]))
    if left is not None:
        groups.add(left)


def _join_again(runtime: Runtime, bulk: Bulk, groups: set[bytes]) -> None:
    """Make the articles of *groups* anew, and take them off the set."""
    while groups:
        keys = sorted(groups)[:_GROUPS_AT_A_TIME]
        loads = (partial(article_parts.load_group, first_key=key) for key in keys)
        here = [group for load in loads if (group := runtime.reader.run(load)) is not None]
        works = [JoinParts(group.title, tuple(group.texts)) for group in here]
        joined = bulk.start(works, f"parts-{keys[0].hex()[:8]}").result()
        wholes = [_whole(group, one) for group, one in zip(here, joined, strict=True)]
        runtime.write_now(partial(_save_articles, runtime=runtime, wholes=wholes))
        groups.difference_update(keys)


def _whole(
    group: article_parts.PartGroup, joined: JoinedText | ExtractionError
) -> AssembledArticle:
    if isinstance(joined, ExtractionError):
        return head_alone(group, None)
    return assembled_of(group, joined) if group.is_article else AssembledArticle(group, None)


def _save_articles(c: Connection, runtime: Runtime, wholes: Sequence[AssembledArticle]) -> None:
    runtime.articles.titles.lock(c)
    for whole in wholes:
        runtime.articles.save_assembled(c, whole)


@dataclass(frozen=True, slots=True)
class TurnedVerdict:
    """An article whose verdict would change: its topic, new score, title and URL."""

    topic: str
    relevant: bool
    score: float
    title: str
    url: str


@dataclass
class RelevancePreview:
    """What judging anew would change; nothing is written.

    Attributes:
        judged: verdicts made.
        turned: those that differ from what is stored, but for operators' own, which stay.
    """

    judged: int = 0
    turned: list[TurnedVerdict] = field(default_factory=list)


def preview_relevance(
    runtime: Runtime, advance: Advance, bulk: Bulk | None = None
) -> RelevancePreview:
    """Judge every stored article anew, and compare with what is stored."""
    preview = RelevancePreview()
    topic_ids = runtime.catalogue.topic_ids
    for batch in _judge_batches(runtime, bulk or local_bulk(runtime)):
        ids = [text.article_id for text, _ in batch]
        stored = runtime.reader.run(partial(reprocessing.scorers_verdicts, article_ids=ids))
        for text, judgements in batch:
            preview.judged += len(judgements)
            preview.turned += [
                TurnedVerdict(one.topic, one.relevant, one.score, text.title, text.url)
                for one in judgements
                if stored.get((text.article_id, topic_ids[one.topic])) is not one.relevant
                and (text.article_id, topic_ids[one.topic]) in stored
            ]
        if not advance(len(batch)):
            break
    return preview


def reprocess_relevance(
    runtime: Runtime, advance: Advance, bulk: Bulk | None = None
) -> Counter[str]:
    """Judge every stored article anew for every imported topic, on all workers of *bulk*.

    Returns:
        Judgements by topic and result.
    """
    changes: Counter[str] = Counter()
    for batch in _judge_batches(runtime, bulk or local_bulk(runtime)):
        runtime.write_now(partial(_save_judgements, runtime=runtime, judged=batch))
        for _, judgements in batch:
            for judgement in judgements:
                changes[
                    f"{judgement.topic}: {'on topic' if judgement.relevant else 'off topic'}"
                ] += 1
        if not advance(len(batch)):
            break
    return changes


def _judge_batches(
    runtime: Runtime, bulk: Bulk
) -> Iterator[list[tuple[StoredText, tuple[Relevance, ...]]]]:
    """Stored articles with their judgements, a batch ahead of what is being written."""
    waiting: deque[tuple[list[list[StoredText]], Pending[list[Judged | ExtractionError]]]] = deque()
    after = 0
    while batch := runtime.reader.run(
        partial(reprocessing.next_texts, after_id=after, limit=_ARTICLES_AT_A_TIME)
    ):
        name = f"articles-{batch[0].article_id}-{batch[-1].article_id}"
        after = batch[-1].article_id
        tasks = [batch[at : at + _TEXTS_A_TASK] for at in range(0, len(batch), _TEXTS_A_TASK)]
        works = [JudgeTexts(tuple(_pages(texts))) for texts in tasks]
        waiting.append((tasks, bulk.start(works, name)))
        if len(waiting) > 1:
            yield _judgements(runtime, *waiting.popleft())
    while waiting:
        yield _judgements(runtime, *waiting.popleft())


def _pages(texts: Sequence[StoredText]) -> list[PageText]:
    return [PageText(text.title, text.text, meta=text.meta, url=text.url) for text in texts]


def _judgements(
    runtime: Runtime,
    tasks: Sequence[list[StoredText]],
    pending: Pending[list[Judged | ExtractionError]],
) -> list[tuple[StoredText, tuple[Relevance, ...]]]:
    judged_texts: list[tuple[StoredText, tuple[Relevance, ...]]] = []
    for texts, judged in zip(tasks, pending.result(), strict=True):
        if isinstance(judged, ExtractionError):
            # Together they took longer than one page may; here they have all the time.
            judged = judge_texts(_pages(texts), runtime.analysis.setup)
        judged_texts += zip(texts, judged, strict=True)
    return judged_texts


def _save_judgements(
    c: Connection, runtime: Runtime, judged: Sequence[tuple[StoredText, tuple[Relevance, ...]]]
) -> None:
    for text, judgements in judged:
        articles.save_relevance(c, text.article_id, runtime.catalogue.topic_ids, judgements)
