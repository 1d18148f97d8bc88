"""Whether an evidence package is as it was made: files, digests, time stamp."""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from qiaocrawl.errors import ConfigError, StampError
from qiaocrawl.export.evidence import FORMAT, MANIFEST, STAMP
from qiaocrawl.export.time_stamps import Stamp, verify_stamp
from qiaocrawl.language import _

# Of an event of thousands some megabytes; anything above is none of ours.
_MOST_MANIFEST_BYTES = 64 * 1024 * 1024
_MOST_STAMP_BYTES = 1024 * 1024
_BLOCK_BYTES = 1024 * 1024
# Of a manifest that is wrong throughout, so many places are named.
_MOST_PLACES = 5
# RuntimeError: encrypted; NotImplementedError, one of them: packed in a way zipfile does not know.
# ValueError, struct.error: places and names in its directory that cannot be.
_UNREADABLE = (
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
# What a package names its files: nothing that another program writes outside of its folder, shows
# as something else, or takes for another of them (Windows: drives, ends of dots).
_SAFE_NAME = re.compile(r"[\w-]+(?:[./][\w-]+)*", re.ASCII)
# The last of a ZIP (APPNOTE.TXT 4.3.16): its own mark first, and last the length of a comment.
_END_BYTES, _END_MARK, _NO_COMMENT = 22, b"PK\x05\x06", b"\0\0"
# Of a file's own header (4.3.7): where the lengths of name and extra field stand, and its end.
_LENGTHS_AT, _HEADER_BYTES = 26, 30

_FIRST_MOMENT, _LAST_MOMENT = datetime(2000, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


class _File(BaseModel):
    path: str
    bytes: int
    sha256: str


class _Gap(BaseModel):
    path: str
    why: str


class _TimeStamp(BaseModel):
    authority: str | None
    file: str = ""
    note: str = ""


class _Manifest(BaseModel):
    format: str
    # In the last hours that there are, China's clock has none to show.
    made_at: Annotated[AwareDatetime, Field(ge=_FIRST_MOMENT, lt=_LAST_MOMENT)]
    made_by: str
    subject: dict[str, Any]
    time_stamp: _TimeStamp
    gaps: list[_Gap]
    files: list[_File]


@dataclass(frozen=True, slots=True)
class Checked:
    """What a package came to.

    Attributes:
        faults: what is wrong, each in words; none for a package that is as it was made.
        notes: what it says itself that it lacks.
        stamp: verified; None without one.
        sha256: of the package itself, which proves what no manifest can: who holds a package may
            write files and manifest anew.
    """

    title: str
    made_at: datetime
    made_by: str
    files: int
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    stamp: Stamp | None
    sha256: str


def check_package(file: Path, trusted: bytes | None) -> Checked:
    """Compare every file of the package with its manifest, and that with its time stamp.

    Args:
        trusted: certificates (PEM) of the authority that whoever checks believes; None for none.

    Raises:
        ConfigError: it is no evidence package that can be read.
    """
    try:
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            try:
                with zipfile.ZipFile(stream) as archive:
                    return _check(archive, stream, _Given(file, digest, trusted))
            except _UNREADABLE as error:
                raise _no_package(file, _zip_words(error)) from error
    except FileNotFoundError:
        raise ConfigError(_("{file!r}: no such file", file=str(file))) from None
    except IsADirectoryError:
        raise ConfigError(_("{file!r} is a folder, and no package", file=str(file))) from None
    except PermissionError:
        raise ConfigError(_("{file!r} may not be read by this user", file=str(file))) from None
    except OSError as error:
        raise ConfigError(
            _("cannot read {file!r}: {error}", file=str(file), error=error)
        ) from error


@dataclass(frozen=True, slots=True)
class _Given:
    file: Path
    sha256: str
    trusted: bytes | None


def _no_package(file: Path, why: str) -> ConfigError:
    return ConfigError(_("{file} is no evidence package: {error}", file=file, error=why))


def _zip_words(error: Exception) -> str:
    if isinstance(error, RuntimeError):
        return _("it is encrypted, or packed in a way that this program does not know")
    return _("it is no ZIP file, or a damaged one")


def _check(archive: zipfile.ZipFile, stream: BinaryIO, given: _Given) -> Checked:
    raw, manifest = _manifest(archive, given.file)
    faults = [*_stray_faults(archive, stream), *_file_faults(archive, manifest)]
    stamp = None
    if manifest.time_stamp.file:
        try:
            stamp = _stamp(archive, raw, given.trusted)
        except StampError as error:
            faults.append(str(error))
    elif STAMP in archive.namelist():
        faults.append(_("{path} is there, which the manifest does not say", path=STAMP))
    notes = [f"{gap.path}: {gap.why}" for gap in manifest.gaps]
    if manifest.time_stamp.note:
        notes.append(manifest.time_stamp.note)
    return Checked(
        str(manifest.subject.get("title", "")),
        manifest.made_at,
        manifest.made_by,
        len(manifest.files),
        tuple(faults),
        tuple(notes),
        stamp,
        given.sha256,
    )


def _manifest(archive: zipfile.ZipFile, file: Path) -> tuple[bytes, _Manifest]:
    try:
        info = archive.getinfo(MANIFEST)
    except KeyError:
        raise _no_package(file, _("it has no {path}", path=MANIFEST)) from None
    if info.file_size > _MOST_MANIFEST_BYTES:
        raise _no_package(file, _("{path} is too large", path=MANIFEST))
    raw = archive.read(info)
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError):
        raise _no_package(file, _("{path} is no JSON", path=MANIFEST)) from None
    try:
        manifest = _Manifest.model_validate(said)
    except ValidationError as error:
        # What pydantic says of it is English for programmers: the place is what a person needs.
        places = dict.fromkeys(".".join(map(str, one["loc"])) for one in error.errors())
        where = _(", ").join([*places][:_MOST_PLACES])
        why = _("{path} is none of ours; missing or wrong: {where}", path=MANIFEST, where=where)
        raise _no_package(file, why if where else _("{path} is none of ours", path=MANIFEST)) from (
            None
        )
    if manifest.format != FORMAT:
        raise ConfigError(
            _(
                "{file} is a package of the form {form!r}, this program knows {known!r}",
                file=file,
                form=manifest.format,
                known=FORMAT,
            )
        )
    return raw, manifest


def _stray_faults(archive: zipfile.ZipFile, stream: BinaryIO) -> Iterator[str]:
    """What stands in the file besides the archive, where programs that unpack it do not look."""
    end = 0
    for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
        if info.header_offset != end:
            break
        stream.seek(info.header_offset + _LENGTHS_AT)
        name, extra = struct.unpack("<HH", stream.read(4))
        end += _HEADER_BYTES + name + extra + info.compress_size
    if end != archive.start_dir:
        yield _("there are bytes before the archive, or between its files, that are none of it")
    stream.seek(-_END_BYTES, os.SEEK_END)
    last = stream.read()
    if not (last.startswith(_END_MARK) and last.endswith(_NO_COMMENT)) or any(
        info.comment for info in archive.infolist()
    ):
        yield _("there is a comment, or bytes behind the archive, or its end was altered")


def _file_faults(archive: zipfile.ZipFile, manifest: _Manifest) -> Iterator[str]:
    # As they are written: zipfile cuts a name at a NUL, other programs do not.
    there = Counter(info.orig_filename for info in archive.infolist())
    said = Counter(own.path for own in manifest.files)
    for path in sorted(there.keys() | said.keys()):
        if not _SAFE_NAME.fullmatch(path):
            yield _("{path!r} is no safe name of a file", path=path)
    folded = Counter(path.casefold() for path in there.elements())
    for path in said:
        if said[path] > 1 or folded[path.casefold()] > 1:
            # Programs differ in which of them they show; for Windows a and A are one.
            yield _("{path} is there more than once", path=path)
    for path in sorted(there.keys() - said.keys() - {MANIFEST, STAMP}):
        yield _("{path} is there, which the manifest does not say", path=path)
    for path in (MANIFEST, STAMP):
        if there[path] > 1:
            yield _("{path} is there more than once", path=path)
    for own in manifest.files:
        if own.path not in there:
            yield _("{path} is missing", path=own.path)
        elif not _is_as_said(archive, own):
            yield _("{path} is not what the manifest says (wrong digest)", path=own.path)


def _is_as_said(archive: zipfile.ZipFile, own: _File) -> bool:
    try:
        info = archive.getinfo(own.path)
    except KeyError:  # cut at a NUL
        return False
    if info.file_size != own.bytes:
        return False
    digest = hashlib.sha256()
    try:
        with archive.open(info) as stream:
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
    except _UNREADABLE:
        return False
    return digest.hexdigest() == own.sha256


def _stamp(archive: zipfile.ZipFile, manifest: bytes, trusted: bytes | None) -> Stamp:
    try:
        info = archive.getinfo(STAMP)
    except KeyError:
        raise StampError(_("{path} is missing", path=STAMP)) from None
    if trusted is None:
        raise StampError(
            _(
                "the time stamp cannot be verified: name the certificates of the authority that "
                "you trust (--ca FILE, or QIAO_STAMP_CA)"
            )
        )
    if info.file_size > _MOST_STAMP_BYTES:
        raise StampError(_("{path} is too large", path=STAMP))
    return verify_stamp(archive.read(info), manifest, trusted)
