"""What pages wrote cannot steer the terminal it is shown at."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import pytest
from rich.progress import Progress
from rich.table import Table

from command_runs import Run
from fresh_schema import make_tables
from qiaocrawl.items import Relevance
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import articles
from qiaocrawl.text.visible import Terminal
from storage_samples import PACK, add_article, add_topic

ROOT = Path(__file__).resolve().parents[2]
STEERING = "\x1b\x9b\x07\x08\x7f\x85\u202e\u2066\u2069\u200e\u200f"
HOSTILE = f"侨胞{STEERING}[2J回乡"
SHOWN = "2J回乡"


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A database with an article and its reprint, both with hostile titles."""
    address = f"sqlite:///{tmp_path}/q.db"
    with Database.open(address) as database:
        make_tables(database)
        ids = {PACK.name: add_topic(database)}
        with database.engine.begin() as c:
            for number in range(2):
                row = add_article(c, str(number), title=HOSTILE, body=f"{HOSTILE}。",
                                  author=HOSTILE, source=HOSTILE)  # fmt: skip
                judged = Relevance(PACK.name, 0.75, True, "vsm", ((HOSTILE, 0.4),))
                articles.save_relevance(c, row, ids, [judged])
    return address


@pytest.mark.parametrize(
    "command",
    [
        ("article", "list"), ("article", "show", "1"), ("article", "search", "回乡"),
        ("report", "why", "http://a.example/1"), ("report", "why", "http://a.example/1", "--json"),
        ("dedup", "group", "http://a.example/1"), ("report", "coverage"),
        ("report", "missed", PACK.name),
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_command_prints_them(run: Run, url: str, command: tuple[str, ...]) -> None:
    _, out, err = run(*command, "--database", url)
    assert out or err
    assert not set(out + err) & set(STEERING)


def test_titles_are_still_shown(run: Run, url: str) -> None:
    assert SHOWN in run("article", "list", "--database", url)[1]


def test_an_error_and_a_page_to_extract_print_none(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<title>{HOSTILE}</title><h1>{HOSTILE}</h1><p>{'侨胞回乡了。' * 30}{HOSTILE}")
    for arguments in ((), ("--json",), ("--explain", str(tmp_path / "e.html"))):
        code, out, err = run("extract", str(page), *arguments)
        assert code == 0
        assert not set(out + err) & set(STEERING)
    assert not set((tmp_path / "e.html").read_text("utf-8")) & set(STEERING)
    code, out, err = run("extract", f"{tmp_path}/{HOSTILE[:5]}\u202e")
    assert (code, bool(set(out + err) & set(STEERING))) == (1, False)


def test_a_terminal_keeps_its_own_commands() -> None:
    written = io.StringIO()
    console = Terminal(file=written, force_terminal=True, width=80, highlight=False)
    table = Table(HOSTILE, min_width=40)
    table.add_row(f"[red]{HOSTILE}")
    console.print(table, HOSTILE, style="bold")
    with Progress("{task.description}", console=console) as progress:
        progress.add_task(HOSTILE, total=1)
    text = written.getvalue()
    assert text.count(SHOWN) >= 3
    # Colours and the bar's moves are there; of a page's own ESC nothing is left.
    assert "\x1b[1m" in text
    assert "\x1b[2J" not in text
    assert not set(text) & set(STEERING[1:])


PRINTERS = {"typer.echo", "click.echo", "typer.secho", "print", "json.dump"}


def test_all_that_is_printed_goes_through_it() -> None:
    """``typer.echo`` and Rich's own console let everything through."""
    wrong = []
    for path in sorted((ROOT / "qiaocrawl").rglob("*.py")):
        text = path.read_text("utf-8")
        # The two functions that all the others call.
        tree = ast.parse(text)
        if path == ROOT / "qiaocrawl" / "cli" / "output.py":
            own = {"echo", "echo_json"}
            tree.body = [node for node in tree.body if getattr(node, "name", "") not in own]
        printers = PRINTERS | ({"Console"} if "rich.console" in text else set())
        for node in ast.walk(tree):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name in printers:
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} {name}")
    assert wrong == []
