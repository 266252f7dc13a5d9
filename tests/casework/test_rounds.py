"""The machine's part: investigate, check, once more if the checks object, then the human."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.agent.model_run import RunStopped
from bot.casework.checks.validation import Validation
from bot.casework.investigate.assignment import (
    MAX_SUMMARIES,
    SUMMARY_TOKENS,
    count_tokens,
    words_of_return,
    words_of_verdict,
)
from bot.domain.jobs import ContinueThread
from bot.domain.returns import Check, Usage, Verdict
from bot.domain.search.passages import MemoryHit
from bot.domain.threads import PendingReason, QuestionType, Resolution, ThreadStatus
from bot.domain.waits import WaitFor
from bot.errors import CodebaseUnreadable, ProviderError, StoreError
from bot.ports import ChatMessage, Person
from tests.builders import QUESTION_TS, a_return, a_thread, a_verdict, an_event
from tests.casework.office import ANN, BEN, Office
from tests.tables import each_row

PASS, BOUNCE, ESCALATE = Verdict.PASS, Verdict.BOUNCE, Verdict.ESCALATE


def walk(office: Office) -> list[str]:
    return [step.to for step in office.state.status_history]


def test_a_pass_in_round_one_waits_for_approval(tmp_path: Path) -> None:
    """One round, one draft, verdict and checks recorded with it."""
    office = Office(tmp_path).asked()
    state = office.state
    assert walk(office) == ["awaiting-validation", "pending-user"]
    assert state.pending_reason is PendingReason.APPROVAL
    assert state.validator_return is not None
    assert state.validator_return.verdict is PASS
    assert [entry.round for entry in state.rounds] == [1]
    assert state.rounds[0].checks[0].ok is True
    assert state.rounds[0].validator_return == state.validator_return


def test_a_bounce_goes_back_once_with_the_reasons(tmp_path: Path) -> None:
    """Round two is told why round one came back, and its draft is the one that waits."""
    office = Office(tmp_path, a_return("It is 5."), a_return("It is 3."), verdicts=[BOUNCE, PASS]).asked()
    assert walk(office) == ["awaiting-validation", "bounced-round-1", "awaiting-validation", "pending-user"]
    assert [given.feedback for given in office.investigator.assignments] == [None, "- line 10 says 3, not 5"]
    assert [given.round for given in office.investigator.assignments] == [1, 2]
    assert office.state.pending_reason is PendingReason.APPROVAL
    assert office.state.draft_pending == "It is 3."
    assert office.state.investigator_round == 2
    assert [entry.investigator_return.investigator_round for entry in office.state.rounds] == [1, 2]


def test_a_corrected_question_type_brings_its_rubric(tmp_path: Path) -> None:
    """What is asked of the evidence follows it, with the team's own points; the next round is told."""
    points = {"status_check": ["Name the owner."]}
    office = Office(
        tmp_path,
        a_return("It is 5.", question_type="status_check"),
        a_return("It is 3."),
        verdicts=[BOUNCE, PASS],
        rubrics=points,
    ).asked()
    first, second = office.investigator.assignments
    assert first.question_type is not QuestionType.STATUS_CHECK
    assert office.state.question_type is second.question_type is QuestionType.STATUS_CHECK
    assert second.rubric == office.state.rubric
    assert "Question type: status_check" in second.rubric
    assert "Also: Name the owner." in second.rubric


def test_a_second_bounce_shows_the_disagreement(tmp_path: Path) -> None:
    """There is no third round; the human sees draft and objections."""
    office = Office(tmp_path, verdicts=[BOUNCE]).asked()
    assert office.state.pending_reason is PendingReason.DISAGREEMENT
    assert len(office.investigator.assignments) == 2
    assert office.state.draft_pending == a_return().draft_reply


def test_a_validator_that_escalates_is_not_asked_twice(tmp_path: Path) -> None:
    """Straight to the human, with the disagreement."""
    office = Office(tmp_path, verdicts=[ESCALATE]).asked()
    assert office.state.pending_reason is PendingReason.DISAGREEMENT
    assert len(office.investigator.assignments) == 1


