"""What the add-on makes of a project's own settings: our parts stay, explicit limits hold."""

from __future__ import annotations

import re

import pytest
from scrapy.settings import Settings

from qiaocrawl import settings as shipped
from qiaocrawl.crawl.addon import QiaoAddon, keep_own_components
from qiaocrawl.errors import ConfigError


def settings_with(**own: object) -> Settings:
    """Our settings with a project's own over them, as its settings module gives them."""
    settings = Settings()
    settings.setmodule(shipped, priority="project")
    settings.update(own, priority="project")
    return settings


@pytest.mark.parametrize("name", ["ITEM_PIPELINES", "DOWNLOADER_MIDDLEWARES", "EXTENSIONS"])
def test_parts_of_a_project_leave_ours_in_place(name: str) -> None:
    settings = settings_with(**{name: {"mine.Part": 700}})
    keep_own_components(settings)
    assert settings.getdict(name) == {**getattr(shipped, name), "mine.Part": 700}


def test_ours_may_be_moved_but_no_pipeline_switched_off() -> None:
    path = "qiaocrawl.pipelines.store.StorePipeline"
    settings = settings_with(ITEM_PIPELINES={path: 650})
    keep_own_components(settings)
    assert settings.getdict("ITEM_PIPELINES")[path] == 650
    with pytest.raises(ConfigError, match=f"{path} cannot be switched off"):
        keep_own_components(settings_with(ITEM_PIPELINES={path: None}))
    with pytest.raises(SystemExit, match="ITEM_PIPELINES"):
        QiaoAddon.update_pre_crawler_settings(settings_with(ITEM_PIPELINES={path: None}))


def test_a_recorded_web_lifts_no_limit_that_was_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIAO_REPLAY", "somewhere")
    monkeypatch.setenv("QIAO_MAX_PAGES", "5")
    settings = settings_with(QIAO_MAX_DEPTH=2, DOWNLOAD_DELAY=3.0, CLOSESPIDER_PAGECOUNT=7)
    settings.set("QIAO_MAX_PAGES_PER_HOST", 4, priority="cmdline")
    QiaoAddon.update_pre_crawler_settings(settings)
    assert "QIAO_MAX_PAGES" not in settings, "the environment's value holds"
    limits = {name: settings[name] for name in (
        "QIAO_MAX_DEPTH", "DOWNLOAD_DELAY", "CLOSESPIDER_PAGECOUNT", "QIAO_MAX_PAGES_PER_HOST"
    )}  # fmt: skip
    assert [*limits.values()] == [2, 3.0, 7, 4]


def test_a_recorded_web_lifts_what_nobody_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIAO_REPLAY", "somewhere")
    settings = settings_with()
    QiaoAddon.update_pre_crawler_settings(settings)
    assert (settings["DOWNLOAD_DELAY"], settings["QIAO_MAX_DEPTH"]) == (0, 0)
    assert settings["QIAO_TRAPS"] is False


def test_the_stages_that_a_user_of_scrapy_looks_for_stand_by_name_and_in_order() -> None:
    order = sorted(shipped.ITEM_PIPELINES, key=lambda path: shipped.ITEM_PIPELINES[path])
    named = [path for path in order if re.search("Extract|TitleDeduplication|StorePipeline", path)]
    assert named == [
        "qiaocrawl.pipelines.extract.ExtractPipeline",
        "qiaocrawl.pipelines.dedup.TitleDeduplicationPipeline",
        "qiaocrawl.pipelines.store.StorePipeline",
    ]
