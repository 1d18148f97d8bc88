"""Lines at a terminal of 80 columns: set in, unbroken where they are copied, in one language of
states.
"""

from __future__ import annotations

from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from qiaocrawl.cli.output import folding_table, print_hanging, wrap
from qiaocrawl.cli.spider_process import _bar, _state
from qiaocrawl.items import Queue
from qiaocrawl.reading.summary import Progress
from qiaocrawl.search.answer import ANSWER_NAMES
from qiaocrawl.search.query import AnswerState

_LINE = (
    "查了什么 What did we search: 12 terms × 20 sites，480 问（QIAO_SEARCH_MAX_PAGES），"
    "少问、慢问，或改用自建的 SearXNG。"
)


def terminal(width: int) -> tuple[Console, StringIO]:
    file = StringIO()
    return Console(file=file, width=width, force_terminal=True, color_system=None), file


@pytest.mark.parametrize("width", [30, 47, 80])
def test_rows_keep_to_the_width_and_lose_nothing(width: int) -> None:
    rows = wrap(_LINE, width)
    assert "".join(row.replace(" ", "") for row in rows) == _LINE.replace(" ", "")
    assert all(cell_len(row) <= width for row in rows)
    assert not any(row[0] in "，。、；：）" for row in rows), "no mark begins a row"
    assert not any(row.rstrip()[-1] in "（《「" for row in rows), "no bracket opens at its end"


@pytest.mark.parametrize("width", range(20, 40))
def test_a_cell_loses_no_letter_where_a_space_ends_its_line(width: int) -> None:
    text = "端口，代替 QIAO_METRICS_PORT；0 = 任意。"
    console, file = terminal(width)
    table = Table(box=None, padding=0, show_header=False)
    table.add_row(text)
    console.print(table)
    shown = "".join(file.getvalue().split())
    assert shown == text.replace(" ", "")


def test_an_address_that_is_wider_is_left_whole() -> None:
    url = "http://www.a.example/" + "x" * 60
    assert wrap(f"为何 why: {url} (×3)", 40)[1].strip() == url


def test_further_rows_are_set_in() -> None:
    console, file = terminal(60)
    print_hanging(console, f"  {_LINE}")
    first, *further = file.getvalue().splitlines()
    assert first.startswith("  查")
    assert further
    assert all(row.startswith("    ") and row[4] != " " for row in further)
    # Where nobody looks at it, a line stays a line.
    pipe = Console(file=(plain := StringIO()), width=60)
    print_hanging(pipe, _LINE)
    assert plain.getvalue() == f"{_LINE}\n"


def test_the_bar_is_whole_in_80_columns() -> None:
    console, file = terminal(80)
    with _bar("search", console) as progress:
        state = _state(Progress(16_040, 950, 12_345), Queue.SEARCH, 900, 4_000.0)
        progress.update(progress.task_ids[0], total=16_040, completed=950, state=state)
        progress.refresh()
    last = [line for line in file.getvalue().splitlines() if "search" in line][-1]
    assert "left 18:37:47" in last, "16,040 - 950 at 900 in 4,000 s"
    assert "0:00:0" in last
    assert "…" not in last


def test_one_state_has_one_name() -> None:
    assert ANSWER_NAMES[AnswerState.BLOCKED] == "blocked"
    assert set(ANSWER_NAMES) == set(AnswerState)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_table_too_wide_to_be_read_is_a_block_a_row(width: int) -> None:
    table = folding_table("词 term", *(f"第{n}列 column{n}" for n in range(9)))
    for row in ("侨胞", "[bold]华侨[/]"):
        table.add_row(row, *(str(n) * 3 for n in range(8)), "")
    console, file = terminal(width)
    console.print(table)
    rows = file.getvalue().splitlines()
    assert all(cell_len(row) <= width for row in rows)
    assert all(f"第{n}列 column{n}" in file.getvalue() for n in range(8)), "no header is broken"
    is_table = width == 200
    assert (rows[0][0] == "┏") == is_table
    if not is_table:
        assert rows[0] == "── 词 term"
        assert [row for row in rows if row[0] not in "─ "] == ["侨胞", "华侨"]
        assert "第8列" not in file.getvalue(), "what is empty is left out"
