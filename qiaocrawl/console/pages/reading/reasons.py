"""Which words of an article speak for its topics and which against, and how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.crawl_scorer import crawl_scorer, pack_without, page_text
from qiaocrawl.console.page import Page
from qiaocrawl.console.pages.reading.evidence import list_query, require_article
from qiaocrawl.console.render import render
from qiaocrawl.console.work import read
from qiaocrawl.items import PageText
from qiaocrawl.options import Options
from qiaocrawl.reading.evidence import ArticleEvidence, evidence_of
from qiaocrawl.reading.pages_of_a_list import topic_titles
from qiaocrawl.relevance.scorer import PageScorer, TellsWeights
from qiaocrawl.storage.url_history import Judgement
from qiaocrawl.topic.pack import TopicPack

_MOST_WORDS = 25
# The odds e ** 0.01: nobody sees the difference.
_LEAST_WEIGHT = 0.01
_MOST_TOPICS = 5

Weighted = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Reasons:
    """What speaks for and against one topic, the most first.

    Attributes:
        score: as the topic judges now, without what operators said of this very article.
        for_it, against: words with what they add to the logarithm of the odds; None where the
            scorer cannot tell. ``stored``: those it kept with its verdict, with their shares.
    """

    stored: Judgement
    score: float
    for_it: Weighted | None
    against: Weighted | None


async def show(request: Request) -> Response:
    """The words, by topic."""
    article_id = request.path_params["article_id"]
    article, page, packs, titles = await read(request, _loaded, article_id)
    reasons = await run_in_threadpool(_reasons, article.judgements, packs, page)
    return render(
        request, "articles/reasons.html", article=article, reasons=reasons, titles=titles,
        query=list_query(request),
    )  # fmt: skip


def _loaded(
    c: Connection, article_id: int
) -> tuple[ArticleEvidence, PageText, list[TopicPack], dict[str, str]]:
    require_article(c, article_id)
    article, page = evidence_of(c, article_id), page_text(c, article_id)
    packs = [pack_without(c, one.topic, page) for one in article.judgements[:_MOST_TOPICS]]
    return article, page, packs, topic_titles(c)


def _reasons(
    judgements: Sequence[Judgement], packs: Sequence[TopicPack], page: PageText
) -> list[Reasons]:
    return [_of(stored, pack, page) for stored, pack in zip(judgements, packs, strict=False)]


def _of(stored: Judgement, pack: TopicPack, page: PageText) -> Reasons:
    scorer = _learnt(pack, Options.from_environment()["QIAO_RELEVANCE_METHOD"])
    score = scorer.judge(page).score
    if not isinstance(scorer, TellsWeights):
        return Reasons(stored, score, None, None)
    weights = [pair for pair in scorer.word_weights(page).items() if abs(pair[1]) >= _LEAST_WEIGHT]
    weights.sort(key=itemgetter(1, 0), reverse=True)
    for_it = tuple(pair for pair in weights if pair[1] > 0)[:_MOST_WORDS]
    against = tuple(pair for pair in reversed(weights) if pair[1] < 0)[:_MOST_WORDS]
    return Reasons(stored, score, for_it, against)


@lru_cache(maxsize=3)
def _learnt(pack: TopicPack, method: str) -> PageScorer:
    """The scorer of *pack*, which is learnt once for all its articles that nobody judged."""
    return crawl_scorer(pack)


PAGES = (Page("/articles/{article_id:int}/reasons", "articles.reasons", show),)
