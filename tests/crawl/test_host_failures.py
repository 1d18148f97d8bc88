"""What a failed fetch means for its URL and its host, by the error that came."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator

import pytest
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
)
from scrapy.utils.test import get_crawler

from fresh_schema import make_tables
from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.crawl.fetch_outcomes import HostFailureHandler, host_name, is_answer, words_of
from qiaocrawl.crawl.network.access import access_of
from qiaocrawl.errors import (
    AddressRefusedError,
    BlockedError,
    BrowserLostError,
    HostParkedError,
    LoginPageError,
    ProxiesRestError,
    ProxyError,
    RobotsUnreachableError,
    SessionRestError,
    TrapError,
)
from qiaocrawl.fetch.failure_policy import Close, FailureKind, FetchFailure, Release, Retry
from qiaocrawl.frontier import CrawlTopic, strategies
from qiaocrawl.frontier.crawl_order import CrawlOrder
from qiaocrawl.frontier.host_slots import FOREVER, Fetches, Limits
from qiaocrawl.frontier.worker import FrontierWorker
from qiaocrawl.items import Lease, Outcome, Queue
from qiaocrawl.runtime.follow_links import FollowPolicy
from qiaocrawl.storage import Database
from storage_samples import PACK, add_topic

HOST = "a.test"
LEASE = Lease(1, 7, 1, f"http://{HOST}/1", b"1" * 16, HOST, Queue.SITE, "t", 0.0, 1, 0)


class Failures:
    """The handler of a crawl with a worker, whose hosts are looked at."""

    def __init__(self, url: str) -> None:
        self.crawler = get_crawler(settings_dict={
            "QIAO_DATABASE_URL": url, "QIAO_FRONTIER_RETRY_SECONDS": 20,
            "QIAO_BLOCK_PAUSE_SECONDS": 60, "QIAO_PROXY_REFRESH_SECONDS": 300,
        })  # fmt: skip
        self.runtime = runtime_of(self.crawler)
        scope = self.runtime.scope(Queue.SITE, PACK.name, FollowPolicy(frozenset([HOST])))
        order = CrawlOrder(strategies.get("bfs")(CrawlTopic(PACK)))  # type: ignore[arg-type]
        self.worker = FrontierWorker(
            self.runtime, scope, order=order, limits=Limits(), fetches=Fetches(1, 1),
            run_id=None, wake=lambda: None,
        )  # fmt: skip
        self.handler = HostFailureHandler(self.crawler, self.worker)

    def of(self, error: BaseException | None) -> FetchFailure:
        return asyncio.run(self.handler.failure_of(LEASE, error))

    @property
    def rest(self) -> float | None:
        """For how long the host rests now; FOREVER where it was given up."""
        hosts = self.worker._hosts
        if HOST in hosts.given_up:
            return FOREVER
        return hosts.next_rest[1] if hosts.next_rest is not None else None

    def counted(self, name: str) -> object:
        assert self.crawler.stats is not None
        return self.crawler.stats.get_value(f"qiaocrawl/{name}", 0)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with the sample topic; nothing is written here."""
    address = f"sqlite:///{tmp_path_factory.mktemp('failures')}/q.db"
    with Database.open(address) as database:
        make_tables(database)
        add_topic(database)
    return address


@pytest.fixture
def failures(url: str) -> Iterator[Failures]:
    made = Failures(url)
    yield made
    made.runtime.close()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (AddressRefusedError("10.0.0.1 is private"), FailureKind.ADDRESS_REFUSED),
        (TrapError("trap: a.test/x/…"), FailureKind.TRAP),
        (LoginPageError("asks for a login"), FailureKind.LOGIN),
        (IgnoreRequest("Forbidden by robots.txt"), FailureKind.ROBOTS),
        (IgnoreRequest("Decompression bomb"), FailureKind.TOO_LARGE),
        (DownloadCancelledError("longer than 10 MB"), FailureKind.TOO_LARGE),
        (BrowserLostError("the browser is gone"), FailureKind.INTERNAL),
        (ProxyError("407"), FailureKind.NO_PAGE),
        (DownloadFailedError("connection lost"), FailureKind.NO_PAGE),
        (None, FailureKind.NO_PAGE),
    ],
)
def test_what_lies_in_the_url_or_in_us_lets_the_host_alone(
    failures: Failures, error: BaseException | None, kind: FailureKind
) -> None:
    failure = failures.of(error)
    assert failure.kind is kind
    assert str(error) in failure.reason
    assert failures.rest is None


