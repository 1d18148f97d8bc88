"""Pages as a WARC file, which this crawler and any web archive tool can replay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection

from qiaocrawl.items import FetchedPage
from qiaocrawl.language import _
from qiaocrawl.storage.export.base import ExportReport, Progress
from qiaocrawl.storage.export.choice import Selection
from qiaocrawl.storage.export.selection import iter_pages
from qiaocrawl.storage.outfile import growing_file
from qiaocrawl.storage.page_store.records import info_member, page_member, picture_member
from qiaocrawl.storage.pages.page_versions import VersionChoice, iter_versions


def write_warc(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    """A ``response`` record a page, gzipped each on its own."""
    written = cut = 0
    with growing_file(out) as part, part.open("wb") as file:
        file.write(info_member(out.name))
        for page in iter_pages(c, selection):
            file.write(page_member(page))
            written += 1
            cut += page.truncated
            progress(1)
    return ExportReport(
        written, (_("{cut} pages had been cut when they were stored", cut=cut),) * bool(cut)
    )


def write_record(page: FetchedPage, out: Path) -> None:
    """Write one *page* as such a file.

    Raises:
        StorageError: the file cannot be written.
    """
    with growing_file(out) as part, part.open("wb") as file:
        file.write(info_member(out.name) + page_member(page))


def write_versions(
    c: Connection, choice: VersionChoice, out: Path, advance: Callable[[int], bool]
) -> tuple[int, int]:
    """Write every chosen version with its picture; returns records, and pages left out unread.

    Raises:
        StorageError: the file cannot be written.
    """
    written = unread = 0
    with growing_file(out) as part, part.open("wb") as file:
        file.write(info_member(out.name))
        for page, picture in iter_versions(c, choice):
            if page is None:
                unread += 1
            else:
                file.write(page_member(page))
                written += 1
            if page is not None and picture is not None:
                file.write(picture_member(page.final_url or page.url, picture))
                written += 1
            if not advance(1):
                break
    return written, unread
