"""Lets ``scrapyd-deploy`` build an egg; everything stands in pyproject.toml."""

from __future__ import annotations

from setuptools import setup

setup()