@pytest.mark.parametrize(
    "make", [CannotResolveHostError, DownloadConnectionRefusedError, DownloadTimeoutError]
)
def test_where_nobody_answers_the_other_urls_of_the_host_wait(
    failures: Failures, make: Callable[[str], BaseException]
) -> None:
    assert failures.of(make("nobody there")).kind is FailureKind.NO_PAGE
    assert 10 < (failures.rest or 0) <= 20
    assert failures.counted("politeness/parked") == 1


def test_after_three_silences_in_a_row_the_host_rests_for_longer(failures: Failures) -> None:
    rests = []
    for _ in range(3):
        failures.of(DownloadFailedError("connection lost"))
        rests.append(failures.rest)
    assert rests[:2] == [None, None]
    assert 50 < (rests[2] or 0) <= 60


def test_a_proxy_that_fails_says_nothing_about_the_host_behind_it(failures: Failures) -> None:
    for _ in range(9):
        failures.of(ProxyError("407"))
    assert failures.rest is None


def test_a_block_rests_the_host_as_long_as_the_strike_says(failures: Failures) -> None:
    suspected = failures.of(BlockedError("may be a block"))
    assert (suspected.kind, suspected.pause_seconds, failures.rest) == (
        FailureKind.BLOCKED, 0.0, None,
    )  # fmt: skip
    failure = failures.of(BlockedError("captcha", pause_seconds=60.0))
    assert (failure.pause_seconds, failure.host_given_up) == (60.0, False)
    assert 50 < (failures.rest or 0) <= 60


def test_a_host_that_is_given_up_is_asked_nothing_more_in_this_run(failures: Failures) -> None:
    failure = failures.of(BlockedError("captcha", pause_seconds=960.0, give_up=True))
    assert failure.host_given_up
    assert failure.wait_reason == "host given up for this run: captcha"
    assert failures.rest == FOREVER


def test_a_host_that_is_parked_by_others_is_left_as_long(failures: Failures) -> None:
    assert failures.of(HostParkedError(HOST, 90.0)).kind is FailureKind.CANNOT_ASK
    assert 80 < (failures.rest or 0) <= 90


def test_where_another_account_may_serve_only_the_url_is_put_back(failures: Failures) -> None:
    rests = SessionRestError("account 1 rests", 0.0)
    assert failures.of(rests).kind is FailureKind.CANNOT_ASK
    assert failures.rest is None
    failures.of(SessionRestError("the login failed", 120.0))
    assert 110 < (failures.rest or 0) <= 120
    failures.of(SessionRestError("no account may be used", math.inf))
    assert failures.rest == FOREVER
    assert failures.counted("session/put_back") == 3


def test_without_a_proxy_the_host_waits_until_there_may_be_others(failures: Failures) -> None:
    assert failures.of(ProxiesRestError("all rest", 9_000.0)).kind is FailureKind.CANNOT_ASK
    assert 290 < (failures.rest or 0) <= 300, "the list is read again by then"
    assert access_of(failures.crawler).counts["proxies/none_left"] == 1


def robots(cause: Exception, seconds: float = 30.0) -> RobotsUnreachableError:
    return RobotsUnreachableError(f"robots.txt cannot be had: {cause}", seconds, cause)


