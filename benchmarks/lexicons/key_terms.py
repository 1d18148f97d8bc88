"""Tags of editors that a category's texts bring up: our ranking beside plain ones."""

from __future__ import annotations

import hashlib
import json
import lzma
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import jieba.analyse

from benchmarks.crawl_orders.data import find_collections, load_collection
from qiaocrawl.items import PageText
from qiaocrawl.lexicon.build import LexiconBuilder
from qiaocrawl.lexicon.phrases import PUBLISHED_STOP_TAGS, tagged_words
from qiaocrawl.lexicon.terms import Document
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter

DEPTHS = (100, 300)
_SHORTEST_LETTERS = 200
_LEAST_TAGS = 8
_LEAST_PAGES = 2

Ranking = Callable[["Category"], list[str]]


@dataclass(frozen=True, slots=True)
class Category:
    """The texts of a topic, one half of them, and the tags that the other half bears.

    Tags that stand in none of the texts nobody could find; those on one page only are chance.
    """

    collection: str
    topic: str
    texts: tuple[PageText, ...]
    tags: frozenset[str]


def categories(data: Path) -> Iterator[Category]:
    """The categories of all collections whose pages bear tags and are Chinese."""
    for folder in find_collections(data / "focus"):
        tags_of = _tags(folder)
        collection = load_collection(folder) if tags_of else None
        for topic in collection.queries if collection else ():
            assert collection is not None
            own = [
                page
                for page, labels in zip(collection.pages, collection.labels, strict=True)
                if topic in labels and len(page.words.text) >= _SHORTEST_LETTERS
            ]
            texts = tuple(page.words for page in own if _is_read(page.url))
            whole = fold("\n".join(f"{text.title}\n{text.text}" for text in texts))
            counts = Counter(
                tag for page in own if not _is_read(page.url) for tag in tags_of.get(page.url, ())
            )
            tags = {tag for tag, n in counts.items() if n >= _LEAST_PAGES and tag in whole}
            if len(tags) >= _LEAST_TAGS:
                yield Category(folder.name, topic, texts, frozenset(tags))


def methods() -> dict[str, Ranking]:
    """Our ranking and the others, each the first 300 terms of a category."""
    return {
        "ours": _ours,
        "plain frequency": _plain_frequency,
        "TF-IDF": _tfidf,
        "jieba extract_tags": lambda one: jieba.analyse.extract_tags(_joined(one), DEPTHS[-1]),
        "jieba TextRank": lambda one: jieba.analyse.textrank(_joined(one), DEPTHS[-1]),
    }


def share_found(category: Category, terms: Sequence[str], depth: int) -> float:
    """Share of the category's tags among the first *depth* of *terms*."""
    return len(category.tags.intersection(terms[:depth])) / len(category.tags)


def _tags(folder: Path) -> dict[str, frozenset[str]]:
    """The tags of each page, folded; {} for a collection without any."""
    graph = folder / "graph.jsonl.xz"
    tags: dict[str, frozenset[str]] = {}
    with lzma.open(graph, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            label = row.get("label")
            if isinstance(label, list) and label:
                tags[row["url"]] = frozenset(fold(tag) for tag in label if len(tag) > 1)
    return tags


def _is_read(url: str) -> bool:
    return hashlib.sha1(url.encode()).digest()[0] % 2 == 0


def _ours(category: Category) -> list[str]:
    builder = LexiconBuilder()
    for text in category.texts:
        builder.add(Document(text.title, text.text))
    return [row.text for row in builder.lexicon().terms[: DEPTHS[-1]]]


def _word_lists(category: Category) -> list[list[str]]:
    """The words of each text without 副介连助叹拟声 words, marks and single letters."""
    segmenter = Segmenter()
    return [
        [
            word
            for word, tag in tagged_words(segmenter, f"{text.title}\n{text.text}")
            if len(word) > 1 and tag[:1] not in PUBLISHED_STOP_TAGS | {"x", "w", "m"}
        ]
        for text in category.texts
    ]


def _plain_frequency(category: Category) -> list[str]:
    counts = Counter(word for words in _word_lists(category) for word in words)
    return [word for word, _ in counts.most_common(DEPTHS[-1])]


def _tfidf(category: Category) -> list[str]:
    texts = _word_lists(category)
    counts = Counter(word for words in texts for word in words)
    documents = Counter(word for words in texts for word in set(words))
    weights = {
        word: count * math.log(1 + len(texts) / documents[word]) for word, count in counts.items()
    }
    return sorted(weights, key=lambda word: (-weights[word], word))[: DEPTHS[-1]]


def _joined(category: Category) -> str:
    return fold("\n".join(f"{text.title}\n{text.text}" for text in category.texts))
