"""Recorded webs: crawled pages kept in files, answered by URL without a network.

:func:`open_recording` reads a folder of collected pages (``graph.jsonl.xz`` beside
``pages.tar.xz`` or an unpacked ``pages/``), a WARC file or a folder of WARC files. The first
opening unpacks it into a cache file; later ones are quick and hold little in memory.
"""

from __future__ import annotations