def test_robots_txt_that_cannot_be_had_is_the_hosts_wish_to_wait(failures: Failures) -> None:
    failure = failures.of(robots(IgnoreRequest("HTTP 503")))
    assert failure.kind is FailureKind.BUSY
    assert failure.wait_reason.startswith("host asks to wait until ")
    assert 25 < (failures.rest or 0) <= 30
    for _ in range(5):
        failures.of(robots(IgnoreRequest("HTTP 503")))
    assert access_of(failures.crawler).counts["host_pauses"] == 0, "it answers"
    for _ in range(3):
        failures.of(robots(DownloadTimeoutError("nobody")))
    assert access_of(failures.crawler).counts["host_pauses"] == 1, "silence counts"


def test_robots_txt_that_a_proxy_could_not_get_is_not_the_hosts_fault(failures: Failures) -> None:
    failure = failures.of(robots(ProxyError("407")))
    assert failure.kind is FailureKind.CANNOT_ASK
    assert access_of(failures.crawler).counts["proxies/none_left"] == 1


def test_an_answer_that_was_under_way_ends_no_rest_and_a_later_one_does(
    failures: Failures, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted: list[object] = []
    monkeypatch.setattr(
        failures.worker, "post", lambda operation, then=None: posted.append(operation)
    )
    failures.of(BlockedError("captcha", pause_seconds=60.0))
    (noted,) = posted
    failures.handler.note_answer(HOST)
    assert posted == [noted], "it rests, whatever came of what was asked before"
    monkeypatch.setattr(failures.worker._hosts, "_parked", {})
    failures.handler.note_answer(HOST)
    failures.handler.note_answer(HOST)
    assert len(posted) == 2, "its row goes once"


def test_a_site_without_a_usable_account_is_noted(
    failures: Failures, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted: list[object] = []
    monkeypatch.setattr(
        failures.worker, "post", lambda operation, then=None: posted.append(operation)
    )
    failures.of(SessionRestError("account 1 rests", 0.0))
    assert posted == []
    failures.of(SessionRestError("no account may be used", math.inf))
    assert len(posted) == 1


def test_a_busy_host_gets_no_request_until_then(failures: Failures) -> None:
    failure = asyncio.run(failures.handler.busy(LEASE, "HTTP 429", 45.0))
    assert (failure.kind, failure.reason) == (FailureKind.BUSY, "HTTP 429")
    assert 40 < failure.pause_seconds <= 45
    assert failure.wait_reason.endswith(": HTTP 429")
    assert 40 < (failures.rest or 0) <= 45


def test_only_what_became_of_blocked_urls_is_counted(failures: Failures) -> None:
    blocked = FetchFailure(FailureKind.BLOCKED, "captcha")
    for decision in (Retry("", 1.0), Close(Outcome.BLOCKED, ""), Release("")):
        failures.handler.count_decision(blocked, decision)
    failures.handler.count_decision(FetchFailure(FailureKind.NO_PAGE, ""), Retry("", 1.0))
    counts = access_of(failures.crawler).counts
    assert (counts["blocks/returned"], counts["blocks/given_up"]) == (1, 1)


def test_an_answer_without_a_page_shows_that_the_host_is_there() -> None:
    assert is_answer(BlockedError("captcha"))
    assert is_answer(IgnoreRequest("Forbidden by robots.txt"))
    assert not is_answer(DownloadTimeoutError("nobody"))
    assert not is_answer(None)


def test_a_reason_names_the_error_and_fits_a_row() -> None:
    assert words_of(DownloadTimeoutError("after 30 s")) == "DownloadTimeoutError: after 30 s"
    assert len(words_of(DownloadTimeoutError("x" * 999))) == 300


@pytest.mark.parametrize("url", ["http://a.test:8080/1", "https://user@A.test/"])
def test_a_host_is_paced_without_its_port(url: str) -> None:
    assert host_name(Lease(1, 7, 1, url, b"", "x", Queue.SITE, "t", 0.0, 1, 0)) == HOST
