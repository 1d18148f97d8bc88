"""The full text index in its folder: tantivy, with tokens of ours for Chinese."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tantivy

from qiaocrawl.errors import StorageError
from qiaocrawl.language import _
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter

if TYPE_CHECKING:
    from qiaocrawl.reading.evidence import ChangedArticle

# --- Texts as tokens: pairs of Chinese characters, whole words of other scripts -------------------
# Any run of two or more characters is found, whether a dictionary has it or not: it is a row of
# pairs (侨务工作: 侨务 务工 工作). The last character of a run stands by itself as well, so that
# rows of two runs never touch and a single character is the beginning of some token.

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(f"([{_HAN}]+)|([^\\W_{_HAN}]+)")
_TERM = re.compile(r'(-?)(?:"([^"]+)"|“([^”]+)”|(\S+))')
MAX_TERMS, MAX_TERM_CHARS = 20, 100
"""Of what is searched for; the rest is left out."""


@dataclass(frozen=True, slots=True)
class Term:
    """One thing searched for: a row of tokens that stand side by side.

    Attributes:
        text: as it was written, without quotes.
        is_open: the last token is only the beginning of one.
        is_unwanted: written with ``-`` before it.
    """

    text: str
    tokens: tuple[str, ...]
    is_open: bool
    is_unwanted: bool


def tokens(text: str) -> list[str]:
    """The tokens of *text*, in their order."""
    row: list[str] = []
    for han, other in _RUN.findall(fold(text)):
        if han:
            row += map(add, han, han[1:])
            row.append(han[-1])
        else:
            row.append(other)
    return row


def terms(searched: str) -> list[Term]:
    """What *searched* asks for: words apart by spaces, ``"a phrase"``, ``-not this``."""
    found = []
    for minus, *texts in _TERM.findall(searched):
        text = "".join(texts)[:MAX_TERM_CHARS]
        row = tuple(tokens(text))
        if not row:
            continue
        last = _RUN.findall(fold(text))[-1][0]
        is_single = len(last) == 1
        # The end of what is searched for is seldom the end of a run of the text.
        closed = row[:-1] if last and not is_single else row
        found.append(Term(text, closed, is_single, bool(minus)))
    return found[:MAX_TERMS]


VERSION = 1
"""Of what is indexed and how; a folder of another version is built anew."""
MOST_MATCHES = 10_000
"""Of a search, the newest or best, that are handed on."""
_WRITER_BYTES = 64_000_000
_TITLE_BOOST = 3.0
_WORD_BOOST = 0.5
_STATE_FILE = "state.json"


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the index has followed the database.

    Attributes:
        watermark: ``updated_at`` of the newest article in it, "" for none.
        revision: the last revision that was looked at.
        built: names the build, for a process that has an earlier one open.
    """

    version: int = VERSION
    watermark: str = ""
    revision: int = 0
    built: str = ""


@dataclass(frozen=True, slots=True)
class Matches:
    """Articles a search finds, at most ``MOST_MATCHES``, and how many there are in all."""

    article_ids: tuple[int, ...]
    total: int


