"""The investigator that uses a model: what it is told, and what of its answer is believed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.model_run import RunFailed
from bot.agent.tools.base import Tool
from bot.casework.checks.draft_checks import check_return
from bot.casework.investigate.assignment import Assignment, Investigation, ThreadMessage
from bot.casework.investigate.model_investigator import ModelInvestigator
from bot.domain.returns import Usage
from bot.domain.search.passages import MemoryHit
from bot.domain.threads import QuestionType
from bot.ports import Image
from tests.casework.runner import COST, MODEL, ScriptedRunner, a_specialist, answered, claimed, plain_tools, reading
from tests.fakes import FakeAttachments
from tests.gitrepo import commit_files, make_repo
from tests.tables import each_row

CODE = {"app/retry.py": "import time\n\nLIMIT = 5\n"}
SECRET = "test-key-0123456789"


class Desk:
    """A codebase and an investigator at it."""

    def __init__(self, folder: Path, *script: Any) -> None:
        self.path = make_repo(folder / "code", CODE)
        self.repo = GitRepo(self.path)
        self.runner = ScriptedRunner(*script)
        self.ledger_of_run = Ledger()
        tools = plain_tools(self.repo, "search_code")

        def tools_of(ledger: Ledger, about: Collection[str]) -> list[Tool]:
            self.ledger_of_run = ledger
            return tools(ledger, about)

        self.attachments = FakeAttachments()
        self.investigator = ModelInvestigator(
            a_specialist(self.runner, folder / "runs"),
            tools_of,
            self.repo,
            attachments=self.attachments,
            secrets=[SECRET],
        )

    def investigate(self, **changes: Any) -> Investigation:
        fields: dict[str, Any] = {
            "question": "How often do we retry?",
            "asked_by": "U1",
            "question_type": QuestionType.TECHNICAL_QA,
            "rubric": "Question type: technical_qa",
            "round": 1,
        }
        return self.investigator.investigate(Assignment(**{**fields, **changes}), run_id="r1")


def test_the_commit_is_the_one_the_lines_were_read_at(tmp_path: Path) -> None:
    """Code says so from the ledger, also when HEAD has moved on since."""

    def read_then_commit(request: Any) -> Any:
        answer = reading("app/retry.py", (1, 3), answer=answered())(request)
        commit_files(desk.path, {"app/retry.py": "LIMIT = 7\n"}, "second")
        return answer

    desk = Desk(tmp_path, read_then_commit)
    first = desk.repo.head()
    found = desk.investigate()
    assert found.ret.evidence_refs[0].commit == first != desk.repo.head()
    assert found.ledger.covers("app/retry.py", 3, 3, commit=first)


def test_code_prints_the_lines_that_a_model_cites(tmp_path: Path) -> None:
    """Of a file and of a tool's result; nobody retypes them. What is outside is not printed."""

    def look(request: Any) -> Any:
        desk.ledger_of_run.record_query("logs__query", '{"text": "retry"}', "09:00 tried 4\n09:01 tried 5")
        return answered(
            evidence_refs=[
                {"kind": "file", "ref": "app/retry.py:1-3", "supports_claim": ""},
                {"kind": "log_query", "ref": "1:2", "supports_claim": ""},
                {"kind": "external_doc", "ref": "https://example.org", "supports_claim": ""},
            ]
        )

    desk = Desk(tmp_path, look)
    printed = [ref.quote for ref in desk.investigate().ret.evidence_refs]
    assert printed == ["import time\n\nLIMIT = 5", "09:01 tried 5", ""]


def test_what_was_not_read_is_pinned_to_head(tmp_path: Path) -> None:
    """So that the checks can look it up; `high` still needs the read."""
    desk = Desk(tmp_path, answered(confidence="high"))
    found = desk.investigate()
    assert found.ret.evidence_refs[0].commit == desk.repo.head()
    checks = {c.name: c.ok for c in check_return(found.ret, repo=desk.path, ledger=found.ledger)}
    assert (checks["ref[0].quote"], checks["confidence.read"]) == (True, False)


@each_row("commit", ["f" * 40, "HEAD", None])
def test_a_commit_the_model_names_is_ignored(tmp_path: Path, commit: str | None) -> None:
    """It is not in the shape it is asked for, and not believed where it stands all the same."""
    refs = [{**answered()["evidence_refs"][0], "commit": commit}]
    desk = Desk(tmp_path, answered(evidence_refs=refs, investigator_round=9))
    found = desk.investigate()
    assert found.ret.evidence_refs[0].commit == desk.repo.head()
    assert found.ret.investigator_round == 1
    assert "commit" not in str(desk.runner.requests[0].answer.model_json_schema()["properties"].keys())


def test_only_files_have_a_commit_to_fill_in(tmp_path: Path) -> None:
    """A commit is its own name; a query and a note have none."""
    kinds = ["git_commit", "log_query", "memory", "external_doc"]
    found = Desk(tmp_path, answered(evidence_refs=[{"kind": kind, "ref": "x"} for kind in kinds])).investigate()
    assert [ref.commit for ref in found.ret.evidence_refs] == [None] * 4


def test_usage_model_and_round_are_carried_over(tmp_path: Path) -> None:
    """The thread's bill and its record rest on them."""
    found = Desk(tmp_path, answered()).investigate(round=2)
    assert (found.usage, found.investigator, found.ret.investigator_round) == (COST, MODEL, 2)


