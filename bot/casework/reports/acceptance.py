"""SPEC §8 measured: AC-01 to AC-11 from what is on record, each with its target, or what is missing to say. Pure.

A share of a handful proves nothing: below the number named in `missing` a value is shown and not judged. AC-03, AC-04,
AC-07, AC-08 and AC-09 allow no exception; what the record cannot show (a kill at any moment) is proved by the journeys
under tests/.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from bot.casework.reports.classifier_samples import error_rates
from bot.casework.reports.journal_history import JournalHistory, ReplyRecord
from bot.casework.reports.measures import Measure, Window, middle, percent, seconds, share, to_us
from bot.casework.reports.thread_facts import ThreadFacts, is_own
from bot.domain.returns import Verdict
from bot.domain.threads import ThreadStatus


def threads_of(past: JournalHistory, window: Window) -> list[ThreadFacts]:
    """Return the threads opened in a window."""
    start, end = window.bounds_us
    return [thread for thread in past.threads if start <= thread.started_us < end]


TOGETHER: Final = timedelta(minutes=5)
PICKED_UP: Final = timedelta(minutes=5)
"""By when after a start a finished long run must have been collected."""


def check_ac03(past: JournalHistory, window: Window) -> Measure:
    """AC-03: no reply stands in a thread it was not drafted for."""
    threads = sorted(threads_of(past, window), key=lambda each: each.started_us)
    together_us = TOGETHER // timedelta(microseconds=1)
    close = {
        each.thread_id
        for pair in pairwise(threads)
        if pair[1].started_us - pair[0].started_us <= together_us and pair[0].thread_id != pair[1].thread_id
        for each in pair
    }
    wrong = {each.thread_id for each in threads if not each.is_own}
    known = {each.posted_as: each for each in threads}
    replies = [each for each in past.replies if window.holds(each.at)]
    wrong |= {each.thread_id for each in replies if _is_swapped(each, known.get(each.posted_as))}
    missing = "" if close or wrong else "no two threads came within 5 min"
    return Measure(
        name="AC-03",
        what="replies in the wrong thread",
        target="none",
        value=float(len(wrong)),
        shown="–" if missing else str(len(wrong)),
        n=len(close),
        ok=None if missing else not wrong,
        missing=missing,
    )


def _is_swapped(reply: ReplyRecord, thread: ThreadFacts | None) -> bool:
    """Whether a reply stands in a thread it was not drafted for, or is not what was approved there."""
    _, _, rest = reply.thread_id.partition(".")
    if not is_own(reply.task_id, reply.thread_id) or not rest.startswith(f"{reply.chat_id}."):
        return True
    if thread is None or thread.thread_id != reply.thread_id:
        return thread is not None and thread.chat_id == reply.chat_id
    return thread.draft_hash is not None and reply.text_hash != thread.draft_hash


def check_ac04(past: JournalHistory, window: Window) -> Measure:
    """AC-04: no draft with a false citation passed."""
    threads = threads_of(past, window)
    rounds, passed = sum(each.checked_rounds for each in threads), sum(each.false_passed for each in threads)
    return Measure(
        name="AC-04",
        what="fabricated evidence passed",
        target="never",
        value=float(passed),
        shown=str(passed) if rounds else "–",
        n=rounds,
        ok=passed == 0 if rounds else None,
        missing="" if rounds else "no draft was checked",
    )


def _all_of(name: str, what: str, target: str, good: int, n: int, missing: str) -> Measure:
    """Return a measure of which all must be good; one of them is enough to say."""
    value = share(good, n)
    shown = f"{good} of {n}" if n else "–"
    ok = good == n if n else None
    return Measure(
        name=name, what=what, target=target, value=value, shown=shown, n=n, ok=ok, missing="" if n else missing
    )


def check_ac07(past: JournalHistory, window: Window) -> Measure:
    """AC-07: every long run that ended left a return.json that can be used."""
    runs = {each.thread_id: each.long_run for each in threads_of(past, window) if each.long_run}
    done = [each for each in runs.values() if each.is_done]
    good = sum(each.has_return for each in done)
    return _all_of("AC-07", "long runs with an answer", "all", good, len(done), "no long run has ended")


def check_ac08(past: JournalHistory, window: Window) -> Measure:
    """AC-08: every long run left a line that shows it."""
    long = [each for each in threads_of(past, window) if each.is_escalated]
    good = sum(each.is_watchable for each in long)
    return _all_of("AC-08", "long runs that can be watched", "all", good, len(long), "no long run was started")


def check_ac09(past: JournalHistory, window: Window) -> Measure:
    """AC-09: what ran when the bot last started was collected."""
    started, missing = past.bot_started_at, "no long run was under way at the last start"
    outlived = [each for each in threads_of(past, window) if started and _spans(each, started)]
    late = started is not None and window.end - started > PICKED_UP
    lost = [each for each in outlived if late and _runs_on(each) and each.long_run and each.long_run.is_done]
    settled = [each for each in outlived if not _runs_on(each)]
    n = len(settled) + len(lost)
    return _all_of("AC-09", "long runs kept over a restart", "all", len(settled), n, missing)


def _runs_on(thread: ThreadFacts) -> bool:
    return thread.status == ThreadStatus.ESCALATED


def _spans(thread: ThreadFacts, start: datetime) -> bool:
    """Whether a thread was escalated when the bot started."""
    at = to_us(start)
    return any(since < at and (until is None or until >= at) for since, until in thread.escalated)


ACTIONABLE_AT_MOST: Final = 0.40
"""The share of messages that may be treated as questions (AC-01)."""
TOKENS_AT_MOST: Final = 2_000
BAND: Final = (0.60, 0.90)
BETTER_AT_LEAST: Final = 0.70
WRONG_AT_MOST: Final = 0.01
SLACK_S: Final = 30.0
"""What a reply may take beyond the baseline."""


def acceptance(past: JournalHistory, window: Window, *, baseline_reply_s: float | None = None) -> list[Measure]:
    """Return AC-01 to AC-11 over a window, in order."""
    found = [measure(past, window) for measure in _MEASURES]
    return [*found, _ac_10(past, window, baseline_s=baseline_reply_s), _ac_11(past, window)]


def _needs(n: int, least: int, of: str) -> str:
    return "" if n >= least else f"{n} of {least} {of}"


def _ac_01(past: JournalHistory, window: Window) -> Measure:
    heard, actionable = past.heard.count(window)
    value = share(actionable, heard)
    missing = "" if heard else "no message was recorded"
    if not missing and (past.recorded_since is None or past.recorded_since > window.start + timedelta(days=1)):
        since = past.recorded_since or window.end
        missing = f"{(window.end - since) / timedelta(days=1):.1f} of {window.days:.0f} days were recorded"
    return Measure(
        name="AC-01",
        what="actionable messages",
        target=f"≤ {percent(ACTIONABLE_AT_MOST)}",
        value=value,
        shown=percent(value),
        n=heard,
        ok=None if missing or value is None else value <= ACTIONABLE_AT_MOST,
        missing=missing,
    )


def _ac_02(past: JournalHistory, window: Window) -> Measure:
    read = [each.tokens for each in threads_of(past, window) if each.tokens is not None]
    value, missing = middle(read), _needs(len(read), 20, "investigations")
    return Measure(
        name="AC-02",
        what="orchestrator tokens, median",
        target="≤ 2,000",
        value=value,
        shown="–" if value is None else f"{value:,.0f}",
        n=len(read),
        ok=None if missing or value is None else value <= TOKENS_AT_MOST,
        missing=missing,
    )


def first_round_passes(past: JournalHistory, window: Window) -> Measure:
    """Return AC-05: how many of the validated drafts passed the first time."""
    verdicts = [verdict for each in threads_of(past, window) for verdict in each.first_verdicts]
    value, missing = share(verdicts.count(Verdict.PASS), len(verdicts)), _needs(len(verdicts), 10, "validated drafts")
    low, high = BAND
    is_outside = value is not None and not low <= value <= high
    return Measure(
        name="AC-05",
        what="drafts that pass in round 1",
        target="60 to 90 %",
        value=value,
        shown=percent(value),
        n=len(verdicts),
        ok=None if missing or value is None else not is_outside,
        missing=missing,
        note=_outside(value) if is_outside else "",
    )


def _outside(value: float | None) -> str:
    if value is not None and value < BAND[0]:
        return "below the target: the drafts are poor, or the checks or the validator are too strict"
    return "above the target: the validator may be too lenient"


def _ac_06(past: JournalHistory, window: Window) -> Measure:
    pairs = [each.helped for each in threads_of(past, window) if each.helped is not None]
    better = sum(pairs)
    value, missing = share(better, len(pairs)), _needs(len(pairs), 10, "bounces with a second round")
    return Measure(
        name="AC-06",
        what="round-2 drafts that improve",
        target="≥ 70 %",
        value=value,
        shown=percent(value),
        n=len(pairs),
        ok=None if missing or value is None else value >= BETTER_AT_LEAST,
        missing=missing,
    )


def _ac_10(past: JournalHistory, window: Window, *, baseline_s: float | None) -> Measure:
    waits = [wait for each in past.replies if window.holds(each.at) and (wait := waited_s(each)) is not None]
    value = middle(waits)
    missing = _needs(len(waits), 10, "replies")
    if baseline_s is None:
        missing = "; ".join(filter(None, (missing, "baseline_reply_s is not set in triage.yml")))
    return Measure(
        name="AC-10",
        what="time to reply, median",
        target="baseline + 30 s" if baseline_s is None else f"≤ {seconds(baseline_s + SLACK_S)}",
        value=value,
        shown=seconds(value),
        n=len(waits),
        ok=None if missing or value is None or baseline_s is None else value <= baseline_s + SLACK_S,
        missing=missing,
    )


def waited_s(reply: ReplyRecord) -> float | None:
    """Return how long an asker waited, by Slack's time of the message; None where that cannot be said."""
    try:
        return max(0.0, reply.at.timestamp() - float(reply.reply_to))
    except ValueError:
        return None


def _ac_11(past: JournalHistory, window: Window) -> Measure:
    alone, taken = error_rates(each for each in past.judged if window.holds(each.at))
    value, missing = share(alone.wrong, alone.n), _needs(alone.n, 100, "judged messages that were ignored")
    wrongly_taken = (
        f"{percent(share(taken.wrong, taken.n))} of {taken.n:,} judged messages taken for work deserved none"
    )
    return Measure(
        name="AC-11",
        what="messages wrongly ignored",
        target="≤ 1 %",
        value=value,
        shown=percent(value),
        n=alone.n,
        ok=None if missing or value is None else value <= WRONG_AT_MOST,
        missing=missing,
        note=wrongly_taken if taken.n else "",
    )


_MEASURES: Sequence[Callable[[JournalHistory, Window], Measure]] = (
    _ac_01,
    _ac_02,
    check_ac03,
    check_ac04,
    first_round_passes,
    _ac_06,
    check_ac07,
    check_ac08,
    check_ac09,
)
