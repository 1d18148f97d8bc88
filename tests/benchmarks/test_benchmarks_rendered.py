"""The benchmark of rendered pages: which pages it takes, and what the browser may do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.bodies.score import Gold
from benchmarks.extraction import GoldPage
from benchmarks.extraction_rendered import few_of_each, measure, rendered_all
from qiaocrawl.page.layout import layout_of
from qiaocrawl.page.page import parse_page

TEXT = "归侨侨眷代表大会八月二十日在福州召开，三百多名代表出席会议。"
HTML = (
    '<html><head><meta charset="gb2312"><title>侨讯</title>'
    '<link rel=stylesheet href="http://10.0.0.1/a.css"></head><body>'
    f"<p>{TEXT}</p><p>{TEXT}</p><div style='display:none'>请登录</div>"
    "<iframe src='/other'></iframe><script>document.write('脚本')</script></body></html>"
)


def gold_page(name: str, source: str, text: str | None = f"{TEXT}\n{TEXT}") -> GoldPage:
    body = HTML.encode("gb18030")
    gold = Gold("zh", text, None, None, None, "侨讯")
    return GoldPage(name, "http://www.qiao.example/a", source, body, HTML, gold)


def test_pages_are_spread_over_each_source() -> None:
    pages = [gold_page(f"a{i}", "a") for i in range(9)] + [gold_page("b", "b")]
    pages.append(gold_page("no text", "b", None))
    assert [page.id for page in few_of_each(pages, 3)] == ["a0", "a3", "a6", "b"]
    assert len(few_of_each(pages, 0)) == 10


@pytest.mark.chromium
@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_pages_are_rendered_offline_without_scripts_and_kept(tmp_path: Path) -> None:
    page = gold_page("one", "a")
    console = Console(quiet=True)
    sources = rendered_all([page], tmp_path, console)
    parsed = parse_page(sources["one"], "text/html; charset=utf-8", page.url)
    assert layout_of(parsed) is not None
    assert [block.text for block in parsed.blocks.blocks] == [TEXT, TEXT]
    (tmp_path / "one.html").write_bytes(b"kept")
    assert rendered_all([page], tmp_path, console) == {"one": b"kept"}
    lines = measure(["visual"], [page], sources)
    f1 = {(line.look, line.group.source): line.row()["f1"] for line in lines}
    assert f1 == dict.fromkeys(
        [(look, source) for look in ("declared", "rendered") for source in ("all", "a")], 1.0
    )
