"""jieba's dictionary, taken apart as a whole: the same as jieba reads it line by line."""

from __future__ import annotations

import jieba

from qiaocrawl.text.jieba_cutter import dictionary_entries
from qiaocrawl.vsm.usage import counts_with_beginnings, word_counts, word_tags


def test_counts_and_beginnings_are_those_jieba_reads() -> None:
    reader = jieba.Tokenizer()
    assert counts_with_beginnings() == reader.gen_pfdict(reader.get_dict_file())


def test_counts_and_tags_are_those_of_the_last_line_of_a_word() -> None:
    entries = list(dictionary_entries())
    counts, total = word_counts()
    assert counts == {word: count for word, count, _ in entries}
    assert total == sum(count for _, count, _ in entries)
    assert word_tags() == {word: tag for word, _, tag in entries}
