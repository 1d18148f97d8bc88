"""What is let through: origins by purpose, names by every address they have (F-S2, F-S3)."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
import threading
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, DownloadFailedError
from twisted.internet import reactor as _reactor
from twisted.web.client import URI

from inside_cases import LIVE, NAMES, OUTSIDE, SHARED, inside_cases
from qiaocrawl.crawl.network import address_guard as names_module
from qiaocrawl.crawl.network.address_guard import AddressGuard, GuardedResolver, Names
from qiaocrawl.errors import AddressRefusedError
from qiaocrawl.fetch.addresses import Allowance, Origin, looks_like_address
from qiaocrawl.middlewares.guard import GuardMiddleware

PUBLIC = "93.184.216.34"


def names(host: str) -> list[str]:
    """The tests' name service; addresses are answered by the system's."""
    if host in NAMES:
        return NAMES[host]
    if looks_like_address(host) or host.startswith("localhost") or not host.isascii():
        return names_module.look_up(host)
    raise socket.gaierror


def check(guard: AddressGuard, url: str, **how: bool) -> None:
    asyncio.run(guard.check(Origin.of(url), **how))


class Receiver:
    """What Twisted's endpoint hands to the name service."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.done = asyncio.Event()

    def resolutionBegan(self, resolution: object) -> None:
        """Begun."""

    def addressResolved(self, address: Any) -> None:
        self.found.append(address.host)

    def resolutionComplete(self) -> None:
        self.done.set()


async def connects_to(guard: AddressGuard, host: str, port: int = 80) -> list[str]:
    """The addresses a connection to *host* may use."""
    receiver = Receiver()
    GuardedResolver(guard, _reactor).resolveHostName(receiver, host, port)  # type: ignore[arg-type]
    await receiver.done.wait()
    return receiver.found


def test_every_case_is_refused_and_what_is_outside_is_not() -> None:
    guard = AddressGuard(Allowance(), names=Names(names))
    for url in inside_cases(8000):
        with pytest.raises((AddressRefusedError, ValueError)):
            check(guard, Request(url).url if "://" in url else url)
    outside = list(OUTSIDE)
    if SHARED.is_file():
        shared = json.loads(SHARED.read_text("utf-8"))
        outside += [one["url"] for one in shared["must_allow_by_policy"]]
    for url in outside:
        check(guard, url)


@pytest.mark.parametrize(
    ("answers", "passes"),
    [
        (["127.0.0.1"], False),
        ([PUBLIC, "10.0.0.5"], False),
        (["10.0.0.5", PUBLIC], False),
        (["::ffff:127.0.0.1"], False),
        ([PUBLIC, "::1"], False),
        ([PUBLIC], True),
        ([PUBLIC, "2606:4700:4700::1111"], True),
    ],
)
def test_every_address_of_a_name_counts(answers: list[str], passes: bool) -> None:
    guard = AddressGuard(Allowance(), names=Names(lambda host: answers))
    if passes:
        check(guard, "http://a.example/")
    else:
        with pytest.raises(AddressRefusedError, match="no public address"):
            check(guard, "http://a.example/")
    found = asyncio.run(connects_to(guard, "a.example"))
    assert found == (answers if passes else []), "all of them, for whichever answers first"


def test_a_name_that_changes_its_mind_is_connected_where_it_was_checked() -> None:
    answers = [[PUBLIC], ["127.0.0.1"]]

    async def check_then_connect() -> list[str]:
        guard = AddressGuard(Allowance(), names=Names(lambda host: answers.pop(0)))
        await guard.check(Origin.of("http://rebind.example/"))
        return await connects_to(guard, "rebind.example")

    assert asyncio.run(check_then_connect()) == [PUBLIC]
    assert answers == [["127.0.0.1"]], "it was asked once"


