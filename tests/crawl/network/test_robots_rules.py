"""robots.txt: rules as RFC 9309 and Google's parser read them (F-K1, F-K4), and its fetching."""

from __future__ import annotations

import json
import tarfile
import time
from pathlib import Path

import pytest
from scrapy.robotstxt import ProtegoRobotParser

from crawling import Answer, article, crawl, import_pack, local_server, outcomes, pack

SHARED = Path(__file__).resolve().parents[4] / "shared/data/external"
GOOGLE = SHARED / "google-robotstxt" / "robots_cases.json"
CORPUS = SHARED / "protego" / "robots_corpus.tar.xz"
HOST = "www.qiao.test"


def allows(robots: str, agent: str, url: str) -> bool:
    return ProtegoRobotParser(robots.encode(), None).allowed(url, agent)


GROUPS = """\
User-agent: *
Disallow: /all/

User-agent: qiaocrawl
User-agent: other
Disallow: /ours/
Allow: /ours/open/
Disallow: /*.pdf$
Disallow: /侨
"""


@pytest.mark.parametrize(("path", "allowed"), [
    ("/all/x", True), ("/ours/x", False), ("/ours/open/x", True), ("/OURS/x", True),
    ("/a.pdf", False), ("/a.pdfx", True), ("/a.pdf?x", True), ("/", True), ("/robots.txt", True),
    ("/%E4%BE%A8/1", False),
])  # fmt: skip
def test_our_group_by_its_longest_rule(path: str, allowed: bool) -> None:
    assert allows(GROUPS, "qiaocrawl", f"http://a.test{path}") is allowed


def test_the_product_token_has_no_space() -> None:
    """Google's parser and protego differ on agents with spaces; ours has none."""
    from qiaocrawl import settings

    assert settings.ROBOTSTXT_USER_AGENT.isalpha()


# What protego reads otherwise than Google's parser, and why that does no harm here: agent
# names with a space (ours has none); an unknown line that does not end a group; URLs that are
# not percent-encoded (ours always are).
ACCEPTED = {
    "ID_UserAgentValueCaseInsensitive",
    "GoogleOnly_AcceptUserAgentUpToFirstSpace",
    "ID_Encoding",
    "ID_LineSyntax_Groups_OtherRules",
}


@pytest.mark.skipif(not GOOGLE.is_file(), reason="the shared collection is not here")
def test_googles_cases() -> None:
    cases = json.loads(GOOGLE.read_text("utf-8"))
    missed = [
        case["test"]
        for case in cases
        if allows(case["robots"], case["agent"], case["url"]) is not case["allowed"]
    ]
    assert len(cases) - len(missed) >= 130
    assert set(missed) <= ACCEPTED, set(missed) - ACCEPTED


@pytest.mark.skipif(not CORPUS.is_file(), reason="the shared collection is not here")
def test_robots_files_of_the_web_are_read() -> None:
    """Every tenth of the collection; none may raise, none may hold up the loop."""
    read, slowest = 0, 0.0
    with tarfile.open(CORPUS) as files:
        for number, member in enumerate(files):
            if number % 10 or not member.isfile():
                continue
            extracted = files.extractfile(member)
            assert extracted is not None
            body = extracted.read()[: 512 * 1024]
            began = time.process_time()
            parser = ProtegoRobotParser(body, None)
            parser.allowed("http://a.test/x/y.html?z=1", "qiaocrawl")
            parser.rp.crawl_delay("qiaocrawl")
            slowest = max(slowest, time.process_time() - began)
            read += 1
    print(read, "files, slowest", round(slowest, 3), "s")
    assert read > 400


def robots(*lines: str) -> Answer:
    return Answer(
        "\n".join(("User-agent: *", *lines, "")).encode(), headers={"Content-Type": "text/plain"}
    )


def moved(target: str) -> Answer:
    return Answer(status=302, headers={"Location": target})


