"""docs/topics.md tells every column, header, kind and command there is, and its example works."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from qiaocrawl.topic.folder import load_pack
from qiaocrawl.topic.pack import ROLES, SITE_KINDS, TERM_KINDS
from qiaocrawl.topic.tables import DIGEST_COLUMNS, GOLDEN_COLUMNS, SITE_COLUMNS, TERM_COLUMNS

DOCS = (Path(__file__).parents[2] / "docs" / "topics.md").read_text(encoding="utf-8")


def _section(heading: str) -> str:
    return DOCS.split(f"### {heading}\n")[1].split("\n#")[0]


@pytest.mark.parametrize(
    ("heading", "columns"),
    [
        ("terms.csv", TERM_COLUMNS),
        ("sites.csv", SITE_COLUMNS),
        ("golden.csv", GOLDEN_COLUMNS),
        ("golden_digests.csv", DIGEST_COLUMNS),
    ],
)
def test_every_column_is_told_with_all_its_headers(
    heading: str, columns: dict[str, tuple[str, ...]]
) -> None:
    section = _section(heading)
    for name, also in columns.items():
        assert f"| `{name}` | {', '.join(also)} |" in section


@pytest.mark.parametrize(
    ("heading", "kinds"), [("terms.csv", TERM_KINDS), ("sites.csv", SITE_KINDS)]
)
def test_every_kind_is_told_in_both_languages(heading: str, kinds: dict[str, str]) -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", _section(heading), re.MULTILINE))
    assert {kind: told.get(kind) for kind in kinds} == kinds


def test_both_roles_are_told() -> None:
    for role, chinese in ROLES.items():
        assert f"`{role}` {chinese}" in DOCS


def test_the_five_lines_make_a_pack(tmp_path: Path) -> None:
    script = DOCS.split("```sh\n")[1].split("```")[0]
    assert script.count("\n") == 5
    without_import = "\n".join(script.splitlines()[:4])
    subprocess.run(["sh", "-ec", without_import], cwd=tmp_path, check=True)
    pack = load_pack(tmp_path / "topics" / "wenlv")
    assert (pack.title, len(pack.terms), pack.sites[0].role) == ("文旅", 2, "authoritative")
