"""`/triage …`: answered at once, to one pair of eyes."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.webhook import WebhookResponse

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileStore
from bot.casework.approvers import Approvers
from bot.casework.pause import PauseSwitch
from bot.domain.answers import Answer, sentence
from bot.domain.command_specs import manual
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus
from bot.errors import InputError, ProviderError, StoreError, TriageError
from bot.ports.threads import Threads
from handlers.answers import TableAnswers
from handlers.commands.dispatcher import NO_MEMBER, CommandDispatcher, TypedCommand
from handlers.commands.topics import CaseworkCommands, status_command
from tests.blocks.limits import texts
from tests.builders import in_status
from tests.fakes import FakeClock, FakeWorkspace
from tests.payloads import payload
from tests.tables import each_row


def run(home: Path, text: str | None, *, by: str = "U2") -> dict[str, Any]:
    """Type a command and return what Slack was answered."""
    workspace = FakeWorkspace()
    workspace.groups["C0OPS"] = frozenset({"U2"})
    approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=workspace)
    approvers.refresh()
    status = status_command(FileStore(home), approvers, FakeClock(), ())
    commands = CommandDispatcher({"status": status}, approvers, patience_s=600)
    answers: list[dict[str, Any]] = []
    body = {**payload("slash_command"), "text": text, "user_id": by}
    commands(lambda **answer: answers.append(answer), body, lambda **later: answers.append(later))  # type: ignore[arg-type]
    return answers[-1]


def said(answer: dict[str, Any]) -> str:
    return "\n".join(texts(answer["blocks"]))


@each_row("text", ["", None, "help", "   "])
def test_nothing_is_help(tmp_path: Path, text: str | None) -> None:
    """A bare `/triage` lists what there is."""
    seen = said(run(tmp_path, text))
    assert "`/triage status`" in seen
    assert "`/triage help [command]`" in seen
    assert "There is no" not in seen


@each_row("text, near", [("stauts", "status"), ("hlep me", "help"), ("review", "metrics")])
def test_a_slip_of_the_pen_is_met_with_the_near_word(tmp_path: Path, text: str, near: str) -> None:
    """And what to type next; so is a command that was removed."""
    assert f"Did you mean `/triage {near}`" in said(run(tmp_path, text))


class Casework:
    """The commands of casework over a data directory, and what they asked of the outside."""

    def __init__(self, home: Path, *, configured: tuple[str, ...] | None = None) -> None:
        self.home, self.asked, self.shown, self.told = home, [], [], []  # type: ignore[var-annotated]
        self.refuse: ProviderError | None = None
        workspace = FakeWorkspace()
        workspace.groups["C0OPS"] = frozenset({"U2"})
        approvers = Approvers(configured, ops_channel="C0OPS", team_id="T1", workspace=workspace)
        approvers.refresh()
        self.pausing = PauseSwitch(FileDocuments(home), FakeClock())
        commands = CaseworkCommands(
            store=FileStore(home, is_reader=True),
            approvers=approvers,
            pausing=self.pausing,
            show_cards=lambda: self.shown.append("all"),
            ask=self._ask,
            explain=lambda asked: sentence(f"what became of {asked}"),
            clock=FakeClock(),
        )
        self.commands = CommandDispatcher(commands.table(), approvers, patience_s=600)

    def _ask(self, question: str, by: str) -> str:
        if self.refuse:
            raise self.refuse
        self.asked.append((question, by))
        return "asked"

    def type(self, text: str, *, by: str = "U2", team: str = "T1") -> str:
        """Type a command and return what is seen at once."""
        answers: list[dict[str, Any]] = []
        body = {**payload("slash_command"), "text": text, "user_id": by, "team_id": team}
        self.commands(
            lambda **answer: answers.append(answer),  # type: ignore[arg-type]
            body,
            lambda **later: self.told.append(later),  # type: ignore[arg-type]
        )
        [answer] = answers
        assert answer["response_type"] == "ephemeral"
        return said(answer)


@pytest.fixture
def casework(tmp_path: Path) -> Casework:
    """The bot's commands for casework."""
    return Casework(tmp_path)


DRAFT = "The secret limit is 5."


def a_draft(question: str, ts: str) -> ThreadState:
    """Return a thread with a draft on a card."""
    return in_status(
        ThreadStatus.PENDING_USER,
        PendingReason.APPROVAL,
        thread_id=f"T1.C1.{ts}",
        original_message_id=ts,
        question=question,
        permalink=f"https://acme.slack.com/archives/C1/p{ts.replace('.', '')}",
        card_channel="C0OPS",
        card_ts="1795165300.000200",
        draft_pending=DRAFT,
    )


