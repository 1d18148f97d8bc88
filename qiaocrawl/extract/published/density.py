"""``density``: text density of source lines with both published improvements (Q5).

For line i, t_i is the UTF-8 bytes of its text outside tags, h_i all its UTF-8 bytes, and
d_i = t_i / h_i (the base formula is only cited there: **ours**). A line is content when
d_i >= 0.5 **(ours)**. Low-density tolerance: after content begins, low lines are passed
over while no more than 20 stand in a row; past that the article has ended, they are dropped,
and what was found so far is the result. Minimum bytes: while less than 200 bytes of text have
been collected, recognition goes on past such a row, which is not kept **(ours)**; what a page
has less than that is returned all the same. Pages on one source line have block elements as
line ends **(ours)**, see :attr:`Page.lines`.

Each improvement is an option and 0 turns it off; without the tolerance the base algorithm is
left, whose result is every dense line of the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from qiaocrawl.extract.base import Body, extractors
from qiaocrawl.page.lines import SourceLines
from qiaocrawl.page.page import Page


@dataclass(frozen=True, slots=True)
class DensityExtractor:
    """The published method; the defaults are the published ones.

    Attributes:
        threshold: least density of a content line, in [0, 1].
        low_density_tolerance_lines: low lines in a row that do not yet end the article.
        minimum_bytes: UTF-8 bytes of text below which the article does not end.
        run: ``first`` stops where the first article ends, as published; ``longest`` goes on and
            takes the longest of all (a navigation of sentences, the article, a disclaimer)
            **(ours)**.
    """

    option_names: ClassVar[tuple[str, ...]] = (
        "QIAO_DENSITY_THRESHOLD",
        "QIAO_DENSITY_TOLERANCE_LINES",
        "QIAO_DENSITY_MINIMUM_BYTES",
        "QIAO_DENSITY_RUN",
    )

    threshold: float = 0.5
    low_density_tolerance_lines: int = 20
    minimum_bytes: int = 200
    run: str = "first"

    def with_options(self, options: Mapping[str, Any]) -> DensityExtractor:
        """The method with the threshold and the two improvements as the operator wants them."""
        return DensityExtractor(*(options[name] for name in self.option_names))

    def body(self, page: Page) -> Body:
        """The text of the chosen run of dense lines."""
        lines = page.lines
        runs = self.runs(lines)
        sizes = [sum(lines.text_bytes[i] for i in run) for run in runs]
        if not runs:
            return Body("", 0.0, "no line is dense")
        best = sizes.index(max(sizes)) if self.run == "longest" else 0
        text = "\n".join(lines.texts[i] for i in runs[best] if lines.texts[i])
        share = sizes[best] / max(1, sum(lines.text_bytes))
        return Body(text, share, f"{len(runs[best])} lines, {sizes[best]} bytes")

    def runs(self, lines: SourceLines) -> list[list[int]]:
        """Indexes of the lines kept, one list for every article the two rules end."""
        if not self.low_density_tolerance_lines:
            return [dense] if (dense := self._dense(lines)) else []
        runs: list[list[int]] = []
        collected, last = 0, -1
        for index in self._dense(lines):
            low_run = range(last + 1, index)
            if runs and len(low_run) <= self.low_density_tolerance_lines:
                runs[-1].extend(low_run)
                collected += sum(lines.text_bytes[last + 1 : index])
            elif not runs or collected >= self.minimum_bytes:
                runs.append([])
                collected = 0
            runs[-1].append(index)
            collected += lines.text_bytes[index]
            last = index
        return runs

    def _dense(self, lines: SourceLines) -> list[int]:
        """Indexes of the lines whose density reaches the threshold."""
        sizes = zip(lines.text_bytes, lines.all_bytes, strict=True)
        threshold = self.threshold
        return [i for i, (text, whole) in enumerate(sizes) if text and text >= threshold * whole]


extractors.register("density")(DensityExtractor())
