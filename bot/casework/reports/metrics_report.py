"""The metrics report: the criteria AC-01 to AC-11 (docs/metrics.md) over a window, and the counts behind them.

The criteria are one table of what is counted and of the band of good values. Below its least number of cases a value is
shown and not judged. AC-03, AC-04, AC-07, AC-08 and AC-09 allow no exception; what records cannot show (a kill at any
moment) is proved by the journeys under tests/.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

from bot.casework.reports.classifier_samples import error_rates
from bot.casework.reports.journal_history import (
    JournalHistory,
    PastThreads,
    ReplyRecord,
    ThreadFacts,
    is_own,
    read_history,
)
from bot.casework.reports.measures import Measure, Window, dollars, measure_total, middle, percent, seconds, share
from bot.domain.questions.feedback import Votes, count_votes, votes_words
from bot.domain.returns import Verdict
from bot.domain.threads import Resolution, ThreadStatus
from bot.ports import Store

TOGETHER: Final = timedelta(minutes=5)
PICKED_UP: Final = timedelta(minutes=5)
"""By when after a start a finished long run must have been collected."""

ACTIONABLE_AT_MOST: Final = 0.40
"""The share of messages that may be treated as questions (AC-01)."""

FIRST_ROUND_BAND: Final = (0.60, 0.90)
SLACK_S: Final = 30.0
"""What a reply may take beyond the baseline."""


class Count(NamedTuple):
    """What was counted of `n` cases, as people read it; `missing` says why that cannot be judged, whatever n is."""

    value: float | None
    n: int
    shown: str = ""
    missing: str = ""
    note: str = ""


class _Criterion(NamedTuple):
    """A row of the table: what is counted, and the band of good values; `least` cases are needed to judge one."""

    name: str
    what: str
    target: str
    band: tuple[float, float]
    least: int
    cases: str
    counted: Callable[[JournalHistory], Count]

    def measure(self, past: JournalHistory) -> Measure:
        """Return the criterion over what happened."""
        value, n, shown, missing, note = self.counted(past)
        few = f"{n} of {self.least} {self.cases}" if n < self.least else ""
        missing = "; ".join(filter(None, (few, missing)))
        fits = value is not None and self.band[0] <= value <= self.band[1]
        share = f"{100 * value:.4g} %" if value is not None and not fits else percent(value)  # 40.3 % is over 40 %
        ok = None if missing or value is None else fits
        return Measure(self.name, self.what, self.target, value, shown or share, n, ok, missing, note)


def measure_criteria(past: JournalHistory, *, baseline_reply_s: float | None = None) -> list[Measure]:
    """Return AC-01 to AC-11 in order."""
    return [each.measure(past) for each in _criteria(baseline_reply_s)]


def waited_s(reply: ReplyRecord) -> float | None:
    """Return how long an asker waited, by Slack's time of the message; None where that cannot be said."""
    try:
        return max(0.0, reply.at.timestamp() - float(reply.reply_to))
    except ValueError:
        return None


def _share_of(found: Iterable[bool], *, all_of: bool = False) -> Count:
    """Return how many of the cases are good; where all must be, their number is shown."""
    known = list(found)
    return Count(share(sum(known), len(known)), len(known), f"{sum(known)} of {len(known)}" if all_of and known else "")


def _none_of(wrong: int, n: int) -> Count:
    """Return how many of the cases are wrong; of none, nothing is said."""
    return Count(float(wrong), max(n, wrong), str(wrong)) if n or wrong else Count(None, 0)


def _median(values: Iterable[float], show: Callable[[float], str]) -> Count:
    known = list(values)
    value = middle(known)
    return Count(value, len(known), "" if value is None else show(value))


def _actionable(past: JournalHistory) -> Count:
    window, since = past.window, past.recorded_since or past.window.end
    days = (window.end - since) / timedelta(days=1)
    is_young = bool(past.heard) and days < window.days - 1
    missing = f"{days:.1f} of {window.days:.0f} days were recorded" if is_young else ""
    return _share_of(past.heard)._replace(missing=missing)


def _swapped(past: JournalHistory) -> Count:
    """Count replies that do not stand in the thread they were drafted for."""
    starts = sorted(each.started_at for each in past.opened)
    together = sum(later - earlier <= TOGETHER for earlier, later in pairwise(starts))
    known = {each.posted_as: each for each in past.opened}
    wrong = {each.thread_id for each in past.opened if not each.is_own}
    wrong |= {each.thread_id for each in past.replies if _is_swapped(each, known.get(each.posted_as))}
    return _none_of(len(wrong), together)


def _is_swapped(reply: ReplyRecord, thread: ThreadFacts | None) -> bool:
    """Whether a reply stands in a thread it was not drafted for, or is not what was approved there."""
    _, _, rest = reply.thread_id.partition(".")
    if not is_own(reply.task_id, reply.thread_id) or not rest.startswith(f"{reply.chat_id}."):
        return True
    if thread is None:
        return False
    if thread.thread_id != reply.thread_id:  # channels of their own may use one ts twice
        return thread.thread_id.split(".")[1] == reply.chat_id
    return thread.draft_hash is not None and reply.text_hash != thread.draft_hash


