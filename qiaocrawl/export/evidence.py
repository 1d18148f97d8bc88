"""An evidence package: all that is stored of an article or an event, in one ZIP with digests.

Of each article: the page as it came, byte by byte, with the headers of its answer, as a WARC record
and as a copy that is safe to open; its picture; what was read from it. Of all together: who took it
from whom, and a report on paper. ``manifest.json`` has size and SHA-256 of every file, says what is
missing and why, and is what an authority stamps (``time_stamps``); ``evidence_check`` looks at it
again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from sqlalchemy import Connection

from qiaocrawl import __version__
from qiaocrawl.errors import ConfigError, PageStoreError, StampError
from qiaocrawl.export.chromium import to_pdf, to_picture
from qiaocrawl.export.pages import stored_copy
from qiaocrawl.export.time_stamps import Authority, Stamp, ask_stamp, authority_of
from qiaocrawl.items import FetchedPage, PagePicture
from qiaocrawl.language import _, language
from qiaocrawl.news.pictures.spread import tree_svg
from qiaocrawl.news.spread.publication import Publication
from qiaocrawl.news.spread.stored import publications_of, spread_of
from qiaocrawl.news.spread.tree import SpreadTree, spread_figures, spread_tree
from qiaocrawl.news.spread.wording import (
    figure_lines,
    first_lines,
    moment_of,
    parent_of,
    why_of,
)
from qiaocrawl.news.stories.lists import one_story
from qiaocrawl.news.stories.texts import texts_of
from qiaocrawl.options import Options
from qiaocrawl.reading.evidence import (
    ArticleEvidence,
    PageEvidence,
    evidence_of,
    has_article,
    page_evidence,
)
from qiaocrawl.reading.records import ArticleRecord, iter_articles
from qiaocrawl.storage import Database
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.backup import growing_file
from qiaocrawl.storage.page_store.reading import info_member, page_member, picture_member
from qiaocrawl.storage.pages.revisions import picture_of_article, revisions_of
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.url_history import url_history
from qiaocrawl.text.zones import china_time, china_time_or_day
from qiaocrawl.urls import url_key

FORMAT = "qiaocrawl evidence 1"
MANIFEST, STAMP, TRUSTED = "manifest.json", "manifest.tsr", "trusted.pem"
Result = TypeVar("Result")

_ENDINGS = {"image/webp": "webp", "image/png": "png", "image/jpeg": "jpg"}


@dataclass(frozen=True, slots=True)
class Subject:
    """Of what a package is made: ``kind`` is article or event, ``articles`` are row ids."""

    kind: str
    number: int
    title: str
    articles: tuple[int, ...]


def article_subject(c: Connection, article_id: int) -> Subject:
    """The article of row id *article_id*, which must exist."""
    return Subject("article", article_id, evidence_of(c, article_id).listed.title, (article_id,))


def event_subject(c: Connection, number: int) -> Subject:
    """The event of that number with those of its articles that are stored.

    Raises:
        ConfigError: there is no such event, or none of its articles is stored.
    """
    line = one_story(c, number)
    articles = tuple(text.article_id for text in texts_of(c, [number])[number])
    if not articles:
        raise ConfigError(
            _("none of the articles of event {number} is stored any more", number=number)
        )
    return Subject("event", number, line.title, articles)


@dataclass(frozen=True, slots=True)
class Terms:
    """By what, for whom and when a package is made; ``draws``: pictures of stored pages now."""

    chromium: str
    draws: bool
    authority: Authority | None
    made_by: str
    made_at: datetime

    @classmethod
    def from_options(cls, options: Options, made_by: str) -> Terms:
        """As the office set them.

        Raises:
            ConfigError: what is set of the authority is not whole.
        """
        return cls(
            options["QIAO_CHROMIUM"],
            options["QIAO_RENDER"] != "off",
            authority_of(options),
            made_by,
            datetime.now(UTC),
        )


@dataclass(frozen=True, slots=True)
class Gap:
    """What a package lacks, or has in part, and why; ``is_page``: it is the page itself."""

    path: str
    why: str
    is_page: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a package.

    Attributes:
        stamp: None without one; ``stamp_fault`` says why where an authority was asked.
        sha256: of the whole file.
    """

    files: int
    gaps: tuple[Gap, ...]
    stamp: Stamp | None
    stamp_fault: str
    sha256: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it has every page, and the stamp where one is wanted."""
        return not self.stamp_fault and not any(gap.is_page for gap in self.gaps)


class StoppedError(Exception):
    """Whoever waits for a package does so no longer; no file is left."""


def make_package(
    database: Database,
    subject: Subject,
    terms: Terms,
    out: Path,
    advance: Callable[[int], bool] = lambda _count: True,
) -> Made:
    """Write the package of *subject* to *out*, whole or not at all.

    Args:
        advance: is told of each article that is in it; False ends the work.

    Raises:
        StoppedError: *advance* said so.
        StorageError: the file cannot be written.
    """
    with growing_file(out) as part:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            made = _fill(_Package(archive, terms), database, subject, advance)
        with part.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return replace(made, sha256=digest)


def _fill(
    package: _Package, database: Database, subject: Subject, advance: Callable[[int], bool]
) -> Made:
    shown = []
    for article_id in subject.articles:
        # A transaction each: an event of hundreds takes minutes, and a browser draws meanwhile.
        with database.reading() as c:
            stored = _Stored.load(c, article_id) if has_article(c, article_id) else None
        if stored is None:
            # Found to be no article after all, since the package was begun.
            why = _("the article is not stored any more")
            package.lack(f"articles/{article_id}", why, is_page=True)
        else:
            own = _add_article(package, stored, package.terms)
            # Of an event the report tells facts alone: hundreds of pictures are no report.
            is_one = subject.kind == "article"
            shown.append(own if is_one else replace(own, text="", picture="", headers=()))
        if not advance(1):
            raise StoppedError
    with database.reading() as c:
        tree = _tree(c, subject)
    _add_spread(package, tree, subject)
    _add_report(package, subject, shown, tree)
    return _seal(package, subject)


def note_package(c: Connection, actor: Actor, subject: Subject, made: Made) -> None:
    """Put what was made into the record of changes.

    By its digest the office shows later that a package is the one that was handed out.
    """
    after = {
        "kind": subject.kind,
        "number": subject.number,
        "sha256": made.sha256,
        "time_stamp": made.stamp_fault if made.stamp is None else made.stamp.at.isoformat(),
        "gaps": [gap.path for gap in made.gaps],
    }
    record(c, actor, "evidence.make", subject.title, None, after)


class _Package:
    """The ZIP while it is filled, with what its manifest will say."""

    def __init__(self, archive: zipfile.ZipFile, terms: Terms) -> None:
        self.archive = archive
        self.terms = terms
        self.files: list[dict[str, Any]] = []
        self.gaps: list[Gap] = []
        self.pages: list[dict[str, Any]] = []

    def add(self, path: str, data: bytes, media_type: str) -> None:
        """Put a file into it, of which size and digest are noted."""
        self.write(path, data)
        self.files.append(
            {
                "path": path,
                "bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
                "media_type": media_type,
            }
        )

    def add_json(self, path: str, value: Any) -> None:
        """The same of what JSON has a form for."""
        self.add(path, _json(value), "application/json")

    def write(self, path: str, data: bytes) -> None:
        """Put in a file that the manifest cannot name, as itself."""
        info = zipfile.ZipInfo(path, self.terms.made_at.timetuple()[:6])
        info.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(info, data)

    def lack(self, path: str, why: str, *, is_page: bool = False) -> None:
        """Note what is not there."""
        self.gaps.append(Gap(path, why, is_page))


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1, default=_as_text) + "\n").encode(
        "utf-8", "replace"
    )


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


# --- One article ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Stored:
    """What is stored of an article; a page or picture that cannot be read is why."""

    evidence: ArticleEvidence
    record: ArticleRecord
    page: PageEvidence | str | None
    copy: str
    picture: PagePicture | str | None
    changes: tuple[Mapping[str, Any], ...]

    @classmethod
    def load(cls, c: Connection, article_id: int) -> _Stored:
        (record,) = iter_articles(c, Selection(article_ids=(article_id,)))
        history = url_history(c, url_key(record.url))
        changes = () if history is None else revisions_of(c, history.id)
        page = _or_why(lambda: page_evidence(c, article_id))
        return cls(
            evidence_of(c, article_id),
            record,
            page,
            stored_copy(c, article_id) if isinstance(page, PageEvidence) else "",
            _or_why(lambda: picture_of_article(c, article_id)),
            tuple(
                {"kind": one.kind, "at": one.at, "note": one.note, "title": one.title}
                for one in changes
            ),
        )


def _or_why(load: Callable[[], Result]) -> Result | str:
    try:
        return load()
    except PageStoreError as error:
        return str(error)


@dataclass(frozen=True, slots=True)
class _Shown:
    """An article in the report: facts by name, and a picture as address of data, "" for none."""

    number: int
    title: str
    url: str
    facts: list[tuple[str, str]] = field(default_factory=list)
    headers: tuple[tuple[str, str], ...] = ()
    text: str = ""
    picture: str = ""
    picture_note: str = ""


def _add_article(package: _Package, stored: _Stored, terms: Terms) -> _Shown:
    record, page = stored.record, stored.page
    folder = f"articles/{record.id}"
    package.add_json(f"{folder}/article.json", _article_facts(stored))
    picture, picture_note = None, ""
    if isinstance(page, PageEvidence):
        picture, picture_note = _picture(package, stored, folder, terms)
        _add_page(package, page, stored.copy, folder, record.id)
        _add_warc(package, page.page, stored.picture, folder)
    else:
        why = page or _("the page is no longer stored: it was pruned, or never kept")
        package.lack(f"{folder}/page.raw", why, is_page=True)
    return _Shown(
        record.id,
        record.title,
        record.url,
        list(_facts(stored)),
        page.page.headers if isinstance(page, PageEvidence) else (),
        record.text,
        picture or "",
        picture_note,
    )


def _article_facts(stored: _Stored) -> dict[str, Any]:
    record, evidence = stored.record, stored.evidence
    return {
        "number": record.id,
        "url": record.url,
        "other_urls": list(evidence.listed.other_urls),
        "title": record.title,
        "outlet": evidence.listed.outlet.name,
        "published_at": record.published_at,
        "modified_at": record.modified_at,
        "fetched_at": record.fetched_at,
        "author": record.author,
        "source": record.source,
        "found_on": record.found_on,
        "anchor": record.anchor,
        "versions": [
            {
                "fetched_at": one.fetched_at,
                "last_seen_at": one.last_seen_at,
                "status": one.http_status,
                "bytes": one.body_bytes,
            }
            for one in evidence.sources
        ],
        "changes": list(stored.changes),
        "text": record.text,
    }


def _add_page(
    package: _Package, page: PageEvidence, copy: str, folder: str, article_id: int
) -> None:
    own = page.page
    # No name that a browser opens: scripts in it would run as those of a file of the reader's.
    package.add(f"{folder}/page.raw", own.body, own.header("content-type") or "unknown")
    if len(own.body) < page.body_bytes or own.truncated:
        why = _(
            "stored in part: {stored} of {whole} bytes", stored=len(own.body), whole=page.body_bytes
        )
        if len(own.body) == page.body_bytes:
            why = _("what came broke off, or was cut: {count} bytes", count=len(own.body))
        package.lack(f"{folder}/page.raw", why)
    answer = {
        "url": own.url,
        "final_url": own.final_url,
        "status": own.status,
        "fetched_at": own.fetched_at,
        "truncated": own.truncated,
        "headers": [list(pair) for pair in own.headers],
    }
    package.add_json(f"{folder}/answer.json", answer)
    package.add(f"{folder}/copy.html", copy.encode("utf-8", "replace"), "text/html; charset=utf-8")
    package.pages.append(
        {
            "article": article_id,
            "url": own.final_url or own.url,
            "fetched_at": own.fetched_at,
            "path": f"{folder}/page.raw",
            "sha256_stored": page.sha256,
            "blake2b_128_came": page.digest,
            "bytes_came": page.body_bytes,
        }
    )


def _add_warc(
    package: _Package, page: FetchedPage, picture: PagePicture | str | None, folder: str
) -> None:
    members = info_member("page.warc.gz") + page_member(page)
    if isinstance(picture, PagePicture):
        members += picture_member(page.final_url or page.url, picture)
    package.add(f"{folder}/page.warc.gz", members, "application/warc")


def _picture(
    package: _Package, stored: _Stored, folder: str, terms: Terms
) -> tuple[str | None, str]:
    """Put the picture in; as address of data for the report, and how it came about."""
    kept = stored.picture
    if isinstance(kept, PagePicture):
        ending = _ENDINGS.get(kept.media_type, "img")
        package.add(f"{folder}/picture.{ending}", kept.data, kept.media_type)
        taken = china_time(kept.taken_at)
        said = _("as a browser showed it when it was fetched, {when}", when=taken)
        return _data_address(kept.media_type, kept.data), said
    path = f"{folder}/picture.png"
    if isinstance(kept, str):
        package.lack(path, kept)
        return None, ""
    if not terms.draws:
        package.lack(
            path,
            _(
                "no picture was kept when the page was fetched (QIAO_RENDER_PICTURE), and drawing "
                "the stored page is not allowed here (QIAO_RENDER)"
            ),
        )
        return None, ""
    try:
        data = to_picture(stored.copy, terms.chromium)
    except ConfigError as error:
        package.lack(path, str(error))
        return None, ""
    package.add(path, data, "image/png")
    said = _(
        "drawn from the stored page when this package was made: without its scripts, without "
        "anything from the network, its beginning"
    )
    return _data_address("image/png", data), said


def _data_address(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def _facts(stored: _Stored) -> list[tuple[str, str]]:
    record, page = stored.record, stored.page
    facts = [
        (_("URL"), record.url),
        (_("outlet"), stored.evidence.listed.outlet.name),
        (_("published"), china_time_or_day(record.published_at) or _("not stated")),
        (_("source"), record.source),
        (_("author"), record.author),
    ]
    if isinstance(page, PageEvidence):
        own = page.page
        facts += [
            (_("fetched"), f"{china_time(own.fetched_at)} · HTTP {own.status}"),
            (_("fetched from"), own.final_url if own.final_url != record.url else ""),
            (_("size of the page"), f"{page.body_bytes:,} B"),
            ("SHA-256", page.sha256),
            ("BLAKE2b-128", page.digest),
        ]
    else:
        facts.append((_("stored page"), _("not stored any more")))
    return [(name, value) for name, value in facts if value]


# --- Who took it from whom ------------------------------------------------------------------------


def _tree(c: Connection, subject: Subject) -> SpreadTree:
    if subject.kind == "event":
        return spread_tree(publications_of(c, list(subject.articles)))
    return spread_of(c, subject.number)


def _add_spread(package: _Package, tree: SpreadTree, subject: Subject) -> None:
    rows = [_spread_row(tree, own) for own in tree.publications.values()]
    first = tree.first
    package.add_json(
        "spread.json",
        {
            "first": None
            if first is None
            else {"url": first.key, "outlet": first.outlet, "certainty": first.certainty},
            "publications": rows,
        },
    )
    picture = tree_svg(tree, subject.title, language())
    package.add("spread.svg", picture.encode("utf-8", "replace"), "image/svg+xml")


def _spread_row(tree: SpreadTree, own: Publication) -> dict[str, Any]:
    edge = tree.edges[own.key]
    return {
        "url": own.key,
        "outlet": own.name,
        "title": own.title,
        "published_at": own.published_at,
        "source": own.source,
        "taken_from": edge.parent or None,
        "taken_from_outside": edge.outside or None,
        "may_be_from": list(edge.alternatives),
        "certainty": round(edge.certainty, 2),
        "why": why_of(tree, own.key),
    }


# --- The report, and what makes the package one ---------------------------------------------------


def _add_report(package: _Package, subject: Subject, shown: list[_Shown], tree: SpreadTree) -> None:
    environment = Environment(
        loader=PackageLoader("qiaocrawl.export"), autoescape=True, undefined=StrictUndefined
    )
    environment.globals["_"] = _
    numbers = {key: str(number) for number, key in enumerate(tree.publications, 1)}
    page = environment.get_template("evidence.html").render(
        subject=subject,
        language=language().replace("_", "-"),
        made_at=china_time(package.terms.made_at),
        made_by=package.terms.made_by,
        articles=shown,
        # Of an event the pictures lie beside; one file with hundreds of them nobody could open.
        is_one=subject.kind == "article",
        ways=[_way(tree, key, numbers) for key in tree.publications],
        lines=[*first_lines(tree, numbers), *figure_lines(spread_figures(tree))],
        tree=Markup(tree_svg(tree, subject.title, language()).partition("?>")[2]),
        files=package.files,
        gaps=package.gaps,
    )
    package.add("report.html", page.encode("utf-8", "replace"), "text/html; charset=utf-8")
    try:
        package.add("report.pdf", to_pdf(page, package.terms.chromium), "application/pdf")
    except ConfigError as error:
        package.lack("report.pdf", str(error))
    about = files(__package__).joinpath("templates/evidence_readme.txt").read_bytes()
    package.add("README.txt", about, "text/plain; charset=utf-8")
    if package.terms.authority is not None:
        package.add(TRUSTED, package.terms.authority.trusted, "application/x-pem-file")


def _way(tree: SpreadTree, key: str, numbers: Mapping[str, str]) -> tuple[str, ...]:
    own = tree.publications[key]
    parent, why = parent_of(tree, key, numbers), why_of(tree, key)
    return numbers[key], moment_of(own), own.name, parent, why, own.title, key


def _seal(package: _Package, subject: Subject) -> Made:
    """Write the manifest, stamped where an authority is named and stamps it."""
    authority = package.terms.authority
    if authority is None:
        note = _("No outside time stamp: the office names no authority (QIAO_STAMP_URL).")
        package.write(MANIFEST, _manifest(package, subject, {"authority": None, "note": note}))
        return Made(len(package.files), tuple(package.gaps), None, "")
    about = {"authority": authority.shown, "file": STAMP}
    manifest = _manifest(package, subject, about)
    try:
        answer, stamp = ask_stamp(authority, manifest)
    except StampError as error:
        # What it says of a stamp that is not there would be wrong: it is made anew.
        why = str(error)
        note = _("No outside time stamp: {why}", why=why)
        about = {"authority": authority.shown, "file": "", "note": note}
        package.write(MANIFEST, _manifest(package, subject, about))
        return Made(len(package.files), tuple(package.gaps), None, why)
    package.write(MANIFEST, manifest)
    package.write(STAMP, answer)
    return Made(len(package.files), tuple(package.gaps), stamp, "")


def _manifest(package: _Package, subject: Subject, time_stamp: Mapping[str, Any]) -> bytes:
    return _json(
        {
            "format": FORMAT,
            "software": f"qiaocrawl {__version__}",
            "made_at": package.terms.made_at,
            "made_by": package.terms.made_by,
            "subject": {
                "kind": subject.kind,
                "number": subject.number,
                "title": subject.title,
            },
            "time_stamp": time_stamp,
            "pages": package.pages,
            "gaps": [{"path": gap.path, "why": gap.why} for gap in package.gaps],
            "files": package.files,
        }
    )
