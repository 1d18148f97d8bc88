"""No address inside and no other scheme is asked for, whichever way it comes in (F-S1 to F-S7).

Every entrance offers every case, each under a URL of its own; a listener on this machine
counts who came. To add an entrance: a row in ``ENTRANCES`` for what a page can say, or a test
below for what needs a crawl of its own.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from crawling import (
    Answer,
    Crawl,
    article,
    crawl,
    import_pack,
    local_server,
    outcomes,
    pack,
    rows,
)
from inside_cases import NAMES, OUTSIDE, inside_cases, listening, marked
from qiaocrawl.urls import canonical_url

HOST = "www.qiao.test"
STATUSES = (301, 302, 303, 307, 308)
NAMED = {"NAMES_OF_TEST": json.dumps(NAMES)}
Offer = Callable[[list[str]], dict[str, Answer]]
"""From the cases to the pages that offer them."""


def page(head: str = "", body: str = "") -> Answer:
    return Answer(
        f'<html><head><meta charset="utf-8"><title>列表</title>{head}</head>'
        f"<body>{body}</body></html>".encode()
    )


def one_page(path: str, template: str) -> Offer:
    return lambda urls: {path: page(body="".join(template % html.escape(u) for u in urls))}


def each_page(path: str, template: str) -> Offer:
    return lambda urls: {
        f"{path}/{n}": page(head=template % html.escape(u), body="<p>一</p>")
        for n, u in enumerate(urls)
    }


def redirects(urls: list[str]) -> dict[str, Answer]:
    # Header values are Latin-1; servers write such addresses in UTF-8.
    headers = [{"Location": url.encode().decode("latin-1")} for url in urls]
    return {
        f"/r/{n}": Answer(status=STATUSES[n % 5], headers=headers[n % len(urls)])
        for n in range(len(urls) + 4)
    }


def bases(urls: list[str]) -> dict[str, Answer]:
    return {
        f"/base/{n}": page(f'<base href="{html.escape(url)}">', f'<a href="?via=base-{n}">下</a>')
        for n, url in enumerate(urls)
    }


def sitemaps(urls: list[str]) -> dict[str, Answer]:
    places = "".join(f"<url><loc>{html.escape(url)}</loc></url>" for url in urls)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    index = places.replace("url>", "sitemap>").replace("via=sitemap", "via=sitemapindex")
    xml = {"Content-Type": "application/xml"}
    return {
        "/sitemap.xml": Answer(f'<urlset xmlns="{space}">{places}</urlset>'.encode(), headers=xml),
        "/sitemap_index.xml": Answer(
            f'<sitemapindex xmlns="{space}">{index}</sitemapindex>'.encode(), headers=xml
        ),
    }


def robots(urls: list[str]) -> dict[str, Answer]:
    lines = "".join(f"Sitemap: {url}\n" for url in urls)
    own = f"Sitemap: http://{HOST}/sitemap.xml\nSitemap: http://{HOST}/sitemap_index.xml\n"
    return {
        "/robots.txt": Answer(
            f"User-agent: *\nAllow: /\n{own}{lines}".encode(),
            headers={"Content-Type": "text/plain"},
        )
    }


def feeds(urls: list[str]) -> dict[str, Answer]:
    items = "".join(f"<item><title>侨</title><link>{html.escape(u)}</link></item>" for u in urls)
    feed = f'<rss version="2.0"><channel><title>侨</title>{items}</channel></rss>'
    others = "".join(
        f'<link rel="alternate" type="application/rss+xml" href="{html.escape(u)}">' for u in urls
    ).replace("via=feed", "via=feedlink")
    own = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    return {
        "/feed.xml": Answer(feed.encode(), headers={"Content-Type": "application/rss+xml"}),
        "/feeds.html": page(own + others),
    }


def pagers(urls: list[str]) -> dict[str, Answer]:
    links = "".join(f'<a href="{html.escape(url)}">{n}</a>' for n, url in enumerate(urls, 2))
    body = article("侨乡纪事").decode()
    return {"/parts.html": Answer(body.replace("</body>", f"<div>1{links}</div></body>").encode())}


ENTRANCES: dict[str, Offer] = {
    "link": one_page("/links.html", '<a href="%s">下一篇</a> '),
    "frame": one_page("/frames.html", '<iframe src="%s"></iframe>'),
    "image": one_page("/images.html", '<img src="%s"><area href="%<s">'.replace("%<s", "#")),
    "redirect": redirects,
    "refresh": each_page("/m", '<meta http-equiv="refresh" content="0; url=%s">'),
    "canonical": each_page("/c", '<link rel="canonical" href="%s">'),
    "base": bases,
    "sitemap": sitemaps,
    "robots": robots,
    "feed": feeds,
    "pager": pagers,
}
# What a crawl reads at least; the others are offered all the same.
READ = {"seed", "link", "redirect", "refresh", "base", "pager", "sitemap", "sitemapindex", "robots",
        "feed", "feedlink"}  # fmt: skip


def refused_everywhere(url: str, own: str, log: str) -> Counter[str]:
    """Every URL that is not *own* was refused; how many by entrance."""
    found = {
        where: outcome
        for where, outcome in outcomes(url).items()
        if not re.match(rf"https?://{re.escape(own)}(/|$)", where)
    }
    wrong = {where: outcome for where, outcome in found.items() if outcome != "refused"}
    assert not wrong, f"{wrong}\n{log}"
    return Counter(via[1] for where in found if (via := re.search(r"via=([a-z]+)", where)))


def test_no_entrance_of_a_site_leads_inside(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with listening() as inside:
        cases = inside_cases(inside.port)
        pages: dict[str, Answer] = {}
        for name, offer in ENTRANCES.items():
            pages |= offer([marked(case, name, n) for n, case in enumerate(cases)])
        pages["/"] = page(body="".join(f'<a href="{path}">页</a>' for path in pages))
        seeds = [
            marked(case, "seed", n)
            for n, case in enumerate(cases)
            if canonical_url(case) is not None
        ]
        with local_server(lambda host, path: pages.get(path)) as server:
            done = crawl(
                "site",
                url,
                "topic=qiaoqing",
                f"start=http://{HOST}/,{','.join(seeds)}",
                "strategy=bfs",
                "-s",
                "QIAO_FRONTIER_RETRY_SECONDS=0",
                folder=tmp_path,
                QIAO_DEMO=server.origin,
                QIAO_SITEMAPS="on",
                **NAMED,
            )
            asked = {hit.path for hit in server.log}
        assert inside.hits == []
    # A start page that may not be fetched is no success.
    assert done.returncode == ("start page not fetched" in done.log), done.log
    offered = {path for path in pages if path.endswith(".html") or path[1:3] in ("r/", "m/", "c/")}
    assert offered <= asked, offered - asked
    seen = refused_everywhere(url, HOST, done.log)
    assert set(seen) >= READ, f"{seen}\n{done.log}"
    # Of the feeds one page announces a crawl reads few.
    assert min(seen[name] for name in READ - {"feedlink"}) >= 30, seen
    schemes = {str(found).split(":")[0] for (found,) in rows(url, "SELECT url FROM url")}
    assert schemes <= {"http", "https"}


def crawl_hits(url: str, origin: str, folder: Path) -> Crawl:
    """Search the service at *origin*, then fetch what it found."""
    given = {
        "QIAO_ENGINES": "searxng",
        "QIAO_SEARXNG_URL": f"http://{origin}",
        "QIAO_SEARCH_MAX_PAGES": "1",
        "QIAO_FRONTIER_RETRY_SECONDS": "0",
        **NAMED,
    }
    searched = crawl(
        "search", url, "topic=qiaoqing", "terms=1", "-s", "DOWNLOAD_DELAY=0", folder=folder, **given
    )
    assert searched.returncode == 0, searched.log
    return crawl("pages", url, "topic=qiaoqing", "-s", "DOWNLOAD_DELAY=0", folder=folder, **given)


def test_search_hits_do_not_lead_inside_nor_to_the_service_that_found_them(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with listening() as inside:
        cases = [marked(case, "hit", n) for n, case in enumerate(inside_cases(inside.port))]

        def respond(host: str, path: str) -> Answer:
            own = [f"http://{host}/search?q=via=own", f"http://{host}/config?via=own"]
            hits = [
                {"url": hit, "title": "侨胞新闻", "content": "海外侨胞"} for hit in [*cases, *own]
            ]
            return Answer(
                json.dumps({"results": hits}).encode(), headers={"Content-Type": "application/json"}
            )

        with local_server(respond) as server:
            done = crawl_hits(url, server.origin, tmp_path)
            searches = [path for path in server.paths() if "format=json" in path]
            assert searches
            assert server.paths() == searches, "a hit led to the service"
        assert inside.hits == []
    assert done.returncode == 0, done.log
    found = {
        str(where): str(outcome)
        for where, outcome in rows(url, "SELECT url, outcome FROM url WHERE queue = 'pages'")
    }
    assert len(found) >= 30
    assert set(found.values()) == {"refused"}, f"{found}\n{done.log}"


def test_nothing_inside_is_asked_of_a_proxy(tmp_path: Path) -> None:
    """A proxy connects for us, where no name service of ours is asked (F-S6)."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack())
    with (
        listening() as inside,
        local_server(lambda host, path: Answer(article(f"侨乡{path}"))) as proxy,
    ):
        seeds = [
            marked(case, "proxy", n)
            for n, case in enumerate(inside_cases(inside.port))
            if canonical_url(case) is not None
        ]
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            f"start={','.join([*seeds, *OUTSIDE])}",
            "-s",
            "DOWNLOAD_DELAY=0",
            "-s",
            "QIAO_FRONTIER_RETRY_SECONDS=0",
            folder=tmp_path,
            http_proxy=f"http://{proxy.origin}",
            https_proxy=f"http://{proxy.origin}",
            QIAO_ALLOW_ADDRESSES=f"http://{proxy.origin}",
            **NAMED,
        )
        asked = {path for path in proxy.paths() if not path.endswith("robots.txt")}
        assert inside.hits == []
    # A start page that may not be fetched is no success.
    assert done.returncode == ("start page not fetched" in done.log), done.log
    assert asked == {*OUTSIDE}, "what is outside is asked, and nothing else"
    found = {where: outcome for where, outcome in outcomes(url).items() if "via=" in where}
    assert set(found.values()) == {"refused"}, found


