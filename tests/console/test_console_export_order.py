"""Files keep the order of the list they are exported from."""

from __future__ import annotations

import csv
import html
import io
import json
import re

from openpyxl import load_workbook
from sqlalchemy import text

from console_articles import add_stories
from console_client import Desk


def test_files_keep_the_order_of_the_list(desk: Desk) -> None:
    add_stories(desk.database)
    with desk.database.engine.begin() as c:
        for row_id, found, published, score in (
            (1, "2026-03-08", "2026-03-02", 0.3), (2, "2026-03-07", None, 0.9),
            (3, "2026-03-09", "2026-03-04", 0.6), (4, "2026-03-06", "2026-03-03", 0.1),
        ):  # fmt: skip
            c.execute(
                text("UPDATE article SET fetched_at = :found, published_at = :out WHERE id = :id"),
                {"found": f"{found} 01:00:00.000000", "id": row_id,
                 "out": f"{published} 01:00:00.000000" if published else None},
            )  # fmt: skip
            c.execute(text("UPDATE relevance SET score = :score WHERE article_id = :id"),
                      {"score": score, "id": row_id})  # fmt: skip
    desk.log_in_as("reader")
    orders = {"newest": [3, 1, 2, 4], "published": [3, 4, 1, 2], "score": [2, 3, 1, 4]}
    for sort, ids in orders.items():
        choice = f"relevance=any&copies=1&sort={sort}"
        page = desk.get(f"/articles?{choice}").text
        titles = [
            html.unescape(one) for one in re.findall(r'console-title"><a [^>]*>(.*?)</a>', page)
        ]
        lines = desk.get(f"/articles/export/jsonl?{choice}").text.splitlines()
        assert [json.loads(line)["id"] for line in lines] == ids, sort
        assert [json.loads(line)["title"] for line in lines] == titles, sort
        rows = csv.DictReader(io.StringIO(desk.get(f"/articles/export/csv?{choice}").text[1:]))
        assert [row["title"] for row in rows] == titles, sort
        book = load_workbook(io.BytesIO(desk.get(f"/articles/export/xlsx?{choice}").content))
        cells = [str(value) for row in book.worksheets[0].values for value in row]
        assert [cell for cell in cells if cell in titles] == titles, sort
