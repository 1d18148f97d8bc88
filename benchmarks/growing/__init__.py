"""The parts of ``benchmarks/growth.py``: a store that grows, what it costs, its picture."""
