"""The state machine over every status, target and reason, and the document a thread is on disk."""

from __future__ import annotations

import itertools
import json
import random
import re
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.threads import (
    TRANSITIONS,
    Followup,
    HumanContext,
    PendingReason,
    PostIntent,
    Resolution,
    ThreadState,
    ThreadStatus,
    Transition,
    check_thread_id,
    hash_draft,
)
from bot.errors import IllegalTransition, InputError
from tests.builders import NOW, THREAD_ID, a_thread, in_status
from tests.tables import each_row

REASONS: list[PendingReason | None] = [None, *PendingReason]
STEPS = list(itertools.product(ThreadStatus, ThreadStatus, REASONS))

LEGAL = {
    ("investigating", "awaiting-validation", None),
    ("investigating", "escalated", None),
    ("investigating", "pending-user", "failed"),
    ("investigating", "pending-user", "context"),
    ("investigating", "closed", None),
    ("awaiting-validation", "pending-user", "approval"),
    ("awaiting-validation", "pending-user", "disagreement"),
    ("awaiting-validation", "pending-user", "failed"),
    ("awaiting-validation", "bounced-round-1", None),
    ("awaiting-validation", "closed", None),
    ("bounced-round-1", "awaiting-validation", None),
    ("bounced-round-1", "escalated", None),
    ("bounced-round-1", "pending-user", "failed"),
    ("bounced-round-1", "closed", None),
    ("escalated", "awaiting-validation", None),
    ("escalated", "pending-user", "failed"),
    ("escalated", "closed", None),
    ("investigating", "pending-user", "stopped"),
    ("awaiting-validation", "pending-user", "stopped"),
    ("bounced-round-1", "pending-user", "stopped"),
    ("escalated", "pending-user", "stopped"),
    ("pending-user", "investigating", None),
    ("pending-user", "escalated", None),
    ("pending-user", "closed", None),
}
"""The table of transitions, written out by hand so that the table cannot agree with itself."""

FIELDS = """
thread_id team_id chat_id chat_name original_message_id opened_by_message_id original_sender_id
original_sender_name question alert assignee permalink
question_type status status_history pending_reason resolution rubric investigator_task_id investigator
investigator_round investigator_return validator_task_id validator_return rounds is_escalated escalation_tmux_session
escalation_transcript_path draft_pending draft_version draft_hash draft_edited_by draft_new card_channel card_ts
followups human_context
severity stale_reasons post_intent dismiss_reason orchestrator_tokens approved_by user_approved_at posted_message_id
paging triage_file_path usage started_at last_event_at closed_at version
"""


@each_row("start, to, reason", [step for step in STEPS if step in LEGAL])
def test_a_legal_step_changes_status_reason_and_history_only(
    start: ThreadStatus, to: ThreadStatus, reason: PendingReason | None
) -> None:
    """Every step of the table is taken, and its line of history says when, whence, whither and why."""
    before = in_status(start)
    after = before.transition(to, at=NOW, why="because", reason=reason)
    step = Transition(at=NOW, from_=start, to=to, why="because")
    assert after == before.model_copy(
        update={"status": to, "pending_reason": reason, "status_history": (*before.status_history, step)}
    )


@each_row("start, to, reason", [step for step in STEPS if step not in LEGAL])
def test_an_illegal_step_raises_and_changes_nothing(
    start: ThreadStatus, to: ThreadStatus, reason: PendingReason | None
) -> None:
    """Everything outside the table raises IllegalTransition that names both ends; the thread is as it was."""
    before = in_status(start)
    copy = before.model_dump_json()
    with pytest.raises(IllegalTransition, match=f"{start} -> {to}"):
        before.transition(to, at=NOW, why="because", reason=reason)
    assert before.model_dump_json() == copy


def test_the_status_cannot_be_changed_around_the_table() -> None:
    """evolve refuses a status, also the one the thread has."""
    with pytest.raises(IllegalTransition):
        a_thread().evolve(status=ThreadStatus.INVESTIGATING)


