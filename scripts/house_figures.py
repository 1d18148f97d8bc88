"""Figures of the code as a reader meets it: files, lines, imports, helpers, layout by hand.

    python scripts/house_figures.py [FOLDER]

FOLDER is a working tree, this one by default; so two trees can be compared.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("qiaocrawl", "spiders", "pipelines", "middlewares")
Function = ast.FunctionDef | ast.AsyncFunctionDef
_PARTICIPLE = re.compile(r"_?[a-z]+(?:ed|en|wn|pt|ought|old|ept|eft|aid|ade|one|told|kept|read)")
# Words that end like a participle and are none, or name a thing.
_NO_PARTICIPLES = frozenset(
    {"_read", "read", "_open", "open", "_seed", "seed", "_feed", "feed", "_need", "_token"}
    | {"token", "_one", "one", "_zone", "_children"}
)


@dataclass(frozen=True)
class Source:
    """A file of the product."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        """All of them."""
        return len(self.text.splitlines())


def sources(root: Path) -> list[Source]:
    """The product's files below *root*; migrations count, generated files do not exist."""
    paths = (path for package in PACKAGES for path in sorted((root / package).rglob("*.py")))
    return [Source(path, text, ast.parse(text)) for path in paths for text in [path.read_text()]]


def functions(found: list[Source]) -> Iterator[Function]:
    """All functions and methods."""
    for source in found:
        for node in ast.walk(source.tree):
            if isinstance(node, Function):
                yield node


def used_once(found: list[Source]) -> tuple[int, int]:
    """How many private functions and methods are named in one place only, and how many are."""
    names = Counter[str]()
    for source in found:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Name):
                names[node.id] += 1
            elif isinstance(node, ast.Attribute):
                names[node.attr] += 1
    private = {node.name for node in functions(found) if _is_private(node.name)}
    return sum(names[name] == 1 for name in private), len(private)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def body_lines(node: Function) -> int:
    """Lines below the ``def``, without the docstring."""
    first = node.body[0]
    start = first.lineno
    if ast.get_docstring(node) is not None and len(node.body) > 1:
        start = node.body[1].lineno
    return (node.end_lineno or start) - start + 1


def import_lines(source: Source) -> int:
    """Lines of all imports."""
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def main() -> None:
    """Print them."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    found = sources(root)
    sizes = sorted(source.lines for source in found)
    rooms = [size for size in sizes if size > 10]
    lengths = sorted(body_lines(node) for node in functions(found))
    once, private = used_once(found)
    names = [node.name for node in functions(found)]
    bare = sum(bool(_PARTICIPLE.fullmatch(name)) and name not in _NO_PARTICIPLES for name in names)
    text = "\n".join(source.text for source in found)
    by_hand = len(re.findall(r"#\s*fmt:\s*(?:skip|off)", text))
    folders = {source.path.parent for source in found}
    for name, value in (
        ("files (of more than 10 lines)", f"{len(found):,} ({len(rooms):,})"),
        ("folders", f"{len(folders)}"),
        ("lines", f"{sum(sizes):,}"),
        ("lines a file, median / 90 % / most",
         f"{statistics.median(rooms):.0f} / {rooms[int(.9 * len(rooms))]} / {rooms[-1]}"),
        ("lines of imports", f"{sum(map(import_lines, found)):,}"),
        ("functions", f"{len(names):,}"),
        ("lines a function, median / 90 % / most",
         f"{statistics.median(lengths):.0f} / {lengths[int(.9 * len(lengths))]} / {lengths[-1]}"),
        ("private functions named once", f"{once:,} of {private:,}"),
        ("functions named by one participle", f"{bare:,} ({bare / len(names):.1%})"),
        ("layout by hand (fmt: skip, off)", f"{by_hand:,}"),
    ):  # fmt: skip
        print(f"{name:<40} {value}")


if __name__ == "__main__":
    main()
