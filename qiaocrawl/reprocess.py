"""Running a stage again over stored pages: the same functions as in a crawl.

Each stage reports what changed, and may be stopped and started again at any time.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial

from sqlalchemy import Connection

from qiaocrawl.dedup import dedupers
from qiaocrawl.errors import ExtractionError
from qiaocrawl.items import Outcome, PageAnalysis, Queue, Relevance
from qiaocrawl.pool import page_error
from qiaocrawl.relevance import PageScorer, page_scorers
from qiaocrawl.runtime import Runtime
from qiaocrawl.storage import articles, reprocessing
from qiaocrawl.storage.pages import StoredPage, iter_pages
from qiaocrawl.storage.verdicts import save_verdict
from qiaocrawl.storage.weights import rebuild_term_weights

Advance = Callable[[int], None]
"""Called with the number of pages or articles just done."""

_PAGES_AT_A_TIME = 64
_ARTICLES_AT_A_TIME = 500


def again_extract(runtime: Runtime, advance: Advance) -> Counter[str]:
    """Analyse every stored page anew, on all workers.

    Returns:
        Pages by what happened: ``unchanged``, ``article -> list`` and the like.
    """
    changes: Counter[str] = Counter()
    for stored, future in _in_flight(runtime):
        analysis = _result(runtime, future)
        restate = partial(_restate, runtime=runtime, stored=stored, analysis=analysis)
        change = runtime.write_now(restate)
        changes[change] += 1
        advance(1)
    return changes


def _in_flight(runtime: Runtime) -> Iterator[tuple[StoredPage, Future[PageAnalysis]]]:
    """Stored pages with their analyses, one batch ahead of what is being written."""
    waiting: list[tuple[StoredPage, Future[PageAnalysis]]] = []
    after = 0
    while batch := runtime.reader.run(
        partial(iter_pages, topic=None, after_id=after, limit=_PAGES_AT_A_TIME)
    ):
        after = batch[-1].id
        coming = [
            (stored, runtime.pool.submit(stored.page)) for stored in batch
            if stored.queue != Queue.SEARCH
        ]
        yield from waiting
        waiting = coming
    yield from waiting


def _result(runtime: Runtime, future: Future[PageAnalysis]) -> PageAnalysis:
    try:
        return future.result()
    except Exception as error:
        shown = page_error(error, runtime.options["QIAO_EXTRACT_SECONDS"])
        if not isinstance(shown, ExtractionError):
            raise
        return PageAnalysis(Outcome.POISON, None, (), charset="", reason=str(shown))


def _restate(c: Connection, runtime: Runtime, stored: StoredPage, analysis: PageAnalysis) -> str:
    before = reprocessing.outcome_of(c, stored.url_id)
    if before is None:
        return "still open"
    reprocessing.set_outcome(c, stored.url_id, analysis.outcome, analysis.reason)
    if analysis.article is None:
        reprocessing.drop_article(c, stored.url_id)
    else:
        article_id = articles.save_article(
            c, stored.url_id, analysis.article, analysis, anchor=stored.anchor, now=time.time()
        )
        articles.save_relevance(c, article_id, runtime.catalogue.topic_ids, analysis.relevance)
        articles.save_title_terms(c, article_id, analysis.title_tokens)
    same = before == analysis.outcome.value
    return f"{before}, read again" if same else f"{before} -> {analysis.outcome}"


def again_relevance(runtime: Runtime, advance: Advance) -> Counter[str]:
    """Judge every stored article anew for every imported topic.

    Returns:
        Judgements by topic and result.
    """
    options = runtime.options
    scorer = page_scorers.get(options["QIAO_RELEVANCE_METHOD"])
    scorers = [
        scorer(pack, options["QIAO_RELEVANCE_THRESHOLD"])
        for pack in runtime.catalogue.packs.values()
    ]
    changes: Counter[str] = Counter()
    after = 0
    while batch := runtime.reader.run(
        partial(reprocessing.next_texts, after_id=after, limit=_ARTICLES_AT_A_TIME)
    ):
        after = batch[-1].article_id
        judged = [(text.article_id, _judge(scorers, text.title, text.text)) for text in batch]
        runtime.write_now(partial(_save_judgements, runtime=runtime, judged=judged))
        for _, judgements in judged:
            for one in judgements:
                changes[f"{one.topic}: {'on topic' if one.relevant else 'off topic'}"] += 1
        advance(len(batch))
    return changes


def _judge(scorers: list[PageScorer], title: str, text: str) -> list[Relevance]:
    return [scorer.judge(title, text) for scorer in scorers]


def _save_judgements(
    c: Connection, runtime: Runtime, judged: list[tuple[int, list[Relevance]]]
) -> None:
    for article_id, judgements in judged:
        articles.save_relevance(c, article_id, runtime.catalogue.topic_ids, judgements)


def again_dedup(runtime: Runtime, advance: Advance) -> Counter[str]:
    """Rebuild all reprint groups in one pass, and the title weights (Q6).

    The result does not depend on the order in which the articles were found.

    Returns:
        Articles by verdict, and under ``changed`` how many have another one than before.
    """
    options = runtime.options
    method: str = options["QIAO_DEDUP_METHOD"]
    titles = list(runtime.stored_titles())
    deduper = dedupers.get(method)(threshold=options["QIAO_DEDUP_THRESHOLD"])
    verdicts = deduper.regroup(titles)
    before = runtime.reader.run(reprocessing.verdicts_by_key)
    article_ids = runtime.reader.run(reprocessing.ids_by_key)

    def operation(c: Connection) -> None:
        reprocessing.clear_verdicts(c)
        # Representatives first: a member's row refers to the row of its group.
        for key in sorted(verdicts, key=lambda key: verdicts[key].of is not None):
            save_verdict(c, article_ids[key], verdicts[key], method=method)
        rebuild_term_weights(c)

    runtime.write_now(operation)
    advance(len(titles))
    changes = Counter(str(verdict.kind) for verdict in verdicts.values())
    after = runtime.reader.run(reprocessing.verdicts_by_key)
    changes["changed"] = sum(before.get(key) != verdict for key, verdict in after.items())
    return changes
