"""One beat from a claimed job to its record: let in, look, screen, run, judge, tell, stamp, write down.

Writes exactly one line of heartbeats.ndjson per beat, whatever happened. Stamps are written only after a beat that
vouches for every due task; whatever fails leads to more attention at the next one. A beat that a crash broke off after
its full run goes on from there; what wakes wait meanwhile make the next one. Where HEARTBEAT.md was deleted, no new one
is made: what was open is closed, and the owner hears it once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from bot.agent.model_run import RunCancelled, RunStopped
from bot.domain.heartbeats.alerts import FLAGS, BeatOutcome
from bot.domain.heartbeats.beats import (
    Action,
    BeatReport,
    BeatResult,
    BeatStep,
    RunCheckpoint,
    Wake,
    strongest,
)
from bot.domain.heartbeats.session_state import MessageKind, SessionState
from bot.domain.jobs import RunBeat
from bot.domain.playbook import Playbook
from bot.domain.text.humanize import counted
from bot.domain.tiers import PERIODS, Tier, includes
from bot.errors import InputError, ProviderError, StoreError, TriageError
from bot.heartbeat.alert_routing import AlertRouter
from bot.heartbeat.playbook_file import playbook_of
from bot.heartbeat.run.beat_record import Beat, BeatRecorder, BeatStart, BeatView, counted_edits
from bot.heartbeat.run.findings import (
    Judgement,
    is_unchanged,
    judge_failure,
    judge_quiet,
    judge_report,
    judged,
    needs_full_run,
)
from bot.heartbeat.run.inputs import InputCollector, PeerSessions
from bot.heartbeat.run.model_steps import Minds
from bot.heartbeat.scheduler import NO_TASKS, Scheduler
from bot.heartbeat.session_registry import PLAYBOOK, Session, SessionRegistry
from bot.ports import Clock

log = logging.getLogger(__name__)

_KEPT: Final = ("run_id", "wake", "stamp_at", "started_at")
"""What a beat that goes on after a crash has of the one that was broken off."""


class BeatWorker:
    """Works off the jobs of heartbeats."""

    def __init__(
        self,
        sessions: SessionRegistry,
        scheduler: Scheduler,
        inputs: InputCollector,
        minds: Minds,
        recorder: BeatRecorder,
        alerts: AlertRouter,
        peers: PeerSessions,
        clock: Clock,
    ) -> None:
        self._sessions, self._store, self._scheduler, self._clock = sessions, recorder.store, scheduler, clock
        self._inputs, self._minds, self._recorder, self._alerts, self._peers = inputs, minds, recorder, alerts, peers
        self._cancels: dict[str, threading.Event] = {}

    def run_beat(self, work: RunBeat) -> None:
        """Carry out one beat; raises only StoreError, and RunStopped while the process stops."""
        try:
            session = self._sessions.get(work.session_id)
        except InputError:
            log.info("a beat of a session that is gone", extra={"action": "beat_orphaned", "session": work.session_id})
            return
        state = self._store.load(session.id)
        if state.paid is None and work.slot is not None and work.slot == state.stamps.get(Tier.QUICK):
            # beaten and recorded before a crash that left its job behind
            log.info("a beat on record is not run again", extra={"action": "beat_done", "session": session.id})
            return
        beat = self._begin(session, state.paid, work)
        self._cancels[session.id] = beat.begun.cancel
        try:
            self._carry_out(beat)
        except RunStopped:
            # the job goes back to the queue, with its own reason
            self._scheduler.wakes.drop(session.id, beat.begun.wake)
            raise
        except TriageError as error:
            beat.breaks_off(error)
        finally:
            self._cancels.pop(session.id, None)
        self._tell_of_failure(beat, self._recorder.close(beat, now := self._clock.now()))
        try:
            if beat.good and beat.view is not None and beat.view.tier is Tier.DAILY:
                changes = self._recorder.changes_since(session.id, now - PERIODS[Tier.DAILY])
                self._peers.report_to_master(beat, changes, now)
        except TriageError:  # the beat is on record; run again, it would be there twice
            log.exception("other sessions not told", extra={"action": "neighbours_untold", "session": session.id})

    def cancel(self, session_id: str) -> bool:
        """Stop the session's beat under way; False if there is none."""
        event = self._cancels.get(session_id)
        if event is not None:
            event.set()
        return event is not None

    def _begin(self, session: Session, paid: RunCheckpoint | None, work: RunBeat) -> Beat:
        """Return a beat with every wake that waits, for none of which another one is made; or one that goes on."""
        if paid is not None:
            log.warning("a beat goes on after a crash", extra={"action": "beat_resumed", "session": session.id})
            same = {name: getattr(paid, name) for name in _KEPT}
            begun = BeatStart(session=session, paid=paid, **same)
            return Beat(begun=begun, prescreen=paid.prescreen, triage=paid.triage)
        now = self._clock.now()
        wake = strongest([work.wake, *self._scheduler.wakes.take(session.id)])
        run_id, stamp_at = f"beat-{session.id}-{now:%Y%m%dT%H%M%S%f}Z"[:120], work.slot or now
        return Beat(begun=BeatStart(session=session, run_id=run_id, wake=wake, stamp_at=stamp_at, started_at=now))

    def _carry_out(self, beat: Beat) -> None:
        """Take a beat to its end; a cancel at any step stays one.

        Raises:
            TriageError: what broke it off.
        """
        begun = beat.begun
        if begun.paid is None and self._is_refused(beat):
            return
        view = self._inputs.collect(begun)
        if begun.paid is None and view.wake is Wake.INTERVAL and view.playbook.is_effectively_empty:
            self._alerts.deliver(begun.session, judged(view, (), {FLAGS}))  # closes what stands for nothing
            beat.step, beat.detail = BeatStep.EMPTY, NO_TASKS
            return
        beat.view = view
        if begun.paid is not None:
            self._tell_report(beat, view, begun.paid)
        elif beat.was_cancelled():
            return
        elif is_unchanged(view):
            why = "nothing changed" if view.tasks else "no task is due"
            self._end(beat, view, judge_quiet(view, BeatStep.PROBES, why))
        else:
            self._think(beat, view)

    def _is_refused(self, beat: Beat) -> bool:
        """Whether a beat may not run, or has no playbook any more; noted as its end."""
        begun, session = beat.begun, beat.begun.session
        state = self._store.load(session.id)
        refusal = next(self._scheduler.admission.refusals(session, state, begun.wake, begun.started_at), None)
        if refusal is not None:
            beat.step, beat.detail = refusal.step, refusal.detail
        elif state.had_playbook and session.cwd.is_dir() and playbook_of(session).peek() is None:
            self._end_without_playbook(beat, state)
        else:
            return False
        return True

    def _think(self, beat: Beat, view: BeatView) -> None:
        """Ask the cheap model first where it may be asked, then have the due tasks carried out.

        Only what the clock woke is screened, and never instead of the daily run; a suggestion that came in needs the
        run that can decide on it.
        """
        decides = bool(view.exchange.offered) and any(each.kind is MessageKind.SUGGESTION for each in view.inbox)
        is_small = view.wake is Wake.INTERVAL and view.tier is not Tier.DAILY and not needs_full_run(view)
        if self._minds.screen is not None and view.session.beat.heartbeat_model and is_small and not decides:
            screened = self._minds.screen(view)
            beat.triage = screened.usage
            if beat.was_cancelled():
                return
            beat.prescreen, beat.screen_error = screened.action, screened.error
            if screened.action is not Action.ESCALATE:
                self._end(beat, view, judge_quiet(view, BeatStep.PRESCREEN, screened.reason))
                return
            view = replace(view, spent_usd=view.spent_usd + (screened.usage.cost_usd or 0.0))
        try:
            report = self._minds.full(view)
        except RunCancelled:
            raise
        except TriageError as error:
            self._tell_without_report(beat, view, error)
            return
        beat.full = report.usage
        if not beat.was_cancelled():
            # on disk before anything is done about it: a crash from here on costs no second run
            self._store.evolve(view.session.id, paid=_checkpoint(beat, view, report))
            self._tell_report(beat, view, report)

    def _tell_without_report(self, beat: Beat, view: BeatView, error: TriageError) -> None:
        """End a beat whose run failed: what code sees is told all the same."""
        beat.breaks_off(error)
        try:
            beat.sent = self._alerts.deliver(view.session, judge_failure(view, error))
        except StoreError:
            log.exception("alerts are not told", extra={"action": "alert_unsent", "session": view.session.id})
        if beat.sent.is_refused:  # a person has to mend that; the model may be back by itself
            beat.error = beat.sent.problem

    def _tell_report(self, beat: Beat, view: BeatView, report: BeatReport) -> None:
        """Tell what a run reports; what was told before a crash is told once, and that all was well is no news then.

        Flags that the run raised or cleared count; a playbook that cannot be read after it holds up no finding.
        """
        beat.report, beat.full = report, report.usage
        with suppress(StoreError):
            beat.view = view = replace(view, playbook=playbook_of(view.session).peek() or view.playbook)
        judgement = judge_report(view, report)
        beat.is_bare = judgement.is_bare
        self._end(beat, view, replace(judgement, ok_text="") if view.paid else judgement)

    def _end(self, beat: Beat, view: BeatView, judgement: Judgement) -> None:
        """Tell what a beat amounts to and note how it ends; stamp its tier where it vouches for every due task."""
        beat.sent = sent = self._alerts.deliver(view.session, judgement)
        beat.error, beat.beside_ok = sent.problem, "" if sent.says_ok else judgement.beside_ok
        beat.step, beat.detail = judgement.step, judgement.detail
        if not sent.silent:
            beat.result, beat.step = BeatResult.SENT, BeatStep.ACK if sent.says_ok else judgement.step
        elif sent.problem is not None:
            beat.result, beat.step, beat.detail = BeatResult.FAILED, None, ""
        else:
            beat.result = judgement.quiet
            if judgement.step is None:  # an alert tells of these itself
                beat.step, unsaid = _unsaid(view.session) if judgement.findings else (None, "")
                remark = "1 remark with OK" if beat.beside_ok else ""
                beat.detail = "; ".join(filter(None, [unsaid, remark, counted_edits(view.edits)]))
        if sent.problem is None and judgement.done is not None:
            _stamp(view, judgement.done)
            beat.good = True

    def _end_without_playbook(self, beat: Beat, state: SessionState) -> None:
        """Close what was open and tell the owner, once."""
        begun, session = beat.begun, beat.begun.session
        outcome = BeatOutcome(
            findings=(),
            checked=frozenset(),
            standing=frozenset(),
            what_else=f"{PLAYBOOK} was deleted",
            at=begun.started_at,
            tier=None,
        )
        self._alerts.deliver(session, outcome)
        anew = f"/triage tiers {session.id} add quick <task>"
        beat.step, beat.detail = BeatStep.EMPTY, f"{PLAYBOOK} was deleted; to begin anew: {anew}"
        if not state.playbook_gone_told:
            open_ = sum(each.is_open for each in state.findings.values())
            closed = f" Closed, last result failing: {counted(open_, 'alert')}." if open_ else ""
            text = f"{PLAYBOOK} of {session.id} was deleted: none of its checks is made any more."
            self._alerts.tell_owner_or_ops(session, f"{text}{closed} Put it back, or begin a new one: `{anew}`.")
            self._store.evolve(session.id, playbook_gone_told=True)

    def _tell_of_failure(self, beat: Beat, state: SessionState) -> None:
        """Say once that the session pauses, or that an alert can reach nobody as things are, but not what it says."""
        session, is_pause = beat.begun.session, state.failures.is_untold
        is_unheard = beat.sent.is_refused and state.failures.count == 1
        if beat.result is not BeatResult.FAILED or not (is_pause or is_unheard):
            return
        text = f"An alert of {session.id} reached nobody: {beat.error}. Each check tries to send it again."
        try:
            self._alerts.tell_owner_or_ops(session, state.failures.notice if is_pause else text)
            if is_pause:
                self._store.save(session.id, lambda now: now.evolve(failures=now.failures.evolve(told=True)))
        except ProviderError:
            log.exception("owner not told of a failure", extra={"action": "failure_untold", "session": session.id})


