"""The office's name and how its paper looks, as an administrator set it at the console."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.office import stored_office
from qiaocrawl.storage.people import ROLES, User
from qiaocrawl.storage.schema import office_paper
from qiaocrawl.storage.values import clean_word, to_stored_time

_ROW = 1
_MOST_CHARS = 200
LABELS = {
    "unit": N_("Name of the office"),
    "masthead": N_("Red masthead"),
    "report_to": N_("Reported to (报)"),
    "send_to": N_("Sent to (送)"),
    "title_font": N_("Font of masthead and title"),
    "heading_font": N_("Font of headings"),
    "body_font": N_("Font of the text"),
}
"""What can be written, in the order of the form."""


@dataclass(frozen=True, slots=True)
class OfficePaper:
    """How the office's briefings look, and who approves them.

    The fonts are those of GB/T 9704 by the names Windows gives them; a machine without them shows
    others, the file keeps the names.

    Attributes:
        approvers: names of users; of nobody: every administrator.
    """

    unit: str = ""
    masthead: str = ""
    report_to: str = ""
    send_to: str = ""
    title_font: str = "方正小标宋简体"
    heading_font: str = "黑体"
    body_font: str = "仿宋_GB2312"
    approvers: tuple[str, ...] = ()

    def may_approve(self, user: User) -> bool:
        """Whether *user* may approve a briefing."""
        return user.name in self.approvers if self.approvers else user.may(ROLES[-1])


def office_of(c: Connection) -> OfficePaper:
    """As it is set; what nobody set is as it comes."""
    stored = c.execute(select(office_paper.c.record).where(office_paper.c.id == _ROW)).scalar()
    values: dict[str, Any] = {} if stored is None else json.loads(stored)
    # An office that is called something signs so.
    values["unit"] = values.get("unit") or stored_office(c).name
    known = {own.name for own in fields(OfficePaper)}
    values = {name: value for name, value in values.items() if name in known}
    return replace(OfficePaper(**values), approvers=tuple(values.get("approvers", ())))


def save_office(c: Connection, actor: Actor, new: OfficePaper, now: datetime) -> None:
    """Keep *new*.

    Raises:
        ConfigError: a part of it is too long, or a font has no name.
    """
    values = asdict(new)
    for name, label in LABELS.items():
        if len(values[name]) > _MOST_CHARS:
            raise ConfigError(
                _("{name} has more than {most} characters", name=_(label), most=_MOST_CHARS)
            )
        values[name] = clean_word(values[name], _MOST_CHARS)
        if not values[name] and name.endswith("_font"):
            raise ConfigError(_("{name} is missing", name=_(label)))
    before = office_of(c)
    row = {
        "record": json.dumps(values, ensure_ascii=False),
        "changed_by": actor.name,
        "changed_at": to_stored_time(now),
    }
    own = office_paper.c.id == _ROW
    if not c.execute(update(office_paper).where(own).values(row)).rowcount:
        c.execute(insert(office_paper).values({"id": _ROW, **row}))
    record(c, actor, "office.paper", values["unit"] or "paper", asdict(before), values)
