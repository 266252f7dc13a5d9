"""What an alert tool's message says, and which alert it is about; the forms stand in alerts.yml."""

from __future__ import annotations

import itertools
import random
import time
from pathlib import Path
from typing import Any, Final

from bot.domain.alerts import AlertState, Severity
from bot.intake.alerts import read_alert
from tests.security.hostile_text import SEEDS, text_of
from tests.tables import each_row, read_cases

_CASES: Final = read_cases(Path(__file__).with_name("alerts.yml"))
_MESSAGES: Final[list[dict[str, Any]]] = _CASES["messages"]
_TITLES: Final = [(state, title) for state, titles in _CASES["titles"].items() for title in titles]
_SECONDS_FOR_HOSTILE: Final = 10


def _alert(message: dict[str, Any], tool: str | None = None) -> Any:
    found = read_alert({"subtype": "bot_message", "bot_id": "B1", **message}, tool=tool)
    assert found is not None
    return found


@each_row("row", _MESSAGES)
def test_each_form_is_read(row: dict[str, Any]) -> None:
    """State, severity, tool and name."""
    found = _alert(row["message"])
    assert (found.state, found.severity, found.tool, found.name) == (
        AlertState(row["state"]),
        Severity(row["severity"]),
        row["tool"],
        row["name"],
    )


@each_row("state, title", _TITLES)
def test_a_line_says_its_state(state: str, title: str) -> None:
    """As text, as the title of an attachment and as a header."""
    header = {"type": "header", "text": {"type": "plain_text", "text": title}}
    shapes: list[dict[str, Any]] = [{"text": title}, {"attachments": [{"title": title}]}, {"blocks": [header]}]
    assert {_alert(shape).state for shape in shapes} == {AlertState(state)}


def test_messages_about_one_alert_share_a_fingerprint() -> None:
    """Firing, again, acknowledged and resolved are one alert; every other row is another."""
    read = [(row["alert"], _alert(row["message"]).fingerprint) for row in _MESSAGES]
    wrong = [(one, other) for (one, a), (other, b) in itertools.combinations(read, 2) if (one == other) != (a == b)]
    assert wrong == []


def test_prose_does_not_change_the_state() -> None:
    """An annotation may tell of anything."""
    prose = "resolved by hand last week, ok since; closed the incident. Status was acknowledged: see runbook"
    for row in _MESSAGES:
        if (attachments := row["message"].get("attachments")) and "title" in attachments[0]:
            first = {**attachments[0], "text": f"{attachments[0].get('text', '')}\n{prose}"}
            message = {**row["message"], "attachments": [first, *attachments[1:]]}
            assert (message, _alert(message).state) == (message, AlertState(row["state"]))


def test_the_settings_name_the_tool() -> None:
    """What the message calls itself counts where they do not."""
    message = {"username": "grafana", "text": "CPU is high"}
    assert [_alert(message).tool, _alert(message, tool="nagios").tool] == ["grafana", "nagios"]
    assert _alert({"text": "CPU is high"}, tool="PagerDuty").tool == "pagerduty"
    assert _alert(message).fingerprint != _alert(message, tool="nagios").fingerprint


def test_each_answer_to_a_form_is_a_matter_of_its_own() -> None:
    """Forms of Workflow Builder begin alike."""
    forms = [
        {"bot_profile": {"is_workflow_bot": True}, "text": f"New request\nWhat fails? {answer}"}
        for answer in ("Login", "Search", "Login")
    ]
    first, second, again = [_alert(form).fingerprint for form in forms]
    assert first != second
    assert first == again


@each_row(
    "message, is_alert",
    [
        ({"user": "U1", "text": "[FIRING:1] x"}, False),
        ({"user": "U1", "bot_id": "B1", "text": "[FIRING:1] x"}, True),
        ({"user": "U1", "app_id": "A1", "text": "[FIRING:1] x"}, True),
        ({"user": "U1", "subtype": "bot_message", "text": "[FIRING:1] x"}, True),
        ({"text": "[FIRING:1] x"}, True),
        ({"bot_id": "B1", "text": " "}, False),
        ({"bot_id": "B1"}, False),
        ({"bot_id": "B1", "attachments": [{"from_url": "https://example.com", "title": "[FIRING:1] x"}]}, False),
    ],
)
def test_only_what_a_bot_says_is_an_alert(message: dict[str, Any], is_alert: bool) -> None:
    """Words of people are none, nor is what holds nothing to read."""
    assert (read_alert(message) is not None) == is_alert


def test_hostile_messages_are_read_quickly() -> None:
    """Long texts in every place; only the beginning of each is read."""
    started = time.process_time()
    for seed in SEEDS[::10]:
        text = text_of(seed, 200_000)
        one = {"title": text, "text": text, "color": text, "fields": [{"title": text, "value": text}], "footer": text}
        read_alert({"bot_id": "B1", "attachments": [one], "username": text})
    deep: object = text_of("*a* ", 1_000)
    for _ in range(10_000):
        deep = {"type": "section", "elements": [deep]}
    read_alert({"bot_id": "B1", "blocks": [deep]})
    assert time.process_time() - started < _SECONDS_FOR_HOSTILE


def test_malformed_messages_raise_nothing() -> None:
    """Values of any type in any place."""
    keys = ["text", "type", "elements", "fields", "title", "value", "rows", "blocks", "attachments", "color", "footer"]
    leaves: list[object] = [None, 1, True, 1.5, "Resolved: x", "*a*\nb: c", "\ud800", "header", "section"]

    def grown(chance: random.Random, depth: int) -> object:
        kind = chance.random()
        if depth == 0 or kind < 0.25:
            return chance.choice(leaves)
        if kind < 0.6:
            return [grown(chance, depth - 1) for _ in range(chance.randint(0, 4))]
        return {chance.choice(keys): grown(chance, depth - 1) for _ in range(chance.randint(0, 6))}

    for seed in range(2_000):
        chance = random.Random(seed)
        read_alert({"bot_id": "B1", **{key: grown(chance, 4) for key in keys}})