def test_questions_instead_of_a_draft_go_to_the_human(tmp_path: Path) -> None:
    """Nothing is validated, nothing can be posted, and the questions are on the card."""
    ret = a_return("", open_questions=("Which region?",), evidence_refs=())
    office = Office(tmp_path, ret).asked()
    assert office.state.pending_reason is PendingReason.CONTEXT
    assert office.state.draft_pending is None
    assert office.validator.seen == []
    assert office.shown.investigator_return is not None
    assert office.shown.investigator_return.open_questions == ("Which region?",)


def test_a_failed_investigation_is_the_humans_with_its_reason(tmp_path: Path) -> None:
    """Never silence: the card says what went wrong."""
    for error in (ProviderError("the model is away"), StoreError("the index cannot be read")):
        office = Office(tmp_path, error).asked()
        assert office.state.pending_reason is PendingReason.FAILED
        assert office.state.status_history[-1].why == f"the investigation failed: {error}"
        assert office.shown.pending_reason is PendingReason.FAILED


def test_a_question_waits_for_a_damaged_codebase_to_be_mended(tmp_path: Path) -> None:
    """Its card says so; the question is answered then."""
    office = Office(tmp_path, CodebaseUnreadable("the .git is damaged"), a_return()).asked()
    assert office.state.status is ThreadStatus.INVESTIGATING
    assert office.shown.wait is not None
    assert office.shown.wait.what is WaitFor.CODEBASE
    office.clock.advance(seconds=5)
    office.orchestrator.continue_thread(ContinueThread(thread_id=office.state.thread_id))
    assert office.state.pending_reason is PendingReason.APPROVAL
    assert office.shown.wait is None


def test_what_the_human_added_reaches_the_investigator(tmp_path: Path) -> None:
    """Context and the thread's conversation, the bot's own words left out."""
    office = Office(tmp_path).asked()
    office.says("in the EU region")
    office.decisions.add_context(office.click(), "we mean v2", by=BEN)
    office.work()
    given = office.investigator.assignments[-1]
    assert given.human_context == ((BEN, "we mean v2"),)
    assert given.thread_context == ((ANN, "in the EU region"),)
    assert given.earlier == ()


def test_a_question_edited_behind_the_bots_back_is_answered_as_it_reads_now(tmp_path: Path) -> None:
    """No event told of the edit: approving is refused once, the next round takes the new words, and then it posts."""
    office = Office(tmp_path).asked()
    office.workspace.edit("C1", QUESTION_TS, QUESTION_TS, "How often do we retry refunds?")
    assert "Not posted yet" in office.decisions.approve(office.click(), by=BEN)
    office.decisions.reinvestigate(office.click(), by=BEN)
    office.clock.advance(60)
    office.work()
    assert office.investigator.assignments[-1].question == "How often do we retry refunds?"
    assert office.shown.question == "How often do we retry refunds?"
    assert office.state.stale_reasons == ()
    assert office.decisions.approve(office.click(), by=BEN) == "Posted."


def test_earlier_answers_are_handed_on(tmp_path: Path) -> None:
    """Memory is searched before every investigation."""
    office = Office(tmp_path)
    office.memory.hits = [MemoryHit(ref="memory/retry.md", title="Retries", excerpt="5 times", score=0.9)]
    office.asked()
    assert [hit.ref for hit in office.investigator.assignments[0].memory_hits] == ["memory/retry.md"]


def test_what_the_orchestrator_read_is_counted_in_bytes_over_four(tmp_path: Path) -> None:
    """AC-02: question, rubric, the structured return and what the checks said; not the notes of the investigator."""
    office = Office(tmp_path, a_return(research_notes="x" * 4_000)).asked("é" * 100 + "?")
    state = office.state
    assert state.rubric is not None
    read = len("é".encode()) * 100 + len("?") + len(state.rubric.encode())
    judged = state.rounds[-1]
    assert state.investigator_return is not None
    assert judged.validator_return is not None
    said = words_of_return(state.investigator_return), words_of_verdict(judged.validator_return, judged.checks)
    assert state.investigator_return.draft_reply in said[0]
    assert state.orchestrator_tokens == read // 4 + sum(map(count_tokens, said))
    assert state.orchestrator_tokens < 2_000