def test_a_name_that_cannot_be_found_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def lookup(host: str) -> list[str]:
        asked.append(host)
        if len(asked) == 1:
            raise socket.gaierror("SERVFAIL")
        return [PUBLIC]

    async def twice() -> None:
        known = Names(lookup)
        for _ in range(2):
            with pytest.raises(CannotResolveHostError):
                await known.addresses("a.example")
        assert len(asked) == 1, "other URLs of the host do not ask at once"
        monkeypatch.setattr(names_module.time, "monotonic", lambda: float("inf"))
        assert await known.addresses("a.example") == (PUBLIC,)

    asyncio.run(twice())


def test_a_name_service_that_hangs_is_not_waited_for() -> None:
    answered = threading.Event()

    def lookup(host: str) -> list[str]:
        answered.wait(20)
        return [PUBLIC]

    guard = AddressGuard(Allowance(), names=Names(lookup, timeout_seconds=0.05))
    with pytest.raises(CannotResolveHostError):
        check(guard, "http://slow.example/")
    answered.set()


def test_services_answer_only_what_is_asked_of_them() -> None:
    guard = AddressGuard(
        Allowance.parse(["http://127.0.0.1:1"]), Allowance.parse(["http://127.0.0.1:8888"])
    )
    guard.connect_through("http://127.0.0.1:3128", "PROXIES")
    check(guard, "http://127.0.0.1:1/")
    check(guard, "http://127.0.0.1:8888/search", for_service=True)
    for url in ("http://127.0.0.1:8888/search", "http://127.0.0.1:3128/", "https://127.0.0.1:1/"):
        with pytest.raises(AddressRefusedError):
            check(guard, url)
    with pytest.raises(AddressRefusedError):
        check(guard, "https://127.0.0.1:8888/", for_service=True)
    with pytest.raises(AddressRefusedError):
        check(guard, "http://127.0.0.1:3128/", for_service=True)


def test_a_named_name_is_named_on_its_port_only() -> None:
    guard = AddressGuard(Allowance.parse(["inside.example:8000"]), names=Names(names))
    check(guard, "http://inside.example:8000/")
    assert asyncio.run(connects_to(guard, "inside.example", 8000)) == ["127.0.0.1"]
    with pytest.raises(AddressRefusedError):
        check(guard, "http://inside.example:8001/")
    assert asyncio.run(connects_to(guard, "inside.example", 8001)) == []


def test_a_proxy_inside_must_be_named() -> None:
    guard = AddressGuard(Allowance(), names=Names(names))
    guard.connect_through("http://127.0.0.1:3128", "PROXIES")
    asyncio.run(guard.check_proxy(Origin.of("http://127.0.0.1:3128")))
    asyncio.run(guard.check_proxy(Origin.of("http://public.example:3128")))
    for url in ("http://127.0.0.1:6379", "http://inside.example:3128"):
        with pytest.raises(DownloadFailedError, match="no public address"):
            asyncio.run(guard.check_proxy(Origin.of(url)))


def hard_urls() -> list[str]:
    """URLs parsers disagree about: ours, and those of the shared collections if at hand."""
    found = [one.replace("{port}", "8000") for one in LIVE]
    wpt = SHARED.parent.parent / "wpt-url" / "urltestdata.json"
    if wpt.is_file():
        found += [
            case["input"] for case in json.loads(wpt.read_text("utf-8")) if isinstance(case, dict)
        ]
        found += inside_cases(8000)
    return found


def test_what_is_checked_is_what_is_connected_to() -> None:
    """F-S3: our reading of a URL and Twisted's name one host, or the request is refused."""
    compared = 0
    for url in hard_urls():
        try:
            request = Request(url)
            GuardMiddleware().process_request(request)
            checked = Origin.of(request.url)
            peer = URI.fromBytes(request.url.encode("ascii"))
        except (ValueError, AddressRefusedError):
            continue
        compared += 1
        host = peer.host.decode().strip("[]")
        host = str(ipaddress.ip_address(host)) if ":" in host else host
        # Names are the same in any case; ours are lower.
        assert (host.lower(), peer.port) == (checked.host.lower(), checked.port), url
    assert compared > 15
