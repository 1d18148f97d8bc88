"""Loading, checking and overriding engine definitions, and the URLs they ask with."""

from __future__ import annotations

import pickle
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.search.definition import load_definitions, request_url
from qiaocrawl.search.query import Query

MINIMAL = """
name = "mini"
title = "Mini"
kind = "scraped"
format = "html"
url = "https://mini.test/s?q={query}&p={page}&o={offset}"

[hits]
each = "li"
link = "a::attr(href)"
title = "a"
"""


def _write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, "utf-8")
    return str(folder)


def test_shipped_engines() -> None:
    definitions = load_definitions()
    services = {"searxng", "baidu_qianfan", "brave", "google_cse"}
    scraped = {
        "baidu", "baidu_news", "bing", "bing_news", "sogou", "so360", "so360_news", "google",
        "quark", "duckduckgo", "demo_sou", "demo_zhao",
    }  # fmt: skip
    assert services | scraped == set(definitions)
    assert list(definitions) == sorted(definitions)
    assert {name for name, d in definitions.items() if d.kind == "service"} == services
    assert all(d.note and d.check for d in definitions.values())


def test_definitions_cross_process_boundaries() -> None:
    definitions = load_definitions()
    assert pickle.loads(pickle.dumps(definitions)) == definitions


def test_operator_file_adds_an_engine(tmp_path: Path) -> None:
    # Editors on Windows begin a file with a byte order mark.
    definition = load_definitions(_write(tmp_path, "mini.toml", "\ufeff" + MINIMAL))["mini"]
    assert (definition.host, definition.supports_site) == ("mini.test", False)
    assert request_url(definition, Query("t", "归侨", "", "mini", 3)) == (
        "https://mini.test/s?q=%E5%BD%92%E4%BE%A8&p=3&o=20"
    )


def test_operator_file_overrides_a_shipped_engine(tmp_path: Path) -> None:
    text = MINIMAL.replace('"mini"', '"bing"')
    definitions = load_definitions(_write(tmp_path, "bing.toml", text))
    assert definitions["bing"].title == "Mini"
    assert definitions["baidu"] == load_definitions()["baidu"]


