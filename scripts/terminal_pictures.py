"""Draws the pictures of README.zh-CN.md: what an officer sees at the terminal, as SVG.

Usage: ``python scripts/terminal_pictures.py [FOLDER]``, after ``qiaocrawl demo --folder FOLDER``
(``data/demo`` when not given). The output is that of the commands themselves.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
PICTURES = {
    "terminal-articles.svg": "article list --topic qiaoqing --only-relevant --words 捐款 --limit 6",
    "terminal-missed.svg": "report missed qiaoqing --limit 0",
}
_COLUMNS = 80
_CELL, _ROW, _TOP, _MARGIN = 9.0, 20, 44, 14
_INK, _GROUND = "#d6d9d6", "#22262b"
_FONT = "Noto Sans Mono CJK SC, Sarasa Mono SC, Microsoft YaHei, monospace"
# Wide and narrow characters are set apart: fonts differ in how wide a Chinese character is.
_RUN = re.compile("[\u2e80-\u9fff\uff00-\uffef]+|[^\u2e80-\u9fff\uff00-\uffef]+")


def picture(command: str, database: str) -> str:
    """The output of ``qiaocrawl COMMAND`` on *database* as SVG.

    Rich has a way to SVG too, which squeezes Chinese characters into one column each.
    """
    environment = {**os.environ, "QIAO_LANG": "zh_CN", "QIAO_DATABASE_URL": database,
                   "FORCE_COLOR": "1", "COLUMNS": str(_COLUMNS)}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "qiaocrawl", *command.split()], cwd=ROOT, env=environment,
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    console = Console(width=_COLUMNS, color_system="truecolor", legacy_windows=False)
    rows = console.render_lines(Text.from_ansi(done.stdout.rstrip()), pad=False)
    width, height = _COLUMNS * _CELL + 2 * _MARGIN, _TOP + len(rows) * _ROW + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" '
        f'font-family="{_FONT}" font-size="15">',
        f'<rect width="{width:g}" height="{height}" rx="8" fill="{_GROUND}"/>',
        f'<text x="{_MARGIN}" y="26" fill="#8a9199">$ qiaocrawl {escape(command)}</text>',
    ]
    for number, row in enumerate(rows):
        parts += _row(row, _TOP + number * _ROW)
    return "\n".join([*parts, "</svg>", ""])


def _row(row: Iterable[Segment], top: int) -> Iterator[str]:
    column = 0
    for segment in row:
        style = segment.style or Style()
        for run in _RUN.findall(segment.text):
            cells = cell_len(run)
            x, length = _MARGIN + column * _CELL, cells * _CELL
            column += cells
            if not run.strip():
                continue
            ink = _INK
            if style.reverse:
                size = f'width="{length:g}" height="{_ROW}"'
                yield f'<rect x="{x:g}" y="{top}" {size} fill="{_INK}"/>'
                ink = _GROUND
            look = ' font-weight="bold"' if style.bold else ' opacity=".65"' if style.dim else ""
            yield (
                f'<text x="{x:g}" y="{top + 15}" fill="{ink}" textLength="{length:g}" '
                f'lengthAdjust="spacingAndGlyphs" xml:space="preserve"{look}>{escape(run)}</text>'
            )


def main() -> None:
    """Write all pictures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "data/demo").resolve()
    for name, command in PICTURES.items():
        (IMAGES / name).write_text(picture(command, f"sqlite:///{folder / 'demo.db'}"), "utf-8")
        print(f"docs/images/{name}")


if __name__ == "__main__":
    main()
