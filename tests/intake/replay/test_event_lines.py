"""One line of events.ndjson: what is read without pydantic is what pydantic reads, and pydantic has the last word."""

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
from bot.intake.replay.event_lines import read_message
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
VALUES = st.sampled_from([None, True, 0, 10**30, 1.5, "", "edit", [], [1], ["U1"], {}, "\ud800", *TIMES, *SENDERS])
CHANGES = st.dictionaries(st.sampled_from([*USUAL, "chat_name", "event_id", "client_msg_id", "unknown"]), VALUES)


@given(CHANGES, st.sets(st.sampled_from(sorted(USUAL)), max_size=1), st.booleans())
def test_a_line_is_read_as_pydantic_reads_it(changes: dict[str, Any], left_out: set[str], is_ascii: bool) -> None:
    """Whatever its fields hold, the line is an event for both or for neither, and the same one."""
    record = {key: value for key, value in {**USUAL, **changes}.items() if key not in left_out}
    line = json.dumps(record, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    try:
        event = Event.model_validate_json(line)
    except ValidationError:
        with pytest.raises(InputError):
            read_message(line)
    else:
        assert fields(read_message(line)) == fields(event)


def fields(message: Message | Event) -> list[Any]:
    read = [getattr(message, name) for name in Message._fields]
    return [tuple(each) if isinstance(each, list) else each for each in read]


def test_a_usual_line_needs_no_pydantic() -> None:
    """Also one that lacks what may be left out."""
    shortest = {key: USUAL[key] for key in ("team_id", "chat_id", "message_id", "create_time", "sender")}
    for record in (USUAL, shortest):
        assert isinstance(read_message(json.dumps(record).encode()), Message)


@each_row("unknown", ["[" * 250 + "]" * 250, '"\\ud83d"', "1" * 5000, '{"a": "\\"\t"}', "NaN"])
def test_what_pydantic_refuses_of_an_unknown_field_is_refused(unknown: str) -> None:
    """Nested too deeply, half a character, a control character: no line of JSON that others could read."""
    line = json.dumps(USUAL)[:-1].encode() + f', "unknown": {unknown}}}'.encode()
    try:
        event = Event.model_validate_json(line)
    except ValidationError:
        with pytest.raises(InputError):
            read_message(line)
    else:
        assert fields(read_message(line)) == fields(event)
