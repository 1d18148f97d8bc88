"""Plain webhooks that were entered in a form: to public addresses, or those that are allowed."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.news.warnings import guarded
from qiaocrawl.news.warnings.channels import all_channels, keep_channel, seal_address
from qiaocrawl.news.warnings.delivery import send_test
from qiaocrawl.storage import Database
from webhooks import Webhook, served_webhook

NOW = datetime(2026, 11, 29, tzinfo=UTC)
INSIDE = "is no public address; QIAO_ALLOW_ADDRESSES can name it"


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Webhook]:
    for name in ("QIAO_ALLOW_ADDRESSES", "http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with served_webhook() as server:
        yield server


def entered(database: Database, address: str, kind: str = "webhook") -> str:
    """What a channel of that address that was entered in a form answers to a test."""
    key = new_key()
    with database.engine.begin() as c:
        sealed = seal_address(Vault.from_option(key), "平台", address)
        keep_channel(c, "平台", kind, sealed, "chief", NOW)
        channels = all_channels(c, "", key)
    return send_test(database, channels, "平台", NOW)


def test_what_leads_inside_is_refused_until_the_machines_operator_names_it(
    database: Database, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("webhook", "other"):
        assert entered(database, webhook.address, kind) == f"{webhook.origin} {INSIDE}"
    assert webhook.bodies == []
    monkeypatch.setenv("QIAO_ALLOW_ADDRESSES", webhook.origin)
    assert entered(database, webhook.address) == ""
    assert len(webhook.bodies) == 1


def test_the_file_of_channels_is_the_operators_own_word(
    database: Database, webhook: Webhook
) -> None:
    assert send_test(database, {"desk": webhook.address}, "desk", NOW) == ""


def test_it_connects_to_the_address_that_was_judged_and_to_no_other(
    database: Database, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, looked = webhook.server_port, []

    def look(*asked: object, **_named: object) -> list[object]:
        looked.append(asked[0])
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(guarded.socket, "getaddrinfo", look)
    address = f"json://hook.example:{port}/secret"
    assert entered(database, address) == f"http://hook.example:{port} {INSIDE}"
    monkeypatch.setenv("QIAO_ALLOW_ADDRESSES", f"http://hook.example:{port}")
    looked.clear()
    assert entered(database, address) == ""
    # The name once; urllib3 looks up the address it is given, which can lead nowhere else.
    assert looked.count("hook.example") == 1


def test_a_redirect_gets_no_further(
    database: Database, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_ALLOW_ADDRESSES", webhook.origin)
    with served_webhook() as other:
        webhook.location = f"{other.origin}/inside"
        assert entered(database, webhook.address) == f"{other.origin} {INSIDE}"
        assert other.bodies == []


def test_a_proxy_of_the_environment_does_not_widen_it(
    database: Database, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", webhook.origin)
    address = f"json://10.0.0.7:{webhook.server_port}/"
    assert entered(database, address) == f"http://10.0.0.7:{webhook.server_port} {INSIDE}"
    assert webhook.bodies == []


def test_a_name_that_leads_nowhere_is_tried_again(
    database: Database, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(*_asked: object, **_named: object) -> None:
        raise socket.gaierror

    monkeypatch.setattr(guarded.socket, "getaddrinfo", look)
    assert entered(database, "jsons://hook.example/") == "its name leads to no address"
