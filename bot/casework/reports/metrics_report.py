"""How well the casework does: the criteria of SPEC §8, the counts behind them, week by week. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bot.casework.reports.acceptance import acceptance, waited_s
from bot.casework.reports.autonomy_metrics import AutonomyMetrics, unattended
from bot.casework.reports.classifier_samples import ErrorRate, error_rates
from bot.casework.reports.exact_criteria import threads_of
from bot.casework.reports.journal_history import JournalHistory
from bot.casework.reports.measures import Measure, Window, measure_total, middle, share
from bot.casework.reports.rollups import COMPLETE, Backlog
from bot.domain.questions.feedback import Votes, count_votes
from bot.domain.returns import Verdict
from bot.domain.threads import Resolution


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
    helpful: int = 0
    """Votes on posted replies, the last one of each person."""
    not_helpful: int = 0

    @property
    def votes(self) -> Votes:
        """What people said of posted replies."""
        return Votes(self.helpful, self.not_helpful)

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


class WeekFigures(NamedTuple):
    """One week; `errors` is how often messages were wrongly ignored, and wrongly taken for work."""

    window: Window
    tally: Tally
    errors: tuple[ErrorRate, ErrorRate]


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsReport:
    """Everything `triage metrics` says of one window; `weeks` has the latest first."""

    window: Window
    criteria: Sequence[Measure]
    tally: Tally
    unattended: AutonomyMetrics
    weeks: Sequence[WeekFigures] = ()
    unreadable: int = 0
    uncounted: str = ""
    """What is not in the counts yet, in words."""


def build_metrics(
    past: JournalHistory,
    window: Window,
    *,
    weeks: int = 0,
    baseline_reply_s: float | None = None,
    backlog: Backlog = COMPLETE,
) -> MetricsReport:
    """Return what is measured over a window."""
    return MetricsReport(
        window=window,
        criteria=acceptance(past, window, baseline_reply_s=baseline_reply_s),
        tally=tally(past, window),
        unattended=unattended(past, window),
        weeks=[WeekFigures(week, tally(past, week), errors_in(past, week)) for week in window.weeks(weeks)],
        unreadable=past.unreadable,
        uncounted=backlog.words(),
    )


def errors_in(past: JournalHistory, window: Window) -> tuple[ErrorRate, ErrorRate]:
    """Return how often the messages judged in a window were wrongly ignored, and wrongly taken for work."""
    ignored, taken = error_rates(one for one in past.judged if window.holds(one.at))
    return ignored, taken


def tally(past: JournalHistory, window: Window) -> Tally:
    """Return the counts of a window."""
    threads = threads_of(past, window)
    verdicts = [verdict for each in threads for verdict in each.verdicts]
    firsts = [verdict for each in threads for verdict in each.first_verdicts]
    pairs = [each.helped for each in threads if each.helped is not None]
    start, end = window.bounds_us
    messages, actionable = past.heard.count(window)
    waits = [each.decided_after_s for each in past.threads if each.approved_us and start <= each.approved_us < end]
    ends = [each.resolution for each in past.threads if each.closed_us and start <= each.closed_us < end]
    replies = [each for each in past.replies if window.holds(each.at)]
    return Tally(
        messages=messages,
        actionable=actionable,
        threads=len(threads),
        verdicts={verdict.value: verdicts.count(verdict) for verdict in Verdict},
        first_rounds=len(firsts),
        first_passed=firsts.count(Verdict.PASS),
        bounced=len(pairs),
        bounce_helped=sum(pairs),
        long_runs=sum(thread.is_escalated for thread in threads),
        fabricated=sum(each.fabricated for each in threads),
        approved=ends.count(Resolution.APPROVED),
        edited=ends.count(Resolution.EDITED),
        dismissed=ends.count(Resolution.DISMISSED),
        replies=len(replies),
        to_reply_s=middle(wait for each in replies if (wait := waited_s(each)) is not None),
        to_approve_s=middle(wait for wait in waits if wait is not None),
        cost_usd=_cost(past, window),
        **count_votes(vote for vote in past.votes if window.holds(vote.at))._asdict(),
    )


def _cost(past: JournalHistory, window: Window) -> float | None:
    return measure_total(each.cost_usd for each in past.spent if window.holds(each.at) and each.is_of_thread)
