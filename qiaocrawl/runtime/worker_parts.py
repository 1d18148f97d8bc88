"""What every worker process holds, loaded once by the server of forks it comes from.

Imported by that server alone (``set_forkserver_preload``): its workers share the pages of memory,
and one that is started anew, such as for changed topics, loads none of it again. Nothing here
starts a thread.
"""

from __future__ import annotations

import gc

# What is imported stays: looking for cycles in it takes a tenth of the time.
gc.disable()

import qiaocrawl.relevance.blend  # noqa: E402
import qiaocrawl.runtime.analyse_page  # noqa: E402, F401
from qiaocrawl.dedup.fingerprints import body_fingerprints  # noqa: E402
from qiaocrawl.discovery.text_sample import text_sample  # noqa: E402
from qiaocrawl.extract.api import extract_article  # noqa: E402
from qiaocrawl.text.segment import load_spare  # noqa: E402
from qiaocrawl.vsm.terms import load_file  # noqa: E402


def _read_some_page() -> None:
    """What the first page makes (networks, tables, patterns) is made here for all workers.

    Of the usual methods; a worker with others loads those.
    """
    article = extract_article(
        "<title>侨乡博物馆开幕</title><p>侨乡博物馆今天开幕，归侨代表捐赠了家书。</p>".encode()
    )
    body_fingerprints(article.text)
    text_sample(article.text)


_read_some_page()
load_spare()
load_file()
gc.freeze()
gc.enable()
