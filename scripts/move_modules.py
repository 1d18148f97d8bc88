"""Moves and merges modules by a plan, and rewrites whoever names them. For the time of the move.

    python scripts/move_modules.py PLAN PART [PART ...] [--names FILE] [--dry-run]

PLAN has lines "PART n: …", "A.py moves to B.py" and "A.py is folded into B.py". A merged module
has the docstring of the one that moved there (or was there); those of the others become the heads
of their sections. Modules stand behind those they import. Names that clash are listed, and need a
line "A.py OLD NEW" in FILE.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import shutil
import sys
import textwrap
import tokenize
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODE = ("qiaocrawl", "spiders", "pipelines", "middlewares", "benchmarks", "scripts", "tests")
TEXTS = ("*.md", "*.toml", "*.cfg", "*.txt", "*.in", "*.sh", "Makefile", "Dockerfile", "setup.py")


def dotted(path: str) -> str:
    """The module of *path*."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@dataclass
class Source:
    """A module before it moves."""

    path: str
    text: str = ""
    tree: ast.Module = field(default_factory=lambda: ast.Module([], []))
    names: dict[str, str] = field(default_factory=dict)
    """Renamed: old to new."""

    @property
    def module(self) -> str:
        """Its dotted name."""
        return dotted(self.path)

    def load(self) -> None:
        """Read it."""
        self.text = (ROOT / self.path).read_text("utf-8")
        self.tree = ast.parse(self.text)


GONE: list[str] = []
"""Files of packages that go."""


def _says_nothing(file: Path) -> bool:
    """Whether *file* is a package's that goes: nobody can import anything from its title."""
    if file.name != "__init__.py" or not file.exists():
        return False
    return all(
        isinstance(node, ast.Expr) or getattr(node, "module", "") == "__future__"
        for node in ast.parse(file.read_text("utf-8")).body
    )


def read_plan(plan: Path, parts: set[str]) -> dict[str, list[str]]:
    """Target path -> sources in order; the one that gives the docstring is first."""
    targets: dict[str, list[str]] = defaultdict(list)
    part = ""
    for line in plan.read_text("utf-8").splitlines():
        if head := re.match(r"PART (\d+):", line):
            part = head[1]
        elif part in parts and (
            move := re.match(r"\s+(\S+) (moves to|is folded into) (\S+)", line)
        ):
            place = 0 if move[2] == "moves to" else len(targets[move[3]])
            if move[2] == "is folded into" and _says_nothing(ROOT / move[1]):
                GONE.append(move[1])
                continue
            targets[move[3]].insert(place, move[1])
    moved = {source for sources in targets.values() for source in sources}
    for target, sources in targets.items():
        if (ROOT / target).exists() and target not in moved:
            sources.insert(0, target)
    found = {t: [s for s in sources if (ROOT / s).exists()] for t, sources in targets.items()}
    return {target: sources for target, sources in found.items() if sources}


# --- what a module is made of ---------------------------------------------------------------------


def is_type_checking(node: ast.stmt) -> bool:
    """Whether *node* is what only type checkers import."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def begin(node: ast.stmt) -> int:
    """The first line of *node* or of its decorators."""
    decorators = getattr(node, "decorator_list", [])
    first: int = min([node.lineno, *(d.lineno for d in decorators)])
    return first


@dataclass
class Parts:
    """A module in parts: its docstring, imports, and the text of the rest."""

    doc: str = ""
    imports: list[ast.Import | ast.ImportFrom] = field(default_factory=list)
    typing: list[ast.Import | ast.ImportFrom] = field(default_factory=list)
    body: str = ""


def parts_of(text: str) -> Parts:
    """The parts of a module's *text*; comments stay with what follows."""
    tree, lines = ast.parse(text), text.split("\n")
    parts, last, kept = Parts(), 0, []
    for place, node in enumerate(tree.body):
        start, end = begin(node) - 1, node.end_lineno or node.lineno
        if place == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts.doc = str(node.value.value)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            parts.imports.append(node)
            gap = "\n".join(lines[last:start]).strip("\n")
            if gap.strip():
                kept.append(gap)
        elif is_type_checking(node):
            assert isinstance(node, ast.If)
            for inner in node.body:
                if not isinstance(inner, ast.Pass):
                    assert isinstance(inner, ast.Import | ast.ImportFrom), ast.unparse(inner)
                    parts.typing.append(inner)
        else:
            kept.append("\n".join(lines[last:end]))
        last = end
    kept.append("\n".join(lines[last:]))
    parts.body = "\n".join(kept).strip("\n")
    return parts


