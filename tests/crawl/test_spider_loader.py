"""Spiders are found by their names, whoever wrote them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoader

from qiaocrawl import settings as ours
from qiaocrawl.crawl.spider_loader import NamedSpiderLoader

_SETTINGS = Settings({"SPIDER_MODULES": ours.SPIDER_MODULES})


def test_every_spider_is_the_one_scrapy_finds() -> None:
    loader, usual = NamedSpiderLoader.from_settings(_SETTINGS), SpiderLoader(_SETTINGS)
    assert loader.list() == usual.list()
    assert [loader.load(name) for name in usual.list()] == [
        usual.load(name) for name in usual.list()
    ]


@pytest.mark.parametrize("name", ["sites", "", "no.such", "../site"])
def test_what_is_no_spider_is_a_key_error(name: str) -> None:
    with pytest.raises(KeyError, match="Spider not found"):
        NamedSpiderLoader.from_settings(_SETTINGS).load(name)


def test_a_project_may_replace_one_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_spiders.py").write_text(
        "import scrapy\nclass Site(scrapy.Spider):\n    name = 'site'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "their_spiders", raising=False)
    settings = Settings({"SPIDER_MODULES": [*ours.SPIDER_MODULES, "their_spiders"]})
    with pytest.warns(UserWarning, match="several spiders with the same name"):
        found = NamedSpiderLoader.from_settings(settings).load("site")
    assert found.__module__ == "their_spiders"
