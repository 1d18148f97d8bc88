"""The files of one page store: a folder, a bucket, or whatever fsspec reaches.

A file is there whole or not at all. In a folder it is written beside its place, forced to the
disk and renamed; elsewhere it is made here and sent in one piece. Nothing is ever changed in it.
"""

from __future__ import annotations

import json
import logging
import os
import shlex
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from qiaocrawl.errors import ConfigError, PageStoreError
from qiaocrawl.language import _
from qiaocrawl.machine import sync_folder

_log = logging.getLogger(__name__)

OPTION = "QIAO_PAGE_STORE"
MARK_FILE = "qiaocrawl-page-store.json"

_S3 = ("s3", "s3a")
# Any of them lets botocore find credentials without a file or a server that hands them out.
_S3_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
# A server that is away is told within the minute, not after botocore's five.
_S3_OPTIONS: dict[str, Any] = {
    "use_listings_cache": False,
    "config_kwargs": {"connect_timeout": 10, "read_timeout": 60, "retries": {"max_attempts": 3}},
}
_PRIVATE_FOLDER, _PRIVATE_FILE = 0o700, 0o600
# A file of a folder that is being written.
_PART = ".part"


class PageFiles:
    """Reads, writes and deletes the files of the store at *address*.

    Raises:
        ConfigError: its package is missing, or credentials are.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._scheme = address.partition("://")[0]
        self._folder = Path(address.removeprefix("file://")) if self._scheme == "file" else None
        if self._scheme in _S3 and not any(os.environ.get(name) for name in _S3_VARIABLES):
            raise ConfigError(
                _(
                    "{option}: {address} needs credentials in the environment: "
                    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or one of {others}",
                    option=OPTION,
                    address=address,
                    others=", ".join(_S3_VARIABLES[1:]),
                )
            )
        # Asked for now: a missing package is told before anything is fetched.
        assert self._system

    @cached_property
    def _system(self) -> tuple[Any, str]:
        """fsspec's file system, and the path of the store in it."""
        from fsspec.core import url_to_fs

        try:
            system, path = url_to_fs(self.address, **(_S3_OPTIONS if self._scheme in _S3 else {}))
        except (ImportError, ValueError) as error:
            # fsspec says which package to install, and which protocols it knows.
            how = _(": pip install 'qiaocrawl[s3]'") if self._scheme in _S3 else ""
            raise ConfigError(
                _(
                    "{option}: {address} cannot be used{how}: {error}",
                    option=OPTION,
                    address=self.address,
                    how=how,
                    error=error,
                )
            ) from error
        return system, str(path).rstrip("/")

    # --- writing ------------------------------------------------------------------------------

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """A new file; it is there under *name*, for good, when the block has ended without error.

        Raises:
            PageStoreError: it cannot be written.
        """
        if self._folder is not None:
            with self._failing(name), _durable_file(self._folder, name) as file:
                yield file
            return
        with tempfile.NamedTemporaryFile(prefix="qiaocrawl-pages-") as spool:
            yield spool
            spool.flush()
            with self._failing(name):
                self._send(Path(spool.name), name)

    def _send(self, spool: Path, name: str) -> None:
        system, root = self._system
        path = f"{root}/{name}"
        if self._scheme not in _S3:
            # In a bucket there are no folders, and s3fs would make the bucket.
            system.makedirs(path.rpartition("/")[0], exist_ok=True)
        system.put_file(str(spool), path)
        system.invalidate_cache()
        sent, there = spool.stat().st_size, system.size(path)
        if sent != there:
            raise OSError(f"{sent} bytes were sent, {there} are there")

    def delete(self, name: str) -> None:
        """Delete the file; one that is missing is none to delete.

        Raises:
            PageStoreError: it cannot be deleted.
        """
        system, root = self._system
        with self._failing(name), suppress(FileNotFoundError):
            system.rm_file(f"{root}/{name}")
        if self._folder is not None:
            # What a killed process left of it.
            (self._folder / f"{name}{_PART}").unlink(missing_ok=True)

    def try_out(self) -> None:
        """Write a few bytes; a process killed meanwhile leaves nothing behind.

        Raises:
            ConfigError: that cannot be done; the message says why.
        """
        try:
            if self._folder is None:
                # In a bucket every file has a name; this one may be written again at any time.
                self.set_mark(self.mark())
                return
            with self._failing(""), tempfile.TemporaryFile(dir=self._folder) as nameless:
                nameless.write(b"qiaocrawl\n")
                nameless.flush()
                os.fsync(nameless.fileno())
        except PageStoreError as error:
            raise ConfigError(
                _("{option}: cannot write there: {error}", option=OPTION, error=error)
            ) from error

    # --- reading ------------------------------------------------------------------------------

    def read(self, name: str, offset: int, length: int) -> bytes:
        """That part of the file; less where it ends before.

        Raises:
            PageStoreError: the file is missing or cannot be read; names file and offset.
        """
        system, root = self._system
        with self._failing(name, offset):
            data: bytes = system.cat_file(f"{root}/{name}", start=offset, end=offset + length)
            return data

    def size(self, name: str) -> int | None:
        """The bytes of the file; None when it is not there.

        Raises:
            PageStoreError: the store does not answer.
        """
        system, root = self._system
        with self._failing(name):
            try:
                size: int = system.size(f"{root}/{name}")
            except FileNotFoundError:
                return None
            return size

    # --- whose store it is --------------------------------------------------------------------

    def mark(self) -> str:
        """What tells whose store this is; "" where nothing has been stored yet.

        Raises:
            PageStoreError: the store does not answer.
        """
        size = self.size(MARK_FILE)
        if size is None:
            return ""
        try:
            return str(json.loads(self.read(MARK_FILE, 0, size))["mark"])
        except (ValueError, KeyError, TypeError) as error:
            raise PageStoreError(
                _("{address}/{file} is damaged", address=self.address, file=MARK_FILE)
            ) from error

    def require_place(self) -> None:
        """Refuse a folder to be made where a slip of the pen would have put it.

        Raises:
            ConfigError: what it would stand in is not there either, or is the root.
        """
        folder = self._folder
        if folder is None or folder.is_dir():
            return
        if folder.parent == folder.parent.parent or not folder.parent.is_dir():
            raise ConfigError(
                _(
                    "{option}: there is no folder {folder}; if it is meant: `{command}`",
                    option=OPTION,
                    folder=folder,
                    command=f"mkdir -p {shlex.quote(str(folder))}",
                )
            )
        _log.info("a new page store: %s", folder)

    def set_mark(self, mark: str) -> None:
        """Make this the store that has *mark*; others may do so at the same time.

        Raises:
            PageStoreError: it cannot be written.
        """
        about = {"what": "raw pages of qiaocrawl (docs/fleet.md)", "format": 1, "mark": mark}
        with self.writing(MARK_FILE) as file:
            file.write(json.dumps(about).encode())

    def drop_leftovers(self) -> None:
        """Delete what processes left that were killed while they marked the store."""
        if self._folder is not None:
            for part in self._folder.glob(f"{MARK_FILE}.*{_PART}"):
                part.unlink(missing_ok=True)

    @contextmanager
    def _failing(self, name: str, offset: int | None = None) -> Iterator[None]:
        place = f"{self.address}/{name}" + ("" if offset is None else f" @{offset}")
        try:
            yield
        except PageStoreError:
            raise
        # A file system of fsspec raises what its own library does: botocore's errors are no
        # OSError, and each library has others.
        except Exception as error:
            cause = str(error).partition("\n")[0] or type(error).__name__
            raise PageStoreError(
                _("{place}: {kind}: {cause}", place=place, kind=type(error).__name__, cause=cause)
            ) from error


@contextmanager
def _durable_file(folder: Path, name: str) -> Iterator[IO[bytes]]:
    """A file beside its place, then there; file and folders survive a power cut."""
    target = folder / name
    target.parent.mkdir(_PRIVATE_FOLDER, parents=True, exist_ok=True)
    # The mark is the one file that several processes may write at a time.
    own = f".{uuid.uuid4().hex}" if name == MARK_FILE else ""
    part = target.with_name(f"{target.name}{own}{_PART}")
    try:
        with open(os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, _PRIVATE_FILE), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    # The names too, up to the folder of the store, which may have been made just now.
    for above in (target.parent, *target.parent.parents):
        sync_folder(above)
        if above == folder.parent:
            break
