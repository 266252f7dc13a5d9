"""Tables of cases: read from YAML with libyaml, and run row by row inside one test."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SHOWN_CHARS: Final = 300
_TIMEOUT: Final = "Timeout (>"
"""How pytest-timeout begins what it fails a test with; it would not ring again for the rows that are left."""


def read_cases(path: Path) -> Any:
    """Return what a table says."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)


def each_row(names: str, rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test on every row of a table, as one test: its failure holds every row that is wrong.

    Args:
        names: The parameters that a row fills, with commas between them.
        rows: The rows: tuples, or single values where there is one parameter. Fixtures are the same for all of them, so
            one that remembers what a row did needs `parametrize` instead. But `tmp_path` is a folder for each row, and
            `caplog` is empty before it.
    """
    keys = [name.strip() for name in names.split(",")]
    table = [row if len(keys) > 1 else (row,) for row in rows]
    assert table, "a table without rows tests nothing"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            wrong = []
            for number, row in enumerate(table):
                try:
                    test(**_fixtures_of_row(fixtures, number), **dict(zip(keys, row, strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    if str(error).startswith(_TIMEOUT):
                        raise
                    failure = error if isinstance(error, Exception) else AssertionError(str(error))
                    failure.add_note(f"row {number}: {repr(row)[:_SHOWN_CHARS]}")
                    wrong.append(failure)
            if wrong:
                raise ExceptionGroup(f"{len(wrong)} of {len(table)} rows", wrong)

        left = [one for one in inspect.signature(test).parameters.values() if one.name not in keys]
        del run.__wrapped__  # pytest would ask for the row's parameters as fixtures
        run.__signature__ = inspect.Signature(left)  # type: ignore[attr-defined]
        return run

    return decorate


def _fixtures_of_row(fixtures: dict[str, Any], number: int) -> dict[str, Any]:
    if "caplog" in fixtures:
        fixtures["caplog"].clear()
    if "tmp_path" not in fixtures:
        return fixtures
    folder = fixtures["tmp_path"] / f"row{number}"
    folder.mkdir()
    return {**fixtures, "tmp_path": folder}
