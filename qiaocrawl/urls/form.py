"""The form of a URL: what pages made by one program of a site have in common.

``/2026/03/05/c_12345.html`` and ``/2025/11/20/c_99.html`` have one form; so have ``/app/?id=7``
and ``/app/?id=12``.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from qiaocrawl.urls.structure import DIGITAL, MIX, STRING, url_vector

_MOST_DIRECTORIES = 4
_MOST_NAMES = 8
_MOST_CHARS = 200
_MARKS = {STRING: "a", DIGITAL: "0", MIX: "a0"}


def url_form(url: str) -> str:
    """The form of *url* without its host, at most 200 characters **(ours)**. Never raises.

    Directories stay as they are, but numbers and dates become 0, and letters with digits a0;
    from the fifth on all become one ``*``. Of the file the kind and suffix stay, of the query
    the names.
    """
    vector = url_vector(url)
    folders = [
        part.text if part.type == STRING else _MARKS[part.type]
        for part in vector.directories[:_MOST_DIRECTORIES]
    ]
    if vector.depth > _MOST_DIRECTORIES:
        folders.append("*")
    file = vector.file
    name = _MARKS[file.ending] if file.name else ""
    if file.has_dot:
        name += f".{file.suffix}"
    form = "/" + "/".join([*folders, name])
    if file.has_parameters:
        form += "?" + "&".join(_names(url))
    return form[:_MOST_CHARS]


def _names(url: str) -> list[str]:
    try:
        pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True, max_num_fields=64)
    # Raised for more than 64 parameters too.
    except ValueError:
        return []
    return sorted({name for name, _ in pairs})[:_MOST_NAMES]
