"""A topic pack as a folder: ``topic.toml``, ``terms.csv``, ``sites.csv``, ``samples/``."""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from qiaocrawl.errors import RowFault, TopicError
from qiaocrawl.language import _
from qiaocrawl.text.toml_file import parse_toml
from qiaocrawl.topic.check import (
    MAX_SAMPLE_NAME_CHARACTERS,
    PACK_FILE,
    SAMPLES_FOLDER,
    SITES_FILE,
    TERMS_FILE,
    closest,
    fold,
    pack_faults,
    raise_faults,
    require_valid,
)
from qiaocrawl.topic.files import read_limited, replace_folder
from qiaocrawl.topic.pack import DEFAULT_LANGUAGE, DEFAULT_THRESHOLD, Sample, TopicPack
from qiaocrawl.topic.tables import as_flag, read_sites, read_terms, write_sites, write_terms

# --- Sample documents: a text file with a small header --------------------------------------------
# ::
#
#     title: 某地侨联举办留学人员座谈会
#     relevant: yes
#
#     The body, to the end of the file.

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


def split_texts(text: str) -> list[str]:
    """Texts written one below the other, parted by lines of three or more hyphens.

    >>> parted("a\\nb\\n---\\nc\\n")
    ['a\\nb', 'c']
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return [part.strip() for part in _BETWEEN.split(lines) if part.strip()]


# --- A topic pack as a folder: ``topic.toml``, ``terms.csv``, ``sites.csv``, ``samples/`` ---------

MAX_SAMPLE_BYTES = 1024 * 1024
MAX_SAMPLES = 5_000

_TEXT_KEYS = ("name", "title", "description", "language")
_KEYS = (*_TEXT_KEYS, "threshold")
_OURS = frozenset({PACK_FILE, TERMS_FILE, SITES_FILE, SAMPLES_FOLDER})

Row = TypeVar("Row")

SHIPPED_PACKS = Path(__file__).parent / "packs"
"""Packs that come with the package; one of the same name in QIAO_TOPICS_DIR goes before."""


def pack_folders(topics_dir: Path) -> list[Path]:
    """The folders of all packs in *topics_dir* and of the shipped ones, by name."""
    found: dict[str, Path] = {}
    for directory in (topics_dir, SHIPPED_PACKS):
        for path in directory.iterdir() if directory.is_dir() else ():
            if (path / PACK_FILE).is_file():
                found.setdefault(path.name, path)
    return [path for _, path in sorted(found.items())]


def find_pack_folder(topics_dir: Path, name: str) -> Path | None:
    """The folder of the pack called *name*; None when there is none of that name."""
    return next((path for path in pack_folders(topics_dir) if path.name == name), None)


def load_pack(folder: Path) -> TopicPack:
    """The valid topic pack in *folder*. Its name is that of the folder unless topic.toml says.

    ``topic.toml`` must be there; each table and the samples may be missing (none of that).
    Files the pack does not know (a golden set, a README) are let be.

    Raises:
        TopicError: with all faults of all files; nothing is returned then.
    """
    if not folder.is_dir():
        raise TopicError(_("{folder!r} is no folder of a topic pack", folder=str(folder)))
    faults: list[RowFault] = []
    settings = _read_settings(folder / PACK_FILE, faults)
    samples = _read_samples(folder / SAMPLES_FOLDER, faults)
    pack = TopicPack(
        name=settings.get("name", folder.resolve().name),
        title=settings.get("title", ""),
        description=settings.get("description", ""),
        threshold=settings.get("threshold", DEFAULT_THRESHOLD),
        language=settings.get("language", DEFAULT_LANGUAGE),
        terms=_read_table(folder / TERMS_FILE, read_terms, faults),
        sites=_read_table(folder / SITES_FILE, read_sites, faults),
        samples=samples,
    )
    read_badly = {fault.table for fault in faults}  # judging what is left would mislead
    faults += [fault for fault in pack_faults(pack) if fault.table not in read_badly]
    raise_faults(_("topic pack {folder!r}", folder=str(folder)), faults)
    return pack


def save_pack(pack: TopicPack, folder: Path) -> None:
    """Write *pack* as *folder*, whole or not at all.

    ``load_pack`` gives the same pack back, its samples in the order of their names.
    An existing pack is replaced; files in it that belong to no pack are kept.

    Raises:
        TopicError: the pack has faults, or *folder* holds something else than a pack.
    """
    require_valid(pack)
    if folder.exists() and not folder.is_dir():
        raise TopicError(_("{folder!r} is no folder", folder=str(folder)))
    if folder.is_dir() and any(folder.iterdir()) and not (folder / PACK_FILE).is_file():
        raise TopicError(
            _(
                "{folder!r} is not empty and holds no {pack_file}; name an empty or new folder",
                folder=str(folder),
                pack_file=PACK_FILE,
            )
        )
    replace_folder(folder, lambda new: _fill(new, pack, folder))


def _fill(new: Path, pack: TopicPack, previous: Path) -> None:
    (new / PACK_FILE).write_bytes(_format_settings(pack).encode("utf-8"))
    write_terms(pack.terms, new / TERMS_FILE)
    write_sites(pack.sites, new / SITES_FILE)
    (new / SAMPLES_FOLDER).mkdir()
    for sample in pack.samples:
        (new / SAMPLES_FOLDER / f"{sample.name}.md").write_bytes(format_sample(sample))
    for entry in previous.iterdir() if previous.is_dir() else ():
        if entry.name not in _OURS:
            _copy(entry, new / entry.name)


def _copy(entry: Path, to: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.copytree(entry, to, symlinks=True)
    else:
        shutil.copy2(entry, to, follow_symlinks=False)


def _format_settings(pack: TopicPack) -> str:
    lines = [f"{key} = {_toml_text(getattr(pack, key))}" for key in _TEXT_KEYS]
    # repr of a float is its shortest exact form; TOML wants "1.0", not "1".
    lines.append(f"threshold = {float(pack.threshold)!r}")
    return "\n".join(lines) + "\n"


def _toml_text(text: str) -> str:
    # JSON's escapes are those of a TOML basic string, and valid packs hold no control
    # characters that JSON would leave bare.
    return json.dumps(text, ensure_ascii=False)


def _read_settings(path: Path, faults: list[RowFault]) -> Mapping[str, Any]:
    """The checked settings of ``topic.toml``; what is wrong goes into *faults*."""
    try:
        settings = parse_toml(read_limited(path))
    except TopicError as error:
        faults.append(RowFault(PACK_FILE, 1, str(error)))
        return {}
    except ValueError as error:
        faults.append(RowFault(PACK_FILE, 1, _("is no TOML: {error}", error=error)))
        return {}
    reasons = [
        _("unknown key {key!r}{closest}", key=key, closest=closest(key, _KEYS))
        for key in settings
        if key not in _KEYS
    ]
    reasons += [
        _("{key} must be a text in quotes, got {value!r}", key=key, value=settings[key])
        for key in _TEXT_KEYS
        if not isinstance(settings.get(key, ""), str)
    ]
    faults += [RowFault(PACK_FILE, 1, reason) for reason in reasons]
    return {} if reasons else settings


def _read_table(
    path: Path, read: Callable[[Path], tuple[Row, ...]], faults: list[RowFault]
) -> tuple[Row, ...]:
    if not path.exists():
        return ()
    try:
        return read(path)
    except TopicError as error:
        faults += error.faults or [RowFault(path.name, 1, str(error))]
        return ()


def _read_samples(folder: Path, faults: list[RowFault]) -> tuple[Sample, ...]:
    """All samples by name; hidden files (``.DS_Store``) are none."""
    if not folder.is_dir():
        return ()
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    if len(paths) > MAX_SAMPLES:
        faults.append(
            RowFault(
                SAMPLES_FOLDER, 1, _("more than {max_samples} samples", max_samples=MAX_SAMPLES)
            )
        )
        return ()
    samples = []
    for path in paths:
        try:
            samples.append(_read_sample(path))
        except (ValueError, TopicError) as error:
            faults.append(RowFault(f"{SAMPLES_FOLDER}/{path.name}", 1, str(error)))
    return tuple(sorted(samples, key=lambda sample: sample.name))


def _read_sample(path: Path) -> Sample:
    if path.suffix not in SUFFIXES:
        raise ValueError(_("a sample ends in {names}", names=" or ".join(SUFFIXES)))
    return parse_sample(path.stem, read_limited(path, MAX_SAMPLE_BYTES))
