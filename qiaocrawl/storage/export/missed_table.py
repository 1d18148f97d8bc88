"""Pages that were found and not got, as a table for officers."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from qiaocrawl.items import Outcome
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.storage.export.neutral import neutral
from qiaocrawl.storage.outfile import growing_file
from qiaocrawl.storage.reports.missed import MissedPage
from qiaocrawl.storage.reports.outcome_names import ADVICE, outcome_with_code
from qiaocrawl.text.zones import china_time

# For officers: Chinese whoever writes it.
_HEADER = ("站点", "网址", "类别", "缘由", "HTTP", "链接文字", "时间", "怎么办")


def write_missed(pages: Iterable[MissedPage], file: Path) -> int:
    """UTF-8 with a byte order mark, which Excel needs; formulas disarmed, China's time.

    Returns:
        How many pages there are.
    """
    count = 0
    with growing_file(file) as part, part.open("w", encoding="utf-8-sig", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(_HEADER)
        for page in pages:
            closed = "" if page.closed_at is None else china_time(page.closed_at)
            writer.writerow([neutral(value) for value in (
                page.host, page.url, outcome_with_code(page.outcome), shown_reason(page.why),
                str(page.http_status or ""), page.anchor, closed, _advice(page.outcome),
            )])  # fmt: skip
            count += 1
    return count


def _advice(outcome: Outcome) -> str:
    advice = ADVICE[outcome]
    return f"{_(advice.words)} {advice.command}".strip()