def test_sixty_open_threads_and_a_long_thread_leave_the_orchestrator_small(tmp_path: Path) -> None:
    """The newest questions are named first; the thread goes to the investigator whole."""
    office = Office(tmp_path)
    for number in range(10, 70):
        words = f"why is {number} slow? " + "x " * 100
        office.store.put(a_thread(thread_id=f"T1.C1.{number}.1", original_message_id=f"{number}.1", question=words))
    for number in range(60):
        said = ChatMessage(message_id=f"{1_900_000_000 + number}.000100", sender_id=BEN, text="word " * 200)
        office.workspace.say("C1", QUESTION_TS, said)
    office.asked("How often do we retry?")
    [given] = office.investigator.assignments
    assert sum(len(said.text) for said in given.thread_context) > 59_000
    assert given.summaries[0].startswith("T1.C1.69.1 ")
    assert 1 <= len(given.summaries) <= MAX_SUMMARIES
    assert count_tokens(given.summaries) <= SUMMARY_TOKENS
    assert office.state.orchestrator_tokens is not None
    assert office.state.orchestrator_tokens < 2_000


def test_a_human_who_decides_during_the_run_wins(tmp_path: Path) -> None:
    """A result that comes too late changes nothing."""
    office = Office(tmp_path)

    def delete_the_question() -> None:
        closed = office.state.close(Resolution.WITHDRAWN, at=office.clock.now(), why="the question was deleted")
        office.store.put(closed)

    office.investigator.meanwhile = delete_the_question
    office.asked()
    closed = office.store.get(office.messenger.cards[0].thread_id)
    assert closed is not None
    assert (closed.status, closed.draft_pending) == (ThreadStatus.CLOSED, None)
    assert office.shown.status is ThreadStatus.CLOSED


def test_context_added_during_the_run_is_kept_and_shown(tmp_path: Path) -> None:
    """The result is stored beside it, and the card says that the draft may not know of it."""
    office = Office(tmp_path)

    def add_context() -> None:
        office.decisions.add_context(office.click(), "we mean v2", by=BEN)

    office.investigator.meanwhile = add_context
    office.asked()
    assert [entry.text for entry in office.state.human_context] == ["we mean v2"]
    assert office.state.stale_reasons == (f"<@{BEN}> added context during the investigation",)
    assert office.state.draft_pending == a_return().draft_reply


def test_every_run_leaves_its_record(tmp_path: Path) -> None:
    """The state names the run whose folder holds what was read."""
    office = Office(tmp_path).asked()
    run_id = office.state.investigator_task_id
    assert run_id is not None
    trace = json.loads((tmp_path / "runs" / run_id / "trace.json").read_text())
    assert trace["return"]["draft_reply"] == a_return().draft_reply
    assert QUESTION_TS in run_id


def spent(usd: float | None) -> Usage:
    return Usage(input_tokens=100, output_tokens=10, cost_usd=usd)


def judged(verdict: Verdict, usd: float) -> Validation:
    ret = a_verdict(verdict, reasons=("line 10",), bounce_feedback=None if verdict is PASS else "- line 10")
    return Validation(ret=ret, checks=(), usage=spent(usd))


def test_the_bill_holds_every_run_of_every_round(tmp_path: Path) -> None:
    """Two investigations, two validations, and those of an earlier attempt."""
    office = Office(tmp_path, verdicts=[judged(BOUNCE, 0.2), judged(PASS, 0.3)])
    office.investigator.usage = spent(1.0)
    office.asked()
    assert office.state.usage is not None
    assert office.state.usage.cost_usd == 2.5
    assert office.state.usage.input_tokens == 400
    office.decisions.reinvestigate(office.click(), by=BEN)
    office.work()
    assert office.state.usage.cost_usd == 3.8
    assert [given.spent_usd for given in office.investigator.assignments] == [0.0, 1.2, 2.5]


def test_one_unknown_cost_makes_the_bill_unknown(tmp_path: Path) -> None:
    """Its tokens still count."""
    office = Office(tmp_path, verdicts=[judged(PASS, 0.2)])
    office.investigator.usage = spent(None)
    office.asked()
    assert office.state.usage is not None
    assert (office.state.usage.cost_usd, office.state.usage.input_tokens) == (None, 200)


