"""What is sent to an engine: periods, regions, several terms, bodies, keys that stay secret."""

from __future__ import annotations

import json
from datetime import date
from itertools import product
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.search.definition import EngineDefinition, load_definitions, request_url
from qiaocrawl.search.query import Query
from qiaocrawl.search.request import missing_variables, query_url, request_for
from qiaocrawl.urls import url_key

DEFINITIONS = load_definitions(base_urls={"searxng": "http://searx.test:8888"})
ENVIRONMENT = {
    "BAIDU_QIANFAN_KEY": "bce-v3/SECRET-a", "BRAVE_API_KEY": "SECRET-b",
    "GOOGLE_CSE_KEY": "SECRET-c", "GOOGLE_CSE_CX": "017",
}  # fmt: skip
RANGE = "2026-01-01/2026-02-01"
TODAY = date(2026, 3, 10)

POSTED = """
name = "posted"
title = "Posted"
kind = "service"
format = "json"
method = "POST"
url = "https://posted.test/v1"

[body]
words = "{query}"
page = "{page}"
from = "{offset}"
note = "page {page}"
deep = { list = [1, 2.5, true, "{term}"] }

[hits]
each = "hits"
link = "url"
title = "title"
"""


def _posted(folder: Path, **changes: str) -> EngineDefinition:
    text = POSTED
    for old, new in changes.items():
        text = text.replace(old, new)
    (folder / "posted.toml").write_text(text, "utf-8")
    return load_definitions(str(folder))["posted"]


def _fields(definition: EngineDefinition, query: Query) -> dict[str, list[str]]:
    return parse_qs(urlsplit(request_url(definition, query, today=TODAY)).query)


@pytest.mark.parametrize(
    ("engine", "period", "name", "value"),
    [
        ("searxng", "week", "time_range", "week"),
        ("sogou", "day", "s_from", "inttime_day"),
        ("so360", "year", "adv_t", "y"),
        ("quark", "month", "tl_request", "2"),
        ("brave", "week", "freshness", "pw"),
        ("brave", RANGE, "freshness", "2026-01-01to2026-01-31"),
        ("google", "day", "tbs", "qdr:d"),
        ("google", RANGE, "tbs", "cdr:1,cd_min:1/1/2026,cd_max:1/31/2026"),
        ("google_cse", "month", "dateRestrict", "m1"),
        ("google_cse", RANGE, "sort", "date:r:20260101:20260131"),
        ("duckduckgo", RANGE, "df", "2026-01-01..2026-01-31"),
        ("bing", "day", "filters", 'ex1:"ez1"'),
        # 2026-01-01 is day 20454 since 1970; a year is asked for as the range up to today.
        ("bing", RANGE, "filters", 'ex1:"ez5_20454_20484"'),
        ("bing", "year", "filters", 'ex1:"ez5_20156_20522"'),
        # From midnight in China to the last second of the last day.
        ("baidu", RANGE, "gpc", "stf=1767196800,1769875199|stftype=2"),
        ("baidu", "day", "gpc", "stf=1772985600,1773158399|stftype=2"),
        ("bing_news", "week", "qft", 'interval="7"'),
    ],
)
def test_period(engine: str, period: str, name: str, value: str) -> None:
    definition = DEFINITIONS[engine]
    assert definition.supports_period(period)
    assert _fields(definition, Query("t", "侨", "", engine, period=period))[name] == [value]
    assert name not in _fields(definition, Query("t", "侨", "", engine))


def test_period_an_engine_cannot_ask_for() -> None:
    sogou = DEFINITIONS["sogou"]
    assert sogou.supports_period("")
    assert not sogou.supports_period(RANGE)
    with pytest.raises(ConfigError, match=f"'sogou' cannot be restricted to the period '{RANGE}'"):
        request_url(sogou, Query("t", "侨", "", "sogou", period=RANGE))


@pytest.mark.parametrize(
    "period",
    ["fortnight", "2026-02-01/2026-01-01", "2026-01-01/2026-01-01", "2026-02-30/2026-03-01"],
)
def test_period_that_is_none(period: str) -> None:
    with pytest.raises(ConfigError, match="period must be day, week, month, year or like"):
        request_url(DEFINITIONS["bing"], Query("t", "侨", "", "bing", period=period))


