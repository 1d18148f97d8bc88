"""Test suites of other projects, as they publish them, are pages with gold."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from benchmarks.bodies.fixtures import fixture_pages
from benchmarks.extraction import BenchmarkError, load_fixtures

_PAGE = "<title>A day</title><h1>A day</h1><p>The first of two sentences. The second one.</p>"


def _written(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
    return path


def test_a_page_with_its_expected_html(tmp_path: Path) -> None:
    page = tmp_path / "test/test-pages/one"
    says = {"title": "A day", "byline": "By Li", "lang": "en-GB", "publishedTime": None}
    _written(page / "source.html", _PAGE)
    _written(page / "expected.html", "<div><p>The first of two</p><p>sentences.</p></div>")
    _written(page / "expected-metadata.json", json.dumps(says))
    ((row, body),) = fixture_pages(tmp_path)
    assert body.decode() == _PAGE
    assert (row["source_dataset"], row["id"], row["lang"]) == ("readability", "one", "en")
    assert (row["title"], row["author"], row["date"]) == ("A day", "By Li", None)
    assert row["text"].split() == ["The", "first", "of", "two", "sentences."]


def test_what_a_script_of_tests_expects(tmp_path: Path) -> None:
    _written(tmp_path / "fixtures/www.example.com/1.html", _PAGE)
    _written(tmp_path / "fixtures/www.example.com/2.html", _PAGE)
    test = """
      url = 'http://www.example.com/first';
      const html = fs.readFileSync('./fixtures/www.example.com/1.html');
      assert.equal(
        title,
        'It\\'s a day'
      );
      expect(author).toEqual("Li Ming");
      assert.equal(date_published, '2016-12-10T15:20:01.000Z');
      url = 'http://www.example.com/second';
      const html = fs.readFileSync('./fixtures/www.example.com/2.html');
      assert.equal(title, 'Another');
      const html = fs.readFileSync('./fixtures/www.example.com/gone.html');
    """
    _written(tmp_path / "src/extractors/custom/www.example.com/index.test.js", test)
    first, second = (row for row, _ in fixture_pages(tmp_path))
    assert first["url"] == "http://www.example.com/first"
    assert (first["title"], first["author"]) == ("It's a day", "Li Ming")
    assert (first["date"], first["text"]) == ("2016-12-10", None)
    assert (second["url"], second["title"]) == ("http://www.example.com/second", "Another")
    assert second["author"] is None


def test_records_of_a_publisher(tmp_path: Path) -> None:
    folder = tmp_path / "tests/resources/parser/test_data/cn"
    body = {
        "summary": ["概要"],
        "sections": [{"headline": ["小标题"], "paragraphs": ["第一段", "第二段"]}],
    }
    old = {"title": "旧闻", "authors": [], "publishing_date": None, "body": None}
    new = {
        "title": "新闻",
        "authors": ["林小明"],
        "publishing_date": "2024-04-25 19:30:04+08:00",
        "body": body,
    }
    _written(folder / "Paper.json", json.dumps({"V1": old, "V2": new}))
    addresses = {"Paper_2024.html.gz": {"url": "http://paper.example.cn/2"}}
    _written(folder / "meta.info", json.dumps(addresses))
    (folder / "Paper_2023.html.gz").write_bytes(gzip.compress(_PAGE.encode()))
    (folder / "Paper_2024.html.gz").write_bytes(gzip.compress(_PAGE.encode()))
    first, second = (row for row, _ in fixture_pages(tmp_path))
    assert (first["title"], first["author"], first["text"]) == ("旧闻", None, None)
    assert (second["lang"], second["url"]) == ("zh", "http://paper.example.cn/2")
    assert (second["date"], second["author"]) == ("2024-04-25", ["林小明"])
    assert second["text"] == "概要\n小标题\n第一段\n第二段"
    # With another number of pages than of versions only the newest of both are sure to meet.
    (folder / "Paper_2023.html.gz").unlink()
    assert [row["title"] for row, _ in fixture_pages(tmp_path)] == ["新闻"]


def test_they_become_pages_of_the_benchmark(tmp_path: Path) -> None:
    test_a_page_with_its_expected_html(tmp_path)
    (page,) = load_fixtures(tmp_path)
    assert (page.source, page.gold.title, page.gold.authors) == ("readability", "A day", ("By Li",))
    with pytest.raises(BenchmarkError, match="no suite of Readability, Postlight or fundus"):
        load_fixtures(tmp_path / "none")