def test_robots_txt_is_followed_over_hosts_and_bounded(tmp_path: Path) -> None:
    """F-K3: five hops over hosts, a loop, a rule near the size limit, one beyond it; F-K2: a
    time-out and an empty file.
    """
    url = f"sqlite:///{tmp_path / 'q.db'}"
    hosts = {
        name: f"http://{name}.qiao.test"
        for name in ("hops", "loop", "big", "empty", "hangs", "utf16", "gbk")
    }
    filler = ["Disallow: /" + "x" * 98] * (499 * 1024 // 110)
    beyond = ["# " + "y" * 98] * 300
    windows = "User-agent: *\r\nDisallow: /b\r\n"
    pages = {
        "utf16.qiao.test/robots.txt": Answer(windows.encode("utf-16")),
        # Paths in the bytes of the site's pages.
        "gbk.qiao.test/robots.txt": Answer(windows.replace("/b", "/内部").encode("gbk")),
        **{
            f"hop{n}.qiao.test/{n}": moved(f"http://hop{n + 1}.qiao.test/{n + 1}")
            for n in range(1, 5)
        },
        "hops.qiao.test/robots.txt": moved("http://hop1.qiao.test/1"),
        "hop5.qiao.test/5": robots("Disallow: /b"),
        "loop.qiao.test/robots.txt": moved("/robots.txt?again"),
        "loop.qiao.test/robots.txt?again": moved("/robots.txt"),
        "big.qiao.test/robots.txt": robots(*filler, "Disallow: /b", *beyond, "Disallow: /a"),
        "empty.qiao.test/robots.txt": Answer(b"", headers={"Content-Type": "text/plain"}),
        "hangs.qiao.test/robots.txt": Answer(b"", before_seconds=60.0),
    }

    def respond(host: str, path: str) -> Answer | None:
        if (page := pages.get(host + path)) is not None or path == "/robots.txt":
            return page
        return Answer(article(f"侨乡新闻 {host}{path}"))

    import_pack(url, pack(HOST))
    with local_server(respond) as server:
        # Apart: where this machine is slow, only what hangs may time out.
        for seconds, names in ((2, {"hangs"}), (60, hosts.keys() - {"hangs"})):
            starts = ",".join(f"{hosts[name]}/{path}" for name in sorted(names) for path in "ab")
            if "gbk" in names:
                starts += ",http://gbk.qiao.test/%C4%DA%B2%BF"
            done = crawl(
                "site",
                url,
                "topic=qiaoqing",
                f"start={starts}",
                "strategy=bfs",
                "-s",
                f"DOWNLOAD_TIMEOUT={seconds}",
                folder=tmp_path,
                QIAO_DEMO=server.origin,
                QIAO_FRONTIER_RETRY_SECONDS="0.05",
            )
            # Some of the start pages are forbidden, or nobody answers.
            assert done.returncode == 1, done.log
    found = {
        where.removeprefix("http://").replace(".qiao.test", ""): outcome
        for where, outcome in outcomes(url).items()
    }
    assert found == {
        "hops/a": "article", "hops/b": "robots", "big/a": "article", "big/b": "robots",
        "empty/a": "article", "empty/b": "article",
        "utf16/a": "article", "utf16/b": "robots",
        "gbk/a": "article", "gbk/b": "article", "gbk/%C4%DA%B2%BF": "robots",
        # Neither says anything: both wait for another run.
        "loop/a": "0", "loop/b": "0",
        "hangs/a": "0", "hangs/b": "0",
    }, done.log  # fmt: skip


def test_rules_serve_a_day_and_are_asked_for_again_then(tmp_path: Path) -> None:
    """F-K3: after 23 hours the first rules count, after 25 those that the host has by then."""
    url, hours = f"sqlite:///{tmp_path / 'q.db'}", tmp_path / "hours"
    hours.write_text("0")
    chain = {"/": ("/young",), "/young": ("/old",), "/old": ("/secret", "/open")}
    asked: list[str] = []

    def respond(host: str, path: str) -> Answer | None:
        asked.append(path)
        if path == "/robots.txt":
            return robots("Disallow: /secret" if "/old" in asked else "Disallow: /open")
        hours.write_text({"/": "23", "/old": "25"}.get(path, hours.read_text()))
        return Answer(article(f"侨乡新闻 {path}", links=chain.get(path, ())))

    import_pack(url, pack(HOST))
    with local_server(respond) as server:
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            f"start=http://{HOST}/",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
            NAMES_OF_TEST="{}",
            ROBOTS_HOURS_OF_TEST=str(hours),
        )
    assert done.returncode == 0, done.log
    assert asked == ["/robots.txt", "/", "/young", "/old", "/robots.txt", "/open"], done.log
    assert outcomes(url)[f"http://{HOST}/secret"] == "robots"
