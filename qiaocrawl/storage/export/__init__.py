"""Articles and pages out of the database: one module a format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.storage.export.base import Exporter, ExportReport, exporters
    from qiaocrawl.storage.export.choice import Selection

__all__ = ["ExportReport", "Exporter", "Selection", "exporters"]

__getattr__ = lazy_exports(
    __name__,
    {
        "base": ("Exporter", "ExportReport", "exporters"),
        "choice": ("Selection",),
    },
)
