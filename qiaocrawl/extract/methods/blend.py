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

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.base import Body, extractors
from qiaocrawl.extract.comments import comment_blocks, is_dated
from qiaocrawl.extract.following import following_article
from qiaocrawl.extract.medium import words_of_medium
from qiaocrawl.extract.methods.below_title import (
    files_below_title,
    text_below_title,
    with_table_below,
)
from qiaocrawl.extract.methods.block_features import (
    BlockFeatures,
    Floats,
    has_notice_words,
    without_notice_words,
)
from qiaocrawl.extract.methods.block_network import BlockNetwork, load_network
from qiaocrawl.extract.methods.block_vocabulary import tells_of_article
from qiaocrawl.extract.methods.compiled_features import features_of
from qiaocrawl.extract.methods.embedded import embedded_article, whole_article
from qiaocrawl.extract.methods.run_of_text import contacts_apart, lines_of_run
from qiaocrawl.extract.notices import (
    has_clauses,
    is_notice_by_form,
    is_of_text,
    is_verse,
    notice_blocks,
    told_by_words,
)
from qiaocrawl.extract.thread import opening_lines, thread_of
from qiaocrawl.language import _
from qiaocrawl.page.blocks import PageBlocks
from qiaocrawl.page.page import Page

# --- What becomes of the blocks a method chose: lines that belong to them, and lines that do
# not

_DOUBTFUL = 0.3
"""Least judgement of a line that is taken because its like stand on both sides."""
_CELL_CHARS = 30
_LINE_CHARS, _BESIDE_DATE_CHARS = 60, 12
_LEAD_LINES, _TITLE_CHARS = 3, 8
_DAY = re.compile(
    r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}\s?日?|"
    r"\d{1,2}(?:st|nd|rd|th)?\s[a-z]{3,9}\.?,?\s(?:19|20)\d\d|"
    r"[a-z]{3,9}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s(?:19|20)\d\d",
    re.IGNORECASE,
)
_CLOCK_OR_MARK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?|[\W_]")
_STOPS = "。！？.!?"
_CHINESE_STOPS = "。！？"
_LINKED = 0.8
"""A line of links has this share of its characters in them."""


