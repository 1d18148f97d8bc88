"""Twisted works out how the network writes a host name once a name."""

from __future__ import annotations

from scrapy.core.downloader._idna_patch import _install_twisted_idna_fallbacks
from twisted.internet import endpoints, reactor
from twisted.internet.endpoints import HostnameEndpoint

from qiaocrawl.crawl.network.address_guard import remember_written_names


def _written(host: str) -> str:
    return repr(HostnameEndpoint(reactor, host, 80))


def test_names_are_written_as_before_and_each_once() -> None:
    hosts = ("www.qiao.test", "侨.test", "a_b.test", "[::1]", "a b", "x" * 300)
    names = vars(endpoints)
    before = names["_idnaBytes"]
    try:
        _install_twisted_idna_fallbacks()
        plain = [_written(host) for host in hosts]
        remember_written_names()
        remembering = names["_idnaBytes"]
        assert [_written(host) for host in hosts * 2] == plain * 2
        assert remembering.cache_info().hits >= 3
        # A second handler, for https, keeps what is there.
        _install_twisted_idna_fallbacks()
        remember_written_names()
        assert names["_idnaBytes"] is remembering
    finally:
        names["_idnaBytes"] = before
