"""The lines of a stream: what is read without pydantic is what pydantic reads; a plain line is an event as well."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.domain.events import Event
from bot.domain.messages import Message
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
TIMES = (
    "2024-02-29T23:59:59.123456-05:30",
    "2025-02-29T00:00:00Z",
    "2025-13-01T00:00:00Z",
    "2025-01-01T00:00:00",
    "2025-01-01T24:00:00Z",
    "2025-01-01T00:00:00+24:00",
    "2025-01-01T00:00:00.1234567Z",
    "2025-01-01t00:00:00z",
    "2025-001-T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "noon",
)
SENDERS = ("U1", {}, {"id": 1}, {"id": "U1"}, {"id": "B1", "type": "bot"}, {"id": "U1", "type": "cat", "name": "x"})
ALERT = {"tool": "grafana", "state": "firing", "name": "High load", "fingerprint": "f1", "severity": "page"}
ODD = (None, True, 0, 10**30, 1.5, "", "edit", [], [1], ["U1"], {}, "\ud800", ALERT, {**ALERT, "state": "loud"})
VALUES = st.sampled_from([*ODD, *TIMES, *SENDERS])
OTHERS = ("chat_name", "event_id", "client_msg_id", "images", "alert", "unknown")
CHANGES = st.dictionaries(st.sampled_from([*USUAL, *OTHERS]), VALUES)


@given(CHANGES, st.sets(st.sampled_from(sorted(USUAL)), max_size=1), st.booleans())
def test_a_line_is_read_as_pydantic_reads_it(changes: dict[str, Any], left_out: set[str], is_ascii: bool) -> None:
    """Whatever its fields hold, the line is an event for both or for neither, and the same one."""
    record = {key: value for key, value in {**USUAL, **changes}.items() if key not in left_out}
    line = json.dumps(record, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    try:
        event = Event.model_validate_json(line)
    except ValidationError:
        with pytest.raises(InputError):
            read_event(line)
    else:
        assert fields(read_event(line)) == fields(event)


def fields(message: Message | Event) -> list[Any]:
    read = [getattr(message, name) for name in Message._fields]
    return [tuple(each) if isinstance(each, list) else each for each in read]


def test_a_usual_line_needs_no_pydantic() -> None:
    """Also one that lacks what may be left out."""
    shortest = {key: USUAL[key] for key in ("team_id", "chat_id", "message_id", "create_time", "sender")}
    for record in (USUAL, shortest):
        assert isinstance(read_event(json.dumps(record).encode()), Message)


@each_row("unknown", ["[" * 250 + "]" * 250, '"\\ud83d"', "1" * 5000, '{"a": "\\"\t"}', "NaN"])
def test_what_pydantic_refuses_of_an_unknown_field_is_refused(unknown: str) -> None:
    """Nested too deeply, half a character, a control character: no line of JSON that others could read."""
    line = json.dumps(USUAL)[:-1].encode() + f', "unknown": {unknown}}}'.encode()
    try:
        event = Event.model_validate_json(line)
    except ValidationError:
        with pytest.raises(InputError):
            read_event(line)
    else:
        assert fields(read_event(line)) == fields(event)


@each_row("alert, state", [(None, None), (ALERT, "firing"), ({**ALERT, "state": "resolved", "text": "x"}, "resolved")])
def test_the_state_of_an_alert_is_read(alert: dict[str, Any] | None, state: str | None) -> None:
    """The rules decide by it, not by its words."""
    assert read_event(json.dumps({**USUAL, "alert": alert}).encode()).alert_state == state


@given(st.text().filter(lambda text: text.strip()))
def test_any_plain_text_is_a_root_message(text: str) -> None:
    """In the usual form, with every character of its text."""
    said = text.encode("utf-8", "replace")
    line = plain_event(said, number=7, time="2025-01-01T00:00:00Z")
    event = read_event(line)
    assert isinstance(event, Message)
    assert (event.message_id, event.thread_id, event.content) == ("7.000000", None, said.decode().strip())
    assert fields(event) == fields(Event.model_validate_json(line))


@each_row("text, mentions", [("hi", []), ("<@U1> and <@W2|bo>, <@U1>?", ["U1", "W2"]), ("@U1 <@u1> <@U1", [])])
def test_a_plain_line_mentions_as_slack_writes_it(text: str, mentions: list[str]) -> None:
    """Once each, in their order."""
    line = plain_event(text.encode(), number=1, time="2025-01-01T00:00:00Z")
    assert list(read_event(line).mentions) == mentions
