"""What the code never does: SQL made of values (F-D11), objects out of stored bytes (F-F9), files
at names an archive gives (F-W9)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CODE = ("qiaocrawl", "spiders", "pipelines", "middlewares")

_SQL = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT\s+(IGNORE\s+)?INTO|UPDATE\s+`?\w+`?\s+SET|DELETE\s+FROM|"
    r"(CREATE|ALTER|DROP)\s+(TABLE|INDEX|TRIGGER|DATABASE)|PRAGMA\s+\w|ORDER\s+BY\s|WHERE\s+`?\w)",
    re.DOTALL,
)
_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
_HARMLESS = {"int", "len", "sorted"}
# Advice in words that names a statement; the maker of upserts, whose callers are looked at.
_NO_SQL = {"qiaocrawl/storage/migrate.py", "qiaocrawl/storage/sql.py"}

_UNPICKLING = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "yaml"}


@cache
def _modules() -> list[tuple[str, ast.Module]]:
    files = [file for package in CODE for file in sorted((ROOT / package).rglob("*.py"))]
    return [(str(file.relative_to(ROOT)), ast.parse(file.read_text("utf-8"))) for file in files]


@pytest.fixture(scope="module", autouse=True)
def _forgotten() -> Iterator[None]:
    """The trees of all files are large, and the tests behind these do without."""
    yield
    _modules.cache_clear()
    _nodes.cache_clear()


@cache
def _nodes(tree: ast.Module) -> list[ast.AST]:
    """All nodes of *tree*, found once for all tests here."""
    return list(ast.walk(tree))


def _written(node: ast.AST) -> tuple[str, list[ast.expr]] | None:
    """The fixed text of a string that is put together, and what is put into it."""
    if isinstance(node, ast.JoinedStr):
        fixed = [part.value for part in node.values if isinstance(part, ast.Constant)]
        return " ? ".join(map(str, fixed)), [
            part.value for part in node.values if isinstance(part, ast.FormattedValue)
        ]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.Add):
        sides = (node.left, node.right)
        texts = [side.value for side in sides if isinstance(side, ast.Constant)]
        others = [side for side in sides if not isinstance(side, ast.Constant)]
        return " ? ".join(text for text in texts if isinstance(text, str)), others
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        text = node.func.value
        if node.func.attr in ("format", "format_map", "join") and isinstance(text, ast.Constant):
            return str(text.value), [*node.args, *(one.value for one in node.keywords)]
    return None


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _is_constant(node: ast.expr, literals: set[str]) -> bool:
    """Whether it is made of literals, constants of modules and what a comprehension names only."""
    own = literals | {
        name.id for part in ast.walk(node) if isinstance(part, ast.comprehension)
        for name in ast.walk(part.target) if isinstance(name, ast.Name)
    }  # fmt: skip
    rest: list[ast.AST] = [node]
    while rest:
        part = rest.pop()
        if isinstance(part, ast.Attribute) and _CONSTANT.fullmatch(part.attr):
            continue
        if isinstance(part, ast.Name) and not (
            _CONSTANT.fullmatch(part.id) or part.id in own | _HARMLESS
        ):
            return False
        rest += ast.iter_child_nodes(part)
    return True


def _made_sql(tree: ast.Module) -> list[str]:
    found = []
    # A comprehension over literals, at the top of a module, makes constants.
    own = {
        name.id for one in tree.body if isinstance(one, ast.Assign) for part in ast.walk(one)
        if isinstance(part, ast.comprehension) and _is_literal(part.iter)
        for name in ast.walk(part.target) if isinstance(name, ast.Name)
    }  # fmt: skip
    for node in _nodes(tree):
        if (written := _written(node)) is None or not _SQL.search(written[0]):
            continue
        if not all(_is_constant(part, own) for part in written[1]):
            found.append(f"line {getattr(node, 'lineno', 0)}: {ast.unparse(node)[:120]}")
    return found


def test_upserts_are_made_of_constants() -> None:
    """What ``raw_sql.upsert`` joins to a statement are names that stand in the code."""
    calls = [
        (name, node)
        for name, tree in _modules()
        for node in _nodes(tree)
        if isinstance(node, ast.Call) and _called(node).endswith("upsert")
    ]
    assert len(calls) >= 10
    for name, call in calls:
        for value in (*call.args, *(keyword.value for keyword in call.keywords)):
            assert _is_constant(value, set()), f"{name}, line {call.lineno}"


def test_no_sql_is_made_of_values() -> None:
    found = {
        f"{name}, {line}" for name, tree in _modules() if name not in _NO_SQL
        for line in _made_sql(tree)
    }  # fmt: skip
    assert found == set(), "bind values, or write a constant of the module"


@pytest.mark.parametrize(
    "bad",
    [
        "f'SELECT id FROM url WHERE url = {url}'",
        "'SELECT id FROM url WHERE url = %s' % url",
        "'DELETE FROM url WHERE id = ' + given",
        "'UPDATE url SET state = {}'.format(state)",
        "f'SELECT id FROM url ORDER BY {column}'",
    ],
)
def test_the_check_finds_sql_made_of_values(bad: str) -> None:
    assert _made_sql(ast.parse(f"c.exec_driver_sql({bad})"))


def _called(call: ast.Call) -> str:
    """The last name of what is called."""
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def _unpickled(tree: ast.Module) -> list[str]:
    found = []
    for node in _nodes(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Call):
            called = _called(node)
            allows = any(
                one.arg == "allow_pickle" and not _is_false(one.value) for one in node.keywords
            )
            # numpy's own default has changed once; re.compile and the like are no such calls.
            says = any(one.arg == "allow_pickle" for one in node.keywords)
            is_numpy = called == "load" and ast.unparse(node.func).startswith(("np.", "numpy."))
            if (
                allows
                or (is_numpy and not says)
                or getattr(node.func, "id", "") in ("eval", "exec")
            ):
                found.append(f"line {node.lineno}: {ast.unparse(node)[:120]}")
        found += [f"line {getattr(node, 'lineno', 0)}: import {name}" for name in names
                  if name.partition(".")[0] in _UNPICKLING]  # fmt: skip
    return found


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def test_nothing_is_unpickled_or_evaluated() -> None:
    found = {f"{name}, {line}" for name, tree in _modules() for line in _unpickled(tree)}
    assert found == set(), "state is JSON, columns, or arrays without objects"


@pytest.mark.parametrize(
    "bad",
    ["import pickle", "from marshal import loads", "np.load(file)", "eval(text)",
     "numpy.load(file, allow_pickle=True)"],
)  # fmt: skip
def test_the_check_finds_unpickling(bad: str) -> None:
    assert _unpickled(ast.parse(bad))


def test_no_archive_is_unpacked_onto_the_disk() -> None:
    """Members are read one by one; a name such as ``../../x`` is no path of ours."""
    named = {"extractall", "unpack_archive"}
    found = {
        f"{name}, line {node.lineno}" for name, tree in _modules() for node in _nodes(tree)
        if isinstance(node, ast.Attribute) and node.attr in named
    }  # fmt: skip
    assert found == set()
