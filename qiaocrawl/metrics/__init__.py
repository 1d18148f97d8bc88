"""Figures for monitoring, as Prometheus reads them: `qiaocrawl metrics`."""
