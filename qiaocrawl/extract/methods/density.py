"""``density``: text density of source lines with both published improvements (Q5).

For line i, t_i is the UTF-8 bytes of its text outside tags, h_i all its UTF-8 bytes, and
d_i = t_i / h_i (the base formula is only cited there: **ours**). A line is content when
d_i >= 0.5 **(ours)**. Low-density tolerance: after content begins, low lines are passed
over while no more than 20 stand in a row; past that the article has ended. Minimum bytes:
while less than 200 bytes of text have been collected, the article does not end. Pages on
one source line have block elements as line ends **(ours)**, see :attr:`Page.lines`.

Each improvement is an option and 0 turns it off; with both off the base algorithm is left:
every unbroken run of dense lines is an article of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from qiaocrawl.extract.base import Body, extractors
from qiaocrawl.page import Page, SourceLines


@dataclass(frozen=True, slots=True)
class DensityExtractor:
    """The published method; the defaults are the published ones.

    A page may hold several runs of dense lines that the rules end (a navigation of sentences,
    the article, a disclaimer); the text does not say which is meant. The longest is taken
    **(ours)**; with ``first_run`` the first one, the most literal reading.

    Attributes:
        threshold: least density of a content line, in [0, 1].
        low_density_tolerance_lines: low lines in a row that do not yet end the article.
        minimum_bytes: UTF-8 bytes of text below which the article does not end.
        first_run: stop where the first article ends.
    """

    option_names: ClassVar[tuple[str, ...]] = (
        "QIAO_DENSITY_THRESHOLD", "QIAO_DENSITY_TOLERANCE_LINES", "QIAO_DENSITY_MINIMUM_BYTES",
    )  # fmt: skip

    threshold: float = 0.5
    low_density_tolerance_lines: int = 20
    minimum_bytes: int = 200
    first_run: bool = False

    def configured(self, options: Mapping[str, Any]) -> DensityExtractor:
        """The method with the threshold and the two improvements as the operator wants them."""
        return DensityExtractor(*(options[name] for name in self.option_names))

    def body(self, page: Page) -> Body:
        """The text of the chosen run of dense lines."""
        lines = page.lines
        runs = self.runs(lines)
        sizes = [sum(lines.text_bytes[i] for i in run) for run in runs]
        if not runs or max(sizes) < self.minimum_bytes:
            largest = max(sizes, default=0)
            return Body(
                "", 0.0, f"dense lines hold {largest} bytes, less than {self.minimum_bytes}"
            )
        best = 0 if self.first_run else sizes.index(max(sizes))
        text = "\n".join(lines.texts[i] for i in runs[best] if lines.texts[i])
        share = sizes[best] / max(1, sum(lines.text_bytes))
        return Body(text, share, f"{len(runs[best])} lines, {sizes[best]} bytes")

    def runs(self, lines: SourceLines) -> list[list[int]]:
        """Indexes of the lines kept, one list for every article the two rules end."""
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
