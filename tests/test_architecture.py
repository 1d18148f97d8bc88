"""The import rules of docs/architecture.md, and the house rules a reader relies on.

Everything is found by looking at the files: a new package or module that is not placed in
``LAYERS`` fails until somebody decides where it belongs.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("qiaocrawl", "spiders", "pipelines", "middlewares")
CODE = (*PACKAGES, "benchmarks", "scripts")

# Nine rows from the top down: a name may import names of lower rows. Names joined in one tuple
# of a row may import each other (never in a circle); names in different tuples may not.
LAYERS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("spiders",), ("pipelines",), ("middlewares",)),
    # Faces: Scrapy's door, the command line and the console put things together.
    (("crawl", "cli", "console", "__main__"),),
    (("runs",), ("export",), ("jobs",), ("demo",)),
    (("news",),),
    (("frontier", "runtime"), ("reading",), ("settings",)),
    (("storage",),),
    (("extract", "fetch", "search"), ("relevance",), ("dedup",), ("discovery",), ("revisit",)),
    (("topic", "lexicon", "ontology"), ("page",)),
    (("text", "urls", "vsm", "kernels", "items", "options", "registry", "qiaocrawl", "errors",
      "interrupts", "language", "machine"),),
)  # fmt: skip

# What the package itself hands out, imported when it is asked for.
DOORS = {
    ("qiaocrawl", "qiaocrawl.reading.store.Store"),
    ("qiaocrawl", "qiaocrawl.crawl.article_fields.ArticleAddon"),
}

# The packages that may import Scrapy and Twisted.
KNOW_SCRAPY = {"crawl", "spiders", "pipelines", "middlewares"}
SCRAPY = {"scrapy", "twisted", "scrapy_playwright", "playwright", "itemadapter"}

# Pure: text in, values out. Their data comes from package files through importlib.resources.
PURE = ("text", "page", "urls", "vsm")
INPUT_OUTPUT = {
    "aiohttp", "asyncio", "glob", "http", "httpx", "multiprocessing", "os", "pathlib", "pymysql",
    "requests", "shutil", "socket", "sqlalchemy", "sqlite3", "ssl", "subprocess", "tempfile",
    "urllib.request", "warcio",
}  # fmt: skip

# Bounds against accidents, not aims: a file is cut where its subject is, not where a line is.
MAX_FILE_LINES = 700
MAX_FUNCTION_LINES = 90
MAX_PARAMETERS = 9
# A file below this that one other imports is a page of that one.
LEAST_FILE_LINES = 60
# But for those that keep a start light: imported when what they do is asked for.
LOADED_LATE = {
    "qiaocrawl.export.markdown",
    "qiaocrawl.news.text_parts",
    "qiaocrawl.runtime.worker_parts",
    "qiaocrawl.storage.search.seed_offers",
}
# Layout by hand is for tables. The number may only fall.
MAX_FORMATTED_BY_HAND = 28
# A constant this long is a table: data, not code to read.
TABLE_LINES = 10

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One source file."""

    name: str
    path: Path
    tree: ast.Module = field(repr=False, compare=False)

    def __str__(self) -> str:
        return str(self.path.relative_to(ROOT))

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All of its tree; each way through it takes as long as half of reading it."""
        return list(ast.walk(self.tree))

    @property
    def unit(self) -> str:
        """The name its rules go by: the part behind ``qiaocrawl``, or the package."""
        parts = self.name.split(".")
        return parts[1] if parts[0] == "qiaocrawl" and len(parts) > 1 else parts[0]


@pytest.fixture(scope="module", autouse=True)
def _forgotten() -> Iterator[None]:
    """The trees of all files are 280 MB, which the tests behind these do without."""
    yield
    _modules_of.cache_clear()


def modules(*folders: str) -> tuple[Module, ...]:
    """All modules of *folders*."""
    return tuple(module for folder in folders for module in _modules_of(folder))


@cache
def _modules_of(folder: str) -> list[Module]:
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append(Module(name, path, ast.parse(path.read_text("utf-8"), str(path))))
    return found


def imports(module: Module, *, when_run: bool = False) -> Iterator[tuple[int, str]]:
    """Line and full name of everything *module* imports.

    Args:
        when_run: leave out what is imported for type checks or inside functions.
    """
    for node in _import_nodes(module.tree, when_run=when_run):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
            continue
        base = node.module or ""
        if node.level:
            package = module.name.split(".")
            drop = node.level - (module.path.name == "__init__.py")
            base = ".".join([*package[: len(package) - drop], *filter(None, [base])])
        yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def _import_nodes(tree: ast.AST, *, when_run: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif when_run and (
            isinstance(node, Function)
            or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        ):
            continue
        else:
            yield from _import_nodes(node, when_run=when_run)


@cache
def _unit_of(imported: str) -> str | None:
    """The unit of an imported name; None for what is not ours."""
    parts = imported.split(".")
    if parts[0] not in PACKAGES:
        return None
    if parts[0] != "qiaocrawl":
        return parts[0]
    # `from qiaocrawl import __version__` imports the package itself.
    known = len(parts) > 1 and parts[1] in {module.unit for module in modules(*PACKAGES)}
    return parts[1] if known else "qiaocrawl"


PLACES = {
    name: (row, group)
    for row, groups in enumerate(LAYERS)
    for group, names in enumerate(groups)
    for name in names
}


def test_every_package_and_module_has_its_place() -> None:
    found = {module.unit for module in modules(*PACKAGES)}
    assert found - set(PLACES) == set(), "place these in LAYERS and docs/architecture.md"


def test_imports_go_downwards_only() -> None:
    wrong = []
    for module in modules(*PACKAGES):
        row, group = PLACES[module.unit]
        for line, name in imports(module):
            unit = _unit_of(name)
            if unit is None or unit == module.unit:
                continue
            if (module.name, name) in DOORS:
                continue
            there = PLACES[unit]
            if there[0] < row or (there[0] == row and there != (row, group)):
                wrong.append(f"{module}:{line} imports {name}")
    assert wrong == []


def test_no_module_imports_itself_through_others() -> None:
    ours = {module.name: module for module in modules(*PACKAGES)}
    graph: dict[str, set[str]] = {}
    for module in modules(*PACKAGES):
        targets = set()
        for _, name in imports(module, when_run=True):
            # What is imported may be a module or something in one.
            target = name if name in ours else name.rpartition(".")[0]
            if target in ours and target != module.name:
                targets.add(target)
        graph[module.name] = targets
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_only_its_door_and_the_three_folders_know_scrapy() -> None:
    wrong = [
        f"{module}:{line} imports {name}"
        for module in modules(*PACKAGES)
        if module.unit not in KNOW_SCRAPY
        for line, name in imports(module)
        if name.split(".")[0] in SCRAPY
    ]
    assert wrong == []


def test_text_pages_urls_and_vectors_do_no_input_or_output() -> None:
    wrong = []
    for module in modules("qiaocrawl"):
        if module.unit not in PURE:
            continue
        for line, name in imports(module):
            roots = {name, name.split(".")[0], name.rpartition(".")[0]}
            if roots & INPUT_OUTPUT:
                wrong.append(f"{module}:{line} imports {name}")
        for node in module.nodes:
            called = isinstance(node, ast.Call) and ast.unparse(node.func)
            if called in ("open", "io.open", "print", "input"):
                wrong.append(f"{module}:{node.lineno} calls {called}()")  # type: ignore[attr-defined]
    assert wrong == []


def test_what_another_package_uses_says_what_it_is_for() -> None:
    called = _called_from_outside()
    silent = [
        f"{module}:{line} {name}"
        for module in modules(*CODE)
        for line, name, node in _doors(module, called)
        if not ast.get_docstring(node)
    ]
    assert silent == []


def _called_from_outside() -> set[tuple[str, str]]:
    """Module and name of all that a module of another unit imports, or finds in one it imports."""
    found = set()
    for module in modules(*CODE):
        # Modules of ours by the name they have here.
        known: dict[str, str] = {}
        for node in _import_nodes(module.tree, when_run=False):
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            if _unit_of(node.module) not in (None, module.unit):
                for alias in node.names:
                    found.add((node.module, alias.name))
                    known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        for node in module.nodes:
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and (home := known.get(node.value.id)) is not None
            ):
                found.add((home, node.attr))
    return found


def _doors(
    module: Module, called: set[tuple[str, str]]
) -> Iterator[tuple[int, str, ast.Module | ast.ClassDef | Function]]:
    """The module, its public classes, what others call of it, and the methods of their classes."""
    yield 1, module.name, module.tree
    for node in module.tree.body:
        if not isinstance(node, ast.ClassDef | Function) or node.name.startswith("_"):
            continue
        is_called = (module.name, node.name) in called
        if is_called or isinstance(node, ast.ClassDef):
            yield node.lineno, node.name, node
        for member in node.body if isinstance(node, ast.ClassDef) and is_called else ():
            if _is_public_method(member):
                assert isinstance(member, Function)
                yield member.lineno, f"{node.name}.{member.name}", member


def _is_public_method(node: ast.stmt) -> bool:
    if not isinstance(node, Function) or node.name.startswith("_"):
        return False
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    return not any(name.endswith((".setter", "overload")) for name in decorators)


def test_no_file_grows_without_end() -> None:
    long = [
        f"{module}: {lines}"
        for module in modules(*CODE)
        if (lines := _code_lines(module)) >= MAX_FILE_LINES
    ]
    assert long == []


def test_no_small_file_serves_one_other_alone() -> None:
    ours = {module.name: module for module in modules(*PACKAGES)}
    importers: dict[str, set[str]] = {name: set() for name in ours}
    for module in ours.values():
        for _, name in imports(module):
            target = name if name in ours else name.rpartition(".")[0]
            if target in ours and target != module.name:
                importers[target].add(module.name)
    small = [
        f"{ours[name]}: {lines} lines, imported by {', '.join(found) or 'none'}"
        for name, found in importers.items()
        if len(found) <= 1
        and name.startswith("qiaocrawl.")
        and ours[name].path.stem not in ("__init__", "__main__")
        and "migrations" not in name
        and name not in LOADED_LATE
        # Compiled apart from what calls it.
        and not ours[name].path.with_suffix(".pxd").exists()
        and (lines := len(ours[name].path.read_text("utf-8").splitlines())) < LEAST_FILE_LINES
    ]
    assert small == []


def test_layout_by_hand_only_falls() -> None:
    lines = [
        line
        for module in modules(*PACKAGES)
        for line in module.path.read_text("utf-8").splitlines()
        if re.search(r"#\s*fmt:\s*(skip|off)\b", line)
    ]
    assert len(lines) <= MAX_FORMATTED_BY_HAND


def _code_lines(module: Module) -> int:
    lines = len(module.path.read_text("utf-8").splitlines())
    for node in module.tree.body:
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        if isinstance(node, ast.Assign | ast.AnnAssign) and length > TABLE_LINES:
            lines -= length
    return lines


def test_no_function_grows_without_end() -> None:
    wrong = []
    for module in modules(*CODE):
        for node in module.nodes:
            if not isinstance(node, Function):
                continue
            size, parameters = _lines(node), _parameters(node)
            if size > MAX_FUNCTION_LINES:
                wrong.append(f"{module}:{node.lineno} {node.name}: {size} lines")
            if parameters > MAX_PARAMETERS:
                wrong.append(f"{module}:{node.lineno} {node.name}: {parameters} parameters")
    assert wrong == []


def _lines(node: Function) -> int:
    """The lines of *node* from its ``def`` on, without the docstring."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    head = node.body[0]
    return lines - (((head.end_lineno or 0) - head.lineno + 1) if ast.get_docstring(node) else 0)