def test_a_validator_that_failed_leaves_its_checks_and_its_bill(tmp_path: Path) -> None:
    """The draft is kept and shown, and not offered; whoever looks sees what code found."""
    check = Check(name="ref[0].quote", ok=True, reason="verbatim")
    nothing = Validation(ret=None, checks=(check,), usage=spent(0.4), problem="the model is away")
    office = Office(tmp_path, verdicts=[nothing]).asked()
    state = office.state
    assert (state.pending_reason, state.draft_pending, state.validator_return) == (PendingReason.FAILED, None, None)
    assert state.status_history[-1].why == "the draft could not be validated: the model is away"
    assert state.rounds[-1].checks == (check,)
    assert state.usage is not None
    assert state.usage.cost_usd == 0.4


def test_the_validator_is_told_of_the_other_open_threads(tmp_path: Path) -> None:
    """With what is known of their answers, so that it can see a contradiction."""
    office = Office(tmp_path)
    office.arrive(an_event("retries?", "1795165200.000100"))
    office.arrive(an_event("refunds?", "1795165201.000100"))
    office.clock.advance(5)
    office.work()
    assert office.validator.summaries[0] == ()
    [line] = office.validator.summaries[1]
    assert line.endswith("[pending-user] retries? -> Retries stop after 5.")


def test_a_run_the_stop_interrupted_is_made_again_and_paid_for(tmp_path: Path) -> None:
    """The job fails without a word to the human; the thread stays where it was, its bill does not."""
    stopped = RunStopped("the bot stopped", usage=Usage(input_tokens=7, cost_usd=0.5))
    office = Office(tmp_path, stopped, a_return())
    with pytest.raises(RunStopped):
        office.asked()
    assert (office.state.status, office.state.investigator_round) == (ThreadStatus.INVESTIGATING, 0)
    assert office.state.usage is not None
    assert office.state.usage.cost_usd == 0.5
    assert office.restart() == []
    assert office.state.pending_reason is PendingReason.APPROVAL


@each_row("flaw", ["is_guest", "is_external"])
def test_what_a_guest_writes_in_a_thread_reaches_no_investigator_unless_allowed(tmp_path: Path, flaw: str) -> None:
    """Neither the first look nor one made again has it; a message of somebody Slack cannot tell of is left out, too."""
    for allowed in (False, True):
        office = Office(tmp_path, watcher={"allow_external": allowed})
        for number, sender in enumerate((ANN, "U0GUS", "B0GONE", BEN)):
            message = ChatMessage(message_id=f"1795165201.00000{number}", sender_id=sender, text=f"says {sender}")
            office.workspace.say("C1", QUESTION_TS, message)
        office.workspace.people["U0GUS"] = Person(user_id="U0GUS", name="gus", **{flaw: True})  # type: ignore[arg-type]
        office.asked()
        office.decisions.reinvestigate(office.click(), by=BEN)
        office.work()
        heard = [[said.sender for said in given.thread_context] for given in office.investigator.assignments]
        assert heard == [[ANN, "U0GUS", "B0GONE", BEN] if allowed else [ANN, BEN]] * 2


def test_a_long_file_of_the_question_is_read_where_it_can_be(tmp_path: Path) -> None:
    """It stands before what was said in the thread; one that cannot be read is left out."""
    office = Office(tmp_path)
    office.attachments.texts = {"F1": "line 1\nline 2"}
    office.workspace.say(
        "C1", QUESTION_TS, ChatMessage(message_id=QUESTION_TS, sender_id=ANN, text="why?", long_files=("F0", "F1"))
    )
    office.workspace.say("C1", QUESTION_TS, ChatMessage(message_id="1795165300.1", sender_id=BEN, text="look at 2"))
    office.asked()
    [assignment] = office.investigator.assignments
    said = [(one.sender, one.text) for one in assignment.thread_context]
    assert said == [(f"{ANN} (name of {ANN}), in a file", "line 1\nline 2"), (BEN, "look at 2")]
