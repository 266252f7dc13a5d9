"""Save note and Remember this: a dialogue first, permission at both ends, and what was submitted is what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from bot.casework.notes import NoteSource
from bot.domain.returns import TriageFile
from handlers.buttons.draft_buttons import NOT_YOURS_TO_SAVE as NOT_YOURS
from handlers.buttons.draft_buttons import NoteButtons
from tests.builders import THREAD_ID, a_return
from tests.casework.office import ANN, BEN, Office
from tests.handlers.buttons.test_draft_buttons import CARL, Edge, RecordedAck, words
from tests.payloads import payload
from tests.tables import each_row

CONTENT = "# Retries\n\nFive."


class NoteEdge(Edge):
    """The listeners over an office with a draft that waits and proposes a note; Ben may approve, Carl may not."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            Office(folder, a_return(proposed_triage_file=TriageFile(filename="x.md", content=CONTENT))).asked()
        )
        self.notes = NoteButtons(self.office.notes, self.approvers, say=self.answers.say, team="pay")

    @property
    def kept(self) -> dict[str, str]:
        """The notes, by name."""
        return self.office.memory.notes

    def save(self, view: str, text: str | None, *, by: str = BEN, metadata: str | None = None) -> RecordedAck:
        """Submit the dialogue, with what was typed, or as it was shown."""
        body = payload("view_submission")
        body["user"] = {**body["user"], "id": by}
        shown = body["view"]
        shown["private_metadata"] = metadata or ids.encode_dialogue(self.office.click(), from_home=False)
        shown["state"]["values"] = {ids.NOTE: {ids.INPUT: words(text)}}
        shown["blocks"] = [{"block_id": ids.NOTE, "element": {"initial_value": CONTENT}}]
        ack = RecordedAck(self.order)
        self.notes.views[view](ack, body, shown)
        return ack

    def remember(self, message: dict[str, Any], *, by: str = BEN) -> RecordedAck:
        """Choose the shortcut of a message."""
        body = payload("block_actions")
        del body["actions"]
        body["user"] = {**body["user"], "id": by}
        body["channel"], body["message"] = {"id": "C0HELP"}, {"ts": "1795165200.000100", **message}
        ack = RecordedAck(self.order)
        self.notes.remember_this(ack, body, self.client)
        return ack


@pytest.fixture
def edge(tmp_path: Path) -> NoteEdge:
    """An edge with a proposed note."""
    return NoteEdge(tmp_path)


def shown_in(view: dict[str, Any]) -> str:
    """Return what the dialogue's input shows."""
    return str(view["blocks"][-1]["element"]["initial_value"])


def test_save_note_shows_the_whole_proposal_before_anything_is_asked(edge: NoteEdge) -> None:
    """With the chat down, too; nothing is kept yet."""
    edge.office.workspace.down = True
    edge.choose(ids.encode_option(ids.SAVE_NOTE, edge.office.click()))
    assert edge.order == ["ack", "open"]
    [view] = edge.client.opened
    assert view["callback_id"] == ids.SAVE_NOTE_VIEW
    assert shown_in(view).startswith(CONTENT)
    assert edge.kept == {}


def test_remember_this_shows_the_question_and_its_answer(edge: NoteEdge) -> None:
    """From the menu, and from the button of a card of an earlier release."""
    edge.choose(ids.encode_option(ids.REMEMBER, edge.office.click()))
    edge.listeners.actions[ids.REMEMBER] = edge.notes.actions[ids.REMEMBER]  # type: ignore[index]
    edge.press(ids.REMEMBER, edge.value())
    for view in edge.client.opened:
        assert view["callback_id"] == ids.REMEMBER_VIEW
        assert shown_in(view).startswith("# How often do we retry?\n\nThe limit is 5")
    assert len(edge.client.opened) == 2


@pytest.mark.parametrize("view", [ids.SAVE_NOTE_VIEW, ids.REMEMBER_VIEW])
@pytest.mark.parametrize(("typed", "kept"), [("# Retries\n\nSix.", "# Retries\n\nSix."), (None, CONTENT)])
def test_what_was_submitted_is_what_is_kept(view: str, typed: str | None, kept: str, edge: NoteEdge) -> None:
    """An input that comes back untouched counts as it was shown, whatever the thread says by now."""
    ack = edge.save(view, typed)
    assert ack.answers == [{}]
    assert edge.order[0] == "ack"
    assert edge.kept["retries"].endswith(f"---\n\n{kept}\n")
    assert edge.last_word == "Saved as memory/retries.md."
    assert edge.office.shown.triage_file_path == "memory/retries.md"


def test_a_message_is_remembered_in_the_words_that_were_saved(edge: NoteEdge) -> None:
    """The dialogue shows the message and names the team whose note it will be."""
    edge.remember({"text": "Deploys are frozen until Monday."})
    [view] = edge.client.opened
    assert shown_in(view) == "Deploys are frozen until Monday."
    assert view["private_metadata"].startswith(f"{ids.team_value('pay')}|")
    source = NoteSource(chat_id="C0HELP", message_id="1795165200.000100")
    assert ids.decode_note(view["private_metadata"]) == source
    edge.save(ids.REMEMBER_VIEW, "Deploys are frozen.", metadata=view["private_metadata"])
    assert "deploys-are-frozen" in edge.kept


def test_who_may_not_approve_neither_sees_nor_keeps(edge: NoteEdge) -> None:
    """At the click from what is known, at the submit for good; the typed text comes back."""
    edge.choose(ids.encode_option(ids.REMEMBER, edge.office.click()), by=CARL)
    edge.remember({"text": "mine"}, by=CARL)
    assert (edge.client.opened, edge.last_word) == ([], NOT_YOURS)
    edge.save(ids.REMEMBER_VIEW, "mine", by=CARL)
    assert "```\nmine\n```" in edge.last_word
    edge.office.workspace.groups["C0OPS"] = frozenset({ANN})
    edge.save(ids.REMEMBER_VIEW, "mine")
    assert "```\nmine\n```" in edge.last_word
    assert edge.kept == {}


def test_a_refusal_is_said_in_the_dialogue_and_a_lost_race_to_the_loser(edge: NoteEdge) -> None:
    """Words can be mended; a race is over, and the words come back."""
    for typed in (
        "",
        "\u200b",
        "half a \ud83d",
        "x" * 3_001,
        "xoxb-" + "123456789012-1234567890123-abcdefABCDEF0123456789ab",
    ):
        ack = edge.save(ids.SAVE_NOTE_VIEW, typed)
        assert list(ack.answers[0]["errors"]) == [ids.NOTE]
    edge.save(ids.SAVE_NOTE_VIEW, "one")
    ack = edge.save(ids.SAVE_NOTE_VIEW, "two")
    assert ack.answers == [{}]
    assert "saved this note already, as memory/one.md" in edge.last_word
    assert "```\ntwo\n```" in edge.last_word
    assert list(edge.kept) == ["one"]


@each_row("value", ["", "x|1|", "../../etc|1|0011223344556677|0", None, "team.pay|C1|../x", f"{THREAD_ID}|x"])
def test_a_forged_value_changes_nothing(edge: NoteEdge, value: str | None) -> None:
    """It is met with a word, not with an error."""
    edge.listeners.actions[ids.REMEMBER] = edge.notes.actions[ids.REMEMBER]  # type: ignore[index]
    edge.press(ids.REMEMBER, value)
    assert edge.client.opened == []
    assert edge.last_word
