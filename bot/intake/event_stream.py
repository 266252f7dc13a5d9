"""Classifies a stream of lines: bytes in, bytes out, one JSON object a line.

A line is an event of events.ndjson or plain text, which is a message by itself. The fields are inserted into the
original event, so that its own keys, known or not, stay as they were. An object that is no event becomes a problem
with its number and does not stop the rest.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime
from typing import Final

from pydantic import ValidationError

from bot.domain.events import Event, Sender, thread_key
from bot.domain.text.humanize import counted
from bot.errors import InputError
from bot.intake.classifier.classification import classify, explain
from bot.intake.classifier.own_words import mentioned_ids
from bot.intake.classifier.rules import Rules

UNKNOWN: Final = "unknown"
"""The team, channel and sender of a plain line."""

_BOM: Final = b"\xef\xbb\xbf"
_PERHAPS_TAGGED: Final = re.compile(rb'classifi|is_|mentions_t|"why"')
"""What stands in every line that was classified before."""


class EventStream:
    """Classifies line after line and remembers which threads have work under way.

    A stream does not say when work begins or ends, so a thread counts as in flight from its first actionable event to
    the end of the stream: too much attention rather than too little. One that `explains` adds `why` to each line.
    """

    def __init__(self, rules: Rules, *, explains: bool) -> None:
        self._rules = rules
        self._explains = explains
        self._inflight: set[str] = set()
        self._lines = 0
        self._bad = 0
        self._counts: Counter[str] = Counter()

    def take(self, line: bytes, *, at: datetime) -> tuple[bytes, str]:
        """Return a line classified, stamped `at` (aware UTC), or else `line 12: <reason>`; of a blank one neither."""
        self._lines += 1
        line = line.removeprefix(_BOM).strip()
        if not line:
            return b"", ""
        try:
            event = line if line.startswith(b"{") else plain_event(line, number=self._lines, at=at)
            return self._tagged(event, at), ""
        except InputError as error:
            self._bad += 1
            return b"", f"line {self._lines}: {error}\n"

    @property
    def is_all_bad(self) -> bool:
        """Whether there were lines and none of them was an event: another file was meant."""
        return self._bad > 0 and not self._counts

    def summary(self) -> str:
        """Return the closing line: how many events, what became of them, how many bad lines."""
        total = self._counts.total()
        shares = ", ".join(
            f"{self._counts[name]:,} {name} ({self._counts[name] / max(total, 1):.0%})"
            for name in ("actionable", "ack", "ambient")
        )
        return f"{counted(total, 'event')}: {shares}; {counted(self._bad, 'bad line')}"

    def _tagged(self, line: bytes, at: datetime) -> bytes:
        event = read_event(line)
        key = thread_key(event)
        is_inflight = key in self._inflight
        verdict = classify(event, self._rules, inflight=is_inflight)
        if verdict.classification == "actionable":
            self._inflight.add(key)
        self._counts[verdict.classification] += 1
        fields = verdict.model_copy(update={"classified_at": at}).model_dump_json().encode()
        if self._explains:
            why = explain(event, self._rules, inflight=is_inflight).model_dump_json(exclude_unset=True)
            fields = b'{"why":' + why.encode() + b"," + fields[1:]
        if _PERHAPS_TAGGED.search(line):  # ours take the place of older ones
            return json.dumps(json.loads(line) | json.loads(fields), ensure_ascii=False).encode() + b"\n"
        return line[:-1] + b", " + fields[1:] + b"\n"


def plain_event(line: bytes, *, number: int, at: datetime) -> bytes:
    """Return a line of plain text as an event: a root message of somebody unknown, said at `at`.

    `number` is the line's, which sets its thread apart from all others.

    Raises:
        InputError: the line is not UTF-8.
    """
    try:
        content = line.decode().strip()
    except UnicodeDecodeError as error:
        raise _no_utf8(error) from error
    event = Event(
        team_id=UNKNOWN,
        chat_id=UNKNOWN,
        message_id=f"{number}.000000",
        create_time=at,
        content=content,
        sender=Sender(id=UNKNOWN),
        mentions=mentioned_ids(content),
    )
    return event.model_dump_json().encode()


def read_event(line: bytes) -> Event:
    """Return the event of a line of events.ndjson.

    Raises:
        InputError: the line is no event; the message says why and does not quote it.
    """
    try:
        return Event.model_validate_json(line)
    except ValidationError as error:
        raise _no_event(line, error) from error


def _no_event(line: bytes, error: ValidationError) -> InputError:
    """Return why a line is no event, without quoting it."""
    try:
        line.decode()
    except UnicodeDecodeError as broken:
        return _no_utf8(broken)
    first, *others = error.errors(include_input=False, include_url=False, include_context=False)
    where = "".join(f"{step}: " for step in first["loc"])
    message = first["msg"].replace(" at line 1 column", " at column").replace("Invalid JSON", "not JSON")
    return InputError(where + message + (f" (and {len(others)} more)" if others else ""))


def _no_utf8(error: UnicodeDecodeError) -> InputError:
    return InputError(f"not UTF-8 at byte {error.start + 1}")
