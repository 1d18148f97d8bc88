"""A page as PDF, printed by the Chromium of this machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

_SECONDS = 120


def to_pdf(page: str, chromium: str) -> bytes:
    """The HTML *page* on paper.

    Args:
        chromium: path of the browser.

    Raises:
        ConfigError: there is no such browser, or it made nothing.
    """
    if not Path(chromium).is_file():
        raise ConfigError(_(
            "PDF is printed by Chromium, and QIAO_CHROMIUM={chromium!r} is no file: install it "
            "(apt-get install chromium), or write .html and print that", chromium=chromium,
        ))  # fmt: skip
    # A folder that everybody may enter: Chromium's sandbox reads the page as nobody.
    with TemporaryDirectory(prefix="qiao-pdf-") as name:
        folder = Path(name)
        source, target = folder / "page.html", folder / "page.pdf"
        source.write_text(page, "utf-8")
        command = [
            chromium, "--headless", "--disable-gpu", "--no-pdf-header-footer",
            # Nothing is asked of the network, by the page or by the browser itself.
            "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={folder / 'profile'}", f"--print-to-pdf={target}",
            *(["--no-sandbox"] if os.geteuid() == 0 else []), source.as_uri(),
        ]  # fmt: skip
        try:
            said = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_SECONDS
            ).stderr
        except (OSError, subprocess.TimeoutExpired) as error:
            said = str(error)
        if not target.is_file():
            last = said.strip().splitlines()[-1:] or [_("it said nothing")]
            raise ConfigError(_("{chromium} made no PDF: {said}", chromium=chromium, said=last[0]))
        return target.read_bytes()
