"""Peers' public test suites as pages with gold, read where they lie outside the project.

Known are the layouts of three projects, wherever in a folder they stand:

- Readability: ``NAME/source.html`` with ``expected.html`` and ``expected-metadata.json``;
- Postlight's parser: ``fixtures/HOST/NUMBER.html``, named by the tests of
  ``src/extractors/custom/HOST/index.test.js``, which say title, author and date, and no body;
- fundus: ``LANGUAGE/PUBLISHER.json``, a record a version of its parser, beside
  ``PUBLISHER_DATE.html.gz`` and ``meta.info`` with the addresses.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lxml import html as lxml_html

Row = Mapping[str, Any]
"""A line of ``gold.jsonl``: id, url, lang, source_dataset, title, date, author, text."""

_CHINESE_FOLDERS = frozenset({"cn", "hk", "mo", "tw"})
_FIXTURE = re.compile(r"fixtures/([^'\"`\s]+\.html)")
_ADDRESS = re.compile(r"\burl\s*=\s*(['\"`])(.+?)\1", re.DOTALL)
# A string of JavaScript, which Python reads as its own unless it is a template.
_EXPECTED = re.compile(
    r"(?:assert\.equal|expect)\(\s*(title|author|date_published)\s*(?:,|\)\s*\.\w+\()\s*"
    r"('(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
)


def fixture_pages(folder: Path) -> Iterator[tuple[Row, bytes]]:
    """Gold and bytes of the pages of all suites in *folder*, suite by suite, by path."""
    for file in sorted(folder.rglob("expected-metadata.json")):
        yield _readability_page(file)
    for file in sorted(folder.rglob("extractors/custom/*/index.test.js")):
        yield from _postlight_pages(file)
    for file in sorted(folder.rglob("meta.info")):
        yield from _fundus_pages(file)


def _row(suite: str, name: str, url: str, language: str, **gold: Any) -> Row:
    row = dict.fromkeys(("title", "date", "author", "text"))
    return {"id": name, "url": url, "lang": language, "source_dataset": suite, **row, **gold}


def _readability_page(metadata: Path) -> tuple[Row, bytes]:
    says, page = json.loads(metadata.read_bytes()), metadata.parent
    tree = lxml_html.fromstring((page / "expected.html").read_text("utf-8") or "<p></p>")
    row = _row(
        "readability",
        page.name,
        # What their own runner calls each page.
        "http://fakehost/test/page.html",
        str(says.get("lang") or "").partition("-")[0],
        title=says.get("title"),
        date=(says.get("publishedTime") or "")[:10] or None,
        author=says.get("byline"),
        text=" ".join(map(str, tree.itertext())),
    )
    return row, (page / "source.html").read_bytes()


def _postlight_pages(test: Path) -> Iterator[tuple[Row, bytes]]:
    root, script = test.parents[4], test.read_text("utf-8")
    begins = [match.start() for match in _FIXTURE.finditer(script)]
    for begin, end in zip(begins, [*begins[1:], len(script)], strict=True):
        named = _FIXTURE.match(script, begin)
        assert named is not None
        file = root / "fixtures" / named[1]
        if not file.is_file():
            continue
        addresses = [match[2] for match in _ADDRESS.finditer(script, 0, begin)]
        says: dict[str, str] = {}
        for match in _EXPECTED.finditer(script, begin, end):
            says.setdefault(match[1], ast.literal_eval(match[2]))
        row = _row(
            "postlight",
            named[1].removesuffix(".html"),
            addresses[-1] if addresses else f"http://{test.parent.name}/",
            "",
            title=says.get("title"),
            date=says.get("date_published", "")[:10] or None,
            author=says.get("author"),
        )
        yield row, file.read_bytes()


def _fundus_pages(meta: Path) -> Iterator[tuple[Row, bytes]]:
    folder, addresses = meta.parent, json.loads(meta.read_bytes())
    language = "zh" if folder.name in _CHINESE_FOLDERS else folder.name
    for record in sorted(folder.glob("*.json")):
        versions = list(json.loads(record.read_bytes()).values())
        pages = sorted(folder.glob(f"{record.stem}_*.html.gz"))
        # Which version reads which page is in their code: sure are as many of both, or the last.
        pairs = zip(versions, pages, strict=True) if len(versions) == len(pages) else ()
        for version, page in pairs or zip(versions[-1:], pages[-1:], strict=False):
            about = addresses.get(page.name)
            row = _row(
                "fundus",
                f"{folder.name}/{page.name.removesuffix('.html.gz')}",
                str((about.get("url") if isinstance(about, dict) else about) or ""),
                language,
                title=version.get("title"),
                date=str(version.get("publishing_date") or "")[:10] or None,
                author=version.get("authors") or None,
                text=_fundus_text(version.get("body")) or None,
            )
            yield row, gzip.decompress(page.read_bytes())


def _fundus_text(body: Any) -> str:
    if not isinstance(body, dict):
        return ""
    lines = list(body.get("summary") or ())
    for section in body.get("sections") or ():
        lines += [*(section.get("headline") or ()), *(section.get("paragraphs") or ())]
    return "\n".join(lines)
