"""Classifies a stream of lines: bytes in, bytes out, one JSON object a line.

A line is an event of events.ndjson or plain text, which is a message by itself. The fields are inserted into the
original event, so that its own keys, known or not, stay as they were. An object that is no event becomes a problem
with its number and does not stop the rest.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Protocol

import jiter

from bot.domain.messages import Message, MessageType, thread_key
from bot.domain.text.humanize import counted
from bot.errors import InputError
from bot.intake.classifier.classification import RuleResult, Rules, evaluate_rules, explain

if TYPE_CHECKING:
    from pydantic import ValidationError

    from bot.domain.events import Event

CHUNK_BYTES: Final = 1 << 16
UNKNOWN: Final = "unknown"
"""The team, channel and sender of a plain line."""

_BOM: Final = b"\xef\xbb\xbf"
_MENTION: Final = re.compile(r"<@([UW][A-Z0-9]+)[|>]")
_LEFT_OUT: Final[dict[str, Any]] = {
    "platform": "slack",
    "chat_name": None,
    "msg_type": MessageType.TEXT.value,
    "content": "",
    "thread_id": None,
    "mentions": [],
    "event_id": None,
    "client_msg_id": None,
    "images": [],
    "alert": None,
}
"""The fields that an event need not have, and what they are then; the same as in Event."""

_message_fields = itemgetter(*Message._fields[:-1])
_texts = itemgetter("platform", "team_id", "chat_id", "message_id", "msg_type", "content", "create_time")
_texts_or_null = itemgetter("chat_name", "thread_id", "event_id", "client_msg_id")
_TEXT: Final = {str}
_TEXT_OR_NULL: Final = {str, type(None)}
_KINDS: Final = frozenset(map(str, MessageType))
_SENDERS: Final = ("user", "bot")
_TIME: Final = re.compile(r"[0-9-]{10}T[0-9:]{8}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-5][0-9])")


class LineSource(Protocol):
    """What lines are read from: `read1` returns what has arrived, and nothing only at the end."""

    def read1(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes."""


def batches(source: LineSource) -> Iterator[list[bytes]]:
    """Yield the complete lines of everything that has arrived, then wait for more; a last line may lack its newline."""
    started: list[bytes] = []
    chunk = source.read1(CHUNK_BYTES).removeprefix(_BOM)
    while chunk:
        complete, newline, rest = chunk.rpartition(b"\n")
        if newline:
            yield b"".join([*started, complete]).split(b"\n")
            started = []
        started.append(rest)
        chunk = source.read1(CHUNK_BYTES)
    if last := b"".join(started):
        yield [last]


class EventStream:
    """Classifies line after line and remembers which threads have work under way.

    A stream does not say when work begins or ends, so a thread counts as in flight from its first actionable event to
    the end of the stream: too much attention rather than too little. One that `explains` adds `why` to each line.
    """

    def __init__(self, rules: Rules, *, explains: bool) -> None:
        self._rules = rules
        self._explains = explains
        self._inflight: set[str] = set()
        self._fields: dict[RuleResult, bytes] = {}
        self._lines = 0
        self._bad = 0
        self._counts: Counter[str] = Counter()

    def take(self, lines: Iterable[bytes], *, at: datetime) -> tuple[list[bytes], list[str]]:
        """Return the classified lines, stamped `at` (aware UTC), and one `line 12: <reason>` for each that is none."""
        time = at.isoformat().replace("+00:00", "Z")
        stamp = f'"{time}"}}\n'.encode()
        good, problems = [], []
        for line in lines:
            self._lines += 1
            start = line.lstrip()[:1]
            if not start:
                continue
            try:
                event = line if start == b"{" else plain_event(line, number=self._lines, time=time)
                good.append(self._tagged(event, stamp))
            except InputError as error:
                self._bad += 1
                problems.append(f"line {self._lines}: {error}")
        return good, problems

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

    def _tagged(self, line: bytes, stamp: bytes) -> bytes:
        event = read_event(line)
        key = thread_key(event)
        is_inflight = key in self._inflight
        verdict = evaluate_rules(event, self._rules, is_inflight)
        if verdict.classification == "actionable":
            self._inflight.add(key)
        self._counts[verdict.classification] += 1
        fields = self._fields.get(verdict) or self._encode(verdict)
        if self._explains:
            why = json.dumps(explain(event, self._rules, inflight=is_inflight).to_record(), ensure_ascii=False)
            return _merged(line, b'{"why": ' + why.encode() + b", " + fields + stamp)
        if b"classifi" in line or b"is_" in line or b"mentions_t" in line:  # perhaps classified before
            return _merged(line, b"{" + fields + stamp)
        return line.rstrip()[:-1] + b", " + fields + stamp

    def _encode(self, verdict: RuleResult) -> bytes:
        record = {**verdict._asdict(), "classifier_version": self._rules.version}
        self._fields[verdict] = f'{json.dumps(record)[1:-1]}, "classified_at": '.encode()
        return self._fields[verdict]


