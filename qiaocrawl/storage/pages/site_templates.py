"""What was learnt about sites, one row per host; the last write wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from qiaocrawl.extract.sites.site_template import SiteTemplate
from qiaocrawl.storage.schema import site_template
from qiaocrawl.storage.sql import Statement, upsert
from qiaocrawl.storage.values import (
    clean_host,
    epoch_time,
    from_time,
    json_mapping,
    to_json,
)

# Far above any real template; what is cut does not parse and is learnt again.
_MAX_JSON_CHARS = 1_000_000

_SAVE = upsert(
    "site_template",
    "host, pages, redesigns, updated_at, template",
    key="host",
    change="pages, redesigns, updated_at, template",
)
_LOAD = Statement("SELECT template FROM site_template WHERE host = :host")


@dataclass(frozen=True, slots=True)
class StoredTemplate:
    """A stored template and when it was stored."""

    template: SiteTemplate
    updated_at: datetime | None


def save_site_templates(c: Connection, templates: Sequence[SiteTemplate], *, now: float) -> None:
    """Store *templates* in place of what was stored of their hosts."""
    _SAVE.run_many(
        c,
        [
            {
                "host": clean_host(template.host),
                "pages": template.pages,
                "redesigns": template.redesigns,
                "updated_at": epoch_time(now),
                "template": to_json(template.to_dict(), max_chars=_MAX_JSON_CHARS),
            }
            # In one order, so that crawls on one database do not deadlock.
            for template in sorted(templates, key=lambda template: template.host)
        ],
    )


def load_site_template(c: Connection, host: str) -> SiteTemplate | None:
    """What is stored of *host*; None for nothing, or for what this version cannot read."""
    row = _LOAD.run(c, {"host": clean_host(host)}).fetchone()
    template = _read(row[0]) if row is not None else None
    return template if template is not None and template.host == clean_host(host) else None


def stored_templates(c: Connection, host: str = "") -> list[StoredTemplate]:
    """All stored templates, or that of *host*, those with most articles first."""
    columns = select(site_template.c.template, site_template.c.updated_at).order_by(
        site_template.c.pages.desc(), site_template.c.host
    )
    if host:
        columns = columns.where(site_template.c.host == clean_host(host))
    rows = ((_read(template), when) for template, when in c.execute(columns))
    return [StoredTemplate(read, from_time(when)) for read, when in rows if read is not None]


def _read(text: str) -> SiteTemplate | None:
    try:
        return SiteTemplate.from_dict(json_mapping(text))
    except (ValueError, RecursionError):
        return None  # cut or edited by hand: learnt again
