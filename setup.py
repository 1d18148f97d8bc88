"""What a wheel asks for: the first part of requirements.txt. All else stands in pyproject.toml.

``scrapyd-deploy`` builds its egg with this file too.
"""

from __future__ import annotations

from pathlib import Path

from setuptools import setup

core, _, _extras = (
    Path(__file__).with_name("requirements.txt").read_text("utf-8").partition("# --- extras")
)
lines = (line.strip() for line in core.splitlines())
setup(install_requires=[line for line in lines if line and not line.startswith("#")])
