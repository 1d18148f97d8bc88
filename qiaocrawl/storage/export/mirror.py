"""Pages as files in folders that mirror the URL's path (T4), with an index of what is where."""

from __future__ import annotations

import csv
import hashlib
import re
from pathlib import Path

from sqlalchemy import Connection

from qiaocrawl.errors import StorageError
from qiaocrawl.items import FetchedPage
from qiaocrawl.language import _
from qiaocrawl.storage.export.base import ExportReport, Progress
from qiaocrawl.storage.export.choice import Selection
from qiaocrawl.storage.export.neutral import neutral
from qiaocrawl.storage.export.selection import iter_pages

INDEX = "~index.csv"
_INDEX_COLUMNS = ("path", "url", "status", "content_type", "fetched_at", "truncated")

_MAX_NAME_BYTES = 180
_MAX_FOLDERS = 30
_UNSAFE = re.compile(r"[^A-Za-z0-9._~%=&+,@!()-]")
# Names Windows gives to devices, with any suffix.
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
_EXTENSIONS = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "application/json": ".json",
    "application/pdf": ".pdf",
}


def write_files(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    """A folder a host, below it the URL's own folders; ``~index.csv`` lists every file.

    Raises:
        StorageError: *out* is a file or a folder with something in it.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise StorageError(_("folder {out!r} is not empty", out=str(out)))
        return _write_all(c, selection, out, progress)
    except OSError as error:
        raise StorageError(
            _("cannot write below {out!r}: {error}", out=str(out), error=error)
        ) from error


def _write_all(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    written = 0
    with (out / INDEX).open("w", encoding="utf-8-sig", newline="") as file:
        index = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        index.writerow(_INDEX_COLUMNS)
        for page in iter_pages(c, selection):
            path = _write_page(out, page)
            index.writerow([
                path.as_posix(), neutral(page.url), page.status,
                neutral(page.header("content-type")), page.fetched_at.isoformat(),
                int(page.truncated),
            ])  # fmt: skip
            written += 1
            progress(1)
    return ExportReport(written)


def _write_page(out: Path, page: FetchedPage) -> Path:
    path = mirror_path(page)
    parent = out / path.parent
    if (out / path).exists() or not _can_be_made(out, path.parent):
        # Both /a and /a/b are pages, or two names differ only in what was cut from them.
        path = Path(path.parts[0]) / f"~{_digest(page.url)}{_extension(page)}"
        parent = out / path.parent
    parent.mkdir(parents=True, exist_ok=True)
    # "x": never over another page, and never through a link someone put there.
    with (out / path).open("xb") as file:
        file.write(page.body)
    return path


def _can_be_made(out: Path, folder: Path) -> bool:
    return not any((out / place).is_file() for place in (folder, *folder.parents))


def mirror_path(page: FetchedPage) -> Path:
    """Where *page* is put below the export's folder: ``host/folders/name``.

    The path keeps the URL's escapes; a query becomes part of the name behind ``%3F``. Every
    part is a plain name: no ``.``, ``..``, separator, device name or other host's folder.
    """
    host, _, rest = page.url.partition("://")[2].partition("/")
    path, _, query = rest.partition("?")
    *folders, name = path.split("/")
    host = safe_name(host.rpartition("@")[2], page.url)
    if len(folders) > _MAX_FOLDERS:
        return Path(host, f"~{_digest(page.url)}{_extension(page)}")
    if query or "." not in name:
        name = f"{name or 'index'}{'?' + query if query else ''}{_extension(page)}"
    return Path(host, *(safe_name(part, page.url) for part in (*folders, name)))


def safe_name(part: str, url: str) -> str:
    """*part* of *url* as the name of a file or folder that any system takes for a plain name."""
    name = _UNSAFE.sub(_escaped, part) or "%"
    if not name.strip("."):
        name = name.replace(".", "%2E")
    if name[-1] in ".":
        name = name[:-1] + "%2E"
    if name[0] == "~":  # names of our own begin so
        name = "%7E" + name[1:]
    if _DEVICE.match(name):
        name = "_" + name
    if len(name) > _MAX_NAME_BYTES:
        suffix = Path(name).suffix[:8]
        name = f"{name[: _MAX_NAME_BYTES - 30]}~{_digest(url + part)}{suffix}"
    return name


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))


def _extension(page: FetchedPage) -> str:
    return _EXTENSIONS.get(page.header("content-type").partition(";")[0].strip().lower(), ".html")


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
