"""The morning brief and the end-of-day report: what waits, what ended, what beats found, what it cost.

Reads the data directory alone, beats' journal included, as plain records. Plain text; whoever shows it escapes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bot.casework.beats_told import Beat, read_beats
from bot.casework.measure import total
from bot.casework.overview import ThreadLine, overview
from bot.casework.past import journal, read_spent, time_of
from bot.domain.chat_links import link_beside
from bot.domain.distance import ago, span
from bot.domain.hidden import one_line
from bot.errors import ConfigError
from bot.intake.prose import unescape

MAX_LINES: Final = 8
TAIL_BYTES: Final = 4 * 1024 * 1024
"""Of each journal: some days of a busy team, read in well under a second."""
WINDOW: Final = timedelta(hours=24)


@dataclass(frozen=True, kw_only=True, slots=True)
class Brief:
    """What happened between two moments, and what waits at the second; `cost_usd` is None where a run had no price."""

    since: datetime
    now: datetime
    drafts: tuple[ThreadLine, ...]
    long_runs: int
    replies: int
    findings: tuple[tuple[str, str], ...]
    """Session and what its owner was told."""
    beats: int
    failed_beats: int
    model_runs: int
    cost_usd: float | None
    paused: str | None


def gather(home: Path, since: datetime, now: datetime) -> Brief:
    """Return what a data directory says; raises ConfigError for what cannot be read."""
    seen = overview(home, now)
    try:
        beats = read_beats(home, since, last_bytes=TAIL_BYTES).ran
        replies = _since(home / "replies.ndjson", "posted_at", since)
        spent = [run.cost_usd for run in read_spent(home, since, last_bytes=TAIL_BYTES)]
        done = sum(_at(path) >= since for path in (home / "escalations").glob("*/.done"))
    except OSError as error:
        raise ConfigError(f"cannot read {home}: {error.strerror}; run this as the user who runs triage") from error
    return Brief(
        since=since,
        now=now,
        drafts=seen.drafts,
        long_runs=done,
        replies=len(replies),
        findings=tuple(_findings(beats)),
        beats=len(beats),
        failed_beats=sum(beat.is_failed for beat in beats),
        model_runs=len(spent),
        cost_usd=total(spent),
        paused=seen.paused,
    )


def brief_text(brief: Brief, title: str, *, may_see_drafts: bool) -> str:
    """Return the brief in plain words; who may not approve gets counts, and neither questions nor findings."""
    count = len(brief.drafts)
    lines = [f"{title}, the last {_hours(brief.now - brief.since)}:"]
    lines += [f"Triage is {brief.paused}. To go on: /triage resume"] if brief.paused else []
    lines.append(f"{_count(count, 'draft')} wait{'s' * (count == 1)} for a decision" if count else "No draft waits")
    lines += _capped([_draft(draft, brief.now) for draft in brief.drafts]) if may_see_drafts else []
    lines.append(f"{_count(brief.replies, 'reply', 'replies')} posted · {_count(brief.long_runs, 'long run')} finished")
    lines.append(_count(len(brief.findings), "finding") + " by heartbeats")
    lines += _capped([f"• {name}: {what}" for name, what in brief.findings]) if may_see_drafts else []
    return "\n".join([*lines, cost_line(brief)])


def cost_line(brief: Brief) -> str:
    """Return what the time cost, in one honest sentence."""
    failed = f" ({brief.failed_beats} failed)" if brief.failed_beats else ""
    beats = f"{_count(brief.beats, 'beat')}{failed}"
    if not brief.model_runs:
        quiet = not (brief.findings or brief.replies or brief.failed_beats)
        return f"{'All quiet: ' if quiet else ''}{beats}, no model call, $0.00."
    cost = "cost unknown: a model has no price in triage.yml" if brief.cost_usd is None else f"${brief.cost_usd:.2f}"
    return f"{beats}, {_count(brief.model_runs, 'model run')}, {cost}."


def _findings(beats: Iterable[Beat]) -> Iterable[tuple[str, str]]:
    return ((_flat(beat.session_id, 60), _flat(beat.told, 120)) for beat in beats if beat.is_alert)


def _hours(time: timedelta) -> str:
    """Return a length of time; a day is said in hours, for "the last 1 d" is no English."""
    return "24 h" if time == WINDOW else span(time)


def _draft(draft: ThreadLine, now: datetime) -> str:
    link = link_beside(draft.permalink, *draft.card) if draft.card else None
    asked = _flat(unescape(draft.question).replace("`", "'"), 90)
    return f"• {ago(now, draft.started_at)}: {asked} {link or ''}".rstrip()


def _capped(lines: list[str]) -> list[str]:
    left = len(lines) - MAX_LINES
    return [*lines[:MAX_LINES], f"… and {left} more"] if left > 0 else lines


def _flat(text: str, limit: int) -> str:
    return one_line(text, limit)


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _since(path: Path, key: str, since: datetime) -> list[dict[str, Any]]:
    return [r for r in journal(path, TAIL_BYTES) if (at := time_of(r.get(key))) is not None and at >= since]


def _at(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)
