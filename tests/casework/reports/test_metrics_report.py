"""What is measured is what was counted by hand; what cannot be said is not said."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.casework.reports.journal_history import JournalHistory, LongRun
from bot.casework.reports.measures import Measure
from bot.casework.reports.metrics_report import build_metrics, measure_criteria, tally
from bot.domain.returns import Verdict
from bot.domain.threads import Resolution, ThreadStatus, Transition
from tests.builders import NOW
from tests.casework.past import FALSE, GOOD, HOUR, TONE, a_round, decided, history, judgement, reply, thread
from tests.tables import each_row

LONG_AGO = NOW - timedelta(days=60)


def measured(name: str, past: JournalHistory, **settings: Any) -> Measure:
    """Return one criterion."""
    return next(each for each in measure_criteria(past, **settings) if each.name == name)


def test_every_criterion_is_there_and_says_nothing_of_nothing() -> None:
    """In order, each with what is missing."""
    found = measure_criteria(history())
    assert [each.name for each in found] == [f"AC-{number:02}" for number in range(1, 12)]
    assert {each.ok for each in found} == {None}
    assert all(each.missing for each in found)


def test_actionable_is_a_share_of_a_whole_week() -> None:
    """Three days on record are shown and not judged."""
    said = [True, False, False, False]
    seen = measured("AC-01", history(heard=said, recorded_since=LONG_AGO))
    assert (seen.value, seen.n, seen.ok, seen.shown) == (0.25, 4, True, "25 %")
    young = measured("AC-01", history(heard=said, recorded_since=NOW - timedelta(days=3)))
    assert (young.value, young.ok, young.missing) == (0.25, None, "3.0 of 7 days were recorded")
    over = measured("AC-01", history(heard=[True] * 403 + [False] * 597, recorded_since=LONG_AGO))
    assert (over.ok, over.shown, over.target) == (False, "40.3 %", "≤ 40 %")


def test_the_orchestrators_context_takes_twenty_investigations() -> None:
    """Median of 1,000 to 1,019."""
    seen = measured("AC-02", history(threads=[thread(n) for n in range(20)]))
    assert (seen.value, seen.ok) == (1009.5, True)
    few = measured("AC-02", history(threads=[thread(n) for n in range(19)]))
    assert (few.ok, few.missing) == (None, "19 of 20 investigations")
    assert measured("AC-02", history(threads=[thread(n, orchestrator_tokens=2_001) for n in range(20)])).ok is False


def test_a_draft_in_the_wrong_thread_is_seen() -> None:
    """By its run, or by words other than those approved; two threads an hour apart prove nothing."""
    early = NOW - timedelta(days=2)
    two = [thread(1, started_at=early), thread(2, started_at=early + timedelta(minutes=5))]
    assert measured("AC-03", history(threads=[thread(1), thread(2)])).ok is None
    good = measured("AC-03", history(threads=two, replies=[reply(1), reply(2)]))
    assert (good.ok, good.n, good.value) == (True, 1, 0)
    swapped = reply(1, task_id=reply(2).task_id)
    assert measured("AC-03", history(threads=two, replies=[swapped])).ok is False
    elsewhere = reply(1, chat_id="C2")
    assert measured("AC-03", history(threads=two, replies=[elsewhere])).ok is False
    posted = two[0].with_draft("Something else.").evolve(posted_message_id=reply(1).posted_as)
    assert measured("AC-03", history(threads=[posted, two[1]], replies=[reply(1)])).ok is False


def test_a_false_citation_that_passed_is_counted() -> None:
    """Caught ones are what the checks are for."""
    caught = thread(1, a_round(1, Verdict.BOUNCE, (FALSE,)), a_round(2))
    seen = measured("AC-04", history(threads=[caught]))
    assert (seen.ok, seen.n, seen.value) == (True, 2, 0)
    assert tally(history(threads=[caught])).fabricated == 1
    assert measured("AC-04", history(threads=[thread(2, a_round(1, Verdict.PASS, (FALSE,)))])).ok is False


@each_row("passed, ok, word", [(5, False, "poor"), (6, True, ""), (9, True, ""), (10, False, "lenient")])
def test_first_rounds_pass_within_a_band(passed: int, ok: bool, word: str) -> None:
    """Both ends belong to it; outside of it the report says what that may mean."""
    threads = [thread(n, a_round(1, Verdict.PASS if n < passed else Verdict.ESCALATE)) for n in range(10)]
    seen = measured("AC-05", history(threads=threads))
    assert (seen.value, seen.ok) == (passed / 10, ok)
    assert word in seen.note


def test_a_bounce_helped_if_the_fault_is_gone_and_the_criticised_field_is_another() -> None:
    """Seven of ten; a draft that merely lost its bad check by luck did not change."""
    first = a_round(1, Verdict.BOUNCE, (GOOD, TONE))
    helped = [thread(n, first, a_round(2, draft=f"Five, {n}.")) for n in range(7)]
    same = thread(7, first, a_round(2))
    still = thread(8, first, a_round(2, Verdict.BOUNCE, (TONE,), draft="Perhaps five."))
    other = thread(9, a_round(1, Verdict.BOUNCE, (FALSE,)), a_round(2, draft="New words, same citation."))
    seen = measured("AC-06", history(threads=[*helped, same, still, other]))
    assert (seen.value, seen.n, seen.ok) == (0.7, 10, True)
    assert measured("AC-06", history(threads=helped)).missing == "7 of 10 second rounds"


def test_long_runs_leave_an_answer_and_a_line_to_watch_them() -> None:
    """One is enough to say; one without fails."""
    one, two = thread(1, is_escalated=True, escalation_transcript_path="/x"), thread(2, is_escalated=True)
    runs = {one.thread_id: LongRun(True, True), two.thread_id: LongRun(True, False)}
    assert measured("AC-07", history(threads=[one], runs=runs)).ok is True
    assert measured("AC-07", history(threads=[one, two], runs=runs)).ok is False
    assert measured("AC-08", history(threads=[one])).ok is True
    assert measured("AC-08", history(threads=[one, two])).ok is False


def test_a_long_run_that_outlived_a_start_must_have_been_collected() -> None:
    """Five minutes are given; one that still runs says nothing yet."""
    start = NOW - HOUR
    begun = Transition(at=start - HOUR, from_=ThreadStatus.INVESTIGATING, to=ThreadStatus.ESCALATED, why="asked")
    ended = Transition(
        at=start + HOUR / 2, from_=ThreadStatus.ESCALATED, to=ThreadStatus.AWAITING_VALIDATION, why="answered"
    )
    kept = thread(1, status=ThreadStatus.PENDING_USER, status_history=(begun, ended))
    runs = thread(2, status=ThreadStatus.ESCALATED, status_history=(begun,))
    assert measured("AC-09", history(threads=[kept, runs], bot_started_at=start)).ok is True
    over = {runs.thread_id: LongRun(True, True)}
    assert measured("AC-09", history(threads=[kept, runs], runs=over, bot_started_at=start)).ok is False
    assert measured("AC-09", history(threads=[kept])).ok is None


def test_replies_are_compared_with_a_configured_baseline() -> None:
    """Baseline plus 30 s, by Slack's time of the question; without a baseline only the value is known."""
    past = history(replies=[reply(n, after_s=60 + n) for n in range(11)])
    seen = measured("AC-10", past)
    assert (seen.value, seen.ok) == (pytest.approx(65, abs=0.01), None)
    assert "baseline_reply_s" in seen.missing
    assert measured("AC-10", past, baseline_reply_s=40).ok is True
    assert measured("AC-10", past, baseline_reply_s=30).ok is False


