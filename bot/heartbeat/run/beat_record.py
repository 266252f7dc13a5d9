"""One beat: as it starts, what it looks at, how it ended; and the places where that is written down.

Those are its folder, its session's state and its line in heartbeats.ndjson.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from bot.agent.model_run import RunCancelled, RunFailed
from bot.domain.heartbeats.alerts import OpenFinding, Removal
from bot.domain.heartbeats.beats import (
    Action,
    Assigned,
    BeatReport,
    BeatResult,
    BeatStep,
    BeatUsage,
    Envelope,
    Receipt,
    RunCheckpoint,
    Wake,
    ending_text,
    indicator_of,
)
from bot.domain.heartbeats.session_state import Failures, InboxMessage, MessageKind, SessionState
from bot.domain.playbook import Playbook
from bot.domain.playbook_entries import PlaybookEntry, task_of_line
from bot.domain.returns import Usage
from bot.domain.secrets import redact
from bot.domain.suggestions import Suggestion
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import TaskHistory, Tier, TierMove, add_measured, includes
from bot.errors import StoreError, TriageError, failure_kind
from bot.heartbeat.alert_routing import DeliveryResult
from bot.heartbeat.run.probes import ProbeReport, ProbeResult
from bot.heartbeat.session_registry import BeatLog, Session, SessionMemory
from bot.ports import RunFolders

log = logging.getLogger(__name__)

SHOWN: Final = 3
SHOWN_CHARS: Final = 80
FAILURE_CHARS: Final = 200
AGENT: Final = "its agent"
_SHOWN: Final = ("command", "exit_code", "seconds", "problem")
"""What trace.json tells of an answer."""

_EDITED: Final = {
    "added": "added to {place}",
    "moved": "moved from {before} to {place}",
    "removed": "removed from {place}",
}
"""How an alert tells of an edit; a ticked box is no news."""


@dataclass(frozen=True, slots=True)
class PlaybookEdit:
    """One change of a beat, as it stands in trace.json; `place` is the section, `before` where a moved task stood."""

    what: Literal["added", "checked", "moved", "removed"]
    place: str
    text: str
    before: str | None = None


def news_in(edits: Iterable[PlaybookEdit]) -> list[PlaybookEdit]:
    """Return the edits an owner hears of: all but ticked boxes."""
    return [edit for edit in edits if edit.what in _EDITED]


def removals_in(edits: Iterable[PlaybookEdit], at: datetime) -> dict[str, Removal]:
    """Return the checks that the session's agent took out, by their identity."""
    removed = [edit.text for edit in edits if edit.what == "removed"]
    return {check: Removal(at=at, by=AGENT) for text in removed for check in task_of_line(text).checks}


def described_edits(edits: Iterable[PlaybookEdit]) -> str:
    """Return what changed on one line, or nothing.

    >>> described_edits([PlaybookEdit("moved", "hourly", "Disk: `df -h`", "quick")])
    'Changed in HEARTBEAT.md: moved from quick to hourly “Disk: `df -h`”'
    """
    news = news_in(edits)
    told = [f"{_EDITED[edit.what].format_map(asdict(edit))} “{_short(edit.text)}”" for edit in news[:SHOWN]]
    more = [f"and {len(news) - SHOWN} more"] if len(news) > SHOWN else []
    return f"Changed in HEARTBEAT.md: {'; '.join([*told, *more])}" if told else ""


def counted_edits(edits: Iterable[PlaybookEdit]) -> str:
    """Return how much changed, without a word of what, for lines that more people read; or nothing.

    >>> counted_edits([PlaybookEdit("added", "notes", "secret")])
    '1 edit to HEARTBEAT.md'
    """
    count = len(news_in(edits))
    return f"{counted(count, 'edit')} to HEARTBEAT.md" if count else ""


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1].rstrip() + "…"


@dataclass(frozen=True, kw_only=True, slots=True)
class PeerData:
    """What may be offered to others, who sent no report, what waits for this session's own decision.

    `receipts` are those of the due tasks that code carries out, by task id; a beat without a model takes them as they
    are.
    """

    offers: tuple[Suggestion, ...] = ()
    silent: tuple[str, ...] = ()
    offered: tuple[Suggestion, ...] = ()
    receipts: Mapping[str, Receipt] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BeatStart:
    """One beat as it starts: why, the time its tiers are stamped with, what it will change in its playbook.

    `cancel` is set by whoever cancels it. `paid` is the run of a beat that a crash broke off after it: this one is that
    beat, and goes on from there.
    """

    session: Session
    run_id: str
    wake: Wake
    stamp_at: datetime
    started_at: datetime
    cancel: threading.Event = field(default_factory=threading.Event)
    edits: list[PlaybookEdit] = field(default_factory=list)
    paid: RunCheckpoint | None = None


