"""Tables of a database as people read them: rows, counts, sizes."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from qiaocrawl.cli.terminal import Terminal
from qiaocrawl.errors import StorageError
from qiaocrawl.language import _, ngettext

# What keeps a table from growing for ever, where something does.
_LIMITS = {
    "page_source": "QIAO_KEEP_PAGES_DAYS",
    "visit": "QIAO_KEEP_VISITS",
    "decision": "QIAO_KEEP_DECISIONS_DAYS",
    "query": "QIAO_KEEP_QUERIES_DAYS",
    "query_hit": "QIAO_KEEP_QUERIES_DAYS",
    "query_answer": "QIAO_KEEP_QUERIES_DAYS",
}


def print_rows(console: Terminal, rows: dict[str, int]) -> None:
    """Tables with rows; the many that a young database has not filled yet are one line."""
    filled = {name: count for name, count in rows.items() if count}
    print_counts(console, _("table"), filled)
    if empty := len(rows) - len(filled):
        console.print(ngettext("{count} table is empty", "{count} tables are empty", empty))


def print_counts(console: Terminal, title: str, counts: Mapping[str, int]) -> None:
    """What was counted, under *title*; nothing where there is nothing."""
    if not counts:
        return
    table = Table(title, _("count"))
    table.columns[1].justify = "right"
    for name, count in counts.items():
        table.add_row(name, f"{count:,}")
    console.print(table)


def print_sizes(console: Terminal, sizes: dict[str, int] | None, rows: dict[str, int]) -> None:
    """What tables take, the largest first.

    Args:
        sizes: bytes by table; None where the database cannot tell.

    Raises:
        StorageError: it cannot.
    """
    if sizes is None:
        raise StorageError(_("this SQLite was built without dbstat, which tells sizes of tables"))
    table = Table(_("table"), _("count"), _("size"), _("bytes a row"), _("grows until"))
    for column in table.columns[1:4]:
        column.justify = "right"
    for name, size in sorted(sizes.items(), key=lambda pair: -pair[1]):
        each = f"{size / rows[name]:,.0f}" if rows.get(name) else ""
        count = f"{rows[name]:,}" if name in rows else ""
        table.add_row(name, count, shown_size(size), each, _LIMITS.get(name, ""))
    console.print(table)


def shown_size(count: int) -> str:
    """*count* bytes as people read them."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return f"{count} B"
