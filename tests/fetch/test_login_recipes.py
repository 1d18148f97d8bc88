"""Login recipes: the shipped ones are right, and every fault of a file is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from login_sites import recipes_folder
from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.sessions.recipe import find_recipe, load_recipes, read_recipe

GOOD = {
    "name": "a.test", "way": "form", "hosts": ["a.test"],
    "form": {"page": "https://www.a.test/login"},
}  # fmt: skip


def faults(**changes: object) -> str:
    _, found = read_recipe({**GOOD, **changes}, "a.test.toml")
    return "; ".join(found)


def test_the_shipped_recipes_show_every_way(tmp_path: Path) -> None:
    shipped = load_recipes()
    assert {recipe.way for recipe in shipped.values()} >= {"form", "sso", "browser", "http"}
    assert faults() == ""
    own = load_recipes(recipes_folder(tmp_path))
    assert own.keys() == shipped.keys() | {"club.test", "one.test"}
    with pytest.raises(ConfigError, match=r"no login recipe 'x' \(there are: club.test, "):
        find_recipe(own, "x")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "b.test"}, "name: must be the file's name without .toml"),
        ({"way": "magic"}, "way: must be 'form', 'sso', 'cookies', 'browser' or 'http'"),
        ({"hosts": []}, "hosts: must name at least one host"),
        ({"hosts": ["https://a.test/"]}, "hosts: must be a lower-case host"),
        ({"hosts": ["com.cn"]}, "'com.cn' belongs to many owners"),
        ({"form": {"page": "ftp://a.test/"}}, "form.page: must be an http(s) address"),
        ({"form": {"page": "https://u:p@a.test/"}}, "form.page: must be an http(s) address"),
        ({"form": {"page": "https://b.test/"}}, "form.page: must be on one of hosts"),
        ({"form": {"page": "https://a.test/", "json": True}}, "form.user: must be given"),
        ({"form": {"page": "https://a.test/", "select": "p:::"}}, "form.select: is no CSS"),
        ({"form": {"page": "https://a.test/", "usr": "x"}}, "form.usr: unknown key"),
        ({"target": "https://b.test/"}, "target: must be on one of hosts"),
        ({"succes": {"words": "x"}}, "succes: unknown key; did you mean 'success'?"),
        ({"expired": {"status": ["401"]}}, "expired.status: must be a whole number from 100"),
        ({"pause_seconds": -1}, "pause_seconds: must be a number from 0 to 3600"),
        ({"way": "sso", "sso": {"hosts": ["passport.a.test"]}}, "target: must be given"),
        ({"way": "sso"}, "sso.hosts: must name at least one host"),
        ({"way": "http"}, "origins: must name at least one origin"),
        ({"way": "http", "http": {"origins": ["https://a.test/x"]}}, "must be like https://www"),
        ({"way": "browser", "browser": {"page": "https://a.test/"}}, "browser.done: must hold"),
    ],
)
def test_a_fault_is_named_with_what_is_allowed(changes: dict[str, object], said: str) -> None:
    assert said in faults(**changes)


def test_all_faults_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("name = [")
    (tmp_path / "deep.toml").write_text("a = " + "[" * 20_000)
    (tmp_path / "b.toml").write_text('name = "b"\nway = "form"\nhosts = []\n')
    with pytest.raises(ConfigError) as caught:
        load_recipes(str(tmp_path))
    assert "a.toml: cannot be read as TOML" in str(caught.value)
    assert "deep.toml: cannot be read as TOML" in str(caught.value)
    assert "b.toml: hosts: must name" in str(caught.value)
    assert "b.toml: form.page: must be given" in str(caught.value)
    with pytest.raises(ConfigError, match="QIAO_LOGINS_DIR must be a folder"):
        load_recipes(str(tmp_path / "none"))


def test_only_named_hosts_get_the_secret() -> None:
    (sso,), _ = read_recipe({
        **GOOD, "way": "sso", "target": "https://a.test/my", "sso": {"hosts": ["in.b.test"]},
        "form": {"page": "https://in.b.test/login"},
    }, "a.test.toml")  # fmt: skip
    (form,), _ = read_recipe(GOOD, "a.test.toml")
    assert sso.may_get_secret("https://in.b.test/x")
    for url in (
        "https://www.a.test/x",
        "http://in.b.test/x",
        "https://in.b.test:8443/x",
        "https://x.in.b.test/",
        "https://b.test/",
        "ftp://in.b.test/",
        "https://[/",
    ):
        assert not sso.may_get_secret(url)
    assert form.may_get_secret("https://www.a.test/other")
    for url in ("https://a.test/", "https://sub.www.a.test/", "http://www.a.test/login"):
        assert not form.may_get_secret(url)
