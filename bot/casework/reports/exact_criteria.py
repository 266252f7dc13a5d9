"""The criteria that allow no exception, AC-03, AC-04, AC-07, AC-08 and AC-09 of SPEC §8, from what is on record. Pure.

What the record cannot show (a kill at any moment) is proved by the journeys under tests/.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from bot.casework.reports.journal_history import JournalHistory, ReplyRecord
from bot.casework.reports.measures import Measure, Window, share
from bot.casework.reports.thread_facts import ThreadFacts, is_own, to_us
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
