"""How a run approaches hosts by what the operator chose for each: identity, proxy, windows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.utils.test import get_crawler

from fresh_schema import make_tables
from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.crawl.network.access import HostAccess, access_of, host_of_request
from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.block_detection import BlockKind, BlockSign
from qiaocrawl.items import Lease, Queue
from qiaocrawl.storage import Database

BLOCK = BlockSign(next(kind for kind in BlockKind if kind.is_sure), "captcha")


@dataclass
class Made:
    """The access of runs with these options, on one database."""

    url: str
    pool: Path

    @contextmanager
    def access(self, **options: object) -> Iterator[HostAccess]:
        crawler = get_crawler(settings_dict={"QIAO_DATABASE_URL": self.url, **options})
        try:
            yield access_of(crawler)
        finally:
            runtime_of(crawler).close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("access")
    url = f"sqlite:///{folder}/q.db"
    with Database.open(url) as database:
        make_tables(database)
    (folder / "pool.txt").write_text("http://127.0.0.1:3128\n")
    return Made(url, folder / "pool.txt")


def test_where_nothing_is_chosen_hosts_see_our_own_agent_and_one_jar(made: Made) -> None:
    with made.access() as access:
        assert access.identity("a.test") is None
        assert not access.is_proxied("a.test")
        assert not access.can_switch("a.test")
        assert access.jar("a.test", None) is None
        assert access.rest_seconds("a.test") == 0
        assert access.numbers() == {}


def test_a_host_sees_the_browser_that_is_chosen_for_it(made: Made) -> None:
    with made.access(QIAO_IDENTITIES="*.a.test=rotate, b.test=honest, *=rotate") as access:
        shown = access.identity("www.a.test")
        assert shown is not None
        assert access.identity("www.a.test") == shown, "the same for the whole session"
        assert access.identity("b.test") is None
        assert access.can_switch("www.a.test")
        assert not access.can_switch("b.test")


def test_a_new_session_has_other_cookies_and_in_the_end_another_browser(made: Made) -> None:
    with made.access(QIAO_IDENTITIES="*=rotate") as access:
        jars, shown = set(), set()
        for _ in range(20):
            jars.add(access.jar("a.test", None))
            shown.add(access.identity("a.test"))
            access.switch("a.test")
        assert len(jars) == 20
        assert len(shown) > 1
        assert access.counts["sessions_switched"] == 20
        assert access.jar("b.test", None) == "access:b.test:0:direct"


def test_cookies_of_one_proxy_do_not_turn_up_at_another(made: Made) -> None:
    options = {"QIAO_PROXIES": "a.test, b.test=direct", "QIAO_PROXY_POOL": str(made.pool)}
    with made.access(**options) as access:
        assert access.is_proxied("a.test")
        assert not access.is_proxied("b.test")
        assert access.jar("a.test", "one") != access.jar("a.test", "other")
        assert access.numbers()["qiaocrawl/access/proxies/listed"] == 1


def test_a_list_of_proxies_is_read_only_where_a_site_uses_it(made: Made) -> None:
    with made.access(QIAO_PROXIES="a.test=direct", QIAO_PROXY_POOL="/none/at/all") as access:
        assert access.source is None
    with (
        pytest.raises(ConfigError, match="cannot be read"),
        made.access(QIAO_PROXIES="a.test", QIAO_PROXY_POOL="/none/at/all"),
    ):
        """Refused at the start."""


@pytest.mark.parametrize(("option", "value", "why"), [
    ("QIAO_PROXIES", "a.test=none", "SITE=direct"),
    ("QIAO_IDENTITIES", "a.test=netscape", "netscape"),
    ("QIAO_CRAWL_WINDOWS", "a.test=noon", "noon"),
])  # fmt: skip
def test_a_wrong_choice_is_named_at_the_start(
    made: Made, option: str, value: str, why: str
) -> None:
    with pytest.raises(ConfigError, match=why), made.access(**{option: value}):
        """Refused."""


def test_strikes_are_counted_and_a_proper_page_forgets_them(made: Made) -> None:
    with made.access(QIAO_BLOCK_PAUSE_SECONDS=60) as access:
        assert not access.is_on_trial("a.test")
        strike = access.struck("a.test", BLOCK)
        assert strike is not None
        assert (strike.pause_seconds, strike.give_up) == (60.0, False)
        assert access.is_on_trial("a.test")
        access.note_answer("a.test")
        assert not access.is_on_trial("a.test")
        assert [access.silent("b.test") is None for _ in range(3)] == [True, True, False]
        assert access.numbers() == {"qiaocrawl/access/host_pauses": 2}


def test_a_request_is_for_the_host_of_its_lease_and_shows_a_port_that_is_not_the_usual() -> None:
    lease = Lease(1, 7, 1, "http://x/", b"", "leased.test:81", Queue.SITE, "t", 0.0, 1, 0)
    assert host_of_request(Request("http://a.test/", meta={"lease": lease})) == "leased.test:81"
    hosts = [host_of_request(Request(url)) for url in (
        "http://A.test/", "http://a.test:80/", "https://a.test:443/", "https://a.test:80/",
        "http://a.test:8080/",
    )]  # fmt: skip
    assert hosts == ["a.test", "a.test", "a.test", "a.test:80", "a.test:8080"]
