"""Bytes to text: declared, undeclared and wrongly declared charsets."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.text.charset import codec_of, decode_page

SIMPLIFIED = (
    "海外侨胞踊跃参加家乡建设，一批侨资项目落地，受到当地群众欢迎。"
    "记者从会上获悉，华文学校也将扩建。"
)
TRADITIONAL = (
    "海外僑胞踴躍參加家鄉建設，一批僑資項目落地，受到當地群眾歡迎。"
    "記者從會上獲悉，華文學校也將擴建。"
)
JAPANESE = "海外に住む人々が故郷の町づくりに参加し、学校も新しくなると地元の新聞が伝えている。"
LATIN = "A café owner’s naïve plan – “réunion” – became a façade: déjà vu for señor Núñez. "

REAL = {
    "gb2312": (SIMPLIFIED, "gb2312"),
    "gbk": (SIMPLIFIED + "朱镕基", "gbk"),
    "gb18030": (SIMPLIFIED + "㐂𠮷", "gb18030"),
    "big5": (TRADITIONAL, "big5hkscs"),
    "utf-8 simplified": (SIMPLIFIED + "𠮷😀", "utf-8"),
    "utf-8 traditional": (TRADITIONAL, "utf-8"),
    "shift_jis": (JAPANESE, "cp932"),
    "euc-jp": (JAPANESE, "euc_jp"),
    "windows-1252": (LATIN, "cp1252"),
}
DECLARED = ["", "gb2312", "gb18030", "big5", "utf-8", "iso-8859-1"]
# EUC-JP declared as Big5 is told from neither: both readings are everyday characters.
KNOWN_WRONG = {("big5", "euc-jp")}


@pytest.mark.parametrize("place", ["header", "meta"])
@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("real", REAL)
def test_text_is_exact_whatever_is_declared(real: str, declared: str, place: str) -> None:
    if (declared, real) in KNOWN_WRONG:
        pytest.xfail("known: two readings of everyday characters")
    text, codec = REAL[real]
    meta = f'<meta charset="{declared}">' if declared and place == "meta" else ""
    body = f"<html><head>{meta}<title>{text}</title></head><body>{text * 3}</body>".encode(codec)
    header = f"text/html; charset={declared}" if declared and place == "header" else "text/html"
    decoded = decode_page(body, header)
    assert text * 3 in decoded.text
    assert decoded.replaced == 0
    if not declared:
        assert decoded.source == "guess"


def test_the_source_of_the_decision_is_recorded() -> None:
    gbk = SIMPLIFIED.encode("gbk")
    assert decode_page(gbk, "text/html; charset=GB2312").source == "header"
    assert decode_page(b'<meta charset="gbk">' + gbk).source == "meta"
    assert decode_page(gbk, "text/html; charset=utf-8").source == "overruled"
    assert (
        decode_page(b"\xef\xbb\xbf" + SIMPLIFIED.encode(), "text/html; charset=gbk").source == "bom"
    )
    assert decode_page(SIMPLIFIED.encode("utf-16")).text == SIMPLIFIED


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("gb2312", "gb18030"), ("GBK", "gb18030"), ("x-gbk", "gb18030"), ("csgb2312", "gb18030"),
        ("iso-ir-58", "gb18030"), ("gb18030", "gb18030"), ("big5", "big5hkscs"),
        ("big5-hkscs", "big5hkscs"), ("windows-949", "cp949"), ("latin1", "cp1252"),
        ("UTF8", "utf-8"), ("nonsense", ""), ("x-user-defined", ""),
    ],
)  # fmt: skip
def test_labels_mean_what_the_web_standard_says(label: str, codec: str) -> None:
    assert codec_of(label) == codec


@pytest.mark.parametrize(
    "head",
    [
        '<!-- <meta charset="big5"> --><meta charset="gb2312">',
        "<script>document.write('<meta charset=big5>')</script><meta charset='gb2312'>",
        '<meta name="description" content="charset=big5"><meta charset=gb2312>',
        '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=gb2312">',
        '<?xml version="1.0" encoding="gb2312"?>',
        '<meta name="keywords" content="x">' + " " * 3000 + "<meta charset=gb2312>",
    ],
)
def test_only_a_real_meta_counts(head: str) -> None:
    decoded = decode_page((head + SIMPLIFIED).encode("gbk"))
    assert (decoded.charset, decoded.source) == ("gb18030", "meta")
    assert SIMPLIFIED in decoded.text


def test_a_few_broken_bytes_do_not_cost_the_declared_charset() -> None:
    body = (f"<p>{SIMPLIFIED}</p>\n" * 20).encode("gbk")
    for place in (100, 101):
        broken = body[:place] + b"\xff\xff" + body[place:]
        decoded = decode_page(broken, "text/html; charset=gbk")
        assert decoded.charset == "gb18030"
        assert 0 < decoded.replaced <= 4
        assert decoded.text.count("海外侨胞") >= 18


def test_chinese_that_lost_every_landmark_is_not_taken_for_latin() -> None:
    body = (SIMPLIFIED * 20).encode("gbk")
    decoded = decode_page(body[:101] + b"\xff\xff" + body[101:], "text/html; charset=gbk")
    assert decoded.charset == "gb18030"


@pytest.mark.parametrize("codec", ["gb18030", "utf-8"])
def test_a_page_cut_inside_a_character_loses_only_that_one(codec: str) -> None:
    body = (SIMPLIFIED + "𠮷").encode(codec)
    for cut in range(1, 4):
        decoded = decode_page(body[:-cut], f"text/html; charset={codec}")
        assert decoded.text.startswith(SIMPLIFIED)
        assert decoded.replaced <= 1
        assert decode_page(body[:-cut]).text.startswith(SIMPLIFIED)


def test_two_chinese_letters_in_gbk_that_are_valid_utf8_stay_gbk() -> None:
    assert decode_page("联通".encode("gbk"), "text/html; charset=gbk").text == "联通"


@given(st.binary(max_size=400), st.sampled_from(["", "text/html; charset=gbk", "x; charset=utf-7"]))
@settings(deadline=None)
def test_any_bytes_decode_to_text_that_can_be_stored(body: bytes, content_type: str) -> None:
    decoded = decode_page(body, content_type)
    decoded.text.encode()
    assert decoded.source in ("bom", "header", "meta", "guess", "overruled")


PAGE = (
    f"<!DOCTYPE html><html><head><title>{SIMPLIFIED[:12]}</title></head><body><p>{SIMPLIFIED}</p>"
)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "content_type", ["", "text/html; charset=utf-8", "text/html; charset=utf-16"]
)
@pytest.mark.parametrize("before", ["", "\r\n\r\n"])
def test_utf_16_without_a_mark(codec: str, content_type: str, before: str) -> None:
    decoded = decode_page((before + PAGE).encode(codec), content_type)
    assert (decoded.text, decoded.charset) == (before + PAGE, codec)


def test_zeros_are_not_always_utf_16() -> None:
    assert decode_page(b"\0" + PAGE.encode()).charset == "utf-8"


@pytest.mark.parametrize(
    ("head", "content_type"),
    [
        ("", ""),
        ("", "text/html; charset=hz-gb-2312"),
        ('<meta charset="hz-gb-2312">', "text/html"),
        ("", "text/html; charset=gb2312"),
    ],
)
def test_hz(head: str, content_type: str) -> None:
    page = f"{head}<a href=/~wang/x.html>{SIMPLIFIED}</a>\n<p>一行\n二行</p>"
    written = "".join(
        run.encode("hz").decode() if run[:1] > "\x7f" else run
        for run in re.split("([\u3000-\uffef]+)", page)
    )
    assert written.isascii()
    decoded = decode_page(written.encode(), content_type)
    assert (decoded.text, decoded.charset) == (page, "hz")


def test_runs_of_hz_may_be_left_open_and_tildes_doubled() -> None:
    run = SIMPLIFIED.replace("\n", "")[:20].encode("hz").removesuffix(b"~}")
    decoded = decode_page(run + b"\n<p>1~~2 ~\n3</p>" + run, "text/html; charset=hz-gb-2312")
    text = SIMPLIFIED.replace("\n", "")[:20]
    assert decoded.text == f"{text}\n<p>1~2 3</p>{text}"


@pytest.mark.parametrize(
    "page",
    [
        b"<p>Use ~{name~} or ~{x~} in a template; ~{color~} too.</p>" * 9,
        b"<a href=/~{user}/>x</a>",
        b"~{" * 100_000,
    ],
)
def test_ascii_with_tildes_is_no_hz(page: bytes) -> None:
    assert decode_page(page).text == page.decode()
