"""The criteria that allow no exception, AC-03, AC-04, AC-07, AC-08 and AC-09 of SPEC §8, from what is on record. Pure.

Also what rounds came to: first verdicts, bounces and whether they helped, citations found false. What the record
cannot show (a kill at any moment) is proved by the journeys under tests/.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from bot.casework.reports.journal_history import JournalHistory, ReplyRecord
from bot.casework.reports.measures import Measure, Window, share
from bot.domain.returns import Check, Verdict
from bot.domain.threads import Round, ThreadState, ThreadStatus, hash_draft

_CITATION: Final = re.compile(r"ref\[\d+\]\.(?:resolves|quote)")
_EVIDENCE: Final = re.compile(r"ref\[\d+\]\.|required_evidence$|grounded$")

Pair = tuple[Round, Round]


def fabrications(rounds: Iterable[Round]) -> int:
    """Return how many citations were found to be false, each once."""
    return sum(len({check.name.partition(".")[0] for check in each.checks if _is_false(check)}) for each in rounds)


def threads_of(past: JournalHistory, window: Window) -> list[ThreadState]:
    """Return the threads opened in a window."""
    return [thread for thread in past.threads if window.holds(thread.started_at)]


def first_verdicts(threads: Iterable[ThreadState]) -> list[Verdict]:
    """Return what the first round of each validated thread came to."""
    firsts = [each for thread in threads for each in thread.rounds if each.round == 1]
    return [each.validator_return.verdict for each in firsts if each.validator_return is not None]


def second_rounds(threads: Iterable[ThreadState]) -> list[Pair]:
    """Return every bounced first round with the round that answered it and was checked."""
    pairs = []
    for thread in threads:
        by_number = {each.round: each for each in thread.rounds}
        first, second = by_number.get(1), by_number.get(2)
        if first and second and second.checks and verdict_of(first) is Verdict.BOUNCE:
            pairs.append((first, second))
    return pairs


def is_better(pair: Pair) -> bool:
    """Whether a second draft passes every check that the first one failed, and changed what was criticised."""
    first, second = pair
    failed = {check.name for check in first.checks if check.ok is False}
    still = {check.name for check in second.checks if check.ok is False}
    return not failed & still and _changed(first, second, failed)


def _changed(first: Round, second: Round, failed: set[str]) -> bool:
    """Whether the criticised field differs; an objection of a model alone is about the draft as a whole."""
    before, after = first.investigator_return, second.investigator_return
    draft = before.draft_reply != after.draft_reply
    refs = before.evidence_refs != after.evidence_refs
    if failed and all(_EVIDENCE.match(name) for name in failed):
        return refs
    if any(name.startswith(("confidence", "risk_gate")) for name in failed):
        return draft or before.confidence != after.confidence
    return draft or refs


def verdict_of(each: Round) -> Verdict | None:
    """Return what a round came to, None where it was not validated."""
    return each.validator_return.verdict if each.validator_return else None


def _is_false(check: Check) -> bool:
    return check.ok is False and _CITATION.fullmatch(check.name) is not None


TOGETHER: Final = timedelta(minutes=5)
PICKED_UP: Final = timedelta(minutes=5)
"""By when after a start a finished long run must have been collected."""


def check_ac03(past: JournalHistory, window: Window) -> Measure:
    """AC-03: no reply stands in a thread it was not drafted for."""
    threads = sorted(threads_of(past, window), key=lambda each: each.started_at)
    close = {
        each.thread_id
        for pair in pairwise(threads)
        if pair[1].started_at - pair[0].started_at <= TOGETHER and pair[0].thread_id != pair[1].thread_id
        for each in pair
    }
    wrong = {each.thread_id for each in threads if not _is_own(each.investigator_task_id, each.thread_id)}
    known = {each.posted_message_id: each for each in threads}
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


def _is_own(task_id: str | None, thread_id: str) -> bool:
    return task_id is None or task_id.startswith(f"{thread_id}-")


def _is_swapped(reply: ReplyRecord, thread: ThreadState | None) -> bool:
    """Whether a reply stands in a thread it was not drafted for, or is not what was approved there."""
    _, _, rest = reply.thread_id.partition(".")
    if not _is_own(reply.task_id, reply.thread_id) or not rest.startswith(f"{reply.chat_id}."):
        return True
    if thread is None or thread.thread_id != reply.thread_id:
        return thread is not None and thread.chat_id == reply.chat_id
    return thread.draft_hash is not None and hash_draft(reply.text) != thread.draft_hash


def check_ac04(past: JournalHistory, window: Window) -> Measure:
    """AC-04: no draft with a false citation passed."""
    rounds = [each for thread in threads_of(past, window) for each in thread.rounds if each.checks]
    false = [each for each in rounds if fabrications([each])]
    passed = sum(verdict_of(each) is Verdict.PASS for each in false)
    return Measure(
        name="AC-04",
        what="fabricated evidence passed",
        target="never",
        value=float(passed),
        shown=str(passed) if rounds else "–",
        n=len(rounds),
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
    mine = {each.thread_id for each in threads_of(past, window)}
    done = [each for each in past.long_runs if each.is_done and each.thread_id in mine]
    good = sum(each.has_return for each in done)
    return _all_of("AC-07", "long runs with an answer", "all", good, len(done), "no long run has ended")


def check_ac08(past: JournalHistory, window: Window) -> Measure:
    """AC-08: every long run left a line that shows it."""
    long = [each for each in threads_of(past, window) if each.is_escalated]
    good = sum(bool(each.escalation_tmux_session or each.escalation_transcript_path) for each in long)
    return _all_of("AC-08", "long runs that can be watched", "all", good, len(long), "no long run was started")


def check_ac09(past: JournalHistory, window: Window) -> Measure:
    """AC-09: what ran when the bot last started was collected."""
    started, missing = past.bot_started_at, "no long run was under way at the last start"
    outlived = [each for each in threads_of(past, window) if started and _spans(each, started)]
    done = {each.thread_id for each in past.long_runs if each.is_done}
    late = started is not None and window.end - started > PICKED_UP
    lost = [each for each in outlived if late and each.status is ThreadStatus.ESCALATED and each.thread_id in done]
    settled = [each for each in outlived if each.status is not ThreadStatus.ESCALATED]
    n = len(settled) + len(lost)
    return _all_of("AC-09", "long runs kept over a restart", "all", len(settled), n, missing)


def _spans(thread: ThreadState, start: datetime) -> bool:
    """Whether a thread was escalated when the bot started."""
    before = [step.to for step in thread.status_history if step.at < start]
    return bool(before) and before[-1] is ThreadStatus.ESCALATED
