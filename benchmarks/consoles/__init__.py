"""The parts of ``benchmarks/console.py``: a generated collection, pages asked for, Datasette."""
