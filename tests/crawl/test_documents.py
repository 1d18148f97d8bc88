"""A real crawl of a site that publishes files: articles that name their page."""

from __future__ import annotations

from pathlib import Path

from crawling import Answer, article, crawl, import_pack, local_server, outcomes, pack
from document_files import LINES, TITLE, excel, pdf, word
from qiaocrawl.reading.records import iter_articles
from qiaocrawl.storage import Database
from qiaocrawl.storage.selection import Selection

HOST = "www.qiao.test"
FILES = {
    "/f/notice.pdf": pdf([LINES]),
    "/f/scan.pdf": pdf([[]], picture=True),
    "/f/plan.docx": word(),
    "/f/money.xlsx": excel(),
    "/f/large.pdf": pdf([LINES]) + b" " * 3_000_000,
    "/f/broken.pdf": pdf([LINES])[:300],
}


def site(host: str, path: str) -> Answer | None:
    if path == "/":
        return Answer(article("通知公告", links=tuple(FILES)))
    body = FILES.get(path)
    return Answer(body, headers={"Content-Type": "application/pdf"}) if body else None


def test_files_become_articles(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(site) as server:
        run = crawl(
            "site", url, "topic=qiaoqing", "-s", "QIAO_DOCUMENT_MAX_MB=2", folder=tmp_path,
            QIAO_DEMO=server.origin, QIAO_DOCUMENTS="on",
        )  # fmt: skip
    assert run.returncode == 0, run.log
    ends = {address.partition(HOST)[2]: outcome for address, outcome in outcomes(url).items()}
    assert {path: ends.get(path) for path in FILES} == {
        "/f/notice.pdf": "article", "/f/plan.docx": "article", "/f/money.xlsx": "article",
        "/f/scan.pdf": "scanned", "/f/large.pdf": "too_large", "/f/broken.pdf": "not_html",
    }  # fmt: skip
    assert "qiaocrawl/outcome/scanned': 1" in run.log
    with Database.open(url) as database, database.engine.connect() as c:
        stored = [
            (record.title, record.found_on)
            for record in iter_articles(c, Selection())
            if record.kind == "document"
        ]
    front = f"http://{HOST}/"
    assert sorted(stored) == [("2026年侨务经费安排表", front), (TITLE, front), (TITLE, front)]
