"""The form of a site's template: its fields, the table they make, and where they stand in order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.methods.template_file import (
    LINK_KINDS,
    Selector,
    Template,
    Templates,
    load_templates,
    read_template,
)
from qiaocrawl.language import N_, _

SELECTORS = ("body", "exclude", "title", "date", "author", "source")
LINKS = ("links", *(f"links_{kind}" for kind in LINK_KINDS))
FIELDS = ("hosts", "path", *SELECTORS, *LINKS)
"""Of the form; of all but ``path`` each line is one host or one selector."""


def form_of(template: Template) -> dict[str, str]:
    """The form's fields as *template* has them."""
    fields = {name: _lines(getattr(template, name)) for name in SELECTORS}
    links = {
        f"links_{kind}" if kind else "links": _lines(selectors)
        for kind, selectors in template.links.items()
    }
    empty = dict.fromkeys(FIELDS, "")
    return {**empty, "hosts": "\n".join(template.hosts), "path": template.path, **fields, **links}


def _lines(selectors: Sequence[Selector]) -> str:
    return "\n".join(selector.written for selector in selectors)


def table_of(form: Mapping[str, str]) -> dict[str, Any]:
    """The table of a template file that the form's fields make."""
    lists = {
        name: [line.strip() for line in form.get(name, "").splitlines() if line.strip()]
        for name in FIELDS
        if name != "path"
    }
    table: dict[str, Any] = {"hosts": lists["hosts"], "path": form.get("path", "") or "*"}
    table |= {name: lists[name] for name in SELECTORS if lists[name]}
    by_kind = {kind: lists[f"links_{kind}"] for kind in LINK_KINDS if lists[f"links_{kind}"]}
    if by_kind:
        table["links"] = by_kind | ({"": lists["links"]} if lists["links"] else {})
    elif lists["links"]:
        table["links"] = lists["links"]
    return table


FIELD_NAMES = {
    "title": N_("Title"),
    "body": N_("Body"),
    "date": N_("Date"),
    "author": N_("Author"),
    "source": N_("Source"),
    "exclude": N_("Parts to leave out"),
}
"""What can be clicked on, in the order in which people do."""


def is_empty(form: Mapping[str, str]) -> bool:
    """Whether nothing was chosen yet."""
    return not any(form.get(name, "").strip() for name in (*SELECTORS, *LINKS))


def check_template(table: Mapping[str, Any]) -> Template:
    """The template in *table*, which is to be kept in the database: of one host, in CSS.

    An expression of XPath can take longer than a page may, and would take its pages out of the
    crawl: only who looks after the machine writes some, into a file.

    Raises:
        ConfigError: it has faults; the message names each.
    """
    for name in SELECTORS:
        for written in table.get(name, ()):
            if written.startswith("xpath:"):
                raise ConfigError(
                    _(
                        "{field}: {value!r} is XPath, which only files of the machine may have; "
                        "click on the place instead",
                        field=_(FIELD_NAMES[name]),
                        value=written,
                    )
                )
    if len(table.get("hosts", ())) != 1:
        raise ConfigError(_("A template is for one host, such as www.example.com"))
    template, faults = read_template(table)
    if template is None:
        raise ConfigError(_("This place cannot be used: {why}", why="; ".join(faults)))
    links = [place for places in template.links.values() for place in places]
    if any(place.is_xpath for place in links):
        raise ConfigError(_("Links: XPath is for files of the machine only"))
    return template


def template_text(table: Mapping[str, Any]) -> str:
    """*table* as the text of a template file."""
    lines = [f"{key} = {_toml(value)}" for key, value in table.items()]
    return "\n".join(["[[template]]", *lines]) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{json.dumps(key)} = {_toml(part)}" for key, part in value.items())
        return f"{{{pairs}}}"
    # JSON's escapes are those of TOML; it leaves one control character bare.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def present_templates(place: str) -> Templates:
    """The templates at *place*; none where nothing is there yet.

    Raises:
        ConfigError: a file there has faults.
    """
    is_empty = not place or (Path(place).is_dir() and not any(Path(place).glob("*.toml")))
    return Templates() if is_empty else load_templates(place)
