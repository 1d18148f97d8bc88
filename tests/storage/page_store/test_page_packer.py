"""Pages go into files beside a crawl, and by command."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fresh_schema import make_tables
from page_store_samples import body_of, fill
from qiaocrawl.cli import app
from qiaocrawl.options import Options
from qiaocrawl.reading.alarms import place_figures
from qiaocrawl.runtime import page_packer
from qiaocrawl.runtime.page_packer import PagePacker
from qiaocrawl.storage import Database, Reader, Writer
from storage_samples import soon


def test_a_crawl_packs_what_fills_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_packer, "_LOOK_SECONDS", 0.05)
    url, address = f"sqlite:///{tmp_path}/q.db", f"file://{tmp_path}/pages"
    options = Options({"QIAO_PAGE_STORE": address, "QIAO_PAGE_STORE_FILE_MB": "1"})
    with Database.open(url) as database:
        make_tables(database)
        fill(database, 650)
        reader, writer = Reader(database), Writer(database)
        packer = PagePacker(options, database, reader, writer)
        packer.start()
        # Less than fills a file: it stays.
        assert reader.run(place_figures).in_database == 650 + 130
        fill(database, 50, first=1000)
        until = soon()
        while not any(one.files for one in reader.run(place_figures).stores):
            assert time.monotonic() < until
            time.sleep(0.05)
        packer.close()
        writer.close()
        reader.close()

    monkeypatch.setenv("QIAO_DATABASE_URL", url)
    monkeypatch.setenv("QIAO_PAGE_STORE", address)
    out = tmp_path / "page.html"
    run = CliRunner().invoke
    got = run(app, ["pages", "get", "http://a.example/7", "--out", str(out)])
    assert got.exit_code == 0
    assert out.read_bytes() == body_of(7)
    moved = run(app, ["pages", "move", "--to", f"file://{tmp_path}/two"])
    assert moved.exit_code == 0
    assert "/two now" in moved.stdout
    verified = run(app, ["pages", "verify"])
    assert verified.exit_code == 0
    assert "840 pages and pictures" in verified.stdout
    copy, other = tmp_path / "one.warc.gz", tmp_path / "none.warc.gz"
    assert run(app, ["pages", "export", str(copy), "--host", "a.example"]).exit_code == 0
    assert run(app, ["pages", "export", str(other), "--host", "b.example"]).exit_code == 1
    assert not other.exists()
    copy.unlink()
    # A folder that is gone is told file by file, not record by record.
    (tmp_path / "two").rename(tmp_path / "gone")
    lost = run(app, ["pages", "verify"])
    assert lost.exit_code == 1
    faults = [line for line in lost.stdout.splitlines() if "FileNotFoundError" in line]
    assert 0 < len(faults) < 50
    assert "×" in faults[0]
    (tmp_path / "gone").rename(tmp_path / "two")
    assert run(app, ["pages", "verify"]).exit_code == 0
    assert run(app, ["pages", "stores"]).exit_code == 0
    assert run(app, ["db", "prune", "--older-than", "1", "--keep-days", "0"]).exit_code == 0
    # No article was made of them: all went, and with them both stores' files.
    assert list(tmp_path.rglob("*.warc.gz")) == []
