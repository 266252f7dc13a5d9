"""What `/triage heartbeat …` answers: sessions, their latest beats, the way one went. One screen, then how to go on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import context, escape, local_time, section, with_local_times
from blocks.text.splitting import SECTION_CHARS, truncate
from bot.domain.heartbeats.beats import Envelope, Indicator
from bot.heartbeat.schedule.session_controls import SessionRow, SessionStatus
from bot.heartbeat.schedule.session_wording import (
    NO_BEAT,
    NO_SESSIONS,
    beat_words,
    describe_session,
    heading,
    path_lines,
)

MAX_ROWS: Final = 12
EARLIER: Final = 4
BEAT_CHARS: Final = 150
STEP_CHARS: Final = 300

INDICATORS: Final = {
    Indicator.OK: ":large_green_circle:",
    Indicator.ALERT: ":red_circle:",
    Indicator.ERROR: ":warning:",
    Indicator.NONE: ":white_circle:",
}
"""The status emoji of a session that is on."""


def list_blocks(rows: Sequence[SessionRow], now: datetime) -> list[Block]:
    """Return the sessions, a section for each."""
    if not rows:
        return [section(NO_SESSIONS)]
    shown: list[Block] = [section(row_text(row, now)) for row in rows[:MAX_ROWS]]
    more = f"{len(rows) - MAX_ROWS} more: `triage heartbeat list` on the terminal. " if len(rows) > MAX_ROWS else ""
    return fit_message([*shown, context(f"{more}Next: `/triage heartbeat why {rows[0].id}`")])


def log_blocks(session_id: str, beats: Sequence[Envelope], *, may_read: bool) -> list[Block]:
    """Return the latest beats, newest first, a line each."""
    if not beats:
        return _no_beat(session_id)
    return [
        section(f"*{escape(session_id)}*, latest first"),
        _beats(beats, may_read=may_read),
        context(f"Next: `/triage heartbeat why {session_id}`"),
    ]


def why_blocks(
    session_id: str, beats: Sequence[Envelope], *, may_read: bool, beside_ok: Sequence[str] = ()
) -> list[Block]:
    """Return the way of the latest beat, step by step, the ones before it on a line each, and what stood with OK."""
    if not beats:
        return _no_beat(session_id)
    latest, *earlier = beats
    steps = [_step(line) for line in path_lines(latest, may_read=may_read)]
    parts: list[Block] = [section(f"*{escape(session_id)}* {escape(heading(latest))}"), section(_that_fit(steps))]
    if earlier:
        parts.append(_beats(earlier[:EARLIER], may_read=may_read))
    if beside_ok:
        parts.append(section(_that_fit([_line(line, STEP_CHARS) for line in beside_ok])))
    told = "" if may_read else "What it found is shown to its owner and to approvers. "
    return fit_message([*parts, context(f"{told}Next: `/triage heartbeat run {session_id}`")])


def message_blocks(text: str) -> list[Block]:
    """Return one sentence."""
    return [section(escape(text))]


def emoji_of(row: SessionRow) -> str:
    """Return a session's status emoji; "" where its settings want none."""
    if row.standing is not SessionStatus.ON:
        return {SessionStatus.OFF: ":no_entry:", SessionStatus.PAUSED: ":double_vertical_bar:"}[row.standing]
    return INDICATORS[row.indicator] if row.indicator is not None else ""


def row_text(row: SessionRow, now: datetime) -> str:
    """Return a session as one section says it."""
    name = f" {row.name}" if row.name != row.id else ""
    owner = f" · {_owner(row.owner)}" if row.owner else " · no owner"
    off = f" · {row.standing}" if row.standing is not SessionStatus.ON else ""
    first, *rest = describe_session(row, now)
    lead = f"{emoji_of(row)} *{escape(row.id)}*{escape(name)}{owner}{off} · {escape(first)}".strip()
    return truncate("\n".join([lead, *map(escape, rest)]), SECTION_CHARS)


def _owner(who: str) -> str:
    """Return a user's mention, or a group's, in a place that notifies nobody."""
    return f"<!subteam^{who}>" if who.startswith("S") else f"<@{who}>"


def _no_beat(session_id: str) -> list[Block]:
    return [section(f"*{escape(session_id)}* {NO_BEAT} Next: `/triage heartbeat run {session_id}`")]


def _beats(beats: Sequence[Envelope], *, may_read: bool) -> Block:
    """Return a line for each beat, when it was in the reader's time."""
    return section(
        _that_fit([f"{local_time(one.ts)}  {_line(beat_words(one, may_read=may_read), BEAT_CHARS)}" for one in beats])
    )


def _step(line: str) -> str:
    """Return a step with its sign, which is the code's own, before the rest."""
    return f"{line[:2]}{_line(line[2:], STEP_CHARS)}".strip()


def _line(text: str, chars: int) -> str:
    """Return text on a line of its own: in code, a time could not be the reader's, and a backtick would begin some."""
    return escape(" ".join(truncate(text, chars).replace("`", "'").split()))


def _that_fit(lines: Sequence[str]) -> str:
    """Return as many lines as a section holds, with room for the times in them."""
    ends = accumulate(len(with_local_times(line)) + 1 for line in lines)
    return "\n".join(line for line, end in zip(lines, ends, strict=True) if end - 1 <= SECTION_CHARS)