def defined(tree: ast.Module) -> dict[str, ast.stmt]:
    """What *tree* defines at its top."""
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        found[name.id] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
    return found


# --- names in a text ------------------------------------------------------------------------------


class _Names(ast.NodeVisitor):
    """Places of global uses of names, (line, column in bytes, length in bytes, new text)."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names
        self.edits: list[tuple[int, int, str, str]] = []

    def _inside(self, node: ast.AST) -> None:
        args = getattr(node, "args", None)
        bound = (
            {
                a.arg
                for a in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
                if a is not None
            }
            if isinstance(args, ast.arguments)
            else set()
        )
        declared = {n for g in ast.walk(node) if isinstance(g, ast.Global) for n in g.names}
        bound |= {
            n.id
            for n in ast.walk(node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id not in declared
        }
        inner = _Names({old: new for old, new in self.names.items() if old not in bound})
        inner.generic_visit(node)
        self.edits += inner.edits

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Its name, and what is not bound inside."""
        self._head(node)
        self._inside(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """What is not bound inside."""
        self._inside(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Its name and all inside."""
        self._head(node)
        self.generic_visit(node)

    def _head(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        if node.name in self.names and node.col_offset == 0:
            word = {"ClassDef": "class ", "AsyncFunctionDef": "async def "}.get(
                type(node).__name__, "def "
            )
            column = node.col_offset + len(word)
            self.edits.append((node.lineno, column, node.name, self.names[node.name]))

    def visit_Name(self, node: ast.Name) -> None:
        """A use."""
        if node.id in self.names:
            self.edits.append((node.lineno, node.col_offset, node.id, self.names[node.id]))

    def visit_Global(self, node: ast.Global) -> None:
        """Has no places of its names."""
        for old in node.names:
            if old in self.names:
                print("  look at: global", old)


def edited(text: str, edits: list[tuple[int, int, str, str]]) -> str:
    """*text* with (line, column in bytes, old, new) put in."""
    lines = [line.encode() for line in text.split("\n")]
    for number, column, old, new in sorted(set(edits), reverse=True):
        line = lines[number - 1]
        assert line[column : column + len(old.encode())] == old.encode(), (line, old)
        lines[number - 1] = line[:column] + new.encode() + line[column + len(old.encode()) :]
    return "\n".join(line.decode() for line in lines)


def renamed(text: str, names: dict[str, str]) -> str:
    """A module's *text* with *names* (old to new) of its own."""
    if not names:
        return text
    visitor = _Names(names)
    visitor.visit(ast.parse(text))
    return edited(text, visitor.edits)


# --- whoever names a module -----------------------------------------------------------------------


@dataclass
class Plan:
    """Where everything is after the move."""

    home: dict[str, str]
    """Old module -> new module."""
    names: dict[str, dict[str, str]]
    """Old module -> old name -> new name."""

    def substitute(self, text: str) -> str:
        """*text* with all moved names at once: a new one may be another's old one."""
        pattern = self._pattern()
        text = re.sub(r"from (qiaocrawl[\w.]*) import (\w+)(?![\w,])", self._import, text)
        return pattern.sub(self._new, text) if pattern else text

    def _import(self, match: re.Match[str]) -> str:
        """An import of a module, in code that stands in a string."""
        home = self.home.get(f"{match[1]}.{match[2]}")
        if home is None:
            return match[0]
        package, _, last = home.rpartition(".")
        return f"from {package} import {last}" + (f" as {match[2]}" if last != match[2] else "")

    def _pattern(self) -> re.Pattern[str] | None:
        old = sorted((o for o, n in self.home.items() if o != n), key=len, reverse=True)
        if not old:
            return None
        names = "|".join(re.escape(one) for one in old)
        paths = "|".join(re.escape(one.replace(".", "/")) for one in old)
        shorts = "|".join(
            re.escape(one.removeprefix("qiaocrawl.").replace(".", "/")) for one in old
        )
        return re.compile(
            rf"(?<![\w.])(?P<name>{names})(?![\w])(?!\.py)|(?<!\w)(?P<path>{paths})(?=\.py)|"
            rf"(?<=`)(?P<short>{shorts})(?=(?:\.py)?`)"
        )

    def _new(self, match: re.Match[str]) -> str:
        if match["name"]:
            return self.home[match["name"]]
        if match["path"]:
            return self.home[match["path"].replace("/", ".")].replace(".", "/")
        found = self.home["qiaocrawl." + match["short"].replace("/", ".")]
        return found.replace(".", "/").removeprefix("qiaocrawl/")

    def imports(self, node: ast.ImportFrom, inside: str) -> tuple[list[str], dict[str, str]]:
        """Statements instead of *node*, and module names to be left out in front of attributes."""
        groups: dict[str, list[str]] = defaultdict(list)
        bare: dict[str, str] = {}
        for name in node.names:
            as_module = f"{node.module}.{name.name}"
            if as_module in self.home:
                home = self.home[as_module]
                if home == inside:
                    bare[name.asname or name.name] = as_module
                    continue
                package, _, last = home.rpartition(".")
                alias = name.asname or name.name
                groups[package].append(last if last == alias else f"{last} as {alias}")
                continue
            module = node.module or ""
            home = self.home.get(module, module)
            if home == inside:
                if name.asname and name.asname != name.name:
                    print(f"  look at: {node.module}.{name.name} as {name.asname} in {inside}")
                continue
            new = self.names.get(module, {}).get(name.name, name.name)
            alias = name.asname or name.name
            groups[home].append(new if new == alias else f"{new} as {alias}")
        return [f"from {m} import {', '.join(n)}" for m, n in groups.items()], bare


def rewritten(text: str, plan: Plan, inside: str) -> str:
    """*text* with its imports (wherever they stand) as after the move."""
    tree, lines = ast.parse(text), text.split("\n")
    bare: dict[str, str] = {}
    edits: list[tuple[int, int, list[str]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            touched = node.module in plan.home or any(
                f"{node.module}.{name.name}" in plan.home for name in node.names
            )
            if not touched:
                continue
            new, gone = plan.imports(node, inside)
            bare |= gone
            comment = re.search(r"#\s*noqa.*$", lines[node.lineno - 1])
            tail = f"  {comment[0]}" if comment else ""
            indent = " " * node.col_offset
            edits.append(
                (node.lineno - 1, node.end_lineno or node.lineno,
                 [f"{indent}{one}{tail}" for one in new] or [f"{indent}pass  # MOVED"])
            )  # fmt: skip
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name in plan.home and name.asname:
                    home = plan.home[name.name]
                    line = " " * node.col_offset + f"import {home} as {name.asname}"
                    edits.append((node.lineno - 1, node.end_lineno or node.lineno, [line]))
    if bare:
        attributes = []
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in bare
            ):
                new_name = plan.names.get(bare[node.value.id], {}).get(node.attr, node.attr)
                old = f"{node.value.id}.{node.attr}"
                attributes.append((node.lineno, node.col_offset, old, new_name))
        lines = edited(text, attributes).split("\n")
    for start, end, new in sorted(edits, reverse=True):
        lines[start:end] = new
    text = "\n".join(lines)
    return _without_gaps(text)


def _without_gaps(text: str) -> str:
    """*text* less what stands for moved imports, but where it is all of a block."""
    lines = text.split("\n")
    for place in reversed([n for n, line in enumerate(lines) if line.strip() == "pass  # MOVED"]):
        rest = [*lines[:place], *lines[place + 1 :]]
        try:
            ast.parse("\n".join(rest))
        except SyntaxError:
            continue
        lines = rest
    return "\n".join(lines)


def in_strings(text: str, plan: Plan, *, is_code: bool) -> str:
    """*text* with dotted names and paths as after the move; of code its strings and comments."""
    if not is_code:
        return plan.substitute(text)
    lines = text.split("\n")
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        if token.type in kinds and (new := plan.substitute(token.string)) != token.string:
            start = offsets[token.start[0] - 1] + token.start[1]
            end = offsets[token.end[0] - 1] + token.end[1]
            text = text[:start] + new + text[end:]
    return text


# --- the move -------------------------------------------------------------------------------------


def ordered(sources: list[Source], plan: Plan) -> list[Source]:
    """Behind those they import when they are loaded."""
    own = {source.module: source for source in sources}
    done: list[Source] = []

    def visit(source: Source, path: tuple[str, ...]) -> None:
        if source in done:
            return
        for node in source.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                named = [node.module, *(f"{node.module}.{n.name}" for n in node.names)]
                for name in named:
                    if name in own and name not in path and own[name] is not source:
                        visit(own[name], (*path, source.module))
        done.append(source)

    for source in sources:
        visit(source, ())
    return done


def clashes(target: str, sources: list[Source]) -> Iterator[str]:
    """Lines for the file of names: what would be defined twice."""
    seen: dict[str, tuple[Source, str]] = {}
    for source in sources:
        for name, node in defined(source.tree).items():
            new = source.names.get(name, name)
            code = ast.unparse(node)
            if new == "__all__":
                continue
            if new in seen and seen[new][1] != code:
                also = seen[new][0].path
                yield f"{source.path} {name} {name}_{Path(source.path).stem}   # also {also}"
            seen.setdefault(new, (source, code))


def _width(text: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in text)


def head_of(doc: str) -> str:
    """A section's head out of a module's docstring."""
    lines = doc.strip().split("\n")
    first = lines[0].strip().rstrip(".")
    rest = [line.rstrip() for line in lines[1:]]
    head = f"# --- {first} "
    head = (
        head + "-" * max(3, 100 - len(head))
        if _width(head) < 97
        else "\n".join(textwrap.wrap(first, 96, initial_indent="# --- ", subsequent_indent="# "))
    )
    text = "\n".join(rest).strip("\n")
    if text:
        for paragraph in text.split("\n\n"):
            if max(map(_width, paragraph.split("\n"))) > 98:
                paragraph = "\n".join(textwrap.wrap(paragraph, 82))
            head += "\n" + "\n".join(f"# {line}".rstrip() for line in paragraph.split("\n"))
            head += "\n#"
        head = head.removesuffix("\n#")
    return head


def merged(target: str, sources: list[Source], plan: Plan) -> str:
    """The text of *target*."""
    inside = dotted(target)
    imports: dict[str, None] = {}
    typing: dict[str, None] = {}
    bodies: list[str] = []
    doc = ""
    seen: dict[str, str] = {}
    main = sources[0]
    for source in ordered(sources, plan):
        text = rewritten(renamed(source.text, source.names), plan, inside)
        parts = parts_of(text)
        imports |= dict.fromkeys(one for node in parts.imports for one in _single(node))
        typing |= dict.fromkeys(one for node in parts.typing for one in _single(node))
        body = _without_repeated(parts.body, seen)
        if source is main:
            doc = parts.doc
        elif parts.doc and body:
            body = f"{head_of(parts.doc)}\n\n{body}"
        bodies.append(body)
    known = set(imports)
    imports.pop("from __future__ import annotations", None)
    late = [one for one in typing if one not in known]
    text = f'"""{doc}"""\n\nfrom __future__ import annotations\n\n' + "\n".join(imports) + "\n"
    if late:
        text += "\nif TYPE_CHECKING:\n" + "\n".join(f"    {one}" for one in late) + "\n"
    return text + "\n" + "\n\n\n".join(body for body in bodies if body) + "\n"


def _single(node: ast.Import | ast.ImportFrom) -> list[str]:
    """A statement a name, so that equal ones meet; the formatter joins them."""
    result = []
    for name in node.names:
        one = name.name + (f" as {name.asname}" if name.asname else "")
        if isinstance(node, ast.Import):
            result.append(f"import {one}")
        else:
            result.append(f"from {node.module} import {one}")
    return result


def _without_repeated(body: str, seen: dict[str, str]) -> str:
    """*body* less definitions that stand letter for letter in an earlier one."""
    tree, lines = ast.parse(body), body.split("\n")
    for node in reversed(tree.body):
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.ClassDef):
            continue
        code = ast.unparse(node)
        name = next(iter(defined(ast.Module([node], []))), "")
        if name and seen.get(name) == code:
            del lines[begin(node) - 1 : node.end_lineno]
        elif name:
            seen[name] = code
    return "\n".join(lines).strip("\n")


def main() -> int:
    """Move; 1 where names clash."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plan", type=Path)
    parser.add_argument("parts", nargs="+")
    parser.add_argument("--names", type=Path)
    parser.add_argument("--dry-run", action="store_true")
    given = parser.parse_args()
    targets = read_plan(given.plan, set(given.parts))
    new_names: dict[str, dict[str, str]] = defaultdict(dict)
    if given.names and given.names.exists():
        for line in given.names.read_text("utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                path, old, new = line.split("#")[0].split()
                new_names[path][old] = new
    sources: dict[str, Source] = {}
    for paths in targets.values():
        for path in paths:
            one = Source(path, names=new_names.get(path, {}))
            one.load()
            sources[path] = one
    plan = Plan(
        {dotted(s): dotted(t) for t, paths in targets.items() for s in paths},
        {dotted(path): one.names for path, one in sources.items() if one.names},
    )
    wrong = []
    for target, paths in targets.items():
        wrong += list(clashes(target, [sources[path] for path in paths]))
        for path in paths:
            text = sources[path].text
            for word in ("__file__", "__package__", "files(", "__getattr__"):
                if word in text and path != target:
                    print(f"  look at: {word} in {path}")
    if wrong:
        print("\n".join(wrong))
    if wrong or given.dry_run:
        return int(bool(wrong))
    new_texts = {t: merged(t, [sources[p] for p in ps], plan) for t, ps in targets.items() if ps}
    gone = {path for paths in targets.values() for path in paths} - set(new_texts)
    for path in [*gone, *GONE]:
        (ROOT / path).unlink()
    for target, text in new_texts.items():
        file = ROOT / target
        if file.suffix == ".py" and (folder := file.with_suffix("")).is_dir():
            if list(folder.rglob("*.py")):
                print(f"  look at: {folder} is still there")
            else:
                shutil.rmtree(folder)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    for name in CODE:
        for file in (ROOT / name).rglob("*.py"):
            old = file.read_text("utf-8")
            at = str(file.relative_to(ROOT))
            new = old if at in new_texts else rewritten(old, plan, dotted(at))
            new = in_strings(new, plan, is_code=True)
            if new != old:
                file.write_text(new, "utf-8")
    for pattern in TEXTS:
        for file in ROOT.rglob(pattern):
            if ".venv" in file.parts or ".servers" in file.parts:
                continue
            old = file.read_text("utf-8", "surrogateescape")
            new = in_strings(old, plan, is_code=False)
            if new != old:
                file.write_text(new, "utf-8", "surrogateescape")
    return 0


if __name__ == "__main__":
    sys.exit(main())