def test_several_terms_at_once() -> None:
    query = Query("t", "归侨", "a.test", "bing", also=("歸僑", "returned Chinese", "归侨"))
    words = '(归侨 OR 歸僑 OR "returned Chinese") site:a.test'
    assert _fields(DEFINITIONS["bing"], query)["q"] == [words]
    with pytest.raises(ConfigError, match="can be asked for 1 term"):
        request_url(DEFINITIONS["sogou"], Query("t", "归侨", "", "sogou", also=("歸僑",)))
    many = Query("t", "归侨", "", "bing", also=tuple("一二三四五六七八"))
    with pytest.raises(ConfigError, match="can be asked for 8 term"):
        request_url(DEFINITIONS["bing"], many)


def test_region() -> None:
    in_hong_kong = load_definitions(region="zh-HK")
    query = Query("t", "侨", "", "bing")
    assert _fields(in_hong_kong["bing"], query)["mkt"] == ["zh-HK"]
    assert _fields(DEFINITIONS["bing"], query)["mkt"] == ["zh-CN"]
    # An engine that does not know a region is asked as always.
    assert in_hong_kong["sogou"] == DEFINITIONS["sogou"]


def test_body_of_an_interface() -> None:
    definition = DEFINITIONS["baidu_qianfan"]
    query = Query("t", "侨“胞”\\", "a.test", "baidu_qianfan", period="month")
    sent = request_for(definition, query, ENVIRONMENT)
    assert (sent.method, sent.url) == ("POST", definition.url)
    assert dict(sent.headers)["Authorization"] == "Bearer bce-v3/SECRET-a"
    assert dict(sent.headers)["Content-Type"] == "application/json"
    assert json.loads(sent.body) == {
        "messages": [{"role": "user", "content": "侨“胞”\\"}],
        "search_source": "baidu_search_v2",
        "resource_type_filter": [{"type": "web", "top_k": 50}],
        "search_filter": {"match": {"site": ["a.test"]}},
        "search_recency_filter": "month",
    }
    ranged = Query("t", "侨", "a.test", "baidu_qianfan", period=RANGE)
    body = json.loads(request_for(definition, ranged, ENVIRONMENT).body)
    assert body["search_filter"] == {
        "match": {"site": ["a.test"]},
        "range": {"page_time": {"gte": "2026-01-01", "lte": "2026-01-31"}},
    }


def test_body_keeps_types_and_terms_as_they_are(tmp_path: Path) -> None:
    sent = request_for(_posted(tmp_path), Query("t", "{page}\ud800", "", "posted", 3), {})
    assert json.loads(sent.body) == {
        "words": "{page}?", "page": 3, "from": 20, "note": "page 3",
        "deep": {"list": [1, 2.5, True, "{page}?"]},
    }  # fmt: skip


@pytest.mark.parametrize("engine", ["brave", "google_cse", "baidu_qianfan"])
def test_keys_are_where_they_must_be_and_nowhere_else(engine: str) -> None:
    definition, query = DEFINITIONS[engine], Query("t", "侨", "", engine)
    sent = request_for(definition, query, ENVIRONMENT)
    secrets = [value for value in dict(sent.headers).values() if "SECRET" in value]
    assert len(secrets) == 1
    shown = [repr(sent), sent.url, query_url(definition, query), repr(definition)]
    assert not any("SECRET" in text for text in shown)
    assert missing_variables(definition, ENVIRONMENT) == ()


def test_number_of_the_search_engine_is_added_when_asked_only() -> None:
    definition, query = DEFINITIONS["google_cse"], Query("t", "侨", "", "google_cse")
    assert "&cx=017" in request_for(definition, query, ENVIRONMENT).url
    assert "cx=" not in query_url(definition, query)


@pytest.mark.parametrize(("value", "why"), [
    (None, "set the environment variable BRAVE_API_KEY"),
    ("  ", "set the environment variable BRAVE_API_KEY"),
    ("a\r\nb: c", "BRAVE_API_KEY must be printable ASCII"),
    ("钥匙", "BRAVE_API_KEY must be printable ASCII"),
])  # fmt: skip
def test_key_that_is_missing_or_cannot_be_sent(value: str | None, why: str) -> None:
    environment = {} if value is None else {"BRAVE_API_KEY": value}
    with pytest.raises(ConfigError, match=why) as caught:
        request_for(DEFINITIONS["brave"], Query("t", "侨", "", "brave"), environment)
    assert "钥匙" not in str(caught.value)


def _queries(definition: EngineDefinition) -> list[Query]:
    sites = ["", "a.test"] if definition.supports_site else [""]
    periods = [p for p in ("", "day", "year", RANGE) if definition.supports_period(p)]
    also: list[tuple[str, ...]] = [(), ("乙",)] if definition.any_of else [()]
    choices = product(("甲", "甲 乙", "甲&site=a.test#"), sites, (1, 2), periods, also)
    return [
        Query("t", term, site, definition.name, page, period, more)
        for term, site, page, period, more in choices
        if page <= definition.paging.max_pages
    ]


