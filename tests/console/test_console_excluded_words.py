"""Words that must not occur: kept out of lists and files, with the search index and without."""

from __future__ import annotations

import csv
import html
import io
import re
import time
from urllib.parse import urlencode

import pytest
from openpyxl import load_workbook

from console_articles import STORIES, add_stories
from console_client import Desk, visible
from qiaocrawl.console.page import Console
from qiaocrawl.storage import selection as choice
from storage_samples import soon

FIRST, COPY, OTHER, OFF = (title for title, *_rest in STORIES)
EVERY = {"relevance": "any", "copies": "1"}


def titles(desk: Desk, searched: str) -> list[str]:
    """What a list of all articles finds."""
    page = desk.get(f"/articles?{urlencode({**EVERY, 'q': searched})}").text
    found = re.findall(r'console-title"><a [^>]*>(.*?)</a>', page)
    return [html.unescape(re.sub("</?mark>", "", title)) for title in found]


def in_files(desk: Desk, searched: str) -> tuple[list[str], list[str]]:
    """The titles of the same list as CSV and as a workbook, in their order."""
    address = urlencode({**EVERY, "q": searched})
    rows = csv.DictReader(io.StringIO(desk.get(f"/articles/export/csv?{address}").text[1:]))
    book = load_workbook(io.BytesIO(desk.get(f"/articles/export/xlsx?{address}").content))
    sheet = list(book.worksheets[0].values)
    head = next(row for row in sheet if "标题" in row)
    place = head.index("标题")
    listed = [str(row[place]) for row in sheet[sheet.index(head) + 1 :] if row[place]]
    return [row["title"] for row in rows], listed


@pytest.mark.parametrize("has_index", [True, False])
def test_excluded_words_are_in_no_list_and_no_file(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, has_index: bool
) -> None:
    add_stories(desk.database)
    desk.log_in_as("reader")
    console: Console = desk.client.app.state.console  # type: ignore[attr-defined]
    limit = soon(120)
    while console.search.notice():
        assert time.monotonic() < limit
        time.sleep(0.05)
    if not has_index:
        console.search.stop()
        monkeypatch.setattr(console.search, "_in_step", False)
    # Files are written part by part.
    monkeypatch.setattr(choice, "_AT_A_TIME", 1)
    wanted = {
        "侨务 -转载": [FIRST],
        "侨务": [COPY, FIRST],
        "-侨务": [OFF, OTHER],
        "-侨务 -球赛": [OTHER],
        "-侨胞": [OFF, COPY, FIRST],
        "-没有的词": [OFF, OTHER, COPY, FIRST],
    }
    for searched, found in wanted.items():
        assert titles(desk, searched) == found, searched
        assert in_files(desk, searched) == (found, found), searched
    assert (
        COPY not in desk.get(f"/articles/feed.xml?{urlencode({**EVERY, 'q': '侨务 -转载'})}").text
    )
    address = f"/articles?{urlencode({**EVERY, 'q': '，。'})}"
    assert "“，。” has no word to search for" in visible(desk.get(address).text)
