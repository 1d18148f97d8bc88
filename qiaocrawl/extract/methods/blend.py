"""``blend``: the default; each block is judged in its surroundings, the likely ones are taken.

Nothing of it is published **(ours)**. A page is cut into blocks; each is described by numbers
(its text, its links, the elements and names around it, its neighbours, its place, where plain
rules see the body, what repeats) in :mod:`qiaocrawl.extract.methods.block_features`; a small
network
(:mod:`qiaocrawl.extract.methods.block_network`) says how likely it is body text. Replies of a forum
thread and comments are left out. Where scripts hold the article and the page shows little or
none of it, the script's text is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.base import Body, extractors
from qiaocrawl.extract.comments import comment_blocks
from qiaocrawl.extract.methods.block_features import (
    BlockFeatures,
    has_notice_words,
    without_notice_words,
)
from qiaocrawl.extract.methods.block_network import BlockNetwork, load_network
from qiaocrawl.extract.methods.block_sums import Floats
from qiaocrawl.extract.methods.chosen_lines import (
    with_like_lines,
    without_lead_in,
    without_linked_ends,
)
from qiaocrawl.extract.methods.compiled_features import features_of
from qiaocrawl.extract.methods.embedded import embedded_article
from qiaocrawl.extract.notices import (
    has_clauses,
    is_notice_by_form,
    is_of_text,
    notice_blocks,
    told_by_words,
)
from qiaocrawl.extract.thread import thread_of
from qiaocrawl.language import _
from qiaocrawl.page.page import Page

_NOTICE = 0.1
"""The judgement of a legal notice at most: short news are short beside it."""
_LITTLE_CHARS = 200
"""With less than this taken, a script may hold the article."""
_EMBEDDED_FACTOR = 1.5
"""A script's text is taken when it is this many times as long as what the page shows."""


@dataclass(frozen=True, slots=True)
class BlendExtractor:
    """The default extractor.

    Attributes:
        threshold: least judgement, in [0, 1], of a block that is taken.
        low_threshold: the same when no block reaches the first one.
        network: the trained network; None is the one that is shipped.
    """

    option_names: ClassVar[tuple[str, ...]] = ("QIAO_BLEND_NETWORK",)

    threshold: float = 0.5
    low_threshold: float = 0.2
    network: BlockNetwork | None = None

    def configured(self, options: Mapping[str, Any]) -> BlendExtractor:
        """The same with the network of QIAO_BLEND_NETWORK, "" for the one that is shipped.

        Raises:
            ConfigError: the file is no such network.
        """
        file = options["QIAO_BLEND_NETWORK"]
        if not file:
            return replace(self, network=None)
        network, shipped = load_network(Path(file)), load_network()
        if len(network.mean) != len(shipped.mean):
            raise ConfigError(
                _(
                    "QIAO_BLEND_NETWORK: {file!r} was trained on {count} features, this "
                    "version has {wanted}; train it again",
                    file=file,
                    count=len(network.mean),
                    wanted=len(shipped.mean),
                )
            )
        return replace(self, network=network)

    def body(self, page: Page) -> Body:
        """The likely blocks of *page* in order.

        Raises:
            ConfigError: the network's file is damaged or from another version.
        """
        features = features_of(page.blocks, page.title)
        if features is None:
            return self._embedded(page, Body("", 0.0, "the page shows no text"), 0)
        network = self.network or load_network()
        judged = network.judge(features.values)
        self._raise_worded(page, judged, features, network)
        self._lower_notices(page, judged, features.notices)
        reasons = _without_others(page, judged, self.low_threshold)
        chosen = np.flatnonzero(judged >= self.threshold)
        if not len(chosen):
            chosen = np.flatnonzero(judged >= self.low_threshold)
        chosen = without_lead_in(page, without_linked_ends(page, chosen))
        chosen = with_like_lines(page, judged, chosen)
        body = _taken(page, judged, features.chars, chosen, reasons)
        return self._embedded(page, body, int(features.chars[chosen].sum()))

    def _raise_worded(
        self, page: Page, judged: Floats, features: BlockFeatures, network: BlockNetwork
    ) -> None:
        """Judge sentences without the words of notices in them that lack the form of one.

        Where other sentences are taken, those beside or between them only: a call for papers in
        a column of its own is not of the text.
        """
        blocks = page.blocks.blocks
        doubted = np.flatnonzero(has_notice_words(features) & (judged < self.threshold))
        told = [
            index
            for index in np.flatnonzero(judged >= self.threshold).tolist()
            if len(doubted) and has_clauses(blocks[index].text)
        ]
        rows = np.array(
            [
                index
                for index in doubted.tolist()
                if has_clauses(blocks[index].text)
                and not is_notice_by_form(blocks[index].text)
                and (not told or is_of_text(page.blocks, index, told))
            ],
            dtype=np.int64,
        )
        if len(rows):
            judged[rows] = np.maximum(
                judged[rows], network.judge(without_notice_words(features, rows))
            )

    def _lower_notices(self, page: Page, judged: Floats, worded: NDArray[np.bool_]) -> None:
        """Lower the judgement of notices, of all *worded* ones that would be taken."""
        likely = np.flatnonzero(judged >= self.threshold)
        if not len(likely):
            likely = np.flatnonzero(judged >= self.low_threshold)
        candidates = np.flatnonzero(worded & (judged > _NOTICE)).tolist()
        if candidates:
            judged[told_by_words(page, likely.tolist(), candidates)] = _NOTICE

    def _embedded(self, page: Page, body: Body, shown_chars: int) -> Body:
        """*body*, or what a script holds where that is clearly more."""
        if shown_chars >= _LITTLE_CHARS:
            return body
        embedded = embedded_article(page)
        if embedded is None or len(embedded.text) < _EMBEDDED_FACTOR * shown_chars:
            return body
        reason = f"from a script ({embedded.origin}); the page shows {shown_chars} characters of it"
        return Body(embedded.text, 0.8, reason, (), body.judged)


def _without_others(page: Page, judged: Floats, least: float) -> list[str]:
    """Set the judgement of replies, comments and notices to 0; what was left out, in words.

    Blocks judged below *least* are not looked at.
    """
    reasons = []
    thread = page.once(thread_of)
    replies: Iterable[int] = thread.reply_blocks if thread is not None else ()
    for name, blocks in (
        ("replies", replies),
        ("comments", page.once(comment_blocks)),
        ("notices", notice_blocks(page, np.flatnonzero(judged >= least).tolist())),
    ):
        indexes = list(blocks)
        if indexes:
            judged[indexes] = 0.0
            reasons.append(f"{len(indexes)} blocks of {name} left out")
    if thread is not None:
        judged[list(thread.first.blocks)] = np.maximum(judged[list(thread.first.blocks)], 0.9)
    return reasons


def _taken(
    page: Page, judged: Floats, chars: Floats, chosen: np.ndarray, reasons: list[str]
) -> Body:
    marks = tuple(np.round(judged.astype(np.float64), 3).tolist())
    if not len(chosen):
        best = float(judged.max(initial=0.0))
        return Body(
            "",
            0.0,
            "; ".join((f"no block looks like a body, at most {best:.2f}", *reasons)),
            (),
            marks,
        )
    blocks = page.blocks.blocks
    text = "\n".join(blocks[i].text for i in chosen)
    weights = chars[chosen]
    score = float((judged[chosen] * weights).sum() / weights.sum())
    counted = f"{len(chosen)} of {len(blocks)} blocks, {int(weights.sum())} characters"
    return Body(text, score, "; ".join((counted, *reasons)), tuple(chosen.tolist()), marks)


extractors.register("blend")(BlendExtractor())
