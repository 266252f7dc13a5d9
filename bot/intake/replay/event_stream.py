"""Classifies a stream of event lines: bytes in, bytes out, one JSON object a line.

The fields are inserted into the original line, so that its own keys, known or not, stay as they were. A line that is
no event becomes a problem with its number and does not stop the rest.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final, Protocol

from bot.domain.messages import thread_key
from bot.domain.text.humanize import counted
from bot.errors import InputError
from bot.intake.classifier.classification import RuleResult, Rules, evaluate_rules, explain
from bot.intake.replay.event_lines import read_message

CHUNK_BYTES: Final = 1 << 16
_BOM: Final = b"\xef\xbb\xbf"


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
        stamp = f'"{at.isoformat().replace("+00:00", "Z")}"}}\n'.encode()
        good, problems = [], []
        for line in lines:
            self._lines += 1
            if not line or line.isspace():
                continue
            try:
                good.append(self._tagged(line, stamp))
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
        event = read_message(line)
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


def _merged(line: bytes, fields: bytes) -> bytes:
    """Return the line with our fields in place of older ones of the same names."""
    return json.dumps(json.loads(line) | json.loads(fields), ensure_ascii=False).encode() + b"\n"
