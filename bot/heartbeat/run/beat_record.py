"""How a beat began and ended, and the two places that is written down: its record and its session's state."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Self

from bot.domain.heartbeats.beats import (
    Action,
    Assigned,
    BeatReport,
    BeatResult,
    BeatStep,
    BeatUsage,
    Envelope,
    RunCheckpoint,
    Wake,
    ending_text,
    indicator_of,
)
from bot.domain.heartbeats.session_state import Failures, MessageKind, SessionState, SpentToday
from bot.domain.returns import Usage
from bot.domain.secrets import redact
from bot.domain.tiers import includes
from bot.errors import StoreError
from bot.heartbeat.alerts.alert_routing import DeliveryResult
from bot.heartbeat.run.beat_view import BeatView, PlaybookEditLog, measured_after
from bot.heartbeat.sessions.session_registry import BeatLog, Session, SessionMemory
from bot.ports import RunFolders

LINES_LOOKED_AT: Final = 20
BEATS_OF_A_DAY: Final = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class BeatStart:
    """One beat as it starts: why, the time its tiers are stamped with, what it will change in its playbook.

    `paid` is the run of a beat that a crash broke off after it: this one is that beat, and goes on from there,
    `late` after it began.
    """

    run_id: str
    wake: Wake
    stamp_at: datetime
    started_at: datetime
    edits: PlaybookEditLog = field(default_factory=PlaybookEditLog)
    paid: RunCheckpoint | None = None
    late: timedelta = timedelta()

    @classmethod
    def again(cls, paid: RunCheckpoint, now: datetime) -> Self:
        """Return the beat whose run this was."""
        return cls(
            run_id=paid.run_id,
            wake=paid.wake,
            stamp_at=paid.stamp_at,
            started_at=paid.started_at,
            paid=paid,
            late=now - paid.started_at,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class BeatEnd:
    """How it ended; `good` means that it vouches for every due task. `full` and `triage` are what its runs cost."""

    result: BeatResult
    step: BeatStep | None = None
    detail: str = ""
    """What is to be said of the step, or of a beat that came to its end."""
    screen_error: str = ""
    error: str | None = None
    failure: str = ""
    """The kind of the error, as `failure_kind` gives it."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """Which limit of time ended a model run of the beat, if one did."""
    view: BeatView | None = None
    report: BeatReport | None = None
    sent: DeliveryResult | None = None
    prescreen: Action | None = None
    beside_ok: str = ""
    """What was said beside that all is well, and sent to nobody."""
    is_bare: bool = False
    """Whether its full run ended in the token instead of a report."""
    changes: tuple[str, ...] = ()
    """Of a daily beat: what commands printed anew in the day before it, that of the beat itself included."""
    good: bool = False
    full: Usage | None = None
    triage: Usage | None = None

    @property
    def is_undeliverable(self) -> bool:
        """Whether it failed for nobody can be told what it found, and only a person can mend that."""
        return self.result is BeatResult.FAILED and self.sent is not None and self.sent.is_refused

    @property
    def why(self) -> str | None:
        """Why it ended so, in words for its line in the log."""
        return ending_text(self.step, self.detail, self.screen_error)


class BeatRecorder:
    """Writes the folder of a beat, the state of its session and its line in heartbeats.ndjson, in that order."""

    def __init__(self, folders: RunFolders, store: SessionMemory, log: BeatLog, secrets: Collection[str] = ()) -> None:
        self._folders, self._store, self._log, self._secrets = folders, store, log, secrets

    def close(self, session: Session, begun: BeatStart, ending: BeatEnd, *, now: datetime) -> SessionState:
        """Write down how a beat ended and return its session's state; raises StoreError where the disk refuses.

        A beat that goes on after a crash may be partly on record; what is there is left as it is.
        """
        if _is_traced(begun, ending):
            self._trace(begun, ending, now)
        state, is_again = self._store.load(session.id), begun.paid is not None
        if not (is_again and state.last_run == begun.started_at):
            state = self._store.save(session.id, _after(begun, ending, now))
        if not (is_again and self._is_logged(session, begun)):
            self._log.append(_envelope(session, begun, ending, now, state))
        if state.paid is not None:
            state = self._store.evolve(session.id, paid=None)
        return state

    def changes_since(self, session: Session, at: datetime) -> tuple[str, ...]:
        """Return what good commands printed anew since a moment, each line once."""
        beats = reversed(self._log.recent(session.id, BEATS_OF_A_DAY))
        return tuple(dict.fromkeys(line for beat in beats if beat.ts >= at for line in beat.changes))

    def _is_logged(self, session: Session, begun: BeatStart) -> bool:
        return any(beat.trace_id == begun.run_id for beat in self._log.recent(session.id, LINES_LOOKED_AT))

    def _trace(self, begun: BeatStart, ending: BeatEnd, now: datetime) -> None:
        folder = self._folders.here(f"runs/{begun.run_id}")
        try:
            (folder / "work_products").mkdir(parents=True, exist_ok=True)
            self._write(folder / "trace.json", json.dumps(_trace(begun, ending, now), ensure_ascii=False, indent=1))
            if ending.report and ending.report.message:
                self._write(folder / "work_products" / "message.md", f"{ending.report.message.strip()}\n")
            if not (folder / "transcript.md").exists():
                self._write(folder / "transcript.md", _transcript(ending))
            with (folder / "run.log").open("a", encoding="utf-8") as file:
                file.write(f"{now:%Y-%m-%dT%H:%M:%SZ} {ending.result}: {redact(ending.why or '', self._secrets)}\n")
        except OSError as error:
            raise StoreError(f"cannot record the beat in {folder}: {error.strerror}") from error
        self._folders.publish(f"runs/{begun.run_id}")

    def _write(self, path: Path, text: str) -> None:
        path.write_text(redact(text, self._secrets), encoding="utf-8", errors="replace")


def _is_traced(begun: BeatStart, ending: BeatEnd) -> bool:
    """Whether a beat did anything a folder of its own tells of; a refusal did not."""
    return ending.view is not None or ending.error is not None or bool(begun.edits.made)


def _after(begun: BeatStart, ending: BeatEnd, now: datetime) -> Callable[[SessionState], SessionState]:
    """Return the change a beat makes to its session's state."""

    def change(state: SessionState) -> SessionState:
        state = state.evolve(spent=_spent(state.spent, now, ending))
        if ending.result is BeatResult.SKIPPED and ending.view is None:
            return state.evolve(answered_at=now)
        state = state.evolve(last_run=begun.started_at)
        if ending.report is not None and ending.report.usage is not None:
            state = state.evolve(bare_tokens=state.bare_tokens + 1 if ending.is_bare else 0)
        if not (ending.good and ending.view):
            state = _uncompared(state, ending)
        if ending.result is BeatResult.FAILED:
            text = " ".join((ending.error or "").split())[:200]
            return state.evolve(failures=state.failures.and_another(ending.failure, text, now))
        return _good(state, begun, ending) if ending.good and ending.view else state

    return change


