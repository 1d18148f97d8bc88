"""Scrapy's commands as this project has them (COMMANDS_MODULE); each file is one command."""

from __future__ import annotations

# While this is loaded Scrapy looks, for each frame of the stack, at all modules there are: from
# here, where a start begins, a start takes a fifth less processor time than from a spider.
import scrapy.core.downloader.contextfactory  # noqa: F401
