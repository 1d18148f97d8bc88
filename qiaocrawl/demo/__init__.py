"""A small Chinese web on loopback, generated from a seed, with known gold for every page.

One page is made in this order: :mod:`inventory` (data) and :mod:`grammar` give
:mod:`stories`; :mod:`publishing` and :mod:`reprints` place them on sites; :mod:`frame`,
:mod:`articles`, :mod:`lists`, :mod:`oddities` and :mod:`feeds` render them; :mod:`web`
answers and :mod:`server` serves; :mod:`score` compares a crawl with the gold.
"""

from __future__ import annotations
