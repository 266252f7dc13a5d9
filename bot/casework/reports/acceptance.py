"""SPEC §8 measured: AC-01 to AC-11 from what is on record, each with its target, or what is missing to say. Pure.

A share of a handful proves nothing: below the number named in `missing` a value is shown and not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from bot.casework.reports.classifier_samples import error_rates
from bot.casework.reports.exact_criteria import (
    check_ac03,
    check_ac04,
    check_ac07,
    check_ac08,
    check_ac09,
    threads_of,
)
from bot.casework.reports.journal_history import JournalHistory, ReplyRecord
from bot.casework.reports.measures import Measure, Window, middle, percent, seconds, share
from bot.domain.returns import Verdict

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
