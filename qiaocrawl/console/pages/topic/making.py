"""A new topic: of a few words, or as a copy of another."""

from __future__ import annotations

import re
import time
from dataclasses import replace

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.page import EDITOR, Page
from qiaocrawl.console.state import actor_of, link
from qiaocrawl.console.work import write
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.topics.changes import with_tables
from qiaocrawl.storage.topics.topics import find_topic_id, load_pack, save_pack
from qiaocrawl.topic.check import pack_name_reason, require_valid
from qiaocrawl.topic.pack import Term, TopicPack

_BETWEEN = re.compile(r"[\s,，、;；]+")
_WORD_KIND = "core"


async def make(request: Request) -> Response:
    """Make a topic; one of that name is left alone."""
    name, title = await field(request, "name", 64), await field(request, "title", 200)
    original = await field(request, "copy_of", 64)
    words = list(dict.fromkeys(filter(None, _BETWEEN.split(await field(request, "words", 4_000)))))
    if reason := pack_name_reason(name):
        raise ConfigError(reason)
    actor = actor_of(request)

    def save(c: Connection) -> None:
        if find_topic_id(c, name) is not None:
            raise ConfigError(_("there is a topic {name!r} already", name=name))
        pack = _copy(c, original, name, title, words) if original else _of_words(
            c, name, title, words
        )  # fmt: skip
        require_valid(pack)
        save_pack(c, pack, now=time.time())
        after = {
            "title": pack.title, "copy_of": original, "terms": len(pack.terms),
            "sites": len(pack.sites), "samples": len(pack.samples),
        }  # fmt: skip
        record(c, actor, "topic.new", name, None, after)

    await write(request, save)
    return RedirectResponse(link(request, "topics.pack", topic=name), 303)


def _of_words(c: Connection, name: str, title: str, words: list[str]) -> TopicPack:
    if not words:
        raise ConfigError(_("a new topic needs a word at least, or another topic to copy"))
    return with_tables(c, name, title, _terms(words), ())[1]


def _copy(c: Connection, original: str, name: str, title: str, words: list[str]) -> TopicPack:
    """The topic *original* under another name, with *words* that it has not."""
    pack = load_pack(c, original)
    known = {term.text for term in pack.terms}
    added = _terms([word for word in words if word not in known])
    shown = title or _("{title} (copy)", title=pack.title)
    return replace(pack, name=name, title=shown, terms=(*pack.terms, *added))


def _terms(words: list[str]) -> tuple[Term, ...]:
    # As `qiaocrawl topic new --words` weighs them.
    return tuple(Term(word, _WORD_KIND) for word in words)


PAGES = (Page("/topics/new", "topics.make", make, EDITOR, "POST"),)
