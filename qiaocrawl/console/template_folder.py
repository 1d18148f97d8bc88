"""Templates that the console writes: a file each in the folder that QIAO_TEMPLATES names."""

from __future__ import annotations

import hashlib
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
from qiaocrawl.language import _
from qiaocrawl.storage.backup import growing_file

SELECTORS = ("body", "exclude", "title", "date", "author", "source")
LINKS = ("links", *(f"links_{kind}" for kind in LINK_KINDS))
FIELDS = ("hosts", "path", *SELECTORS, *LINKS)
"""Of the form; of all but ``path`` each line is one host or one selector."""


def form_of(template: Template) -> dict[str, str]:
    """The form's fields as *template* has them."""
    fields = {name: _lines(getattr(template, name)) for name in SELECTORS}
    links = {f"links_{kind}" if kind else "links": _lines(selectors)
             for kind, selectors in template.links.items()}  # fmt: skip
    empty = dict.fromkeys(FIELDS, "")
    return {**empty, "hosts": "\n".join(template.hosts), "path": template.path, **fields, **links}


def _lines(selectors: Sequence[Selector]) -> str:
    return "\n".join(selector.written for selector in selectors)


def table_of(form: Mapping[str, str]) -> dict[str, Any]:
    """The table of a template file that the form's fields make."""
    lists = {name: [line.strip() for line in form.get(name, "").splitlines() if line.strip()]
             for name in FIELDS if name != "path"}  # fmt: skip
    table: dict[str, Any] = {"hosts": lists["hosts"], "path": form.get("path", "") or "*"}
    table |= {name: lists[name] for name in SELECTORS if lists[name]}
    by_kind = {kind: lists[f"links_{kind}"] for kind in LINK_KINDS if lists[f"links_{kind}"]}
    if by_kind:
        table["links"] = by_kind | ({"": lists["links"]} if lists["links"] else {})
    elif lists["links"]:
        table["links"] = lists["links"]
    return table


def checked(table: Mapping[str, Any]) -> Template:
    """The template in *table*.

    Raises:
        ConfigError: it has faults; the message names each.
    """
    template, faults = read_template(table)
    if template is None:
        raise ConfigError("; ".join(faults))
    return template


def written(table: Mapping[str, Any]) -> str:
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


def save(place: str, table: Mapping[str, Any], url: str) -> Path:
    """Write the template in *table*, made for the page *url*, into the folder *place*.

    Raises:
        ConfigError: it has faults, *place* is no folder, or a template of another file counts
            for the page.
        StorageError: the file cannot be written.
    """
    template, file = checked(table), file_of(place, table)
    before = file.read_bytes() if file.is_file() else None
    with growing_file(file) as part:
        part.write_text(written(table), "utf-8")
    try:
        if present_templates(place).find_for(url) == template:
            return file
    except ConfigError:
        _put_back(file, before)
        raise
    _put_back(file, before)
    text = _("the template is not for {url}, or another file in {place} has one that goes before "
             "it", url=url, place=place)  # fmt: skip
    raise ConfigError(text)


def _put_back(file: Path, before: bytes | None) -> None:
    if before is None:
        file.unlink(missing_ok=True)
    else:
        file.write_bytes(before)


def file_of(place: str, table: Mapping[str, Any]) -> Path:
    """Where the console keeps the template of the hosts and the path in *table*.

    Raises:
        ConfigError: *place* is no folder.
    """
    if not place or not Path(place).is_dir():
        text = _("QIAO_TEMPLATES names no folder, so templates cannot be saved here: make one, "
                 "name it in .env, and start the console again")  # fmt: skip
        raise ConfigError(text)
    key = json.dumps([sorted(table["hosts"]), table["path"]]).encode()
    # Letters, digits and dots: the host was checked.
    host = str(table["hosts"][0]).replace("*.", "").replace(":", "-")
    return Path(place) / f"{host}-{hashlib.blake2b(key, digest_size=4).hexdigest()}.toml"
