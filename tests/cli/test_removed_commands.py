"""What is said to somebody who types a command or an option of an earlier release."""

from __future__ import annotations

import pytest

from bot.__main__ import main
from tests.tables import each_row


@each_row(
    "removed, instead",
    [
        ("autonomy", "metrics --autonomy"),
        ("eval", "backtest"),
        ("files", "notes"),
        ("replay", "backtest"),
        ("review", "metrics"),
        ("schema", "migrate --schema"),
    ],
)
def test_a_removed_command_names_what_to_type_instead(
    removed: str, instead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It does nothing else, and its exit code is that of any unknown command."""
    assert main([removed]) == 2
    assert f"Did you mean `triage {instead}`?" in " ".join(capsys.readouterr().err.split())


@each_row(
    "typed, said",
    [
        ("metrics --train", "--train was removed: classifier.threshold"),
        ("metrics --weeks", "--weeks was removed: triage metrics --days 7"),
        ("metrics --rebuild", "--rebuild was removed: triage metrics reads the journals"),
        ("metrics --picture", "--picture was removed: triage metrics --days 7"),
        ("demo --teams", "--teams was removed: several teams"),
        ("metrics --judge", "--judge was removed: the page of triage backtest"),
    ],
)
def test_a_removed_option_says_what_is_so_instead(typed: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No other option is offered, and nothing is done."""
    assert main(typed.split()) == 2
    assert said in " ".join(capsys.readouterr().err.split())
