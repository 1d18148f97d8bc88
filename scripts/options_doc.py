"""Writes docs/options.md from the table in qiaocrawl/options/table.py.

Usage: ``python scripts/options_doc.py`` prints the page, ``--write`` puts it in its place.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from qiaocrawl.options import OPTIONS, Option, written

PAGE = ROOT / "docs" / "options.md"

_HEAD = """\
# Options

<!-- Written by `python scripts/options_doc.py --write` from qiaocrawl/options/table.py. -->

Every option of the project, with its default. Scrapy's own settings stand with their reasons
in `qiaocrawl/settings.py`.

An option may be given in four places; the first one that has it wins:

1. on the command line: `scrapy crawl site -s QIAO_MAX_PAGES=100 …`,
2. in the environment: `QIAO_MAX_PAGES=100 scrapy crawl site …`,
3. in `.env` beside `scrapy.cfg`, or in the folder you are in ([running.md](running.md)),
4. in the project's `settings.py`, or here in `qiaocrawl/settings.py`.

A wrong value or a misspelt name stops with a message and exit code 1 before anything starts.
Options marked *secret* may hold a password: give them in the environment or in `.env`, not on the
command line, where other users of the machine can read them. Messages do not show their values.

| option | default | unit or form | meaning |
|---|---|---|---|
"""


def page() -> str:
    """The whole page as Markdown."""
    return _HEAD + "".join(_row(option) for option in OPTIONS)


def _row(option: Option) -> str:
    default = f"`{written(option.default)}`" if option.default != "" else "empty"
    help_text = option.help + (" *secret*" if option.secret else "")
    cells = (f"`{option.name}`", default, option.unit, help_text)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(), encoding="utf-8")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        sys.stdout.write(page())
