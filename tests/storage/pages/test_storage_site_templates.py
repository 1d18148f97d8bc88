"""Stored templates of sites: written over, read back, and nothing where nothing is."""

from __future__ import annotations

from sqlalchemy import text

from qiaocrawl.extract.sites.site_template import SiteTemplate
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.site_templates import (
    load_site_template,
    save_site_templates,
    stored_templates,
)

NOW = 1_790_000_000.0
ONE = SiteTemplate(
    "a.example:8080", 40, b"\x01" * 8 + b"\xff" * 8, b"\x05\x00\x07\x00",
    (("div.正文 > p", 30),), (("江北晚报", 12), ("^“引号”🥝", 9)), 2, 3, b"abcd",
)  # fmt: skip
OTHER = SiteTemplate("b.example", 90)


def test_a_template_comes_back_as_it_was(database: Database) -> None:
    with database.engine.begin() as c:
        save_site_templates(c, [OTHER, ONE], now=NOW)
    with database.engine.begin() as c:
        assert load_site_template(c, ONE.host) == ONE
        assert load_site_template(c, OTHER.host) == OTHER
        assert load_site_template(c, "c.example") is None
        assert [one.template for one in stored_templates(c)] == [OTHER, ONE]
        (only,) = stored_templates(c, ONE.host)
    assert only.updated_at is not None
    assert only.updated_at.timestamp() == NOW


def test_the_last_one_stored_counts(database: Database) -> None:
    newer = SiteTemplate(ONE.host, 41, redesigns=3)
    with database.engine.begin() as c:
        save_site_templates(c, [ONE], now=NOW)
        for _ in range(2):
            save_site_templates(c, [newer], now=NOW + 1)
        save_site_templates(c, [], now=NOW)
        assert load_site_template(c, ONE.host) == newer
        assert c.execute(text("SELECT COUNT(*), MAX(redesigns) FROM site_template")).one() == (1, 3)


def test_the_largest_template_fits(database: Database) -> None:
    large = SiteTemplate(
        "x" * 250, 127, bytes(range(256)) * 32, b"\x10\x00" * 1024,
        tuple((f"{n}" + "的" * 198, n) for n in range(16)),
        tuple((f"{n}" + "站" * 38, n) for n in range(64)), 0, 0, b"\x00" * 1024,
    )  # fmt: skip
    with database.engine.begin() as c:
        save_site_templates(c, [large], now=NOW)
        (size,) = c.execute(text("SELECT LENGTH(template) FROM site_template")).one()
        assert size < 60_000


def test_what_cannot_be_read_is_nothing(database: Database) -> None:
    with database.engine.begin() as c:
        save_site_templates(c, [ONE], now=NOW)
        for written in ("", "{", "[1]", '{"version": 99}', '{"version": 1}'):
            c.execute(text("UPDATE site_template SET template = :t"), {"t": written})
            assert load_site_template(c, ONE.host) is None
            assert stored_templates(c) == []