@pytest.mark.parametrize("engine", sorted(DEFINITIONS))
def test_every_query_has_an_address_of_its_own(engine: str) -> None:
    definition = DEFINITIONS[engine]
    queries = _queries(definition)
    addresses = [query_url(definition, query) for query in queries]
    assert len({url_key(address) for address in addresses}) == len(queries)
    # A browser sends nothing from the # on, so the host that answers is the same.
    assert all(urlsplit(address).hostname == definition.host for address in addresses)
    for query, address in zip(queries, addresses, strict=True):
        assert query_url(definition, query) == address
        if "#" not in address:
            assert address == request_url(definition, query)


def test_query_url_of_two_interfaces_asked_by_post_never_meet(tmp_path: Path) -> None:
    definition = _posted(tmp_path)
    urls = {query_url(definition, Query("t", term, "", "posted", page))
            for term in ("a", "a&page=2", "\ud800") for page in (1, 2)}  # fmt: skip
    assert len(urls) == 6
    assert request_url(definition, Query("t", "a", "", "posted")) == "https://posted.test/v1"
    assert unquote(min(urls)).startswith("https://posted.test/v1#term=")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('method = "POST"', 'method = "PUT"', "method: must be 'GET' or 'POST', got 'PUT'"),
        ('method = "POST"\n', "", "method: must be 'POST' exactly where there is a [body]"),
        ('"page {page}"', '"{nothing}"', "body: may hold {base}, {query}"),
        ('"page {page}"', "2026-01-01", "body: may hold texts, numbers, true and false"),
        ('"page {page}"', "inf", "body: may hold texts, numbers, true and false"),
        ("[hits]", '[site.body]\nx = "y"\n[hits]', "site.query: or site.parameters must hold"),
        ("[hits]", '[period]\nparameters = "&t={period}"\n[hits]', "period.names: must be given"),
        ("[hits]", '[period.names]\nday = "d"\n[hits]', "period.names: must be given"),
        ("[hits]", '[period]\nparameters = "&t={period}"\n[period.names]\nhour = "h"\n[hits]',
         "period.names.hour: must be one of day, week, month, year"),
        ("[hits]", "[period.range]\n[hits]", "period.range.parameters: or query or body must"),
        ("[hits]", '[period.range]\nparameters = "&a={from_eopch}"\n[hits]',
         "period.range.parameters: may hold"),
        ("[hits]", '[any]\nquery = "()"\n[hits]', "any.query: must hold {terms}"),
        ("[hits]", "[any]\nmax_terms = 1\n[hits]", "any.max_terms: must be a whole number from 2"),
        ("[hits]", '[region]\nzh-CN = "x"\n[hits]', "region.default: must be given"),
        ("[hits]", '[[key]]\nvariable = "QIAO_KEY"\nheader = "A"\n[hits]',
         "key[1].variable: must be of A-Z, 0-9 and _ and not begin with QIAO_"),
        ("[hits]", '[key]\nvariable = "KEY"\n[hits]', "key[1].header: or parameter must be given"),
        ("[hits]", '[key]\nvariable = "KEY"\nheader = "A b"\n[hits]', "key[1].header: must be the"),
        ("[hits]", '[key]\nvariable = "KEY"\nparameter = "a&b"\n[hits]', "key[1].parameter: must"),
        ("[hits]", '[key]\nvariable = "KEY"\nheader = "A"\ntemplate = "x"\n[hits]',
         "key[1].template: must be one line with {key}"),
        ("https://posted", "http://posted", "key[1].header: a key is sent to https:// only"),
        ("[hits]", '[check]\nterm = "x"\n[hits]', "check.word: or host must be given"),
        ("[hits]", '[[unwrap]]\nby = "script"\nhost = "a.test"\n[hits]',
         "unwrap[1].path: must be given with by = 'script'"),
        ("[hits]", '[[signals.empty]]\nin = "empty_list"\n[hits]', "signals.empty[1].path: must"),
        ('format = "json"', 'format = "scripts"', "scripts: must be given exactly where"),
    ],
)  # fmt: skip
def test_fault_is_named(tmp_path: Path, old: str, new: str, fault: str) -> None:
    text = POSTED.replace(old, new, 1)
    if "https only" in fault or "https:// only" in fault:
        text += '\n[key]\nvariable = "KEY"\nheader = "A"\n'
    (tmp_path / "posted.toml").write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        load_definitions(str(tmp_path))
    assert f"posted.toml: {fault}" in str(caught.value)
