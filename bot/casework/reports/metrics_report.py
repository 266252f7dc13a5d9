"""How well the casework does: the criteria of SPEC §8, the counts behind them, week by week. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.casework.reports.acceptance import acceptance, waited_s
from bot.casework.reports.autonomy_metrics import AutonomyMetrics, unattended
from bot.casework.reports.exact_criteria import fabrications, first_verdicts, is_better, second_rounds, threads_of
from bot.casework.reports.journal_history import JournalHistory
from bot.casework.reports.measures import Measure, Window, measure_total, middle, share
from bot.domain.returns import Verdict
from bot.domain.threads import Resolution, ThreadState, ThreadStatus

_CASE_RUN: Final = re.compile(r"[\w-]+\.[\w-]+\.\d+\.\d+-")
"""How the run of a thread is named; a beat's is not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """What happened in a window; a time or a cost is None where there is none to be had."""

    messages: int
    actionable: int
    threads: int
    verdicts: dict[str, int]
    """Of all validated rounds: pass, bounce, escalate."""
    first_rounds: int
    first_passed: int
    bounced: int
    bounce_helped: int
    long_runs: int
    fabricated: int
    approved: int
    edited: int
    dismissed: int
    replies: int
    to_reply_s: float | None
    """The median from the message to its reply."""
    to_approve_s: float | None
    """The median from the card that waits to the click."""
    cost_usd: float | None
    """Of all runs of threads; None where a run's price is unknown."""

    @property
    def actionable_share(self) -> float | None:
        """The share of messages that the rules took for work."""
        return share(self.actionable, self.messages)

    @property
    def first_pass_share(self) -> float | None:
        """The share of first rounds that passed."""
        return share(self.first_passed, self.first_rounds)

    @property
    def cost_per_reply_usd(self) -> float | None:
        """What a reply that a human accepted cost, all the others included."""
        return self.cost_usd / self.replies if self.replies and self.cost_usd is not None else None


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsReport:
    """Everything `triage metrics` says of one window; `weeks` has the latest first."""

    window: Window
    criteria: Sequence[Measure]
    tally: Tally
    unattended: AutonomyMetrics
    weeks: Sequence[tuple[Window, Tally]] = ()
    unreadable: int = 0


def build_metrics(
    past: JournalHistory, window: Window, *, weeks: int = 0, baseline_reply_s: float | None = None
) -> MetricsReport:
    """Return what is measured over a window."""
    return MetricsReport(
        window=window,
        criteria=acceptance(past, window, baseline_reply_s=baseline_reply_s),
        tally=tally(past, window),
        unattended=unattended(past, window),
        weeks=[(week, tally(past, week)) for week in window.weeks(weeks)],
        unreadable=past.unreadable,
    )


def tally(past: JournalHistory, window: Window) -> Tally:
    """Return the counts of a window."""
    heard = [each for each in past.heard if window.holds(each.at)]
    threads = threads_of(past, window)
    rounds = [each for thread in threads for each in thread.rounds]
    verdicts = [each.validator_return.verdict for each in rounds if each.validator_return]
    firsts, pairs = first_verdicts(threads), second_rounds(threads)
    ends = [each.resolution for each in past.threads if each.closed_at and window.holds(each.closed_at)]
    replies = [each for each in past.replies if window.holds(each.at)]
    return Tally(
        messages=len(heard),
        actionable=sum(each.classification == "actionable" for each in heard),
        threads=len(threads),
        verdicts={verdict.value: verdicts.count(verdict) for verdict in Verdict},
        first_rounds=len(firsts),
        first_passed=firsts.count(Verdict.PASS),
        bounced=len(pairs),
        bounce_helped=sum(map(is_better, pairs)),
        long_runs=sum(thread.is_escalated for thread in threads),
        fabricated=fabrications(rounds),
        approved=ends.count(Resolution.APPROVED),
        edited=ends.count(Resolution.EDITED),
        dismissed=ends.count(Resolution.DISMISSED),
        replies=len(replies),
        to_reply_s=middle(wait for each in replies if (wait := waited_s(each)) is not None),
        to_approve_s=middle(wait for each in past.threads if (wait := _decided_s(each, window)) is not None),
        cost_usd=_cost(past, window),
    )


def _decided_s(thread: ThreadState, window: Window) -> float | None:
    """Return how long an approved draft waited for its click in the window."""
    clicked = thread.user_approved_at
    if clicked is None or not window.holds(clicked):
        return None
    shown = [step.at for step in thread.status_history if step.to is ThreadStatus.PENDING_USER and step.at <= clicked]
    return (clicked - shown[-1]).total_seconds() if shown else None


def _cost(past: JournalHistory, window: Window) -> float | None:
    return measure_total(each.cost_usd for each in past.spent if window.holds(each.at) and _CASE_RUN.match(each.run_id))
