"""What is said to somebody who types a command of an earlier release, or an option that only Slack has."""

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


@each_row("option", ["--arm", "--disarm"])
def test_the_switch_of_automatic_replies_is_typed_in_slack(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is done, and what to type there is said."""
    assert main(["metrics", option]) == 2
    assert f"an approver types `/triage metrics {option}` there" in " ".join(capsys.readouterr().err.split())
