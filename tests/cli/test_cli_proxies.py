"""``qiaocrawl proxies``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from crawling import Answer, local_server
from fresh_schema import make_tables
from loopback_proxies import dead_port, loopback_proxy
from qiaocrawl.storage import Database

Run = Callable[..., tuple[int, str, str]]
CANARY = "c4n4ry-of-the-pool"


@pytest.fixture
def given(tmp_path: Path) -> tuple[str, str]:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
    return ("--database", url)


def test_proxies_are_added_listed_checked_and_removed(
    run: Run, given: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        local_server(lambda host, path: Answer(b"ok")) as site,
        loopback_proxy(site.origin, f"me:{CANARY}") as proxy,
    ):
        address = f"http://127.0.0.1:{proxy.port}"
        login = ("--user", "me", "--password-env", "POOL_PASSWORD", "--note", "自家")
        assert run("proxies", "add", address, *login, *given)[0] == 0
        code, _, err = run("proxies", "add", address, *login, *given)
        assert (code, "already" in err) == (1, True)
        dead = f"127.0.0.1:{dead_port()}"
        assert run("proxies", "add", dead, *given)[0] == 0
        assert "no variable POOL_PASSWORD" in run("proxies", "list", *given)[1]
        monkeypatch.setenv("POOL_PASSWORD", CANARY)
        _, out, _ = run("proxies", "list", *given)
        (row,) = [line for line in out.splitlines() if address in line]
        assert [cell.strip() for cell in row.split("│")[2:-1]] == [
            "me", "0.50", "0.00 s", "ready", "自家",
        ]  # fmt: skip
        assert run("proxies", "check", f"http://{site.origin}/x", *given)[0] == 1
        assert site.log == []
        monkeypatch.setenv("QIAO_ALLOW_ADDRESSES", site.origin)
        code, out, _ = run("proxies", "check", f"http://{site.origin}/x", *given)
        assert (code, [hit.path for hit in site.log]) == (0, ["/robots.txt"])
        assert f"usable for http://{site.origin}/robots.txt: 1" in out
        assert "ConnectionRefusedError" in out
    assert CANARY.encode() not in (tmp_path / "q.db").read_bytes()
    assert run("proxies", "remove", address, *given)[0] == 0
    assert run("proxies", "remove", address, *given)[0] == 1
    assert address not in run("proxies", "list", *given)[1]


def test_a_check_of_an_empty_pool_says_so(
    run: Run, given: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_ALLOW_ADDRESSES", "127.0.0.1:9")
    code, out, err = run("proxies", "check", "http://127.0.0.1:9/", *given)
    assert (code, out) == (1, "")
    assert "no proxy in the database" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("add", f"http://u:{CANARY}@a.test:1"), "do not belong in an argument"),
     (("add", f"socks5://u:{CANARY}@a.test:1"), "socks5 proxies are not supported"),
     (("add", "a.test:1", "--password-env", "X"), "needs --user"),
     (("add", "a.test:1", "--user", "u", "--password-env", "a b"), "no name of a variable"),
     (("check", "ftp://a.test/"), "no http or https address"),
     (("check", "http://localhost/"), "no public address")],
)  # fmt: skip
def test_what_cannot_be_is_one_clear_line(
    run: Run, given: tuple[str, str], arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = run("proxies", *arguments, *given)
    assert code == 1
    assert said in err
    assert CANARY not in out + err
