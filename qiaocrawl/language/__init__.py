"""The language of what a person reads at the terminal: Chinese or English.

Messages stand in English where they are used, inside ``_()``; their Chinese is in
``locale/zh_CN/LC_MESSAGES/qiaocrawl.po``, which ``make messages`` brings up to date and compiles.
Log lines and stored values are English always.
"""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO

VARIABLE = "QIAO_LANG"
CHINESE, ENGLISH = "zh_CN", "en"
LANGUAGES = (CHINESE, ENGLISH)
CATALOGUE = f"locale/{CHINESE}/LC_MESSAGES/qiaocrawl.mo"
# As the C library has it: the first that is set decides.
_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
# What cron, systemd and containers run with: it names no language.
_NO_LANGUAGE = ("", "c", "posix")

# Of one request of the console: several people read at a time, each in a language of their own.
_asked_for: ContextVar[str] = ContextVar("language", default="")


@contextmanager
def using_language(name: str) -> Iterator[None]:
    """Messages of this task, and of what it starts, are in *name*; "" or unknown: as usual."""
    token = _asked_for.set(name if name in LANGUAGES else "")
    try:
        yield
    finally:
        _asked_for.reset(token)


def language() -> str:
    """``zh_CN`` or ``en``: as :func:`using_language` says, by QIAO_LANG, else by the locale.

    A locale that names no language is Chinese, for that is what operators read; one that names
    another language than Chinese is English.
    """
    chosen = _asked_for.get() or os.environ.get(VARIABLE)
    if chosen in LANGUAGES:
        return chosen
    locale = next((value for value in map(os.environ.get, _LOCALE_VARIABLES) if value), "")
    name = locale.partition(".")[0].lower()
    return CHINESE if name in _NO_LANGUAGE or name.startswith("zh") else ENGLISH


def _(message: str, /, **values: object) -> str:
    """*message* in the language of the operator, with *values* in its ``{places}``."""
    # gettext has the head of the catalogue under "".
    text = _catalogue(language()).gettext(message) if message else ""
    return text.format(**values) if values else text


def ngettext(singular: str, plural: str, count: int, /, **values: object) -> str:
    """As :func:`_`, in the form that fits *count*, which fills the place ``{count}``."""
    text = _catalogue(language()).ngettext(singular, plural, count)
    return text.format(count=count, **values)


def N_(message: str, /) -> str:  # noqa: N802 (gettext's own name for it)
    """*message* as it is: marked for the catalogue, to be translated by ``_()`` when shown."""
    return message


def choice_name(name: str, chinese: Mapping[str, str]) -> str:
    """What a word of a closed list is called; the lists of a topic have their Chinese words."""
    return chinese.get(name, name) if language() == CHINESE else name


@cache
def _catalogue(name: str) -> NullTranslations:
    # Read by the loader of the package: it may be in an egg.
    data = pkgutil.get_data(__name__, CATALOGUE) if name == CHINESE else None
    return GNUTranslations(BytesIO(data)) if data else NullTranslations()
