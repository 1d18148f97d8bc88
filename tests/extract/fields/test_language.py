"""Language and script."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.fields.metadata import language_field, language_of
from qiaocrawl.page.page import parse_page

ENGLISH = "The hall of the old street was opened to all the people of the town on Monday. "
PORTUGUESE = "Uma nova casa foi aberta na cidade velha e todos os moradores foram convidados. "


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("侨乡新春联谊会昨天在南桥举行，许多乡亲参加。", "zh-Hans"),
        ("僑鄉新春聯誼會昨天在南橋舉行，許多鄉親參加。", "zh-Hant"),
        ("会場は大きいです。みなさんが来ました。", "ja"),
        ("오늘 새로운 회관이 문을 열었다.", "ko"),
        (ENGLISH * 3, "en"),
        (PORTUGUESE * 3, ""),
        ("", ""),
        ("12345", ""),
    ],
)
def test_by_the_letters(text: str, language: str) -> None:
    assert language_of(text) == language


def test_the_page_names_what_the_letters_leave_open() -> None:
    page = parse_page(b'<html lang="pt-BR"><p>x')
    found = language_field(page, PORTUGUESE * 3)
    assert found is not None
    assert (found.value, found.origin) == ("pt", "html lang")
    wrong = language_field(page, ENGLISH * 3)
    assert wrong is not None
    assert wrong.value == "en"
    assert language_field(parse_page(b"<p>x"), "") is None
