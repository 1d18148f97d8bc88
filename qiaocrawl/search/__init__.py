"""Meta-search: engines as data, one parser for all their answers, the order of queries.

``definition`` loads engine definitions (TOML), ``request`` builds what is sent, ``answer``
classifies what came back, ``hits`` parses its hits, ``wrapped_links`` resolves links that only the
engine knows, ``layout`` says which selectors still match. ``plan`` lists all queries: keyword x
site x engine x period; ``plan_priority`` decides which is sent first, ``engine_pauses`` which
engine gets none for now. Nothing here does network I/O.
"""
