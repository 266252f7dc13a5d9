"""How a table runs inside one test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tables import each_row


def test_every_wrong_row_is_told() -> None:
    """One failure holds all of them, each with its row."""

    @each_row("number, square", [(1, 1), (2, 5), (3, 9), (4, 17)])
    def squares(number: int, square: int) -> None:
        assert number**2 == square

    with pytest.raises(ExceptionGroup, match="2 of 4 rows") as caught:
        squares()
    assert [error.__notes__ for error in caught.value.exceptions] == [["row 1: (2, 5)"], ["row 3: (4, 17)"]]


def test_each_row_has_a_folder_of_its_own(tmp_path: Path) -> None:
    """What one row writes, the next one does not see."""
    seen = []

    @each_row("name", ["a", "b"])
    def writes(name: str, tmp_path: Path) -> None:
        (tmp_path / name).touch()
        seen.append([path.name for path in tmp_path.iterdir()])

    writes(tmp_path=tmp_path)
    assert seen == [["a"], ["b"]]


def test_a_table_without_rows_is_refused() -> None:
    """It would pass whatever the test says."""
    with pytest.raises(AssertionError):
        each_row("name", [])