def test_named_origins_and_start_pages_that_redirect_off_the_sites(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    away = Answer(status=302, headers={"Location": "http://www.fremd.test/"})
    with (
        local_server(lambda host, path: Answer(article("内部"))) as server,
        local_server(lambda host, path: Answer(article("另一个"))) as other,
        local_server(lambda host, path: away if path == "/" else None) as web,
    ):
        starts = (
            f"http://{HOST}/",
            f"http://{server.origin}/x",
            f"http://{other.origin}/y",
            f"https://{server.origin}/z",
        )
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            f"start={','.join(starts)}",
            "-s",
            "DOWNLOAD_DELAY=0",
            folder=tmp_path,
            QIAO_DEMO=web.origin,
            QIAO_ALLOW_ADDRESSES=f"http://{server.origin}",
        )
    # A start page that may not be fetched is no success.
    assert done.returncode == ("start page not fetched" in done.log), done.log
    # What is named is allowed by its scheme and port only.
    assert server.paths() == ["/x"]
    assert not other.log
    assert outcomes(url)[f"https://{server.origin}/z"] == "refused"
    # The start page of the site is asked, and where it leads to is not.
    assert {(hit.host, hit.path) for hit in web.log} == {(HOST, "/robots.txt"), (HOST, "/")}
    assert "Telnet" not in done.log
    assert "emote control" not in done.log.replace("REMOTE_CONTROL_ENABLED", "")
