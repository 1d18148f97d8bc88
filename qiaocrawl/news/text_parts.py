"""What every process that reads stored texts holds, loaded once by the server they come from.

Imported by that server alone (``set_forkserver_preload``), so that processes share the memory of
dictionaries, the tagger's model and the gazetteer. Nothing here starts a thread.
"""

from __future__ import annotations

import gc

# What is loaded stays: looking for cycles in it takes a tenth of the time.
gc.disable()

from qiaocrawl.news.names.stored import names_in_articles  # noqa: E402
from qiaocrawl.news.stories.terms import terms_of_texts  # noqa: E402

_TITLE, _BODY = "侨乡博物馆开幕", "侨乡博物馆今天在泉州开幕，归侨代表王小明捐赠了家书。"

terms_of_texts([(_TITLE, _BODY)], ())
names_in_articles([(0, _TITLE, _BODY)], ())
gc.freeze()
gc.enable()