def read_state(folder: Path) -> IndexState | None:
    """The state of the index in *folder*; None where there is none of this version."""
    try:
        state = IndexState(**json.loads((folder / _STATE_FILE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return state if state.version == VERSION else None


def remove(folder: Path) -> None:
    """Delete an index, so that the next one begins anew."""
    shutil.rmtree(folder, ignore_errors=True)


class FullTextIndex:
    """The index in a folder; use it from one thread at a time."""

    def __init__(self, folder: Path) -> None:
        """Open the index in *folder*, or begin one.

        Raises:
            StorageError: the folder cannot be used, or what is in it is damaged.
        """
        self._folder = folder
        self._schema = _schema()
        try:
            folder.mkdir(0o700, parents=True, exist_ok=True)
            self._index = tantivy.Index(self._schema, str(folder), reuse=True)
        except (OSError, ValueError) as error:
            raise _unusable(folder, error) from error
        analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer("spaced", analyzer)
        self._segmenter = Segmenter((), "rjieba")
        self.state = read_state(folder) or IndexState()

    @property
    def articles(self) -> int:
        """How many are in it."""
        self._index.reload()
        return int(self._index.searcher().num_docs)

    def write(
        self, articles: Iterable[ChangedArticle], removed: Iterable[int], state: IndexState
    ) -> None:
        """Put articles in, in place of what was there at their URLs, and take others out.

        Args:
            removed: rows of URLs that have no article any more.
            state: what is true afterwards.

        Raises:
            StorageError: another process writes it, or the disk is full.
        """
        try:
            writer = self._index.writer(_WRITER_BYTES, 1)
            for url_id in removed:
                writer.delete_documents_by_term("url_id", url_id)
            for article in articles:
                writer.delete_documents_by_term("url_id", article.url_id)
                writer.add_document(self._document(article))
            writer.commit()
            writer.wait_merging_threads()
            self._index.reload()
            self._save(state)
        except (OSError, ValueError) as error:
            raise _unusable(self._folder, error) from error

    def search(
        self, wanted: Sequence[Term], *, newest_first: bool, most: int | None = MOST_MATCHES
    ) -> Matches:
        """The articles that hold all *wanted* terms and none of the unwanted.

        Args:
            most: ids at most; None for all.

        Raises:
            StorageError: the index is damaged.
        """
        if not wanted:
            return Matches((), 0)
        # Among articles that only lack words none is better than another.
        newest_first = newest_first or all(term.is_unwanted for term in wanted)
        try:
            # Another process may have written since.
            self._index.reload()
            searcher = self._index.searcher()
            result: Any = searcher.search(
                self._query(wanted),
                limit=most or max(int(searcher.num_docs), 1),
                count=True,
                order_by_field="fetched" if newest_first else None,
            )
            addresses = [address for _score, address in result.hits]
            ids: Any = searcher.fast_field_values("id", addresses) if addresses else []
        except (OSError, ValueError) as error:
            raise _unusable(self._folder, error) from error
        return Matches(tuple(int(value) for value in ids), int(result.count or 0))

    def _document(self, article: ChangedArticle) -> tantivy.Document:
        words = self._segmenter.terms(f"{article.title}\n{article.text}")
        document = tantivy.Document()
        document.add_integer("id", article.id)
        document.add_integer("url_id", article.url_id)
        document.add_integer("fetched", int(article.fetched_at.replace(tzinfo=UTC).timestamp()))
        document.add_text("title", " ".join(tokens(article.title)))
        document.add_text("text", " ".join(tokens(article.text)))
        document.add_text("words", " ".join(word for word in words if not word.isspace()))
        return document

    def _query(self, wanted: Sequence[Term]) -> tantivy.Query:
        parts = []
        if all(term.is_unwanted for term in wanted):
            parts.append((tantivy.Occur.Must, tantivy.Query.all_query()))
        for term in wanted:
            occur = tantivy.Occur.MustNot if term.is_unwanted else tantivy.Occur.Must
            title = tantivy.Query.boost_query(self._row(term, "title"), _TITLE_BOOST)
            either = [
                (tantivy.Occur.Should, title),
                (tantivy.Occur.Should, self._row(term, "text")),
            ]
            parts.append((occur, tantivy.Query.boolean_query(either)))
            if not term.is_unwanted:
                # A text that has it as words is a better match than one where they only meet.
                for word in self._segmenter.terms(term.text):
                    as_word = tantivy.Query.term_query(self._schema, "words", word, "freq")
                    boosted = tantivy.Query.boost_query(as_word, _WORD_BOOST)
                    parts.append((tantivy.Occur.Should, boosted))
        return tantivy.Query.boolean_query(parts)

    def _row(self, term: Term, name: str) -> tantivy.Query:
        """Documents in whose field *name* the tokens of *term* stand side by side."""
        *before, last = term.tokens
        if not term.is_open:
            if not before:
                return tantivy.Query.term_query(self._schema, name, last)
            return tantivy.Query.phrase_query(self._schema, name, list(term.tokens))
        if not before:
            # One Chinese character has no meaning in a regular expression.
            return tantivy.Query.regex_query(self._schema, name, f"{last}.?")
        return tantivy.Query.phrase_prefix_query(self._schema, name, list(term.tokens))

    def _save(self, state: IndexState) -> None:
        part = self._folder / f"{_STATE_FILE}.part"
        part.write_text(json.dumps(asdict(state)), "utf-8")
        os.replace(part, self._folder / _STATE_FILE)
        self.state = state


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", fast=True)
    # Signed: nothing is deleted by the value of an unsigned one (tantivy 0.27).
    builder.add_integer_field("url_id", indexed=True)
    builder.add_integer_field("fetched", fast=True)
    builder.add_text_field("title", tokenizer_name="spaced", index_option="position")
    builder.add_text_field("text", tokenizer_name="spaced", index_option="position")
    builder.add_text_field("words", tokenizer_name="spaced", index_option="freq")
    return builder.build()


def _unusable(folder: Path, error: Exception) -> StorageError:
    return StorageError(
        _("search index {folder!r}: {error}", folder=str(folder), error=str(error)[:300])
    )
