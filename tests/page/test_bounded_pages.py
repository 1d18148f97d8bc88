"""What one page can cost is bounded: its links, its markup, its memory, its charset."""

from __future__ import annotations

import time

import charset_normalizer
import pytest

from crawl_starter import run_started
from crawling import PROJECT
from qiaocrawl.page.page import parse_page
from qiaocrawl.page.sanitize import MAX_LINKS, sanitize_html
from qiaocrawl.text import charset

URL = "http://www.qiao.test/"


def links(count: int) -> bytes:
    return b"".join(
        b'<a href="/%d/../%%E4%%BE%%A8?b=%d&a=1">x</a>\n' % (n, n) for n in range(count)
    )


def cost_seconds(body: bytes) -> float:
    """Processor time of parsing and harvesting *body*, the least of three."""
    times = []
    for _ in range(3):
        before = time.process_time()
        parse_page(body, "text/html; charset=utf-8", URL).harvest(1_000)
        times.append(time.process_time() - before)
    return min(times)


def test_a_page_of_very_many_links_costs_what_one_of_ten_thousand_does() -> None:
    assert cost_seconds(links(40 * MAX_LINKS)) < 5 * cost_seconds(links(MAX_LINKS))


def test_links_past_the_limit_are_not_read_and_that_is_told() -> None:
    page = parse_page(links(MAX_LINKS + 500), "", URL)
    assert page.notes == (f"all after the first {MAX_LINKS} links dropped",)
    assert page.harvest(20_000).found == MAX_LINKS
    # Addresses far from the start of their tags are counted when the tree is read.
    far = (b'<a class="' + b"c" * 80 + b'" href="/%d">x</a>\n') * (MAX_LINKS + 500)
    late = parse_page(far % tuple(range(MAX_LINKS + 500)), "", URL).harvest(20_000)
    assert (late.found, late.unread) == (MAX_LINKS, 500)


def test_anchors_without_address_are_no_links() -> None:
    html = '<a name="n">甲</a><a href="/x">乙</a>' * 6_000
    assert sanitize_html(html) == (html, ())


@pytest.mark.parametrize("markup", ["<select>{}", "<select>{}</select>", "<ul>{}"])
@pytest.mark.parametrize("tag", ["option", "optgroup"])
def test_options_cost_no_quadratic_time(markup: str, tag: str) -> None:
    """Two hundred thousand of them once cost three minutes."""
    body = markup.format("".join(f"<{tag}>{n}" for n in range(100_000))).encode() + b"<p>END"
    before = time.process_time()
    parse_page(body, "", URL)
    assert time.process_time() - before < 10 * cost_seconds(b"<p>x" * 100_000) + 1


def test_the_charset_of_a_giant_page_is_guessed_from_a_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F-E6: the detectors see the same few bytes, however long the page is."""
    seen: list[int] = []
    detect, plausible = charset_normalizer.from_bytes, charset.plausibility

    def spied(body: bytes, *args: object, **kwargs: object) -> object:
        seen.append(len(body))
        return detect(body, *args, **kwargs)  # type: ignore[arg-type]

    def weighed(body: bytes, name: str) -> float:
        seen.append(len(body))
        return plausible(body, name)

    monkeypatch.setattr(charset_normalizer, "from_bytes", spied)
    monkeypatch.setattr(charset, "plausibility", weighed)
    for body in ("侨胞回乡寻根问祖。".encode("gb18030") * 300_000, b"caf\xe9 na\xefve " * 400_000):
        assert charset.decode_page(body).source == "guess"
    assert max(seen) == 16_384
    assert sum(seen) < 40 * 16_384


_HUGE = {
    "text nodes": 'b"<p>" + b"x" * 8_000_000',
    "one attribute": 'b"<a title=\'" + b"x" * 8_000_000 + b"\'>x</a>"',
    "many paragraphs": 'b"<p>x" * 2_000_000',
    "line ends": 'b"<p>x" + b"\\n" * 8_000_000',
    "links": 'b"<a href=/x>x</a>" * 600_000',
}


@pytest.mark.parametrize("name", _HUGE)
def test_huge_pages_need_bounded_memory(name: str) -> None:
    """F-R9: eight megabytes of markup never take more than 600 MB of a worker."""
    program = (
        "import re; from datetime import UTC, datetime; from pathlib import Path;"
        "from qiaocrawl.extract.page import analyse_html; from qiaocrawl.items import FetchedPage\n"
        f"body = {_HUGE[name]}\n"
        "u = 'http://www.qiao.test/'; when = datetime.now(UTC)\n"
        "def peak():\n"
        "    return int(re.search(r'VmHWM:\\s*(\\d+)', Path('/proc/self/status').read_text())[1])\n"
        "analyse_html(FetchedPage(u, u, 200, (), b'<p>x', when), 'blend', 100)\n"
        "before = peak()\n"
        "analyse_html(FetchedPage(u, u, 200, (), body, when), 'blend', 100)\n"
        "print(peak() - before)"
    )
    done = run_started("-c", program, folder=PROJECT)
    assert done.returncode == 0, done.stderr
    assert 5 < int(done.stdout) / 1024 < 600
