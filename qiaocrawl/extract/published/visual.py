"""``visual``: the visual unit that looks most like an article (U4).

Down the DOM from the body. Rule 1: a node without text is dropped. Rule 2: a node is divided
where one child's background differs from the others'; rule 3: where one child's font colour
does. Rule 4: it is not divided where all children are text nodes; rule 5: nor where all are
link nodes. A text node has a share of text outside links above a, a link node a share of link
text above β. What is not divided is a visual unit. Of all units of a page the one with the
highest score is the body:

    Score = w_a·s_a + w_p·s_p − w_ld·s_ld + w_td·s_td + w_l·s_l,  the weights sum to 1

- s_a: area of the unit over that of the page;
- s_p: 1 when the unit holds a mark that ends a sentence, else 0;
- s_ld, s_td: link text, and other text, over all text of the unit;
- s_l = (l − min l) / (max l − min l), l the length of the text **(the form is ours; the
  formula is lost, the text names min, max and the unit's own length)**.

Ours beside it: the thresholds and weights, which the text does not give; where no rule applies
the node is divided; a node with one child passes on to it, since it has no others to differ
from; a node here is a block-level element or a run of text between block borders, so that a
link inside a sentence does not break it; lengths are characters without white space.
Areas and colours: :mod:`qiaocrawl.extract.published.visual_style`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.base import Body, extractors
from qiaocrawl.extract.published.visual_style import PageStyle, page_style
from qiaocrawl.options.kinds import plugin_options, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qiaocrawl.page.blocks import PageBlocks
    from qiaocrawl.page.page import Page

_SENTENCE_END = re.compile(r"[。！？!?…．]|\.(?=[\s\"'”’)]|$)")
_ENDING = re.compile(r"[。！？!?….．][\s\"'”’」』)）]*$")
_NUMBERS = ("a", "beta", "w_a", "w_p", "w_ld", "w_td", "w_l")
_PARAGRAPH_LINKED = 0.5
"""A paragraph that is joined to others has a smaller share of link text **(ours)**."""


class Node(NamedTuple):
    """A node of the tree the rules walk: an element, or a run of text.

    Attributes:
        first, end: its blocks, ``blocks[first:end]``.
        element: index of the element; for a run that of the element it stands in.
        is_run: whether it is a run, which is never divided.
    """

    first: int
    end: int
    element: int
    is_run: bool


class Unit(NamedTuple):
    """A visual unit: one node, or several like ones of one parent.

    Attributes:
        blocks: indexes of its blocks, in order.
        area: square pixels.
    """

    blocks: list[int]
    area: float


class _Tree:
    """The nodes of a page with text (rule 1), and the sums the rules ask for."""

    def __init__(self, page_blocks: PageBlocks, look: PageStyle) -> None:
        self.page_blocks, self.look = page_blocks, look
        blocks = page_blocks.blocks
        self.sizes = [len(block.text) - block.text.count(" ") for block in blocks]
        self.linked = [block.linked for block in blocks]
        for hidden in look.hidden:
            for index in range(
                page_blocks.elements[hidden].first, page_blocks.elements[hidden].end
            ):
                self.sizes[index] = self.linked[index] = 0
        self.text_before = [0, *accumulate(self.sizes)]
        self.linked_before = [0, *accumulate(self.linked)]
        self._elements_in: dict[int, list[int]] = {}
        for index, element in enumerate(page_blocks.elements):
            if self.text_before[element.end] > self.text_before[element.first]:
                self._elements_in.setdefault(element.parent, []).append(index)
        self._runs_in: dict[int, list[int]] = {}
        for index, block in enumerate(blocks):
            if self.sizes[index]:
                self._runs_in.setdefault(block.element, []).append(index)

    @property
    def root(self) -> Node | None:
        """The body; None when the page has no text."""
        outermost = self._elements_in.get(-1)
        return self._node(outermost[0]) if outermost else None

    def _node(self, element: int) -> Node:
        block_element = self.page_blocks.elements[element]
        return Node(block_element.first, block_element.end, element, False)

    def children(self, node: Node) -> list[Node]:
        """The children of *node* that hold text, in document order."""
        if node.is_run:
            return []
        around = node.element
        inside = [self._node(index) for index in self._elements_in.get(around, ())]
        runs = self._runs_in.get(around)
        if runs:
            inside += [Node(index, index + 1, around, True) for index in runs]
            inside.sort()
        return inside

    def is_paragraph(self, node: Node) -> bool:
        """Whether *node* is a run, or an element that holds nothing but runs."""
        return node.is_run or node.element not in self._elements_in

    def linked_share(self, node: Node) -> float:
        """Link text over all text of *node*, in [0, 1]."""
        size = self.text_before[node.end] - self.text_before[node.first]
        linked = self.linked_before[node.end] - self.linked_before[node.first]
        return min(1.0, linked / size) if size else 0.0

    def area(self, node: Node) -> float:
        """Square pixels of *node*."""
        look = self.look
        if node.is_run:
            return look.block_area(node.first)
        return look.area(node.element, node.first, node.end)

    def unit(self, nodes: list[Node]) -> Unit:
        """*nodes* as one visual unit, without what is not displayed."""
        inside = (index for node in nodes for index in range(node.first, node.end))
        blocks = [index for index in inside if self.sizes[index]]
        return Unit(blocks, sum(self.area(node) for node in nodes))

    def ink(self, node: Node) -> tuple[str, str]:
        """Background and font colour of *node*."""
        return self.look.backgrounds[node.element], self.look.colours[node.element]


@dataclass(frozen=True, slots=True)
class VisualExtractor:
    """The published method. All numbers are **ours**, chosen on a part of the pages by site.

    Attributes:
        a: a node with a larger share of text outside links is a text node, in [0, 1].
        beta: a node with a larger share of link text is a link node, in [0, 1].
        w_a: weight of the area share.
        w_p: weight of a sentence's end.
        w_ld: weight of the share of link text, which is taken off.
        w_td: weight of the share of other text.
        w_l: weight of the relative length.
        ends_with: the unit must end with a sentence's end, not only hold one.
        join_like: like paragraphs of a divided node are one unit **(ours)**: without it an
            article in which one paragraph is coloured, or a list stands, comes apart.
        declared_only: take no notice of a rendered page's layout.
        summary: one line for people about this variant; "" for the line above in this module.

    Raises:
        ValueError: the weights do not sum to 1.
    """

    option_names: ClassVar[tuple[str, ...]] = ("QIAO_VISUAL_OPTIONS",)

    a: float = 0.9
    beta: float = 0.8
    w_a: float = 0.05
    w_p: float = 0.5
    w_ld: float = 0.2
    w_td: float = 0.2
    w_l: float = 0.05
    ends_with: bool = False
    join_like: bool = True
    declared_only: bool = False
    summary: str = ""

    def __post_init__(self) -> None:
        total = self.w_a + self.w_p + self.w_ld + self.w_td + self.w_l
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the weights of a visual unit's score sum to {total}, not to 1")

    def with_options(self, options: Mapping[str, Any]) -> VisualExtractor:
        """The method with thresholds and weights as the operator wants them.

        Raises:
            ConfigError: an unknown one, one outside [0, 1], or weights that do not sum to 1.
        """
        what = "QIAO_VISUAL_OPTIONS"
        defaults = {name: getattr(self, name) for name in _NUMBERS}
        given = plugin_options(what, defaults, options[what])
        numbers: dict[str, Any] = {
            name: within(what, name, float(value), 0, 1) for name, value in given.items()
        }
        try:
            return replace(self, **numbers)
        except ValueError as error:
            raise ConfigError(f"{what}: {error}") from None

    def body(self, page: Page) -> Body:
        """The text of the best visual unit; its score is moved to [0, 1] by adding w_ld."""
        tree = _Tree(page.blocks, page_style(page, declared_only=self.declared_only))
        units = list(self._units(tree))
        if not units:
            return Body("", 0.0, "the page has no text")
        scores = [score + self.w_ld for score in self._scores(tree, units)]
        best = scores.index(max(scores))
        chosen = units[best].blocks
        judged = [0.0] * len(page.blocks.blocks)
        for unit, score in zip(units, scores, strict=True):
            for index in unit.blocks:
                judged[index] = score
        text = "\n".join(page.blocks.blocks[index].text for index in chosen)
        reason = f"best of {len(units)} visual units, {len(chosen)} blocks"
        return Body(text, scores[best], reason, tuple(chosen), tuple(judged))

    def units(self, page: Page) -> list[Unit]:
        """The visual units of *page*, in document order."""
        look = page_style(page, declared_only=self.declared_only)
        return sorted(self._units(_Tree(page.blocks, look)))

    def scores(self, page: Page, units: list[Unit]) -> list[float]:
        """The score of each of *units*, in [-w_ld, 1 - w_ld]."""
        look = page_style(page, declared_only=self.declared_only)
        return self._scores(_Tree(page.blocks, look), units)

    def _units(self, tree: _Tree) -> Iterator[Unit]:
        waiting = [tree.root] if tree.root is not None else []
        while waiting:
            node = waiting.pop()
            children = tree.children(node)
            if len(children) == 1 and not children[0].is_run:
                waiting.append(children[0])
            elif not self._is_divided(tree, children):
                yield tree.unit([node])
            elif self.join_like:
                alike, rest = self._alike(tree, children)
                yield from (tree.unit(nodes) for nodes in alike)
                waiting.extend(rest)
            else:
                waiting.extend(children)

    def _is_divided(self, tree: _Tree, children: list[Node]) -> bool:
        """Whether rules 2 to 5 divide a node with these children."""
        if len(children) < 2:
            return False
        inks = {tree.ink(child) for child in children}
        if len(inks) > 1:  # rules 2 and 3
            return True
        shares = [tree.linked_share(child) for child in children]
        all_text = all(1 - share > self.a for share in shares)  # rule 4
        return not (all_text or all(share > self.beta for share in shares))  # rule 5

    def _alike(self, tree: _Tree, children: list[Node]) -> tuple[list[list[Node]], list[Node]]:
        """The paragraphs among *children*, those of one look as a list; and the others."""
        groups: dict[tuple[str, str], list[Node]] = {}
        rest = []
        for child in children:
            if tree.linked_share(child) < _PARAGRAPH_LINKED and tree.is_paragraph(child):
                groups.setdefault(tree.ink(child), []).append(child)
            else:
                rest.append(child)
        return list(groups.values()), rest

    def _scores(self, tree: _Tree, units: list[Unit]) -> list[float]:
        blocks = tree.page_blocks.blocks
        lengths = [sum(tree.sizes[index] for index in unit.blocks) for unit in units]
        least, spread = min(lengths, default=0), max(lengths, default=0) - min(lengths, default=0)
        scores = []
        for unit, length in zip(units, lengths, strict=True):
            s_a = min(1.0, unit.area / tree.look.page_area)
            s_p = self._ends_sentence([blocks[index].text for index in unit.blocks])
            s_ld = min(1.0, sum(tree.linked[index] for index in unit.blocks) / max(1, length))
            # One unit alone, or all of one length: none is shorter than another.
            s_l = (length - least) / spread if spread else 1.0
            scores.append(
                self.w_a * s_a
                + self.w_p * s_p
                - self.w_ld * s_ld
                + self.w_td * (1 - s_ld)
                + self.w_l * s_l
            )
        return scores

    def _ends_sentence(self, texts: list[str]) -> bool:
        if self.ends_with:
            return bool(_ENDING.search(texts[-1][-20:]))
        return any(_SENTENCE_END.search(text) for text in texts)


extractors.register("visual")(VisualExtractor())
# To the letter, with the threshold that suits it best on the same pages.
extractors.register("visual_published")(
    VisualExtractor(
        a=0.5,
        beta=0.7,
        join_like=False,
        summary="visual to the letter: like paragraphs of a divided node are not joined",
    )
)
