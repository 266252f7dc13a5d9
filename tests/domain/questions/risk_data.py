"""The questions and commands of tests/data/risk; no pattern was built on every second command."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tests.tables import read_cases

DATA: Final = Path(__file__).parents[2] / "data" / "risk"


def read_risk_data(name: str) -> dict[str, Any]:
    """Return one of the files, such as "commands"."""
    table: dict[str, Any] = read_cases(DATA / f"{name}.yml")
    return table


def commands(kind: str) -> list[str]:
    """Return the commands of a kind: "risky" or "harmless"."""
    return str(read_risk_data("commands")[kind]).splitlines()
