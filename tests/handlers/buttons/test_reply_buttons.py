"""The offer on a closed card: a dialogue first, permission at both ends, a refusal said where it belongs."""

from __future__ import annotations

from pathlib import Path

import pytest

from blocks import ids
from bot.adapters.storage.files.atomic_write import list_files
from handlers.buttons.decision_handler import say_beside
from handlers.buttons.draft_buttons import NOT_YOURS
from handlers.buttons.reply_buttons import LessonButtons
from tests.casework.office import ANN, BEN, Office
from tests.handlers.buttons.test_draft_buttons import CARL, Edge, given_back_as, words
from tests.tables import each_row


class LessonEdge(Edge):
    """The listeners over an office that has just dismissed its draft; Ben may approve, Carl may not."""

    def __init__(self, folder: Path) -> None:
        office = Office(folder).asked()
        super().__init__(office)
        office.decisions.dismiss(office.click(), by=BEN, reason="the client is gone")
        self.listeners = LessonButtons(  # type: ignore[assignment]
            office.lessons, self.approvers, say=say_beside(self._tell, "C0OPS")
        )

    @property
    def kept(self) -> list[Path]:
        return list_files(self.office.folder / "memory", "*.md")


@pytest.fixture
def edge(tmp_path: Path) -> LessonEdge:
    return LessonEdge(tmp_path)


def test_the_dialogue_opens_before_anything_is_asked_and_shows_the_note(edge: LessonEdge) -> None:
    """With the chat down, too; nothing is kept yet."""
    edge.office.workspace.down = True
    edge.press(ids.REMEMBER, edge.value())
    assert edge.order == ["ack", "open"]
    [view] = edge.client.opened
    assert "the client is gone" in view["blocks"][-1]["element"]["initial_value"]
    assert edge.kept == []


def test_a_submit_keeps_what_was_typed_and_the_card_says_so(edge: LessonEdge) -> None:
    """An input that comes back untouched counts as it was shown."""
    ack = edge.submit(ids.REMEMBER_VIEW, edge.office.click(), lesson=words("Ask the platform team."))
    assert ack.answers == [{}]
    [path] = edge.kept
    assert path.read_text().endswith("Ask the platform team.\n")
    assert edge.office.shown == edge.office.ended


@pytest.mark.parametrize("typed", [words(None), {}])
def test_an_untouched_input_stands_for_what_it_showed(edge: LessonEdge, typed: dict[str, object]) -> None:
    """Not every client sends an initial value back."""
    edge.submit(ids.REMEMBER_VIEW, edge.office.click(), lesson=typed)
    [path] = edge.kept
    assert "dismissed on 2026-11-20: the client is gone" in path.read_text()


def test_who_may_not_approve_neither_sees_nor_keeps(edge: LessonEdge) -> None:
    """At the click from what is known, at the submit for good."""
    edge.press(ids.REMEMBER, edge.value(), by=CARL)
    assert (edge.client.opened, edge.last_word) == ([], NOT_YOURS)
    edge.press(ids.REMEMBER, edge.value(), team="T2")
    assert edge.client.opened == []
    ack = edge.submit(ids.REMEMBER_VIEW, edge.office.click(), by=CARL, lesson=words("mine"))
    assert ack.answers == [{}]
    assert edge.last_word == given_back_as("mine")
    edge.office.workspace.groups["C0OPS"] = frozenset({ANN})
    ack = edge.submit(ids.REMEMBER_VIEW, edge.office.click(), lesson=words("mine"))
    assert ack.answers == [{}]
    assert edge.last_word == given_back_as("mine")
    assert edge.kept == []


def test_a_refusal_is_said_in_the_dialogue_and_a_lost_race_to_the_loser(edge: LessonEdge) -> None:
    """Words can be mended; a race is over."""
    for typed in ("", "\u200b", "half a \ud83d"):
        ack = edge.submit(ids.REMEMBER_VIEW, edge.office.click(), lesson=words(typed))
        assert list(ack.answers[0]["errors"]) == [ids.LESSON]
    edge.submit(ids.REMEMBER_VIEW, edge.office.click(), lesson=words("one"))
    ack = edge.submit(ids.REMEMBER_VIEW, edge.office.click(), lesson=words("two"))
    assert ack.answers == [{}]
    assert "saved this as memory/" in edge.last_word
    assert "```\ntwo\n```" in edge.last_word
    edge.press(ids.REMEMBER, edge.value())
    assert edge.client.opened == []
    assert len(edge.kept) == 1


@each_row("value", ["", "x|1|", "../../etc|1|0011223344556677|0", None])
def test_a_forged_value_changes_nothing(edge: LessonEdge, value: str | None) -> None:
    """It is met with a word, not with an error."""
    edge.press(ids.REMEMBER, value)
    assert edge.client.opened == []
    assert edge.last_word
