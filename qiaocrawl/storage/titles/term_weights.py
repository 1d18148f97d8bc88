"""Title term weights over the whole collection (Q6)."""

from __future__ import annotations

import math

from sqlalchemy import Connection

from qiaocrawl.storage.raw_sql import Statement, upsert

_ARTICLES = Statement("SELECT COUNT(DISTINCT article_id), MAX(article_id) FROM title_term")
_FREQUENCIES = Statement("SELECT term, COUNT(*) FROM title_term GROUP BY term ORDER BY term")
_CLEAR = Statement("DELETE FROM term_weight")
# Workers that end together rebuild together: rows another inserted since we cleared the table
# are overwritten, which is right since both counted the same titles.
_ADD = upsert("term_weight", "term, df, weight", key="term", change="df, weight")
# UPDATE with a subquery rather than a join: SQLite and MariaDB write joins in UPDATE differently.
_APPLY = Statement(
    "UPDATE title_term SET weight = count *"
    " (SELECT w.weight FROM term_weight w WHERE w.term = title_term.term)"
    " WHERE article_id > :after AND article_id <= :upto"
)
# A statement over millions of rows would outlast the connection's time-out.
_ARTICLES_AT_A_TIME = 20_000
_TERMS_AT_A_TIME = 5_000


def rebuild_term_weights(c: Connection) -> int:
    """Compute every term's ln(N/df) and every title term's tf · ln(N/df); returns the terms.

    N counts articles with a segmented title, df those whose title has the term. Linear in the
    title terms; meant for batches, not for every article.
    """
    articles, last = _ARTICLES.run(c).fetchone()
    rows = [
        # max(): a title may be stored between the two counts.
        {"term": term, "df": df, "weight": math.log(max(articles, df) / df)}
        for term, df in _FREQUENCIES.run(c).fetchall()
    ]
    # Terms that no title has any more would keep their old weight otherwise.
    _CLEAR.run(c)
    for start in range(0, len(rows), _TERMS_AT_A_TIME):
        _ADD.run_many(c, rows[start : start + _TERMS_AT_A_TIME])
    for after in range(0, last or 0, _ARTICLES_AT_A_TIME):
        _APPLY.run(c, {"after": after, "upto": after + _ARTICLES_AT_A_TIME})
    return len(rows)