def _parameters(node: Function) -> int:
    arguments = node.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


_LATER = re.compile(r"\b(TODO|FIXME|XXX)\b")


def _comments(text: str) -> Iterator[tokenize.TokenInfo]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return (token for token in tokens if token.type == tokenize.COMMENT)


def test_nothing_is_left_for_later_or_hidden() -> None:
    assert [token.string for token in _comments("a = 1  # TODO: b\n")] == ["# TODO: b"]
    wrong = []
    for module in modules(*CODE):
        text = module.path.read_text("utf-8")
        # Nearly no file has one of these words, and to cut a file up takes long.
        for token in _comments(text) if _LATER.search(text) else ():
            if _LATER.search(token.string):
                wrong.append(f"{module}:{token.start[0]} {token.string}")
        for node in module.nodes:
            if isinstance(node, ast.ExceptHandler) and _swallows(node):
                wrong.append(f"{module}:{node.lineno} a broad except that raises nothing")
    assert wrong == []


def _swallows(handler: ast.ExceptHandler) -> bool:
    """A broad handler that neither raises nor hands the exception on to whoever waits for it."""
    caught = ast.unparse(handler.type) if handler.type else "BaseException"
    if not {"Exception", "BaseException"} & set(re.findall(r"\w+", caught)):
        return False
    for node in ast.walk(handler):
        handed_on = isinstance(node, ast.Return) or (
            isinstance(node, ast.Call) and ast.unparse(node.func).endswith("set_exception")
        )
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} if handed_on else set()
        if isinstance(node, ast.Raise) or handler.name in names:
            return False
    return True


def test_annotations_are_never_evaluated_at_import() -> None:
    future = "from __future__ import annotations"
    without = [
        str(module)
        for module in modules(*CODE)
        if len(module.tree.body) > 1 and future not in module.path.read_text("utf-8")
    ]
    assert without == []


def test_each_test_file_runs_by_itself() -> None:
    """Names are unique, and what several files need is in tests/fixtures/."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    assert [name for name, n in Counter(file.stem for file in files).items() if n > 1] == []
    borrowed = [
        f"{file.relative_to(ROOT)}: {node.module}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("test_")
    ]
    assert borrowed == []
