"""Whether words stand in stored articles.

Every text is read. Full text indexes do not serve Chinese: SQLite's FTS5 takes a whole run of
characters for one word, or (``trigram``) finds nothing shorter than three; MariaDB has no parser
for it. Texts are stored packed: SQLite calls back for each, from another database they are fetched.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, func, or_, select

from qiaocrawl.storage.converters import clean_text
from qiaocrawl.storage.schema import article
from qiaocrawl.text.normalise import script_forms

_AT_A_TIME = 500


def text_conditions(
    c: Connection,
    words: Sequence[str],
    without_words: Sequence[str],
    others: Sequence[ColumnElement[bool]],
) -> list[ColumnElement[bool]]:
    """That each of *words* stands in title or text of an article, and none of *without_words*.

    Args:
        others: what an article must meet besides; where texts are fetched, only those of such.
    """
    return _conditions(c, [*map(_forms, words)], [*map(_forms, without_words)], others)


def any_word_condition(
    c: Connection, words: Sequence[str], others: Sequence[ColumnElement[bool]]
) -> list[ColumnElement[bool]]:
    """That one of *words* stands in title or text; nothing for no words. *others* as above."""
    forms = [form for word in words for form in _forms(word)]
    return _conditions(c, [forms] if forms else [], [], others)


def _conditions(
    c: Connection,
    wanted: Sequence[Sequence[str]],
    unwanted: Sequence[Sequence[str]],
    others: Sequence[ColumnElement[bool]],
) -> list[ColumnElement[bool]]:
    if not wanted and not unwanted:
        return []
    if c.dialect.name == "sqlite":
        return [*map(_says, wanted), *(~_says(forms) for forms in unwanted)]
    return [article.c.id.in_(_articles_that_say(c, wanted, unwanted, others))]


def _forms(word: str) -> Sequence[str]:
    return script_forms(clean_text(word, len(word)).lower())


def _says(forms: Sequence[str]) -> ColumnElement[bool]:
    columns = func.lowered_text(article.c.title), func.lowered_text(article.c.text)
    return or_(*(column.contains(form, autoescape=True) for column in columns for form in forms))


def _articles_that_say(
    c: Connection,
    wanted: Sequence[Sequence[str]],
    unwanted: Sequence[Sequence[str]],
    others: Sequence[ColumnElement[bool]],
) -> list[int]:
    statement = (
        select(article.c.id, article.c.title, article.c.text)
        .where(*others)
        .order_by(article.c.id)
        .limit(_AT_A_TIME)
    )
    said: list[int] = []
    after = 0
    while rows := c.execute(statement.where(article.c.id > after)).all():
        for number, title, text in rows:
            # A word that runs from the title into the text stands in neither.
            whole = f"{title}\0{text}".lower()
            if all(_stands(forms, whole) for forms in wanted) and not any(
                _stands(forms, whole) for forms in unwanted
            ):
                said.append(number)
        after = rows[-1][0]
    return said


def _stands(forms: Sequence[str], whole: str) -> bool:
    return any(form in whole for form in forms)
