"""The parts of ``benchmarks/crawl.py``: crawls that are counted, the peers, stages of a page."""