def _fabricated_passed(past: JournalHistory) -> Count:
    checked = [one for each in past.opened for one in each.rounds if one.false_refs is not None]
    return _none_of(sum(bool(one.false_refs) and one.verdict is Verdict.PASS for one in checked), len(checked))


def _first_rounds(past: JournalHistory) -> Count:
    """Count the validated first rounds that passed, and say what a share outside of the band may mean."""
    rounds = (one for each in past.opened for one in each.rounds if one.number == 1 and one.verdict)
    found, (low, high) = _share_of(one.verdict is Verdict.PASS for one in rounds), FIRST_ROUND_BAND
    if found.value is None or low <= found.value <= high:
        return found
    lenient = "the validator may be too lenient"
    strict = "the drafts are poor, or the checks or the validator are too strict"
    return found._replace(note=f"outside the band: {strict if found.value < low else lenient}")


def _kept_over_restart(past: JournalHistory) -> Count:
    """Count what ran when the bot last started and was collected since, or should have been."""
    started = past.bot_started_at
    outlived = [each for each in past.opened if started is not None and _ran_at(each, started)]
    is_late = started is not None and past.window.end - started > PICKED_UP
    settled = [
        each.status is not ThreadStatus.ESCALATED
        for each in outlived
        if each.status is not ThreadStatus.ESCALATED or (is_late and each.long_run and each.long_run.is_done)
    ]
    return _share_of(settled, all_of=True)


def _ran_at(thread: ThreadFacts, moment: datetime) -> bool:
    return any(since < moment and (until is None or until >= moment) for since, until in thread.escalated)


def _wrongly_ignored(past: JournalHistory) -> Count:
    alone, taken = error_rates(past.judged)
    wrong = percent(share(taken.wrong, taken.n))
    note = f"{wrong} of {taken.n:,} judged messages taken for work deserved none" if taken.n else ""
    return Count(share(alone.wrong, alone.n), alone.n, note=note)


def _criteria(baseline_s: float | None) -> tuple[_Criterion, ...]:
    """Return the table; what a reply may take depends on what it took before."""
    limit_s = SLACK_S + (baseline_s or 0.0)
    reply = "baseline + 30 s" if baseline_s is None else f"≤ {seconds(limit_s)}"
    unset = "baseline_reply_s is not set in triage.yml" if baseline_s is None else ""
    top, none, every = math.inf, (0, 0), (1, 1)

    def tokens(past: JournalHistory) -> Count:
        return _median((each.tokens for each in past.opened if each.tokens is not None), lambda n: f"{n:,.0f}")

    def improved(past: JournalHistory) -> Count:
        return _share_of(each.helped for each in past.opened if each.helped is not None)

    def answered(past: JournalHistory) -> Count:
        runs = (each.long_run for each in past.opened if each.long_run)
        return _share_of((run.has_return for run in runs if run.is_done), all_of=True)

    def watchable(past: JournalHistory) -> Count:
        return _share_of((each.is_watchable for each in past.opened if each.is_escalated), all_of=True)

    def waits(past: JournalHistory) -> Count:
        known = (wait for each in past.replies if (wait := waited_s(each)) is not None)
        return _median(known, seconds)._replace(missing=unset)

    share, band, near = (0, ACTIONABLE_AT_MOST), FIRST_ROUND_BAND, "pairs of threads within 5 min"
    return tuple(
        _Criterion(*row)
        for row in (
            ("AC-01", "actionable messages", f"≤ {percent(share[1])}", share, 1, "messages", _actionable),
            ("AC-02", "orchestrator tokens, median", "≤ 2,000", (0, 2_000), 20, "investigations", tokens),
            ("AC-03", "replies in the wrong thread", "none", none, 1, near, _swapped),
            ("AC-04", "fabricated evidence passed", "never", none, 1, "checked drafts", _fabricated_passed),
            ("AC-05", "drafts that pass in round 1", "60 to 90 %", band, 10, "validated drafts", _first_rounds),
            ("AC-06", "round-2 drafts that improve", "≥ 70 %", (0.7, top), 10, "second rounds", improved),
            ("AC-07", "long runs with an answer", "all", every, 1, "long runs that ended", answered),
            ("AC-08", "long runs that can be watched", "all", every, 1, "long runs", watchable),
            ("AC-09", "long runs kept over a restart", "all", every, 1, "long runs at a start", _kept_over_restart),
            ("AC-10", "time to reply, median", reply, (0, limit_s), 10, "replies", waits),
            ("AC-11", "messages wrongly ignored", "≤ 1 %", (0, 0.01), 100, "judged messages", _wrongly_ignored),
        )
    )


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
