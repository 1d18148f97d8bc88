"""Templates as data: what may be written, which one counts, and how faults are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.methods.template_file import (
    Template,
    Templates,
    load_templates,
    read_template,
)

GOOD = '[[template]]\nhosts = ["www.qiao.test"]\nbody = "div.article"\n'


def template(*hosts: str, path: str = "*") -> Template:
    found, faults = read_template({"hosts": list(hosts), "path": path, "body": "#a"})
    assert found is not None, faults
    return found


def test_selectors_are_css_xpath_or_an_attribute() -> None:
    found, faults = read_template({
        "hosts": "www.qiao.test", "body": ["#a", "div > p"], "title": "meta[name=t]::attr(content)",
        "date": "xpath:substring-after(//p, '：')", "links": "xpath://td[2]",
    })  # fmt: skip
    assert faults == []
    assert found is not None
    assert [selector.path for selector in found.body] == ["#a", "div > p"]
    (title,) = found.title
    assert (title.path, title.attribute, title.is_xpath) == ("meta[name=t]", "content", False)
    assert found.date[0].is_xpath
    assert found.hosts == ("www.qiao.test",)


def test_the_most_exact_host_counts_and_then_the_first_path() -> None:
    exact, art, rest, far = (
        template("a.news.qiao.test"), template("*.news.qiao.test", path="/art/*"),
        template("*.news.qiao.test"), template("*.qiao.test"),
    )  # fmt: skip
    templates = Templates([far, art, rest, exact])
    assert templates.find("a.news.qiao.test", "/art/1.html") is exact
    assert templates.find("b.news.qiao.test", "/art/1.html") is art
    assert templates.find("b.news.qiao.test:8080", "/list/") is rest
    assert templates.find("news.qiao.test", "/list/") is rest
    assert templates.find("www.qiao.test", "/") is far
    assert templates.find("xqiao.test", "/") is None
    assert templates.find("", "/") is None
    assert len(templates) == 4


def test_a_port_may_be_part_of_a_host() -> None:
    templates = Templates([template("qiao.test:8080")])
    assert templates.find("qiao.test:8080", "/") is not None
    assert templates.find("qiao.test", "/") is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"titel": "h1"}, "titel: unknown key; did you mean 'title'? (allowed: author, body"),
        ({"hosts": []}, "hosts: must be a text or a list of texts, got []"),
        ({"hosts": "http://qiao.test/"}, "'*.example.com', got 'http://qiao.test/'"),
        ({"hosts": ["Qiao.test"]}, "lower case"),
        ({"path": "art/*"}, "path: must be a text that begins with / or *, got 'art/*'"),
        ({"title": "h1["}, "title: must be a CSS selector, or XPath after 'xpath:', got 'h1['"),
        ({"date": "xpath://p["}, "date: must be XPath after 'xpath:'"),
        ({"date": "xpath:unheard(//p)"}, "got 'xpath:unheard(//p)'"),
        ({"date": "xpath://p[unheard(.)]"}, "there is no function unheard()"),
        ({"date": "xpath://p[. = $x]"}, "variables such as $x have no value here"),
        ({"author": ["h1", 3]}, "author: must be a text or a list of texts, got 3"),
        ({"body": "p::attr(id)"}, "body: must find elements, not an attribute"),
        ({"exclude": "xpath://div"}, "body and exclude must be both CSS or both XPath"),
    ],
)
def test_a_fault_names_key_and_value(change: dict[str, Any], told: str) -> None:
    found, faults = read_template({"hosts": ["qiao.test"], "body": "#a", **change})
    assert found is None
    assert any(told in fault for fault in faults), faults


@pytest.mark.parametrize(
    ("table", "told"),
    [({"body": "#a"}, "hosts: must be given"), ({"hosts": "qiao.test"}, "body, links or a field"),
     ("x", "must be a table")],
)  # fmt: skip
def test_what_must_be_given(table: object, told: str) -> None:
    _, faults = read_template(table)
    assert told in faults[0]


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "b.toml").write_text("\ufeff" + GOOD.replace("www", "bbs"), encoding="utf-8")
    (tmp_path / "note.txt").write_text("no template", encoding="utf-8")
    assert len(load_templates(str(tmp_path))) == 2
    assert len(load_templates(str(tmp_path / "a.toml"))) == 1


def test_every_fault_of_every_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(GOOD.replace("body", "boddy"), encoding="utf-8")
    (tmp_path / "b.toml").write_text("template = [", encoding="utf-8")
    (tmp_path / "c.toml").write_text("[site]\nx = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_templates(str(tmp_path))
    message = str(caught.value)
    assert "a.toml: template 1 (hosts ['www.qiao.test']): boddy: unknown key; did" in message
    assert "b.toml: cannot be read as TOML" in message
    assert "c.toml: unknown key 'site'" in message


@pytest.mark.parametrize("name", ["", "missing"])
def test_a_place_without_templates_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="QIAO_TEMPLATES"):
        load_templates(str(tmp_path / name))
