"""Browser identities: whole, matching in themselves, kept by a host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.identities import Identity, choice_of, pick
from qiaocrawl.fetch.identity_file import load_identities

SHIPPED = load_identities()


@pytest.mark.parametrize("identity", SHIPPED.values(), ids=list(SHIPPED))
def test_the_headers_of_a_browser_match_each_other(identity: Identity) -> None:
    secure = {name.lower(): value for name, value in identity.secure}
    plain = {name.lower(): value for name, value in identity.plain}
    assert plain.keys() <= secure.keys()
    assert {"user-agent", "accept", "accept-language", "accept-encoding"} <= plain.keys()
    # As browsers do: no hints, no fetch metadata, no br over plain http.
    assert not [name for name in plain if name.startswith("sec-")]
    assert "br" not in plain["accept-encoding"]
    agent = secure["user-agent"]
    version = re.search(r"Chrome/(\d+)", agent)
    assert (version is not None) == ("sec-ch-ua" in secure)
    if version:
        assert secure["sec-ch-ua"].count(f'v="{version[1]}"') == 2
        platform = secure["sec-ch-ua-platform"].strip('"')
        words = {"Windows": "Windows NT", "macOS": "Macintosh", "Android": "Android"}
        assert words[platform] in agent
        assert (secure["sec-ch-ua-mobile"] == "?1") == ("Mobile" in agent) == identity.mobile
        assert ("Microsoft Edge" in secure["sec-ch-ua"]) == ("Edg/" in agent)
    assert identity.user_agent == agent
    assert identity.headers("https") == identity.secure
    assert "zh-CN" in secure["accept-language"]


def test_a_host_keeps_its_identity_for_a_session() -> None:
    every = list(SHIPPED.values())
    salt = b"run"
    first = {host: pick(every, host, 0, salt) for host in (f"h{n}.test" for n in range(60))}
    assert first == {host: pick(every, host, 0, salt) for host in first}
    assert len({one.name for one in first.values()}) > 3
    assert not any(one.mobile for one in first.values())
    for host, identity in first.items():
        assert pick(every, host, 1, salt) != identity
    phone = [one for one in every if one.mobile]
    assert pick(phone, "h.test", 0, salt) is phone[0]


def test_names_of_identities_are_checked() -> None:
    convert = choice_of(SHIPPED)
    assert convert("rotate") == "rotate"
    with pytest.raises(ValueError, match="one of rotate, honest, chrome_android"):
        convert("chrome")


@pytest.mark.parametrize(
    ("text", "said"),
    [("[a]\nheaders=[['User-Agent','x'],['Accept-Encoding','gzip, lzma']]", "'lzma' cannot"),
     ("[a]\nheaders=[['Accept','x']]", "need a User-Agent"),
     ("[a]\nheaders=[['User-Agent','x'],['user-agent','y']]", "each only once"),
     ("[a]\nheaders=[['User-Agent','x'],['Cookie','y']]", "'Cookie' cannot be set"),
     ("[a]\nheaders=[['User-Agent',\"x\\ny\"]]", "cannot be"),
     ("[a]\nheaders=[['User-Agent']]", "must be pairs"),
     ("[a]\nheads=[]", "heads: unknown key; did you mean 'headers'"),
     ("[rotate]\nheaders=[['User-Agent','x']]", "another meaning"),
     ("[a]\nheaders=[['User-Agent','x']]\nsecure_only=['User-Agent']", "over http too"),
     ("", "no identity"), ("[", "cannot be read"), ("a = " + "[" * 20_000, "cannot be read")],
)  # fmt: skip
def test_an_identity_that_is_not_whole_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=said):
        load_identities(str(file))


def test_an_own_file_takes_the_place_of_the_shipped_ones(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('[mine]\nheaders=[["User-Agent", "Mine/1.0"]]\n', "utf-8")
    assert [one.user_agent for one in load_identities(str(file)).values()] == ["Mine/1.0"]
    with pytest.raises(ConfigError, match="cannot be read"):
        load_identities(str(tmp_path / "none.toml"))
