"""Sample documents: a text file with a small header.

::

    title: 某地侨联举办留学人员座谈会
    relevant: yes

    The body, to the end of the file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping

from qiaocrawl.language import _
from qiaocrawl.topic.check import MAX_SAMPLE_NAME_CHARACTERS, closest, fold
from qiaocrawl.topic.columns import as_flag
from qiaocrawl.topic.pack import Sample

SUFFIXES = (".md", ".txt")

_FIELDS: Mapping[str, str] = {
    "title": "title",
    "标题": "title",
    "relevant": "relevant",
    "相关": "relevant",
}


_COLON = re.compile("[:\uff1a]")
_BETWEEN = re.compile(r"^[ \t]*-{3,}[ \t]*$", re.MULTILINE)


def parse_sample(name: str, data: bytes) -> Sample:
    """The sample called *name* in the bytes of its file.

    Raises:
        ValueError: no UTF-8, or a header that is missing, incomplete or misspelt.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(_("is no UTF-8 text (byte {start})", start=error.start)) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    head, _blank, body = text.partition("\n\n")
    fields = _header(head)
    missing = [field for field in ("title", "relevant") if field not in fields]
    if missing:
        raise ValueError(
            _(
                "the header lacks {names}: (before the first blank line)",
                names=" and ".join(missing),
            )
        )
    relevant = as_flag(fields["relevant"])
    if relevant is None or not fields["relevant"]:
        raise ValueError(
            _("relevant must be yes or no, got {relevant!r}", relevant=fields["relevant"])
        )
    return Sample(unicodedata.normalize("NFC", name), fields["title"], body.strip(), relevant)


def format_sample(sample: Sample) -> bytes:
    """The file of a valid sample."""
    relevant = "yes" if sample.relevant else "no"
    text = f"title: {sample.title}\nrelevant: {relevant}\n\n{sample.text}\n"
    return text.encode("utf-8")


def _header(head: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in head.split("\n"):
        name, *values = _COLON.split(line, maxsplit=1)
        field = _FIELDS.get(name.strip().lower())
        if not values or field is None:
            hint = closest(name.strip(), _FIELDS)
            raise ValueError(
                _(
                    "the header line {line!r} is none of title:, relevant:{hint}",
                    line=line[:60],
                    hint=hint,
                )
            )
        if field in fields:
            raise ValueError(_("the header names {field} twice", field=field))
        fields[field] = values[0].strip()
    return fields


def free_name(wanted: str, taken: Collection[str]) -> str:
    """A name for a sample: *wanted* as far as it can be one, numbered where it is *taken*.

    >>> free_name("某地 侨联（1）", ())
    '某地_侨联_1'
    >>> free_name("某地", ("某地",))
    '某地_2'
    """
    words = re.sub(r"[^\w-]+", "_", unicodedata.normalize("NFC", wanted)).strip("_-")
    base = words[: MAX_SAMPLE_NAME_CHARACTERS - 6] or "sample"
    used = {fold(name) for name in taken}
    number, name = 1, base
    while fold(name) in used:
        number += 1
        name = f"{base}_{number}"
    return name


def parted(text: str) -> list[str]:
    """Texts written one below the other, parted by lines of three or more hyphens.

    >>> parted("a\\nb\\n---\\nc\\n")
    ['a\\nb', 'c']
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return [part.strip() for part in _BETWEEN.split(lines) if part.strip()]