def test_a_failed_run_keeps_its_usage(tmp_path: Path) -> None:
    """What was spent is spent."""
    spent = Usage(input_tokens=10, output_tokens=1, cost_usd=0.5)
    with pytest.raises(RunFailed) as caught:
        Desk(tmp_path, RunFailed("cut", usage=spent)).investigate()
    assert caught.value.usage == spent


def test_everything_said_travels_as_tagged_data(tmp_path: Path) -> None:
    """Question, conversation, context, memory, other threads and feedback, each in a section of its own."""
    desk = Desk(tmp_path, answered())
    desk.investigate(
        round=2,
        thread_context=(ThreadMessage("U2", "in the EU"),),
        human_context=(ThreadMessage("U3", "we mean v2"),),
        memory_hits=(
            MemoryHit(ref="memory/retry.md", title="Retries", excerpt="5 times", score=0.9, caution="lines changed"),
        ),
        summaries=("T1.C1.1.2 [pending-user] refunds?",),
        feedback="- line 3 says 5",
    )
    [request] = desk.runner.requests
    heads = [line for line in request.prompt.splitlines() if line.startswith("<data-")]
    assert heads == [
        '<data-7f3a9c name="question" from="U1">',
        '<data-7f3a9c name="thread_message" from="U2">',
        '<data-7f3a9c name="added_context" from="U3">',
        '<data-7f3a9c name="memory" from="memory/retry.md">',
        '<data-7f3a9c name="other_open_threads">',
        '<data-7f3a9c name="feedback" from="the checks and the validator">',
    ]
    assert request.prompt.endswith("- line 3 says 5\n</data-7f3a9c>")
    assert '"memory/retry.md">\ncaution: lines changed\nRetries\n5 times\n' in request.prompt
    assert "EU" not in request.system + request.rubric


def test_a_bounced_round_works_harder_than_the_first(tmp_path: Path) -> None:
    """The first one has the model's own default."""
    desk = Desk(tmp_path, answered())
    desk.investigate(feedback="")
    desk.investigate(feedback="line 3 says 5")
    assert [request.effort for request in desk.runner.requests] == [None, "high"]


def test_the_prefix_is_the_same_for_two_questions_of_a_type(tmp_path: Path) -> None:
    """System, tools and rubric are read from the cache the second time."""
    desk = Desk(tmp_path, answered())
    desk.investigate()
    desk.investigate(question="And refunds?", asked_by="U9", feedback="no")
    first, second = desk.runner.requests
    assert (first.system, first.rubric) == (second.system, second.rubric)
    assert [t.name for t in first.tools] == [t.name for t in second.tools] == ["read_file", "search_code"]


def test_two_runs_share_no_ledger(tmp_path: Path) -> None:
    """What one has read proves nothing for the other."""
    desk = Desk(tmp_path, reading("app/retry.py", (1, 3), answer=answered()), answered())
    first, second = desk.investigate(), desk.investigate()
    assert first.ledger.reads
    assert second.ledger.reads == []


def test_no_secret_of_ours_leaves_in_a_return(tmp_path: Path) -> None:
    """Wherever the model put it: draft, quote, note, question."""
    refs = [{"kind": "file", "ref": "app/retry.py:3", "quote": SECRET, "supports_claim": SECRET}]
    note = {"filename": "x.md", "content": f"key {SECRET}"}
    found = Desk(
        tmp_path,
        answered(
            claims=[claimed(f"It is {SECRET}.", 0)],
            evidence_refs=refs,
            proposed_triage_file=note,
            open_questions=[SECRET],
        ),
    ).investigate()
    assert SECRET not in found.ret.model_dump_json()
    assert "redacted" in found.ret.draft_reply


def test_the_images_of_a_question_are_shown_and_only_their_sizes_kept(tmp_path: Path) -> None:
    """The four first; of what was not read the model is told, and the log says why."""
    desk = Desk(tmp_path, answered())
    desk.attachments.images = {f"F{number}": Image(media_type="image/png", data=b"bytes") for number in range(1, 7)}
    found = desk.investigate(images=("F1", "F2", "F3", "F4", "F5", "F6"))
    assert len(desk.runner.requests[0].images) == 4
    assert '<data-7f3a9c name="images" from="triage">\n2 images were not read\n' in desk.runner.requests[0].prompt
    assert found.ret.images_read == 4
    assert found.as_trace()["images"] == ("image/png, 5 bytes",) * 4


def test_an_image_that_is_refused_fails_no_investigation(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One that the chat does not give, and one that the model does not take; where all are read nobody says so."""
    desk = Desk(tmp_path, answered())
    desk.attachments.images = {"F1": Image(media_type="image/png", data=b"bytes")}
    found = desk.investigate(images=("F0", "F1"))
    assert (found.ret.images_read, len(found.images)) == (1, 1)
    assert found.ret.images_problem == "file_not_found"
    assert "1 image was not read" in desk.runner.requests[0].prompt
    assert "an image was not read: Slack could not read a file: file_not_found" in caplog.messages
    desk.runner.takes_images = False
    found = desk.investigate(images=("F1",))
    assert (found.ret.images_read, found.images) == (0, ())
    assert "not read" not in desk.runner.requests[1].prompt
