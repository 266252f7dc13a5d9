"""The criteria AC-01 to AC-11 of docs/metrics.md: one table of what is counted and the band it must stay in. Pure.

Below `needs` cases a value is shown and not judged. AC-03, AC-04, AC-07, AC-08 and AC-09 allow no exception; what
records cannot show (a kill at any moment) is proved by the journeys under tests/.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

from bot.casework.reports.classifier_samples import error_rates
from bot.casework.reports.journal_history import JournalHistory, ReplyRecord
from bot.casework.reports.measures import Measure, middle, percent, seconds, share
from bot.casework.reports.thread_facts import ThreadFacts, is_own
from bot.domain.returns import Verdict
from bot.domain.threads import ThreadStatus

TOGETHER: Final = timedelta(minutes=5)
PICKED_UP: Final = timedelta(minutes=5)
"""By when after a start a finished long run must have been collected."""

ACTIONABLE_AT_MOST: Final = 0.40
"""The share of messages that may be treated as questions (AC-01)."""

SLACK_S: Final = 30.0
"""What a reply may take beyond the baseline."""


class Count(NamedTuple):
    """What was counted of `n` cases; `missing` says why that cannot be judged, whatever n is."""

    value: float | None
    n: int
    missing: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Criterion:
    """A row of the table: what is counted, and the band of values that are good; `low` and `high` say what others mean.

    `cases` names what is counted, of which at least `needs` are looked at before a value is judged.
    """

    name: str
    what: str
    target: str
    count: Callable[[JournalHistory], Count]
    at_least: float = -math.inf
    at_most: float = math.inf
    needs: int = 1
    cases: str
    show: Callable[[float, int], str] | None = None
    """Of the value and of n; None: a share, as a percentage."""
    low: str = ""
    high: str = ""

    def measure(self, past: JournalHistory) -> Measure:
        """Return the criterion over what happened."""
        value, n, missing, note = self.count(past)
        few = f"{n} of {self.needs} {self.cases}" if n < self.needs else ""
        missing = "; ".join(filter(None, (few, missing)))
        fits = value is not None and self.at_least <= value <= self.at_most
        remark = "" if value is None or fits else self.low if value < self.at_least else self.high
        return Measure(
            name=self.name,
            what=self.what,
            target=self.target,
            value=value,
            shown="–" if value is None else self.show(value, n) if self.show else _percent(value, is_exact=not fits),
            n=n,
            ok=None if missing or value is None else fits,
            missing=missing,
            note=note or remark,
        )


def measure_criteria(past: JournalHistory, *, baseline_reply_s: float | None = None) -> list[Measure]:
    """Return AC-01 to AC-11 in order."""
    return [each.measure(past) for each in (*_CRITERIA, _time_to_reply(baseline_reply_s), _IGNORED)]


def waited_s(reply: ReplyRecord) -> float | None:
    """Return how long an asker waited, by Slack's time of the message; None where that cannot be said."""
    try:
        return max(0.0, reply.at.timestamp() - float(reply.reply_to))
    except ValueError:
        return None


def _percent(value: float, *, is_exact: bool) -> str:
    return f"{100 * value:.4g} %" if is_exact else percent(value)  # 40.3 % is over 40 %


def _number(value: float, _: int) -> str:
    return f"{value:,.0f}"


def _of_all(value: float, n: int) -> str:
    return f"{value * n:.0f} of {n}"


def _share_of(found: Iterable[bool]) -> Count:
    """Return how many of the cases are good."""
    known = list(found)
    return Count(share(sum(known), len(known)), len(known))


def _none_of(wrong: int, n: int) -> Count:
    """Return how many of the cases are wrong; of none, nothing is said."""
    return Count(float(wrong) if n or wrong else None, max(n, wrong))


def _actionable(past: JournalHistory) -> Count:
    window, since = past.window, past.recorded_since or past.window.end
    days = (window.end - since) / timedelta(days=1)
    is_young = bool(past.heard) and days < window.days - 1
    missing = f"{days:.1f} of {window.days:.0f} days were recorded" if is_young else ""
    return _share_of(past.heard)._replace(missing=missing)