def test_open_lists_the_drafts_with_links_to_their_cards_for_approvers_only(casework: Casework) -> None:
    """Whoever else asks sees how many there are, and neither question, nor link, nor draft."""
    assert "No draft waits" in casework.type("open")
    store = Threads(FileDocuments(casework.home))
    store.put(a_draft("why <!channel> five?", "1795165200.000100"))
    store.put(in_status(ThreadStatus.INVESTIGATING, question="not yet", thread_id="T1.C1.1795165201.000100"))
    seen = casework.type("open")
    assert "<https://acme.slack.com/archives/C0OPS/p1795165300000200|card>" in seen
    assert "five?" in seen
    assert "<!channel>" not in seen
    assert "not yet" not in seen
    assert "1 draft waits" in casework.type("open", by="U3")
    for stranger, team in (("U3", "T1"), ("U2", "T2")):
        other = casework.type("open", by=stranger, team=team)
        assert "five?" not in other
        assert "archives" not in other
    assert DRAFT not in seen


def test_pausing_and_resuming_say_what_happens_and_show_it_on_the_cards(casework: Casework) -> None:
    """Status and the second one to type it name who paused."""
    assert "paused by @ben since" in casework.type("pause")
    assert "already paused by @ben" in casework.type("pause")
    assert "paused by @ben" in said(run(casework.home, "status"))
    assert "is running again" in casework.type("resume")
    assert "Nothing is paused" in casework.type("resume")
    assert "paused" not in said(run(casework.home, "status"))
    assert casework.shown == ["all"] * 3


def test_a_question_is_asked_after_the_answer_and_a_refusal_is_told(casework: Casework) -> None:
    """As it was typed: Slack's escapes are undone."""
    assert "Asked in the ops channel" in casework.type("investigate  why is a &lt; b?")
    assert casework.asked == [("why is a < b?", "U2")]
    casework.refuse = ProviderError("Slack could not ask in the ops channel: is_archived")
    casework.type("investigate why?")
    [told] = casework.told
    assert "is_archived" in told["text"]
    assert told["response_type"] == "ephemeral"


def test_a_question_needs_words_and_an_end(casework: Casework) -> None:
    """And while paused the asker hears that it waits."""
    assert "What should be investigated" in casework.type("investigate")
    assert "shorten" in casework.type(f"investigate {'x' * 4_001}")
    casework.type("pause")
    assert "waits until somebody types /triage resume" in casework.type("investigate why?")
    assert casework.asked == [("why?", "U2")]


@each_row(
    "configured, says",
    [(None, "<#C0OPS> · Its members approve"), (("U2",), "Named under `approvers`"), ((), "Nobody may approve")],
)
def test_the_list_of_approvers_says_where_it_comes_from(
    tmp_path: Path, configured: tuple[str, ...] | None, says: str
) -> None:
    """And whether the reader is on it."""
    casework = Casework(tmp_path, configured=configured)
    seen = casework.type("approve-list")
    assert says in seen
    assert ("You are one of them" in seen) == (configured != ())


def anybody() -> Approvers:
    """Return approvers who know everybody of the workspace."""
    return Approvers((), ops_channel="C0OPS", team_id="T1", workspace=FakeWorkspace())


class Slow:
    """A command that answers only after Slack was told something."""

    def __init__(self) -> None:
        self.acks: list[dict[str, Any]] = []
        self.later: list[dict[str, Any]] = []
        self.told = threading.Event()
        self.commands = CommandDispatcher({"metrics": self.metrics}, anybody(), patience_s=0.01)

    def metrics(self, _: TypedCommand) -> Answer:
        assert self.told.wait(timeout=120)
        return sentence("measured at last")

    def ack(self, **said: Any) -> None:
        self.acks.append(said)
        self.told.set()


def test_what_takes_long_is_said_at_once_and_answered_later() -> None:
    """Slack waits 3 s for the first word; the answer is a second message, and there is one of each."""
    slow = Slow()
    body = {**payload("slash_command"), "text": "metrics"}
    slow.commands(slow.ack, body, lambda **said: slow.later.append(said))  # type: ignore[arg-type]
    assert [(said["response_type"], said["text"]) for said in slow.acks] == [
        ("ephemeral", "Working … (/triage metrics)")
    ]
    [answer] = slow.later
    assert "measured at last" in "".join(texts(answer["blocks"]))
    assert (answer["response_type"], answer["replace_original"]) == ("ephemeral", False)


