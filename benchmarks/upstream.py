"""Scrapy's own tests against the Scrapy that is installed (F-X7).

    pip download --no-binary :all: --no-deps scrapy==VERSION -d FOLDER
    pip install testfixtures pexpect pyftpdlib pytest-twisted
    python benchmarks/upstream.py FOLDER

runs the modules of the parts this project builds on: redirects, cookies, compression, proxies,
offsite, robots.txt, duplicate filter, scheduler; and again with the middlewares of ours that take
the place of Scrapy's, as far as they promise what Scrapy's do. A version whose counts differ from
the ones written down in docs/reliability.md is looked at before it is pinned. Exit code 1 when a
test fails that ours does not differ in on purpose, 2 when there are no tests to run.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import scrapy

MODULES = (
    "test_downloadermiddleware_redirect.py", "test_downloadermiddleware_redirect_metarefresh.py",
    "test_downloadermiddleware_cookies.py", "test_downloadermiddleware_httpcompression.py",
    "test_downloadermiddleware_httpproxy.py", "test_downloadermiddleware_offsite.py",
    "test_downloadermiddleware_robotstxt.py", "test_dupefilters.py", "test_scheduler.py",
)  # fmt: skip

# Read by pytest before the tests: our class under the name the tests import.
_OURS = """
import scrapy.downloadermiddlewares.cookies as cookies
import scrapy.downloadermiddlewares.redirect as redirect
from qiaocrawl.middlewares.cookies import OfflineCookiesMiddleware
from qiaocrawl.middlewares.redirect import SafeRedirectMiddleware
cookies.CookiesMiddleware = OfflineCookiesMiddleware
redirect.RedirectMiddleware = SafeRedirectMiddleware
"""
_OURS_MODULES = (
    "test_downloadermiddleware_cookies.py", "test_downloadermiddleware_redirect.py",
)  # fmt: skip
# Where ours is stricter: no header, body, referrer or cookie of one origin goes to another, and no
# value of a cookie is logged (the last one asks for a class by its place in Scrapy).
_STRICTER = (
    "test_cross_origin_header_dropping", "test_cross_origin_maintain_body",
    "test_meta_proxy_http_to_https", "test_meta_proxy_https_to_http",
    "test_response_referrer_policy", "test_setting_enabled_cookies_debug",
    "test_cookie_redirect_secure_undefined_upgrade", "test_cookie_redirect_secure_false_downgrade",
    "test_cookie_redirect_secure_false_upgrade", "test_warning_redirect_middleware",
)  # fmt: skip
_NOT_THEIRS = ("-p", "no:randomly", "-p", "no:xdist", "-p", "no:asyncio")
_COUNTS = re.compile(r"(\d+) (passed|failed|skipped|xfailed|xpassed|errors?)")


def unpacked(given: Path, folder: Path) -> Path | None:
    """The folder of Scrapy's sources in *given*: itself, or out of the archive in it."""
    if (given / "tests").is_dir():
        return given
    archives = sorted(given.glob("[sS]crapy-*.tar.gz")) if given.is_dir() else [given]
    archive = archives[-1] if archives else None
    if archive is None or not archive.is_file():
        return None
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return next(archive_ for archive_ in folder.iterdir() if (archive_ / "tests").is_dir())


def run(source: Path, modules: tuple[str, ...], plugin: str = "") -> tuple[dict[str, int], str]:
    """Counts of pytest over *modules* of *source*, and its last lines."""
    names = [name for name in modules if (source / "tests" / name).exists()]
    differs = f"not ({' or '.join(_STRICTER)})"
    plugins = ["-p", "qiao_ours", "-k", differs] if plugin else []
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "qiao_ours.py").write_text(plugin, "utf-8")
        path = [name, str(Path(__file__).resolve().parents[1])] if plugin else []
        # Scrapy's sources beside the tests would be taken for the installed ones.
        done = subprocess.run(
            [sys.executable, "-P", "-c", _WITHOUT_SOURCES, str(source), *path, "--", "-q",
             *_NOT_THEIRS, *plugins, *(f"tests/{one}" for one in names)],
            cwd=source, capture_output=True, text=True, check=False, timeout=900,
        )  # fmt: skip
    text = done.stdout + done.stderr
    counts = {word.rstrip("s"): int(number) for number, word in _COUNTS.findall(text[-500:])}
    return counts, text[-3_000:]


_WITHOUT_SOURCES = """
import os, sys
at = sys.argv.index("--")
source, *path = sys.argv[1:at]
import scrapy
assert not scrapy.__file__.startswith(source), scrapy.__file__
sys.path[:0] = [*path, source]
import pytest
sys.exit(pytest.main(sys.argv[at + 1:]))
"""


def main() -> int:
    """Run the tests and say how many passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=Path, help="sdist of Scrapy, or the folder it is in")
    given = parser.parse_args().sources
    with tempfile.TemporaryDirectory() as name:
        source = unpacked(given, Path(name))
        if source is None:
            print(f"skipped: no sources of Scrapy with tests in {str(given)!r} (pip download)")
            return 2
        failed = False
        for title, modules, plugin in (
            ("Scrapy's", MODULES, ""), ("with our cookies and redirects", _OURS_MODULES, _OURS),
        ):  # fmt: skip
            counts, text = run(source, modules, plugin)
            bad = counts.get("failed", 0) + counts.get("error", 0)
            failed |= bool(bad) or not counts.get("passed")
            summary = ", ".join(f"{number} {word}" for word, number in counts.items()) or text
            print(f"scrapy {scrapy.__version__}, {title}: {summary}")
            if bad:
                print(text)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
