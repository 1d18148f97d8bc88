"""The charset faults a crawl meets: sniffing, wrong labels, cut bytes, time."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.text.charset import codec_of, declared_charset, decode_page

SIMPLIFIED = (
    "海外侨胞踊跃参加家乡建设，一批侨资项目落地，受到当地群众欢迎。"
    "记者从会上获悉，华文学校也将扩建。"
)
ENGLISH = "Overseas families came home for the opening of the new school, the café’s owner said. "

ENCODING_TESTS = Path(__file__).parents[3] / "shared/data/external/html5lib-tests/encoding"
# Their bytes are not in the charset they declare: what is declared is right there only.
DECLARED_ONLY = {"test-yahoo-jp.dat"}


def cases(name: str) -> list[tuple[bytes, str]]:
    path = ENCODING_TESTS / name
    if not path.is_file():
        pytest.skip("the public encoding tests are not on this machine")
    parts = re.split(rb"(?:\A|\n)#data\n", path.read_bytes())[1:]
    pairs = (part.partition(b"\n#encoding\n") for part in parts)
    return [(data, codec_of(rest.split(b"\n")[0].decode())) for data, _, rest in pairs]


@pytest.mark.parametrize(
    ("name", "least"),
    [("tests1.dat", 59), ("tests2.dat", 22), ("test-yahoo-jp.dat", 1), ("scripted/tests1.dat", 1)],
)
def test_the_public_sniffing_tests(name: str, least: int) -> None:
    wrong = []
    for data, expected in cases(name):
        declared = declared_charset(data)[0] or "cp1252"
        found = declared if name in DECLARED_ONLY else decode_page(data).charset
        if codecs.lookup(found) != codecs.lookup(expected):
            wrong.append((found, expected, data[:200]))
    assert wrong == []
    assert len(cases(name)) >= least


@pytest.mark.parametrize(
    ("markup", "declared"),
    [
        ('<meta charset="gbk">', "gb18030"),
        ("<META  CharSet = gbk />", "gb18030"),
        ("<meta/charset=gbk >", "gb18030"),
        ('<meta http-equiv="content-type" content="text/html; charset=gbk">', "gb18030"),
        ("<meta content='text/html;charset=\"gbk\"' http-equiv=Content-Type>", "gb18030"),
        ('<meta name="x" content="charset=gbk">', ""),
        ('<meta charset="gbk', ""),
        ("<meta charset=gbk", ""),
        ('<meta charset="nonsense"><meta charset="gbk">', "gb18030"),
        ('<p title="<meta charset=big5>"><meta charset="gbk">', "gb18030"),
        ("<!-- > <meta charset=big5> --><meta charset=gbk>", "gb18030"),
        ("<!--><meta charset=gbk>", "gb18030"),
        ('<script>var a = "<meta charset=big5>"</script><meta charset=gbk>', "gb18030"),
        ("<script>document.write('<meta charset=gbk>')</script>", "gb18030"),
        ("<script>document.write('<meta charset=\"g' + 'bk\">')</script>", "gb18030"),
        ('<?xml version="1.0" encoding="gbk"?>', "gb18030"),
        ('<meta charset="utf-16le">', "utf-8"),
        ("x" * 20_000 + '<meta charset="gbk">', "gb18030"),
        ("", ""),
    ],
)
def test_what_markup_declares(markup: str, declared: str) -> None:
    assert declared_charset(markup.encode())[0] == declared


def test_the_header_comes_before_the_markup() -> None:
    body = b'<meta charset="big5">'
    assert declared_charset(body, "text/html; charset=GB2312") == ("gb18030", "header")
    assert declared_charset(body, "text/html; charset=nonsense") == ("big5hkscs", "meta")
    assert declared_charset(b"", "text/html") == ("", "guess")


# What is declared against what the bytes are in.
DECLARED = ["", "gb2312", "gb18030", "big5", "utf-8", "iso-8859-1"]
REAL = {
    "gb2312": (SIMPLIFIED, "gb2312"),
    "gb18030": (SIMPLIFIED + "㐂𠮷", "gb18030"),
    "big5": ("海外僑胞踴躍參加家鄉建設，一批僑資項目落地，受到當地群眾歡迎。", "big5hkscs"),
    "utf-8": (SIMPLIFIED + "𠮷😀", "utf-8"),
    "shift_jis": (
        "海外に住む人々が故郷の町づくりに参加し、学校も新しくなると新聞が伝えている。",
        "cp932",
    ),
    "windows-1252": (ENGLISH, "cp1252"),
}


@pytest.mark.parametrize("place", ["header", "meta"])
def test_the_matrix_of_declared_and_real(place: str) -> None:
    exact = 0
    for declared in DECLARED:
        for text, codec in REAL.values():
            meta = f'<meta charset="{declared}">' if declared and place == "meta" else ""
            header = f"text/html; charset={declared}" if declared and place == "header" else ""
            body = f"<html><head>{meta}</head><body>{text * 3}</body>".encode(codec)
            decoded = decode_page(body, header)
            exact += text * 3 in decoded.text
            # Whatever is stored with losses says so.
            assert decoded.replaced == decoded.text.count("\ufffd")
    assert exact == len(DECLARED) * len(REAL)


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_a_byte_order_mark_comes_before_everything(mark: bytes) -> None:
    codec = {2: "utf-16-le", 3: "utf-8"}[len(mark)]
    if mark == codecs.BOM_UTF16_BE:
        codec = "utf-16-be"
    decoded = decode_page(mark + SIMPLIFIED.encode(codec), "text/html; charset=big5")
    assert (decoded.text, decoded.source) == (SIMPLIFIED, "bom")


@pytest.mark.parametrize("codec", ["gb18030", "utf-8", "big5hkscs"])
@pytest.mark.parametrize("declare", [True, False])
def test_bytes_cut_off_at_every_place(codec: str, declare: bool) -> None:
    text = REAL["big5"][0] if codec == "big5hkscs" else SIMPLIFIED + "𠮷㐂"
    body = text.encode(codec)
    header = f"text/html; charset={codec.replace('hkscs', '')}" if declare else ""
    for cut in range(len(body) // 2, len(body)):
        decoded = decode_page(body[:cut], header)
        assert decoded.text.count("\ufffd") == decoded.replaced <= 1
        assert text.startswith(decoded.text.rstrip("\ufffd"))


@pytest.mark.parametrize("text", ["𠮷", "😀", "\ue5e5 䶵", "联通"])
@pytest.mark.parametrize("codec", ["utf-8", "gb18030"])
def test_rare_characters_come_through(text: str, codec: str) -> None:
    body = f"<p>{SIMPLIFIED}{text}</p>".encode(codec)
    for header in ("", f"text/html; charset={codec}"):
        assert text in decode_page(body, header).text


def test_losses_that_a_page_came_with_are_counted() -> None:
    body = ("侨\ufffd胞" * 10).encode()
    assert decode_page(body, "text/html; charset=utf-8").replaced == 10
    assert decode_page(body, "text/html; charset=gbk").replaced == 10


@pytest.mark.parametrize("codec", ["gb18030", "koi8_r", "cp1252"])
def test_an_undeclared_giant_is_guessed_from_a_sample(codec: str) -> None:
    text = {"gb18030": SIMPLIFIED, "koi8_r": "Привет мир. ", "cp1252": ENGLISH}[codec]
    body = (text * (5_000_000 // len(text.encode(codec)))).encode(codec)
    assert decode_page(body).replaced == 0


@pytest.mark.parametrize(
    "head",
    [b"<meta " * 20_000, b"<p a='" * 20_000, b"<!--" * 30_000, b"<script>" * 20_000,
     b"<meta charset" + b" " * 100_000, b"<meta " + b"a=b " * 30_000, b"<?xml " * 20_000],
)  # fmt: skip
def test_hostile_heads_are_read_in_linear_time(head: bytes) -> None:
    declared_charset(head + b"charset \xff")
    decode_page(head + b"charset \xff")


@given(st.text(alphabet="<>/!?-=\"' \nmetascriptcharsetgbkxmlencoding", max_size=300))
@settings(deadline=None)
def test_any_head_is_read(head: str) -> None:
    charset, source = declared_charset(head.encode())
    assert (source == "guess") == (charset == "")
