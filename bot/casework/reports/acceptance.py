"""Measures the criteria AC-01 to AC-11 of docs/metrics.md: value and target, or what data is missing. Pure.

Below the number of cases named in `missing` a value is shown and not judged. AC-03, AC-04, AC-07, AC-08 and AC-09
allow no exception; what records cannot show (a kill at any moment) is proved by the journeys under tests/.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from bot.casework.reports.classifier_samples import error_rates
from bot.casework.reports.journal_history import JournalHistory, ReplyRecord
from bot.casework.reports.measures import Measure, Window, middle, percent, seconds, share
from bot.casework.reports.thread_facts import ThreadFacts, is_own
from bot.domain.returns import Verdict
from bot.domain.threads import ThreadStatus

TOGETHER: Final = timedelta(minutes=5)
PICKED_UP: Final = timedelta(minutes=5)
"""By when after a start a finished long run must have been collected."""

ACTIONABLE_AT_MOST: Final = 0.40
"""The share of messages that may be treated as questions (AC-01)."""

TOKENS_AT_MOST: Final = 2_000
BAND: Final = (0.60, 0.90)
BETTER_AT_LEAST: Final = 0.70
WRONG_AT_MOST: Final = 0.01
SLACK_S: Final = 30.0
"""What a reply may take beyond the baseline."""


def threads_of(past: JournalHistory, window: Window) -> list[ThreadFacts]:
    """Return the threads opened in a window."""
    return [thread for thread in past.threads if window.holds(thread.started_at)]


def _wrong_threads(past: JournalHistory, window: Window) -> Measure:
    """AC-03: no reply stands in a thread it was not drafted for."""
    threads = sorted(threads_of(past, window), key=lambda each: each.started_at)
    close = {
        each.thread_id
        for pair in pairwise(threads)
        if pair[1].started_at - pair[0].started_at <= TOGETHER and pair[0].thread_id != pair[1].thread_id
        for each in pair
    }
    wrong = {each.thread_id for each in threads if not each.is_own}
    known = {each.posted_as: each for each in threads}
    replies = [each for each in past.replies if window.holds(each.at)]
    wrong |= {each.thread_id for each in replies if _is_swapped(each, known.get(each.posted_as))}
    missing = "" if close or wrong else "no two threads came within 5 min"
    what, shown = "replies in the wrong thread", "–" if missing else str(len(wrong))
    return _judged("AC-03", what, "none", float(len(wrong)), len(close), missing, _is_none, shown=shown)


def _is_swapped(reply: ReplyRecord, thread: ThreadFacts | None) -> bool:
    """Whether a reply stands in a thread it was not drafted for, or is not what was approved there."""
    _, _, rest = reply.thread_id.partition(".")
    if not is_own(reply.task_id, reply.thread_id) or not rest.startswith(f"{reply.chat_id}."):
        return True
    if thread is None or thread.thread_id != reply.thread_id:
        return thread is not None and thread.chat_id == reply.chat_id
    return thread.draft_hash is not None and reply.text_hash != thread.draft_hash


def _fabricated_passed(past: JournalHistory, window: Window) -> Measure:
    """AC-04: no draft with a false citation passed."""
    threads = threads_of(past, window)
    rounds, passed = sum(each.checked_rounds for each in threads), sum(each.false_passed for each in threads)
    missing, shown = ("", str(passed)) if rounds else ("no draft was checked", "–")
    return _judged(
        "AC-04", "fabricated evidence passed", "never", float(passed), rounds, missing, _is_none, shown=shown
    )


def _all_of(name: str, what: str, target: str, good: int, n: int, missing: str) -> Measure:
    """Return a measure of which all must be good; one of them is enough to say."""
    shown, missing = (f"{good} of {n}", "") if n else ("–", missing)
    return _judged(name, what, target, share(good, n), n, missing, lambda value: value == 1, shown=shown)


def _long_run_answers(past: JournalHistory, window: Window) -> Measure:
    """AC-07: every long run that ended left a return.json that can be used."""
    runs = {each.thread_id: each.long_run for each in threads_of(past, window) if each.long_run}
    done = [each for each in runs.values() if each.is_done]
    good = sum(each.has_return for each in done)
    return _all_of("AC-07", "long runs with an answer", "all", good, len(done), "no long run has ended")


def _watchable_runs(past: JournalHistory, window: Window) -> Measure:
    """AC-08: every long run left a line that shows it."""
    long = [each for each in threads_of(past, window) if each.is_escalated]
    good = sum(each.is_watchable for each in long)
    return _all_of("AC-08", "long runs that can be watched", "all", good, len(long), "no long run was started")


def _kept_over_restart(past: JournalHistory, window: Window) -> Measure:
    """AC-09: what ran when the bot last started was collected."""
    started, missing = past.bot_started_at, "no long run was under way at the last start"
    outlived = [each for each in threads_of(past, window) if started and _spans(each, started)]
    late = started is not None and window.end - started > PICKED_UP
    lost = [each for each in outlived if late and _runs_on(each) and each.long_run and each.long_run.is_done]
    settled = [each for each in outlived if not _runs_on(each)]
    n = len(settled) + len(lost)
    return _all_of("AC-09", "long runs kept over a restart", "all", len(settled), n, missing)


def _runs_on(thread: ThreadFacts) -> bool:
    return thread.status is ThreadStatus.ESCALATED


def _spans(thread: ThreadFacts, start: datetime) -> bool:
    """Whether a thread was escalated when the bot started."""
    return any(since < start and (until is None or until >= start) for since, until in thread.escalated)


def acceptance(past: JournalHistory, window: Window, *, baseline_reply_s: float | None = None) -> list[Measure]:
    """Return AC-01 to AC-11 over a window, in order."""
    found = [measure(past, window) for measure in _MEASURES]
    return [*found, _time_to_reply(past, window, baseline_s=baseline_reply_s), _wrongly_ignored(past, window)]


def _judged(
    name: str,
    what: str,
    target: str,
    value: float | None,
    n: int,
    missing: str,
    fits: Callable[[float], bool],
    *,
    shown: str | None = None,
    note: str = "",
) -> Measure:
    """Return a criterion; whether its value fits the target is said only where nothing is missing."""
    ok = None if missing or value is None else fits(value)
    if shown is None:  # 40.3 % is over 40 %
        shown = f"{100 * value:.4g} %" if value is not None and ok is False else percent(value)
    return Measure(
        name=name, what=what, target=target, value=value, shown=shown, n=n, ok=ok, missing=missing, note=note
    )


def _is_none(count: float) -> bool:
    return not count


def _needs(n: int, least: int, of: str) -> str:
    return "" if n >= least else f"{n} of {least} {of}"


def _actionable(past: JournalHistory, window: Window) -> Measure:
    """AC-01."""
    heard, actionable = past.count_heard(window)
    missing = "" if heard else "no message was recorded"
    if not missing and (past.recorded_since is None or past.recorded_since > window.start + timedelta(days=1)):
        since = past.recorded_since or window.end
        missing = f"{(window.end - since) / timedelta(days=1):.1f} of {window.days:.0f} days were recorded"
    target, value = f"≤ {percent(ACTIONABLE_AT_MOST)}", share(actionable, heard)
    what = "actionable messages"
    return _judged("AC-01", what, target, value, heard, missing, lambda share: share <= ACTIONABLE_AT_MOST)


def _orchestrator_tokens(past: JournalHistory, window: Window) -> Measure:
    """AC-02."""
    read = [each.tokens for each in threads_of(past, window) if each.tokens is not None]
    value, missing = middle(read), _needs(len(read), 20, "investigations")
    shown, what = "–" if value is None else f"{value:,.0f}", "orchestrator tokens, median"
    return _judged(
        "AC-02", what, "≤ 2,000", value, len(read), missing, lambda tokens: tokens <= TOKENS_AT_MOST, shown=shown
    )


def first_round_passes(past: JournalHistory, window: Window) -> Measure:
    """Return AC-05: how many of the validated drafts passed the first time."""
    verdicts = [verdict for each in threads_of(past, window) for verdict in each.first_verdicts]
    value, missing = share(verdicts.count(Verdict.PASS), len(verdicts)), _needs(len(verdicts), 10, "validated drafts")
    what, target, note = "drafts that pass in round 1", "60 to 90 %", _outside(value)
    return _judged("AC-05", what, target, value, len(verdicts), missing, lambda _: not note, note=note)


def _outside(value: float | None) -> str:
    """Return what a share outside of the band means; empty for any other."""
    low, high = BAND
    if value is not None and value < low:
        return "below the target: the drafts are poor, or the checks or the validator are too strict"
    return "above the target: the validator may be too lenient" if value is not None and value > high else ""


def _second_rounds(past: JournalHistory, window: Window) -> Measure:
    """AC-06."""
    pairs = [each.helped for each in threads_of(past, window) if each.helped is not None]
    value, missing = share(sum(pairs), len(pairs)), _needs(len(pairs), 10, "bounces with a second round")
    what = "round-2 drafts that improve"
    return _judged("AC-06", what, "≥ 70 %", value, len(pairs), missing, lambda better: better >= BETTER_AT_LEAST)


def _time_to_reply(past: JournalHistory, window: Window, *, baseline_s: float | None) -> Measure:
    """AC-10."""
    waits = [wait for each in past.replies if window.holds(each.at) and (wait := waited_s(each)) is not None]
    value, missing, what = middle(waits), _needs(len(waits), 10, "replies"), "time to reply, median"
    if baseline_s is None:
        missing = "; ".join(filter(None, (missing, "baseline_reply_s is not set in triage.yml")))
    limit_s = SLACK_S + (baseline_s or 0.0)
    target = "baseline + 30 s" if baseline_s is None else f"≤ {seconds(limit_s)}"
    return _judged(
        "AC-10", what, target, value, len(waits), missing, lambda wait: wait <= limit_s, shown=seconds(value)
    )


def waited_s(reply: ReplyRecord) -> float | None:
    """Return how long an asker waited, by Slack's time of the message; None where that cannot be said."""
    try:
        return max(0.0, reply.at.timestamp() - float(reply.reply_to))
    except ValueError:
        return None


def _wrongly_ignored(past: JournalHistory, window: Window) -> Measure:
    """AC-11."""
    alone, taken = error_rates(one for one in past.judged if window.holds(one.at))
    value, missing = share(alone.wrong, alone.n), _needs(alone.n, 100, "judged messages that were ignored")
    wrong = percent(share(taken.wrong, taken.n))
    note = f"{wrong} of {taken.n:,} judged messages taken for work deserved none" if taken.n else ""
    what = "messages wrongly ignored"
    return _judged("AC-11", what, "≤ 1 %", value, alone.n, missing, lambda share: share <= WRONG_AT_MOST, note=note)


_MEASURES: Sequence[Callable[[JournalHistory, Window], Measure]] = (
    _actionable,
    _orchestrator_tokens,
    _wrong_threads,
    _fabricated_passed,
    first_round_passes,
    _second_rounds,
    _long_run_answers,
    _watchable_runs,
    _kept_over_restart,
)
