"""The steps of one beat: look, screen, run, judge, tell, stamp; and the ends it may come to.

Stamps are written only after a beat that vouches for every due task; whatever fails leads to more attention at the next
one, and what a beat cost or sent stays on record however it ends.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from bot.agent.model_run import RunCancelled, RunFailed, RunStopped
from bot.domain.heartbeats.alerts import FLAGS
from bot.domain.heartbeats.beats import Action, BeatReport, BeatResult, BeatStep, Finding, RunCheckpoint, Wake
from bot.domain.heartbeats.session_state import MessageKind
from bot.domain.playbook import Playbook
from bot.domain.returns import Usage
from bot.domain.secrets import redact
from bot.domain.text.humanize import LATE, counted, duration, utc_text
from bot.domain.tiers import Tier, includes
from bot.errors import StoreError, TriageError, failure_kind
from bot.heartbeat.alerts.alert_routing import AlertRouter
from bot.heartbeat.alerts.notifications import BeatOutcome, DeliveryResult
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.run.beat_record import BeatEnd, BeatStart
from bot.heartbeat.run.beat_view import BeatView, FullRun
from bot.heartbeat.run.findings import (
    Judgement,
    boxes,
    is_unchanged,
    judge_report,
    needs_full_run,
    seen_by_code,
    standing,
    still_standing,
    well_commands,
)
from bot.heartbeat.run.inputs import CommandPool, InputCollector
from bot.heartbeat.run.model_steps import PrescreenStep, Screened
from bot.heartbeat.sessions.session_registry import Session, SessionMemory

log = logging.getLogger(__name__)


def broken_off(session: Session, error: TriageError, view: BeatView | None = None) -> BeatEnd:
    """Return the end of a beat that an error broke off; `view` is what it had seen until then."""
    if isinstance(error, RunCancelled):
        return cancelled(view, error.usage)
    log.error("a beat failed: %s", error, extra={"action": "beat_failed", "session": session.id}, exc_info=error)
    usage, limits = (error.usage, error.limits()) if isinstance(error, RunFailed) else (None, {})
    kind = failure_kind(error)
    return BeatEnd(result=BeatResult.FAILED, error=str(error), failure=kind, limits=limits, view=view, full=usage)


def cancelled(view: BeatView | None, usage: Usage | None = None) -> BeatEnd:
    """Return the end of a beat that somebody cancelled, whatever its step."""
    return BeatEnd(result=BeatResult.SKIPPED, step=BeatStep.CANCELLED, view=view, full=usage)


class BeatPipeline:
    """Takes a beat from what it sees to how it ends; `prescreen` is None where no model may be asked."""

    def __init__(
        self,
        inputs: InputCollector,
        commands: CommandPool,
        prescreen: PrescreenStep | None,
        full: FullRun,
        alerts: AlertRouter,
        store: SessionMemory,
    ) -> None:
        self._inputs, self._commands = inputs, commands
        self._prescreen, self._full, self._alerts, self._store = prescreen, full, alerts, store

    def run(self, session: Session, begun: BeatStart, cancel: threading.Event) -> BeatEnd:
        """Return how the beat ends.

        Raises:
            RunStopped: the process stops.
            StoreError: the playbook cannot be read or created.
        """
        ready = self._commands.take_answers(session.id)
        view = self._inputs.collect(session, begun, cancel, ready)
        if (paid := begun.paid) is not None:
            return replace(self._told(view, begun, paid), prescreen=paid.prescreen, triage=paid.triage)
        if view.cancel.is_set():
            return cancelled(view)
        if is_unchanged(view):
            return self._quiet(view, begun, BeatStep.PROBES, "nothing changed" if view.tasks else "no task is due")
        return self._screened(view, begun) if self._screens(view) else self._run(view, begun)

    def _screens(self, view: BeatView) -> bool:
        """Whether a cheap model is asked first: only for what the clock woke, and never instead of the daily run.

        A suggestion that came in needs the run that can decide on it.
        """
        wanted = self._prescreen is not None and bool(view.session.beat.heartbeat_model)
        decides = bool(view.exchange.offered) and any(each.kind is MessageKind.SUGGESTION for each in view.inbox)
        is_small = view.wake is Wake.INTERVAL and view.tier is not Tier.DAILY and not needs_full_run(view)
        return wanted and is_small and not decides

    def _screened(self, view: BeatView, begun: BeatStart) -> BeatEnd:
        """Ask the cheap model first; what that cost counts however the beat ends."""
        assert self._prescreen is not None
        try:
            screened = self._prescreen.decide(view)
        except RunStopped:
            raise
        except RunCancelled as error:
            return replace(cancelled(view), triage=error.usage)
        if view.cancel.is_set():
            ending = cancelled(view)
        elif screened.action is Action.ESCALATE:
            spent_usd = view.spent_usd + (screened.usage.cost_usd or 0.0)
            ending = self._run(replace(view, spent_usd=spent_usd), begun, screened)
        else:
            ending = self._quiet(view, begun, BeatStep.PRESCREEN, screened.decision.reason)
        ending = replace(ending, prescreen=screened.action, triage=screened.usage, screen_error=screened.error)
        return replace(ending, limits=ending.limits or screened.limits)

    def _quiet(self, view: BeatView, begun: BeatStart, step: BeatStep, detail: str) -> BeatEnd:
        """End a beat in which nothing is new; what still stands and is due to be said again is said."""
        findings = still_standing(view)
        ok_text = f"Nothing new in {view.session.name}."
        sent = self._tell(view, findings, {FLAGS, *well_commands(view)}, ok_text=ok_text)
        detail = _joined(detail, begun.edits.counted())
        ending = _end_of(view, sent, BeatResult.OK_EMPTY, step=step, detail=detail)
        return self._stamped(ending, begun, boxes(view, findings))

    def _run(self, view: BeatView, begun: BeatStart, screened: Screened | None = None) -> BeatEnd:
        """Have the due tasks carried out, read the report against them, tell what it found.

        The report is on disk before anything is done about it: a crash from there on costs no second run.
        """
        try:
            report = self._full.run(view)
        except RunStopped:
            raise
        except TriageError as error:
            return self._without_report(view, error)
        if view.cancel.is_set():
            return cancelled(view, report.usage)
        return self._told(view, begun, report, screened)

    def _without_report(self, view: BeatView, error: TriageError) -> BeatEnd:
        """End a beat whose run failed: what code sees rings and closes all the same; nothing is stamped."""
        ending = broken_off(view.session, error, view)
        if ending.result is not BeatResult.FAILED:
            return ending
        try:
            note = f"No model looked at this: {error}"
            sent = self._tell(view, seen_by_code(view), well_commands(view), notes=(note,))
        except StoreError:
            log.exception("alerts are not told", extra={"action": "alert_unsent", "session": view.session.id})
            return ending
        if sent.is_refused:  # a person has to mend that; the model may be back by itself
            ending = replace(ending, error=sent.problem, failure=sent.problem_kind)
        return replace(ending, sent=sent)

    def _told(self, view: BeatView, begun: BeatStart, report: BeatReport, screened: Screened | None = None) -> BeatEnd:
        """Tell what a run found once it is on disk; what was told and stamped before a crash is so once."""
        try:
            if begun.paid is None:
                self._store.evolve(view.session.id, paid=_paid(view, begun, report, screened))
            return self._reported(view, begun, report)
        except StoreError as error:
            ending = broken_off(view.session, error, view)
            return replace(ending, report=report, full=report.usage)

    def _reported(self, view: BeatView, begun: BeatStart, report: BeatReport) -> BeatEnd:
        view = _with_its_edits(view)
        judged, late = judge_report(view, report), _late_words(begun)
        said = redact(judged.said)
        sent = self._tell(
            view,
            judged.findings if begun.paid is None else self._not_closed_since(view, judged.findings),
            judged.checked,
            ok_text="" if late else _ok_text(view, report, said),
            reasoning=report.reasoning if view.session.beat.include_reasoning else None,
            notes=(*late, *_notes(view, report, judged)),
        )
        beside_ok = "" if judged.is_alert or sent.says_ok else said
        remark = "1 remark with OK" if beside_ok else ""
        detail = _joined(remark, begun.edits.counted(), *late) if sent.silent else ""  # an alert tells of them itself
        ending = _end_of(view, sent, BeatResult.SKIPPED if judged.findings else judged.quiet, detail=detail)
        ending = replace(
            ending,
            report=report,
            full=report.usage,
            beside_ok=beside_ok,
            is_bare=judged.is_bare,
            good=judged.is_good and ending.good,
        )
        return self._stamped(ending, begun, boxes(view, judged.findings, report.receipts))

    def _not_closed_since(self, view: BeatView, findings: Iterable[Finding]) -> list[Finding]:
        """Return what the beat found without what somebody closed after it looked; the next beat looks again."""
        known = self._store.load(view.session.id).findings.values()
        closed = {each.key for each in known if each.was_closed_after(view.started_at)}
        return [found for found in findings if found.key not in closed]

    def _tell(
        self, view: BeatView, findings: Iterable[Finding], checked: Collection[str], **said: Any
    ) -> DeliveryResult:
        outcome = BeatOutcome(
            findings=tuple(findings),
            checked=frozenset(checked),
            standing=standing(view.playbook),
            removals={**view.removals, **view.edits.removals(view.started_at)},
            at=view.started_at,
            wake=view.wake,
            tier=view.tier,
            **said,
        )
        return self._alerts.deliver(view.session, outcome)

    def _stamped(self, ending: BeatEnd, begun: BeatStart, done: Mapping[str, bool]) -> BeatEnd:
        """Write the times and the boxes of a good beat into HEARTBEAT.md as it is now.

        One that was put in the place of what was looked at stays as it is; one that was deleted meanwhile, too. A file
        that cannot be written makes the beat a failed one; what it sent stays on record.
        """
        view = ending.view
        if not ending.good or view is None:
            return ending
        due = begun.paid.due if begun.paid else tuple(done)

        def edit(playbook: Playbook) -> Playbook:
            if due and not any(entry.id in due for entry in playbook.entries):
                return playbook
            ticked = playbook.with_boxes([(task, done[task.id]) for task in view.tasks])
            return ticked.with_stamps(includes(view.tier), begun.stamp_at)

        try:
            file = playbook_of(view.session)
            if file.peek() is not None:
                file.change(edit)
        except StoreError as error:
            kind = failure_kind(error)
            return replace(ending, result=BeatResult.FAILED, error=str(error), failure=kind, good=False)
        return ending


def _end_of(
    view: BeatView, sent: DeliveryResult, quiet: BeatResult, *, step: BeatStep | None = None, detail: str = ""
) -> BeatEnd:
    """Return the end of a beat that went to its last step: `quiet` is how it ends where nothing was sent."""
    if sent.problem is not None and sent.silent:
        return BeatEnd(result=BeatResult.FAILED, error=sent.problem, failure=sent.problem_kind, view=view, sent=sent)
    if sent.silent and quiet is BeatResult.SKIPPED:
        step, unsaid = _unsaid(view)
        detail = _joined(unsaid, detail)
    result, step = (quiet, step) if sent.silent else (BeatResult.SENT, BeatStep.ACK if sent.says_ok else step)
    good = sent.problem is None
    return BeatEnd(result=result, step=step, detail=detail, error=sent.problem, view=view, sent=sent, good=good)


def _unsaid(view: BeatView) -> tuple[BeatStep, str]:
    """Return why nobody was told of what was found."""
    beat = view.session.beat
    if beat.deliver.mode == "none":
        return BeatStep.DELIVERY, "only to the log"
    if not beat.visibility.show_alerts:
        return BeatStep.DELIVERY, "alerts are switched off"
    return BeatStep.DEDUPE, "already sent; sent again after dedupe_window, unless acknowledged or snoozed"


def _joined(*said: str) -> str:
    return "; ".join(filter(None, said))


def _notes(view: BeatView, report: BeatReport, judged: Judgement) -> Iterator[str]:
    """Yield what stands under an alert: the message, where it is no finding itself, and remarks about the beat."""
    if judged.is_alert and judged.said and all(found.text != judged.said for found in judged.findings):
        yield judged.said
    yield from report.notes
    if changed := view.edits.described():
        yield changed


def _ok_text(view: BeatView, report: BeatReport, said: str) -> str:
    """Return what is said where nothing was found: the report's own words, and how many tasks it left out."""
    skipped = {receipt.task for receipt in report.receipts if receipt.result == "skipped"}
    count = counted(len(skipped), "task was", "tasks were")
    left_out = f"{count} not looked at." if skipped else ""
    return " ".join(filter(None, [said or f"OK: no problem found in {view.session.name}.", left_out]))


def _late_words(begun: BeatStart) -> tuple[str, ...]:
    """Return that a beat is told of long after it looked, and when that was; nothing where it is told in time."""
    if begun.late < LATE:
        return ()
    seen_at = utc_text(begun.started_at)
    return (f"Sent {duration(begun.late)} late: found at {seen_at}, then the bot was interrupted.",)


def _paid(view: BeatView, begun: BeatStart, report: BeatReport, screened: Screened | None) -> RunCheckpoint:
    return RunCheckpoint(
        **dict(report),
        run_id=begun.run_id,
        wake=begun.wake,
        tier=view.tier,
        started_at=begun.started_at,
        stamp_at=begun.stamp_at,
        due=tuple(task.id for task in view.tasks),
        inbox=len(view.inbox),
        prescreen=screened.action if screened else None,
        triage=screened.usage if screened else None,
    )


def _with_its_edits(view: BeatView) -> BeatView:
    """Return the beat with its playbook as it is after the run: flags that the run raised or cleared count.

    One that cannot be read holds up no finding; the stamps that cannot be written tell of it.
    """
    with suppress(StoreError):
        return replace(view, playbook=playbook_of(view.session).peek() or view.playbook)
    return view