def _good(state: SessionState, begun: BeatStart, ending: BeatEnd) -> SessionState:
    view = ending.view
    assert view is not None
    state = state.evolve(
        failures=Failures(),
        stamps={**state.stamps, **dict.fromkeys(includes(view.tier), begun.stamp_at)},
        inbox_read=state.inbox_read + len(view.inbox),
    )
    if begun.paid is not None:
        return _uncompared(state, ending)  # what the commands print by now was seen by nobody
    return state.evolve(
        probes={**state.probes, **view.probes.digests()},
        measured=measured_after(state.measured, view),
    )


def _uncompared(state: SessionState, ending: BeatEnd) -> SessionState:
    """Return the state after a look that nobody vouches for: the next beat takes nothing for unchanged."""
    looked = {result.command for result in ending.view.probes.results} if ending.view else set()
    return state.evolve(probes={name: digest for name, digest in state.probes.items() if name not in looked})


def _spent(spent: SpentToday, now: datetime, ending: BeatEnd) -> SpentToday:
    cost = sum(usage.cost_usd or 0.0 for usage in (ending.full, ending.triage) if usage)
    day = f"{now:%Y-%m-%d}"
    return spent.evolve(day=day, usd=(spent.usd if spent.day == day else 0.0) + cost)


def _envelope(session: Session, begun: BeatStart, ending: BeatEnd, now: datetime, state: SessionState) -> Envelope:
    sent, view = ending.sent or DeliveryResult(), ending.view
    took_s = (now - begun.started_at).total_seconds() + (view.ahead_s if view else 0.0)
    looked = view is not None and ending.step is not BeatStep.CANCELLED
    has_open = looked and any(each.is_open for each in state.findings.values())
    return Envelope(
        ts=begun.started_at,
        session_id=session.id,
        workspace_dir=str(session.cwd),
        reason=begun.wake,
        result=ending.result,
        indicator=indicator_of(ending.result, has_open=has_open),
        delivered=sent.delivered,
        preview=sent.preview,
        duration_ms=max(0, round(took_s * 1000)),
        tool_calls=ending.report.tool_calls if ending.report else 0,
        trace_id=begun.run_id if _is_traced(begun, ending) else None,
        silent=sent.silent,
        error=ending.error,
        why=ending.why,
        tier=view.tier if view else None,
        prescreen=ending.prescreen,
        usage=BeatUsage.from_runs(ending.full, ending.triage),
        assignments=_assignments(view),
        beside_ok=ending.beside_ok,
        step=ending.step,
        screen_error=ending.screen_error,
        changes=ending.report.changes if ending.report else (),
    )