def _checkpoint(beat: Beat, view: BeatView, report: BeatReport) -> RunCheckpoint:
    same = {name: getattr(view, name) for name in ("tier", *_KEPT)}
    return RunCheckpoint(
        **dict(report),
        **same,
        due=tuple(task.id for task in view.tasks),
        inbox=len(view.inbox),
        prescreen=beat.prescreen,
        triage=beat.triage,
    )


def _stamp(view: BeatView, done: Mapping[str, bool]) -> None:
    """Write the times and the boxes of a good beat into HEARTBEAT.md as it is now.

    One that was put in the place of what was looked at stays as it is; one that was deleted meanwhile, too.

    Raises:
        StoreError: the file cannot be written.
    """
    due = view.paid.due if view.paid else tuple(done)

    def edit(playbook: Playbook) -> Playbook:
        if due and not any(entry.id in due for entry in playbook.entries):
            return playbook
        ticked = playbook.with_boxes([(task, done[task.id]) for task in view.tasks])
        return ticked.with_stamps(includes(view.tier), view.stamp_at)

    file = playbook_of(view.session)
    if file.peek() is not None:
        file.change(edit)


def _unsaid(session: Session) -> tuple[BeatStep, str]:
    """Return why nobody was told of what was found."""
    if session.beat.deliver.mode == "none":
        return BeatStep.DELIVERY, "only to the log"
    if not session.beat.visibility.show_alerts:
        return BeatStep.DELIVERY, "alerts are switched off"
    return BeatStep.DEDUPE, "already sent; sent again after dedupe_window, unless acknowledged or snoozed"
