"""`/triage …`: answered at once, to one pair of eyes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.adapters.tinydb_store import TinyThreadStore
from bot.casework.approvers import Approvers
from bot.domain.threads import Status
from handlers.commands import Commands
from handlers.commands.status import status_command
from tests.blocks.limits import texts
from tests.builders import in_status
from tests.fakes import FakeClock, FakeWorkspace
from tests.payloads import payload


def run(home: Path, text: str | None, *, by: str = "U2") -> dict[str, Any]:
    """Type a command and return what Slack was answered."""
    workspace = FakeWorkspace()
    workspace.groups["C0OPS"] = frozenset({"U2"})
    approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=workspace)
    approvers.refresh()
    commands = Commands({"status": ("what waits, what runs", status_command(home, approvers, FakeClock()))})
    answers: list[dict[str, Any]] = []
    commands(lambda **answer: answers.append(answer), {**payload("slash_command"), "text": text, "user_id": by})  # type: ignore[arg-type]
    [answer] = answers
    return answer


def said(answer: dict[str, Any]) -> str:
    return "\n".join(texts(answer["blocks"]))


@pytest.mark.parametrize("text", ["status", "  STATUS  ", "status of everything"])
def test_every_answer_is_ephemeral(tmp_path: Path, text: str) -> None:
    """However the word is written."""
    answer = run(tmp_path, text)
    assert answer["response_type"] == "ephemeral"
    assert "*0* waiting" in said(answer)


def test_questions_are_shown_to_approvers_only(tmp_path: Path) -> None:
    """Whoever else asks sees the counts."""
    TinyThreadStore(tmp_path).put(in_status(Status.INVESTIGATING, question="why five?"))
    assert "why five?" in said(run(tmp_path, "status"))
    other = said(run(tmp_path, "status", by="U3"))
    assert "why five?" not in other
    assert "*1* being investigated" in other


@pytest.mark.parametrize("text", ["", None, "help", "   "])
def test_nothing_is_help(tmp_path: Path, text: str | None) -> None:
    """A bare `/triage` lists what there is."""
    seen = said(run(tmp_path, text))
    assert "`/triage status`" in seen
    assert "`/triage help`" in seen
    assert "There is no" not in seen


@pytest.mark.parametrize(("text", "near"), [("stauts", "status"), ("hlep me", "help")])
def test_a_slip_of_the_pen_is_met_with_the_near_word(tmp_path: Path, text: str, near: str) -> None:
    """And what to type next."""
    assert f"Did you mean `/triage {near}`" in said(run(tmp_path, text))


@pytest.mark.parametrize("text", ["<!channel>", "x" * 5_000, "`", "&lt;", "\u202e", "zzz"])
def test_any_word_is_answered(tmp_path: Path, text: str) -> None:
    """Whatever it is, inertly and within the limits."""
    answer = run(tmp_path, text)
    assert "There is no" in said(answer)
    assert "<!" not in said(answer)
    assert all(len(words) <= 3_000 for words in texts(answer["blocks"]))
    assert len(answer["text"]) <= 40_000
