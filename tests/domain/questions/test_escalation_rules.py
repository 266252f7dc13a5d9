"""Which questions are expected to take long, and the names of what is started for them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.questions.rubrics import SESSION_PREFIX, expected_minutes, question_type_of, session_name, watch_line
from bot.domain.threads import QuestionType
from tests.tables import each_row

LONG = [
    "Audit every place where we log an email address.",
    "Can you find the root cause of the duplicate invoices since Monday?",
    "Which of our services still call the v1 API? I need a complete list of all the callers.",
    "Why is test_export flaky? Is it a race condition? Did it start with the new queue? Who changed it last?",
    "Please look at:\n1. how retries work\n2. who configures them\n3. what the limits are\n4. what comes then\n5. why",
]
SHORT = [
    "Where is the retry limit set?",
    "Is the audit log running?",
    "Did the audit finish?",
    "What is in `audit_every_place()`?",
    "see https://x.io/audit/root-cause/every-place?",
    "",
]


@each_row("question", LONG)
def test_much_work_is_recognised_by_its_words(question: str) -> None:
    """At the default threshold of ten minutes."""
    assert expected_minutes(question, question_type_of(question)) >= 10


@each_row("question", SHORT)
def test_an_ordinary_question_stays_short(question: str) -> None:
    """Things that merely carry such words in their names do not make work."""
    assert expected_minutes(question, question_type_of(question)) < 10


@given(st.text(max_size=6_000), st.sampled_from(QuestionType))
def test_any_text_has_an_estimate_in_bounds(text: str, kind: QuestionType) -> None:
    """Property: never nothing, never beyond all the rules together."""
    assert 1 <= expected_minutes(text, kind) <= 90


_PART = st.text(alphabet="ABCXYZ0189", min_size=1, max_size=11)
_TS = st.from_regex(r"[0-9]{1,10}\.[0-9]{6}", fullmatch=True)


@given(_PART, _PART, _TS, _PART, _PART, _TS)
def test_two_threads_never_share_a_session(a: str, b: str, ts: str, c: str, d: str, other: str) -> None:
    """Property: ids without underscores, as Slack's are, keep their difference; no dot or colon stands in a name."""
    one, two = f"{a}.{b}.{ts}", f"{c}.{d}.{other}"
    assert (session_name(one) == session_name(two)) == (one == two)
    assert not set(session_name(one)) & set(".:#; ")
    assert session_name(one).startswith(SESSION_PREFIX)


def test_the_line_that_attaches_is_ready_to_paste() -> None:
    """Quoted where a path needs it."""
    transcript = str(Path("/var/lib/my triage/escalations/T1.C1.1.2/transcript.log"))
    line = watch_line("investigator-T1_C1_1_2", transcript)
    assert line == "tmux -S '/var/lib/my triage/tmux.sock' attach -t investigator-T1_C1_1_2"
