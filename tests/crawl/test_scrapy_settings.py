"""Every setting of Scrapy acts, becomes an option of ours, or is named with what does it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from scrapy.settings import Settings, default_settings

from crawling import Answer, article, crawl, import_pack, local_server, outcomes, pack
from qiaocrawl import settings as shipped
from qiaocrawl.crawl.addon import QiaoAddon
from qiaocrawl.crawl.context import options_from_settings
from qiaocrawl.crawl.scrapy_settings import (
    ACTING,
    HONOURED,
    REPLACED,
    honour,
    in_vain,
    replacement_of,
)
from qiaocrawl.errors import ConfigError
from qiaocrawl.options import DEFAULTS

ALL = {name for name in vars(default_settings) if name.isupper()} | set(default_settings.__all__)
HOST = "www.qiao.test"


def settings_with(priority: str = "project", **given: object) -> Settings:
    """Our settings with *given* over them."""
    settings = Settings()
    settings.setmodule(shipped, priority="project")
    settings.update(given, priority=priority)
    return settings


def test_each_of_scrapys_settings_is_decided_on() -> None:
    def decisions(name: str) -> list[bool]:
        acts = any(fnmatchcase(name, form) for form in ACTING)
        return [name in HONOURED, bool(replacement_of(name)), acts]

    undecided = {name: decisions(name) for name in ALL if sum(decisions(name)) != 1}
    assert undecided == {}, "decide in scrapy_settings.py whether these act in our crawls"
    forms = {*ACTING, *REPLACED} - {"CONCURRENT_REQUESTS_PER_IP"}
    gone = [form for form in forms if not any(fnmatchcase(name, form) for name in ALL)]
    assert gone == []


def test_what_we_ship_is_not_set_in_vain() -> None:
    assert list(in_vain(settings_with())) == []
    assert not {*HONOURED} & {*vars(shipped)}, "an edit there would look like our own value"


@pytest.mark.parametrize(("name", "value", "option", "wanted"), [
    ("DEPTH_LIMIT", 3, "QIAO_MAX_DEPTH", 3), ("DEPTH_LIMIT", "3", "QIAO_MAX_DEPTH", 3),
    ("URLLENGTH_LIMIT", 100, "QIAO_MAX_URL_CHARS", 100),
    ("URLLENGTH_LIMIT", 10_000, "QIAO_MAX_URL_CHARS", 4096),
    ("RETRY_TIMES", 0, "QIAO_FRONTIER_MAX_FAILURES", 1),
    ("RETRY_TIMES", 9, "QIAO_FRONTIER_MAX_FAILURES", 10),
    ("RETRY_ENABLED", "False", "QIAO_FRONTIER_MAX_FAILURES", 1),
])  # fmt: skip
def test_a_limit_of_scrapy_becomes_ours(name: str, value: object, option: str, wanted: int) -> None:
    settings = settings_with(**{name: value})
    QiaoAddon.update_pre_crawler_settings(settings)
    assert options_from_settings(settings)[option] == wanted
    assert list(in_vain(settings)) == []


def test_the_nearer_word_wins_and_the_other_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_with(DEPTH_LIMIT=3, QIAO_MAX_DEPTH=5)
    honour(settings)
    assert options_from_settings(settings)["QIAO_MAX_DEPTH"] == 5
    assert list(in_vain(settings)) == ["DEPTH_LIMIT gives way to QIAO_MAX_DEPTH, which is set too"]
    monkeypatch.setenv("QIAO_MAX_DEPTH", "6")
    for priority, wanted in (("project", 6), ("spider", 3), ("cmdline", 3)):
        settings = settings_with(priority, DEPTH_LIMIT=3)
        honour(settings)
        assert options_from_settings(settings)["QIAO_MAX_DEPTH"] == wanted
    # Scrapy's own value, said by hand.
    settings = settings_with("cmdline", DEPTH_LIMIT="0")
    honour(settings)
    assert options_from_settings(settings)["QIAO_MAX_DEPTH"] == 0


def test_a_recorded_web_lifts_no_limit_of_scrapy_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIAO_REPLAY", "somewhere")
    settings = settings_with(DEPTH_LIMIT=2)
    QiaoAddon.update_pre_crawler_settings(settings)
    assert options_from_settings(settings)["QIAO_MAX_DEPTH"] == 2


@pytest.mark.parametrize(("name", "value"), [("DEPTH_LIMIT", "deep"), ("RETRY_TIMES", -1),
                                             ("RETRY_ENABLED", "perhaps")])  # fmt: skip
def test_a_wrong_value_is_named(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be.*{value}"):
        honour(settings_with(**{name: value}))


@pytest.mark.parametrize(("name", "value", "instead"), [
    ("DUPEFILTER_CLASS", "scrapy.dupefilters.BaseDupeFilter", "QIAO_REVISIT_HOURS"),
    ("DEPTH_PRIORITY", 1, "QIAO_STRATEGY"), ("JOBDIR", "jobs", "QIAO_DATABASE_URL"),
    ("RETRY_HTTP_CODES", [500], "QIAO_FRONTIER_MAX_FAILURES"),
    ("METAREFRESH_ENABLED", False, "QIAO_MAX_DEPTH"), ("REDIRECT_MAX_TIMES", 3, "frontier"),
    ("HTTPERROR_ALLOW_ALL", True, "outcome"), ("SCHEDULER_DEBUG", True, "frontier"),
    ("CONCURRENT_REQUESTS_PER_IP", 2, "CONCURRENT_REQUESTS_PER_DOMAIN"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::scrapy.exceptions.ScrapyDeprecationWarning")
def test_what_does_not_act_is_named_with_what_does(name: str, value: object, instead: str) -> None:
    (line,) = in_vain(settings_with(**{name: value}))
    assert line.startswith(f"{name} has no effect")
    assert instead in line
    assert all(option in DEFAULTS for option in line.split() if option.startswith("QIAO_")
               and option.isidentifier())  # fmt: skip


def test_a_crawl_keeps_scrapys_limits_and_warns_of_the_rest(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    long_path = f"/{'long' * 20}"
    pages = {"/": Answer(article("首页", links=("/1", long_path, "/broken"))),
             "/1": Answer(article("侨乡新闻", links=("/2",))),
             "/broken": Answer(b"", 500)}  # fmt: skip
    with local_server(lambda host, path: pages.get(path)) as server:
        done = crawl("site", url, "topic=qiaoqing", f"start=http://{HOST}/",
                     "-s", "DEPTH_LIMIT=1", "-s", "URLLENGTH_LIMIT=60", "-s", "RETRY_TIMES=0",
                     "-s", "JOBDIR=jobs", folder=tmp_path, QIAO_DEMO=server.origin)  # fmt: skip
    assert sorted(server.paths()) == ["/", "/1", "/broken"]
    assert outcomes(url)[f"http://{HOST}/broken"] == "unreachable"
    assert "JOBDIR has no effect in this crawl: the frontier is a table" in done.log