@dataclass(frozen=True, kw_only=True)
class BeatView(BeatStart):
    """A beat with its due tasks and what is known before anybody thinks about them.

    `changed` are the probe results that differ from the last good beat's, `earlier` the hashes of what commands printed
    then; `spent_usd` is what the session has cost today; `moves` are the tasks that were measured to stand in a wrong
    tier, `exchange` what the beat has to do with other sessions.
    """

    tier: Tier
    playbook: Playbook
    tasks: tuple[PlaybookEntry, ...]
    probes: ProbeReport
    changed: tuple[ProbeResult, ...]
    earlier: Mapping[str, str]
    inbox: tuple[InboxMessage, ...]
    open_findings: tuple[OpenFinding, ...]
    spent_usd: float
    moves: tuple[TierMove, ...] = ()
    exchange: PeerData = field(default_factory=PeerData)
    removals: Mapping[str, Removal] = field(default_factory=dict)
    """Who took which check out of the playbook, by its identity."""
    bare_tokens: int = 0
    """How many full runs in a row before this beat ended in the bare token."""


@dataclass(kw_only=True, slots=True)
class Beat:
    """One beat: each of its steps notes here what it did, so that nothing is lost whatever ends it.

    `good` means that it vouches for every due task. `full` and `triage` are what its runs cost.
    """

    begun: BeatStart
    result: BeatResult = BeatResult.SKIPPED
    step: BeatStep | None = None
    detail: str = ""
    """What is to be said of the step, or of a beat that came to its end."""
    screen_error: str = ""
    error: TriageError | None = None
    view: BeatView | None = None
    report: BeatReport | None = None
    sent: DeliveryResult = field(default_factory=DeliveryResult)
    prescreen: Action | None = None
    beside_ok: str = ""
    """What was said beside that all is well, and sent to nobody."""
    is_bare: bool = False
    """Whether its full run ended in the token instead of a report."""
    good: bool = False
    full: Usage | None = None
    triage: Usage | None = None

    @property
    def is_traced(self) -> bool:
        """Whether it did anything a folder of its own tells of; a refusal did not."""
        return self.view is not None or self.error is not None or bool(self.begun.edits)

    @property
    def why(self) -> str | None:
        """Why it ended so, in words for its line in the log."""
        return ending_text(self.step, self.detail, self.screen_error)

    def was_cancelled(self) -> bool:
        """Whether somebody has cancelled it by now, whatever its step; noted as its end."""
        if is_cancelled := self.begun.cancel.is_set():
            self.result, self.step = BeatResult.SKIPPED, BeatStep.CANCELLED
        return is_cancelled

    def breaks_off(self, error: TriageError) -> None:
        """Note that an error ended it; a cancel is none."""
        if isinstance(error, RunFailed):
            self.full = error.usage
        if isinstance(error, RunCancelled):
            self.result, self.step = BeatResult.SKIPPED, BeatStep.CANCELLED
            return
        session = self.begun.session.id
        log.error("a beat failed: %s", error, extra={"action": "beat_failed", "session": session}, exc_info=error)
        self.result, self.error = BeatResult.FAILED, error


class BeatRecorder:
    """Writes the folder of a beat, its line in heartbeats.ndjson and the state of its session, in that order."""

    def __init__(self, folders: RunFolders, store: SessionMemory, log: BeatLog, secrets: Collection[str] = ()) -> None:
        self._folders, self.store, self._log, self._secrets = folders, store, log, secrets

    def close(self, beat: Beat, now: datetime) -> SessionState:
        """Write down how a beat ended and return its session's state; raises StoreError where the disk refuses.

        The state, which forgets the paid run, comes last: a beat that a crash broke off goes on until then, and its
        line is there once.
        """
        begun, session_id = beat.begun, beat.begun.session.id
        line = _envelope(beat, now, self.store.load(session_id))
        if beat.is_traced:
            self._trace(beat, line, now)
        logged = self._log.since(session_id, begun.started_at) if begun.paid else ()
        if all(each.trace_id != begun.run_id for each in logged):
            self._log.append(line)
        return self.store.save(session_id, lambda state: _after(state.evolve(paid=None), beat, now))

    def changes_since(self, session_id: str, at: datetime) -> tuple[str, ...]:
        """Return what good commands printed anew since a moment, the last beat's too, each line once."""
        beats = reversed(self._log.since(session_id, at))
        return tuple(dict.fromkeys(line for beat in beats for line in beat.changes))

    def _trace(self, beat: Beat, line: Envelope, now: datetime) -> None:
        name = f"runs/{beat.begun.run_id}"
        folder = self._folders.here(name)
        try:
            (folder / "work_products").mkdir(parents=True, exist_ok=True)
            trace = {**line.model_dump(mode="json"), **_seen(beat)}
            self._write(folder / "trace.json", json.dumps(trace, ensure_ascii=False, indent=1))
            if not (folder / "transcript.md").exists():
                self._write(folder / "transcript.md", _transcript(beat))
            with (folder / "run.log").open("a", encoding="utf-8") as file:
                file.write(f"{now:%Y-%m-%dT%H:%M:%SZ} {beat.result}: {redact(beat.why or '', self._secrets)}\n")
        except OSError as error:
            raise StoreError(f"cannot record the beat in {folder}: {error.strerror}") from error
        self._folders.publish(name)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(redact(text, self._secrets), encoding="utf-8", errors="replace")


