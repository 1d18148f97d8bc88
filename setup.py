"""What a wheel holds and asks for; all else stands in pyproject.toml.

The three folders of Scrapy and the manual stand at the top of the tree, where people look for them.
Installed, they are inside our package: nobody else's `spiders` is to meet them. What is asked for
is the first part of requirements.txt.

``scrapyd-deploy`` builds its egg with this file too.
"""

from __future__ import annotations

from pathlib import Path

from setuptools import find_packages, setup

core, _, _extras = (
    Path(__file__).with_name("requirements.txt").read_text("utf-8").partition("# --- extras")
)
lines = (line.strip() for line in core.splitlines())
folders = ("spiders", "pipelines", "middlewares", "docs", "docs/zh")
beside = {f"qiaocrawl.{folder.replace('/', '.')}": folder for folder in folders}
setup(
    packages=[*find_packages(include=["qiaocrawl", "qiaocrawl.*"]), *beside],
    package_dir=beside,
    install_requires=[line for line in lines if line and not line.startswith("#")],
)
