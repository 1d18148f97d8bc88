"""``qiaocrawl evidence``: a package, stamped by a real authority on loopback, and its check."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from command_runs import Run
from console_articles import add_stories
from fresh_schema import make_tables
from held_ports import held_port
from qiaocrawl.export.evidence import StoppedError, Terms, article_subject, make_package
from qiaocrawl.items import PagePicture
from qiaocrawl.storage import Database, audit_log
from qiaocrawl.storage.pages.revisions import save_picture
from time_stamping import StampServer, served_authority
from told_stories import make_stories

PNG = b"\x89PNG no real one"


@pytest.fixture
def url(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Four articles with their pages; of the first a picture was kept."""
    with Database.open(database_url) as database:
        make_tables(database)
        add_stories(database)
        with database.engine.begin() as c:
            source = c.execute(text("SELECT page_source_id FROM article WHERE id = 1")).scalar()
            assert source is not None
            taken = datetime(2026, 3, 5, 9, tzinfo=UTC)
            save_picture(c, source, PagePicture("image/png", 1, 1, False, taken, PNG))
    # No browser: what it makes is said to be missing. Another test has one.
    monkeypatch.setenv("QIAO_CHROMIUM", "/nowhere/chromium")
    return database_url


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the keys of the authority."""
    return tmp_path_factory.mktemp("authority")


@pytest.fixture
def authority(keys: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StampServer]:
    """One that the office names."""
    with served_authority(keys) as server:
        monkeypatch.setenv("QIAO_STAMP_URL", server.url)
        monkeypatch.setenv("QIAO_STAMP_CA", str(server.root))
        yield server


@dataclass
class Package:
    """A package that was written."""

    path: Path

    @property
    def files(self) -> dict[str, bytes]:
        """Its files by name."""
        with zipfile.ZipFile(self.path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    @property
    def manifest(self) -> dict[str, Any]:
        """What it says of itself."""
        found: dict[str, Any] = json.loads(self.files["manifest.json"])
        return found

    def gaps(self) -> dict[str, str]:
        """What it lacks, and why."""
        return {gap["path"]: gap["why"] for gap in self.manifest["gaps"]}

    def rewrite(self, change: Callable[[dict[str, bytes]], None]) -> None:
        """Have other files in it."""
        files = self.files
        change(files)
        with zipfile.ZipFile(self.path, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """Where one will be."""
    return Package(tmp_path / "p.zip")


def test_the_page_is_in_it_as_it_came_with_the_digest_of_every_file(
    run: Run, url: str, package: Package
) -> None:
    code, out, err = run("evidence", "1", "--out", str(package.path), "--database", url)
    assert code == 0, err
    files, manifest = package.files, package.manifest
    assert files["articles/1/page.raw"].startswith("<html><h1>侨务工作会议召开</h1>".encode())
    assert files["articles/1/picture.png"] == PNG
    answer = json.loads(files["articles/1/answer.json"])
    assert (answer["status"], answer["headers"]) == (
        200, [["content-type", "text/html; charset=utf-8"]],
    )  # fmt: skip
    with gzip.open(io.BytesIO(files["articles/1/page.warc.gz"])) as warc:
        records = warc.read()
    assert files["articles/1/page.raw"] in records
    assert PNG in records
    assert b"sandbox" in files["articles/1/copy.html"]
    assert files.keys() - {"manifest.json"} == {own["path"] for own in manifest["files"]}
    for own in manifest["files"]:
        data = files[own["path"]]
        assert (len(data), hashlib.sha256(data).hexdigest()) == (own["bytes"], own["sha256"])
    spread = json.loads(files["spread.json"])["publications"]
    assert {row["outlet"] for row in spread} == {"甲侨网", "www.b-news.cn"} or len(spread) == 2
    assert package.gaps().keys() == {"report.pdf"}
    assert "QIAO_STAMP_URL" in manifest["time_stamp"]["note"]
    assert "no outside time stamp" in out
    assert "report.pdf" in err


def test_a_package_that_is_as_it_was_made_passes_and_any_change_is_found(
    run: Run, url: str, package: Package
) -> None:
    def check() -> tuple[int, str]:
        code, out, err = run("evidence", "--check", str(package.path))
        return code, out + err

    run("evidence", "1", "--out", str(package.path), "--database", url)
    code, said = check()
    assert code == 0, said
    assert "files are as the manifest says" in said
    whole = package.path.read_bytes()
    changes: list[tuple[Callable[[dict[str, bytes]], Any], str]] = [
        (lambda files: files.update({"articles/1/page.raw": b"other"}), "wrong digest"),
        (lambda files: files.pop("answer") if "answer" in files else
         files.pop("articles/1/answer.json"), "answer.json is missing"),
        (lambda files: files.update({"more.txt": b"x"}), "more.txt is there"),
        (lambda files: files.update({"manifest.tsr": b"x"}), "manifest.tsr is there"),
    ]  # fmt: skip
    for change, words in changes:
        package.path.write_bytes(whole)
        package.rewrite(change)
        code, said = check()
        assert (code, words in said) == (1, True), (words, said)
    package.path.write_bytes(whole)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(package.path, "a") as zipped:
        zipped.writestr("report.html", "another")
    assert "more than once" in check()[1]


def _say_so(files: dict[str, bytes], /, **said: object) -> None:
    """Write the manifest anew, as somebody would who knows what it is."""
    manifest = json.loads(files["manifest.json"])
    files["manifest.json"] = json.dumps({**manifest, **said}).encode()


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "2026-03-05"])
def test_a_moment_that_no_clock_shows_is_named(
    run: Run, url: str, package: Package, moment: str
) -> None:
    run("evidence", "1", "--out", str(package.path), "--database", url)
    package.rewrite(lambda files: _say_so(files, made_at=moment))
    code, _out, err = run("evidence", "--check", str(package.path))
    assert (code, "missing or wrong: made_at" in err) == (1, True), err


def _swap_end(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 255])


def _give_comment(data: bytes) -> bytes:
    return data[:-2] + b"\x05\x00hello"


def _push(data: bytes) -> bytes:
    """Have bytes between the last file and the directory, which says where that is."""
    place = int.from_bytes(data[-6:-2], "little")
    return data[:place] + b"hidden" + data[place:-6] + (place + 6).to_bytes(4, "little") + b"\0\0"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: b"MZ, a program" + data, "bytes before the archive"),
        (_push, "bytes before the archive, or between"),
        (lambda data: data + b"x", "bytes behind the archive"),
        (lambda data: data + data[-22:], "no ZIP file, or a damaged one"),
        (_swap_end, "its end was altered"),
        (_give_comment, "there is a comment"),
    ],
    ids=["before", "between", "behind", "two ends", "last byte", "comment"],
)
def test_bytes_that_are_none_of_the_archive_are_found(
    run: Run, url: str, package: Package, change: Callable[[bytes], bytes], words: str
) -> None:
    run("evidence", "1", "--out", str(package.path), "--database", url)
    package.path.write_bytes(change(package.path.read_bytes()))
    code, out, err = run("evidence", "--check", str(package.path))
    assert code == 1, out
    assert words in err


def test_what_proves_a_package_without_a_stamp_is_the_digest_in_the_record_of_changes(
    run: Run, url: str, package: Package
) -> None:
    code, out, err = run("evidence", "1", "--out", str(package.path), "--database", url)
    digest = hashlib.sha256(package.path.read_bytes()).hexdigest()
    assert (code, digest in out) == (0, True), err
    with Database.open(url) as database, database.engine.connect() as c:
        entry = audit_log.entries(c, limit=1)[0]
    assert (entry.action, json.loads(entry.after)["sha256"]) == ("evidence.make", digest)
    code, out, err = run("evidence", "--check", str(package.path))
    assert (code, digest in out, "This proves no origin" in out) == (0, True, True), err
    package.rewrite(lambda files: _say_so(files, made_by="somebody else"))
    code, out, err = run("evidence", "--check", str(package.path))
    assert (code, digest in out, "This proves no origin" in out) == (0, False, True), err


@pytest.mark.parametrize(
    "name",
    ["../../x", "/x", "a\\x", "C:x", "a\nx", "a\x1b[2Jx", "a//x", "./x", "x.", "a/", " x", "文"],
)
def test_a_name_that_is_not_safe_is_found_though_the_manifest_has_it(
    run: Run, url: str, package: Package, name: str
) -> None:
    run("evidence", "1", "--out", str(package.path), "--database", url)

    def smuggle(files: dict[str, bytes]) -> None:
        own = {"path": name, "bytes": 1, "sha256": hashlib.sha256(b"x").hexdigest()}
        _say_so(files, files=[*json.loads(files["manifest.json"])["files"], own])
        files[name] = b"x"

    package.rewrite(smuggle)
    code, _out, err = run("evidence", "--check", str(package.path))
    assert (code, "is no safe name of a file" in err) == (1, True), err
    assert name.strip("\n./ ")[-1:] in err
    assert "\x1b" not in err


def test_a_name_that_another_program_takes_for_another_of_them_is_found(
    run: Run, url: str, package: Package
) -> None:
    run("evidence", "1", "--out", str(package.path), "--database", url)

    def smuggle(files: dict[str, bytes]) -> None:
        rows = json.loads(files["manifest.json"])["files"]
        own = next(row for row in rows if row["path"] == "README.txt")
        _say_so(files, files=[*rows, {**own, "path": "readme.TXT"}])
        files["readme.TXT"] = files["README.txt"]

    package.rewrite(smuggle)
    code, _out, err = run("evidence", "--check", str(package.path))
    assert (code, "readme.TXT is there more than once" in err) == (1, True), err


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip"], ids=["empty", "begin", "text"])
def test_what_is_no_package_is_named_in_words_of_ours(
    run: Run, package: Package, content: bytes
) -> None:
    def check() -> str:
        code, _out, err = run("evidence", "--check", str(package.path))
        assert code == 1
        assert "pydantic" not in err
        assert "Errno" not in err
        return err

    package.path.write_bytes(content)
    assert "p.zip is no evidence package: it is no ZIP file" in check()
    for manifest, words in (
        (b"{}", "manifest.json is none of ours; missing or wrong: format, made_at"),
        (b"7", "manifest.json is none of ours"),
        (b"[1", "manifest.json is no JSON"),
        (b"\xff", "manifest.json is no JSON"),
        (
            b'{"format": "other"}',
            "manifest.json is none of ours; missing or wrong: made_at, made_by",
        ),
    ):
        with zipfile.ZipFile(package.path, "w") as archive:
            archive.writestr("manifest.json", manifest)
        assert f"p.zip is no evidence package: {words}" in check()
    with zipfile.ZipFile(package.path, "w") as archive:
        archive.writestr("other.txt", "x")
    assert "p.zip is no evidence package: it has no manifest.json" in check()
    package.path.unlink()
    assert "p.zip': no such file" in check()
    package.path.mkdir()
    assert "p.zip' is a folder" in check()


def test_a_file_that_is_there_is_replaced_by_force_alone(
    run: Run, url: str, package: Package
) -> None:
    package.path.write_bytes(b"kept")
    arguments = ("evidence", "1", "--out", str(package.path), "--database", url)
    code, _out, err = run(*arguments)
    assert (code, "exists already; --force replaces a file" in err) == (1, True), err
    assert package.path.read_bytes() == b"kept"
    code, _out, err = run(*arguments, "--force")
    assert code == 0, err
    assert "report.html" in package.files


_BEGUN = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from qiaocrawl.export.evidence import Terms, article_subject, make_package
from qiaocrawl.storage import Database

def stay(count):
    print("begun", flush=True)
    return bool(sys.stdin.read())

with Database.open(sys.argv[1]) as database:
    with database.reading() as c:
        subject = article_subject(c, 1)
    terms = Terms("/nowhere/chromium", False, None, "li", datetime.now(UTC))
    make_package(database, subject, terms, Path(sys.argv[2]), stay)
"""