def _after(state: SessionState, beat: Beat, now: datetime) -> SessionState:
    """Return the state of a session after its beat."""
    begun, view = beat.begun, beat.view
    cost = sum(usage.cost_usd or 0.0 for usage in (beat.full, beat.triage) if usage)
    state = state.evolve(spent=state.spent.evolve(day=f"{now:%Y-%m-%d}", usd=state.spent.on(now) + cost))
    if beat.result is BeatResult.SKIPPED and view is None:
        return state.evolve(answered_at=now)
    state = state.evolve(last_run=begun.started_at)
    if beat.report is not None and beat.report.usage is not None:
        state = state.evolve(bare_tokens=state.bare_tokens + 1 if beat.is_bare else 0)
    if beat.result is BeatResult.FAILED and beat.error is not None:
        text = one_line(str(beat.error), FAILURE_CHARS)
        state = state.evolve(failures=state.failures.and_another(failure_kind(beat.error), text, now))
    if view is None:
        return state
    if beat.good and begun.paid is None:
        measured = _measured_after(state.measured, view)
        state = state.evolve(probes={**state.probes, **view.probes.digests()}, measured=measured)
    else:  # nobody vouches for what the commands print by now: the next beat takes nothing for unchanged
        looked = {result.command for result in view.probes.results}
        state = state.evolve(probes={name: digest for name, digest in state.probes.items() if name not in looked})
    if not beat.good:
        return state
    return state.evolve(
        failures=Failures(),
        stamps={**state.stamps, **dict.fromkeys(includes(view.tier), begun.stamp_at)},
        inbox_read=state.inbox_read + len(view.inbox),
    )


def _measured_after(history: Mapping[str, TaskHistory], view: BeatView) -> dict[str, TaskHistory]:
    """Return the history with one beat more, of the tasks that stand in the playbook.

    A task that stands in several tiers is measured in the lowest one.
    """
    standing, due = {task.id for task in view.playbook.all_tasks}, {task.id for task in view.tasks}
    seen = dict[str, TaskHistory]()
    for task in reversed(view.playbook.all_tasks):
        if task.id in due:
            took = [result.seconds for result in view.probes.results_for(task)]
            seen[task.id] = TaskHistory(text=task.text, tier=task.tier, seconds=(round(sum(took), 3),) if took else ())
    return add_measured({each: past for each, past in history.items() if each in standing}, seen)


def _envelope(beat: Beat, now: datetime, state: SessionState) -> Envelope:
    begun, sent, view = beat.begun, beat.sent, beat.view
    took_s = (now - begun.started_at).total_seconds()
    has_open = any(each.is_open for each in state.findings.values())
    given = (message for message in (view.inbox if view else ()) if message.kind is MessageKind.ASSIGNMENT)
    return Envelope(
        ts=begun.started_at,
        session_id=begun.session.id,
        workspace_dir=str(begun.session.cwd),
        reason=begun.wake,
        result=beat.result,
        indicator=indicator_of(beat.result, has_open=has_open),
        delivered=sent.delivered,
        preview=sent.preview,
        duration_ms=max(0, round(took_s * 1000)),
        tool_calls=beat.report.tool_calls if beat.report else 0,
        trace_id=begun.run_id if beat.is_traced else None,
        silent=sent.silent,
        error=str(beat.error) if beat.error else None,
        why=beat.why,
        tier=view.tier if view else None,
        prescreen=beat.prescreen,
        usage=BeatUsage.from_runs(beat.full, beat.triage),
        assignments=tuple(Assigned(by=message.from_, text=message.text) for message in given),
        beside_ok=beat.beside_ok,
        step=beat.step,
        screen_error=beat.screen_error,
        changes=beat.report.changes if beat.report else (),
    )


def _seen(beat: Beat) -> dict[str, Any]:
    """Return what trace.json tells beside the line: what was due, what commands answered, what was said of it."""
    view, report = beat.view, beat.report
    if view is None:
        return {"edits": [asdict(edit) for edit in beat.begun.edits]}
    return {
        "tasks": [{"id": task.id, "text": task.text, "section": task.section} for task in view.tasks],
        "probes": [
            {**{name: getattr(result, name) for name in _SHOWN}, "changed": result in view.changed}
            for result in view.probes.results
        ],
        "refused_commands": [" ".join(argv) for argv in view.probes.refused],
        "receipts": [receipt.model_dump(mode="json") for receipt in report.receipts] if report else [],
        "message": report.message if report else None,
        "edits": [asdict(edit) for edit in beat.begun.edits],
        "suppressed": list(beat.sent.suppressed),
    }


def _transcript(beat: Beat) -> str:
    view, report = beat.view, beat.report
    tasks = "\n".join(f"- {task.text}" for task in view.tasks) if view else ""
    results = view.probes.results if view else ()
    outputs = "\n\n".join(f"$ {result.command}\n{result.problem or result.output}" for result in results)
    said = report.message if report else str(beat.error or beat.why or "")
    return f"# Due\n\n{tasks or '(nothing)'}\n\n# Probes\n\n{outputs or '(none)'}\n\n# Said\n\n{said}\n"
