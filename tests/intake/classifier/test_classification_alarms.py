"""An outage raises the alarm however it is put; a case, the past, one's own machine and other people's words do not."""

from __future__ import annotations

from pathlib import Path

from bot.intake.classifier.classification import is_alarm
from bot.intake.classifier.rules import Rules
from tests.tables import read_cases

SAID = read_cases(Path(__file__).parent / "alarms.yml")
RULES = Rules()


def test_an_outage_raises_the_alarm() -> None:
    """Whether it is told or asked, with or without a mark, in every language."""
    assert [text for text in SAID["raises"] if not is_alarm(text, RULES)] == []


def test_what_concerns_nobody_else_now_raises_none() -> None:
    """Conditions, negations, the past, tests, one's own machine, quotations."""
    assert [text for text in SAID["quiet"] if is_alarm(text, RULES)] == []


def test_a_teams_own_phrases_keep_to_the_same_rules() -> None:
    """They ring, but not for a case and not for one person."""
    rules = Rules(alarm_keywords=["mars is red"])
    said = ("mars is red", "mars is red for me", "if mars is red", 'the sign "mars is red"')
    assert [is_alarm(text, rules) for text in said] == [True, False, False, False]


def test_without_a_language_its_words_raise_none() -> None:
    """A team chooses whose lists count."""
    assert not is_alarm("Zahlungen schlagen fehl", Rules(languages=["en"]))


def test_a_huge_text_is_read_in_no_time() -> None:
    """Every pattern is RE2's, and an alarm is said soon."""
    assert not is_alarm("payments are " * 20_000, RULES)