def test_folder_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match=r"QIAO_ENGINES_DIR must be a folder, got 'no/such'"):
        load_definitions("no/such")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('kind = "scraped"', 'kind = "paid"', "kind: must be 'scraped' or 'service', got 'paid'"),
        (
            'format = "html"',
            'format = "xml"',
            "format: must be 'html', 'json' or 'scripts', got 'xml'",
        ),
        ('title = "Mini"', "", "title: must be given"),
        ('title = "Mini"', "title = 3", "title: must be a text, got 3"),
        ('title = "Mini"', 'titel = "Mini"', "titel: unknown key; did you mean 'title'?"),
        ('name = "mini"', 'name = "maxi"', "name: must be 'mini' as the file is called"),
        ('name = "mini"', 'name = "Mini!"', "name: must be of a-z, 0-9 and _"),
        ("https://mini.test", "ftp://mini.test", "url: must begin with http://"),
        ("{query}", "x", "url: must hold {query} or {term}"),
        (
            "{page}",
            "{pgae}",
            "url: may hold {base}, {query}, {term}, {site}, {page}, {offset}, {region}",
        ),
        ('link = "a::attr(href)"', "", "hits.link: must be given"),
        ('each = "li"', 'each = "li["', "hits.each: must be CSS or 'xpath:…', got 'li['"),
        ('each = "li"', 'each = "xpath://li["', "hits.each: must be CSS or 'xpath:…'"),
        ('each = "li"', "each = [3]", "hits.each: must be a text, got 3"),
        ('title = "a"', "title = [3]", "hits.title: must be a text, got 3"),
        ("[hits]", "paging = 3\n[hits]", "paging: must be a table, got 3"),
        (
            "[hits]",
            "[paging]\nper_page = 0\n[hits]",
            "paging.per_page: must be a whole number from 1 to 1000, got 0",
        ),
        ("[hits]", "[paging]\nmax_page = 2\n[hits]", "paging.max_page: unknown key; did you mean"),
        ("[hits]", '[site]\nquery = "{term}"\n[hits]', "site.query: or site.parameters must hold"),
        ("[hits]", '[site]\nquery = "site:{site}"\n[hits]', "site.query: must hold {term}"),
        ("[hits]", "[headers]\nA = 1\n[hits]", "headers.A: must be a text of one line, got 1"),
        ("[hits]", '[headers]\nA = "b\\nC: d"\n[hits]', "headers.A: must be a text of one line"),
        ("[hits]", '[headers]\nA = "侨"\n[hits]', "headers.A: must be ASCII, got '侨'"),
        ("[hits]", '[status_hints]\nx = "y"\n[hits]', "status_hints.x: must be an HTTP status"),
        ("[hits]", 'query_charset = "klingon"\n[hits]', "query_charset: must be a charset"),
        ("[hits]", 'base_url = "mini.test"\n[hits]', "base_url: must begin with http://"),
        (
            "[hits]",
            '[[unwrap]]\nby = "magic"\nname = "u"\n[hits]',
            "unwrap[1].by: must be 'attribute', 'parameter', 'base64', 'header' or 'script'",
        ),
        (
            "[hits]",
            '[[signals.empty]]\nin = "text"\n[hits]',
            "signals.empty[1].words: must be given with in = 'text'",
        ),
        (
            "[hits]",
            '[[signals.empty]]\nin = "json"\npath = "x"\n[hits]',
            "signals.empty[1].in: cannot be 'json' where format is 'html'",
        ),
        (
            "[hits]",
            '[[signals.gone]]\nin = "text"\nwords = ["x"]\n[hits]',
            "signals.gone: unknown key",
        ),
        (
            "[hits]",
            '[signals]\nempty = "none"\n[hits]',
            "signals.empty: must be tables [[signals.…]], got 'none'",
        ),
    ],
)
def test_fault_is_named(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert old in MINIMAL
    folder = _write(tmp_path, "mini.toml", MINIMAL.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        load_definitions(folder)
    assert f"mini.toml: {fault}" in str(caught.value)


def test_all_faults_of_all_files_come_at_once(tmp_path: Path) -> None:
    _write(tmp_path, "mini.toml", MINIMAL.replace("scraped", "x").replace('"html"', '"y"'))
    _write(tmp_path, "broken.toml", "name = ")
    (tmp_path / "bytes.toml").write_bytes('name = "侨"'.encode("gb18030"))
    _write(tmp_path, "deep.toml", "a = " + "[" * 20_000)
    with pytest.raises(ConfigError) as caught:
        load_definitions(str(tmp_path))
    lines = str(caught.value).splitlines()
    assert len(lines) == 6
    assert sum("mini.toml: " in line for line in lines) == 2
    assert sum("cannot be read as TOML in UTF-8" in line for line in lines) == 3


def test_site_restriction_in_query_and_parameters() -> None:
    url = request_url(load_definitions()["baidu"], Query("t", "侨 胞", "a.test", "baidu", 2))
    fields = parse_qs(urlsplit(url).query)
    assert (fields["wd"], fields["si"], fields["pn"]) == (["侨 胞 site:a.test"], ["a.test"], ["10"])
    free = request_url(load_definitions()["baidu"], Query("t", "侨 胞", "", "baidu"))
    assert "si=" not in free
    assert "site" not in unquote(free)


def test_query_is_encoded_in_the_engines_charset() -> None:
    definition = load_definitions()["demo_zhao"]
    assert "q=%B9%E9%C7%C8" in request_url(definition, Query("t", "归侨", "", "demo_zhao"))
    # What GBK lacks is sent as browsers send it.
    assert "q=%26%23128512%3B" in request_url(definition, Query("t", "😀", "", "demo_zhao"))


def test_term_cannot_add_parameters() -> None:
    term = "a&format=html#{page}\ud800"
    url = request_url(load_definitions()["bing"], Query("t", term, "", "bing"))
    assert parse_qs(urlsplit(url).query)["q"] == ["a&format=html#{page}&#55296;"]


def test_asking_an_engine_that_cannot_restrict_to_a_site(tmp_path: Path) -> None:
    definition = load_definitions(_write(tmp_path, "mini.toml", MINIMAL))["mini"]
    with pytest.raises(ConfigError, match="'mini' cannot be restricted to a site, got 'a.test'"):
        request_url(definition, Query("t", "x", "a.test", "mini"))


def test_base_url_is_needed_and_kept() -> None:
    searxng = load_definitions()["searxng"]
    query = Query("t", "侨", "", "searxng")
    with pytest.raises(ConfigError, match="'searxng' needs a base URL"):
        request_url(searxng, query)
    own = searxng.at("http://127.0.0.1:8888/searx/")
    assert request_url(own, query).startswith("http://127.0.0.1:8888/searx/search?q=%E4%BE%A8&")
    assert own.host == "127.0.0.1"
    for wrong in ("searx", "http://[", "http://searx.test:x", "http://searx.test:0"):
        with pytest.raises(ConfigError, match="must begin with http:// or https://, got"):
            searxng.at(wrong)
    with pytest.raises(ConfigError, match="'baidu' has a fixed address"):
        load_definitions()["baidu"].at("http://a.test")


@pytest.mark.parametrize("given", [
    "http://h.test:8888/search?q=<query>", "http://h.test:8888/search?q=%s&format=json",
    "http://h.test:8888/?q={query}", "http://h.test:8888/search?q=",
])  # fmt: skip
def test_the_address_of_a_search_is_taken_for_the_base_of_it(given: str) -> None:
    own = load_definitions()["searxng"].at(given)
    assert own.base_url == "http://h.test:8888"
    assert (
        load_definitions()["searxng"].at("http://h.test/x/search?q=").base_url == "http://h.test/x"
    )


@pytest.mark.parametrize("given", ["http://h.test/?language=de", "http://h.test/?q=&engines=bing",
                                   "http://h.test/#search"])  # fmt: skip
def test_parameters_that_would_get_lost_are_refused(given: str) -> None:
    with pytest.raises(ConfigError, match="an address without parameters"):
        load_definitions()["searxng"].at(given)


def test_base_urls_by_name() -> None:
    given = {"searxng": "https://search.qiao.test", "bing": ""}
    definitions = load_definitions(base_urls=given)
    assert definitions["searxng"].host == "search.qiao.test"
    assert definitions["bing"].host == "www.bing.com"
    with pytest.raises(ConfigError, match="unknown engine 'gogle' \\(there are: baidu"):
        load_definitions(base_urls={"gogle": "https://a.test"})