def with_like_lines(page: Page, judged: Floats, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """*chosen* with doubtful lines that stand among them in like places.

    A list of names or a poem has no sentences, and nothing tells one of its lines from another.
    A short sentence may be the last paragraph: the conference ended, say.
    """
    blocks, elements = page.blocks.blocks, page.blocks.elements
    taken = set(chosen.tolist())
    for i in chosen.tolist():
        line = i + 1
        if line in taken or line >= len(blocks) or judged[line] < _DOUBTFUL:
            continue
        if line + 1 not in taken and not (
            i == chosen[-1] and blocks[line].text[-1] in _CHINESE_STOPS
        ):
            continue
        above, element = elements[blocks[i].element], elements[blocks[line].element]
        is_like = (above.parent, above.tag, above.names) == (
            element.parent,
            element.tag,
            element.names,
        )
        if is_like and not blocks[line].linked and not is_dated(blocks[line].text):
            taken.add(line)
    for at in {blocks[i].element for i in chosen.tolist() if blocks[i].after_break}:
        span = range(elements[at].first, elements[at].end)
        if is_verse(blocks[span.start : span.stop]) and 2 * len(taken & set(span)) >= len(span):
            taken.update(i for i in span if judged[i])
    return np.array(sorted(taken), dtype=np.int64)


def without_lead_in(page: Page, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """*chosen* less what stands before its text: a cell of a table of which nothing else was
    chosen, and a line of the date and little else, at the beginning or below a headline.
    """
    found = page.blocks
    if len(chosen) > 1:
        chosen = chosen[_cells_ahead(found, chosen.tolist()) :]
    chosen = chosen[_above_title(page, chosen) :]
    while len(chosen) > 1 and tells_of_article(found.blocks[int(chosen[0])].text):
        chosen = chosen[1:]
    head = [found.blocks[index].text for index in chosen[:2].tolist()]
    after_headline = bool(head) and len(head[0]) <= _LINE_CHARS and head[0][-1] not in _STOPS
    for place, text in enumerate(head[: 1 + after_headline]):
        if len(chosen) > place + 1 and (_is_dateline(text) or tells_of_article(text)):
            return np.delete(chosen, place)
    return chosen


def _above_title(page: Page, chosen: NDArray[np.int64]) -> int:
    """How many blocks of *chosen* stand above the title and are no sentences: 今天是：…"""
    blocks, title = page.blocks.blocks, page.title
    for place, index in enumerate(chosen[:_LEAD_LINES].tolist()):
        text = blocks[index].text
        if len(text) >= _TITLE_CHARS and title.startswith(text):
            return place if place + 1 < len(chosen) else 0
        if len(text) > _LINE_CHARS or text[-1] in _STOPS:
            return 0
    return 0


def _cells_ahead(found: PageBlocks, chosen: Sequence[int]) -> int:
    """How many of *chosen* are single cells of a table that ends before the text begins."""
    first = chosen[0]
    if len(found.blocks[first].text) > _CELL_CHARS:
        return 0
    path = [found.elements[at] for at in found.path(found.blocks[first].element)]
    table = next((element for element in path if element.tag == "table"), None)
    if table is None or table.end - table.first < 2:
        return 0
    cells = [index for index in chosen if index < table.end]
    if len(cells) == len(chosen):
        return 0
    if any(found.blocks[index].linked for index in cells):
        return 1  # more of them are a list
    taken = sum(len(found.blocks[index].text) for index in cells)
    whole = sum(len(found.blocks[index].text) for index in range(table.first, table.end))
    return len(cells) if len(cells) == 1 or 2 * taken < whole else 0


def _is_dateline(text: str) -> bool:
    if len(text) > _LINE_CHARS or text[-1] in _STOPS:
        return False
    rest = _DAY.sub("", text)
    return rest != text and len(_CLOCK_OR_MARK.sub("", rest)) <= _BESIDE_DATE_CHARS


def without_linked_ends(page: Page, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """*chosen* less lines of links at either end: they lead elsewhere. All, if there is no text."""
    blocks = page.blocks.blocks
    own = [n for n, i in enumerate(chosen) if blocks[i].linked < _LINKED * len(blocks[i].text)]
    return chosen[own[0] : own[-1] + 1] if own else chosen


_NOTICE = 0.1
"""The judgement of a legal notice at most: short news are short beside it."""
_LITTLE_CHARS = 200
"""With less than this taken, a script may hold the article."""
_TEASER_CHARS = 4_000
"""With less, what is taken may be the beginning of an article that a script holds whole."""
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

    def with_options(self, options: Mapping[str, Any]) -> BlendExtractor:
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
            return self._prefer_embedded(page, Body("", 0.0, "the page shows no text"), 0)
        network = self.network or load_network()
        judged = network.judge(features.values)
        self._raise_worded(page, judged, features, network)
        left_out = self._lower_notices(page, judged, features.notices)
        reasons = _without_others(page, judged, self.low_threshold, left_out)
        chosen = np.flatnonzero(judged >= self.threshold)
        if not len(chosen):
            chosen = np.flatnonzero(judged >= self.low_threshold)
        if not opening_lines(page):
            chosen = self._completed(page, judged, chosen, left_out, features.notices)
        if len(chosen):
            chosen = chosen[~np.isin(chosen, list(words_of_medium(page, chosen.tolist())))]
        body = _take_blocks(page, judged, features.chars, chosen, reasons)
        return self._prefer_embedded(page, body, int(features.chars[chosen].sum()))

    def _completed(
        self,
        page: Page,
        judged: Floats,
        chosen: NDArray[np.int64],
        left_out: set[int],
        worded: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """*chosen* less what only leads in or on, with the lines of its run of text."""
        chosen = without_lead_in(page, without_linked_ends(page, chosen))
        chosen = with_like_lines(page, judged, chosen)
        if len(chosen) <= 1:
            below = text_below_title(page, chosen.tolist(), left_out, judged)
            below = files_below_title(page, below, left_out)
            chosen = np.array(below, dtype=np.int64)
        chosen = np.array(with_table_below(page, chosen.tolist(), left_out), dtype=np.int64)
        chosen = chosen[: len(chosen) - contacts_apart(page, chosen.tolist())]
        return _with_run(page, judged, chosen, left_out, worded)

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

    def _lower_notices(self, page: Page, judged: Floats, worded: NDArray[np.bool_]) -> set[int]:
        """Lower the judgement of notices, of all *worded* ones that would be taken; gives them."""
        likely = np.flatnonzero(judged >= self.threshold)
        if not len(likely):
            likely = np.flatnonzero(judged >= self.low_threshold)
        candidates = np.flatnonzero(worded & (judged > _NOTICE)).tolist()
        notices = told_by_words(page, likely.tolist(), candidates) if candidates else []
        judged[notices] = _NOTICE
        return set(notices)

    def _prefer_embedded(self, page: Page, body: Body, shown_chars: int) -> Body:
        """*body*, or what a script holds where that is clearly more."""
        if shown_chars < _LITTLE_CHARS:
            embedded = embedded_article(page)
        elif shown_chars < _TEASER_CHARS:
            embedded = whole_article(page, body.text)
        else:
            return body
        if embedded is None or len(embedded.text) < _EMBEDDED_FACTOR * shown_chars:
            return body
        reason = f"from a script ({embedded.origin}); the page shows {shown_chars} characters of it"
        return Body(embedded.text, 0.8, reason, (), body.judged)


def _without_others(page: Page, judged: Floats, least: float, left_out: set[int]) -> list[str]:
    """Set the judgement of replies, comments and notices to 0; what was left out, in words.

    Blocks judged below *least* are not looked at. All that go are added to *left_out*.
    """
    reasons = []
    thread = page.once(thread_of)
    replies: Iterable[int] = thread.reply_blocks if thread is not None else ()
    likely = np.flatnonzero(judged >= least).tolist()
    for name, blocks in (
        ("replies", replies),
        ("comments", page.once(comment_blocks)),
        ("notices", notice_blocks(page, likely)),
        ("the next article", following_article(page, likely)),
    ):
        indexes = list(blocks)
        if indexes:
            judged[indexes] = 0.0
            left_out.update(indexes)
            reasons.append(f"{len(indexes)} blocks of {name} left out")
    named = opening_lines(page)
    if named:  # what a board calls the text of a post is all of it
        marked = np.maximum(judged[named], 0.9)
        judged[:] = 0.0
        judged[named] = marked
    elif thread is not None:
        opening = list(thread.first.blocks)
        judged[opening] = np.maximum(judged[opening], 0.9)
    return reasons


def _with_run(
    page: Page,
    judged: Floats,
    chosen: NDArray[np.int64],
    left_out: set[int],
    worded: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """*chosen* with the lines that belong to its run of text and are no notices."""
    text = chosen.tolist()
    lines, sentences = lines_of_run(page, text, left_out, judged)
    if not lines:
        return chosen
    notices = notice_blocks(page, sorted(lines))
    suspects = [index for index in sorted(lines) if worded[index]]
    told = told_by_words(page, sorted({*text, *sentences}), suspects) if suspects else ()
    return np.array(sorted({*text, *lines}.difference(notices, told)), dtype=np.int64)


def _take_blocks(
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
