"""The lines of a stream: what is no event is refused; a plain line is an event as well."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import InputError
from bot.intake.event_stream import plain_event, read_event
from tests.tables import each_row

USUAL: dict[str, Any] = {
    "platform": "slack",
    "team_id": "T1",
    "chat_id": "C1",
    "message_id": "1700000000.000100",
    "create_time": "2025-01-01T00:00:00Z",
    "msg_type": "text",
    "content": "how do I ü 👍",
    "thread_id": None,
    "sender": {"id": "U1", "type": "user"},
    "mentions": ["U2"],
}
ALERT = {"tool": "grafana", "state": "firing", "name": "High load", "fingerprint": "f1", "severity": "page"}
AT = datetime(2025, 1, 1, tzinfo=UTC)


@each_row("unknown", ["[" * 250 + "]" * 250, '"\\ud83d"', '{"a": "\\"\t"}'])
def test_what_is_no_json_in_an_unknown_field_is_refused(unknown: str) -> None:
    """Nested too deeply, half a character, a control character: no line of JSON that others could read."""
    line = json.dumps(USUAL)[:-1].encode() + f', "unknown": {unknown}}}'.encode()
    with pytest.raises(InputError):
        read_event(line)


@each_row("alert, state", [(None, None), (ALERT, "firing"), ({**ALERT, "state": "resolved", "text": "x"}, "resolved")])
def test_the_state_of_an_alert_is_read(alert: dict[str, Any] | None, state: str | None) -> None:
    """The rules decide by it, not by its words."""
    assert read_event(json.dumps({**USUAL, "alert": alert}).encode()).alert_state == state


@given(st.text().filter(lambda text: text.strip()))
def test_any_plain_text_is_a_root_message(text: str) -> None:
    """With every character of its text."""
    said = text.encode("utf-8", "replace")
    event = read_event(plain_event(said, number=7, at=AT))
    assert (event.message_id, event.thread_id, event.content) == ("7.000000", None, said.decode().strip())


@each_row(
    "text, mentions",
    [("hi", []), ("<@U1> and <@W2|bo>, <@U1>?", ["U1", "W2"]), ("@U1 <@u1> <@U1", []), ("> <@U1>", [])],
)
def test_a_plain_line_mentions_as_slack_writes_it(text: str, mentions: list[str]) -> None:
    """Once each, in their order."""
    line = plain_event(text.encode(), number=1, at=AT)
    assert list(read_event(line).mentions) == mentions