def test_what_a_killed_process_left_goes_with_the_next_package(
    run: Run, url: str, package: Package
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _BEGUN, url, str(package.path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.kill()
    assert [file.name for file in package.path.parent.glob("p.zip*")] == ["p.zip.part"]
    # Longer than what comes: nothing of it may stay behind the end.
    with package.path.with_name("p.zip.part").open("ab") as part:
        part.write(b"x" * 1_000_000)
    code, _out, err = run("evidence", "1", "--out", str(package.path), "--database", url)
    assert code == 0, err
    assert [file.name for file in package.path.parent.glob("p.zip*")] == ["p.zip"]
    assert run("evidence", "--check", str(package.path))[0] == 0


def test_the_stamp_of_an_authority_is_verified_at_once_and_later(
    run: Run, url: str, package: Package, authority: StampServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = run("evidence", "1", "--out", str(package.path), "--database", url)
    assert code == 0, err
    assert "time stamp: 20" in out
    assert "CN=tsa" in out
    about = package.manifest["time_stamp"]
    assert about == {"authority": f"http://127.0.0.1:{authority.server_port}/tsa",
                     "file": "manifest.tsr"}  # fmt: skip
    # It is told a digest, and nothing of the office: no password goes into the package.
    digest = hashlib.sha256(package.files["manifest.json"]).digest()
    assert digest in authority.queries[0]
    assert not any(b"hidden" in data for data in package.files.values())
    # As a court would check it that has never heard of this program.
    folder = package.path.parent
    for name in ("manifest.json", "manifest.tsr"):
        (folder / name).write_bytes(package.files[name])
    subprocess.run(
        ["openssl", "ts", "-verify", "-in", "manifest.tsr", "-data", "manifest.json",
         "-CAfile", str(authority.root)], cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    code, out, err = run("evidence", "--check", str(package.path))
    assert code == 0, err
    assert "CN=tsa" in out
    # The certificates in the package itself are nobody's word.
    monkeypatch.delenv("QIAO_STAMP_URL")
    monkeypatch.delenv("QIAO_STAMP_CA")
    code, _out, err = run("evidence", "--check", str(package.path))
    assert (code, "name the certificates" in err) == (1, True)
    stranger = str(authority.folder / "stranger-root.pem")
    code, _out, err = run("evidence", "--check", str(package.path), "--ca", stranger)
    assert (code, "not signed by anybody trusted" in err) == (1, True)
    code, _out, err = run("evidence", "--check", str(package.path), "--ca", str(authority.root))
    assert code == 0, err


def test_a_manifest_that_was_changed_with_its_file_is_not_what_was_stamped(
    run: Run, url: str, package: Package, authority: StampServer
) -> None:
    run("evidence", "1", "--out", str(package.path), "--database", url)

    def forge(files: dict[str, bytes]) -> None:
        manifest = json.loads(files["manifest.json"])
        files["README.txt"] = b"other"
        for own in manifest["files"]:
            if own["path"] == "README.txt":
                own.update(bytes=5, sha256=hashlib.sha256(b"other").hexdigest())
        files["manifest.json"] = json.dumps(manifest).encode()

    package.rewrite(forge)
    code, _out, err = run("evidence", "--check", str(package.path))
    assert (code, "the time stamp is of other data" in err) == (1, True), err
    package.rewrite(lambda files: files.pop("manifest.tsr") and None)
    code, _out, err = run("evidence", "--check", str(package.path))
    assert (code, "manifest.tsr is missing" in err) == (1, True), err


@pytest.mark.parametrize(
    ("mood", "words"),
    [
        ("refuse", "refused: status 2 limit reached"),
        ("other_nonce", "answers another request (wrong nonce)"),
        ("other_digest", "of other data (wrong digest)"),
        ("stranger", "not signed by anybody trusted"),
        ("garbage", "answered no time stamp"),
        ("500", "answered HTTP 500"),
        ("down", "does not answer"),
    ],
)
def test_the_package_says_why_it_has_no_stamp(  # noqa: PLR0913
    run: Run, url: str, package: Package, authority: StampServer, mood: str, words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    authority.mood = mood
    if mood == "down":
        monkeypatch.setenv("QIAO_STAMP_URL", f"http://office:hidden@127.0.0.1:{held_port()}/")
    code, out, err = run("evidence", "1", "--out", str(package.path), "--database", url)
    assert (code, words in err) == (1, True), err
    assert "hidden" not in out + err
    assert words in package.manifest["time_stamp"]["note"]
    assert package.manifest["time_stamp"]["file"] == ""
    assert "manifest.tsr" not in package.files
    code, out, _err = run("evidence", "--check", str(package.path))
    assert (code, words in out) == (0, True), "it is as it was made, and says so itself"


def test_an_authority_without_its_certificates_is_refused_before_any_work(
    run: Run, url: str, package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_STAMP_URL", "http://127.0.0.1:9/")
    for file, words in (("", "needs QIAO_STAMP_CA"), ("/nowhere.pem", "'/nowhere.pem' holds no")):
        monkeypatch.setenv("QIAO_STAMP_CA", file)
        code, _out, err = run("evidence", "1", "--out", str(package.path), "--database", url)
        assert (code, words in err) == (1, True), err
    assert not package.path.exists()


def test_a_page_that_is_no_longer_stored_is_said_to_be_missing(
    run: Run, url: str, package: Package
) -> None:
    with Database.open(url) as database, database.engine.begin() as c:
        c.execute(text("UPDATE article SET page_source_id = NULL WHERE id = 2"))
    code, _out, err = run("evidence", "2", "--out", str(package.path), "--database", url)
    assert code == 1
    assert "articles/2/page.raw: the page is no longer stored" in err
    assert "no longer stored" in package.gaps()["articles/2/page.raw"]
    assert "各地" in json.loads(package.files["articles/2/article.json"])["text"]
    code, out, err = run("evidence", "--check", str(package.path))
    assert (code, "no longer stored" in out) == (0, True), err


def test_an_event_has_a_folder_for_each_of_its_articles(
    run: Run, tmp_path: Path, package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_CHROMIUM", "/nowhere/chromium")
    url = f"sqlite:///{tmp_path / 'told.db'}"
    with Database.open(url) as database:
        make_tables(database)
    make_stories(url)
    arguments = ("evidence", "1", "--story", "--out", str(package.path), "--database", url)
    code, _out, err = run(*arguments)
    assert code == 1, "their pages were never stored"
    folders = {name.split("/")[1] for name in package.files if name.startswith("articles/")}
    assert folders == {"1", "2"}
    assert package.manifest["subject"]["kind"] == "event"
    assert "马德里" in package.files["report.html"].decode()
    assert {path for path in package.gaps() if path.endswith(".raw")} == {
        "articles/1/page.raw", "articles/2/page.raw",
    }  # fmt: skip


@pytest.mark.chromium
def test_the_report_is_printed_and_the_stored_page_drawn_where_rendering_is_allowed(
    run: Run, url: str, package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_CHROMIUM", "/usr/bin/chromium")
    arguments = ("evidence", "3", "--out", str(package.path), "--database", url)
    code, _out, err = run(*arguments)
    assert code == 0, err
    assert "QIAO_RENDER" in package.gaps()["articles/3/picture.png"]
    assert package.files["report.pdf"].startswith(b"%PDF")
    monkeypatch.setenv("QIAO_RENDER", "sites")
    code, _out, err = run(*arguments, "--force")
    assert (code, package.gaps()) == (0, {}), err
    assert package.files["articles/3/picture.png"].startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "name an article"),
        (("1",), "name an article"),
        (("1", "--out", "p.txt"), "must end in .zip"),
        (("1", "--check", "p.zip"), "--check looks at a package"),
        (("1", "--out", "p.zip", "--ca", "c.pem"), "--ca goes with --check"),
        (("--check", "nowhere.zip"), "'nowhere.zip': no such file"),
        (("99", "--out", "p.zip"), "no article 99"),
        (("99", "--story", "--out", "p.zip"), "99"),
        (("x", "--story", "--out", "p.zip"), "needs the number of a story"),
    ],
)
def test_wrong_arguments_are_named(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...], words: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    code, _out, err = run("evidence", *arguments, "--database", url)
    assert (code, words in err) == (1, True), err
    assert not list(tmp_path.glob("*.zip*"))


def test_a_page_that_is_stored_in_part_is_said_to_be(run: Run, url: str, package: Package) -> None:
    with Database.open(url) as database, database.engine.begin() as c:
        c.execute(text("UPDATE page_source SET body_bytes = 99999"))
    code, _out, err = run("evidence", "1", "--out", str(package.path), "--database", url)
    assert code == 0, err
    assert "of 99999 bytes" in package.gaps()["articles/1/page.raw"]


def test_work_that_nobody_waits_for_leaves_no_file(url: str, package: Package) -> None:
    terms = Terms("/nowhere/chromium", False, None, "li", datetime.now(UTC))
    with Database.open(url) as database:
        with database.reading() as c:
            subject = article_subject(c, 1)
        with pytest.raises(StoppedError):
            make_package(database, subject, terms, package.path, lambda _count: False)
    assert list(package.path.parent.glob("p.zip*")) == []


def test_an_article_that_is_gone_meanwhile_is_said_to_be_missing(
    url: str, package: Package
) -> None:
    terms = Terms("/nowhere/chromium", False, None, "li", datetime.now(UTC))
    with Database.open(url) as database:
        with database.reading() as c:
            subject = article_subject(c, 1)
        both = replace(subject, kind="event", articles=(1, 999))
        made = make_package(database, both, terms, package.path)
    assert not made.is_whole
    assert "not stored any more" in package.gaps()["articles/999"]
    assert "articles/1/page.raw" in package.files
