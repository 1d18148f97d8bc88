"""Recorded webs: crawled pages kept in files, answered by URL without a network.

:func:`open_recording` reads a folder of collected pages (``graph.jsonl.xz`` beside
``pages.tar.xz`` or an unpacked ``pages/``), a WARC file or a folder of WARC files. The first
opening unpacks it into a cache file; later ones are quick and hold little in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.replay.opening import open_recording
    from qiaocrawl.replay.recording_index import Limits, RecordedPage
    from qiaocrawl.replay.web import RecordedWeb

__all__ = ["Limits", "RecordedPage", "RecordedWeb", "open_recording"]

__getattr__ = lazy_exports(
    __name__,
    {
        "opening": ("open_recording",),
        "recording_index": ("Limits", "RecordedPage"),
        "web": ("RecordedWeb",),
    },
)
