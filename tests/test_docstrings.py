"""The examples in docstrings are true.

pytest's `--doctest-modules` would look through every module and every test for them, again in each worker.
"""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path
from typing import Final

from tests.tables import each_row

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("bot", "blocks", "handlers", "demo", "reference", "benchmarks", "tests")
FOUND: Final = [
    path.relative_to(ROOT)
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if not path.name.startswith("test_") and b"    >>> " in path.read_bytes()
]
FOLDERS: Final = sorted({path.parent for path in FOUND})


@each_row("folder", FOLDERS)
def test_the_examples_of_a_folder_are_true(folder: Path) -> None:
    """What each prints instead is said above."""
    results = {path.name: _tried(path) for path in FOUND if path.parent == folder}
    assert all(result.attempted for result in results.values()), results
    assert not [name for name, result in results.items() if result.failed]


def _tried(path: Path) -> doctest.TestResults:
    """Run a module's examples; those that fail are printed with what they gave."""
    return doctest.testmod(import_module(".".join(path.with_suffix("").parts)))
