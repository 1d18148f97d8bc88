"""Texts come back as they were, however they were packed, and take less room."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, select, text, update

from qiaocrawl.storage import Database, packed_text
from qiaocrawl.storage.packed_text import compress, pack_html, pack_text, unpack_html, unpack_text
from qiaocrawl.storage.pages.revisions import note_withdrawn, revisions_of
from qiaocrawl.storage.schema import article
from qiaocrawl.storage.selection import Selection, article_conditions
from qiaocrawl.storage.upkeep import Packed, count_texts, pack_texts
from qiaocrawl.text.zstd import zstd
from storage_samples import NOW, add_article, add_topic

_CHINESE = (
    "省侨务办公室昨日举行座谈会，邀请来自十二个国家和地区的侨胞代表参加。与会代表围绕家乡建设、"
    "文化交流和子女教育等问题发言，建议进一步完善服务机制。会议由办公室负责人主持。"
)
_ENGLISH = (
    "The office met representatives from twelve countries yesterday. They spoke about the "
    "schools, the town and what should be done for those who come back."
)
# What versions of GB 18030 disagree on, what they have no place for, and what ends a text.
_ODD = (
    "",
    "侨",
    "\ue5e5",
    "\u1e3f",
    "\ufe10",
    "\u9fb4",
    "𠮷",
    "😀",
    "\x81",
    "(\u00b5",
    "a\0b",
    " \n",
)


@pytest.mark.parametrize("body", [*_ODD, *(_CHINESE + odd for odd in _ODD), _ENGLISH, _ENGLISH * 9])
def test_texts_come_back(body: str) -> None:
    stored = pack_text(body)
    assert unpack_text(stored) == body
    html = f"<p>{body}</p>\n<h2>{body}</h2>"
    markup = pack_html(html, body)
    assert markup is not None
    assert unpack_html(markup, body) == html


@given(st.text(), st.text())
def test_any_text_comes_back(body: str, more: str) -> None:
    for said in (body, _CHINESE + body, _ENGLISH + body):
        packed = pack_html(said + more, said)
        assert unpack_text(pack_text(said)) == said
        assert unpack_html(packed, said) == said + more


def test_packed_texts_are_small() -> None:
    assert len(pack_text(_CHINESE)) < 0.5 * len(_CHINESE.encode())
    assert len(pack_text(_ENGLISH)) < 0.8 * len(_ENGLISH)
    html = "".join(f"<p>{part}。</p>" for part in _CHINESE.split("。"))
    packed = pack_html(html, _CHINESE)
    assert packed is not None
    assert len(packed) < 60


def test_what_earlier_versions_stored_is_read() -> None:
    assert unpack_text(_CHINESE) == _CHINESE
    assert unpack_text(_CHINESE.encode()) == _CHINESE
    assert unpack_text(None) == ""
    assert unpack_html(compress(b"<p>old</p>"), "whatever") == "<p>old</p>"
    assert unpack_html(None, _CHINESE) == ""


def test_markup_beside_another_text_is_an_error() -> None:
    packed = pack_html(f"<p>{_CHINESE}</p>", _CHINESE)
    with pytest.raises(zstd.ZstdError):
        unpack_html(packed, _CHINESE.replace("侨", "乔"))


def test_released_dictionaries_never_change() -> None:
    """Rows were packed with them: a better one is another file and another format."""
    folder = Path(packed_text.__file__).parent / "data"
    digests = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in folder.glob("words_*.xz")
    }
    assert digests == {"words_zh_1.xz": "e504d964cb729ad8", "words_en_1.xz": "e5318fad9bbe9978"}


def _store_as_before(c: Connection, *, is_mysql: bool) -> None:
    """Two articles with a revision, as a version without packing left them."""
    for name in ("1", "2"):
        add_article(c, name, title=f"标题{name}", body=_CHINESE + name)
    said = _CHINESE + "旧"
    stored = said.encode() if is_mysql else said
    c.execute(text("UPDATE article SET text = :text"), {"text": stored})
    c.execute(update(article).values(html=compress(f"<p>{said}</p>".encode())))


def test_old_texts_are_packed_once_and_read_before_and_after(database: Database) -> None:
    add_topic(database)
    is_mysql = database.engine.dialect.name != "sqlite"
    with database.engine.begin() as c:
        _store_as_before(c, is_mysql=is_mysql)
        assert note_withdrawn(c, 1, "no article", now=NOW)
        texts = count_texts(c)
        before = _read(c)
    looked_at: list[int] = []
    done = pack_texts(database, looked_at.append)
    assert (done.rows, done.packed, sum(looked_at), texts) == (3, 3, 3, 3)
    assert done.after < 0.6 * done.before
    assert pack_texts(database, looked_at.append) == Packed(rows=texts)
    with database.engine.begin() as c:
        assert _read(c) == before
        assert [one.text for one in revisions_of(c, 1)] == [_CHINESE + "旧"]


def _read(c: Connection) -> list[tuple[str, str]]:
    rows = c.execute(select(article.c.text, article.c.html).order_by(article.c.id)).all()
    return [(said, unpack_html(html, said)) for said, html in rows]


def test_words_are_found_in_packed_texts(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        add_article(c, "1", title="座谈会", body=_CHINESE)
        add_article(c, "2", title="Meeting 100%", body=_ENGLISH)

        def found(**wanted: tuple[str, ...]) -> list[int]:
            conditions = article_conditions(c, Selection(**wanted))  # type: ignore[arg-type]
            return list(c.execute(select(article.c.id).where(*conditions)).scalars())

        assert found(words=("侨胞代表",)) == found(words=("僑胞代表",)) == [1]
        assert found(words=("SCHOOLS",)) == found(words=("0%",)) == [2]
        assert found(words=("侨胞", "schools")) == []
        assert found(without_words=("侨胞",)) == [2]
        assert found(words=("座谈会省侨务",)) == [], "no word runs from title to text"
