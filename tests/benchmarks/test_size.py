"""`python -m benchmarks size`: every file has a part, and lines are counted without what is no code."""

from __future__ import annotations

import pytest

from benchmarks.size import ROOT, NoPart, Part, code_lines, lines_by_part, part_of, read_parts, tracked_files

PARTS = (Part(name="store", budget=10, paths=("bot/",)), Part(name="proof", budget=20, paths=("bot/checks/",)))
MODULE = '''"""Says what it is."""

from os import sep  # why


def joined(names: list[str]) -> str:
    """Join the names."""
    # a remark
    return sep.join(
        names
    )
'''


def test_blanks_comments_and_docstrings_are_no_code() -> None:
    """An import, a signature and a call of three lines count."""
    assert code_lines(MODULE) == 5


def test_of_several_paths_the_longest_one_counts() -> None:
    """A folder inside another may belong to another part; a file of the same first letters belongs to none."""
    assert part_of("bot/checks/claims.py", PARTS) == "proof"
    assert part_of("bot/store.py", PARTS) == "store"
    assert part_of("bottle.py", PARTS) is None


def test_a_file_without_a_part_is_named() -> None:
    """An empty file needs none."""
    assert lines_by_part({"bot/a.py": MODULE, "handlers/__init__.py": ""}, PARTS) == {"store": 5, "proof": 0}
    with pytest.raises(NoPart, match=r"handlers/new\.py"):
        lines_by_part({"bot/a.py": MODULE, "handlers/new.py": "x = 1\n"}, PARTS)


def test_every_file_of_this_project_has_a_part_and_every_path_has_a_file() -> None:
    """A path whose last file went is taken out of the map."""
    files = [file for file in tracked_files() if file.endswith(".py") and not file.startswith("tests/")]
    parts = read_parts()
    homeless = [file for file in files if part_of(file, parts) is None]
    assert [file for file in homeless if code_lines((ROOT / file).read_text(encoding="utf-8"))] == []
    paths = [path for part in parts for path in part.paths]
    assert [path for path in paths if not any(file.startswith(path) for file in files)] == []
