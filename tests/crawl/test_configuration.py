"""Wrong options and arguments: one clear line, exit code 1, nothing fetched."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawling import crawl, import_pack, outcomes, pack
from qiaocrawl.crawl.addon import QiaoAddon


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            ("topic=qiaoqing", "-s", "QIAO_DEDUP_TRESHOLD=0.9"),
            {},
            "unknown option QIAO_DEDUP_TRESHOLD; did you mean QIAO_DEDUP_THRESHOLD?",
        ),
        (
            ("topic=qiaoqing",),
            {"QIAO_DEDUP_THRESHOLD": "1.5"},
            "QIAO_DEDUP_THRESHOLD must be a number in [0.5, 1], got '1.5'",
        ),
        (("topic=qiaoqing",), {"QIAO_ALLOW_ADDRESSES": "ftp://x"}, "QIAO_ALLOW_ADDRESSES"),
        (("topic=nowhere",), {}, "topic 'nowhere' is not in the database (imported: qiaoqing)"),
        ((), {}, "spider 'site' needs -a topic=NAME"),
        (("topic=qiaoqing", "strategy=bsf"), {}, "unknown strategy 'bsf'; did you mean 'bfs'?"),
        (("topic=qiaoqing", "starts=x"), {}, "spider 'site' has no argument 'starts'"),
        (("topic=qiaoqing", "start=ftp://a.test/"), {}, "is no http or https address"),
        (("topic=qiaoqing", "site=b.test"), {}, "has no site 'b.test'"),
        (
            ("topic=qiaoqing",),
            {"QIAO_EXTRACT_METHOD": "densty"},
            "unknown extractor 'densty'; did you mean 'density'?",
        ),
        (("topic=qiaoqing",), {"QIAO_RELEVANCE_METHOD": "none"}, "unknown page scorer 'none'"),
        (("topic=qiaoqing",), {"QIAO_DEDUP_METHOD": "none"}, "unknown title deduplication 'none'"),
        (("topic=qiaoqing",), {"QIAO_REPLAY": "nowhere.warc"}, "nowhere.warc"),
        (("topic=qiaoqing",), {"QIAO_TEMPLATES": "nowhere.toml"}, "got 'nowhere.toml'"),
    ],
)
def test_a_wrong_setting_stops_at_once(
    tmp_path: Path, arguments: tuple[str, ...], options: dict[str, str], message: str
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack("a.test"))
    done = crawl("site", url, *arguments, folder=tmp_path, **options)
    assert done.returncode == 1, done.log
    assert message in done.log
    assert "Spider opened" not in done.log


def test_wrong_templates_are_told_before_anything_is_fetched(tmp_path: Path) -> None:
    """Their regions of links count whatever method reads the bodies."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack("a.test"))
    templates = tmp_path / "t.toml"
    templates.write_text('[[template]]\nhosts = "a.test"\ntitel = "h1"\nbody = "div["\n')
    done = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_TEMPLATES=str(templates))
    assert done.returncode == 1
    assert "titel: unknown key; did you mean 'title'?" in done.log
    assert "body: must be a CSS selector, or XPath after 'xpath:', got 'div['" in done.log
    assert "t.toml: template 1" in done.log
    assert outcomes(url) == {}


def test_search_asks_no_engine_the_operator_did_not_choose(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack("a.test"))
    none = crawl("search", url, "topic=qiaoqing", folder=tmp_path)
    assert none.returncode == 1
    assert "no search engine is chosen: set QIAO_ENGINES" in none.log
    other = crawl(
        "search", url, "topic=qiaoqing", "engine=bing", folder=tmp_path, QIAO_ENGINES="demo_sou"
    )
    assert other.returncode == 1
    assert "engine 'bing' is not among QIAO_ENGINES (demo_sou)" in other.log


def test_a_missing_database_names_the_command(tmp_path: Path) -> None:
    done = crawl("site", f"sqlite:///{tmp_path / 'none.db'}", "topic=qiaoqing", folder=tmp_path)
    assert done.returncode == 1
    assert "qiaocrawl db upgrade" in done.log


def test_the_database_password_is_never_shown(tmp_path: Path) -> None:
    url = "mysql+pymysql://qiao:s3cretpass@127.0.0.1:1/qiao"
    done = crawl(
        "site", url, "topic=qiaoqing", "-s", "QIAO_STORAGE_OUTAGE_SECONDS=0", folder=tmp_path
    )
    assert done.returncode == 1
    assert "s3cretpass" not in done.log


@pytest.mark.parametrize(
    ("is_terminal", "given", "dumps"),
    [(True, {}, False), (False, {}, True), (True, {"LOG_FILE": "a.log"}, True),
     (True, {"STATS_DUMP": True}, True)],
)  # fmt: skip
def test_statistics_go_to_a_log_not_to_a_terminal(
    is_terminal: bool, given: dict[str, object], dumps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    settings = Settings(given)
    QiaoAddon.update_pre_crawler_settings(settings)
    assert settings.getbool("STATS_DUMP") is dumps


def test_rendering_without_its_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # What Python does for a module that is not there.
    monkeypatch.setitem(sys.modules, "scrapy_playwright", None)
    with pytest.raises(
        SystemExit, match="^qiaocrawl: QIAO_RENDER needs .*-m pip install scrapy-playwright"
    ):
        QiaoAddon.update_pre_crawler_settings(Settings({"QIAO_RENDER": "auto"}))
    QiaoAddon.update_pre_crawler_settings(Settings())
