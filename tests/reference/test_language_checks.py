"""The table of what is checked in which language is made of the lists that are used."""

from __future__ import annotations

from bot.domain.questions.risk_gate import RULES
from reference.language_checks import language_checks_part


def test_no_check_is_missing_in_any_language() -> None:
    """A zero would say that a language has no words for it."""
    lines = language_checks_part().splitlines()[2:]
    assert len(lines) > len(RULES)
    assert not [line for line in lines if " 0 " in line]
