"""Why a message did not leave: by real refusals of HTTP and mail, in both languages."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
from apprise.plugins.email.base import NotifyEmail

from mail_servers import MailServer, served_mail
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.news.warnings.delivery import send_test
from qiaocrawl.news.warnings.failures import reason_of_error, reason_of_words
from qiaocrawl.news.warnings.signed import new_secret, signed_address
from qiaocrawl.storage import Database

NOW = datetime(2026, 11, 29, tzinfo=UTC)
NOBODY = "cannot be reached: the connection is refused: nothing serves there"
NO_NAME = "cannot be reached: its name leads to no address"


@pytest.fixture
def shut() -> int:
    """A port of this machine at which nothing serves."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def mail(monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    monkeypatch.setattr(NotifyEmail, "request_rate_per_sec", 0)
    with served_mail() as server:
        yield server


def said(database: Database, address: str) -> str:
    return send_test(database, {"desk": address}, "desk", NOW)


def by_mail(place: str) -> str:
    ends = "?mode=insecure&from=o@office.test&to=l@office.test"
    return f"mailto://clerk01:{quote('s3cret w')}@{place}/{ends}&smtp=127.0.0.1"


def test_who_is_away_is_told_alike_by_every_way(
    database: Database, shut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_ALLOW_ADDRESSES", f"127.0.0.1:{shut}")
    for address in (
        f"json://127.0.0.1:{shut}/secret",
        f"jsons://127.0.0.1:{shut}/secret",
        by_mail(f"127.0.0.1:{shut}"),
        signed_address(f"http://127.0.0.1:{shut}/hook", new_secret()),
    ):
        assert said(database, address) == NOBODY, address


def test_a_name_that_leads_nowhere_is_told(database: Database) -> None:
    # The name of no machine, by RFC 6761: it is looked up nowhere else.
    assert said(database, "json://nowhere.invalid/secret") == NO_NAME


def test_who_speaks_no_tls_is_told(database: Database, mail: MailServer) -> None:
    reason = said(database, f"jsons://{mail.place}/secret")
    assert reason.startswith("cannot be reached: no secure connection (TLS): "), reason


@pytest.mark.parametrize(
    ("command", "answer", "reason"),
    [
        ("AUTH", "535 5.7.8 authentication failed",
         "the mail server refuses the log-in; user or password is wrong: "
         "535 5.7.8 authentication failed"),
        ("RCPT", "550 no such user here",
         "the mail server takes no mail for the receiver: 550 no such user here"),
        ("DATA", "554 内容像垃圾邮件", "the mail server refuses the message: 554 内容像垃圾邮件"),
    ],
)  # fmt: skip
def test_what_a_mail_server_refuses_is_told(
    database: Database, mail: MailServer, command: str, answer: str, reason: str
) -> None:
    mail.refusals[command] = answer
    assert said(database, by_mail(mail.place)) == reason
    assert mail.messages == []


CASES: tuple[tuple[BaseException, str], ...] = (
    (TimeoutError(), "cannot be reached: no answer in time"),
    (ConnectionResetError(104, "reset"),
     "cannot be reached: connection closed before an answer came"),
    (OSError(113, "no route"),
     "cannot be reached: no way leads there: its network or this one is away"),
    (ssl.SSLError(1, "[SSL] bad"), "cannot be reached: no secure connection (TLS): "),
    (ValueError("odd"), "cannot be reached: odd"),
    (ValueError(), "cannot be reached: ValueError"),
)  # fmt: skip


def test_errors_are_told_by_what_stands_behind_them() -> None:
    for error, reason in CASES:
        outer = RuntimeError("wrapped")
        outer.__cause__ = error
        assert reason_of_error(outer).startswith(reason), error


def test_what_nobody_knows_is_handed_on() -> None:
    assert reason_of_words("The key is invalid") == "could not be sent: The key is invalid"
    assert reason_of_words("") == ""


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        (NOBODY, "连不上：连接被拒绝：该端口没有服务"),
        (NO_NAME, "连不上：域名解析不出地址"),
        ("part 2 of 3: the mail server refuses the log-in; user or password is wrong: 535 x",
         "第 2 段（共 3 段）：邮件服务器拒绝登录，用户名或密码（授权码）不对：535 x"),
        ("stopped: cannot be reached: no answer in time", "已停：连不上：没有及时答复"),
    ],
)  # fmt: skip
def test_reasons_are_shown_in_chinese(
    monkeypatch: pytest.MonkeyPatch, reason: str, shown: str
) -> None:
    assert shown_reason(reason) == reason
    monkeypatch.setenv("QIAO_LANG", "zh_CN")
    assert shown_reason(reason) == shown