def test_judgements_decide_on_the_rules() -> None:
    """One of a hundred is allowed; the latest of a message counts."""
    hundred = [judgement(n, right=n > 0) for n in range(100)]
    assert measured("AC-11", history(judged=hundred)).ok is True
    assert measured("AC-11", history(judged=[*hundred, judgement(1, right=False)])).ok is False
    assert measured("AC-11", history(judged=hundred[:99])).missing == "99 of 100 judged messages"


def test_counts_times_and_costs_are_those_of_the_week() -> None:
    """One unknown price makes the sum unknown."""
    threads = [
        decided(1, Resolution.APPROVED, a_round(), waited_s=60),
        decided(2, Resolution.EDITED, a_round(1, Verdict.BOUNCE, (TONE,)), a_round(2, draft="5."), waited_s=120),
        decided(3, Resolution.DISMISSED, a_round(1, Verdict.ESCALATE)),
    ]
    past = history(threads=threads, replies=[reply(1), reply(2)], costs_usd=[0.5, 0.25])
    seen = tally(past)
    assert seen.verdicts == {"pass": 2, "bounce": 1, "escalate": 1}
    assert (seen.approved, seen.edited, seen.dismissed, seen.replies) == (1, 1, 1, 2)
    assert (seen.to_approve_s, seen.to_reply_s) == (90, pytest.approx(90, abs=0.01))
    assert (seen.cost_usd, seen.cost_per_reply_usd) == (0.75, 0.375)
    assert tally(replace(past, costs_usd=[0.5, None])).cost_usd is None
    assert tally(replace(past, replies=[])).cost_per_reply_usd is None


MANY = st.lists(
    st.builds(
        lambda n, verdicts, resolution, checks: decided(
            n % 40, resolution, *[a_round(i + 1, each, checks) for i, each in enumerate(verdicts)]
        ),
        st.integers(0, 10_000),
        st.lists(st.sampled_from([*Verdict, None]), max_size=3),
        st.sampled_from(list(Resolution)),
        st.sampled_from([(), (GOOD,), (FALSE,), (FALSE, TONE)]),
    ),
    max_size=12,
)


@given(threads=MANY, replies=st.lists(st.builds(reply, st.integers(0, 50)), max_size=8), seed=st.randoms())
def test_no_record_divides_by_zero_and_order_does_not_matter(threads: Any, replies: Any, seed: random.Random) -> None:
    """Whatever happened, in whatever order it is read; a share is between nothing and all."""
    said = [False for _ in threads]
    past = history(threads=threads, replies=replies, heard=said)
    mixed = history(
        threads=seed.sample(threads, len(threads)),
        replies=seed.sample(replies, len(replies)),
        heard=seed.sample(said, len(said)),
    )
    one, other = (build_metrics(each, baseline_reply_s=60) for each in (past, mixed))
    assert one == other
    for each in one.criteria:
        is_share = each.shown.endswith("%")
        assert not is_share or (each.value is not None and 0 <= each.value <= 1)
