"""Login recipes as data: one TOML file each, checked, every fault named.

Keys (``*`` = must be given; lists may be a single text):

* ``name*`` (as the file), ``title``, ``note``, ``way*`` (form, sso, cookies, browser, http),
  ``hosts*`` (the site: subdomains count), ``pause_seconds`` (least time between two requests of
  one account, 1), ``max_steps`` (requests of one login, 12), ``target`` (a page that shows
  whether one is logged in)
* ``[form]`` (ways form and sso): ``page*``, ``select``, ``user``, ``password``, ``submit``,
  ``json`` (then ``user*``, ``password*``, ``submit*``), ``[form.fields]`` (further fields),
  ``[form.cookie_headers]`` (header = cookie whose value it repeats)
* ``[sso]``: ``hosts*``: only they get user name and password; ``target`` must be given then
* ``[browser]``: ``page*``, ``qr`` (CSS selector of the QR code), ``[browser.done]`` (signs)
* ``[http]``: ``origins*``, as ``https://www.example.com:8443``
* ``[success]``, ``[failure]``, ``[expired]``: signs: ``status``, ``url``, ``cookie``,
  ``select``, ``words``; one of them is enough
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from qiaocrawl.errors import ConfigError
from qiaocrawl.sessions.cookies import is_public_suffix
from qiaocrawl.sessions.origins import Origin, origin_of
from qiaocrawl.sessions.recipe import WAYS, BrowserLogin, FormLogin, PageMarkers, Recipe
from qiaocrawl.text.toml_table import TomlTable, parse_toml

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_EMPTY_PAGE = LexborHTMLParser("<p></p>")


def load_recipes(extra_dir: str | None = None) -> dict[str, Recipe]:
    """All login recipes by name: the shipped ones, then those of *extra_dir* over them.

    Raises:
        ConfigError: the folder or a file cannot be read, or recipes have faults; the message
            lists every fault of every file.
    """
    found: dict[str, Recipe] = {}
    faults: list[str] = []
    for file in (*_shipped_files(), *_extra_files(extra_dir)):
        try:
            table = parse_toml(file.read_bytes())
        except (OSError, ValueError) as error:
            faults.append(f"{file.name}: cannot be read as TOML in UTF-8: {error}")
            continue
        recipe, file_faults = read_recipe(table, file.name)
        faults += [f"{file.name}: {fault}" for fault in file_faults]
        if recipe is not None:
            found[recipe.name] = recipe
    if faults:
        raise ConfigError("login recipes have faults:\n  " + "\n  ".join(faults))
    return dict(sorted(found.items()))


def find_recipe(recipes: Mapping[str, Recipe], name: str) -> Recipe:
    """The recipe called *name*.

    Raises:
        ConfigError: there is none; the message lists what there is.
    """
    if name not in recipes:
        there = ", ".join(recipes) or "none"
        raise ConfigError(
            f"no login recipe {name!r} (there are: {there}); QIAO_LOGINS_DIR can hold more"
        )
    return recipes[name]


def read_recipe(
    table: Mapping[str, object], file_name: str
) -> tuple[Recipe | None, list[str]]:
    """The recipe in *table* and no faults, or None and every fault as ``key: why``."""
    top = TomlTable(table, "", [])
    recipe = _recipe(top, file_name)
    top.refuse_unknown()
    if not top.faults:
        _check_together(top, recipe)
    return (None if top.faults else recipe), top.faults


def _recipe(top: TomlTable, file_name: str) -> Recipe:
    name, way = top.text("name", None), top.choice("way", WAYS)
    if name and (not _NAME.fullmatch(name) or f"{name}.toml" != file_name):
        top.fault("name", f"must be the file's name without .toml, in a-z 0-9 . _ -, got {name!r}")
    sso = top.table("sso")
    return Recipe(
        name=name, way=way, title=top.text("title"), note=top.text("note"),
        hosts=_hosts(top, "hosts", must=True),
        pause_seconds=top.number("pause_seconds", 1.0, 0.0, 3600.0),
        max_steps=int(top.number("max_steps", 12, 1, 50)),
        target=_url(top, "target"),
        sso_hosts=_hosts(sso, "hosts", must=way == "sso"),
        http_origins=_origins(top.table("http"), must=way == "http"),
        form=_form(top.table("form")) if way in ("form", "sso") else None,
        browser=_browser(top.table("browser")) if top.has("browser") or way == "browser" else None,
        success=_signs(top.table("success")), failure=_signs(top.table("failure")),
        expired=_signs(top.table("expired")),
    )  # fmt: skip


def _form(table: TomlTable) -> FormLogin:
    is_json = table.flag("json")
    must = None if is_json else ""
    return FormLogin(
        page=_url(table, "page", must=True), select=_selector(table, "select"),
        user_field=table.text("user", must), password_field=table.text("password", must),
        submit=_url(table, "submit", must=is_json), is_json=is_json,
        fields=table.pairs("fields"), cookie_headers=table.pairs("cookie_headers"),
    )  # fmt: skip


def _browser(table: TomlTable) -> BrowserLogin:
    done = _signs(table.table("done"))
    if not done:
        table.fault("done", "must hold at least one sign that the login is done")
    return BrowserLogin(_url(table, "page", must=True), _selector(table, "qr"), done)


def _signs(table: TomlTable) -> PageMarkers:
    statuses = table.numbers("status", 100, 599)
    for selector in table.texts("select"):
        _check_selector(table, "select", selector)
    return PageMarkers(
        statuses, table.texts("url"), table.texts("cookie"), table.texts("select"),
        table.texts("words"),
    )  # fmt: skip


def _selector(table: TomlTable, key: str) -> str:
    selector = table.text(key)
    if selector:
        _check_selector(table, key, selector)
    return selector


def _check_selector(table: TomlTable, key: str, selector: str) -> None:
    try:
        _EMPTY_PAGE.css(selector)
    except (SelectolaxError, ValueError):
        table.fault(key, f"is no CSS selector: {selector!r}")


def _url(table: TomlTable, key: str, *, must: bool = False) -> str:
    url = table.text(key, None if must else "")
    if url and (origin_of(url) is None or "@" in url.split("/", 3)[2]):
        table.fault(key, f"must be an http(s) address without credentials, got {url!r}")
    return url


def _hosts(table: TomlTable, key: str, *, must: bool) -> tuple[str, ...]:
    hosts = table.texts(key)
    if must and not hosts:
        table.fault(key, "must name at least one host")
    for host in hosts:
        origin = origin_of(f"http://{host}/")
        if origin is None or origin.netloc != host:
            table.fault(key, f"must be a lower-case host, with its port if need be, got {host!r}")
        elif is_public_suffix(origin.host) and "." in origin.host:
            table.fault(key, f"{host!r} belongs to many owners")
    return hosts


def _origins(table: TomlTable, *, must: bool) -> tuple[Origin, ...]:
    found = []
    for text in table.texts("origins"):
        origin = origin_of(text)
        if origin is None or str(origin) != text.rstrip("/"):
            table.fault("origins", f"must be like https://www.example.com:8443, got {text!r}")
        else:
            found.append(origin)
    if must and not found:
        table.fault("origins", "must name at least one origin")
    return tuple(found)


def _check_together(top: TomlTable, recipe: Recipe) -> None:
    if recipe.way == "sso" and not recipe.target:
        top.fault("target", "must be given for single sign-on: what is opened after it")
    if recipe.target and not recipe.may_open(recipe.target):
        top.fault("target", "must be on one of hosts or sso.hosts, port included")
    form = recipe.form
    if form is None:
        return
    for key, url in (("form.page", form.page), ("form.submit", form.submit)):
        if url and not recipe.may_open(url):
            top.fault(key, "must be on one of hosts or sso.hosts, port included")
    if form.submit and not recipe.may_get_secret(form.submit):
        top.fault("form.submit", "must be on one of sso.hosts, and https where form.page is")


def _shipped_files() -> Iterator[Traversable]:
    yield from _toml_files(resources.files("qiaocrawl.sessions").joinpath("recipes"))


def _extra_files(extra_dir: str | None) -> Iterator[Traversable]:
    if not extra_dir:
        return
    folder = Path(extra_dir)
    if not folder.is_dir():
        raise ConfigError(f"QIAO_LOGINS_DIR must be a folder, got {extra_dir!r}")
    yield from _toml_files(folder)


def _toml_files(folder: Traversable) -> Iterator[Traversable]:
    files = [file for file in folder.iterdir() if file.name.endswith(".toml")]
    yield from sorted(files, key=lambda file: file.name)
