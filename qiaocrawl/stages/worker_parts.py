"""What every worker process holds, loaded once by the server of forks it comes from.

Imported by that server alone (``set_forkserver_preload``): its workers share the pages of memory,
and one that is started anew, such as for changed topics, loads none of it again. Nothing here
starts a thread.
"""

from __future__ import annotations

import gc

# What is imported stays: looking for cycles in it takes a tenth of the time.
gc.disable()

import qiaocrawl.stages.analyse_page  # noqa: E402, F401
from qiaocrawl.text.rjieba_cutter import load_spare  # noqa: E402
from qiaocrawl.vsm.usage import load_file  # noqa: E402

load_spare()
load_file()
gc.freeze()
gc.enable()