def plain_event(line: bytes, *, number: int, time: str) -> bytes:
    """Return a line of plain text as an event: a root message of somebody unknown, said at `time`.

    `number` is the line's, which sets its thread apart from all others.

    Raises:
        InputError: the line is not UTF-8.
    """
    try:
        content = line.decode().strip()
    except UnicodeDecodeError as error:
        raise _no_utf8(error) from error
    event = {
        "platform": _LEFT_OUT["platform"],
        "team_id": UNKNOWN,
        "chat_id": UNKNOWN,
        "message_id": f"{number}.000000",
        "create_time": time,
        "msg_type": _LEFT_OUT["msg_type"],
        "content": content,
        "thread_id": None,
        "sender": {"id": UNKNOWN, "type": "user"},
        "mentions": list(dict.fromkeys(_MENTION.findall(content))),
    }
    return json.dumps(event, ensure_ascii=False).encode()


def read_event(line: bytes) -> Message | Event:
    """Return the message of a line of events.ndjson.

    One in the usual form is read without pydantic, by the same parser. Any other goes to pydantic, which reads what it
    can and says what is wrong with the rest.

    Raises:
        InputError: the line is no event; the message says why and does not quote it.
    """
    found = _usual_event(line)
    if found is not None:
        return found
    from pydantic import ValidationError  # here: few streams hold a line that needs it

    from bot.domain.events import Event

    try:
        return Event.model_validate_json(line)
    except ValidationError as error:
        raise _no_event(line, error) from error


def _usual_event(line: bytes) -> Message | None:
    """Return the message of a line in which each field has its usual form, None of any other."""
    try:
        fields = _LEFT_OUT | jiter.from_json(line, cache_mode="keys")
        return Message(*_message_fields(fields)) if _has_usual_forms(fields) else None
    except (ValueError, TypeError, KeyError):
        return None


def _has_usual_forms(fields: dict[str, Any]) -> bool:
    """Tell whether the fields of an event are what they usually are; raises KeyError where one is absent."""
    sender, mentions, images = fields["sender"], fields["mentions"], fields["images"]
    return (
        fields["alert"] is None
        and {*map(type, _texts(fields))} == _TEXT
        and {*map(type, _texts_or_null(fields))} <= _TEXT_OR_NULL
        and fields["msg_type"] in _KINDS
        and type(mentions) is list
        and type(images) is list
        and {*map(type, mentions), *map(type, images)} <= _TEXT
        and type(sender) is dict
        and type(sender["id"]) is str
        and sender.get("type", "user") in _SENDERS
        and _TIME.fullmatch(fields["create_time"]) is not None
        and datetime.fromisoformat(fields["create_time"]).tzinfo is not None
    )


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


def _merged(line: bytes, fields: bytes) -> bytes:
    """Return the line with our fields in place of older ones of the same names."""
    return json.dumps(json.loads(line) | json.loads(fields), ensure_ascii=False).encode() + b"\n"
