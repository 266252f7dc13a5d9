"""What is said to somebody who types a command of an earlier release."""

from __future__ import annotations

import pytest

from bot.__main__ import main
from tests.tables import each_row


@each_row("removed, instead", [("review", "metrics --days 7")])
def test_a_removed_command_names_what_to_type_instead(
    removed: str, instead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It does nothing else, and its exit code is that of any unknown command."""
    assert main([removed]) == 2
    assert f"Did you mean `triage {instead}`?" in " ".join(capsys.readouterr().err.split())