def _assignments(view: BeatView | None) -> tuple[Assigned, ...]:
    given = (message for message in (view.inbox if view else ()) if message.kind is MessageKind.ASSIGNMENT)
    return tuple(Assigned(by=message.from_, text=message.text) for message in given)


def _trace(begun: BeatStart, ending: BeatEnd, now: datetime) -> dict[str, Any]:
    view, report = ending.view, ending.report
    return {
        "run_id": begun.run_id,
        "started_at": begun.started_at.isoformat(),
        "seconds": (now - begun.started_at).total_seconds(),
        "wake": begun.wake,
        "result": ending.result,
        "why": ending.why,
        "error": ending.error,
        **ending.limits,
        "tier": view.tier if view else None,
        "prescreen": ending.prescreen,
        "tasks": [{"id": task.id, "text": task.text, "section": task.section} for task in view.tasks] if view else [],
        "probes": _probes(view) if view else [],
        "refused_commands": [" ".join(argv) for argv in view.probes.refused] if view else [],
        "receipts": [receipt.model_dump(mode="json") for receipt in report.receipts] if report else [],
        "message": report.message if report else None,
        "edits": [edit.record() for edit in begun.edits.made],
        "suppressed": list(ending.sent.suppressed) if ending.sent else [],
    }


def _probes(view: BeatView) -> list[dict[str, Any]]:
    changed = {result.command for result in view.changed}
    return [
        {
            "command": result.command,
            "exit_code": result.exit_code,
            "seconds": result.seconds,
            "problem": result.problem,
            "changed": result.command in changed,
        }
        for result in view.probes.results
    ]


def _transcript(ending: BeatEnd) -> str:
    view, report = ending.view, ending.report
    results = view.probes.results if view else ()
    tasks = "\n".join(f"- {task.text}" for task in view.tasks) if view else ""
    outputs = "\n\n".join(f"$ {result.command}\n{result.problem or result.output}" for result in results)
    said = report.message if report else ending.error or ending.why or ""
    return f"# Due\n\n{tasks or '(nothing)'}\n\n# Probes\n\n{outputs or '(none)'}\n\n# Said\n\n{said}\n"
