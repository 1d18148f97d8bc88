"""Files made for one reader, gone when they are sent."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree

from sqlalchemy import Connection
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from qiaocrawl.console.work import read_heavy


async def download(
    request: Request, name: str, write: Callable[[Connection, Path], object]
) -> Response:
    """The file called *name* that *write* makes at a path out of what the database has."""
    folder = Path(tempfile.mkdtemp(prefix="qiaocrawl-export-"))
    try:
        await read_heavy(request, write, folder / name)
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise
    gone = BackgroundTask(rmtree, folder, ignore_errors=True)
    return FileResponse(folder / name, filename=name, background=gone)
