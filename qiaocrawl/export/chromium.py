"""Pages of ours by the Chromium of this machine: printed as PDF, drawn as a picture.

Nothing is asked of the network, by the page or by the browser itself.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.machine import is_root

_SECONDS = 120
PICTURE_WIDTH, PICTURE_HEIGHT = 1280, 4096
"""Of what :func:`to_picture` draws, in pixels."""


def to_pdf(page: str, chromium: str) -> bytes:
    """The HTML *page* on paper.

    Args:
        chromium: path of the browser.

    Raises:
        ConfigError: there is no such browser, or it made nothing.
    """
    if not Path(chromium).is_file():
        raise ConfigError(
            _(
                "PDF is printed by Chromium, and QIAO_CHROMIUM={chromium!r} is no file: install it "
                "(apt-get install chromium), or write .html and print that",
                chromium=chromium,
            )
        )
    made, said = _run(page, chromium, "page.pdf", "--no-pdf-header-footer", "--print-to-pdf={}")
    if not made:
        raise ConfigError(_("{chromium} made no PDF: {said}", chromium=chromium, said=said))
    return made


def to_picture(page: str, chromium: str) -> bytes:
    """The beginning of the HTML *page* as PNG, as large as a long window.

    Args:
        chromium: path of the browser.

    Raises:
        ConfigError: there is no such browser, or it made nothing.
    """
    if not Path(chromium).is_file():
        raise ConfigError(
            _(
                "pictures are drawn by Chromium, and QIAO_CHROMIUM={chromium!r} is no file: "
                "install it (apt-get install chromium)",
                chromium=chromium,
            )
        )
    size = f"--window-size={PICTURE_WIDTH},{PICTURE_HEIGHT}"
    made, said = _run(page, chromium, "page.png", "--hide-scrollbars", size, "--screenshot={}")
    if not made:
        raise ConfigError(_("{chromium} drew nothing: {said}", chromium=chromium, said=said))
    return made


def _run(page: str, chromium: str, name: str, *options: str) -> tuple[bytes, str]:
    """The file *name* that the browser makes of *page* with *options*, b"" for none; what it said.

    Args:
        options: ``{}`` stands for the path of the file.
    """
    # A folder that everybody may enter: Chromium's sandbox reads the page as nobody.
    with TemporaryDirectory(prefix="qiao-page-") as made_in:
        folder = Path(made_in)
        source, target = folder / "page.html", folder / name
        source.write_text(page, "utf-8", errors="replace")
        command = [
            chromium,
            "--headless",
            "--disable-gpu",
            "--disable-background-networking",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={folder / 'profile'}",
            *(option.format(target) for option in options),
            *(["--no-sandbox"] if is_root() else []),
            source.as_uri(),
        ]
        try:
            said = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_SECONDS
            ).stderr
        except (OSError, subprocess.TimeoutExpired) as error:
            said = str(error)
        if target.is_file():
            return target.read_bytes(), ""
        return b"", (said.strip().splitlines()[-1:] or [_("it said nothing")])[0]
