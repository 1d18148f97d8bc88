"""Articles and pages out of the database: one module a format."""

from __future__ import annotations

from qiaocrawl.storage.export.base import Exporter, ExportReport, exporters
from qiaocrawl.storage.export.choice import Selection

__all__ = ["ExportReport", "Exporter", "Selection", "exporters"]
