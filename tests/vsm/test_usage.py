"""jieba's dictionary, taken apart as a whole: the same as jieba reads it line by line."""

from __future__ import annotations

import jieba
import pytest

from qiaocrawl.vsm import terms as looked_up
from qiaocrawl.vsm.terms import (
    DictionaryFile,
    counts_of,
    counts_with_beginnings,
    tagged_words,
    total_count,
    usage,
    word_counts,
    word_tags,
)


def test_counts_and_beginnings_are_those_jieba_reads() -> None:
    reader = jieba.Tokenizer()
    assert counts_with_beginnings() == reader.gen_pfdict(reader.get_dict_file())


def test_counts_and_tags_are_those_of_the_last_line_of_a_word() -> None:
    with jieba.get_module_res("dict.txt") as lines:
        fields = [line.decode().split() for line in lines]
    entries = [(word, int(count), tag) for word, count, tag in fields]
    counts, total = word_counts()
    assert counts == {word: count for word, count, _ in entries}
    assert total == sum(count for _, count, _ in entries)
    assert word_tags() == {word: tag for word, _, tag in entries}
    assert list(tagged_words()) == [(word, tag) for word, _, tag in entries]


def test_words_are_found_in_the_file_as_it_is() -> None:
    counts, total = word_counts()
    tags = word_tags()
    file = DictionaryFile(looked_up._read())
    assert file.total == total == total_count()
    assert [word for word in counts if file.find(word) != (counts[word], tags[word])] == []
    assert [file.find(word) for word in ("", "华", "华侨华", "\ud800", " ", "\n")] == [
        None, (counts["华"], tags["华"]), None, None, None, None,
    ]  # fmt: skip


def test_the_last_line_of_a_word_counts_and_every_line_of_the_sum() -> None:
    file = DictionaryFile("华侨 3 n\n归国华侨联合会主席团 20 nt\n华侨 14 nz".encode())
    assert file.find("华侨") == (14, "nz")
    assert file.find("归国华侨联合会主席团") == (20, "nt")
    assert file.find("归国华侨联合会主席") is None
    assert file.total == 37
    with pytest.raises(ValueError, match="three columns"):
        DictionaryFile("华侨 3\n".encode())


def test_many_words_are_looked_up_otherwise_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ["华侨", "我们", "这不是一个词"]
    few = counts_of(words), [usage(word) for word in words]
    monkeypatch.setattr(looked_up, "_MANY", 0)
    assert (counts_of(words), [usage(word) for word in words]) == few
