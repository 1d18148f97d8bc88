"""Writes small recorded webs for tests: WARC files and folders of collected pages."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

HTML = "text/html; charset=utf-8"


@dataclass
class Recorded:
    """One answer to record; ``headers`` are added to its content type."""

    url: str
    body: bytes = b""
    status: str = "200 OK"
    headers: Mapping[str, str] = field(default_factory=dict)
    date: str = "2026-01-02T03:04:05Z"
    kind: str = "response"


def warc_bytes(answers: Iterable[Recorded], *, compressed: bool, info: bool = True) -> bytes:
    """A WARC file of *answers*, after its warcinfo record unless *info* is off."""
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=compressed)
    if info:
        add_record(writer, writer.create_warcinfo_record("test.warc", {"software": "tests"}))
    for answer in answers:
        headers = {"Content-Type": HTML, **answer.headers}
        record = writer.create_warc_record(
            answer.url,
            answer.kind,
            payload=io.BytesIO(answer.body),
            http_headers=StatusAndHeaders(
                answer.status, list(headers.items()), protocol="HTTP/1.1"
            ),
            warc_headers_dict={"WARC-Date": answer.date},
        )
        add_record(writer, record)
    return out.getvalue()


def add_record(writer: WARCWriter, record: ArcWarcRecord) -> None:
    """Write *record* and close the temporary file that warcio leaves open."""
    writer.write_record(record)
    record.raw_stream.close()


def write_warc(path: Path, answers: Iterable[Recorded]) -> Path:
    """*answers* as the WARC file *path*, compressed when it ends in ``.gz``."""
    path.write_bytes(warc_bytes(answers, compressed=path.name.endswith(".gz")))
    return path


def write_graph(folder: Path, files: Iterable[tuple[str, str]]) -> None:
    """``graph.jsonl.xz`` in *folder* with (url, file) pairs."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"url": url, "file": file}) + "\n" for url, file in files]
    (folder / "graph.jsonl.xz").write_bytes(lzma.compress("".join(lines).encode()))


def tar_bytes(members: Iterable[tuple[str, bytes]]) -> bytes:
    """An uncompressed tar file of *members*."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, body in members:
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return out.getvalue()


def write_collection(folder: Path, pages: Mapping[str, bytes], *, packed: bool = True) -> Path:
    """A folder of collected pages, as ``pages.tar.xz`` or (not *packed*) unpacked."""
    names = {url: f"pages/{number}.html" for number, url in enumerate(pages)}
    write_graph(folder, names.items())
    if packed:
        tar = tar_bytes((names[url], body) for url, body in pages.items())
        (folder / "pages.tar.xz").write_bytes(lzma.compress(tar))
    else:
        (folder / "pages").mkdir()
        for url, body in pages.items():
            (folder / names[url]).write_bytes(body)
    return folder


def gzipped(data: bytes) -> bytes:
    """*data* as one gzip member."""
    return gzip.compress(data)
