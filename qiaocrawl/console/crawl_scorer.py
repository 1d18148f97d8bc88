"""The page scorer that crawls judge by, and its threshold, for console and commands."""

from __future__ import annotations

import time
from dataclasses import replace

from sqlalchemy import Connection

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.relevance.scorer import FollowsPack, PageScorer, make_scorer
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.pages.reprocessing import next_texts
from qiaocrawl.storage.topics.changes import ThresholdView, threshold_view
from qiaocrawl.storage.topics.judgements import judged_pack, sample_name
from qiaocrawl.storage.topics.topics import load_pack_to_change, save_pack
from qiaocrawl.topic.check import require_valid
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.urls import url_key

MOVED = "topic.threshold"
"""In the log of changes."""
_USUAL_THRESHOLD = 0.5
_COMPARED = 2
_SAME_SCORE = 0.01


def crawl_scorer(pack: TopicPack) -> PageScorer:
    """The one of the options, for *pack*."""
    options = Options.from_environment()
    return make_scorer(
        options["QIAO_RELEVANCE_METHOD"],
        pack,
        options["QIAO_RELEVANCE_THRESHOLD"],
        options["QIAO_RELEVANCE_OPTIONS"],
    )


def page_text(c: Connection, article_id: int) -> PageText:
    """The stored article of row id *article_id*, which must exist, as scorers read it."""
    (text,) = next_texts(c, after_id=article_id - 1, limit=1)
    return PageText(text.title, text.text, meta=text.meta, url=text.url)


def pack_without(c: Connection, topic: str, *pages: PageText) -> TopicPack:
    """The topic with its judged articles but for *pages*, which are to be judged themselves.

    Raises:
        StorageError: the topic was never imported.
    """
    pack, own = judged_pack(c, topic), {sample_name(url_key(page.url)) for page in pages}
    return replace(pack, samples=tuple(one for one in pack.samples if one.name not in own))


def threshold_of(scorer: PageScorer) -> float:
    """The score from which *scorer* says on topic."""
    # A plug-in may have none.
    return float(getattr(scorer, "threshold", _USUAL_THRESHOLD))


def is_stale(c: Connection, scorer: PageScorer, view: ThresholdView) -> bool:
    """Whether the articles next to a line were judged by another topic than that of today."""
    nearest = (*view.above[:_COMPARED], *view.below[:_COMPARED])
    return any(
        abs(scorer.judge(page_text(c, one.id)).score - one.score) > _SAME_SCORE for one in nearest
    )


def wanted_threshold(scorer: PageScorer, score: float) -> float | None:
    """The threshold of the pack that puts the line at *score*; None where there is none."""
    return scorer.pack_threshold(score) if isinstance(scorer, FollowsPack) else None


class Stale(ConfigError):
    """The stored articles were judged by another topic than that of today."""


def move_line(c: Connection, actor: Actor, topic: str, score: float) -> tuple[float, ThresholdView]:
    """Give *topic* the threshold that puts its line at *score*, and note who did.

    Returns:
        The new threshold, and what it turns once the stored articles are judged anew.

    Raises:
        ConfigError: no threshold does that; ``Stale`` where the stored scores tell nothing of it.
        StorageError: the topic was never imported.
    """
    pack = load_pack_to_change(c, topic)
    scorer = crawl_scorer(judged_pack(c, topic))
    wanted = wanted_threshold(scorer, score)
    if wanted is None:
        raise ConfigError(_("no threshold of the topic puts the line there"))
    view = threshold_view(c, topic, score, _COMPARED)
    if is_stale(c, scorer, view):
        raise Stale(_("the topic has changed: judge the stored articles anew first"))
    changed = replace(pack, threshold=wanted)
    require_valid(changed)
    save_pack(c, changed, now=time.time())
    after = {"threshold": wanted, "score": score, "to_on": view.to_on, "to_off": view.to_off}
    record(c, actor, MOVED, topic, {"threshold": pack.threshold}, after)
    return wanted, view