@given(seed=st.integers(), length=st.integers(1, 40))
def test_a_random_walk_leaves_a_connected_history(seed: int, length: int) -> None:
    """Property: whatever is tried, history is the chain of the steps that were taken, and reasons fit the status."""
    chance = random.Random(seed)
    state, taken = a_thread(), []
    for number in range(length):
        to, reason = chance.choice(list(ThreadStatus)), chance.choice(REASONS)
        legal = (state.status, to, reason) in LEGAL
        try:
            state = state.transition(to, at=NOW + timedelta(seconds=number), why="walk", reason=reason)
        except IllegalTransition:
            assert not legal
        else:
            assert legal
            taken.append(to)
        assert (state.pending_reason is not None) == (state.status is ThreadStatus.PENDING_USER)
    assert [step.to for step in state.status_history] == taken
    starts = [ThreadStatus.INVESTIGATING, *taken[:-1]] if taken else []
    assert [step.from_ for step in state.status_history] == starts


@each_row(
    "status, reason",
    [(start, None) for start in ThreadStatus] + [(ThreadStatus.PENDING_USER, reason) for reason in PendingReason],
)
def test_a_thread_survives_json(status: ThreadStatus, reason: PendingReason | None) -> None:
    """What is written to disk is read back equal."""
    state = in_status(
        status,
        reason,
        followups=(Followup(message_id="1.2", sender_id="U3", text="ü <!here> \n", at=NOW),),
        human_context=(HumanContext(by="U2", at=NOW, text="we use v2"),),
        post_intent=PostIntent(at=NOW, draft_hash="00112233aabbccdd"),
        stale_reasons=("the question was edited",),
    )
    assert ThreadState.model_validate_json(state.model_dump_json()) == state
    assert ThreadState.model_validate(json.loads(json.dumps(state.model_dump(mode="json")))) == state


def test_the_document_has_every_field_of_the_spec_and_no_other() -> None:
    """All fields are present, null when unknown; other programs read them by these names."""
    document = a_thread().model_dump(mode="json")
    assert sorted(document) == sorted(FIELDS.split())
    assert document["resolution"] is None
    assert document["post_intent"] is None


def test_a_line_of_history_is_written_with_the_keys_at_from_to_why() -> None:
    """`from` is a word of Python and must still be the key on disk."""
    state = a_thread().transition(ThreadStatus.AWAITING_VALIDATION, at=NOW, why="draft of round 1")
    assert state.model_dump(mode="json")["status_history"] == [
        {"at": "2026-11-20T09:00:00Z", "from": "investigating", "to": "awaiting-validation", "why": "draft of round 1"}
    ]


def test_a_document_with_an_unknown_field_or_a_naive_time_is_refused() -> None:
    """A document of another program, or a time without a zone, is not taken for ours."""
    document = a_thread().model_dump(mode="json")
    with pytest.raises(ValueError, match="extra"):
        ThreadState.model_validate({**document, "shiny": 1})
    with pytest.raises(ValueError, match="timezone"):
        ThreadState.model_validate({**document, "started_at": datetime(2026, 1, 1).isoformat()})


def test_a_new_draft_has_a_new_version_and_its_own_hash() -> None:
    """Every proposal counts, also of the same words, so that an earlier click no longer fits."""
    first = a_thread().with_draft("Yes.")
    second = first.with_draft("No.")
    third = second.with_draft("Yes.")
    assert [s.draft_version for s in (first, second, third)] == [1, 2, 3]
    assert first.draft_hash == third.draft_hash != second.draft_hash


@given(st.text(), st.text())
def test_different_drafts_have_different_hashes(one: str, other: str) -> None:
    """Property: the hash is a function of the words, 16 hexadecimal digits, equal only for equal words."""
    assert (hash_draft(one) == hash_draft(other)) == (one == other)
    assert re.fullmatch("[0-9a-f]{16}", hash_draft(one))


@given(st.text(max_size=60))
def test_a_thread_id_is_safe_as_a_file_name(text: str) -> None:
    """Property: what check_thread_id lets through holds no separator, no wildcard, no control character."""
    try:
        accepted = check_thread_id(text)
    except InputError:
        return
    assert re.fullmatch(r"[\w.-]+", accepted, re.ASCII)
    assert accepted.count(".") == 3
    assert not accepted.startswith(".")


def test_the_id_of_a_thread_ends_with_the_ts_of_its_root() -> None:
    """It passes its own check."""
    assert check_thread_id(THREAD_ID) == THREAD_ID
    assert a_thread().thread_ts == "1795165200.000100"


def test_closed_is_terminal() -> None:
    """The row of closed is empty, and closing twice is illegal."""
    assert TRANSITIONS[ThreadStatus.CLOSED] == {}
    with pytest.raises(IllegalTransition):
        in_status(ThreadStatus.CLOSED).close(Resolution.DISMISSED, at=NOW, why="again")
