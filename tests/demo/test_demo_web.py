"""The demo web: the same every time, true to its gold, with everything real webs have."""

from __future__ import annotations

import base64
import codecs
import gzip
import hashlib
import html
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from qiaocrawl.demo.model import ARTICLE_KINDS, DemoPage, Gold, Kind
from qiaocrawl.demo.web import DemoWeb, build_web, demo_sites
from qiaocrawl.topic.pack import MAX_TIER, MIN_TIER, ROLES, SITE_KINDS

# What browsers read a label as.
READ_AS = {"gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs"}

_DIGEST = (
    "import hashlib, sys; from qiaocrawl.demo.web import build_web;"
    "d = hashlib.sha256();"
    "[d.update(repr((k, p)).encode()) for k, p in build_web(int(sys.argv[1]), .25).pages.items()];"
    "print(d.hexdigest())"
)


def digest_in_new_process(seed: int, hash_seed: str) -> str:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", _DIGEST, str(seed)]
    done = subprocess.run(
        command, env=environment, cwd=root, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def decoded(page: DemoPage) -> str:
    assert page.gold is not None
    charset = page.gold.charset
    return html.unescape(page.body.decode(READ_AS.get(charset, charset)))


def squeezed(text: str) -> str:
    """*text* without white space, tags and comments."""
    text = re.sub(r"(?s)<!--.*?-->|<[^>]*>", "", text)
    return re.sub(r"\s", "", text)


def gold_pages(web: DemoWeb, *kinds: Kind) -> list[tuple[DemoPage, Gold]]:
    return [
        (page, page.gold)
        for page in web.pages.values()
        if page.gold is not None and page.gold.kind in kinds
    ]


def end_of(web: DemoWeb, url: str, hops: int = 10) -> tuple[str, DemoPage]:
    """Where *url* leads over HTTP redirects, and what is there."""
    for _ in range(hops):
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        page = web.respond(parts.netloc, target)
        location = dict(page.headers).get("Location")
        if location is None:
            return url, page
        url = urljoin(url, location)
    raise RecursionError(url)


# --- the same for everybody ------------------------------------------------------


def test_same_seed_same_bytes_in_any_process() -> None:
    assert digest_in_new_process(11, "0") == digest_in_new_process(11, "4711")


def test_another_seed_gives_another_web() -> None:
    one, other = build_web(1, 0.1), build_web(2, 0.1)
    assert {gold.title for gold in one.gold()} != {gold.title for gold in other.gold()}


def test_scale_changes_the_number_of_articles(demo_web: DemoWeb) -> None:
    small = build_web(scale=0.25)
    assert len(small.pages) < len(demo_web.pages) / 2
    assert small.sites.keys() == demo_web.sites.keys()


@pytest.mark.parametrize("scale", [0, -1.0])
def test_scale_must_be_positive(scale: float) -> None:
    with pytest.raises(ValueError, match="scale must be above 0"):
        build_web(scale=scale)


# --- size and balance --------------------------------------------------------------


def test_it_is_large_enough(demo_web: DemoWeb) -> None:
    assert len(demo_web.sites) >= 14
    assert len(demo_web.pages) >= 700
    assert all(host.endswith(".test") for host in demo_web.sites)


def test_most_of_it_is_off_topic(demo_web: DemoWeb) -> None:
    articles = [gold for gold in demo_web.gold() if gold.kind in ARTICLE_KINDS]
    on_topic = sum(gold.on_topic for gold in articles)
    assert 200 <= on_topic < len(articles) / 2


def test_near_topic_words_stand_in_off_topic_titles(demo_web: DemoWeb) -> None:
    titles = [gold.title for _, gold in gold_pages(demo_web, *ARTICLE_KINDS) if not gold.on_topic]
    assert sum(bool(re.search("侨|唐人|移民", title)) for title in titles) >= 20


def test_articles_have_the_lengths_of_news(demo_web: DemoWeb) -> None:
    lengths = sorted(len(gold.body) for _, gold in gold_pages(demo_web, *ARTICLE_KINDS))
    assert lengths[0] >= 120
    assert 300 < lengths[len(lengths) // 2] < 800
    assert 2000 < lengths[-1] <= 2700


def test_reprints_cross_sites_and_change_titles(demo_web: DemoWeb) -> None:
    groups: dict[str, list[Gold]] = {}
    for _, gold in gold_pages(demo_web, *(ARTICLE_KINDS - {Kind.PRINT})):
        groups.setdefault(gold.reprint_group, []).append(gold)
    copied = [golds for golds in groups.values() if len(golds) > 1]
    assert len(copied) >= 80
    assert sum(len({gold.title for gold in golds}) > 1 for golds in copied) > len(copied) / 2
    hosts = [[urlsplit(gold.url).netloc for gold in golds] for golds in copied]
    assert all(len(set(found)) == len(found) for found in hosts)
    assert all(len({gold.on_topic for gold in golds}) == 1 for golds in copied)


def test_sites_fit_a_topic_pack(demo_web: DemoWeb) -> None:
    rows = demo_sites()
    assert [row.host for row in rows] == list(demo_web.sites)
    assert 5 <= sum(row.role == "authoritative" for row in rows) <= 6
    for row in rows:
        assert row.role in ROLES
        assert row.kind in SITE_KINDS
        assert MIN_TIER <= row.tier <= MAX_TIER
        assert demo_web.find(row.start_url) is not None


# --- true to its gold ----------------------------------------------------------------


def test_titles_and_bodies_stand_on_their_pages(demo_web: DemoWeb) -> None:
    for page, gold in gold_pages(demo_web, *ARTICLE_KINDS):
        text = squeezed(decoded(page))
        assert squeezed(gold.title) in text, gold.url
        lines = gold.body.split("\n")
        if not all(squeezed(line) in text for line in lines):
            # A paged article shows its first lines only.
            assert squeezed(lines[0]) in text, gold.url
            assert demo_web.find(_second_page(gold.url)) is not None, gold.url


def test_the_parts_of_a_paged_article_make_its_whole_body(demo_web: DemoWeb) -> None:
    whole: dict[str, str] = {}
    for page, gold in gold_pages(demo_web, Kind.PART):
        whole.setdefault(gold.target_url, _shown_on(demo_web, gold.target_url))
        whole[gold.target_url] += squeezed(decoded(page))
    assert len(whole) >= 10
    for url, text in whole.items():
        first = demo_web.find(url)
        assert first is not None
        assert all(squeezed(line) in text for line in first.body.split("\n")), url


def test_dates_authors_and_sources_stand_on_their_pages(demo_web: DemoWeb) -> None:
    for page, gold in gold_pages(demo_web, *ARTICLE_KINDS):
        text = squeezed(decoded(page))
        day = gold.published_at
        assert day is not None
        assert re.search(f"{day.year}.{{0,2}}{day.month:02}.{{0,2}}{day.day:02}", text), gold.url
        assert gold.author in text, gold.url
        assert squeezed(gold.source) in text, gold.url


def test_the_body_of_an_app_shell_stands_in_its_script_only(demo_web: DemoWeb) -> None:
    pages = gold_pages(demo_web, Kind.SHELL)
    assert len(pages) >= 10
    for page, gold in pages:
        markup = decoded(page)
        line = gold.body.split("\n")[0]
        packed = re.search(r'_STATE__(?:"[^>]*>|=")([\w+/=]+)[<"]', markup)
        assert packed is not None
        assert line in json.loads(base64.b64decode(packed[1]))["content"]
        assert line not in markup


def test_every_page_of_a_gb2312_site_is_gb2312(demo_web: DemoWeb) -> None:
    pages = [page for page, gold in gold_pages(demo_web, Kind.ARTICLE) if gold.charset == "gb2312"]
    assert pages
    for page in pages:
        text = page.body.decode("gbk")
        raw = [char.encode("gbk") for char in text if ord(char) > 127]
        assert all(min(pair) >= 0xA1 for pair in raw)


def test_charsets_are_declared_rightly_wrongly_and_not_at_all(demo_web: DemoWeb) -> None:
    declared: dict[str, set[str]] = {}
    for site in demo_web.sites.values():
        label = site.header or site.meta
        right = label and _reads_as(label) == _reads_as(site.charset)
        word = "not" if not label else "rightly" if right else "wrongly"
        declared.setdefault(word, set()).add(site.charset)
    assert declared.keys() == {"rightly", "wrongly", "not"}
    assert set().union(*declared.values()) == {"gb2312", "gbk", "gb18030", "big5", "utf-8"}
    assert {"big5", "utf-8"} <= declared["not"]
    assert "gbk" in declared["wrongly"]


def test_the_header_says_what_the_site_declares(demo_web: DemoWeb) -> None:
    for page, gold in gold_pages(demo_web, Kind.ARTICLE):
        site = demo_web.sites[urlsplit(gold.url).netloc]
        content_type = dict(page.headers)["Content-Type"]
        assert content_type.partition("charset=")[2] == site.header
        assert (f"charset={site.meta}" in decoded(page).replace('"', "")) == bool(site.meta)


def test_templates_leave_no_slot_open(demo_web: DemoWeb) -> None:
    for page, gold in gold_pages(demo_web, *ARTICLE_KINDS, Kind.LIST, Kind.HOME, Kind.PART):
        shown = decoded(page).split("</style>")[-1]
        assert not re.search(r"\$[a-z]{2}|\{[a-z]+\d?\}", shown), gold.url


# --- what real webs have -----------------------------------------------------------------


def test_every_kind_of_page_exists(demo_web: DemoWeb) -> None:
    found = Counter(gold.kind for gold in demo_web.gold())
    assert found.keys() == set(Kind)


def test_dead_links_of_every_kind(demo_web: DemoWeb) -> None:
    dead = [page for page, _ in gold_pages(demo_web, Kind.DEAD)]
    assert {page.status for page in dead if not page.drop} == {404, 410, 500}
    assert sum(page.drop for page in dead) == 1
    assert sum(page.status == 500 for page in dead) == 1


def test_redirects_end_where_their_gold_says(demo_web: DemoWeb) -> None:
    statuses = set()
    for page, gold in gold_pages(demo_web, Kind.REDIRECT):
        statuses.add(page.status)
        if gold.target_url and page.status != 200:
            assert end_of(demo_web, gold.url)[0] == gold.target_url
    assert statuses == {200, 301, 302}


def test_a_chain_and_a_loop_of_redirects(demo_web: DemoWeb) -> None:
    first = demo_web.respond("www.huaqiaobao.test", "/jump/1.html")
    assert dict(first.headers)["Location"] == "/jump/2.html"
    with pytest.raises(RecursionError):
        end_of(demo_web, "http://www.mnqw.test/loop/a.html")


def test_a_page_that_refreshes_itself_elsewhere(demo_web: DemoWeb) -> None:
    pages = [(p, g) for p, g in gold_pages(demo_web, Kind.REDIRECT) if p.status == 200]
    page, gold = pages[0]
    target = re.search(r'url=([^"]+)"', page.body.decode())
    assert target is not None
    assert urljoin(gold.url, target[1]) == gold.target_url


def test_soft_404_answers_200(demo_web: DemoWeb) -> None:
    pages = gold_pages(demo_web, Kind.SOFT_404)
    assert len(pages) >= 6
    assert all(page.status == 200 for page, _ in pages)
    assert all(re.search("不存在|下线|下線|刪除", decoded(page)) for page, _ in pages)


@pytest.mark.parametrize(
    ("host", "status"),
    [("www.mnqw.test", 404), ("www.yuehaiqiao.test", 200), ("www.dushiwang.test", 302)],
)
def test_unknown_paths_answer_as_the_site_does(demo_web: DemoWeb, host: str, status: int) -> None:
    page = demo_web.respond(host, "/no/such/page.html")
    assert page.status == status
    assert page.gold is None or page.gold.kind is Kind.SOFT_404


def test_unknown_hosts_are_refused(demo_web: DemoWeb) -> None:
    assert demo_web.respond("www.example.test", "/").status == 421


def test_a_login_wall_leads_to_its_form(demo_web: DemoWeb) -> None:
    walls = gold_pages(demo_web, Kind.LOGIN_WALL)
    assert 3 <= len(walls) <= 12
    for _, gold in walls:
        _, page = end_of(demo_web, gold.url)
        assert page.status == 200
        assert page.gold is not None
        assert page.gold.kind is Kind.LOGIN
        assert b'type="password"' in page.body
        assert gold.body


def test_marks_of_visitors_lead_to_the_same_page(demo_web: DemoWeb) -> None:
    marked = [
        (urlsplit(gold.url).netloc, href)
        for page, gold in gold_pages(demo_web, *ARTICLE_KINDS)
        for href in _hrefs(page)
        if re.search(r"[?&](sid|spm|utm_source)=", href)
    ]
    assert len({host for host, _ in marked}) >= 4
    for host, href in marked[::50]:
        url = urljoin(f"http://{host}/", href)
        clean = re.sub(r"[?&](sid|spm|utm_\w+|from)=[^&]*", "", url)
        assert demo_web.find(url) is demo_web.find(clean)
        assert demo_web.find(url) is not None


def test_print_versions_point_to_their_article(demo_web: DemoWeb) -> None:
    pages = gold_pages(demo_web, Kind.PRINT)
    assert len(pages) >= 20
    for _, gold in pages:
        original = demo_web.find(gold.target_url)
        assert original is not None
        assert original.reprint_group == gold.reprint_group


def test_robots_and_sitemaps(demo_web: DemoWeb) -> None:
    robots = [page.body.decode() for page, _ in gold_pages(demo_web, Kind.ROBOTS)]
    assert len(robots) >= 5
    assert sum("Crawl-delay" in text for text in robots) == 1
    assert sum("Disallow: /neibu/" in text for text in robots) == 1
    for text in robots:
        for url in re.findall(r"Sitemap: (\S+)", text):
            assert _urls_of_sitemap(demo_web, url)


def test_disallowed_articles_are_linked_and_marked(demo_web: DemoWeb) -> None:
    inner = [gold for gold in demo_web.gold() if "/neibu/" in gold.url]
    assert len(inner) >= 3
    assert not any(gold.robots_allowed for gold in inner)
    home = demo_web.pages[("www.yuehaiqiao.test", "/")]
    assert any("/neibu/" in href for href in _hrefs(home))


def test_feeds_name_existing_articles(demo_web: DemoWeb) -> None:
    feeds = gold_pages(demo_web, Kind.FEED)
    assert len(feeds) >= 10
    for page, _ in feeds:
        urls = re.findall(r'<link>([^<]+)</link>|<link href="([^"]+)"', page.body.decode())
        found = [demo_web.find(html.unescape(one or other)) for one, other in urls]
        assert len(found) > 3
        assert all(gold is not None for gold in found)


def test_the_calendar_is_deep_but_ends(demo_web: DemoWeb) -> None:
    assert len(gold_pages(demo_web, Kind.CALENDAR)) == 36
    first = demo_web.pages[("www.mnqw.test", "/rili/2024-01.html")]
    months = [href for href in _hrefs(first) if "/rili/" in href]
    assert months
    assert all(demo_web.find(urljoin("http://www.mnqw.test/", href)) for href in months)


def test_files_that_are_no_pages(demo_web: DemoWeb) -> None:
    starts = {page.body[:4] for page, _ in gold_pages(demo_web, Kind.FILE)}
    assert starts == {b"%PDF", b"\x89PNG"}


def test_lists_turn_their_pages(demo_web: DemoWeb) -> None:
    lists = gold_pages(demo_web, Kind.LIST)
    assert sum("下一页" in decoded(page) or "下一頁" in decoded(page) for page, _ in lists) >= 10


def test_every_readable_article_can_be_reached(demo_web: DemoWeb) -> None:
    """From the home pages, over links and redirects."""
    seen = {f"http://{host}/" for host in demo_web.sites}
    waiting = list(seen)
    found: set[str] = set()
    while waiting:
        url = waiting.pop()
        gold = demo_web.find(url)
        if gold is None or gold.kind is Kind.REDIRECT:
            continue
        found.add(gold.url)
        parts = urlsplit(gold.url)
        page = demo_web.pages[(parts.netloc, gold.url.removeprefix(f"http://{parts.netloc}"))]
        for href in _hrefs(page):
            link = urljoin(gold.url, href).partition("#")[0]
            if link not in seen:
                seen.add(link)
                waiting.append(link)
    wanted = {gold.url for gold in demo_web.gold() if gold.kind in {*ARTICLE_KINDS, Kind.PART}}
    assert wanted <= found


def test_the_web_never_changes_while_it_answers(demo_web: DemoWeb) -> None:
    before = hashlib.sha256(repr(list(demo_web.pages.values())[:50]).encode()).hexdigest()
    for host, path in list(demo_web.pages)[:50]:
        demo_web.respond(host, path)
    after = hashlib.sha256(repr(list(demo_web.pages.values())[:50]).encode()).hexdigest()
    assert before == after


# --- help --------------------------------------------------------------------------------


def _reads_as(label: str) -> str:
    return codecs.lookup(READ_AS.get(label, label)).name


def _second_page(url: str) -> str:
    stem, dot, suffix = url.rpartition(".")
    return f"{stem}_2{dot}{suffix}"


def _shown_on(web: DemoWeb, url: str) -> str:
    parts = urlsplit(url)
    return squeezed(decoded(web.pages[(parts.netloc, parts.path)]))


def _hrefs(page: DemoPage) -> list[str]:
    if not page.body.lstrip()[:5].lower().startswith((b"<!doc", b"<html")):
        return []
    found = re.findall(rb'(?i)<a [^>]*?href="([^"#][^"]*)"', page.body)
    return [html.unescape(href.decode("ascii")) for href in found]


def _urls_of_sitemap(web: DemoWeb, url: str) -> list[str]:
    parts = urlsplit(url)
    page = web.pages[(parts.netloc, parts.path)]
    body = gzip.decompress(page.body) if url.endswith(".gz") else page.body
    urls = re.findall(r"<loc>([^<]+)</loc>", body.decode())
    if b"<sitemapindex" in body:
        return [one for inner in urls for one in _urls_of_sitemap(web, inner)]
    assert all(web.find(html.unescape(one)) is not None for one in urls)
    return urls
