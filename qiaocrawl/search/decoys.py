"""Recognises decoys from several answers, where the words of one leave a doubt.

Titles and snippets are short: genuine hits of a term may show synonyms only, or another
language. So hits without a word of the term count as genuine unless other queries speak
against them: an engine that deceives a robot gives the same hits to different queries, or
shows the words of none of them.
"""

from __future__ import annotations

from dataclasses import replace

from qiaocrawl.search.query import WITH_HITS, Query, SearchAnswer

# Fewer hits are no evidence (ours).
_LEAST_HITS = 3
# Different terms in a row none of whose hits show a word of them, the last included (ours). Of
# genuine answers up to 15 in 100 are such (measured on 33), so one in 300 goes wrong.
_IN_A_ROW = 3


class DecoyWatch:
    """The doubtful answers of one run, by engine.

    It judges only answers that come later: one requested again is judged again.
    """

    def __init__(self) -> None:
        self._doubtful: dict[str, dict[str, frozenset[str]]] = {}

    def decide(self, query: Query, answer: SearchAnswer) -> SearchAnswer:
        """*answer* with a doubt about its words settled: a decoy, or hits whose message says so."""
        if answer.doubted is None:
            if answer.state in WITH_HITS:
                # The engine shows what it is asked for.
                self._doubtful.pop(query.engine, None)
            return answer
        urls = frozenset(hit.url for hit in answer.doubted.hits)
        if len(urls) < _LEAST_HITS:
            return answer.doubted
        row = self._doubtful.setdefault(query.engine, {})
        # Other terms only: the same query may rightly bring the same hits.
        earlier = [seen for term, seen in row.items() if term != query.term]
        row[query.term] = urls | row.get(query.term, frozenset())
        # Half of the hits for two different terms: no answer to either.
        if any(2 * len(urls & seen) >= len(urls) for seen in earlier):
            why = "as another term brought"
        elif len(earlier) + 1 >= _IN_A_ROW:
            why = f"as of {len(earlier)} terms before"
        else:
            return answer.doubted
        return replace(answer, message=f"{answer.message}, {why}", doubted=None)