def _orchestrator_tokens(past: JournalHistory) -> Count:
    read = [each.tokens for each in past.opened if each.tokens is not None]
    return Count(middle(read), len(read))


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
    rounds = (one for each in past.opened for one in each.rounds if one.number == 1 and one.verdict)
    return _share_of(one.verdict is Verdict.PASS for one in rounds)


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
    return _share_of(settled)


def _ran_at(thread: ThreadFacts, moment: datetime) -> bool:
    return any(since < moment and (until is None or until >= moment) for since, until in thread.escalated)


def _wrongly_ignored(past: JournalHistory) -> Count:
    alone, taken = error_rates(past.judged)
    wrong = percent(share(taken.wrong, taken.n))
    note = f"{wrong} of {taken.n:,} judged messages taken for work deserved none" if taken.n else ""
    return Count(share(alone.wrong, alone.n), alone.n, note=note)


def _time_to_reply(baseline_s: float | None) -> Criterion:
    """Return AC-10, whose band depends on what a reply took before."""

    def count(past: JournalHistory) -> Count:
        waits = [wait for each in past.replies if (wait := waited_s(each)) is not None]
        missing = "baseline_reply_s is not set in triage.yml" if baseline_s is None else ""
        return Count(middle(waits), len(waits), missing)

    limit_s = SLACK_S + (baseline_s or 0.0)
    return Criterion(
        name="AC-10",
        what="time to reply, median",
        target="baseline + 30 s" if baseline_s is None else f"≤ {seconds(limit_s)}",
        count=count,
        at_most=limit_s,
        needs=10,
        cases="replies",
        show=lambda value, _: seconds(value),
    )


_CRITERIA: Final = (
    Criterion(
        name="AC-01",
        what="actionable messages",
        target=f"≤ {percent(ACTIONABLE_AT_MOST)}",
        count=_actionable,
        at_most=ACTIONABLE_AT_MOST,
        cases="messages",
    ),
    Criterion(
        name="AC-02",
        what="orchestrator tokens, median",
        target="≤ 2,000",
        count=_orchestrator_tokens,
        at_most=2_000,
        needs=20,
        cases="investigations",
        show=_number,
    ),
    Criterion(
        name="AC-03",
        what="replies in the wrong thread",
        target="none",
        count=_swapped,
        at_most=0,
        cases="pairs of threads within 5 min",
        show=_number,
    ),
    Criterion(
        name="AC-04",
        what="fabricated evidence passed",
        target="never",
        count=_fabricated_passed,
        at_most=0,
        cases="checked drafts",
        show=_number,
    ),
    Criterion(
        name="AC-05",
        what="drafts that pass in round 1",
        target="60 to 90 %",
        count=_first_rounds,
        at_least=0.60,
        at_most=0.90,
        needs=10,
        cases="validated drafts",
        low="outside the band: the drafts are poor, or the checks or the validator are too strict",
        high="outside the band: the validator may be too lenient",
    ),
    Criterion(
        name="AC-06",
        what="round-2 drafts that improve",
        target="≥ 70 %",
        count=lambda past: _share_of(each.helped for each in past.opened if each.helped is not None),
        at_least=0.70,
        needs=10,
        cases="bounces with a second round",
    ),
    Criterion(
        name="AC-07",
        what="long runs with an answer",
        target="all",
        count=lambda past: _share_of(
            each.long_run.has_return for each in past.opened if each.long_run and each.long_run.is_done
        ),
        at_least=1,
        cases="long runs that ended",
        show=_of_all,
    ),
    Criterion(
        name="AC-08",
        what="long runs that can be watched",
        target="all",
        count=lambda past: _share_of(each.is_watchable for each in past.opened if each.is_escalated),
        at_least=1,
        cases="long runs",
        show=_of_all,
    ),
    Criterion(
        name="AC-09",
        what="long runs kept over a restart",
        target="all",
        count=_kept_over_restart,
        at_least=1,
        cases="long runs under way at the last start",
        show=_of_all,
    ),
)

_IGNORED: Final = Criterion(
    name="AC-11",
    what="messages wrongly ignored",
    target="≤ 1 %",
    count=_wrongly_ignored,
    at_most=0.01,
    needs=100,
    cases="judged messages that were ignored",
)
