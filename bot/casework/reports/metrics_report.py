"""The metrics report: the criteria AC-01 to AC-11 (docs/metrics.md) over a window, and the counts behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.casework.reports.acceptance import measure_criteria, waited_s
from bot.casework.reports.journal_history import JournalHistory, PastThreads, read_history
from bot.casework.reports.measures import Measure, Window, dollars, measure_total, middle, seconds
from bot.domain.questions.feedback import Votes, count_votes, votes_words
from bot.domain.returns import Verdict
from bot.domain.threads import Resolution
from bot.ports import Store

DAYS: Final = 7


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """What happened in a window; a time or a cost is None where there is none to be had."""

    messages: int
    actionable: int
    threads: int
    verdicts: dict[str, int]
    """Of all validated rounds: pass, bounce, escalate."""
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
    votes: Votes
    """On posted replies, the last one of each person."""

    @property
    def cost_per_reply_usd(self) -> float | None:
        """What a reply that a human accepted cost, all the others included."""
        return self.cost_usd / self.replies if self.replies and self.cost_usd is not None else None


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsReport:
    """Everything `triage metrics` says of one window."""

    window: Window
    criteria: Sequence[Measure]
    tally: Tally
    unreadable: int = 0


def read_metrics(
    store: Store, threads: PastThreads, window: Window, *, baseline_reply_s: float | None
) -> MetricsReport:
    """Return what is measured over a window; raises StoreError."""
    return build_metrics(read_history(store, threads, window), baseline_reply_s=baseline_reply_s)


def build_metrics(past: JournalHistory, *, baseline_reply_s: float | None = None) -> MetricsReport:
    """Return what is measured of what happened."""
    return MetricsReport(
        window=past.window,
        criteria=measure_criteria(past, baseline_reply_s=baseline_reply_s),
        tally=tally(past),
        unreadable=past.unreadable,
    )


def tally(past: JournalHistory) -> Tally:
    """Return the counts of a window."""
    opened = past.opened
    closed = [each for each in past.threads if each.closed_at and past.window.holds(each.closed_at)]
    verdicts = [verdict for each in opened for verdict in each.verdicts]
    ends = [each.resolution for each in closed]
    return Tally(
        messages=len(past.heard),
        actionable=sum(past.heard),
        threads=len(opened),
        verdicts={verdict.value: verdicts.count(verdict) for verdict in Verdict},
        long_runs=sum(each.is_escalated for each in opened),
        fabricated=sum(one.false_refs or 0 for each in opened for one in each.rounds),
        approved=ends.count(Resolution.APPROVED),
        edited=ends.count(Resolution.EDITED),
        dismissed=ends.count(Resolution.DISMISSED),
        replies=len(past.replies),
        to_reply_s=middle(wait for each in past.replies if (wait := waited_s(each)) is not None),
        to_approve_s=middle(each.decided_after_s for each in closed if each.decided_after_s is not None),
        cost_usd=measure_total(past.costs_usd),
        votes=count_votes(past.votes),
    )


def tally_lines(tally: Tally) -> list[str]:
    """Return the counts in words, a line for each kind; each fits a terminal."""
    of = tally.verdicts
    return [
        f"messages {tally.messages:,}, threads {tally.threads:,}, long runs {tally.long_runs}",
        f"drafts: {of['pass']} pass, {of['bounce']} bounce, {of['escalate']} escalate;"
        f" {tally.fabricated} fabricated references caught",
        f"{tally.approved} approved, {tally.edited} edited, {tally.dismissed} dismissed; replies {tally.replies}",
        f"median time to approval {seconds(tally.to_approve_s)}, to reply {seconds(tally.to_reply_s)};"
        f" cost per reply {dollars(tally.cost_per_reply_usd)}",
        f"feedback: {votes_words(tally.votes)}",
    ]
