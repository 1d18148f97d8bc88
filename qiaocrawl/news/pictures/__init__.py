"""Pictures of what the news mean, as SVG."""
