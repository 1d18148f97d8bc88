"""docs/sample: pages of the console as files, which lead to each other and ask for nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from console_articles import add_stories
from console_client import desk_at
from fresh_schema import make_tables
from qiaocrawl.storage import Database
from scripts.sample import needed_rules, write_sample
from told_stories import hand_over_stories, keep_a_briefing, tell_stories

SAMPLE = Path(__file__).resolve().parents[1] / "docs" / "sample"
MOST_BYTES = 1_500_000


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[str, ...]]:
    """A sample of a small database, and what must not be in it."""
    folder = tmp_path_factory.mktemp("sample")
    url = f"sqlite:///{folder / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
        add_stories(database)
    tell_stories(url)
    keep_a_briefing(url)
    hand_over_stories(url)
    with desk_at(url, search_dir=str(folder / "search")) as desk:
        desk.log_in_as("reader")
        out = folder / "out"
        write_sample(desk.get, out)
        return out, (desk.token, desk.client.cookies["qiao_session"])


def test_a_sample_of_a_small_database_is_whole(made: tuple[Path, tuple[str, ...]]) -> None:
    out, secrets = made
    assert _faults(out) == []
    names = {file.name for file in out.iterdir()}
    assert {"index.html", "stories-1.html", "briefings-1.html", "briefings-1-page.html"} <= names
    assert {"articles-1.html", "sample.css"} <= names
    told = "".join(file.read_text("utf-8") for file in out.iterdir())
    assert "马德里华人仓库失火" in told
    assert not any(secret in told for secret in secrets)


def test_what_an_earlier_sample_left_goes(made: tuple[Path, tuple[str, ...]]) -> None:
    def answer(path: str):  # type: ignore[no-untyped-def]
        raise RuntimeError(path)

    out, _secrets = made
    before = sorted(out.iterdir())
    with pytest.raises(RuntimeError, match="/stories"):
        write_sample(answer, out, ["/stories"])
    assert sorted(out.iterdir()) == before


def test_the_sample_of_the_docs_is_whole_and_small() -> None:
    assert _faults(SAMPLE) == []
    assert sum(file.stat().st_size for file in SAMPLE.iterdir()) <= MOST_BYTES
    assert (SAMPLE / "index.html").is_file()
    assert (SAMPLE / "briefings-1-page.html").is_file()


def _faults(folder: Path) -> list[str]:
    """What does not work in a sample, or would ask for something over the network."""
    found = []
    shown: dict[str, str] = {}
    for file in sorted(folder.glob("*.html")):
        if (first := shown.setdefault(file.read_text("utf-8"), file.name)) != file.name:
            found.append(f"{file.name}: the same as {first}")
        tree = LexborHTMLParser(file.read_text("utf-8"))
        for node in tree.css("script, form, button, input, select, textarea, object, embed"):
            found.append(f"{file.name}: <{node.tag}>")
        for node in tree.css("[href], [src]"):
            to = node.attributes.get("href") or node.attributes.get("src") or ""
            if to.startswith("data:"):
                continue
            name, _hash, anchor = to.partition("#")
            target = folder / name if name else file
            is_there = ":" not in name and target.is_file()
            if not is_there or (anchor and f'id="{anchor}"' not in target.read_text("utf-8")):
                found.append(f"{file.name}: {to}")
    reached = {"index.html", "sample.css"}
    waiting = ["index.html"]
    while waiting:
        page = LexborHTMLParser((folder / waiting.pop()).read_text("utf-8"))
        links = [node.attributes.get("href") or node.attributes.get("src") or ""
                 for node in page.css("a[href], iframe[src], img[src]")]  # fmt: skip
        new = {link.partition("#")[0] for link in links} - reached - {""}
        reached |= new
        waiting += [name for name in new if name.endswith(".html")]
    found += [f"nothing leads to {file.name}" for file in folder.iterdir()
              if file.name not in reached]  # fmt: skip
    styles = (folder / "sample.css").read_text("utf-8")
    return found + [own for own in re.findall(r"url\([^)]*\)", styles) if "data:" not in own[:12]]


@pytest.mark.parametrize(
    ("styles", "kept"),
    [
        (".a{color:red}.b{color:blue}", ".a{color:red}"),
        (".a,.b{x:y}", ".a{x:y}"),
        (".a .b,.a:not(.b){x:y}", ".a:not(.b){x:y}"),
        ("@media (width>9px){.a{x:y}.b{x:y}}", "@media (width>9px){.a{x:y}}"),
        ("@media (width>9px){.b{x:y}}", ""),
        ('.a{content:"}"}.b{x:y}', '.a{content:"}"}'),
        ("/* .a{} */[data-bs-theme=dark] .a{x:y}", ""),
        (".a{animation:turn 1s}@keyframes turn{from{x:y}}@keyframes other{from{x:y}}",
         ".a{animation:turn 1s}\n@keyframes turn{from{x:y}}"),
    ],
)  # fmt: skip
def test_a_style_sheet_keeps_the_rules_of_its_pages(styles: str, kept: str) -> None:
    assert needed_rules(styles, ['<p class="a" id="c">']) == kept
