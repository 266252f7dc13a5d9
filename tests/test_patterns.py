"""Regular expressions mean the same to every Python the package allows."""

from __future__ import annotations

import re
from pathlib import Path

from tests.tables import each_row

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "handlers", "blocks", "demo")
_POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{+[0-9,]+\}+)\+")


@each_row("package", PACKAGES)
def test_no_group_is_repeated_possessively(package: str) -> None:
    """`(…)*+` matches too little before Python 3.11.5 (gh-106052), and Debian 12 has 3.11.2; `(?>(…)*)` is right."""
    sources = sorted(path for path in (ROOT / package).rglob("*") if path.suffix in {".py", ".yml"})
    assert sources
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if _POSSESSIVE_GROUP.search(line)
    ]
    assert found == []
