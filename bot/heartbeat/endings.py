"""The ends a beat may come to: broken off, cancelled, or at its last step, where something was said or nothing."""

from __future__ import annotations

import logging

from bot.agent.run import RunCancelled, RunFailed
from bot.domain.beats import BeatResult
from bot.domain.returns import Usage
from bot.errors import TriageError
from bot.heartbeat.outcome import Ending
from bot.heartbeat.session import Session
from bot.heartbeat.steps import Step, remark
from bot.heartbeat.tidings import Sent
from bot.heartbeat.view import BeatView

log = logging.getLogger(__name__)


def broken_off(session: Session, error: TriageError, view: BeatView | None = None) -> Ending:
    """Return the end of a beat that an error broke off; `view` is what it had seen until then."""
    if isinstance(error, RunCancelled):
        return cancelled(view, error.usage)
    log.error("a beat failed: %s", error, extra={"action": "beat_failed", "session": session.id}, exc_info=error)
    usage = error.usage if isinstance(error, RunFailed) else None
    return Ending(result=BeatResult.FAILED, error=str(error), view=view, full=usage)


def cancelled(view: BeatView | None, usage: Usage | None = None) -> Ending:
    """Return the end of a beat that somebody cancelled, whatever its step."""
    return Ending(result=BeatResult.SKIPPED, why=remark(Step.CANCELLED), view=view, full=usage)


def end_of(view: BeatView, sent: Sent, *, why: str | None, quiet: BeatResult) -> Ending:
    """Return the end of a beat that went to its last step: `quiet` is how it ends where nothing was sent."""
    good = sent.problem is None
    if not good and sent.silent:
        return Ending(result=BeatResult.FAILED, error=sent.problem, view=view, sent=sent)
    if not sent.silent:
        return Ending(
            result=BeatResult.SENT,
            why=why,
            error=sent.problem,
            view=view,
            sent=sent,
            good=good,
            says_ok=sent.says_ok,
        )
    if quiet is BeatResult.SKIPPED:
        why = "; ".join(filter(None, [_unsaid(view), why]))
    return Ending(result=quiet, why=why, view=view, sent=sent, good=True)


def _unsaid(view: BeatView) -> str:
    """Return why nobody was told of what was found."""
    beat = view.session.beat
    if beat.deliver.mode == "none":
        return remark(Step.DELIVERY, "to the log only")
    if not beat.visibility.show_alerts:
        return remark(Step.DELIVERY, "alerts are switched off")
    return remark(Step.DEDUPE, "nothing that was not said already")
