"""Whether an evidence package is as it was made: files, digests, time stamp."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from qiaocrawl.errors import ConfigError, StampError
from qiaocrawl.export.evidence import FORMAT, MANIFEST, STAMP
from qiaocrawl.export.time_stamps import Stamp, verify_stamp
from qiaocrawl.language import _

# Of an event of thousands some megabytes; anything above is none of ours.
_MOST_MANIFEST_BYTES = 64 * 1024 * 1024
_MOST_STAMP_BYTES = 1024 * 1024
_BLOCK_BYTES = 1024 * 1024
# RuntimeError: encrypted; NotImplementedError, one of them: packed in a way zipfile does not know.
_UNREADABLE = (OSError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError)


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
    made_at: datetime
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
    """

    title: str
    made_at: datetime
    made_by: str
    files: int
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    stamp: Stamp | None


def check_package(file: Path, trusted: bytes | None) -> Checked:
    """Compare every file of the package with its manifest, and that with its time stamp.

    Args:
        trusted: certificates (PEM) of the authority that whoever checks believes; None for none.

    Raises:
        ConfigError: it is no evidence package that can be read.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            return _check(archive, file, trusted)
    except _UNREADABLE as error:
        raise ConfigError(
            _("{file} is no evidence package: {error}", file=file, error=error)
        ) from error


def _check(archive: zipfile.ZipFile, file: Path, trusted: bytes | None) -> Checked:
    raw, manifest = _manifest(archive, file)
    faults = [*_file_faults(archive, manifest)]
    stamp = None
    if manifest.time_stamp.file:
        try:
            stamp = _stamp(archive, raw, trusted)
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
    )


def _manifest(archive: zipfile.ZipFile, file: Path) -> tuple[bytes, _Manifest]:
    try:
        info = archive.getinfo(MANIFEST)
        if info.file_size > _MOST_MANIFEST_BYTES:
            raise ValueError(_("{path} is too large", path=MANIFEST))
        raw = archive.read(info)
        manifest = _Manifest.model_validate(json.loads(raw))
    except (KeyError, ValueError, RecursionError, ValidationError) as error:
        raise ConfigError(
            _("{file} is no evidence package: {error}", file=file, error=error)
        ) from error
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


def _file_faults(archive: zipfile.ZipFile, manifest: _Manifest) -> Iterator[str]:
    there = Counter(archive.namelist())
    said = Counter(own.path for own in manifest.files)
    for path in said:
        if said[path] > 1 or there[path] > 1:
            # Programs differ in which of them they show.
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
    info = archive.getinfo(own.path)
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
