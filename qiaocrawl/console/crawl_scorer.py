"""The page scorer that crawls judge by, for what the console judges itself."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection

from qiaocrawl.items import PageText
from qiaocrawl.options import Options
from qiaocrawl.relevance.scorer import PageScorer, make_scorer
from qiaocrawl.storage.pages.reprocessing import next_texts
from qiaocrawl.storage.topics.judgements import judged_pack, sample_name
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.urls import url_key


def crawl_scorer(pack: TopicPack) -> PageScorer:
    """The one of the options, for *pack*."""
    options = Options.from_environment()
    return make_scorer(
        options["QIAO_RELEVANCE_METHOD"], pack, options["QIAO_RELEVANCE_THRESHOLD"],
        options["QIAO_RELEVANCE_OPTIONS"],
    )  # fmt: skip


def page_text(c: Connection, article_id: int) -> PageText:
    """The stored article of row id *article_id*, which must exist, as scorers read it."""
    (text,) = next_texts(c, after_id=article_id - 1, limit=1)
    return PageText(text.title, text.text, meta=text.meta, url=text.url)


def pack_without(c: Connection, topic: str, page: PageText) -> TopicPack:
    """The topic with its judged articles but for *page*, which is to be judged itself.

    Raises:
        StorageError: the topic was never imported.
    """
    pack, own = judged_pack(c, topic), sample_name(url_key(page.url))
    return replace(pack, samples=tuple(one for one in pack.samples if one.name != own))