def test_a_long_line_that_was_refused_is_given_back(casework: Casework) -> None:
    """Slack keeps nothing of a command; every word of the question stands in the answer."""
    question = " ".join(f"word{number}" for number in range(500))
    answer = casework.type(f"investigate {question}", by="U3")
    assert "Only approvers" in answer
    assert all(f"word{number}" in answer.replace("\n```\n```\n", "") for number in (0, 250, 499))
    assert casework.asked == []


@each_row("path", manual())
def test_help_stands_for_every_command_on_one_screen(casework: Casework, path: str) -> None:
    """Syntax, two examples, who may, what it changes; asked before or after the command's name."""
    entry = manual()[path]
    answer = casework.type(f"help {path}")
    said = answer.replace("&lt;", "<").replace("&gt;", ">")
    assert f"`/triage {entry.form}`" in said
    assert all(example.replace("`", "") in said for example in entry.examples)
    assert "Who may:" in said
    assert "Changes:" in said
    assert said.count("\n") < 20
    if path in ("pause", "open", "brief"):
        assert casework.type(f"{path} help") == answer
        assert not casework.pausing.is_paused


@each_row(
    "error, ending",
    [
        (StoreError("/var/lib/triage/events.ndjson cannot be read"), "cannot be read. More: /triage help status"),
        (InputError("'/triage' is not a tier"), "is not a tier. More: /triage help status"),
        (InputError("Which task?", next_step="To see them: /triage tiers shop"), "To see them: /triage tiers shop"),
    ],
)
def test_a_refusal_ends_with_what_to_type_next(error: TriageError, ending: str) -> None:
    """Whether it does already is a field: a path or somebody's own word may hold `/triage`, too."""

    def refuse(_: TypedCommand) -> Answer:
        raise error

    answers: list[dict[str, Any]] = []
    commands = CommandDispatcher({"status": refuse}, anybody(), patience_s=600)
    commands(lambda **answer: answers.append(answer), {**payload("slash_command"), "text": "status"}, None)  # type: ignore[arg-type]
    assert next(texts(answers[0]["blocks"])).endswith(ending)


def _noted(seen: list[dict[str, Any]], **said: Any) -> None:
    seen.append(said)


def test_a_table_that_slack_refuses_is_sent_as_text_and_never_tried_again(tmp_path: Path) -> None:
    """What was refused once is not tried a second time by this process; where Slack takes it, it stays a table."""
    Threads(FileDocuments(tmp_path)).put(in_status(ThreadStatus.INVESTIGATING, question="why five?"))
    kinds: list[list[str]] = []

    def respond(refuses: bool, **later: Any) -> WebhookResponse:
        kinds.append([block["type"] for block in later["blocks"]])
        is_refused = refuses and "table" in kinds[-1]
        return WebhookResponse(
            url="", status_code=400 if is_refused else 200, body="invalid_blocks" if is_refused else "ok", headers={}
        )

    for refuses, wanted in ((False, [True, True]), (True, [True, False])):
        approvers = Approvers(("U2",), ops_channel="C0OPS", team_id="T1", workspace=FakeWorkspace())
        approvers.refresh()
        status, tables = status_command(FileStore(tmp_path), approvers, FakeClock(), ()), TableAnswers()
        commands = CommandDispatcher({"status": status}, approvers, patience_s=600, tables=tables)
        acks: list[dict[str, Any]] = []
        kinds.clear()
        body = {**payload("slash_command"), "text": "status", "user_id": "U2"}
        for _ in range(2):
            commands(partial(_noted, acks), body, partial(respond, refuses))  # type: ignore[arg-type]
        assert ["table" in each for each in kinds] == wanted
        assert all("table" not in str(said) for said in acks)
        assert ("why five?" in str(acks[-1])) == refuses


def test_questions_are_shown_to_approvers_only(tmp_path: Path) -> None:
    """Whoever else asks sees the counts."""
    Threads(FileDocuments(tmp_path)).put(in_status(ThreadStatus.INVESTIGATING, question="why five?"))
    assert "why five?" in said(run(tmp_path, "status"))
    other = said(run(tmp_path, "status", by="U3"))
    assert "why five?" not in other
    assert "1 being investigated" in other


@pytest.mark.parametrize("text", ["pause", "resume", "investigate why five?"])
def test_what_changes_something_needs_an_approver(casework: Casework, text: str) -> None:
    """Others are told who may, and nothing happens; one of another workspace with the same id is another person."""
    assert "Only approvers" in casework.type(text, by="U3")
    assert casework.type(text, by="U2", team="T2").startswith(NO_MEMBER)
    assert not casework.pausing.is_paused
    assert casework.asked == casework.shown == []
