"""The pages, a module an area: each calls the library and gives a template what came of it."""

from __future__ import annotations
